/* mail_fixture.h - an agent with a mailbox to the outside, and mail that has been taken for it. */
#pragma once
#include "fixture.h"
#include "mailboxes/mail_arrival.h"
#include "mailboxes/mailbox.h"

struct mail_house {
	struct fixture *f;
	const char *agent_id, *mailbox_id, *address;
	struct mailbox_policy before;
	bool doomed; /* the process that reads what comes is taken to have died over it */
};

/* The server in front is mx.test, and the domain of mail mail.test. */
void mail_house_open(struct mail_house *h);
void mail_house_close(struct mail_house *h);
/* The external mailbox of another agent, of any tenant. */
const char *mail_house_box(
	struct mail_house *h, const char *tenant_id, const char *agent_id, const char *address);

/* Bytes with LF, of which CR LF is made; what of the arrival is NULL is the house's own.  Gives its id. */
const char *mail_arrive(
	struct mail_house *h, const struct mail_arrival_row *as, const char *raw, size_t len);
/* The same from this envelope sender by the server in front, and waits until it is read; the message as it is shown. */
struct answer mail_comes(struct mail_house *h, const char *sender, const char *raw);
struct answer mail_await(struct mail_house *h, const char *id);
void mail_wait(struct mail_house *h, const char *sql, int64_t wanted);

/* mail_fixture_parts.c: this program as the parser of mail; NULL: frees it. */
struct helper *mail_helper(const char *program, struct helper *h);
/* What was told last of a message that came back. */
extern struct mail_back {
	int calls;
	bool told;
	char message_id[64], status[32], words[512];
} mail_back;
void mail_note_bounces(bool on);
