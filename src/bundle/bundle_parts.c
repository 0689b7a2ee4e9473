/* bundle_parts.c - what every reader of a format needs: looking into trees, and adding to the bundle within its limits. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8_cut.h"
#include "bundle/bundle.h"

void *bundle_add(struct arena *a, struct list *l, size_t size)
{
	if (!(l->count & (l->count - 1))) { /* full at each power of two */
		char *more = arena_alloc(a, size * (l->count ? l->count * 2 : 1));

		if (l->count)
			memcpy(more, l->at, size * l->count);
		l->at = more;
	}
	return (char *)l->at + size * l->count++;
}

void bundle_warn(struct bundle_reading *r, const char *fmt, ...)
{
	va_list ap;

	if (r->out->warnings.count >= BUNDLE_WARNINGS_MAX) {
		r->out->unsaid++;
		return;
	}
	va_start(ap, fmt);
	*BUNDLE_ADD(r->a, &r->out->warnings, const char *) = arena_vprintf(r->a, fmt, ap);
	va_end(ap);
}

bool bundle_name_ends(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

const struct bundle_file *bundle_find(const struct bundle_reading *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->files[i].name, name) == 0)
			return &r->files[i];
	return NULL;
}

/* ---- trees ---- */

const struct json_node *bundle_at(const struct json_node *n, const char *path)
{
	while (n && *path) {
		size_t len = strcspn(path, ".");

		n = json_tree_member(n, path, len);
		path += len + (path[len] == '.');
	}
	return n;
}

const char *bundle_text(const struct json_node *n, const char *path)
{
	n = bundle_at(n, path);
	return n && n->type == JSON_STRING && n->len && strlen(n->text) == n->len ? n->text : NULL;
}

/* The way from the root to a node. */
struct tree_step {
	const struct tree_step *up;
	const char *name; /* NULL: an item */
	size_t item;
};

static void tell_nul(struct bundle_reading *r, const struct tree_step *at)
{
	const char *path = "";

	for (; at; at = at->up)
		path = at->name ? arena_printf(r->a, "%.*s%s%s", UTF8_SHOWN(100, at->name),
					  *path ? "." : "", path)
				: arena_printf(r->a, "%zu%s%s", at->item, *path ? "." : "", path);
	bundle_warn(
		r, "The text at %s holds U+0000, which no text may here: it was left out.", path);
}

static void find_nuls(
	struct bundle_reading *r, const struct json_node *n, const struct tree_step *at)
{
	if (n->type == JSON_STRING && strlen(n->text) != n->len)
		tell_nul(r, at);
	for (size_t i = 0; n->type == JSON_ARRAY && i < n->count; i++)
		find_nuls(r, n->items[i], &(struct tree_step){ at, NULL, i });
	for (size_t i = 0; n->type == JSON_OBJECT && i < n->count; i++)
		find_nuls(r, n->members[i].value, &(struct tree_step){ at, n->members[i].name, 0 });
}

void bundle_tell_nuls(struct bundle_reading *r, const struct json_node *n)
{
	if (n)
		find_nuls(r, n, NULL);
}

bool bundle_has(const struct json_node *n, const char *path)
{
	n = bundle_at(n, path);
	if (!n)
		return false;
	switch (n->type) {
	case JSON_BOOL:
		return n->flag;
	case JSON_STRING:
		return n->len > 0;
	case JSON_ARRAY:
	case JSON_OBJECT:
		return n->count > 0;
	default:
		return n->type == JSON_NUMBER;
	}
}

void bundle_drop(
	struct bundle_reading *r, const struct json_node *n, const char *path, const char *why)
{
	if (bundle_has(n, path))
		bundle_warn(r, "%s", why);
}

int64_t bundle_time(const struct json_node *n, const char *path)
{
	int64_t us;

	n = bundle_at(n, path);
	if (n && n->type == JSON_STRING && time_read(n->text, n->len, &us))
		return us;
	if (n && n->type == JSON_NUMBER && n->number >= 0 && n->number < 1e11)
		return (int64_t)(n->number * (double)SECOND_US);
	return NIL;
}

/* ---- adding ---- */

void bundle_glue(struct buf *b, const char *between, const char *text)
{
	if (b->len)
		buf_puts(b, between);
	buf_puts(b, text);
}

const char *bundle_glued(struct bundle_reading *r, struct buf *b)
{
	if (!b->overflow && arena_room(r->a, b->len + 1))
		return arena_take(r->a, b);
	r->a->failed = true;
	buf_free(b);
	return "";
}

void bundle_add_prompt(struct bundle_reading *r, const char *text)
{
	const char *const *have = r->prompts.at;
	size_t len = text ? strlen(text) + 2 : 0;

	for (size_t i = 0; text && i < r->prompts.count; i++)
		if (strcmp(have[i], text) == 0)
			return;
	if (!text || r->prompts_len > CEILING_PROMPT)
		return;
	if (r->prompts.count == BUNDLE_PROMPTS_MAX || r->prompts_len + len > CEILING_PROMPT) {
		r->prompts_len = CEILING_PROMPT + 1; /* and is told once */
		bundle_warn(r,
			"The prompts of the file are more than %d, or longer than an agent's may be; some stay behind.",
			BUNDLE_PROMPTS_MAX);
		return;
	}
	r->prompts_len += len;
	*BUNDLE_ADD(r->a, &r->prompts, const char *) = text;
}

void bundle_join_prompts(struct bundle_reading *r)
{
	const char *const *text = r->prompts.at;
	struct buf b;

	buf_init(&b, BUNDLE_PACKED_MAX);
	for (size_t i = 0; i < r->prompts.count; i++)
		bundle_glue(&b, "\n\n", text[i]);
	if (b.len)
		r->out->prompt = bundle_glued(r, &b);
}

void bundle_add_model(struct bundle_reading *r, const char *slug)
{
	const char *const *have = r->out->models.at;

	if (!slug)
		return;
	for (size_t i = 0; i < r->out->models.count; i++)
		if (strcmp(have[i], slug) == 0)
			return;
	if (r->out->models.count < BUNDLE_MODELS_MAX)
		*BUNDLE_ADD(r->a, &r->out->models, const char *) = slug;
}

void bundle_add_tool(struct bundle_reading *r, const char *name)
{
	const struct BundleTool *have = r->out->tools.at;

	if (!name || arena_full(r->a))
		return;
	for (size_t i = 0; i < r->out->tools.count; i++)
		if (strcmp(have[i].name, name) == 0)
			return;
	if (r->out->tools.count < BUNDLE_TOOLS_MAX)
		*BUNDLE_ADD(r->a, &r->out->tools, struct BundleTool) =
			(struct BundleTool){ name, true };
	else
		bundle_warn(r, "The tool %s is one too many: an import takes %d.", name,
			BUNDLE_TOOLS_MAX);
}

void bundle_add_memory(struct bundle_reading *r, const char *content, int64_t at)
{
	if (!content || !content[strspn(content, " \t\r\n")] || arena_full(r->a))
		return;
	if (r->out->memories.count < BUNDLE_MEMORIES_MAX)
		*BUNDLE_ADD(r->a, &r->out->memories, struct BundleMemory) =
			(struct BundleMemory){ content, { at } };
	else if (r->out->memories.count == BUNDLE_MEMORIES_MAX)
		bundle_warn(r, "An import takes %d memories; the others stay behind.",
			BUNDLE_MEMORIES_MAX);
}

struct bundle_session *bundle_add_session(struct bundle_reading *r, const char *title, int64_t at)
{
	struct bundle_session *s;

	if (arena_full(r->a))
		return NULL;
	if (r->out->sessions.count == BUNDLE_SESSIONS_MAX) {
		bundle_warn(r, "The session \"%s\" stays behind: an import takes %d.",
			title ? title : "", BUNDLE_SESSIONS_MAX);
		return NULL;
	}
	s = BUNDLE_ADD(r->a, &r->out->sessions, struct bundle_session);
	s->head = (struct BundleSession){ title, { at }, { NIL } };
	return s;
}

struct BundleMessage *bundle_add_message(
	struct bundle_reading *r, struct bundle_session *s, int role, const char *content)
{
	struct BundleMessage *m;

	if (arena_full(r->a))
		return NULL;
	if (r->out->messages >= BUNDLE_MESSAGES_MAX) {
		if (r->out->messages++ == BUNDLE_MESSAGES_MAX)
			bundle_warn(r, "An import takes %d messages; the others stay behind.",
				BUNDLE_MESSAGES_MAX);
		return NULL;
	}
	r->out->messages++;
	m = BUNDLE_ADD(r->a, &s->messages, struct BundleMessage);
	m->role = role;
	m->content = content ? content : "";
	m->created_at.us = NIL;
	return m;
}

void bundle_add_call(struct bundle_reading *r, struct BundleMessage *m, const char *id,
	const char *name, const char *arguments)
{
	const struct json_node *given;
	const char *text = arguments ? arguments : "{}";
	struct buf b;

	if (!m || !name || m->tool_calls.count >= BUNDLE_CALLS_MAX || arena_full(r->a))
		return;
	given = json_tree(r->a, text, strlen(text), NULL, NULL);
	buf_init(&b, BUNDLE_FILE_MAX);
	if (given && given->type == JSON_OBJECT) {
		json_tree_write(&b, given);
	} else {
		buf_lit(&b, "{\"input\":");
		json_write_string(&b, text, strlen(text));
		buf_putc(&b, '}');
	}
	*BUNDLE_ADD(r->a, &m->tool_calls, struct BundleCall) =
		(struct BundleCall){ id ? id : arena_printf(r->a, "call_%zu", m->tool_calls.count),
			name, { arena_take(r->a, &b) } };
}

/* ---- calls and answers ---- */

static bool calls_id(const struct BundleMessage *m, const char *id)
{
	const struct BundleCall *c = m->tool_calls.at;

	for (size_t i = 0; i < m->tool_calls.count; i++)
		if (strcmp(c[i].id, id) == 0)
			return true;
	return false;
}

/* How many of the messages after this one answer its calls. */
static size_t answers_to(const struct bundle_session *s, size_t at)
{
	const struct BundleMessage *m = s->messages.at;
	size_t n = 0;

	for (size_t i = at + 1; i < s->messages.count && m[i].role == BUNDLE_TOOL; i++)
		n += m[i].tool_call_id && calls_id(&m[at], m[i].tool_call_id);
	return n;
}

static void calls_to_text(struct bundle_reading *r, struct BundleMessage *m)
{
	const struct BundleCall *c = m->tool_calls.at;
	struct buf b;

	buf_init(&b, BUNDLE_UNPACKED_MAX);
	buf_puts(&b, m->content);
	for (size_t i = 0; i < m->tool_calls.count; i++) {
		bundle_glue(&b, "\n", "[called ");
		buf_puts(&b, c[i].name);
		buf_lit(&b, " with ");
		buf_puts(&b, c[i].arguments.text);
		buf_putc(&b, ']');
	}
	m->content = bundle_glued(r, &b);
	m->tool_calls = (struct list){ 0 };
}

void bundle_mend_calls(struct bundle_reading *r, struct bundle_session *s)
{
	struct BundleMessage *m = s->messages.at;
	const struct BundleMessage *asked = NULL;
	size_t mended = 0;
	bool calls, stray;

	/* Only an assistant calls: so each answer is looked at for one message, the last before it that is none. */
	for (size_t i = 0; i < s->messages.count; i++) {
		if (m[i].role != BUNDLE_TOOL)
			asked = NULL;
		calls = m[i].tool_calls.count > 0;
		if (calls && m[i].role == BUNDLE_ASSISTANT &&
			answers_to(s, i) == m[i].tool_calls.count) {
			asked = &m[i];
			continue;
		}
		if (calls)
			calls_to_text(r, &m[i]);
		stray = m[i].role == BUNDLE_TOOL &&
			(!asked || !m[i].tool_call_id || !calls_id(asked, m[i].tool_call_id));
		if (stray) {
			m[i].role = BUNDLE_ASSISTANT;
			m[i].tool_call_id = NULL;
		}
		mended += calls || stray;
	}
	if (mended)
		bundle_warn(r,
			"%zu messages with calls of tools that have no answer, or answers to none, were taken over as text.",
			mended);
}
