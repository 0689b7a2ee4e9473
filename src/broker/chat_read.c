/* chat_read.c - an OpenAI chat-completions body into a chat, in one pass; see chat.h.
 *
 * A row for each member that is understood; the others are kept as they are,
 * refused or dropped, as chat_terms.h has it.
 * Long text is checked where it lies and not copied.  The first fault is
 * told in OpenAI's manner, with the place of the member that has it. */
#include "broker/chat_read.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "broker/chat_terms.h"

static void read_model(struct chat_reader *in, const char *key)
{
	if (chat_expect(in, key, JSON_STRING) && text_read(&in->r, &in->c->model) &&
		!in->c->model.len)
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

/* Both names: the newer one holds, and one of them is sent (provider.h). */
static void read_max_tokens(struct chat_reader *in, const char *key)
{
	int64_t v = 0;

	if (read_whole_number(in, key, 1, INT32_MAX, &v) &&
		(!in->c->max_tokens || strcmp(key, "max_completion_tokens") == 0))
		in->c->max_tokens = v;
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
	const char *name;
	size_t len;

	if (!chat_expect(in, key, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		const char *value;

		if (strcmp(name, "include_usage") != 0) {
			json_skip(&in->r, NULL, NULL);
			continue;
		}
		json_peek(&in->r); /* passes the white space */
		value = in->r.at;
		if (json_peek(&in->r) == JSON_NULL)
			json_read_null(&in->r);
		else
			read_flag(in, "stream_options.include_usage", &c->include_usage);
		c->include_usage_at = (struct slice){ value, (size_t)(in->r.at - value) };
	}
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

static void read_chat_effort(struct chat_reader *in, const char *key)
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

static void read_chat_schema(struct chat_reader *in)
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

static void read_chat_format(struct chat_reader *in, const char *key)
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
			read_chat_schema(in);
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

static void read_cache(struct chat_reader *in, const char *key)
{
	chat_read_cache(in, key, &(struct slice){ 0 });
}

static const struct member {
	const char *name;
	void (*read)(struct chat_reader *in, const char *key);
	bool null_too; /* sees null itself; for the others it is as if they were not there */
} members[] = {
	{ "messages", chat_read_messages, true },
	{ "model", read_model, true },
	{ "stream", read_stream },
	{ "stream_options", read_stream_options },
	{ "temperature", read_temperature },
	{ "top_p", read_top_p },
	{ "max_completion_tokens", read_max_tokens },
	{ "max_tokens", read_max_tokens },
	{ "tools", chat_read_tools },
	{ "tool_choice", chat_read_choice },
	{ "parallel_tool_calls", read_parallel },
	{ "stop", read_stop },
	{ "response_format", read_chat_format },
	{ "reasoning_effort", read_chat_effort },
	{ "seed", read_seed },
	{ "cache_control", read_cache },
};

static const struct member *member_of(const char *key)
{
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(key, members[i].name) == 0)
			return &members[i];
	return NULL;
}

static void keep_field(struct chat_reader *in, const char *key, size_t len, struct slice raw)
{
	struct chat_field *f = arena_new(in->c->arena, struct chat_field);

	f->name = text_escape(in->c->arena, key, len);
	f->raw = raw;
	f->understood = member_of(key) && strcmp(key, "cache_control") != 0;
	*in->c->last_field = f;
	in->c->last_field = &f->next;
}

/* What nobody reads is sent on, unless the price hangs on it, or a provider might read it after all. */
static void pass_on(struct chat_reader *in, const char *key, struct slice raw)
{
	const struct chat_term *t = chat_term_of(key, raw);
	struct chat *c = in->c;

	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (chat_name_like(key, members[i].name)) {
			chat_wrong(in, members[i].name,
				"Unknown parameter: one that is spelled like '%s', but not so.",
				members[i].name);
			return;
		}
	if (t && t->rule == TERM_REFUSED)
		chat_wrong(in, t->name, "Invalid '%s': %s", t->name, t->why);
	else if (t)
		c->dropped = arena_printf(c->arena, "%s%s%s", c->dropped ? c->dropped : "",
			c->dropped ? ", " : "", t->name);
}

static void read_chat_member(struct chat_reader *in, const char *key, size_t len)
{
	const struct member *m = member_of(key);
	const char *dropped = in->c->dropped;
	struct slice raw = { 0 };

	json_peek(&in->r); /* passes the white space */
	raw.at = in->r.at;
	if (!m)
		json_skip(&in->r, NULL, NULL);
	else if (!m->null_too && json_peek(&in->r) == JSON_NULL)
		json_read_null(&in->r);
	else
		m->read(in, m->name);
	raw.len = (size_t)(in->r.at - raw.at);
	if (in->wrong || in->r.fault)
		return;
	if (!m)
		pass_on(in, key, raw);
	if (in->c->dropped == dropped)
		keep_field(in, key, len, raw);
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
		read_chat_member(&in, key, key_len);
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
