/* gate.c - see gate.h. */
#include "broker/gate.h"

#include <stdlib.h>
#include <string.h>

#include "access/permission.h"
#include "broker/chat_config.h"
#include "store/listing.h"

FIELDS(gate_facts) = {
	FIELD(gate_facts, model_id),
	FIELD(gate_facts, name),
	FIELD(gate_facts, slug),
	FIELD(gate_facts, description),
	FIELD(gate_facts, kind, .words = &ModelKind_words),
	FIELD(gate_facts, status, .words = &ModelStatus_words),
	FIELD(gate_facts, context_window),
	FIELD(gate_facts, supports_tools),
	FIELD(gate_facts, supports_vision),
	FIELD(gate_facts, is_free),
	FIELD(gate_facts, endpoints),
	FIELD(gate_facts, prompt_pd),
	FIELD(gate_facts, completion_pd),
	FIELD(gate_facts, cache_read_pd),
	FIELD(gate_facts, cache_write_pd),
	FIELD(gate_facts, character_pd),
	FIELD(gate_facts, second_pd),
	FIELD(gate_facts, has_address),
	FIELD(gate_facts, base_url, .nullable = true),
	FIELD(gate_facts, provider_model, .nullable = true),
	FIELD(gate_facts, secrets, .nullable = true),
	FIELD(gate_facts, timeout_s),
	FIELD(gate_facts, total_timeout_s),
	FIELD(gate_facts, max_tokens, .nullable = true),
	FIELD(gate_facts, failover_chain, .item = TEXT),
	FIELD(gate_facts, key_id, .nullable = true),
	FIELD(gate_facts, key_base_url, .nullable = true),
	FIELD(gate_facts, key_sealed, .nullable = true),
	FIELD(gate_facts, tenant_runs),
	FIELD(gate_facts, reached),
	FIELD(gate_facts, plan_read_only),
	FIELD(gate_facts, agent_active),
	FIELD(gate_facts, access, .words = &ModelAccess_words),
	FIELD(gate_facts, priority),
	FIELD(gate_facts, granted_at, .nullable = true),
	FIELD(gate_facts, router_granted),
	FIELD(gate_facts, driven),
	FIELD(gate_facts, user_suspended),
	FIELD(gate_facts, user_super),
	FIELD(gate_facts, user_role, .words = &tenant_role_words),
	FIELD(gate_facts, grants_required),
	FIELD(gate_facts, user_grant),
};
SCHEMA(gate_facts, .internal = true);

/* $1 tenant, $2 agent, $3 user or null */

#define IF(condition, name) "case when " condition " then 1 else 0 end as " name

#define MODEL_COLUMNS                                                                                  \
	"m.id as model_id, m.name, m.slug, m.description, m.kind, m.status, "                          \
	"m.context_window, m.supports_tools, m.supports_vision, m.is_free, m.endpoints, m.prompt_pd, " \
	"m.completion_pd, m.cache_read_pd, m.cache_write_pd, m.character_pd, m.second_pd, " IF(        \
		"m.base_url is not null and m.provider_model is not null", "has_address") ", "

/* A grant on a router counts while the router itself could be called. */
#define ROUTER_GRANT                                                                    \
	"exists (select 1 from agent_models x join models r on r.id = x.model_id "      \
	"where x.tenant_id = $1 and x.agent_id = $2 and x.access = 'full' "             \
	"and r.kind = 'router' and r.status <> 'disabled' "                             \
	"and (r.available_to_all_tenants = 1 or exists (select 1 from model_tenants y " \
	"where y.tenant_id = $1 and y.model_id = r.id)))"

#define REACHED "(m.available_to_all_tenants = 1 or e.model_id is not null)"

#define AGENT_COLUMNS                                                            \
	IF("t.status in ('active', 'trial')", "tenant_runs")                     \
	", " IF(REACHED, "reached") ", " IF("a.id > t.read_only_after",          \
		"plan_read_only") ", coalesce(a.is_active, 1) as agent_active, " \
				  "g.access, g.priority, " IF(ROUTER_GRANT, "router_granted") ", "

#define USER_COLUMNS                                                                 \
	IF("cast($3 as text) is not null", "driven")                                 \
	", " IF("u.is_suspended = 1", "user_suspended") ", " IF(                     \
		"u.is_super_admin = 1 and t.allow_superadmin_access = 1",            \
		"user_super") ", b.role as user_role, "                              \
			      "t.require_user_model_grants as grants_required, " IF( \
				      "h.model_id is not null", "user_grant")

#define COLUMNS MODEL_COLUMNS AGENT_COLUMNS USER_COLUMNS

#define AROUND                                                                                \
	"join tenants t on t.id = $1 "                                                        \
	"left join agents a on a.tenant_id = $1 and a.id = $2 "                               \
	"left join model_tenants e on e.tenant_id = $1 and e.model_id = m.id "                \
	"left join users u on u.id = $3 "                                                     \
	"left join members b on b.tenant_id = $1 and b.user_id = $3 and b.status = 'active' " \
	"left join user_models h on h.tenant_id = $1 and h.user_id = $3 and h.model_id = m.id "
#define FROM                                                                                   \
	"models m " AROUND "left join agent_models g on g.tenant_id = $1 and g.agent_id = $2 " \
	"and g.model_id = m.id "

/* With the way to the model, and the tenant's own key for its provider. */
#define WAY_COLUMNS                                                                                               \
	", g.created_at as granted_at, m.base_url, m.provider_model, m.secrets, m.timeout_s, m.total_timeout_s, " \
	"m.max_tokens, m.failover_chain, k.id as key_id, k.base_url as key_base_url, "                            \
	"k.sealed as key_sealed"
#define WAY_FROM "left join provider_keys k on k.tenant_id = $1 and k.provider = m.kind "

/* Without an agent nothing is asked of one; with one it must be there. */
#define AGENT_THERE "(cast($2 as text) is null or a.id is not null)"
#define CHOSEN "where m.status in ('active', 'experimental') and " AGENT_THERE " and " REACHED

enum { LIST_OF(GATE_CATALOG), GATE_ONE, GATE_CHAIN, GATE_ALL };

static const struct statement sql[] = {
	LISTING(GATE_CATALOG, "gate_catalog", &gate_facts_schema, COLUMNS, FROM CHOSEN, "m.id",
		.scan = "the registry of models, walked in the order of its key"),
	[GATE_ONE] = { "gate_one",
		"select " COLUMNS WAY_COLUMNS " from " FROM WAY_FROM
		"where m.id = $4 and " AGENT_THERE,
		.row = &gate_facts_schema },
	[GATE_CHAIN] = { "gate_chain",
		"select " COLUMNS WAY_COLUMNS
		" from agent_models g join models m on m.id = g.model_id " AROUND WAY_FROM
		"where g.tenant_id = $1 and g.agent_id = $2 and " AGENT_THERE " limit $4",
		.row = &gate_facts_schema },
	[GATE_ALL] = { "gate_all", "select " COLUMNS " from " FROM CHOSEN " order by m.id limit $4",
		.row = &gate_facts_schema,
		.scan = "the registry of models, walked in the order of its key" },
};
STATEMENT_SET(gate_sql, sql);

const struct statement *const gate_catalog = &sql[GATE_CATALOG];

int gate_load(struct db *db, struct arena *a, const struct gate_who *who, const char *model_id,
	struct gate_facts *ret)
{
	ret->moment = NULL;
	return db_one(db, a, &sql[GATE_ONE], ret,
		ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id), T(model_id)));
}

static int by_priority(const void *one, const void *other)
{
	const struct gate_facts *a = one, *b = other;

	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	if (a->granted_at != b->granted_at)
		return a->granted_at < b->granted_at ? -1 : 1;
	return strcmp(a->model_id, b->model_id);
}

/* Sorted here: SQLite takes twice as long for the one row that most chains have, if it must sort. */
int gate_load_chain(struct db *db, struct arena *a, const struct gate_who *who, struct list *ret)
{
	int err = db_all(db, a, &sql[GATE_CHAIN], ret, GATE_MODELS_MAX,
		ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id), N(GATE_MODELS_MAX)));

	if (!err && ret->count > 1)
		qsort(ret->at, ret->count, sizeof(struct gate_facts), by_priority);
	return err;
}

int gate_moment_load(struct db *db, struct arena *a, const struct gate_who *who, int64_t now,
	struct gate_moment *ret)
{
	struct chat_config chat;
	int err = chat_config_read(db, a, who->tenant_id, who->agent_id, &chat);

	if (err)
		return err;
	ret->wait_s = working_hours_wait_s(&chat, now);
	return budget_look(db,
		&(struct reservation){ .tenant_id = who->tenant_id,
			.agent_id = who->agent_id,
			.hourly_limit_pd = chat.hourly_limit_pd,
			.per_minute = chat.chat_rpm_limit,
			.per_hour = chat.chat_rph_limit },
		now, &ret->left);
}

int gate_load_all(struct db *db, struct arena *a, const struct gate_who *who, struct list *ret)
{
	return db_all(db, a, &sql[GATE_ALL], ret, GATE_MODELS_MAX,
		ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id), N(GATE_MODELS_MAX)));
}

bool gate_via_router(const struct gate_facts *f)
{
	return f->router_granted && f->kind != ModelKind_router &&
	       f->access != ModelAccess_read_only;
}

tri gate_user_granted(const struct gate_facts *f)
{
	if (!f->driven || !f->grants_required || f->is_free || f->kind == ModelKind_router ||
		f->kind == ModelKind_demo)
		return -1;
	return f->user_grant || f->user_super || f->user_role == ROLE_OWNER ||
	       f->user_role == ROLE_ADMIN;
}

/* ---- the rules ---- */

static bool tenant_stands_still(const struct gate_facts *f)
{
	return !f->tenant_runs;
}

static bool user_is_suspended(const struct gate_facts *f)
{
	return f->driven && f->user_suspended;
}

static bool user_is_a_stranger(const struct gate_facts *f)
{
	return f->driven && f->user_role < 0 && !f->user_super;
}

static bool agent_is_beyond_plan(const struct gate_facts *f)
{
	return f->plan_read_only;
}

static bool agent_is_inactive(const struct gate_facts *f)
{
	return !f->agent_active;
}

static bool model_is_disabled(const struct gate_facts *f)
{
	return f->status == ModelStatus_disabled;
}

static bool model_is_out_of_reach(const struct gate_facts *f)
{
	return !f->reached;
}

static bool model_has_no_address(const struct gate_facts *f)
{
	return model_kind_is_hosted(f->kind) && !f->has_address;
}

static bool model_is_not_granted(const struct gate_facts *f)
{
	return f->access < 0 && !gate_via_router(f);
}

static bool model_is_only_shown(const struct gate_facts *f)
{
	return f->access == ModelAccess_read_only;
}

static bool user_has_no_grant(const struct gate_facts *f)
{
	return gate_user_granted(f) == 0;
}

static bool agent_is_off_work(const struct gate_facts *f)
{
	return f->moment && f->moment->wait_s;
}

static bool agent_made_its_calls(const struct gate_facts *f)
{
	return f->moment &&
	       (f->moment->left.calls_in_minute == 0 || f->moment->left.calls_in_hour == 0);
}

struct price gate_price(const struct gate_facts *f)
{
	return (struct price){ f->prompt_pd, f->completion_pd, f->cache_read_pd, f->cache_write_pd,
		f->character_pd, f->second_pd };
}

static bool room_does_not_pay(const struct gate_facts *f)
{
	struct price p = gate_price(f);

	return f->moment && f->moment->left.room_pd != NIL && !f->is_free &&
	       f->moment->left.room_pd < budget_least_pd(&p);
}

static const struct gate_rule rules[] = {
	{ ERR_SUSPENDED, "tenant_not_running", TENANT_STANDS_STILL, false, tenant_stands_still },
	{ ERR_SUSPENDED, "user_suspended", "The user who drives the agent is suspended.", false,
		user_is_suspended },
	{ ERR_FORBIDDEN, "user_not_member",
		"The user who drives the agent is not a member of the tenant.", false,
		user_is_a_stranger },
	{ ERR_CONFLICT, "plan_read_only", "The agent is beyond the tenant's plan and only reads.",
		false, agent_is_beyond_plan },
	{ ERR_CONFLICT, "agent_inactive", "The agent is switched off.", false, agent_is_inactive },
	{ ERR_CONFLICT, "model_disabled", "The model is disabled.", false, model_is_disabled },
	{ ERR_FORBIDDEN, "model_not_reached", "The tenant does not reach the model.", false,
		model_is_out_of_reach },
	{ ERR_CONFLICT, "model_not_configured",
		"The model has no address yet; a super administrator sets its config.", false,
		model_has_no_address },
	{ ERR_FORBIDDEN, "model_not_granted",
		"The agent has no grant on the model, directly or through a router.", true,
		model_is_not_granted },
	{ ERR_FORBIDDEN, "model_read_only", "The agent's grant on the model is read_only.", true,
		model_is_only_shown },
	{ ERR_FORBIDDEN, "user_grant_missing",
		"The user needs a grant on the model; an ADMIN of the tenant can give it.", false,
		user_has_no_grant },
	{ ERR_THROTTLED, "outside_working_hours", "The agent is outside its working hours.", false,
		agent_is_off_work },
	{ ERR_THROTTLED, "rate_limited",
		"The agent has taken as many messages as it may in a minute or an hour.", false,
		agent_made_its_calls },
	{ ERR_THROTTLED, "budget_exhausted",
		"What is left of the agent's budget for the hour does not pay for a call.", false,
		room_does_not_pay },
};

const struct gate_rule *gate_refusal(const struct gate_facts *f)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].refuses(f))
			return &rules[i];
	return NULL;
}
