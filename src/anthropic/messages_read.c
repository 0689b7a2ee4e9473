/* messages_read.c - the members of a body of messages; see messages_read.h.
 *
 * A row for each member that is understood.  The others go to providers of
 * this protocol as they came, unless the price hangs on them (chat_terms.h). */
#include "anthropic/messages_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "broker/chat_terms.h"

/* ---- messages ---- */

static bool messages_role(const char *word, enum chat_role *ret)
{
	if (strcmp(word, "user") == 0)
		*ret = CHAT_USER;
	else if (strcmp(word, "assistant") == 0)
		*ret = CHAT_ASSISTANT;
	else if (strcmp(word, "system") == 0)
		*ret = CHAT_SYSTEM;
	else
		return false;
	return true;
}

static void messages_one(struct messages_reader *in)
{
	struct slice content = { 0 };
	struct chat_message *m = messages_begin(in, CHAT_USER);
	const char *key, *role = "";
	bool said = false, read = false;
	size_t len;

	if (!messages_expect(in, &in->r, NULL, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "role") == 0 && messages_expect(in, &in->r, "role", JSON_STRING)) {
			text_read_word(&in->r, &role);
			if (!messages_role(role, &m->role))
				messages_wrong(in, "role",
					"Input should be 'user', 'assistant' or 'system'");
		} else if (strcmp(key, "content") == 0 && !*role) {
			/* What it means hangs on the role, which comes later. */
			said = json_skip(&in->r, &content.at, &content.len);
		} else if (strcmp(key, "content") == 0) {
			said = read = true;
			messages_content(in, "content", m);
		} else {
			json_skip(&in->r, NULL, NULL);
		}
	}
	if (in->wrong || in->r.fault)
		return;
	if (!*role) {
		messages_wrong(in, "role", "Field required");
	} else if (!said) {
		messages_wrong(in, "content", "Field required");
	} else if (!read) {
		struct json_reader after = in->r;

		json_open(&in->r, in->c->arena, content.at, content.len);
		messages_content(in, "content", m);
		if (in->r.fault)
			text_refuse(&after, in->r.fault);
		in->r = after;
	}
	/* Somebody who only gave results said nothing else. */
	if (m->parts || m->calls || m->thoughts || m->role == CHAT_ASSISTANT)
		messages_end(in, m);
}

static void messages_all(struct messages_reader *in, const char *key)
{
	int count = 0;

	if (!messages_expect(in, &in->r, NULL, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	while (!in->wrong && json_next_item(&in->r)) {
		in->item = count++;
		messages_one(in);
	}
	if (!in->wrong)
		in->item = NOWHERE;
	if (!count && !in->r.fault)
		messages_wrong(in, NULL, "at least one message is required");
	(void)key;
}

static void messages_system(struct messages_reader *in, const char *key)
{
	(void)key;
	in->system = messages_begin(in, CHAT_SYSTEM);
	messages_content(in, NULL, in->system);
}

/* ---- the others ---- */

static void messages_model(struct messages_reader *in, const char *key)
{
	(void)key;
	if (messages_expect(in, &in->r, NULL, JSON_STRING) && text_read(&in->r, &in->c->model) &&
		!in->c->model.len)
		messages_wrong(in, NULL, "String should have at least 1 character");
}

static void messages_limit(struct messages_reader *in, const char *key)
{
	struct json_number n;

	(void)key;
	if (!messages_expect(in, &in->r, NULL, JSON_NUMBER) || !json_read_number(&in->r, &n))
		return;
	if (!n.is_integer || n.integer < 1 || n.integer > INT32_MAX)
		messages_wrong(in, NULL, "Input should be a whole number greater than 0");
	else
		in->c->max_tokens = n.integer;
}

static void messages_share(struct messages_reader *in, double *ret)
{
	struct json_number n;

	if (!messages_expect(in, &in->r, NULL, JSON_NUMBER) || !json_read_number(&in->r, &n))
		return;
	if (n.value < 0 || n.value > 1)
		messages_wrong(in, NULL, "Input should lie between 0 and 1");
	*ret = n.value;
}

static void messages_temperature(struct messages_reader *in, const char *key)
{
	(void)key;
	messages_share(in, &in->c->temperature);
}

static void messages_top_p(struct messages_reader *in, const char *key)
{
	(void)key;
	messages_share(in, &in->c->top_p);
}

static void messages_stream(struct messages_reader *in, const char *key)
{
	(void)key;
	if (messages_expect(in, &in->r, NULL, JSON_BOOL))
		json_read_bool(&in->r, &in->c->stream);
}

static void messages_stops(struct messages_reader *in, const char *key)
{
	struct slice s;

	(void)key;
	if (!messages_expect(in, &in->r, NULL, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	while (json_next_item(&in->r) && messages_expect(in, &in->r, NULL, JSON_STRING))
		if (text_read(&in->r, &s))
			chat_stop_add(in->c, s);
}

/* For providers that are told how hard to try, a number of tokens is as much as it allows. */
static enum chat_effort effort_of(int64_t budget)
{
	return budget < 4096 ? EFFORT_LOW : budget < 16384 ? EFFORT_MEDIUM : EFFORT_HIGH;
}

static void messages_thinking(struct messages_reader *in, const char *key)
{
	const char *name, *type = "";
	int64_t budget = 0;
	size_t len;

	(void)key;
	if (!messages_expect(in, &in->r, NULL, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		if (strcmp(name, "type") == 0 && messages_expect(in, &in->r, "type", JSON_STRING))
			text_read_word(&in->r, &type);
		else if (strcmp(name, "budget_tokens") == 0 &&
			 messages_expect(in, &in->r, "budget_tokens", JSON_NUMBER))
			text_read_count(&in->r, &budget);
		else
			json_skip(&in->r, NULL, NULL);
	}
	if (in->wrong || in->r.fault)
		return;
	if (strcmp(type, "enabled") == 0 && budget < 1024)
		messages_wrong(in, "enabled.budget_tokens",
			"Input should be greater than or equal to 1024");
	in->ret->thinks = *type && strcmp(type, "disabled") != 0;
	if (strcmp(type, "enabled") == 0)
		in->c->thinking_budget = budget;
	if (in->c->thinking_budget && !in->effort_said)
		in->c->effort = effort_of(budget);
}

static void messages_format(struct messages_reader *in, const char *key)
{
	struct slice schema = { 0 };
	const char *name, *type = "";
	size_t len;

	if (json_peek(&in->r) == JSON_NULL) {
		json_read_null(&in->r);
		return;
	}
	if (!messages_expect(in, &in->r, key, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		if (strcmp(name, "type") == 0)
			text_read_word(&in->r, &type);
		else if (strcmp(name, "schema") == 0)
			text_read_raw(&in->r, &schema);
		else
			json_skip(&in->r, NULL, NULL);
	}
	if (strcmp(type, "json_schema") != 0 || !schema.at)
		return;
	in->c->format = FORMAT_SCHEMA;
	in->c->format_schema = schema;
	in->c->format_strict = true;
}

static void messages_effort(struct messages_reader *in)
{
	const char *word = "";

	if (json_peek(&in->r) == JSON_NULL) {
		json_read_null(&in->r);
		return;
	}
	if (!messages_expect(in, &in->r, "effort", JSON_STRING) || !text_read_word(&in->r, &word))
		return;
	for (int i = 1; i < EFFORT_COUNT; i++)
		if (strcmp(word, chat_effort_names[i]) == 0) {
			in->c->effort = (enum chat_effort)i;
			in->effort_said = true;
		}
}

static void messages_output(struct messages_reader *in, const char *key)
{
	const char *name;
	size_t len;

	(void)key;
	if (!messages_expect(in, &in->r, NULL, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		if (strcmp(name, "effort") == 0)
			messages_effort(in);
		else if (strcmp(name, "format") == 0)
			messages_format(in, "format");
		else
			json_skip(&in->r, NULL, NULL);
	}
}

static void messages_own_format(struct messages_reader *in, const char *key)
{
	(void)key;
	messages_format(in, NULL);
}

static void messages_own_cache(struct messages_reader *in, const char *key)
{
	struct slice none;

	(void)key;
	messages_cache(in, &in->r, &none);
}

/* What is reached through them is not bounded by the request. */
static void messages_reach(struct messages_reader *in, const char *key)
{
	json_skip(&in->r, NULL, NULL);
	messages_unbounded(in);
	messages_elsewhere(in, key);
}

static const struct messages_member {
	const char *name;
	void (*read)(struct messages_reader *in, const char *key);
	bool null_too; /* sees null itself; for the others it is as if they were not there */
} members[] = {
	{ "model", messages_model, true },
	{ "messages", messages_all, true },
	{ "max_tokens", messages_limit, true },
	{ "system", messages_system },
	{ "stream", messages_stream },
	{ "tools", messages_tools },
	{ "tool_choice", messages_choice },
	{ "temperature", messages_temperature },
	{ "top_p", messages_top_p },
	{ "stop_sequences", messages_stops },
	{ "thinking", messages_thinking },
	{ "output_config", messages_output },
	{ "output_format", messages_own_format },
	{ "cache_control", messages_own_cache },
	{ "mcp_servers", messages_reach },
	{ "container", messages_reach },
};

static const struct messages_member *messages_member_of(const char *key)
{
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(key, members[i].name) == 0)
			return &members[i];
	return NULL;
}

/* What nobody reads is sent on, unless the price hangs on it; false: it is not. */
static bool messages_pass_on(struct messages_reader *in, const char *key, struct slice raw)
{
	const struct chat_term *t = chat_term_of(key, raw);

	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (chat_name_like(key, members[i].name))
			return messages_wrong(in, NULL, "Did you mean '%s'?", members[i].name);
	/* The tier that everybody has. */
	if (t && strcmp(t->name, "service_tier") == 0 && raw.len == 15 &&
		memcmp(raw.at, "\"standard_only\"", 15) == 0)
		t = NULL;
	if (t && t->rule == TERM_REFUSED)
		return messages_wrong(in, NULL, "%s", t->why);
	if (t) {
		messages_dropped(in, t->name);
		return false;
	}
	messages_elsewhere(in, key);
	return true;
}

static void messages_member(struct messages_reader *in, const char *key, size_t len)
{
	const struct messages_member *m = messages_member_of(key);
	struct slice raw;
	struct chat_field *f;
	bool kept = true;

	in->member = m ? m->name : messages_plain_name(key) ? in->name : "other";
	if (in->member == in->name)
		memcpy(in->name, key, strlen(key) + 1); /* plain, and so not long */
	json_peek(&in->r);				/* passes the white space */
	raw.at = in->r.at;
	if (!m)
		json_skip(&in->r, NULL, NULL);
	else if (!m->null_too && json_peek(&in->r) == JSON_NULL)
		json_read_null(&in->r);
	else
		m->read(in, m->name);
	raw.len = (size_t)(in->r.at - raw.at);
	if (!in->wrong && !in->r.fault && !m)
		kept = messages_pass_on(in, key, raw);
	if (in->wrong || in->r.fault || !kept)
		return;
	f = arena_new(in->c->arena, struct chat_field);
	f->name = text_escape(in->c->arena, key, len);
	f->raw = raw;
	f->understood = true;
	*in->c->last_field = f;
	in->c->last_field = &f->next;
}

static void messages_prepend_system(struct messages_reader *in)
{
	struct chat *c = in->c;

	if (!in->system || !in->system->parts)
		return;
	in->system->next = c->messages;
	if (!c->messages)
		c->last_message = &in->system->next;
	c->messages = in->system;
}

int messages_read(struct chat *chat, struct arena *a, struct slice body,
	const struct messages_asked *asked, struct messages_read *ret, struct chat_error *e)
{
	struct messages_reader in = {
		.c = chat, .ret = ret, .e = e, .item = NOWHERE, .block = NOWHERE, .inner = NOWHERE
	};
	const char *key;
	size_t len;

	*e = (struct chat_error){ 0 };
	*ret = (struct messages_read){ 0 };
	chat_open(chat, a);
	chat->shape = SHAPE_ANTHROPIC;
	chat->body = body;
	json_open(&in.r, a, body.at, body.len);
	if (json_peek(&in.r) != JSON_OBJECT && !in.r.fault) {
		messages_wrong(&in, NULL, "The body must be a JSON object.");
		return ERR_INVALID;
	}
	json_enter_object(&in.r);
	while (!in.wrong && json_next_key(&in.r, &key, &len))
		messages_member(&in, key, len);
	if (!in.wrong)
		json_end(&in.r);
	if (in.r.fault && !in.wrong) {
		snprintf(e->message, sizeof e->message,
			"The request body is not valid JSON: at byte %zu, %s.", in.r.fault_at,
			in.r.fault);
		return ERR_BAD_JSON;
	}
	in.member = NULL;
	if (!chat->model.at)
		messages_wrong(&in, "model", "Field required");
	else if (!chat->messages)
		messages_wrong(&in, "messages", "Field required");
	else if (!chat->max_tokens && !asked->counts)
		messages_wrong(&in, "max_tokens", "Field required");
	messages_prepend_system(&in);
	return in.wrong ? ERR_INVALID : 0;
}
