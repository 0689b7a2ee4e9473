/* response_chat.c - the request for a response of a model, with what came before it, as a chat. */
#include <string.h>

#include "openai/openai_tools.h"
#include "openai/responses.h"
#include "base/json.h"
#include "broker/chat.h"

enum { CHAIN_MAX = 256 };

struct asking {
	struct call *c;
	struct response_row *row;
	struct chat *chat;
};

static void add_parts(struct chat *chat, struct chat_message *m, const char *parts)
{
	struct json_reader r;
	const char *item;
	size_t len;

	json_open(&r, chat->arena, parts, strlen(parts));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *part = arena_strndup(chat->arena, item, len);
		const char *url = openai_text(chat->arena, part, "image_url");
		const char *text = openai_text(chat->arena, part, "text");

		if (url)
			chat_image(chat_part_add(chat, m, PART_IMAGE_URL), chat_text(chat, url));
		else if (text)
			chat_part_add(chat, m, PART_TEXT)->text = chat_text(chat, text);
	}
}

static void add_chat_item(struct chat *chat, const struct response_item *it)
{
	struct chat_message *m;

	switch (it->kind) {
	case ITEM_MESSAGE:
		m = chat_message_add(chat,
			strcmp(it->role, "user") == 0	  ? CHAT_USER
			: strcmp(it->role, "system") == 0 ? CHAT_SYSTEM
							  : CHAT_ASSISTANT,
			it->content ? NULL : it->text);
		if (it->content)
			add_parts(chat, m, it->content);
		break;
	case ITEM_CALL:
		/* Calls that stand together are of one message. */
		m = NULL;
		for (struct chat_message *last = chat->messages; last; last = last->next)
			m = last;
		if (!m || m->role != CHAT_ASSISTANT)
			m = chat_message_add(chat, CHAT_ASSISTANT, NULL);
		chat_call_add(chat, m, it->call_id, it->name, it->arguments);
		break;
	case ITEM_OUTPUT:
		chat_result_add(chat, it->call_id, it->text);
		break;
	case ITEM_APPROVAL:
	case ITEM_OTHER:
		break;
	}
}

static int add_items(struct asking *m, const char *json, const char **ret_json)
{
	struct list items;
	const struct response_item *it;
	int err = response_items_read(m->c, json, m->row->id, &items, ret_json);

	it = items.at;
	for (size_t i = 0; !err && i < items.count; i++)
		add_chat_item(m->chat, &it[i]);
	return err;
}

/* What came before, oldest first. */
static int add_chain(struct asking *m)
{
	struct response_row *chain[CHAIN_MAX];
	const char *id = m->row->previous_id;
	size_t n = 0;
	int err = 0;

	for (; !err && id; n++) {
		if (n == CHAIN_MAX)
			return call_field(m->c, "previous_response_id", "too_long",
				"must go back over at most %d responses", CHAIN_MAX);
		chain[n] = arena_new(m->c->arena, struct response_row);
		err = response_find(m->c, id, PERM_SESSION_READ, chain[n]);
		if (!err && chain[n]->agent_id)
			return call_field(m->c, "previous_response_id", "conflict",
				"must be a response of a model; go on with the agent instead");
		id = chain[n]->previous_id;
	}
	while (!err && n--) {
		err = add_items(m, chain[n]->input, NULL);
		if (!err)
			err = add_items(m, chain[n]->output, NULL);
	}
	return err;
}

static void add_chat_tools(struct asking *m, const char *functions)
{
	struct arena *a = m->c->arena;
	struct json_reader r;
	const char *item;
	size_t len;

	if (!functions)
		return;
	json_open(&r, a, functions, strlen(functions));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *f = arena_strndup(a, item, len);

		chat_tool_add(m->chat, openai_text(a, f, "name"), openai_text(a, f, "description"),
			openai_member(a, f, "parameters"));
	}
}

static int read_tool_choice(struct asking *m, const char *json)
{
	static const struct {
		const char *word;
		enum chat_choice choice;
	} words[] = { { "\"auto\"", CHOICE_AUTO }, { "\"none\"", CHOICE_NONE },
		{ "\"required\"", CHOICE_REQUIRED } };
	const char *name;
	int err = openai_choice(m->c, json, TOOL_FLAT, &name);

	for (size_t i = 0; json && i < sizeof words / sizeof *words; i++)
		if (strcmp(json, words[i].word) == 0) {
			m->chat->tool_choice = words[i].choice;
			return 0;
		}
	if (err || !json)
		return err;
	m->chat->tool_choice = CHOICE_NAMED;
	m->chat->tool_chosen = chat_text(m->chat, name);
	return 0;
}

static int read_text_format(struct asking *m, const char *text)
{
	struct arena *a = m->c->arena;
	const char *format = openai_member(a, text, "format");
	const char *type = openai_text(a, format, "type"), *schema, *name;

	if (!format || (type && strcmp(type, "text") == 0))
		return 0;
	if (type && strcmp(type, "json_object") == 0) {
		m->chat->format = FORMAT_OBJECT;
		return 0;
	}
	schema = openai_member(a, format, "schema");
	name = openai_text(a, format, "name");
	if (!type || strcmp(type, "json_schema") != 0 || !schema || *schema != '{' || !name)
		return call_field(m->c, "text.format", "choice",
			"must be text, json_object, or json_schema with a name and a schema");
	m->chat->format = FORMAT_SCHEMA;
	m->chat->format_name = chat_text(m->chat, name);
	m->chat->format_schema = (struct slice){ schema, strlen(schema) };
	m->chat->format_strict = openai_member(a, format, "strict") &&
				 strcmp(openai_member(a, format, "strict"), "true") == 0;
	return 0;
}

static int read_reasoning_effort(struct asking *m, const char *reasoning)
{
	const char *effort = openai_text(m->c->arena, reasoning, "effort");

	for (int i = EFFORT_NONE; effort && i < EFFORT_COUNT; i++)
		if (strcmp(chat_effort_names[i], effort) == 0) {
			m->chat->effort = (enum chat_effort)i;
			return 0;
		}
	return effort ? call_field(
				m->c, "reasoning.effort", "choice", "is not an effort known here")
		      : 0;
}

int response_chat(struct call *c, const struct ResponseCreate *in, struct response_row *row,
	struct chat *chat)
{
	struct asking asking = { c, row, chat }, *m = &asking;
	const char *functions;
	int err = openai_tools(m->c, "tools", in->tools.text, TOOL_FLAT, &functions);

	chat_open(chat, m->c->arena);
	chat->model = chat_text(chat, in->model);
	chat->max_tokens = in->max_output_tokens == NIL ? 0 : in->max_output_tokens;
	chat->temperature = in->temperature;
	chat->top_p = in->top_p;
	chat->stream = in->stream == 1;
	chat->parallel_calls = in->parallel_tool_calls < 0 ? -1 : in->parallel_tool_calls == 1;
	if (in->instructions)
		chat_message_add(chat, CHAT_SYSTEM, in->instructions);
	if (!err)
		err = add_chain(m);
	if (!err)
		err = add_items(m, in->input.text, &m->row->input);
	if (!err && !chat->messages)
		err = call_field(m->c, "input", "required", "must say something");
	if (err)
		return err;
	add_chat_tools(m, functions);
	err = read_tool_choice(m, in->tool_choice.text);
	if (!err)
		err = read_text_format(m, in->text.text);
	return err ? err : read_reasoning_effort(m, in->reasoning.text);
}
