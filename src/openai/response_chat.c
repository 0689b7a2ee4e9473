/* response_chat.c - the request for a response of a model, with what came before it, as a chat. */
#include <stddef.h>
#include <string.h>

#include "openai/conversations.h"
#include "openai/openai_tools.h"
#include "openai/responses.h"
#include "base/json.h"
#include "broker/chat.h"
#include "broker/chat_terms.h"

enum { CHAIN_MAX = 256, FORWARDED_MAX = 1 << 20 };

struct asking {
	struct call *c;
	struct response_row *row;
	struct chat *chat;
	size_t item; /* which is being read, for what is said of it */
};

/* A file as data, or as an address.  What lies at the provider under an id is nobody's here. */
static int add_file(struct asking *m, struct chat_message *to, const char *part, const char *field)
{
	struct chat *chat = m->chat;
	const char *name = openai_text(chat->arena, part, "filename");
	const char *data = openai_text(chat->arena, part, "file_data");
	const char *url = openai_text(chat->arena, part, "file_url");
	struct chat_part *p;

	if (!data && !url)
		return call_field(m->c, field, "required",
			"must have file_data or file_url: no files are kept here");
	p = chat_part_add(chat, to, PART_FILE_URL);
	chat_file(p, chat_text(chat, data ? data : url));
	if (data && p->kind != PART_FILE_DATA)
		return call_field(m->c, field, "format",
			"must have file_data as a data: URL, such as data:application/pdf;base64,...");
	p->place = field;
	if (name)
		p->name = chat_text(chat, name);
	if (!chat->unbounded)
		chat->unbounded = field;
	return 0;
}

static int add_sound(struct asking *m, struct chat_message *to, const char *part, const char *field)
{
	struct chat *chat = m->chat;
	const char *sound = openai_member(chat->arena, part, "input_audio");
	const char *data = openai_text(chat->arena, sound, "data");
	const char *format = openai_text(chat->arena, sound, "format");
	struct chat_part *p;

	if (!data || !format)
		return call_field(m->c, field, "required", "must have data and format");
	p = chat_part_add(chat, to, PART_AUDIO);
	p->text = chat_text(chat, data);
	p->media = chat_text(chat, format);
	p->place = field;
	return 0;
}

static int add_image(struct asking *m, struct chat_message *to, const char *part, const char *field)
{
	struct chat *chat = m->chat;
	const char *url = openai_text(chat->arena, part, "image_url");
	const char *detail = openai_text(chat->arena, part, "detail");
	struct chat_part *p;

	if (!url)
		return call_field(
			m->c, field, "required", "must have image_url: no files are kept here");
	p = chat_part_add(chat, to, PART_IMAGE_URL);
	chat_image(p, chat_text(chat, url));
	if (detail)
		p->detail = chat_text(chat, detail);
	return 0;
}

static int add_parts(
	struct asking *m, struct chat_message *to, const char *parts, const char *member)
{
	struct chat *chat = m->chat;
	struct json_reader r;
	const char *item;
	size_t len, i = 0;
	int err = 0;

	json_open(&r, chat->arena, parts, strlen(parts));
	json_enter_array(&r);
	while (!err && json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *part = arena_strndup(chat->arena, item, len);
		const char *type = openai_text(chat->arena, part, "type");
		const char *text = openai_text(chat->arena, part, "text");
		bool media = strncmp(type, "input_", 6) == 0 && strcmp(type, "input_text") != 0;
		const char *at =
			media ? arena_printf(chat->arena, "input[%zu].%s[%zu]", m->item, member, i)
			      : NULL;

		i++;
		if (strcmp(type, "input_image") == 0)
			err = add_image(m, to, part, at);
		else if (strcmp(type, "input_file") == 0)
			err = add_file(m, to, part, at);
		else if (strcmp(type, "input_audio") == 0)
			err = add_sound(m, to, part, at);
		else if (text)
			chat_part_add(chat, to, PART_TEXT)->text = chat_text(chat, text);
	}
	return err;
}

static struct slice raw_text(const char *json)
{
	return json ? (struct slice){ json, strlen(json) } : (struct slice){ 0 };
}

static struct chat_message *last_message(const struct chat *chat)
{
	return chat->messages ? (struct chat_message *)((char *)chat->last_message -
							offsetof(struct chat_message, next))
			      : NULL;
}

static void add_thought(struct chat *chat, struct chat_message *to, const struct response_item *it)
{
	struct chat_thought *t = chat_thought_add(chat, to);

	t->text = chat_text(chat, it->text);
	t->maker = "openai";
	if (it->sealed)
		t->signature =
			chat_text(chat, response_unseal(it->sealed, &t->maker, &t->redacted));
}

/* Nobody else can read it. */
static bool is_sealed_by_openai(const struct response_item *it)
{
	const char *maker = NULL;
	bool redacted;

	if (it->sealed)
		response_unseal(it->sealed, &maker, &redacted);
	return maker && strcmp(maker, "openai_responses") == 0;
}

/* Thoughts, words and calls that stand together are of one message: what was thought leads to what is said, and that
 * to the calls. */
static struct chat_message *message_for(struct chat *chat, const struct response_item *it)
{
	struct chat_message *m = last_message(chat);
	bool open = m && m->role == CHAT_ASSISTANT && !m->item.at;

	if (it->kind == ITEM_CALL)
		return m && m->role == CHAT_ASSISTANT
			       ? m
			       : chat_message_add(chat, CHAT_ASSISTANT, NULL);
	if (it->kind == ITEM_THOUGHT)
		return open && !m->parts && !m->calls
			       ? m
			       : chat_message_add(chat, CHAT_ASSISTANT, NULL);
	return open && m->thoughts && !m->parts && !m->calls ? m : NULL;
}

static int add_words(struct asking *m, const struct response_item *it)
{
	struct chat *chat = m->chat;
	bool said = strcmp(it->role, "assistant") == 0;
	struct chat_message *to = said ? message_for(chat, it) : NULL;

	if (!to)
		to = chat_message_add(chat,
			said				  ? CHAT_ASSISTANT
			: strcmp(it->role, "system") == 0 ? CHAT_SYSTEM
							  : CHAT_USER,
			NULL);
	to->item = raw_text(it->raw);
	if (it->content)
		return add_parts(m, to, it->content, "content");
	chat_part_add(chat, to, PART_TEXT)->text = chat_text(chat, it->text);
	return 0;
}

static int add_chat_item(struct asking *m, const struct response_item *it)
{
	struct chat *chat = m->chat;
	struct chat_message *to;
	struct chat_call *call;

	switch (it->kind) {
	case ITEM_MESSAGE:
		return add_words(m, it);
	case ITEM_THOUGHT:
		if (is_sealed_by_openai(it))
			chat_message_add(chat, CHAT_ASSISTANT, NULL)->item = raw_text(it->raw);
		else
			add_thought(chat, message_for(chat, it), it);
		return 0;
	case ITEM_CALL:
		call = chat_call_add(
			chat, message_for(chat, it), it->call_id, it->name, it->arguments);
		call->item = raw_text(it->raw);
		call->extra = raw_text(it->extra);
		return 0;
	case ITEM_OUTPUT:
		to = chat_message_add(chat, CHAT_TOOL, it->content ? NULL : it->text);
		to->call_id = chat_text(chat, it->call_id);
		to->item = raw_text(it->raw);
		return it->content ? add_parts(m, to, it->content, "output") : 0;
	case ITEM_APPROVAL:
	case ITEM_OTHER:
		chat_message_add(chat, CHAT_ASSISTANT, NULL)->item = raw_text(it->raw);
		break;
	}
	return 0;
}

static int add_items(struct asking *m, const char *json, const char **ret_json)
{
	struct list items;
	const struct response_item *it;
	int err = response_items_read(m->c, "input", json, m->row->id, &items, ret_json);

	it = items.at;
	for (size_t i = 0; !err && i < items.count; i++) {
		m->item = i;
		err = add_chat_item(m, &it[i]);
	}
	return err;
}

/* What came before, oldest first. */
static int add_chain(struct asking *m)
{
	struct response_row *chain[CHAIN_MAX];
	const char *id = m->row->previous_id;
	size_t n = 0, bytes = 0;
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
		if (!err)
			bytes += strlen(chain[n]->input) + strlen(chain[n]->output);
		if (bytes > HISTORY_SHORT && call_step_aside(m->c))
			return RESPONSE_ASIDE;
		id = chain[n]->previous_id;
	}
	while (!err && n--) {
		err = add_items(m, chain[n]->input, NULL);
		if (!err)
			err = add_items(m, chain[n]->output, NULL);
	}
	return err;
}

/* What was said in the conversation.  Where an agent is at work in it nobody else answers. */
static int add_conversation(struct asking *m, const struct conversation *v)
{
	struct call *c = m->c;
	enum tail_state state;
	const struct conversation_item *it;
	struct list tail;
	const char *items;
	int64_t place = 0;
	int err = conversation_tail(c->db, c->arena, v, &tail, &state);

	if (!err)
		err = conversation_unlocked(c, v, state);
	while (!err) {
		err = conversation_history(c->db, c->arena, v, true, &place, &items);
		if (err || !items)
			break;
		err = add_items(m, items, NULL);
	}
	it = tail.at;
	for (size_t i = 0; !err && i < tail.count; i++)
		err = add_items(m, arena_printf(c->arena, "[%s]", it[i].item), NULL);
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
		const char *strict = openai_member(a, f, "strict");
		struct chat_tool *t = chat_tool_add(m->chat, openai_text(a, f, "name"),
			openai_text(a, f, "description"), openai_member(a, f, "parameters"));

		t->has_strict = strict && *strict != 'n';
		t->strict = t->has_strict && *strict == 't';
	}
}

/* Tools that are no functions go as they are to who knows them. */
static void add_hosted_tools(struct asking *m, const char *tools)
{
	struct arena *a = m->c->arena;
	struct json_reader r;
	const char *item;
	size_t len;

	if (!tools)
		return;
	json_open(&r, a, tools, strlen(tools));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *tool = arena_strndup(a, item, len);
		const char *type = openai_text(a, tool, "type");

		if (type && strcmp(type, "function") != 0)
			chat_hosted_add(m->chat, "openai_responses", openai_header_word(a, type),
				raw_text(tool));
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
	int err;

	for (size_t i = 0; json && i < sizeof words / sizeof *words; i++)
		if (strcmp(json, words[i].word) == 0) {
			m->chat->tool_choice = words[i].choice;
			return 0;
		}
	err = openai_choice(m->c, json, TOOL_FLAT, &name);
	if (err || !json)
		return err;
	if (name) {
		m->chat->tool_choice = CHOICE_NAMED;
		m->chat->tool_chosen = chat_text(m->chat, name);
	} else {
		m->chat->choice_raw = raw_text(json);
		m->chat->choice_shape = "openai_responses";
	}
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

/* What goes along as it is: members that chat completions have too, and those of responses alone.  Some have a
 * price of their own and go to nobody (broker/chat_terms.h). */
static void add_forwarded(struct asking *m, const struct ResponseCreate *in)
{
	const char *verbosity = openai_member(m->c->arena, in->text.text, "verbosity");
	const struct {
		const char *name, *json;
		const char *shape;
	} fields[] = {
		{ "verbosity", verbosity, NULL },
		/* Chat completions refuse it unless they are stored. */
		{ "metadata", in->metadata.text, "openai_responses" },
		{ "prompt_cache_key", in->prompt_cache_key.text, NULL },
		{ "prompt_cache_options", in->prompt_cache_options.text, NULL },
		{ "prompt_cache_retention", in->prompt_cache_retention.text, NULL },
		{ "safety_identifier", in->safety_identifier.text, NULL },
		{ "service_tier", in->service_tier.text, NULL },
		{ "top_logprobs", in->top_logprobs.text, NULL },
		{ "logprobs", in->top_logprobs.text ? "true" : NULL, "openai" },
		{ "user", in->user ? openai_quoted(m->c->arena, in->user) : NULL, NULL },
		{ "reasoning", in->reasoning.text, "openai_responses" },
		{ "include", in->include.text, "openai_responses" },
		{ "max_tool_calls", in->max_tool_calls.text, "openai_responses" },
		{ "context_management", in->context_management.text, "openai_responses" },
		{ "truncation", in->truncation ? openai_quoted(m->c->arena, in->truncation) : NULL,
			"openai_responses" },
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const char *json = fields[i].json;
		const struct chat_term *t;

		if (!json || strcmp(json, "null") == 0)
			continue;
		t = chat_term_of(fields[i].name, raw_text(json));
		if (t)
			m->chat->dropped = arena_printf(m->c->arena, "%s%s%s",
				m->chat->dropped ? m->chat->dropped : "",
				m->chat->dropped ? ", " : "", t->name);
		else
			chat_field_add(m->chat, fields[i].name, raw_text(json), fields[i].shape);
	}
}

const char *response_forwarded(struct call *c, const struct ResponseCreate *in)
{
	struct chat chat;
	struct asking asking = { c, NULL, &chat, 0 };
	struct buf b;

	chat_open(&chat, c->arena);
	add_forwarded(&asking, in);
	buf_init(&b, FORWARDED_MAX);
	for (const struct chat_field *f = chat.fields; f; f = f->next)
		if (!f->shape) {
			buf_putc(&b, b.len ? ',' : '{');
			text_put_quoted(&b, f->name);
			buf_putc(&b, ':');
			text_put(&b, f->raw);
		}
	if (b.len)
		buf_putc(&b, '}');
	return b.len ? arena_take(c->arena, &b) : NULL;
}

int response_chat(struct call *c, const struct ResponseCreate *in, struct response_row *row,
	struct chat *chat)
{
	struct asking asking = { c, row, chat, 0 }, *m = &asking;
	const char *functions, *input, *conversation = response_conversation(c->arena, in);
	struct conversation v = { 0 };
	bool is_long = false;
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
	if (!err && conversation)
		err = conversation_find(c, conversation, PERM_SESSION_WRITE, &v);
	if (!err && conversation)
		err = conversation_is_long(c, &v, &is_long);
	if (err == RESPONSE_ASIDE || (!err && is_long && call_step_aside(c)))
		return RESPONSE_ASIDE;
	if (!err && conversation)
		err = add_conversation(m, &v);
	if (!err)
		err = response_refer(c, conversation ? &v : NULL, in->input.text, &input);
	if (!err)
		err = add_items(m, input, &m->row->input);
	if (!err && conversation)
		err = conversation_room(c, &v, m->row->input);
	if (!err && !chat->messages)
		err = call_field(m->c, "input", "required", "must say something");
	if (err)
		return err;
	add_chat_tools(m, functions);
	add_hosted_tools(m, in->tools.text);
	add_forwarded(m, in);
	err = read_tool_choice(m, in->tool_choice.text);
	if (!err)
		err = read_text_format(m, in->text.text);
	return err ? err : read_reasoning_effort(m, in->reasoning.text);
}
