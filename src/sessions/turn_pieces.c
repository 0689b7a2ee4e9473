/* turn_pieces.c - what has been heard of an answer since the last time, as the events that tell it: what the model thinks, what
 * it says, and the arguments of calls that whoever began the run makes.
 *
 * Calls of the agent's own tools are told when they are made, with what is
 * really sent; before that they are nobody's business. */
#include <string.h>

#include "sessions/turn.h"

struct gathering {
	struct turn *t;
	struct arena *a;
	struct DeltaEvent *at;
	size_t count;
};

static struct DeltaEvent *next_piece(struct gathering *g)
{
	struct DeltaEvent *e = &g->at[g->count++];

	*e = (struct DeltaEvent){ .message_id = arena_strdup(g->a, g->t->answer_id),
		.text = "",
		.redacted = -1,
		.call = NIL };
	return e;
}

static const char *plain_after(struct arena *a, const struct buf *b, size_t from)
{
	return text_plain(a, (struct slice){ b->at + from, b->len - from });
}

/* A thought is over when it is sealed, or when something else is said. */
static void gather_thoughts(struct gathering *g, struct flow_marks *m)
{
	const struct collected_thought *c = g->t->heard.thoughts;

	for (size_t i = 0; c && i < m->thought; i++)
		c = c->next;
	for (; c; c = c->next) {
		struct DeltaEvent *e;

		if (c->text.len <= m->thought_at && !c->sealed)
			return;
		e = next_piece(g);
		e->thought = c->text.len > m->thought_at
				     ? plain_after(g->a, &c->text, m->thought_at)
				     : "";
		m->thought_at = c->text.len;
		if (!c->sealed)
			return;
		e->sealed = text_plain(g->a, c->signature);
		e->redacted = c->redacted ? 1 : -1;
		e->maker = g->t->maker;
		m->thought++;
		m->thought_at = 0;
	}
}

/* What the session will know the call by: an id that is none, or stands there twice, is replaced when the answer is whole. */
static bool has_good_id(const struct turn *t, const struct collected_call *c)
{
	for (const struct collected_call *k = t->heard.calls; k != c; k = k->next)
		if (k->id.len == c->id.len && memcmp(k->id.at, c->id.at, c->id.len) == 0)
			return false;
	return c->id.len > 0 && c->id.len <= 200 && !memchr(c->id.at, '\\', c->id.len);
}

static void gather_calls(struct gathering *g, struct flow_marks *m)
{
	const struct collected_call *c = g->t->heard.calls;

	for (size_t i = 0; c && i < SESSION_CALLS_MAX; i++, c = c->next) {
		const struct offer *o = prompt_offer(g->t, text_plain(g->a, c->name));
		struct DeltaEvent *e;

		if (!o || o->held || !has_good_id(g->t, c) || c->arguments.len + 1 <= m->calls[i])
			continue;
		e = next_piece(g);
		e->call = (int64_t)i;
		e->call_id = text_plain(g->a, c->id);
		e->name = o->name;
		e->arguments = c->arguments.len ? plain_after(g->a, &c->arguments,
							  m->calls[i] ? m->calls[i] - 1 : 0)
						: "";
		m->calls[i] = c->arguments.len + 1;
	}
}

size_t turn_pieces(
	struct turn *t, struct arena *a, struct flow_marks *marks, struct DeltaEvent **ret)
{
	struct gathering g = { .t = t, .a = a };
	size_t most = SESSION_CALLS_MAX + 1;

	for (const struct collected_thought *c = t->heard.thoughts; c; c = c->next)
		most++;
	g.at = arena_array(a, struct DeltaEvent, most);
	gather_thoughts(&g, marks);
	if (t->heard.text.len > marks->text) {
		next_piece(&g)->text = plain_after(a, &t->heard.text, marks->text);
		marks->text = t->heard.text.len;
	}
	gather_calls(&g, marks);
	*ret = g.at;
	return g.count;
}
