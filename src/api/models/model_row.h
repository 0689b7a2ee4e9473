/* model_row.h - a model as it is stored, for those who make, change, import and show models. */
#pragma once
#include "api/models/models.h"
#include "broker/price.h"
#include "call/call.h"

struct model_row {
	const char *id, *name, *slug;
	int kind, status;
	const char *description;
	int64_t context_window;
	bool supports_tools, supports_vision, is_free, available_to_all_tenants;
	int64_t endpoints; /* a bit for each of ModelEndpoint */
	int64_t prompt_pd, completion_pd, cache_read_pd, cache_write_pd, character_pd, second_pd;
	const char *base_url, *provider_model;
	int64_t timeout_s, total_timeout_s, max_tokens;
	bool has_api_key;
	struct list header_names;
	const char *secrets; /* sealed: broker/secrets.h */
	struct list failover_chain;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(model_row);

/* ERR_NOT_FOUND if there is none. */
int model_by_id(struct db *db, struct arena *a, const char *id, struct model_row *ret);
int model_by_slug(struct db *db, struct arena *a, const char *slug, struct model_row *ret);
/* ERR_DUPLICATE if the slug is taken. */
int model_insert(struct db *db, const struct model_row *row);
int model_update(struct db *db, const struct model_row *row);

void model_set_price(struct model_row *row, const struct price *price);
/* The prices as ModelRead and TenantModel show them. */
const char *model_pricing(const struct model_row *row, struct arena *a);
void model_show(const struct model_row *row, struct arena *a, struct ModelRead *out);

/* The model that a fresh store has: it answers offline and costs nothing. */
int model_make_demo(struct db *db, struct arena *a);

/* Makes the tenant's default model the whole chain of a new agent, with full access.  It is the oldest of
 * the models that the tenant reaches which is active, has what it takes to be called, and is no router;
 * a demo only where there is no other.  Without any the chain stays empty. */
int model_give_default(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	int64_t created_us);

/* LIST_STATEMENTS over all models, rows of model_row. */
extern const struct statement *const model_list;
extern const struct statement_set model_sql;
