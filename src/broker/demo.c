/* demo.c - a model inside the program, so that a fresh install converses without a key.
 *
 * It is no model: it answers from the last message by a few plain rules, the
 * same for the same words, and says so.  It can call tools, which is what the
 * rest of the house wants to be shown with.  Its tokens are those of the
 * counter in tokens.h, and are therefore exact. */
#include "broker/provider.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8_cut.h"

enum { COUNT_MAX = 10000, ECHO_MAX = 600, CALLS_MAX = 8 };

struct demo_call {
	struct slice name, arguments;
};

struct demo {
	const char *text; /* plain */
	size_t len, at;
	struct demo_call calls[CALLS_MAX];
	int call_count, next_call;
	int64_t limit; /* tokens; 0: none */
	bool began;
};

/* ---- reading what was said ---- */

static const char *demo_message_text(struct arena *a, const struct chat_message *m)
{
	struct buf b;
	const char *text;

	buf_init(&b, SIZE_MAX / 2);
	for (const struct chat_part *p = m->parts; p; p = p->next) {
		if (p->kind != PART_TEXT)
			continue;
		if (b.len)
			buf_lit(&b, "\\n");
		text_put(&b, p->text);
	}
	text = text_plain(a, (struct slice){ b.at, b.len });
	buf_free(&b);
	return text;
}

static long count_words(const char *text)
{
	bool inside = false;
	long n = 0;

	for (; *text; text++) {
		bool space = isspace((unsigned char)*text) != 0;

		n += !space && !inside;
		inside = !space;
	}
	return n;
}

static const struct chat_tool *tool_named(const struct chat *c, const char *name, size_t len)
{
	for (const struct chat_tool *t = c->tools; t; t = t->next)
		if (t->name.len == len && memcmp(t->name.at, name, len) == 0)
			return t;
	return NULL;
}

/* After "use tool" or "call tool" (the tool, ...), or NULL. */
static const char *after_tool_words(const char *text)
{
	static const char *const words[] = { "use tool ", "use the tool ", "call tool ",
		"call the tool " };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *at = strcasestr(text, words[i]);

		if (at && (!found || at + strlen(words[i]) < found))
			found = at + strlen(words[i]);
	}
	return found;
}

/* A JSON object at the text, checked; its length, or 0. */
static size_t object_len(struct arena *a, const char *text)
{
	struct json_reader r;
	struct slice raw;

	json_open(&r, a, text, strlen(text));
	return json_peek(&r) == JSON_OBJECT && text_read_raw(&r, &raw) ? raw.len : 0;
}

static void call_add(struct demo *d, struct slice name, struct slice arguments)
{
	if (d->call_count < CALLS_MAX)
		d->calls[d->call_count++] = (struct demo_call){ name, arguments };
}

static void demo_say(struct demo *d, const char *text)
{
	d->text = text;
	d->len = strlen(text);
}

/* ---- the rules ---- */

/* The names of the first few. */
static const char *tool_names(struct arena *a, const struct chat *c)
{
	enum { SHOWN = 20 };
	struct buf b;
	int n = 0;

	buf_init(&b, SIZE_MAX / 2);
	for (const struct chat_tool *t = c->tools; t && n < SHOWN; t = t->next) {
		buf_puts(&b, n++ ? ", " : "");
		text_put(&b, t->name);
		buf_puts(&b, n == SHOWN && t->next ? ", ..." : "");
	}
	buf_puts(&b, n ? "" : "none");
	return arena_take(a, &b);
}

/* "use tool NAME with {json}", as often as it is said, up to CALLS_MAX times. */
static bool rule_tools(struct arena *a, const struct chat *c, struct demo *d, const char *text)
{
	const char *at = after_tool_words(text);

	if (!at)
		return false;
	for (; at && d->call_count < CALLS_MAX; at = after_tool_words(at)) {
		size_t len = strcspn(at, " \t\r\n,;:!?\"'`"), object = 0;
		const struct chat_tool *t;
		const char *open;

		while (len && at[len - 1] == '.')
			len--;
		t = tool_named(c, at, len);
		if (!t) {
			demo_say(d, arena_printf(a, "I have no tool named \"%.*s\". I have: %s.",
					    (int)utf8_cut(at, len, 64), at, tool_names(a, c)));
			d->call_count = 0;
			return true;
		}
		at += len;
		open = at + strspn(at, " \t\r\n");
		if (strncasecmp(open, "with ", 5) == 0)
			open += 5;
		object = object_len(a, open);
		call_add(d, t->name, object ? text_escape(a, open, object) : SLICE("{}"));
		at = object ? open + object : at;
	}
	return true;
}

static bool rule_count(struct arena *a, struct demo *d, const char *text)
{
	const char *at = strcasestr(text, "count to ");
	struct buf b;
	long n;

	if (!at || !isdigit((unsigned char)at[9]))
		return false;
	n = strtol(at + 9, NULL, 10);
	if (n > COUNT_MAX) {
		demo_say(d, arena_printf(a, "I count to %d at most.", COUNT_MAX));
		return true;
	}
	buf_init(&b, COUNT_MAX * 8);
	for (long i = 1; i <= n; i++)
		buf_printf(&b, i < n ? "%ld " : "%ld", i);
	demo_say(d, arena_take(a, &b));
	return true;
}

static bool rule_words(struct arena *a, struct demo *d, const char *text)
{
	const char *colon;

	if (!strcasestr(text, "count words") && !strcasestr(text, "count the words") &&
		!strcasestr(text, "how many words"))
		return false;
	colon = strchr(text, ':');
	demo_say(d, arena_printf(a, "That is %ld words.", count_words(colon ? colon + 1 : text)));
	return true;
}

static bool rule_about(struct arena *a, const struct chat *c, struct demo *d, const char *text)
{
	static const char *const asked[] = { "who are you", "what are you", "help",
		"what can you do" };

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		if (strcasestr(text, asked[i])) {
			demo_say(d,
				arena_printf(a,
					"I am Lodge's demonstration model, not an AI model: I answer by a few fixed rules and reach no network. Say \"count to 5\", \"count words: ...\", or \"use tool NAME with {...}\". My tools: %s. An administrator can add a real model.",
					tool_names(a, c)));
			return true;
		}
	return false;
}

static void rule_echo(struct arena *a, struct demo *d, const char *text)
{
	size_t len = strlen(text), shown = utf8_cut(text, len, ECHO_MAX);

	demo_say(d,
		arena_printf(a,
			"This is Lodge's demonstration model; it understands nothing and repeats what it reads. You wrote %ld words: \"%.*s%s\"",
			count_words(text), (int)shown, text, shown < len ? "..." : ""));
}

/* After tools have answered: what they said. */
static void rule_results(
	struct arena *a, const struct chat *c, struct demo *d, const struct chat_message *asked)
{
	struct buf b;

	buf_init(&b, SIZE_MAX / 2);
	for (const struct chat_message *m = asked ? asked->next : c->messages; m; m = m->next) {
		struct slice name = SLICE("?");

		if (m->role != CHAT_TOOL)
			continue;
		for (const struct chat_call *call = asked ? asked->calls : NULL; call;
			call = call->next)
			if (call->id.len == m->call_id.len &&
				memcmp(call->id.at, m->call_id.at, call->id.len) == 0)
				name = call->name;
		buf_puts(&b, b.len ? "\nThe tool " : "The tool ");
		text_put(&b, name);
		buf_lit(&b, " answered: ");
		buf_puts(&b, demo_message_text(a, m));
	}
	demo_say(d, arena_take(a, &b));
}

static bool rule_forced(const struct chat *c, struct demo *d)
{
	if (c->tool_choice == CHOICE_NAMED)
		call_add(d, c->tool_chosen, SLICE("{}"));
	else if (c->tool_choice == CHOICE_REQUIRED && c->tools)
		call_add(d, c->tools->name, SLICE("{}"));
	return d->call_count > 0;
}

static void demo_think(struct arena *a, const struct chat *c, struct demo *d)
{
	const struct chat_message *last = NULL, *asked = NULL;
	const char *text;

	for (const struct chat_message *m = c->messages; m; m = m->next) {
		if (m->role != CHAT_SYSTEM)
			last = m;
		if (m->role == CHAT_ASSISTANT && m->calls)
			asked = m;
	}
	if (last && last->role == CHAT_TOOL) {
		rule_results(a, c, d, asked);
		return;
	}
	text = last ? demo_message_text(a, last) : "";
	if (c->tool_choice != CHOICE_NONE && (rule_tools(a, c, d, text) || rule_forced(c, d)))
		return;
	if (!rule_count(a, d, text) && !rule_words(a, d, text) && !rule_about(a, c, d, text))
		rule_echo(a, d, text);
}

/* What it would say ends before the first of the texts at which it was told to stop. */
static void heed_stop(struct arena *a, const struct chat *c, struct demo *d)
{
	for (const struct chat_stop *s = c->stop; s; s = s->next) {
		size_t len;
		const char *stop = text_decode(a, s->text, &len);
		const char *at = len ? memmem(d->text, d->len, stop, len) : NULL;

		if (at)
			d->len = (size_t)(at - d->text);
	}
}

static void *demo_open(struct arena *a, const struct chat *c, const struct target *t)
{
	struct demo *d = arena_new(a, struct demo);

	d->text = "";
	d->limit = provider_max_tokens(c, t);
	demo_think(a, c, d);
	if (c->format != FORMAT_TEXT && !d->call_count) {
		struct slice s = text_escape(a, d->text, d->len);

		demo_say(d, arena_printf(a, "{\"answer\":\"%.*s\"}", (int)s.len, s.at));
	}
	heed_stop(a, c, d);
	return d;
}

/* ---- speaking ---- */

static bool demo_finish(struct reply *r, enum finish why)
{
	struct usage u = { .input = r->prompt_tokens, .output = tokens_count(&r->spoken) };

	reply_usage(r, &u, USAGE_INPUT | USAGE_OUTPUT);
	reply_reason(r, why);
	reply_finish(r);
	return false;
}

/* True if there is room for more of this. */
static bool demo_fits(const struct demo *d, const struct reply *r, struct slice a, struct slice b)
{
	struct tokens t = r->spoken;

	tokens_add(&t, a);
	tokens_add(&t, b);
	return !d->limit || tokens_count(&t) <= d->limit;
}

/* A word with the space after it. */
static bool speak_word(struct demo *d, struct reply *r)
{
	const struct slice none = { 0 };
	size_t n = strcspn(d->text + d->at, " \n");
	struct slice word;
	bool room;

	n += strspn(d->text + d->at + n, " \n");
	if (n > d->len - d->at) /* it stops within a word */
		n = d->len - d->at;
	word = text_escape(&r->scratch, d->text + d->at, n);
	room = demo_fits(d, r, word, none);
	if (room)
		reply_text(r, word, none);
	arena_reset(&r->scratch);
	d->at += n;
	return room || demo_finish(r, FINISH_LENGTH);
}

static bool speak_call(struct demo *d, struct reply *r)
{
	const struct demo_call *call = &d->calls[d->next_call];
	int index;

	if (!demo_fits(d, r, call->name, call->arguments))
		return demo_finish(r, FINISH_LENGTH);
	index = reply_call(r, d->next_call++, (struct slice){ 0 }, call->name);
	reply_arguments(r, index, call->arguments);
	reply_call_end(r, index);
	return !r->ended;
}

static bool demo_speak(void *state, struct reply *r)
{
	struct demo *d = state;

	if (!d->began) {
		d->began = true;
		reply_start(r, (struct slice){ r->tag, strlen(r->tag) }, SLICE("demo"));
		return true;
	}
	if (d->at < d->len)
		return speak_word(d, r);
	if (d->next_call < d->call_count)
		return speak_call(d, r);
	return demo_finish(r, FINISH_STOP);
}

const struct provider provider_demo = {
	.name = "demo",
	.open = demo_open,
	.speak = demo_speak,
};
