/* hook_parts.h - an event on its way in, as the files that take it know it: hook_judge.c before the transaction,
 * hooks.c in it. */
#pragma once
#include "base/crypto.h"
#include "call/call.h"
#include "outside/webhook.h"
#include "webhooks/hook.h"
#include "webhooks/hook_guard.h"

/* What a call carries from one step to the next. */
struct incoming {
	bool known; /* there is such an address */
	bool skill; /* it is a skill's */
	struct hook hook;
	const struct IntegrationGuardrails *rails;
	struct webhook_event event;
	int64_t wait_s, room_pd;	 /* as in struct guard_facts */
	char digest[2 * SHA256_LEN + 1]; /* of the body, if it is to be known again */
	/* if it is refused */
	struct problem told;
	const char *outcome;
	int status;
};

/* From `look`: finds the address, and has what is refused answered at once. */
int hook_look(struct call *c, const char *id, bool skill);
/* Is it theirs, and what does it say?  What is wrong with it is in told, outcome and status. */
void hook_judge(struct call *c, struct incoming *w);
/* The same for everything that is wrong with a credential, and for an address that is not there. */
void hook_reject(struct incoming *w, const char *outcome);
/* The agent's hours and room, where it has any. */
int hook_load_moment(struct call *c, struct incoming *w);
/* Answers what was refused, and writes it down. */
enum http_verdict hook_answer_refused(struct call *c);
