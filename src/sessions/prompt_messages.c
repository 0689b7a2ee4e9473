/* prompt_messages.c - the conversation as a model reads it, and what of it is summed up when it has grown too
 * long.
 *
 * Providers want the results of calls directly after the message that made
 * them; what people said meanwhile comes after those. */
#include <string.h>

#include "base/json.h"
#include "base/utf8_cut.h"
#include "broker/tokens.h"
#include "sessions/turn.h"

/* ---- what a message was stored with ---- */

static void read_thoughts(struct chat *chat, struct chat_message *m, const char *text)
{
	struct json_reader r;
	struct slice maker = { 0 };
	const char *key;
	size_t len;

	json_open(&r, chat->arena, text, strlen(text));
	json_enter_array(&r);
	while (json_next_item(&r)) {
		struct chat_thought *t = chat_thought_add(chat, m);

		json_enter_object(&r);
		while (json_next_key(&r, &key, &len)) {
			struct slice *to = strncmp(key, "text", len) == 0   ? &t->text
					   : strncmp(key, "seal", len) == 0 ? &t->signature
					   : strncmp(key, "id", len) == 0   ? &t->id
									    : &maker;

			if (json_peek(&r) == JSON_BOOL)
				json_read_bool(&r, &t->redacted);
			else
				text_read(&r, to);
		}
		t->maker = text_plain(chat->arena, maker);
	}
}

static void read_message_calls(struct chat *chat, struct chat_message *m, const char *text)
{
	struct json_reader r;
	const char *key, *id = "", *name = "", *raw;
	size_t len, raw_len;

#define IS(word) (len == sizeof(word) - 1 && memcmp(key, word, len) == 0)
	json_open(&r, chat->arena, text, strlen(text));
	json_enter_array(&r);
	while (json_next_item(&r)) {
		const char *arguments = "{}", *alias = NULL, *extra = NULL;
		struct chat_call *call;

		json_enter_object(&r);
		while (json_next_key(&r, &key, &len)) {
			if (IS("id"))
				json_read_string(&r, &id, &raw_len);
			else if (IS("name"))
				json_read_string(&r, &name, &raw_len);
			else if (IS("alias"))
				json_read_string(&r, &alias, &raw_len);
			else if (IS("extra_content") && json_skip(&r, &raw, &raw_len))
				extra = arena_strndup(chat->arena, raw, raw_len);
			else if (json_skip(&r, &raw, &raw_len) && *raw == '{')
				arguments = arena_strndup(chat->arena, raw, raw_len);
		}
		if (r.fault)
			break;
		call = chat_call_add(
			chat, m, id, alias ? alias : prompt_alias(chat->arena, name), arguments);
		if (extra)
			call->extra = (struct slice){ extra, strlen(extra) };
	}
#undef IS
}

static bool has_calls(const struct message_row *m)
{
	return strcmp(m->role, "assistant") == 0 && strcmp(m->tool_calls, "[]") != 0;
}

/* ---- in order ---- */

static void add_plain(struct chat *chat, const struct message_row *m, const struct list *media)
{
	enum chat_role role = strcmp(m->role, "assistant") == 0 ? CHAT_ASSISTANT
			      : strcmp(m->role, "system") == 0	? CHAT_SYSTEM
								: CHAT_USER;
	bool mixed = m->parts.count > 0;
	struct chat_message *out = chat_message_add(chat, role, mixed ? NULL : m->content);

	if (mixed)
		prompt_put_parts(chat, out, m->content, &m->parts, media);
	if (*m->thoughts)
		read_thoughts(chat, out, m->thoughts);
}

static const struct message_row *find_result_message(const struct message_row *from,
	const struct message_row *end, struct chat *chat, struct slice call_id)
{
	const char *id = text_plain(chat->arena, call_id);

	for (; from < end; from++)
		if (from->tool_call_id && strcmp(from->tool_call_id, id) == 0)
			return from;
	return NULL;
}

/* Those that failed, from the first whose message was not passed yet. */
struct failures {
	const struct failed_call *at, *end;
};

static bool has_failed(
	struct failures *f, struct chat *chat, const char *message_id, struct slice call_id)
{
	const char *id = text_plain(chat->arena, call_id);

	while (f->at < f->end && strcmp(f->at->message_id, message_id) < 0)
		f->at++;
	for (const struct failed_call *c = f->at;
		c < f->end && strcmp(c->message_id, message_id) == 0; c++)
		if (strcmp(c->call_id, id) == 0)
			return true;
	return false;
}

/* A message with calls, their results, then what else was said before the next answer. */
static const struct message_row *add_group(struct chat *chat, const struct message_row *m,
	const struct message_row *end, struct failures *f, const struct list *media)
{
	struct chat_message *out =
		chat_message_add(chat, CHAT_ASSISTANT, *m->content ? m->content : NULL);
	const struct message_row *next = m + 1;

	while (next < end && strcmp(next->role, "assistant") != 0)
		next++;
	if (*m->thoughts)
		read_thoughts(chat, out, m->thoughts);
	read_message_calls(chat, out, m->tool_calls);
	for (const struct chat_call *c = out->calls; c; c = c->next) {
		const struct message_row *r = find_result_message(m + 1, next, chat, c->id);
		bool mixed = r && r->parts.count;
		struct chat_message *result = chat_message_add(chat, CHAT_TOOL,
			mixed ? NULL
			: r   ? r->content
			      : "There is no result.");

		if (mixed)
			prompt_put_parts(chat, result, r->content, &r->parts, media);
		result->call_id = c->id;
		result->failed = !r || has_failed(f, chat, m->id, c->id);
	}
	for (m++; m < next; m++)
		if (strcmp(m->role, "tool") != 0)
			add_plain(chat, m, media);
	return next;
}

void prompt_messages(struct list *messages, const struct list *failed, const struct list *media,
	struct chat *chat)
{
	const struct message_row *m = messages->at, *end = m + messages->count;
	struct failures f = { failed->at, failed->at };

	if (failed->count)
		f.end += failed->count;

	while (m < end)
		if (has_calls(m))
			m = add_group(chat, m, end, &f, media);
		else if (strcmp(m->role, "tool") == 0) /* of a call that was summed up */
			m++;
		else
			add_plain(chat, m++, media);
}

/* ---- what is summed up ---- */

static int64_t tokens_of(const struct message_row *m)
{
	const struct MessagePart *part = m->parts.at;
	struct tokens t = { 0 };
	int64_t more = 4;

	for (size_t i = 0; i < m->parts.count; i++)
		more += session_part_tokens(&part[i]);
	tokens_add(&t, (struct slice){ m->content, strlen(m->content) });
	tokens_add(&t, (struct slice){ m->tool_calls, strlen(m->tool_calls) });
	return tokens_count(&t) + more;
}

/* Where the part that stays may begin: before what a person said, or before an answer; never between a
 * call and its result, and never between an answer with calls and what was said meanwhile. */
static bool is_seam(const struct message_row *m, size_t i)
{
	size_t before = i;

	if (!i || strcmp(m[i].role, "tool") == 0)
		return false;
	if (strcmp(m[i].role, "assistant") == 0)
		return true;
	while (before && strcmp(m[before - 1].role, "assistant") != 0)
		before--;
	return !before || !has_calls(&m[before - 1]);
}

/* How many of the oldest go, so that the rest takes at most `room` tokens. */
static size_t count_to_go(const struct list *messages, int64_t room)
{
	const struct message_row *m = messages->at;
	int64_t kept = 0;
	size_t seam = 0;

	for (size_t i = messages->count; i-- > 0;) {
		kept += tokens_of(&m[i]);
		if (is_seam(m, i) && (kept <= room || !seam))
			seam = i;
		if (kept > room && seam)
			break;
	}
	return seam;
}

static void put_transcript(struct arena *a, struct buf *b, const struct message_row *m, size_t most)
{
	const struct MessagePart *part = m->parts.at;
	size_t len = utf8_cut(m->content, strlen(m->content), most);

	buf_printf(b, "%s: ", m->role);
	buf_put(b, m->content, len);
	buf_puts(b, m->content[len] ? " [...]" : "");
	for (size_t i = 0; i < m->parts.count; i++)
		buf_printf(b, " %s", session_part_instead(a, &part[i]));
	if (has_calls(m)) {
		buf_lit(b, " [calls ");
		buf_printf(b, "%.*s", UTF8_SHOWN(500, m->tool_calls));
		buf_lit(b, "]");
	}
	buf_lit(b, "\n\n");
}

size_t prompt_summary(struct turn *t, const struct list *messages, const char *before,
	int64_t window, struct chat *chat)
{
	const struct message_row *m = messages->at;
	size_t count = count_to_go(messages, window / 4), each;
	struct buf b;

	if (!count)
		return 0;
	/* Two bytes a token are few: what is summed up fits half the window. */
	each = (size_t)window / count + 64;
	buf_init(&b, (size_t)64 << 20);
	if (before)
		buf_printf(&b, "Summary of what came before: %s\n\n", before);
	for (size_t i = 0; i < count; i++)
		put_transcript(&t->mind, &b, &m[i], each);
	chat_open(chat, &t->mind);
	chat->stream = true;
	chat_message_add(chat, CHAT_SYSTEM,
		"You sum up a conversation between people, an assistant and its tools, for the "
		"assistant to go on from. Keep what was asked, what was decided, names, numbers, "
		"addresses, results of tools that still matter, and what is left to do. Write no "
		"more than 400 words, and nothing else.");
	chat_message_add(chat, CHAT_USER, arena_strndup(&t->mind, b.at, b.len));
	buf_free(&b);
	return count;
}
