/* chat_read.c - an OpenAI chat-completions body into a chat, in one pass; see chat.h.
 *
 * A row for each member that is understood; the others are kept as they are.
 * Long text is checked where it lies and not copied.  The first fault is
 * told in OpenAI's manner, with the place of the member that has it. */
#include "broker/chat_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool chat_wrong(struct chat_reader *in, const char *param, const char *fmt, ...)
{
	va_list ap;

	if (in->wrong)
		return false;
	in->wrong = true;
	snprintf(in->e->param, sizeof in->e->param, "%s", param);
	va_start(ap, fmt);
	vsnprintf(in->e->message, sizeof in->e->message, fmt, ap);
	va_end(ap);
	return false;
}

static const char *type_name(enum json_type t)
{
	static const char *const names[] = { "nothing", "null", "a boolean", "a number", "a string",
		"an array", "an object" };

	return names[t];
}

bool chat_expect(struct chat_reader *in, const char *param, enum json_type want)
{
	enum json_type got = json_peek(&in->r);

	if (got == want)
		return true;
	if (got != JSON_FAULT)
		chat_wrong(in, param, "Invalid type for '%s': expected %s, but got %s instead.",
			param, type_name(want), type_name(got));
	return false;
}

static void read_model(struct chat_reader *in, const char *key)
{
	const char *start;

	if (!chat_expect(in, key, JSON_STRING))
		return;
	start = in->r.at; /* json_peek has passed the white space */
	if (text_read(&in->r, &in->c->model))
		in->c->model_at = (struct slice){ start, (size_t)(in->r.at - start) };
	if (!in->c->model.len)
		chat_wrong(in, key, "You must name a model in '%s'.", key);
}

static bool read_whole_number(
	struct chat_reader *in, const char *key, int64_t least, int64_t most, int64_t *ret)
{
	struct json_number n;

	if (!chat_expect(in, key, JSON_NUMBER) || !json_read_number(&in->r, &n))
		return false;
	if (!n.is_integer)
		return chat_wrong(in, key, "Invalid type for '%s': expected an integer.", key);
	if (n.integer < least || n.integer > most)
		return chat_wrong(in, key,
			"Invalid '%s': it must lie between %lld and %lld, but is %lld.", key,
			(long long)least, (long long)most, (long long)n.integer);
	*ret = n.integer;
	return true;
}

static void read_max_tokens(struct chat_reader *in, const char *key)
{
	const char *start;
	int64_t v = 0;
	bool null = json_peek(&in->r) == JSON_NULL;

	start = in->r.at;
	if (null ? !json_read_null(&in->r) : !read_whole_number(in, key, 1, INT32_MAX, &v))
		return;
	/* Both names: the newer one holds. */
	if (in->c->max_tokens && (null || strcmp(key, "max_tokens") == 0))
		return;
	in->c->max_tokens = v;
	in->c->max_tokens_at = (struct slice){ start, (size_t)(in->r.at - start) };
}

static void read_real(struct chat_reader *in, const char *key, double most, double *ret)
{
	struct json_number n;

	if (!chat_expect(in, key, JSON_NUMBER) || !json_read_number(&in->r, &n))
		return;
	if (n.value < 0 || n.value > most)
		chat_wrong(in, key, "Invalid '%s': it must lie between 0 and %g.", key, most);
	*ret = n.value;
}

static void read_temperature(struct chat_reader *in, const char *key)
{
	read_real(in, key, 2, &in->c->temperature);
}

static void read_top_p(struct chat_reader *in, const char *key)
{
	read_real(in, key, 1, &in->c->top_p);
}

static void read_n(struct chat_reader *in, const char *key)
{
	int64_t n = 1;

	if (read_whole_number(in, key, 1, INT32_MAX, &n) && n != 1)
		chat_wrong(in, key, "Invalid '%s': one choice is given here, not %lld.", key,
			(long long)n);
}

static void read_stop(struct chat_reader *in, const char *key)
{
	struct slice s;

	if (json_peek(&in->r) == JSON_STRING) {
		if (text_read(&in->r, &s))
			chat_stop_add(in->c, s);
		return;
	}
	if (!chat_expect(in, key, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	while (json_next_item(&in->r) && chat_expect(in, "stop[]", JSON_STRING))
		if (text_read(&in->r, &s))
			chat_stop_add(in->c, s);
}

static void read_flag(struct chat_reader *in, const char *key, bool *ret)
{
	if (chat_expect(in, key, JSON_BOOL))
		json_read_bool(&in->r, ret);
}

static void read_stream(struct chat_reader *in, const char *key)
{
	read_flag(in, key, &in->c->stream);
}

static void read_stream_options(struct chat_reader *in, const char *key)
{
	struct chat *c = in->c;
	const char *start, *name;
	size_t len;

	if (json_peek(&in->r) == JSON_NULL) {
		c->stream_options_at = (struct slice){ in->r.at, 4 };
		json_read_null(&in->r);
		return;
	}
	if (!chat_expect(in, key, JSON_OBJECT))
		return;
	start = in->r.at;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		const char *value;

		if (strcmp(name, "include_usage") != 0) {
			json_skip(&in->r, NULL, NULL);
			continue;
		}
		json_peek(&in->r);
		value = in->r.at;
		if (json_peek(&in->r) == JSON_NULL)
			json_read_null(&in->r);
		else
			read_flag(in, "stream_options.include_usage", &c->include_usage);
		c->include_usage_at = (struct slice){ value, (size_t)(in->r.at - value) };
	}
	c->stream_options_at = (struct slice){ start, (size_t)(in->r.at - start) };
}

static void read_parallel(struct chat_reader *in, const char *key)
{
	bool flag = false;

	read_flag(in, key, &flag);
	in->c->parallel_calls = flag;
}

static void read_seed(struct chat_reader *in, const char *key)
{
	in->c->has_seed = read_whole_number(
		in, key, -INT64_C(9007199254740991), INT64_C(9007199254740991), &in->c->seed);
}

static void read_effort(struct chat_reader *in, const char *key)
{
	const char *word;

	if (!chat_expect(in, key, JSON_STRING) || !text_read_word(&in->r, &word))
		return;
	for (int i = 1; i < EFFORT_COUNT; i++)
		if (strcmp(word, chat_effort_names[i]) == 0)
			in->c->effort = (enum chat_effort)i;
	if (!in->c->effort)
		chat_wrong(in, key,
			"Invalid value for '%s': it is none, minimal, low, medium, high, xhigh or max.",
			key);
}

static void read_schema(struct chat_reader *in)
{
	const char *key;
	size_t len;

	if (!chat_expect(in, "response_format.json_schema", JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "name") == 0)
			text_read(&in->r, &in->c->format_name);
		else if (strcmp(key, "schema") == 0)
			text_read_raw(&in->r, &in->c->format_schema);
		else if (strcmp(key, "strict") == 0 && json_peek(&in->r) == JSON_BOOL)
			json_read_bool(&in->r, &in->c->format_strict);
		else
			json_skip(&in->r, NULL, NULL);
	}
}

static void read_format(struct chat_reader *in, const char *key)
{
	const char *name, *type = "";
	size_t len;

	if (!chat_expect(in, key, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		if (strcmp(name, "type") == 0 &&
			chat_expect(in, "response_format.type", JSON_STRING))
			text_read_word(&in->r, &type);
		else if (strcmp(name, "json_schema") == 0)
			read_schema(in);
		else
			json_skip(&in->r, NULL, NULL);
	}
	if (strcmp(type, "json_schema") == 0 && in->c->format_schema.at)
		in->c->format = FORMAT_SCHEMA;
	else if (strcmp(type, "json_object") == 0)
		in->c->format = FORMAT_OBJECT;
	else if (strcmp(type, "json_schema") == 0)
		chat_wrong(in, "response_format.json_schema",
			"Missing required parameter: 'response_format.json_schema.schema'.");
	else if (strcmp(type, "text") != 0)
		chat_wrong(in, "response_format.type",
			"Invalid value for 'response_format.type': it is text, json_object or json_schema.");
}

static const struct member {
	const char *name;
	void (*read)(struct chat_reader *in, const char *key);
	bool null_too; /* sees null itself; for the others it is as if they were not there */
} members[] = {
	{ "messages", chat_read_messages, true },
	{ "model", read_model, true },
	{ "stream", read_stream },
	{ "stream_options", read_stream_options, true },
	{ "temperature", read_temperature },
	{ "top_p", read_top_p },
	{ "max_completion_tokens", read_max_tokens, true },
	{ "max_tokens", read_max_tokens, true },
	{ "n", read_n },
	{ "tools", chat_read_tools },
	{ "tool_choice", chat_read_choice },
	{ "parallel_tool_calls", read_parallel },
	{ "stop", read_stop },
	{ "response_format", read_format },
	{ "reasoning_effort", read_effort },
	{ "seed", read_seed },
};

static void keep_field(struct chat_reader *in, const char *key, size_t len)
{
	struct chat_field *f = arena_new(in->c->arena, struct chat_field);

	f->name = text_escape(in->c->arena, key, len);
	if (!json_skip(&in->r, &f->raw.at, &f->raw.len))
		return;
	*in->c->last_field = f;
	in->c->last_field = &f->next;
}

static void read_member(struct chat_reader *in, const char *key, size_t len)
{
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		if (strcmp(key, members[i].name) != 0)
			continue;
		if (!members[i].null_too && json_peek(&in->r) == JSON_NULL)
			json_read_null(&in->r);
		else
			members[i].read(in, members[i].name);
		return;
	}
	keep_field(in, key, len);
}

int chat_read(struct chat *c, struct arena *a, const char *body, size_t len, struct chat_error *e)
{
	struct chat_reader in = { .c = c, .e = e };
	const char *key;
	size_t key_len;

	*e = (struct chat_error){ 0 };
	chat_open(c, a);
	c->body = (struct slice){ body, len };
	json_open(&in.r, a, body, len);
	if (json_peek(&in.r) != JSON_OBJECT && !in.r.fault) {
		chat_wrong(&in, "", "The body must be a JSON object.");
		return ERR_INVALID;
	}
	json_enter_object(&in.r);
	while (!in.wrong && json_next_key(&in.r, &key, &key_len))
		read_member(&in, key, key_len);
	if (!in.wrong)
		json_end(&in.r);
	if (in.r.fault) {
		snprintf(e->message, sizeof e->message,
			"We could not parse the JSON body of your request: at byte %zu, %s.",
			in.r.fault_at, in.r.fault);
		e->param[0] = '\0';
		return ERR_BAD_JSON;
	}
	if (!c->model.at)
		chat_wrong(&in, "model", "You must provide a model parameter.");
	if (!c->messages)
		chat_wrong(&in, "messages", "Missing required parameter: 'messages'.");
	return in.wrong ? ERR_INVALID : 0;
}
