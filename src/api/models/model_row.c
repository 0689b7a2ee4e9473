/* model_row.c - see model_row.h. */
#include "api/models/model_row.h"

#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "store/listing.h"

enum { HEADERS_MAX = 64 * 1024 };

FIELDS(model_row) = {
	FIELD(model_row, id),
	FIELD(model_row, name),
	FIELD(model_row, slug),
	FIELD(model_row, kind, .words = &ModelKind_words),
	FIELD(model_row, status, .words = &ModelStatus_words),
	FIELD(model_row, description, .nullable = true),
	FIELD(model_row, context_window, .nullable = true),
	FIELD(model_row, supports_tools),
	FIELD(model_row, supports_vision),
	FIELD(model_row, is_free),
	FIELD(model_row, available_to_all_tenants),
	FIELD(model_row, endpoints, .otherwise = "1"),
	FIELD(model_row, prompt_pd, .nullable = true),
	FIELD(model_row, completion_pd, .nullable = true),
	FIELD(model_row, cache_read_pd, .nullable = true),
	FIELD(model_row, cache_write_pd, .nullable = true),
	FIELD(model_row, character_pd, .nullable = true),
	FIELD(model_row, second_pd, .nullable = true),
	FIELD(model_row, base_url, .nullable = true),
	FIELD(model_row, provider_model, .nullable = true),
	FIELD(model_row, timeout_s, .otherwise = "60"),
	FIELD(model_row, total_timeout_s, .otherwise = "600"),
	FIELD(model_row, max_tokens, .nullable = true),
	FIELD(model_row, has_api_key),
	FIELD(model_row, header_names, .item = TEXT, .otherwise = "[]"),
	FIELD(model_row, secrets, .nullable = true, .secret = true),
	FIELD(model_row, failover_chain, .item = TEXT, .otherwise = "[]"),
	FIELD(model_row, created_at),
	FIELD(model_row, updated_at),
};
SCHEMA(model_row, .internal = true);

enum {
	LIST_OF(MODEL_LIST),
	MODEL_BY_ID,
	MODEL_BY_SLUG,
	MODEL_INSERT,
	MODEL_UPDATE,
	MODEL_DEFAULT,
	CHAIN_BEGIN,
};

/* The oldest active model of some kinds that the tenant reaches and that chats: the walk ends at the first. */
#define OLDEST(kinds)                                                                             \
	"(select d.id from models d where d.status = 'active' and d.endpoints % 2 = 1 and " kinds \
	" and (d.available_to_all_tenants = 1 or exists (select 1 from model_tenants e "          \
	"where e.tenant_id = $1 and e.model_id = d.id)) order by d.id limit 1)"

static const struct statement sql[] = {
	LISTING(MODEL_LIST, "model_list", &model_row_schema, "{m.*}", "models m where 1 = 1",
		"m.id", .scan = "the registry, walked in the order of its key"),
	[MODEL_BY_ID] = { "model_by_id", "select {*} from models where id = $1",
		.row = &model_row_schema },
	[MODEL_BY_SLUG] = { "model_by_slug", "select {*} from models where slug = $1",
		.row = &model_row_schema },
	[MODEL_INSERT] = { "model_insert", "insert into models ({*}) values ({$})",
		.row = &model_row_schema },
	[MODEL_UPDATE] = { "model_update", "update models set {=} where id = :id",
		.row = &model_row_schema },
	[MODEL_DEFAULT] = { "model_default",
		"select m.id as value from models m where m.id = coalesce(" OLDEST(
			"d.kind not in ('demo', 'router') and d.base_url is not null "
			"and d.provider_model is not null") ", " OLDEST("d.kind = 'demo'") ")",
		.row = &one_text_schema,
		.scan = "the registry, walked in the order of its key to the first that fits" },
	[CHAIN_BEGIN] = { "chain_begin",
		"insert into agent_models (tenant_id, agent_id, model_id, access, priority, created_at) "
		"values ($1, $2, $3, 'full', 0, $4)" },
};
STATEMENT_SET(model_sql, sql);

const struct statement *const model_list = &sql[MODEL_LIST];

int model_by_id(struct db *db, struct arena *a, const char *id, struct model_row *ret)
{
	return db_one(db, a, &sql[MODEL_BY_ID], ret, ARGS(T(id)));
}

int model_by_slug(struct db *db, struct arena *a, const char *slug, struct model_row *ret)
{
	return db_one(db, a, &sql[MODEL_BY_SLUG], ret, ARGS(T(slug)));
}

int model_insert(struct db *db, const struct model_row *row)
{
	return db_put(db, &sql[MODEL_INSERT], row);
}

int model_update(struct db *db, const struct model_row *row)
{
	return db_put(db, &sql[MODEL_UPDATE], row);
}

void model_set_price(struct model_row *row, const struct price *price)
{
	row->prompt_pd = price->prompt;
	row->completion_pd = price->completion;
	row->cache_read_pd = price->cache_read;
	row->cache_write_pd = price->cache_write;
	row->character_pd = price->character;
	row->second_pd = price->second;
}

const char *model_pricing(const struct model_row *row, struct arena *a)
{
	return price_json(&(struct price){ row->prompt_pd, row->completion_pd, row->cache_read_pd,
				  row->cache_write_pd, row->character_pd, row->second_pd },
		a);
}

/* The names, each with null: what they hold is not shown. */
static const char *show_headers(const struct list *names, struct arena *a)
{
	const char *const *name = names->at, *text;
	struct buf b;

	buf_init(&b, HEADERS_MAX);
	buf_putc(&b, '{');
	for (size_t i = 0; i < names->count; i++) {
		if (i)
			buf_putc(&b, ',');
		json_write_string(&b, name[i], strlen(name[i]));
		buf_lit(&b, ":null");
	}
	buf_putc(&b, '}');
	text = arena_take(a, &b);
	return text;
}

static struct list show_endpoints(int64_t bits, struct arena *a)
{
	int *shown = arena_array(a, int, ModelEndpoint_transcriptions + 1);
	size_t n = 0;

	for (int e = 0; e <= ModelEndpoint_transcriptions; e++)
		if (bits & ENDPOINT_BIT(e))
			shown[n++] = e;
	return (struct list){ shown, n };
}

void model_show(const struct model_row *row, struct arena *a, struct ModelRead *out)
{
	struct ModelConfig *config = NULL;

	schema_copy(&model_row_schema, row, &ModelRead_schema, out);
	out->pricing.text = model_pricing(row, a);
	if (row->base_url || row->provider_model) {
		config = arena_new(a, struct ModelConfig);
		schema_copy(&model_row_schema, row, &ModelConfig_schema, config);
		config->model = row->provider_model;
		config->api_key_set = row->has_api_key;
		config->headers.text = show_headers(&row->header_names, a);
		config->endpoints = show_endpoints(row->endpoints, a);
	}
	out->config = config;
}

int model_give_default(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	int64_t created_us)
{
	struct one_text model;
	int err = db_one(db, a, &sql[MODEL_DEFAULT], &model, ARGS(T(tenant_id)));

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	return db_run(db, &sql[CHAIN_BEGIN], NULL,
		ARGS(T(tenant_id), T(agent_id), T(model.value), N(created_us)));
}

int model_make_demo(struct db *db, struct arena *a)
{
	struct model_row row;
	struct id id;

	schema_init(&model_row_schema, a, &row);
	id = id_new(&row.created_at.us);
	row.id = arena_strdup(a, id.text);
	row.name = "Demo";
	row.slug = "demo";
	row.kind = ModelKind_demo;
	row.status = ModelStatus_active;
	row.description = "An offline demonstration model: it answers with prepared text, calls no "
			  "provider and costs nothing. It is there to try Lodge out, not to think.";
	row.context_window = 32768;
	row.supports_tools = row.is_free = row.available_to_all_tenants = true;
	row.prompt_pd = row.completion_pd = row.cache_read_pd = row.cache_write_pd = 0;
	row.updated_at = row.created_at;
	return model_insert(db, &row);
}
