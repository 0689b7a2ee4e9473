/* model_edit.c - see model_edit.h. */
#include "api/models/model_edit.h"

#include <string.h>

#include "base/id.h"

struct chain_row {
	const char *id, *slug;
	struct list failover_chain;
};

FIELDS(chain_row) = {
	FIELD(chain_row, id),
	FIELD(chain_row, slug),
	FIELD(chain_row, failover_chain, .item = TEXT),
};
static SCHEMA(chain_row, .internal = true);

enum { CHAIN_OF };

static const struct statement sql[] = {
	[CHAIN_OF] = { "model_chain_of", "select {*} from models where id = $1",
		.row = &chain_row_schema },
};
STATEMENT_SET(model_edit_sql, sql);

/* ---- the chain ---- */

/* A model met on the way from this one, and through which. */
struct step {
	const struct step *from;
	struct step *next;
	const char *id;
	struct chain_row row;
};

static bool is_met(const struct step *met, const char *id)
{
	for (; met; met = met->next)
		if (strcmp(met->id, id) == 0)
			return true;
	return false;
}

/* "large -> small -> large" */
static const char *way_back(const struct model_editor *e, const char *slug, const struct step *last)
{
	const char *out = slug;

	for (; last; last = last->from)
		out = arena_printf(e->arena, "%s -> %s", last->row.slug, out);
	return arena_printf(e->arena, "%s -> %s", slug, out);
}

/* Walks what can be reached from the model at place i of the chain; each model is visited once. */
static int check_link(const struct model_editor *e, const struct model_row *row, size_t i)
{
	const char *field = arena_printf(e->arena, "failover_chain[%zu]", i);
	struct step *first = arena_new(e->arena, struct step), *last = first;
	int err = 0;

	first->id = ((const char *const *)row->failover_chain.at)[i];
	if (strcmp(first->id, row->id) == 0)
		return problem_field(e->problem, e->arena, field, "itself", "is the model itself");
	for (struct step *at = first; at && !err; at = at->next) {
		const char *const *next;

		err = db_one(e->db, e->arena, &sql[CHAIN_OF], &at->row, ARGS(T(at->id)));
		if (err == ERR_NOT_FOUND && at == first)
			return problem_field(
				e->problem, e->arena, field, "unknown", "is not the id of a model");
		next = at->row.failover_chain.at;
		for (size_t k = 0; !err && k < at->row.failover_chain.count; k++) {
			if (strcmp(next[k], row->id) == 0)
				return problem_field(e->problem, e->arena, field, "cycle",
					"leads back to this model: %s", way_back(e, row->slug, at));
			if (is_met(first, next[k]))
				continue;
			last->next = arena_new(e->arena, struct step);
			last = last->next;
			*last = (struct step){ .from = at, .id = next[k] };
		}
	}
	return err;
}

static int check_failover_chain(const struct model_editor *e, const struct model_row *row)
{
	int err = 0;

	for (size_t i = 0; i < row->failover_chain.count; i++) {
		err = check_link(e, row, i);
		if (err && err != ERR_INVALID)
			return err;
	}
	return e->problem->err;
}

/* ---- making and changing ---- */

static void set_pricing(
	const struct model_editor *e, const struct json *pricing, struct model_row *row)
{
	struct price price;

	if (!price_read(
		    pricing->text, strlen(pricing->text), "pricing", &price, e->arena, e->problem))
		model_set_price(row, &price);
}

static int needs_config(const struct model_editor *e, const struct model_row *row)
{
	if (!model_kind_is_hosted(row->kind) || e->may_lack_config ||
		problem_names(e->problem, "config"))
		return 0;
	return problem_field(e->problem, e->arena, "config", "required",
		"is required for %s: {base_url, model}, and api_key if the provider asks for one",
		ModelKind_words.list[row->kind]);
}

/* The row of a new one, if nothing is wrong with it. */
static int fill_model_row(
	const struct model_editor *e, const struct ModelCreate *in, struct model_row *ret)
{
	struct id id;
	int err;

	schema_init(&model_row_schema, e->arena, ret);
	id = id_new(&ret->created_at.us);
	ret->id = arena_strdup(e->arena, id.text);
	ret->updated_at = ret->created_at;
	ret->name = in->name;
	ret->slug = in->slug;
	ret->kind = in->kind;
	ret->status = in->status;
	ret->description = in->description;
	ret->context_window = in->context_window;
	ret->supports_tools = in->supports_tools > 0;
	ret->supports_vision = in->supports_vision > 0;
	ret->is_free = in->is_free > 0;
	ret->available_to_all_tenants = in->available_to_all_tenants > 0;
	if (in->failover_chain.at)
		ret->failover_chain = in->failover_chain;
	if (in->pricing.text)
		set_pricing(e, &in->pricing, ret);
	err = in->config ? model_configure(e, in->config, ret) : needs_config(e, ret);
	return !err || err == ERR_INVALID ? check_failover_chain(e, ret) : err;
}

void model_check(const struct model_editor *e, const struct ModelCreate *in)
{
	struct model_row row;

	if (in->kind >= 0) /* on which the rest depends */
		fill_model_row(e, in, &row);
}

int model_create(const struct model_editor *e, const struct ModelCreate *in, struct model_row *ret)
{
	int err = fill_model_row(e, in, ret);

	if (!err)
		err = model_insert(e->db, ret);
	if (err == ERR_DUPLICATE)
		return problem_set(e->problem, e->arena, ERR_TAKEN,
			"There is a model with the slug %s already.", in->slug);
	return err;
}

int model_change(
	const struct model_editor *e, const struct AdminModelUpdate *in, struct model_row *row)
{
	struct ModelConfig config;
	int err = 0;

	schema_patch(&AdminModelUpdate_schema, in, &model_row_schema, row);
	if (in->pricing.text)
		set_pricing(e, &in->pricing, row);
	if (in->config.text)
		err = decode_part(e->patterns, e->arena, &ModelConfig_schema, "config",
			in->config.text, &config, e->problem);
	if (!err && in->config.text)
		err = model_configure(e, &config, row);
	if (err && err != ERR_INVALID)
		return err;
	return in->failover_chain.at ? check_failover_chain(e, row) : e->problem->err;
}
