/* hooks.c - where events come in: verified over their raw bytes, held against the guardrails, and written
 * down together with the job that delivers them.
 *
 *   received -> rejected                        (signature or token)
 *            -> acknowledged                    (taken before: the sender's id is known)
 *            -> verified -> blocked             (a guardrail)
 *                        -> accepted -> delivered | failed
 *
 * Verifying and reading are done on the loop, after one read of the store
 * (hook_judge.c); what was refused there never reaches the writer.  The transaction that
 * accepts looks again whether the integration is still as it was. */
#include "api/service.h"
#include "api/webhooks/hook_parts.h"
#include "api/webhooks/integrations.h"
#include "base/clock.h"
#include "call/operation.h"
#include "sessions/actor.h"
#include "webhooks/hook_log.h"
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

static int look_event(struct call *c)
{
	return hook_look(c, call_param(c, "integration_id"), false);
}

static int look_call(struct call *c)
{
	return hook_look(c, call_param(c, "webhook_id"), true);
}

/* ---- the transaction that accepts ---- */

/* The address as it is now.  If it was changed meanwhile, all is judged anew. */
static int look_incoming_again(struct call *c, struct incoming *w)
{
	struct hook now;
	int err = hook_find(c->db, c->arena, w->hook.id, w->event.delivery_id, &now);

	if (err == ERR_NOT_FOUND) {
		hook_reject(w, "signature");
	} else if (err) {
		return err;
	} else {
		bool same = now.revision == w->hook.revision;

		w->hook = now;
		if (!same)
			hook_judge(c, w);
		if (!same)
			err = hook_load_moment(c, w);
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
		c->deferred = hook_answer_refused;
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
