/* chat_messages.c - messages, parts, tool calls and tools of a chat-completions body; see chat.h. */
#include "broker/chat_read.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8_cut.h"

enum { PLACE_MAX = 96 };

static void read_image(struct chat_reader *in, const char *place, struct chat_part *p)
{
	struct slice url = { 0 };
	const char *key;
	size_t len;

	if (json_peek(&in->r) == JSON_STRING) {
		text_read(&in->r, &url);
	} else if (chat_expect(in, place, JSON_OBJECT)) {
		json_enter_object(&in->r);
		while (!in->wrong && json_next_key(&in->r, &key, &len)) {
			if (strcmp(key, "url") == 0)
				text_read(&in->r, &url);
			else if (strcmp(key, "detail") == 0)
				text_read(&in->r, &p->detail);
			else
				json_skip(&in->r, NULL, NULL);
		}
	}
	if (!in->r.fault && !url.len)
		chat_wrong(in, place, "Missing required parameter: '%s.url'.", place);
	chat_image(p, url);
}

/* How long something stays in a provider's cache has its price: there is one for writing it there. */
void chat_read_cache(struct chat_reader *in, const char *place, struct slice *ret)
{
	const char *key, *life = "5m", *start;
	size_t len;

	if (json_peek(&in->r) == JSON_NULL) {
		json_read_null(&in->r);
		return;
	}
	if (!chat_expect(in, place, JSON_OBJECT))
		return;
	start = in->r.at;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "ttl") != 0 || json_peek(&in->r) == JSON_NULL)
			json_skip(&in->r, NULL, NULL);
		else if (chat_expect(in, place, JSON_STRING))
			text_read_word(&in->r, &life);
	}
	if (!in->wrong && !in->r.fault && strcmp(life, "5m") != 0)
		chat_wrong(in, place,
			"Invalid 'ttl' of a cache_control: it is 5m, for more has another price.");
	*ret = (struct slice){ start, (size_t)(in->r.at - start) };
}

/* Sound or a file: what is known of it for providers of other kinds. */
static void read_media(struct chat_reader *in, const char *place, struct chat_part *p)
{
	const char *key;
	size_t len;

	if (!chat_expect(in, place, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (json_peek(&in->r) != JSON_STRING)
			json_skip(&in->r, NULL, NULL);
		else if (strcmp(key, "data") == 0 || strcmp(key, "file_data") == 0)
			text_read(&in->r, &p->text);
		else if (strcmp(key, "format") == 0)
			text_read(&in->r, &p->media);
		else if (strcmp(key, "filename") == 0)
			text_read(&in->r, &p->name);
		else
			json_skip(&in->r, NULL, NULL);
	}
}

/* A part that is neither text nor image, whole for providers of the same kind.  Sound comes along with it; of
 * a file, a film or what else there is, the provider may read far more than was sent. */
static void read_other(
	struct chat_reader *in, const char *place, const char *type, struct chat_part *p)
{
	p->kind = PART_OTHER;
	p->place = arena_strdup(in->c->arena, place);
	if (strcmp(type, "input_audio") == 0 && p->text.len && p->media.len)
		p->kind = PART_AUDIO;
	else if (!in->c->unbounded)
		in->c->unbounded = p->place;
	if (strcmp(type, "file") == 0 && p->text.len) {
		chat_file(p, p->text);
		if (p->kind ==
			PART_FILE_URL) /* base64 without a type, or a name of the provider's */
			p->kind = PART_OTHER;
	}
}

static void read_chat_part(struct chat_reader *in, const char *place, struct chat_message *m)
{
	struct chat_part *p = chat_part_add(in->c, m, PART_OTHER);
	const char *start, *key, *type = "";
	struct slice text = { 0 };
	bool image = false;
	size_t len;

	if (!chat_expect(in, place, JSON_OBJECT))
		return;
	start = in->r.at;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "type") == 0 && chat_expect(in, place, JSON_STRING)) {
			text_read_word(&in->r, &type);
		} else if ((strcmp(key, "text") == 0 || strcmp(key, "refusal") == 0) &&
			   json_peek(&in->r) != JSON_NULL) {
			if (chat_expect(in, place, JSON_STRING))
				text_read(&in->r, &text);
		} else if (strcmp(key, "image_url") == 0) {
			image = true;
			read_image(in, place, p);
		} else if (strcmp(key, "cache_control") == 0) {
			chat_read_cache(in, place, &p->cache);
		} else if ((strcmp(key, "input_audio") == 0 || strcmp(key, "file") == 0) &&
			   json_peek(&in->r) == JSON_OBJECT) {
			read_media(in, place, p);
		} else {
			json_skip(&in->r, NULL, NULL);
		}
	}
	if (in->wrong || in->r.fault)
		return;
	if (!*type)
		chat_wrong(in, place, "Missing required parameter: '%s.type'.", place);
	else if ((strcmp(type, "text") == 0 || strcmp(type, "refusal") == 0)) {
		p->kind = PART_TEXT;
		p->text = text;
		if (!text.at)
			chat_wrong(in, place, "Missing required parameter: '%s.text'.", place);
	} else if (strcmp(type, "image_url") == 0) {
		if (!image)
			chat_wrong(in, place, "Missing required parameter: '%s.image_url'.", place);
	} else {
		read_other(in, place, type, p);
		p->raw = (struct slice){ start, (size_t)(in->r.at - start) };
	}
}

static void read_chat_content(struct chat_reader *in, const char *place, struct chat_message *m)
{
	char at[PLACE_MAX];
	int i = 0;

	switch (json_peek(&in->r)) {
	case JSON_NULL:
		json_read_null(&in->r);
		return;
	case JSON_STRING:
		text_read(&in->r, &chat_part_add(in->c, m, PART_TEXT)->text);
		return;
	case JSON_ARRAY:
		json_enter_array(&in->r);
		while (!in->wrong && json_next_item(&in->r)) {
			snprintf(at, sizeof at, "%.*s[%d]", PLACE_MAX - 16, place, i++);
			read_chat_part(in, at, m);
		}
		return;
	default:
		if (!in->r.fault)
			chat_wrong(in, place,
				"Invalid type for '%s': expected a string or an array of parts.",
				place);
	}
}

static void read_chat_function(struct chat_reader *in, const char *place, struct chat_call *call)
{
	const char *key;
	size_t len;

	if (!chat_expect(in, place, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "name") == 0 && chat_expect(in, place, JSON_STRING))
			text_read(&in->r, &call->name);
		else if (strcmp(key, "arguments") == 0 && chat_expect(in, place, JSON_STRING))
			text_read(&in->r, &call->arguments);
		else
			json_skip(&in->r, NULL, NULL);
	}
}

static void read_chat_calls(struct chat_reader *in, const char *place, struct chat_message *m)
{
	char at[PLACE_MAX];
	const char *key;
	size_t len;
	int i = 0;

	if (json_peek(&in->r) == JSON_NULL) {
		json_read_null(&in->r);
		return;
	}
	if (!chat_expect(in, place, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	while (!in->wrong && json_next_item(&in->r)) {
		struct chat_call *call = chat_call_add(in->c, m, NULL, NULL, NULL);

		snprintf(at, sizeof at, "%.*s[%d]", PLACE_MAX - 16, place, i++);
		if (!chat_expect(in, at, JSON_OBJECT))
			return;
		json_enter_object(&in->r);
		while (!in->wrong && json_next_key(&in->r, &key, &len)) {
			if (strcmp(key, "id") == 0 && chat_expect(in, at, JSON_STRING))
				text_read(&in->r, &call->id);
			else if (strcmp(key, "function") == 0)
				read_chat_function(in, at, call);
			else
				json_skip(&in->r, NULL, NULL);
		}
		if (in->wrong || in->r.fault)
			return;
		if (!call->id.len || !call->name.len)
			chat_wrong(in, at,
				"Missing required parameter: '%s.id' or '%s.function.name'.", at,
				at);
	}
}

static const struct {
	const char *name;
	enum chat_role role;
} roles[] = {
	{ "user", CHAT_USER },
	{ "assistant", CHAT_ASSISTANT },
	{ "tool", CHAT_TOOL },
	{ "system", CHAT_SYSTEM },
	{ "developer", CHAT_SYSTEM },
};

static bool role_of(const char *word, enum chat_role *ret)
{
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (strcmp(word, roles[i].name) == 0) {
			*ret = roles[i].role;
			return true;
		}
	return false;
}

static void read_chat_message(struct chat_reader *in, int i)
{
	struct chat_message *m = chat_message_add(in->c, CHAT_USER, NULL);
	char place[24], at[PLACE_MAX];
	const char *key, *role = "";
	bool content = false;
	size_t len;

	snprintf(place, sizeof place, "messages[%d]", i);
	if (!chat_expect(in, place, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		snprintf(at, sizeof at, "%s.%.*s", place, UTF8_SHOWN(48, key));
		if (strcmp(key, "role") == 0 && chat_expect(in, at, JSON_STRING)) {
			text_read_word(&in->r, &role);
		} else if (strcmp(key, "content") == 0) {
			content = json_peek(&in->r) != JSON_NULL;
			read_chat_content(in, at, m);
		} else if (strcmp(key, "tool_calls") == 0) {
			read_chat_calls(in, at, m);
		} else if (strcmp(key, "tool_call_id") == 0) {
			text_read(&in->r, &m->call_id);
		} else if (strcmp(key, "name") == 0) {
			text_read(&in->r, &m->name);
		} else if (strcmp(key, "audio") == 0 && json_peek(&in->r) != JSON_NULL) {
			chat_wrong(in, at,
				"Invalid '%s': what is stored at the provider cannot be reckoned before it is read. Send the text itself.",
				at);
		} else {
			json_skip(&in->r, NULL, NULL);
		}
	}
	if (in->wrong || in->r.fault)
		return;
	if (!role_of(role, &m->role)) {
		snprintf(at, sizeof at, "%s.role", place);
		chat_wrong(in, at,
			"Invalid value for '%s': it is system, developer, user, assistant or tool.",
			at);
	} else if (m->role == CHAT_TOOL && !m->call_id.len) {
		snprintf(at, sizeof at, "%s.tool_call_id", place);
		chat_wrong(in, at, "Missing required parameter: '%s'.", at);
	} else if (m->role != CHAT_ASSISTANT && !content) {
		snprintf(at, sizeof at, "%s.content", place);
		chat_wrong(in, at, "Missing required parameter: '%s'.", at);
	} else if (m->role != CHAT_ASSISTANT && m->calls) {
		snprintf(at, sizeof at, "%s.tool_calls", place);
		chat_wrong(in, at, "Invalid '%s': only assistant messages call tools.", at);
	}
}

void chat_read_messages(struct chat_reader *in, const char *key)
{
	int i = 0;

	if (!chat_expect(in, key, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	while (!in->wrong && json_next_item(&in->r))
		read_chat_message(in, i++);
	if (!i && !in->r.fault)
		chat_wrong(
			in, key, "Invalid '%s': empty array. Expected at least one message.", key);
}

static void read_tool_function(struct chat_reader *in, const char *place, struct chat_tool *t)
{
	const char *key;
	size_t len;

	if (!chat_expect(in, place, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "name") == 0 && chat_expect(in, place, JSON_STRING)) {
			text_read(&in->r, &t->name);
		} else if (strcmp(key, "description") == 0) {
			text_read(&in->r, &t->description);
		} else if (strcmp(key, "parameters") == 0) {
			if (json_peek(&in->r) == JSON_NULL || chat_expect(in, place, JSON_OBJECT))
				text_read_raw(&in->r, &t->parameters);
		} else if (strcmp(key, "strict") == 0 && json_peek(&in->r) == JSON_BOOL) {
			t->has_strict = json_read_bool(&in->r, &t->strict);
		} else {
			json_skip(&in->r, NULL, NULL);
		}
	}
}

void chat_read_tools(struct chat_reader *in, const char *key)
{
	char at[PLACE_MAX];
	const char *name, *type;
	size_t len;
	int i = 0;

	if (!chat_expect(in, key, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	while (!in->wrong && json_next_item(&in->r)) {
		struct chat_tool **last = in->c->last_tool, *t;
		struct slice raw = { 0 };

		t = chat_tool_add(in->c, NULL, NULL, NULL);
		type = "";
		json_peek(&in->r); /* passes the white space */
		raw.at = in->r.at;
		snprintf(at, sizeof at, "%s[%d]", key, i++);
		if (!chat_expect(in, at, JSON_OBJECT))
			return;
		json_enter_object(&in->r);
		while (!in->wrong && json_next_key(&in->r, &name, &len)) {
			if (strcmp(name, "type") == 0 && chat_expect(in, at, JSON_STRING))
				text_read_word(&in->r, &type);
			else if (strcmp(name, "function") == 0)
				read_tool_function(in, at, t);
			else if (strcmp(name, "cache_control") == 0)
				chat_read_cache(in, at, &t->cache);
			else
				json_skip(&in->r, NULL, NULL);
		}
		if (in->wrong || in->r.fault)
			return;
		if (!*type) {
			chat_wrong(in, at, "Missing required parameter: '%s.type'.", at);
		} else if (strcmp(type, "function") != 0) {
			raw.len = (size_t)(in->r.at - raw.at);
			*last = NULL; /* it is no function after all */
			in->c->last_tool = last;
			chat_hosted_add(in->c, "openai", arena_strdup(in->c->arena, type), raw);
		} else if (!t->name.len)
			chat_wrong(in, at, "Missing required parameter: '%s.function.name'.", at);
	}
}

void chat_read_choice(struct chat_reader *in, const char *key)
{
	struct chat_call named = { 0 };
	const char *word = "", *type = "function";
	struct slice raw;
	size_t len;

	if (json_peek(&in->r) == JSON_STRING) {
		text_read_word(&in->r, &word);
		in->c->tool_choice = strcmp(word, "auto") == 0	     ? CHOICE_AUTO
				     : strcmp(word, "none") == 0     ? CHOICE_NONE
				     : strcmp(word, "required") == 0 ? CHOICE_REQUIRED
								     : CHOICE_UNSAID;
		if (!in->c->tool_choice)
			chat_wrong(in, key,
				"Invalid value for '%s': it is none, auto, required or a function.",
				key);
		return;
	}
	if (!chat_expect(in, key, JSON_OBJECT))
		return;
	raw.at = in->r.at;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &word, &len)) {
		if (strcmp(word, "function") == 0)
			read_chat_function(in, key, &named);
		else if (strcmp(word, "type") == 0 && json_peek(&in->r) == JSON_STRING)
			text_read_word(&in->r, &type);
		else
			json_skip(&in->r, NULL, NULL);
	}
	if (in->wrong || in->r.fault)
		return;
	if (strcmp(type, "function") != 0) {
		raw.len = (size_t)(in->r.at - raw.at);
		in->c->choice_raw = raw;
		in->c->choice_shape = "openai";
		return;
	}
	in->c->tool_choice = CHOICE_NAMED;
	in->c->tool_chosen = named.name;
	if (!named.name.len)
		chat_wrong(in, key, "Missing required parameter: '%s.function.name'.", key);
}
