/* hook.c - see hook.h. */
#include "webhooks/hook.h"

#include <string.h>

#include "base/json_tree.h"
#include "contract/value.h"
#include "queue/jobs.h"
#include "sessions/skillset.h"

enum { CLEAN_MAX = 255 };

FIELDS(hook) = {
	FIELD(hook, tenant_id),
	FIELD(hook, id),
	FIELD(hook, agent_id),
	FIELD(hook, skill_id, .nullable = true),
	FIELD(hook, provider, .words = &hook_provider_words),
	FIELD(hook, label),
	FIELD(hook, is_active),
	FIELD(hook, revision),
	FIELD(hook, before_until, .nullable = true),
	FIELD(hook, last_event_at, .nullable = true),
	FIELD(hook, token_hash, .nullable = true, .secret = true),
	FIELD(hook, delivery_id_header, .nullable = true),
	FIELD(hook, sealed, .secret = true),
	FIELD(hook, guardrails),
	FIELD(hook, tenant_runs),
	FIELD(hook, agent_active),
	FIELD(hook, plan_read_only),
	FIELD(hook, skill_on),
	FIELD(hook, has_budget),
	FIELD(hook, has_hours),
	FIELD(hook, seen_id, .nullable = true),
};
SCHEMA(hook, .internal = true);

FIELDS(delivery_row) = {
	FIELD(delivery_row, tenant_id),
	FIELD(delivery_row, integration_id),
	FIELD(delivery_row, id),
	FIELD(delivery_row, delivery_key, .nullable = true),
	FIELD(delivery_row, delivery_id),
	FIELD(delivery_row, status, .words = &DeliveryStatus_words),
	FIELD(delivery_row, outcome),
	FIELD(delivery_row, event, .nullable = true),
	FIELD(delivery_row, action, .nullable = true),
	FIELD(delivery_row, caller_ip, .nullable = true),
	FIELD(delivery_row, user_agent, .nullable = true),
	FIELD(delivery_row, calls),
	FIELD(delivery_row, attempts),
	FIELD(delivery_row, created_at),
	FIELD(delivery_row, delivered_at, .nullable = true),
	FIELD(delivery_row, made_session_id, .nullable = true),
	FIELD(delivery_row, error, .nullable = true),
	FIELD(delivery_row, summary, .nullable = true),

	FIELD(delivery_row, body),
};
SCHEMA(delivery_row, .internal = true);

enum { HOOK_FIND, DELIVERY_INSERT, DELIVERY_FIND };

#define IF(condition, name) "case when " condition " then 1 else 0 end as " name

static const struct statement sql[] = {
	[HOOK_FIND] = { "hook_find",
		"select i.tenant_id, i.id, i.agent_id, i.skill_id, i.provider, i.label, "
		"i.is_active, i.revision, i.before_until, i.last_event_at, i.token_hash, "
		"i.delivery_id_header, i.sealed, i.guardrails, " IF(
			"t.status in ('active', 'trial')",
			"tenant_runs") ", a.is_active as agent_active, " IF("a.id > t.read_only_after",
			"plan_read_only") ", " IF("i.skill_id is null or " SKILL_USED("i.tenant_id",
							  "i.agent_id", "i.skill_id"),
			"skill_on") ", " IF("a.hourly_limit_pd is not null",
			"has_budget") ", " IF("c.working_hours_enabled = 1",
			"has_hours") ", "
				     "coalesce((select d.id from deliveries d where d.tenant_id = i.tenant_id "
				     "and d.integration_id = i.id and d.delivery_key = $2), "
				     "(select p.id from deliveries_past p where p.tenant_id = i.tenant_id "
				     "and p.integration_id = i.id and p.delivery_key = $2)) as seen_id "
				     "from integrations i join tenants t on t.id = i.tenant_id "
				     "join agents a on a.tenant_id = i.tenant_id and a.id = i.agent_id "
				     "left join chat_configs c on c.tenant_id = i.tenant_id and c.agent_id = i.agent_id "
				     "where i.id = $1",
		.row = &hook_schema,
		.across = "who sends an event knows the id of its address and no tenant" },
	[DELIVERY_INSERT] = { "delivery_insert",
		"insert into deliveries ({*}) values ({$}) on conflict do nothing",
		.row = &delivery_row_schema },
	[DELIVERY_FIND] = { "delivery_find",
		"select {*} from deliveries where tenant_id = $1 and integration_id = $2 and id = $3",
		.row = &delivery_row_schema },
};
STATEMENT_SET(hook_sql, sql);

int hook_find(struct db *db, struct arena *a, const char *id, const char *key, struct hook *ret)
{
	return db_one(db, a, &sql[HOOK_FIND], ret, ARGS(T(id), T(key)));
}

/* ---- secrets ---- */

const char *hook_seal(
	struct vault *vault, struct arena *a, const char *id, const char *now, const char *before)
{
	struct buf b;
	const char *sealed;

	buf_init(&b, 8192);
	buf_lit(&b, "{\"now\":");
	json_write_string(&b, now, strlen(now));
	if (before) {
		buf_lit(&b, ",\"before\":");
		json_write_string(&b, before, strlen(before));
	}
	buf_putc(&b, '}');
	sealed = vault_seal(vault, a, SEALED_HOOK, id, b.at, b.len);
	buf_free(&b);
	return sealed;
}

size_t hook_secrets(struct vault *vault, struct arena *a, const struct hook *h, int64_t now,
	const char *ret[HOOK_SECRETS])
{
	const char *text = *h->sealed ? vault_open_text(vault, a, h->id, h->sealed) : NULL;
	const struct json_node *n = text ? json_tree(a, text, strlen(text), NULL, NULL) : NULL;
	const char *secret = n ? json_tree_text(n, "now") : NULL,
		   *before = n ? json_tree_text(n, "before") : NULL;
	size_t count = 0;

	if (secret && *secret)
		ret[count++] = secret;
	if (before && *before && h->before_until != NIL && now < h->before_until)
		ret[count++] = before;
	return count;
}

const struct IntegrationGuardrails hook_rails_default = { .max_bytes = NIL,
	.per_minute = NIL,
	.working_hours = HoursRule_hold,
	.budget = BudgetRule_hold,
	.refuse_repeats_hours = NIL };

struct IntegrationGuardrails *hook_rails(
	const struct patterns *patterns, struct arena *a, const char *text)
{
	struct IntegrationGuardrails *rails = arena_new(a, struct IntegrationGuardrails);
	struct problem p = { 0 };

	*rails = hook_rails_default;
	if (!*text || strcmp(text, "{}") == 0)
		return rails;
	if (decode_body(patterns, a, &IntegrationGuardrails_schema, UNKNOWN_IGNORED, text,
		    strlen(text), rails, &p))
		*rails = hook_rails_default;
	return rails;
}

/* ---- deliveries ---- */

int delivery_insert(struct db *db, const struct delivery_row *row, bool *ret_new)
{
	int64_t changed = 0;
	int err = db_run(db, &sql[DELIVERY_INSERT], &changed, BY_NAME(delivery_row, row));

	*ret_new = changed > 0;
	return err;
}

int delivery_find(struct db *db, struct arena *a, const char *tenant_id, const char *integration_id,
	const char *id, struct delivery_row *ret)
{
	return db_one(
		db, a, &sql[DELIVERY_FIND], ret, ARGS(T(tenant_id), T(integration_id), T(id)));
}

int delivery_queue(struct db *db, struct arena *a, const struct delivery_row *row, int64_t now)
{
	struct job_new job = { .tenant_id = row->tenant_id,
		.kind = DELIVERY_JOB,
		.subject = row->id,
		.payload = arena_printf(a, "{\"integration_id\":\"%s\"}", row->integration_id) };
	char id[26];

	return jobs_add(db, a, &job, now, id);
}

const char *hook_clean(struct arena *a, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *copy;

	if (!text)
		return NULL;
	copy = arena_strndup(a, text, len < CLEAN_MAX ? len : CLEAN_MAX);
	for (char *p = copy; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return copy;
}
