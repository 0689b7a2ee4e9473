/* hooks.c - where events come in: verified over their raw bytes, held against the guardrails, and written
 * down together with the job that delivers them.
 *
 *   received -> rejected                        (signature or token)
 *            -> acknowledged                    (taken before: the sender's id is known)
 *            -> verified -> blocked             (a guardrail)
 *                        -> accepted -> delivered | failed
 *
 * Verifying and reading are done on the loop, after one read of the store;
 * what was refused there never reaches the writer.  The transaction that
 * accepts looks again whether the integration is still as it was. */
#include <string.h>
#include <strings.h>

#include "api/webhooks/integrations.h"
#include "api/service.h"
#include "call/operation.h"
#include "webhooks/hook.h"
#include "webhooks/hook_guard.h"
#include "webhooks/hook_log.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "broker/chat_config.h"
#include "broker/gate.h"
#include "outside/webhook.h"
#include "sessions/actor.h"
#include "store/sweep.h"

enum { BODY_MAX = 1 << 20, SEEN_EVERY_S = 3600, HOUR_S = 3600, REPEATS_MAX_S = 720 * HOUR_S };

enum { RATE_READ, RATE_WRITE, HOOK_SEEN, BODY_SEEN, BODY_KEEP, BODY_FORGET };

struct rate_row {
	int64_t due_at;
};

FIELDS(rate_row) = { FIELD(rate_row, due_at) };
static SCHEMA(rate_row, .internal = true);

static const struct statement sql[] = {
	[RATE_READ] = { "hook_rate",
		"select due_at from integration_rates where tenant_id = $1 and integration_id = $2",
		.row = &rate_row_schema },
	[RATE_WRITE] = { "hook_rate_take",
		"insert into integration_rates (tenant_id, integration_id, due_at) values ($1, $2, $3) "
		"on conflict (tenant_id, integration_id) do update set due_at = $3" },
	[BODY_SEEN] = { "hook_body_seen",
		"select count(*) from delivery_bodies where tenant_id = $1 and integration_id = $2 "
		"and digest = $3 and seen_at > $4" },
	[BODY_KEEP] = { "hook_body_keep",
		"insert into delivery_bodies (tenant_id, integration_id, digest, seen_at) "
		"values ($1, $2, $3, $4) on conflict (tenant_id, integration_id, digest) "
		"do update set seen_at = $4" },
	[BODY_FORGET] = { "hook_body_forget",
		"delete from delivery_bodies where (tenant_id, integration_id, digest) in "
		"(select tenant_id, integration_id, digest from delivery_bodies where seen_at < $1 "
		"order by seen_at limit $2)",
		.across = "maintenance of all tenants" },
	[HOOK_SEEN] = { "hook_seen",
		"update integration_rows set last_event_at = $3 where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(hooks_sql, sql);

void hook_bodies_forget(struct store *store, int64_t now)
{
	sweep_submit(store, &sql[BODY_FORGET], now - REPEATS_MAX_S * SECOND_US);
}

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

/* ---- is it theirs, and what does it say? ---- */

static const char *incoming_header(const void *ctx, const char *name, size_t *ret_count)
{
	const struct http_request *r = ctx;

	*ret_count = http_header_count(r, name);
	return http_header(r, name);
}

static void refuse_incoming(struct incoming *w, int err, const char *outcome, const char *sentence)
{
	w->told = (struct problem){ .err = err, .detail = sentence };
	w->outcome = outcome;
	w->status = DeliveryStatus_rejected;
}

/* The same for everything that is wrong with a credential, and for an address that is not there. */
static void reject_incoming(struct incoming *w, const char *outcome)
{
	refuse_incoming(w, ERR_UNAUTHENTICATED, outcome, "This call could not be verified.");
}

/* A body that was encoded or is of another type cannot be read, whoever signed it. */
static bool is_readable(const struct call *c)
{
	const char *coding = http_header(&c->x->request, "content-encoding");

	return strcmp(c->raw_type, "*/*") != 0 && (!coding || strcasecmp(coding, "identity") == 0);
}

static void read_event(
	struct call *c, struct incoming *w, const struct webhook_provider *p, struct webhook_in *in)
{
	const char *id_header = w->hook.delivery_id_header;
	char *lower = id_header ? arena_strdup(c->arena, id_header) : NULL;

	for (char *at = lower; at && *at; at++)
		*at = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
	if (!is_readable(c)) {
		refuse_incoming(w, ERR_MEDIA_TYPE, "content_type",
			"Send application/json or application/x-www-form-urlencoded, not encoded.");
		return;
	}
	switch (webhook_read(p, c->arena, in, lower, &w->event)) {
	case WEBHOOK_READ:
		break;
	case WEBHOOK_NOT_JSON:
		refuse_incoming(w, ERR_BAD_JSON, "not_json", "The event is not a JSON object.");
		return;
	case WEBHOOK_NO_ID:
		refuse_incoming(w, ERR_MALFORMED, "no_delivery_id",
			"The sender's id of the delivery is missing, or longer than 255 bytes.");
		return;
	case WEBHOOK_STALE:
		reject_incoming(w, "stale");
		return;
	}
}

/* An address that is not there is judged like one that is. */
static void judge_event(struct call *c, struct incoming *w)
{
	static const char *const nobodys[] = { "nobody has this secret" };
	const struct webhook_provider *p =
		&webhook_providers[w->known ? w->hook.provider : WEBHOOK_GENERIC];
	struct webhook_in in = { .body = c->raw_len ? c->raw : "",
		.len = c->raw_len,
		.form = strcmp(c->raw_type, "application/x-www-form-urlencoded") == 0,
		.header = incoming_header,
		.ctx = &c->x->request,
		.now_us = c->now };
	const char *secrets[HOOK_SECRETS];
	size_t count =
		w->known ? hook_secrets(c->app->vault, c->arena, &w->hook, c->now, secrets) : 0;
	bool holds = webhook_verify(p, c->arena, &in, count ? secrets : nobodys, count ? count : 1);

	w->told = (struct problem){ 0 };
	if (w->known &&
		!count) /* nothing can be verified until it is rotated, and its owner must see why */
		reject_incoming(w, "secret_unopenable");
	else if (!holds || !count)
		reject_incoming(w, "signature");
	else
		read_event(c, w, p, &in);
}

static void judge_call(struct call *c, struct incoming *w)
{
	const char *sent = http_header(&c->x->request, "authorization");
	const char *fault = NULL;
	char hash[65];
	const char *kept = w->known && w->hook.token_hash ? w->hook.token_hash : "";
	bool bearer = sent && strncasecmp(sent, "Bearer ", 7) == 0 &&
		      http_header_count(&c->x->request, "authorization") == 1;
	bool holds;

	w->told = (struct problem){ 0 };
	credential_hash(bearer ? sent + 7 : "", hash);
	holds = same_bytes(hash, 64, kept, strlen(kept));
	if (!holds || !bearer) {
		reject_incoming(w, "token");
	} else if (strcmp(c->raw_type, "application/json") != 0 || !is_readable(c)) {
		refuse_incoming(w, ERR_MEDIA_TYPE, "content_type",
			"Send the body as Content-Type: application/json, not encoded.");
	} else {
		w->event.tree = json_tree(c->arena, c->raw ? c->raw : "", c->raw_len, &fault, NULL);
		w->event.payload = c->raw;
		w->event.payload_len = c->raw_len;
		if (!w->event.tree || w->event.tree->type != JSON_OBJECT)
			refuse_incoming(
				w, ERR_BAD_JSON, "not_json", "The body is not a JSON object.");
	}
}

static void judge_incoming(struct call *c, struct incoming *w)
{
	if (w->skill)
		judge_call(c, w);
	else
		judge_event(c, w);
	if (!w->told.err)
		w->rails = hook_rails(c->app->patterns, c->arena, w->hook.guardrails);
}

/* Hours and budget are asked for only where there are any. */
static int load_moment(struct call *c, struct incoming *w)
{
	const struct gate_who who = { .tenant_id = w->hook.tenant_id,
		.agent_id = w->hook.agent_id };
	struct gate_moment moment;
	int err;

	w->room_pd = NIL;
	w->wait_s = 0;
	if (w->told.err || (!w->hook.has_budget && !w->hook.has_hours))
		return 0;
	err = gate_moment_load(c->db, c->arena, &who, c->now, &moment);
	if (err)
		return err;
	w->room_pd = moment.left.room_pd;
	w->wait_s = w->rails->working_hours == HoursRule_ignore ? 0 : moment.wait_s;
	return 0;
}

/* ---- what is answered at once ---- */

static void note_incoming(struct call *c, const struct incoming *w)
{
	if (!w->known) { /* nothing is written in a tenant's log for those who guess */
		hook_log_unknown(service_of(c->app)->hook_log,
			hook_clean(c->arena,
				call_param(c, w->skill ? "webhook_id" : "integration_id")),
			c->ip, c->now);
		return;
	}
	hook_log_note(service_of(c->app)->hook_log, c->app->store,
		&(struct hook_note){ .tenant_id = w->hook.tenant_id,
			.integration_id = w->hook.id,
			.status = w->status,
			.outcome = w->outcome,
			.ip = c->ip,
			.user_agent =
				hook_clean(c->arena, http_header(&c->x->request, "user-agent")) },
		c->now);
}

static enum http_verdict answer_refused(struct call *c)
{
	struct incoming *w = c->own;

	note_incoming(c, w);
	call_write_problem(c, &w->told);
	return HTTP_REPLIED;
}

static enum http_verdict answer_challenge(struct call *c)
{
	struct incoming *w = c->own;

	w->status = DeliveryStatus_delivered;
	w->outcome = "url_verification";
	note_incoming(c, w);
	c->x->reply.status = 200;
	c->x->reply.type = "text/plain";
	buf_puts(&c->x->reply.body, w->event.challenge);
	return HTTP_REPLIED;
}

static int look_incoming(struct call *c, const char *id, bool skill)
{
	struct incoming *w = arena_new(c->arena, struct incoming);
	int err = hook_find(c->db, c->arena, id, NULL, &w->hook);

	if (err && err != ERR_NOT_FOUND)
		return err;
	w->skill = skill;
	w->known = !err && (w->hook.provider == PROVIDER_SKILL) == skill;
	c->own = w;
	judge_incoming(c, w);
	if (w->told.err)
		c->deferred = answer_refused;
	else if (w->event.challenge)
		c->deferred = answer_challenge;
	else
		return load_moment(c, w);
	return 0;
}

static int look_event(struct call *c)
{
	return look_incoming(c, call_param(c, "integration_id"), false);
}

static int look_call(struct call *c)
{
	return look_incoming(c, call_param(c, "webhook_id"), true);
}

/* ---- the transaction that accepts ---- */

/* The address as it is now.  If it was changed meanwhile, all is judged anew. */
static int look_incoming_again(struct call *c, struct incoming *w)
{
	struct hook now;
	int err = hook_find(c->db, c->arena, w->hook.id, w->event.delivery_id, &now);

	if (err == ERR_NOT_FOUND) {
		reject_incoming(w, "signature");
	} else if (err) {
		return err;
	} else {
		bool same = now.revision == w->hook.revision;

		w->hook = now;
		if (!same)
			judge_incoming(c, w);
		if (!same)
			err = load_moment(c, w);
	}
	c->problem = w->told;
	return err && err != ERR_NOT_FOUND ? err : w->told.err;
}

static int load_rate(
	struct call *c, const struct incoming *w, struct guard_facts *f, int64_t *ret_due)
{
	struct rate_row row = { NIL };
	int err;

	if (w->rails->per_minute == NIL)
		return 0;
	err = db_one(
		c->db, c->arena, &sql[RATE_READ], &row, ARGS(T(w->hook.tenant_id), T(w->hook.id)));
	if (err && err != ERR_NOT_FOUND)
		return err;
	f->over_rate = !guard_rate(row.due_at, w->rails->per_minute, c->now, ret_due);
	return 0;
}

/* Of the body as it came.  Only where somebody asks for it. */
static int load_repeat(struct call *c, struct incoming *w, struct guard_facts *f)
{
	uint8_t digest[SHA256_LEN];
	int64_t seen = 0;
	int err;

	if (w->skill || w->rails->refuse_repeats_hours == NIL)
		return 0;
	sha256(c->raw_len ? c->raw : "", c->raw_len, digest);
	hex_write(digest, sizeof digest, w->digest);
	err = db_int(c->db, &sql[BODY_SEEN], &seen,
		ARGS(T(w->hook.tenant_id), T(w->hook.id), T(w->digest),
			N(c->now - w->rails->refuse_repeats_hours * HOUR_S * SECOND_US)));
	f->repeated = seen > 0;
	return err;
}

/* Is there somebody whose rights it has? */
static int load_actor(struct call *c, const struct incoming *w, struct guard_facts *f)
{
	struct problem lost = { 0 };
	struct actor actor;
	int err = actor_of_hook(c->db, c->arena, w->hook.tenant_id, w->hook.agent_id, w->hook.id,
		c->now, &actor, &lost);

	f->may_act = !err;
	return err && lost.err == err ? 0 : err;
}

static struct delivery_row delivery_row_of(struct call *c, const struct incoming *w)
{
	struct id id = id_new(NULL);
	const char *own = arena_strdup(c->arena, id.text);

	return (struct delivery_row){ .tenant_id = w->hook.tenant_id,
		.integration_id = w->hook.id,
		.id = own,
		.delivery_key = w->event.delivery_id,
		.delivery_id = w->skill ? own : w->event.delivery_id,
		.status = DeliveryStatus_accepted,
		.outcome = "accepted",
		.event = w->event.event,
		.action = w->event.action,
		.caller_ip = c->ip,
		.user_agent = hook_clean(c->arena, http_header(&c->x->request, "user-agent")),
		.calls = 1,
		.created_at = c->now,
		.delivered_at = NIL,
		.body = arena_strndup(c->arena, w->event.payload, w->event.payload_len) };
}

static const char *summary_of(struct call *c, const struct incoming *w)
{
	const struct webhook_provider *p;
	struct webhook_event e;

	if (w->skill)
		return NULL;
	p = &webhook_providers[w->hook.provider];
	return webhook_reread(p, c->arena, w->event.event,
		       arena_strndup(c->arena, w->event.payload, w->event.payload_len), &e)
		       ? webhook_summary(p, c->arena, &e)
		       : NULL;
}

/* Written down with its body, so that it can be delivered by hand; beyond so many a minute only counted. */
static int block_incoming(struct call *c, struct incoming *w, const struct guard_rule *rule)
{
	struct delivery_row row = delivery_row_of(c, w);
	bool is_new;

	w->status = DeliveryStatus_blocked;
	w->outcome = rule->name;
	w->told = (struct problem){
		.err = ERR_FORBIDDEN, .code = rule->name, .detail = rule->sentence
	};
	c->problem = w->told;
	if (!hook_log_keeps(service_of(c->app)->hook_log, w->hook.id, c->now)) {
		c->deferred = answer_refused;
		return 0;
	}
	row.status = DeliveryStatus_blocked;
	row.outcome = rule->name;
	row.delivery_key = NULL;
	row.summary = summary_of(c, w);
	return delivery_insert(c->db, &row, &is_new);
}

static int mark_seen(struct call *c, const struct incoming *w)
{
	if (w->hook.last_event_at != NIL &&
		c->now - w->hook.last_event_at <= SEEN_EVERY_S * SECOND_US)
		return 0;
	return db_run(
		c->db, &sql[HOOK_SEEN], NULL, ARGS(T(w->hook.tenant_id), T(w->hook.id), N(c->now)));
}

/* The service only tries the address: that is written down, and nobody is set to work. */
static int take_ping(struct call *c, const struct incoming *w, const char **ret_id)
{
	struct delivery_row row = delivery_row_of(c, w);
	bool is_new = true;
	int err;

	row.status = DeliveryStatus_delivered;
	row.outcome = "ping";
	row.delivered_at = c->now;
	*ret_id = row.id;
	err = delivery_insert(c->db, &row, &is_new);
	if (!err && !is_new)
		return ERR_RETRY;
	return err ? err : mark_seen(c, w);
}

static int accept_it(struct call *c, struct incoming *w, int64_t due, const char **ret_id)
{
	struct delivery_row row = delivery_row_of(c, w);
	bool is_new = true;
	int err = delivery_insert(c->db, &row, &is_new);

	*ret_id = row.id;
	if (!err && !is_new) /* somebody was faster by a moment: read whose it is */
		return ERR_RETRY;
	if (!err)
		err = delivery_queue(c->db, c->arena, &row, c->now);
	if (!err && due)
		err = db_run(c->db, &sql[RATE_WRITE], NULL,
			ARGS(T(w->hook.tenant_id), T(w->hook.id), N(due)));
	if (!err && *w->digest)
		err = db_run(c->db, &sql[BODY_KEEP], NULL,
			ARGS(T(w->hook.tenant_id), T(w->hook.id), T(w->digest), N(c->now)));
	return err ? err : mark_seen(c, w);
}

/* Past the guardrails or not; *ret_id is that of the delivery, NULL if it was blocked. */
static int take_incoming(struct call *c, struct incoming *w, const char **ret_id)
{
	struct guard_facts f = { .hook = &w->hook,
		.rails = w->rails,
		.event = w->skill ? NULL : &w->event,
		.bytes = c->raw_len,
		.wait_s = w->wait_s,
		.room_pd = w->room_pd };
	const struct guard_rule *rule;
	int64_t due = 0;
	int err = load_rate(c, w, &f, &due);

	if (!err)
		err = load_actor(c, w, &f);

	*ret_id = NULL;
	if (!err)
		err = load_repeat(c, w, &f);
	if (err)
		return err;
	rule = guard_refusal(&f);
	return rule ? block_incoming(c, w, rule) : accept_it(c, w, due, ret_id);
}

#define TAKES "application/json", "application/x-www-form-urlencoded", "*/*", NULL

OPERATION(receiveEvent, NONE, HookAnswer, .may_stand = true,
	.takes = (const char *const[]){ TAKES }, .gives = "text/plain", .open_query = true,
	.look = look_event)
{
	struct incoming *w = c->own;
	int err = look_incoming_again(c, w);

	if (err)
		return err;
	out->delivery_id = w->event.delivery_id;
	out->status = HookOutcome_accepted;
	if (!w->hook.seen_id && w->event.ping) {
		out->status = HookOutcome_ping;
		c->standing = true;
		return take_ping(c, w, &out->id);
	}
	if (!w->hook.seen_id)
		return take_incoming(c, w, &out->id);
	out->id = w->hook.seen_id;
	out->status = HookOutcome_duplicate;
	c->standing = true;
	return 0;
}

OPERATION(callSkill, NONE, SkillHookAnswer,
	.takes = (const char *const[]){ "application/json", "*/*", NULL }, .open_query = true,
	.look = look_call)
{
	struct incoming *w = c->own;
	const char *id;
	int err = look_incoming_again(c, w);

	out->status = CallOutcome_accepted;
	return err ? err : take_incoming(c, w, &id);
}

#define UNAUDITED "the log of deliveries tells of every call"

static const struct route routes[] = {
	{ METHOD_POST, "/hooks/{integration_id}", &receiveEvent, PERM_PUBLIC, 202,
		.unaudited = UNAUDITED, .as_printed = true, .max_body = BODY_MAX, .tag = "Webhooks",
		.doc = "Take an event that a service has signed." },
	{ METHOD_POST, "/hooks/skills/{webhook_id}", &callSkill, PERM_PUBLIC, 202,
		.unaudited = UNAUDITED, .as_printed = true, .max_body = BODY_MAX, .tag = "Webhooks",
		.doc = "Set a skill of an agent to work on a JSON object; the bearer token is the "
		       "webhook's." },
};
RESOURCE(hooks, routes, NULL, &hooks_sql);
