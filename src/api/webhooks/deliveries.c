/* deliveries.c - the log of an integration's calls, a second try by hand, and an event to try it with. */
#include <string.h>

#include "api/webhooks/integrations.h"
#include "call/operation.h"
#include "webhooks/hook.h"
#include "base/clock.h"
#include "base/id.h"
#include "store/listing.h"

struct delivery_query {
	int status;
};

FIELDS(delivery_query) = {
	FIELD(delivery_query, status, .nullable = true, .words = &DeliveryStatus_words,
		.doc = "Only deliveries that stand so."),
};
static SCHEMA(delivery_query, .doc = "Filters of the list of deliveries.");

#define COLUMNS                                                                            \
	"d.id, d.integration_id, d.delivery_id, d.event, d.action, d.status, d.outcome, "  \
	"d.summary, d.caller_ip, d.user_agent, d.calls, d.made_session_id as session_id, " \
	"d.attempts, d.error, s.waiting_for, s.waiting_until, d.created_at, d.delivered_at, i.label"
#define FROM                                                                                         \
	"deliveries d join integrations i on i.tenant_id = d.tenant_id and i.id = d.integration_id " \
	"left join sessions s on s.tenant_id = d.tenant_id and s.id = d.made_session_id "
#define LIST_FROM                                                \
	FROM "where d.tenant_id = $1 and d.integration_id = $2 " \
	     "and (cast($3 as text) is null or d.status = $3)"
/* The log of a skill's calls is not an integration's. */
#define FAILED_FROM FROM "where d.tenant_id = $1 and d.status = 'failed' and i.skill_id is null"

enum {
	LIST_OF(DELIVERY_LIST),
	LIST_OF(FAILED_LIST),
	DELIVERY_READ,
	DELIVERY_AGAIN,
	INTEGRATION_THERE,
	INTEGRATION_TRIED,
	KEY_TAKEN,
	HELD_TOO_LONG,
};

struct tried_row {
	const char *agent_id;
	bool is_active;
};

FIELDS(tried_row) = {
	FIELD(tried_row, agent_id),
	FIELD(tried_row, is_active),
};
static SCHEMA(tried_row, .internal = true);

static const struct statement sql[] = {
	LISTING(DELIVERY_LIST, "delivery_list", &DeliveryRead_schema, COLUMNS, LIST_FROM, "d.id"),
	LISTING(FAILED_LIST, "delivery_failed_list", &DeliveryRead_schema, COLUMNS, FAILED_FROM,
		"d.id"),
	[DELIVERY_READ] = { "delivery_read",
		"select " COLUMNS " from " FROM "where d.tenant_id = $1 "
		"and d.integration_id = $2 and d.id = $3",
		.row = &DeliveryRead_schema },
	[DELIVERY_AGAIN] = { "delivery_again",
		"update deliveries set status = 'accepted', outcome = 'redelivered', error = null, "
		"delivery_key = $4 where tenant_id = $1 and integration_id = $2 and id = $3" },
	[INTEGRATION_THERE] = { "delivery_integration",
		"select count(*) from integrations where tenant_id = $1 and id = $2 "
		"and skill_id is null" },
	[INTEGRATION_TRIED] = { "delivery_tried",
		"select {*} from integrations where tenant_id = $1 and id = $2 and skill_id is null",
		.row = &tried_row_schema },
	[KEY_TAKEN] = { "delivery_key_taken",
		"select (select count(*) from deliveries where tenant_id = $1 "
		"and integration_id = $2 and delivery_key = $3 and id <> $4) + "
		"(select count(*) from deliveries_past where tenant_id = $1 "
		"and integration_id = $2 and delivery_key = $3)" },
	[HELD_TOO_LONG] = { "delivery_held_too_long",
		"select count(*) from sessions s join session_runs r on r.tenant_id = s.tenant_id "
		"and r.session_id = s.id and r.id = s.run_id where s.tenant_id = $1 and s.id = $2 "
		"and s.status = 'failed' and r.error_code = 'held_too_long'" },
};
STATEMENT_SET(delivery_sql, sql);

static int need_integration(struct call *c)
{
	int64_t there = 0;
	int err = db_int(c->db, &sql[INTEGRATION_THERE], &there,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "integration_id"))));

	return !err && !there ? call_fail(c, ERR_NOT_FOUND, "There is no such integration.") : err;
}

LIST_OPERATION(listDeliveries, delivery_query, DeliveryRead)
{
	int err = need_integration(c);

	return err ? err
		   : call_list(c, &sql[DELIVERY_LIST],
			     ARGS(T(c->caller.tenant_id), T(call_param(c, "integration_id")),
				     T(in->status < 0 ? NULL
						      : DeliveryStatus_words.list[in->status])));
}

LIST_OPERATION(listFailedDeliveries, NONE, DeliveryRead)
{
	return call_list(c, &sql[FAILED_LIST], ARGS(T(c->caller.tenant_id)));
}

/* It failed or was blocked, or the session that was made of it did nothing but wait. */
static int can_be_again(struct call *c, const struct delivery_row *row, bool *ret)
{
	int64_t held = 0;
	int err = 0;

	*ret = row->status == DeliveryStatus_failed || row->status == DeliveryStatus_blocked;
	if (row->status == DeliveryStatus_delivered && row->made_session_id)
		err = db_int(c->db, &sql[HELD_TOO_LONG], &held,
			ARGS(T(row->tenant_id), T(row->made_session_id)));
	*ret = *ret || held;
	return err;
}

/* Only what can be, still has its body, and was not taken in another call since. */
static int check_again(struct call *c, const struct delivery_row *row)
{
	int64_t taken = 0;
	bool can;
	int err = can_be_again(c, row, &can);

	if (err)
		return err;
	if (!can)
		return call_fail(c, ERR_CONFLICT,
			"Only what failed, was blocked or was held too long can be redelivered.");
	if (!*row->body)
		return call_fail(c, ERR_CONFLICT,
			"The body of this delivery was not kept: too many were blocked at the time.");
	err = db_int(c->db, &sql[KEY_TAKEN], &taken,
		ARGS(T(row->tenant_id), T(row->integration_id), T(row->delivery_id), T(row->id)));
	if (!err && taken)
		return call_fail(
			c, ERR_CONFLICT, "The sender's retry of this event was taken already.");
	return err;
}

OPERATION(redeliver, NONE, DeliveryRead)
{
	const char *tenant_id = c->caller.tenant_id, *hook = call_param(c, "integration_id"),
		   *id = call_param(c, "delivery_id");
	struct delivery_row row;
	int err = need_integration(c);

	if (err)
		return err;
	err = delivery_find(c->db, c->arena, tenant_id, hook, id, &row);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such delivery.");
	if (!err)
		err = check_again(c, &row);
	if (!err)
		err = db_run(c->db, &sql[DELIVERY_AGAIN], NULL,
			ARGS(T(tenant_id), T(hook), T(id), T(row.delivery_id)));
	if (!err)
		err = delivery_queue(c->db, c->arena, &row, c->now);
	if (!err)
		err = db_one(c->db, c->arena, &sql[DELIVERY_READ], out,
			ARGS(T(tenant_id), T(hook), T(id)));
	return err;
}

OPERATION(readDelivery, NONE, DeliveryDetail)
{
	const char *tenant_id = c->caller.tenant_id, *hook = call_param(c, "integration_id"),
		   *id = call_param(c, "delivery_id");
	struct delivery_row row;
	int err = need_integration(c);

	if (err)
		return err;
	err = delivery_find(c->db, c->arena, tenant_id, hook, id, &row);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such delivery.");
	out->delivery = arena_new(c->arena, struct DeliveryRead);
	out->body = err || !*row.body ? NULL : row.body;
	return err ? err
		   : db_one(c->db, c->arena, &sql[DELIVERY_READ], out->delivery,
			     ARGS(T(tenant_id), T(hook), T(id)));
}

/* What is wrong with it is said at once, and not in the log after ten attempts. */
static int check_tried(struct call *c, const char *id)
{
	struct tried_row row;
	const char *why = NULL;
	int err = db_one(c->db, c->arena, &sql[INTEGRATION_TRIED], &row,
		ARGS(T(c->caller.tenant_id), T(id)));

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such integration.");
	if (!err && !row.is_active)
		return call_fail(c, ERR_CONFLICT, "The integration is switched off.");
	if (!err)
		err = hook_actor_problem(c, row.agent_id, id, &why);
	return why ? call_fail(c, ERR_CONFLICT, "%s", why) : err;
}

/* Says that it is a try, and whose. */
static const char *tried_body(struct call *c)
{
	char at[TIME_TEXT_LEN];

	time_write(c->now, at);
	return arena_printf(c->arena, "{\"test\":true,\"sent_at\":\"%.*s\",\"sent_by\":\"%s\"}",
		TIME_TEXT_LEN, at, c->caller.user_id);
}

OPERATION(testIntegration, NONE, DeliveryRead)
{
	const char *hook = call_param(c, "integration_id");
	struct id id = id_new(NULL);
	const char *own = arena_strdup(c->arena, id.text);
	struct delivery_row row = { .tenant_id = c->caller.tenant_id,
		.integration_id = hook,
		.id = own,
		.delivery_key = own,
		.delivery_id = own,
		.status = DeliveryStatus_accepted,
		.outcome = "test",
		.event = "test",
		.caller_ip = c->ip,
		.calls = 1,
		.created_at = c->now,
		.delivered_at = NIL };
	bool is_new;
	int err = check_tried(c, hook);

	if (err)
		return err;
	row.body = tried_body(c);
	err = delivery_insert(c->db, &row, &is_new);
	if (!err)
		err = delivery_queue(c->db, c->arena, &row, c->now);
	return err ? err
		   : db_one(c->db, c->arena, &sql[DELIVERY_READ], out,
			     ARGS(T(row.tenant_id), T(hook), T(own)));
}

#define D "/tenant/{tenant_id}/integrations/{integration_id}/deliveries"

static const struct route routes[] = {
	{ METHOD_GET, D, &listDeliveries, PERM_INTEGRATIONS_WRITE, 200, .tag = "Webhooks",
		.doc = "List the calls of an integration, accepted or not, newest first." },
	{ METHOD_GET, "/tenant/{tenant_id}/deliveries/failed", &listFailedDeliveries,
		PERM_INTEGRATIONS_WRITE, 200, .tag = "Webhooks",
		.doc = "List the events of all integrations that could not be delivered, newest first." },
	{ METHOD_GET, D "/{delivery_id}", &readDelivery, PERM_INTEGRATIONS_WRITE, 200,
		.tag = "Webhooks", .doc = "Read a call with the event as it was sent." },
	{ METHOD_POST, "/tenant/{tenant_id}/integrations/{integration_id}/test", &testIntegration,
		PERM_INTEGRATIONS_WRITE, 202, "integration.test", .tag = "Webhooks",
		.doc = "Deliver an event that says it is a test, past the guardrails." },
	{ METHOD_POST, D "/{delivery_id}/redeliver", &redeliver, PERM_INTEGRATIONS_WRITE, 202,
		"delivery.redeliver", .tag = "Webhooks",
		.doc = "Deliver an event that failed or was blocked, past the guardrails." },
};
RESOURCE(deliveries, routes, NULL, &delivery_sql);
