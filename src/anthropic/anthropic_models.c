/* anthropic_models.c - GET /v1/models for Anthropic's clients, who send the header anthropic-version: what OpenAI's
 * clients are shown at the same path, in the other shape. */
#include <string.h>

#include "base/clock.h"
#include "call/operation.h"
#include "openai/gateway.h"

enum { SHOWN_MAX = 1000, SHOWN = 20 };

struct AnthropicModel {
	const char *type, *id, *display_name;
	struct moment created_at;
};

FIELDS(AnthropicModel) = {
	FIELD(AnthropicModel, type, .required = true, .constant = "model", .doc = "Always model."),
	FIELD(AnthropicModel, id, .required = true, .example = "\"agent:assistant\"",
		.doc = "What to give as model: agent: and an agent's slug, or a model's slug."),
	FIELD(AnthropicModel, display_name, .required = true, .example = "\"agent:assistant\"",
		.doc = "The same."),
	FIELD(AnthropicModel, created_at, .required = true,
		.example = "\"2026-11-15T07:48:24.815Z\"", .doc = "When it was made."),
};
static SCHEMA(AnthropicModel, .doc = "Something that can be called under this name.");

struct AnthropicModelList {
	struct list data;
	bool has_more;
	const char *first_id, *last_id;
};

FIELDS(AnthropicModelList) = {
	FIELD(AnthropicModelList, data, .required = true, .item = OBJECT,
		.of = &AnthropicModel_schema,
		.doc = "Agents first, then models, each newest first."),
	FIELD(AnthropicModelList, has_more, .required = true, .doc = "Whether more follow."),
	FIELD(AnthropicModelList, first_id, .required = true, .nullable = true,
		.doc = "The first of these."),
	FIELD(AnthropicModelList, last_id, .required = true, .nullable = true,
		.doc = "The last of these; give it as after_id."),
};
static SCHEMA(AnthropicModelList, .doc = "Some of all that can be called.");

struct anthropic_page {
	int64_t limit;
	const char *after_id, *before_id;
};

FIELDS(anthropic_page) = {
	FIELD(anthropic_page, limit, .nullable = true, BOUNDS(1, SHOWN_MAX),
		.doc = "How many to show; 20 where it is not said."),
	FIELD(anthropic_page, after_id, .nullable = true, .doc = "Those after this one."),
	FIELD(anthropic_page, before_id, .nullable = true, .doc = "Those before this one."),
};
static SCHEMA(anthropic_page, .doc = "Which page.");

static struct AnthropicModel shown_model(const struct OpenAIModel *m)
{
	return (struct AnthropicModel){ "model", m->id, m->id, { m->created * SECOND_US } };
}

static size_t place_of(const struct list *all, const char *id)
{
	const struct OpenAIModel *m = all->at;
	size_t i = 0;

	while (i < all->count && strcmp(m[i].id, id) != 0)
		i++;
	return i;
}

QUERY_OPERATION(listAnthropicModels, anthropic_page, AnthropicModelList, .open_query = true)
{
	size_t limit = in->limit == NIL ? SHOWN : (size_t)in->limit, from = 0, to;
	struct AnthropicModel *shown;
	struct list all;
	int err = gateway_list(c, &all);

	if (err)
		return err;
	to = all.count;
	if (in->after_id)
		from = place_of(&all, in->after_id) + 1;
	else if (in->before_id)
		to = place_of(&all, in->before_id);
	from = from < to ? from : to;
	out->has_more = to - from > limit;
	if (out->has_more && in->before_id && !in->after_id)
		from = to - limit;
	else if (out->has_more)
		to = from + limit;
	shown = arena_array(c->arena, struct AnthropicModel, to - from + 1);
	for (size_t i = from; i < to; i++)
		shown[i - from] = shown_model((const struct OpenAIModel *)all.at + i);
	out->data = (struct list){ shown, to - from };
	if (to > from) {
		out->first_id = shown[0].id;
		out->last_id = shown[to - from - 1].id;
	}
	return 0;
}

OPERATION(readAnthropicModel, NONE, AnthropicModel, .open_query = true)
{
	struct OpenAIModel m;
	int err = gateway_one(c, call_param(c, "model"), &m);

	if (!err)
		*out = shown_model(&m);
	return err;
}

#define BY_HEADER .tag = "Anthropic", .as_printed = true, .anthropic = true, .unpublished = true

static const struct route routes[] = {
	{ METHOD_GET, "/v1/models", &listAnthropicModels, PERM_LOGIN, 200, BY_HEADER,
		.doc = "List what may be given as model, as Anthropic's service does." },
	{ METHOD_GET, "/v1/models/{model}", &readAnthropicModel, PERM_LOGIN, 200, BY_HEADER,
		.doc = "Read one of them." },
};
RESOURCE(anthropic_models, routes, NULL);
