/* response_items.c - the input of a response, from OpenAI's many shapes into a few; see responses.h. */
#include <string.h>

#include "openai/responses.h"
#include "base/json.h"

enum { ITEMS_MAX = 2000, ITEMS_TEXT_MAX = 64 << 20 };

struct item_reader {
	struct call *c;
	const char *tag, *name, *field; /* of what is read, and of the item */
	struct response_item *items;
	size_t count, room;
	bool writes; /* them again, into `json` */
	struct buf json;
};

static int refuse_item(struct item_reader *in, const char *member, const char *what)
{
	return call_field(
		in->c, arena_printf(in->c->arena, "%s%s", in->field, member), "format", "%s", what);
}

static struct response_item *new_response_item(struct item_reader *in)
{
	if (in->count == in->room) {
		struct response_item *more = arena_array(
			in->c->arena, struct response_item, in->room = in->room * 2 + 8);

		if (in->count)
			memcpy(more, in->items, in->count * sizeof *more);
		in->items = more;
	}
	return &in->items[in->count++];
}

/* ---- parts ---- */

static bool is_text_part(const char *type)
{
	return strcmp(type, "input_text") == 0 || strcmp(type, "output_text") == 0 ||
	       strcmp(type, "text") == 0 || strcmp(type, "summary_text") == 0 ||
	       strcmp(type, "reasoning_text") == 0;
}

static bool is_media_part(const char *type)
{
	return strcmp(type, "input_image") == 0 || strcmp(type, "input_file") == 0 ||
	       strcmp(type, "input_audio") == 0;
}

/* The words of all parts, a line each; *ret_mixed if there is an image, a file or a sound among them. */
static int join_parts(struct item_reader *in, const char *member, const char *parts,
	const char **ret, bool *ret_mixed)
{
	struct arena *a = in->c->arena;
	struct json_reader r;
	const char *item;
	struct buf b;
	size_t len;
	int err = 0;

	*ret_mixed = false;
	buf_init(&b, ITEMS_TEXT_MAX);
	json_open(&r, a, parts, strlen(parts));
	json_enter_array(&r);
	while (!err && json_next_item(&r) && json_skip(&r, &item, &len)) {
		struct arena own = { 0 }; /* a part may be as long as all of them */
		const char *part = arena_strndup(&own, item, len);
		const char *type = openai_text(&own, part, "type"), *text;

		text = openai_text(
			&own, part, type && strcmp(type, "refusal") == 0 ? "refusal" : "text");
		if (type && is_media_part(type))
			*ret_mixed = true;
		else if (!type || (!is_text_part(type) && strcmp(type, "refusal") != 0) || !text)
			err = refuse_item(in, arena_printf(a, ".%s", member),
				"must have parts of type input_text, input_image, input_file or "
				"input_audio");
		else {
			buf_puts(&b, b.len ? "\n" : "");
			buf_puts(&b, text);
		}
		arena_free(&own);
	}
	*ret = arena_take(a, &b);
	return err;
}

/* A text, or parts. */
static int read_item_content(struct item_reader *in, const char *object, const char *member,
	const char **ret, const char **ret_parts)
{
	const char *content = openai_member(in->c->arena, object, member);
	bool mixed = false;
	int err;

	*ret_parts = NULL;
	*ret = openai_text(in->c->arena, object, member);
	if (*ret)
		return 0;
	if (!content || *content != '[')
		return refuse_item(in, arena_printf(in->c->arena, ".%s", member),
			"must be a text or an array of parts");
	err = join_parts(in, member, content, ret, &mixed);
	if (mixed)
		*ret_parts = content;
	return err;
}

/* ---- items ---- */

static int read_message_item(struct item_reader *in, const char *object, struct response_item *out)
{
	const char *role = openai_text(in->c->arena, object, "role");

	if (!role)
		return refuse_item(in, ".role", "must be user, assistant, system or developer");
	if (strcmp(role, "developer") == 0)
		role = "system";
	if (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0 &&
		strcmp(role, "system") != 0)
		return refuse_item(in, ".role", "must be user, assistant, system or developer");
	out->kind = ITEM_MESSAGE;
	out->role = role;
	return read_item_content(in, object, "content", &out->text, &out->content);
}

static int read_call(struct item_reader *in, const char *object, struct response_item *out)
{
	struct arena *a = in->c->arena;

	out->kind = ITEM_CALL;
	out->call_id = openai_text(a, object, "call_id");
	out->name = openai_text(a, object, "name");
	out->arguments = openai_text(a, object, "arguments");
	out->extra = openai_member(a, object, "extra_content");
	if (!out->call_id || !out->name || !out->arguments)
		return refuse_item(in, "", "must have call_id, name and arguments");
	return 0;
}

/* Its input is a text; for providers that know functions alone it is the one argument. */
static int read_custom_call(struct item_reader *in, const char *object, struct response_item *out)
{
	struct arena *a = in->c->arena;
	const char *input = openai_member(a, object, "input");

	out->kind = ITEM_CALL;
	out->call_id = openai_text(a, object, "call_id");
	out->name = openai_text(a, object, "name");
	if (!out->call_id || !out->name || !input || *input != '"')
		return refuse_item(in, "", "must have call_id, name and input");
	out->arguments = arena_printf(a, "{\"input\":%s}", input);
	return 0;
}

/* What a model thought: the summary, or where there is none what it thought aloud. */
static int read_reasoning(struct item_reader *in, const char *object, struct response_item *out)
{
	struct arena *a = in->c->arena;
	const char *parts = openai_member(a, object, "summary");
	bool mixed;

	out->kind = ITEM_THOUGHT;
	out->sealed = openai_text(a, object, "encrypted_content");
	out->text = "";
	if (!parts || strcmp(parts, "[]") == 0)
		parts = openai_member(a, object, "content");
	return parts && *parts == '[' ? join_parts(in, "summary", parts, &out->text, &mixed) : 0;
}

static int read_output(struct item_reader *in, const char *object, struct response_item *out)
{
	out->kind = ITEM_OUTPUT;
	out->call_id = openai_text(in->c->arena, object, "call_id");
	if (!out->call_id)
		return refuse_item(in, ".call_id", "is required");
	return read_item_content(in, object, "output", &out->text, &out->content);
}

static int read_approval(struct item_reader *in, const char *object, struct response_item *out)
{
	const char *approves = openai_member(in->c->arena, object, "approve");

	out->kind = ITEM_APPROVAL;
	out->call_id = openai_text(in->c->arena, object, "approval_request_id");
	if (!out->call_id || !approves || *approves == '"')
		return refuse_item(in, "", "must have approval_request_id and approve");
	out->approves = strcmp(approves, "true") == 0;
	return 0;
}

static int read_input_item(struct item_reader *in, const char *object)
{
	static const struct {
		const char *type;
		int (*read)(struct item_reader *in, const char *object, struct response_item *out);
	} kinds[] = {
		{ "message", read_message_item },
		{ "function_call", read_call },
		{ "function_call_output", read_output },
		{ "custom_tool_call", read_custom_call },
		{ "custom_tool_call_output", read_output },
		{ "reasoning", read_reasoning },
		{ "mcp_approval_response", read_approval },
	};
	const char *type = openai_text(in->c->arena, object, "type");
	struct response_item *out = new_response_item(in);

	if (!type)
		return read_message_item(in, object, out);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].read(in, object, out);
	out->kind = ITEM_OTHER;
	if (strcmp(type, "item_reference") != 0)
		return 0;
	return refuse_item(in, ".id", "is not the id of an item that is kept here for you");
}

/* ---- the same as JSON, with ids and full parts ---- */

static void put_item_text(struct buf *b, const char *text)
{
	json_write_string(b, text, strlen(text));
}

/* The same without the id: a name of ours means nothing to a provider. */
static const char *without_id(struct arena *a, const char *object)
{
	struct json_reader r;
	const char *key, *value;
	size_t key_len, len;
	struct buf b;

	if (!openai_member(a, object, "id"))
		return object;
	buf_init(&b, ITEMS_TEXT_MAX);
	json_open(&r, a, object, strlen(object));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len) && json_skip(&r, &value, &len)) {
		if (strcmp(key, "id") == 0)
			continue;
		buf_putc(&b, b.len ? ',' : '{');
		put_item_text(&b, key);
		buf_putc(&b, ':');
		buf_put(&b, value, len);
	}
	buf_puts(&b, b.len ? "}" : "{}");
	return arena_take(a, &b);
}

static void write_item(struct item_reader *in, const char *object)
{
	struct arena *a = in->c->arena;
	const char *type = openai_text(a, object, "type"), *key, *value;
	const char *plain = openai_text(a, object, "content"), *role;
	struct buf *b = &in->json;
	struct json_reader r;
	size_t key_len, len;

	role = openai_text(a, object, "role");
	buf_printf(b, "%s{\"id\":\"item_%s_%zu\",\"type\":", b->len > 1 ? "," : "", in->tag,
		in->count - 1);
	put_item_text(b, type ? type : "message");
	json_open(&r, a, object, strlen(object));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len)) {
		bool said = strcmp(key, "id") == 0 || strcmp(key, "type") == 0;

		if (!json_skip(&r, &value, &len) || said)
			continue;
		buf_putc(b, ',');
		put_item_text(b, key);
		buf_putc(b, ':');
		if (strcmp(key, "content") == 0 && plain) {
			buf_printf(b, "[{\"type\":\"%s\",\"text\":",
				role && strcmp(role, "assistant") == 0 ? "output_text"
								       : "input_text");
			put_item_text(b, plain);
			buf_puts(b, role && strcmp(role, "assistant") == 0 ? ",\"annotations\":[]}]"
									   : "}]");
		} else {
			buf_put(b, value, len);
		}
	}
	buf_putc(b, '}');
}

/* What is kept has more names than what came, and may be given a few more: it is read again before it is taken. */
static bool is_readable(const struct item_reader *in, size_t from)
{
	const char *object = memchr(in->json.at + from, '{', in->json.len - from);
	struct arena own = { 0 };
	struct json_reader r;
	const char *kept;
	bool good;

	if (in->json.overflow || in->json.starved || !object)
		return false;
	kept = arena_printf(&own, "{\"kept\":[],\"with\":[],%.*s",
		(int)(in->json.len - (size_t)(object + 1 - in->json.at)), object + 1);
	json_open(&r, &own, kept, strlen(kept));
	good = json_skip(&r, NULL, NULL) && json_end(&r);
	arena_free(&own);
	return good;
}

static int read_item_list(struct item_reader *in, const char *json)
{
	struct json_reader r;
	const char *item;
	size_t len;
	int err = 0;

	json_open(&r, in->c->arena, json, strlen(json));
	json_enter_array(&r);
	while (!err && json_next_item(&r)) {
		in->field = arena_printf(in->c->arena, "%s[%zu]", in->name, in->count);
		if (json_peek(&r) != JSON_OBJECT)
			return refuse_item(in, "", "must be an object");
		if (in->count == ITEMS_MAX)
			return call_field(in->c, in->name, "too_long", "must have at most %d items",
				ITEMS_MAX);
		if (!json_skip(&r, &item, &len))
			break;
		item = arena_strndup(in->c->arena, item, len);
		err = read_input_item(in, item);
		if (!err)
			in->items[in->count - 1].raw = without_id(in->c->arena, item);
		if (!err)
			in->items[in->count - 1].field = in->field;
		if (!err && in->writes) {
			size_t from = in->json.len;

			write_item(in, item);
			if (!is_readable(in, from))
				err = refuse_item(in, "", "has more members than can be kept");
		}
	}
	if (!err && r.fault) /* what was stored is whole, and what came was read before */
		return call_fail(in->c, ERR_INTERNAL, "%s cannot be read: %s.", in->name, r.fault);
	return err;
}

int response_items_read(struct call *c, const char *name, const char *json, const char *tag,
	struct list *ret, const char **ret_json)
{
	struct item_reader in = {
		.c = c, .tag = tag, .name = name, .field = name, .writes = ret_json != NULL
	};
	struct buf one;
	int err;

	buf_init(&in.json, ITEMS_TEXT_MAX);
	buf_putc(&in.json, '[');
	if (json && *json == '"') { /* a message of the user's */
		buf_init(&one, ITEMS_TEXT_MAX);
		buf_printf(&one, "[{\"type\":\"message\",\"role\":\"user\",\"content\":%s}]", json);
		err = read_item_list(&in, arena_strndup(c->arena, one.at, one.len));
		buf_free(&one);
	} else if (json && *json == '[') {
		err = read_item_list(&in, json);
	} else {
		err = json ? call_field(c, name, "type", "must be a text or an array of items") : 0;
	}
	buf_putc(&in.json, ']');
	*ret = (struct list){ in.items, in.count };
	if (ret_json)
		*ret_json = arena_strndup(c->arena, in.json.at, in.json.len);
	buf_free(&in.json);
	return err;
}
