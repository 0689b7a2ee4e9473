/* format_dify.c - Dify's DSL: a chat or agent app as it is; of a workflow what its nodes say to models. */
#include <string.h>

#include "bundle/format_parts.h"

static const struct json_node *dsl_of(const struct bundle_reading *r)
{
	return r->json ? r->json : r->yaml;
}

bool dify_sniff(const struct bundle_reading *r)
{
	const struct json_node *n = dsl_of(r);
	const char *kind = n ? bundle_text(n, "kind") : NULL;

	return kind && strcmp(kind, "app") == 0 && bundle_at(n, "app");
}

/* A list of {role, text}, or one {text}. */
static void read_template(struct bundle_reading *r, const struct json_node *t)
{
	if (!t)
		return;
	bundle_add_prompt(r, bundle_text(t, "text"));
	for (size_t i = 0; t->type == JSON_ARRAY && i < t->count; i++) {
		const char *role = bundle_text(t->items[i], "role");

		if (role && strcmp(role, "system") == 0)
			bundle_add_prompt(r, bundle_text(t->items[i], "text"));
	}
}

static void read_dify_tools(struct bundle_reading *r, const struct json_node *tools)
{
	for (size_t i = 0; tools && tools->type == JSON_ARRAY && i < tools->count; i++) {
		const struct json_node *enabled = bundle_at(tools->items[i], "enabled");

		if (!enabled || enabled->type != JSON_BOOL || enabled->flag)
			bundle_add_tool(r, bundle_text(tools->items[i], "tool_name"));
	}
}

static void read_config(struct bundle_reading *r, const struct json_node *c)
{
	bundle_add_model(r, bundle_text(c, "model.name"));
	bundle_add_prompt(r, bundle_text(c, "pre_prompt"));
	read_template(r, bundle_at(c, "chat_prompt_config.prompt"));
	r->out->greeting = bundle_text(c, "opening_statement");
	read_dify_tools(r, bundle_at(c, "agent_mode.tools"));
	bundle_drop(r, c, "dataset_configs.datasets.datasets", "Data sets stay behind.");
	bundle_drop(r, c, "suggested_questions", "Suggested questions stay behind.");
	bundle_drop(r, c, "user_input_form",
		"Variables of the prompt stay as they stand in it: nobody is asked for them here.");
	bundle_drop(r, c, "model.completion_params",
		"Parameters of the model are set with each request here and stay behind.");
}

/* A parameter of an agent's node is {type, value}. */
static const struct json_node *parameter(const struct json_node *all, const char *name)
{
	const struct json_node *n = bundle_at(all, name), *value = bundle_at(n, "value");

	return value ? value : n;
}

static void read_agent_node(struct bundle_reading *r, const struct json_node *data)
{
	const struct json_node *all = bundle_at(data, "agent_parameters");

	bundle_add_model(r, bundle_text(parameter(all, "model"), "model"));
	bundle_add_prompt(r, bundle_text(parameter(all, "instruction"), ""));
	read_dify_tools(r, parameter(all, "tools"));
}

static void read_workflow(struct bundle_reading *r, const struct json_node *w)
{
	const struct json_node *nodes = bundle_at(w, "graph.nodes");
	size_t left = 0;

	for (size_t i = 0; nodes && nodes->type == JSON_ARRAY && i < nodes->count; i++) {
		const struct json_node *data = bundle_at(nodes->items[i], "data");
		const char *type = bundle_text(data, "type");

		if (type && (strcmp(type, "llm") == 0 || strcmp(type, "agent") == 0)) {
			bundle_add_model(r, bundle_text(data, "model.name"));
			read_template(r, bundle_at(data, "prompt_template"));
			read_agent_node(r, data);
		} else if (type && strcmp(type, "tool") == 0) {
			bundle_add_tool(r, bundle_text(data, "tool_name"));
		} else {
			left++;
		}
	}
	r->out->greeting = bundle_text(w, "features.opening_statement");
	bundle_warn(r,
		"The graph of the workflow stays behind, with %zu nodes of which nothing is taken: the prompts of the others became one prompt.",
		left);
	bundle_drop(r, w, "environment_variables",
		"Environment variables may be secrets and stay behind.");
	bundle_drop(r, w, "features.suggested_questions", "Suggested questions stay behind.");
	bundle_drop(r, w, "conversation_variables", "Variables of conversations stay behind.");
}

int dify_read(struct bundle_reading *r)
{
	const struct json_node *n = dsl_of(r), *version = bundle_at(n, "version");

	if (version && version->type != JSON_STRING)
		return problem_field(r->p, r->a, "version", "type",
			"must be a text, as Dify writes it: put it in quotes");
	r->out->name = bundle_text(n, "app.name");
	r->out->description = bundle_text(n, "app.description");
	if (bundle_has(n, "workflow"))
		read_workflow(r, bundle_at(n, "workflow"));
	else
		read_config(r, bundle_at(n, "model_config"));
	bundle_join_prompts(r);
	bundle_drop(r, n, "dependencies", "Plugins that the app depends on stay behind.");
	return 0;
}
