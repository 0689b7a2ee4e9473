/* lint_events.c - the rules on streams of events; see lint.h.
 * Their schemas are looked at with all others: the types hold them too. */
#include <string.h>

#include "contract/event.h"
#include "contract/lint_schema.h"

static bool event_text_empty(const char *text)
{
	return !text || !*text;
}

/* One line of a frame, and a key of the document: words of small letters. */
static bool is_name(const char *name)
{
	return !event_text_empty(name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz_.") == strlen(name);
}

static bool event_is_sound(struct lint *l, const struct event_stream *s, size_t i)
{
	const struct stream_event *e = &s->table[i];

	if (!is_name(e->name))
		return lint_bad(l, "Event %zu of a stream has no name of small letters.", i);
	if (e->unnamed && strcmp(e->name, EVENT_UNNAMED) != 0)
		return lint_bad(l, "Event %s has a name and does not tell it.", e->name);
	if (e->data && e->literal)
		return lint_bad(l, "Event %s has two kinds of data.", e->name);
	if (event_text_empty(e->doc))
		return lint_bad(l, "Event %s has no doc.", e->name);
	if (!e->streams)
		return lint_bad(l, "Event %s is carried by no stream.", e->name);
	if (!e->data && !e->literal && !e->bare && s->envelope)
		return lint_bad(l, "Event %s has an envelope and nothing in it.", e->name);
	if (e->data && e->data->internal)
		return lint_bad(l, "Event %s tells a row of the store.", e->name);
	for (size_t j = 0; j < i; j++)
		if (!(e->unnamed && s->table[j].unnamed) && strcmp(s->table[j].name, e->name) == 0)
			return lint_bad(l, "Two events are called %s.", e->name);
	return true;
}

static bool envelope_is_sound(struct lint *l, const struct schema *envelope)
{
	const struct field *f = envelope ? schema_field(envelope, "data", strlen("data")) : NULL;

	if (!envelope || (f && f->kind == JSON && f->required && !f->array))
		return true;
	return lint_bad(
		l, "The envelope %s has no JSON data that is always there.", envelope->name);
}

static bool stream_is_sound(struct lint *l, const struct operation *op)
{
	const struct event_stream *s = op->events;
	bool carries = false;

	for (size_t i = 0; i < s->count; i++) {
		if (!event_is_sound(l, s, i))
			return false;
		carries = carries || (s->table[i].streams & s->bit);
	}
	if (event_text_empty(s->title))
		return lint_bad(l, "The stream of %s has no title.", op->id);
	if (!carries)
		return lint_bad(l, "The stream of %s carries no event.", op->id);
	return envelope_is_sound(l, s->envelope);
}

static bool operation_is_sound(struct lint *l, const struct route *r)
{
	const struct operation *op = r->op;
	bool gives = op->streams || (op->gives && strcmp(op->gives, "text/event-stream") == 0);

	if (gives && !op->events)
		return lint_bad(l, "Operation %s gives events and does not say which.", op->id);
	if (op->events && !gives)
		return lint_bad(l, "Operation %s names events and gives none.", op->id);
	return !op->events || stream_is_sound(l, op);
}

bool lint_events(struct lint *l)
{
	for (size_t i = 0; i < l->count; i++)
		for (size_t j = 0; j < l->resources[i]->route_count; j++)
			if (!operation_is_sound(l, &l->resources[i]->routes[j]))
				return false;
	return true;
}
