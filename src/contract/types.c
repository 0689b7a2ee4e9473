/* types.c - see types.h. */
#include "contract/types.h"

#include <stdlib.h>
#include <string.h>

#include "contract/event.h"

/* Room for one more after `count` items; what is outgrown goes with the arena. */
static void *list_make_room(struct arena *a, void *list, size_t size, size_t count, size_t *room)
{
	void *bigger;

	if (count < *room)
		return list;
	*room = *room ? *room * 2 : 64;
	bigger = arena_alloc(a, size * *room);
	if (count)
		memcpy(bigger, list, size * count);
	return bigger;
}

static void add_words(struct types *t, struct arena *a, const struct words *w)
{
	if (!w || !w->title)
		return;
	for (size_t i = 0; i < t->words_count; i++)
		if (t->words[i] == w)
			return;
	t->words = list_make_room(a, t->words, sizeof *t->words, t->words_count, &t->words_room);
	t->words[t->words_count++] = w;
}

static void add_shape_title(struct types *t, struct arena *a, const struct shape *s)
{
	for (size_t i = 0; i < t->shapes_count; i++)
		if (t->shapes[i] == s)
			return;
	t->shapes =
		list_make_room(a, t->shapes, sizeof *t->shapes, t->shapes_count, &t->shapes_room);
	t->shapes[t->shapes_count++] = s;
}

static void add_shape(struct types *t, struct arena *a, const struct shape *s, unsigned use)
{ /* NOLINT(misc-no-recursion): ends with types_add */
	if (!s)
		return;
	if (s->title)
		add_shape_title(t, a, s);
	add_words(t, a, s->words);
	add_shape(t, a, s->items, use);
	for (size_t i = 0; s->objects && s->objects[i]; i++)
		types_add(t, a, s->objects[i], use);
}

/* Schemas may refer to each other in a circle: only a use that is new is followed. */
void types_add(struct types *t, struct arena *a, const struct schema *s, unsigned use)
{ /* NOLINT(misc-no-recursion): ends when no use is new */
	size_t i = 0;

	if (!s)
		return;
	while (i < t->count && t->list[i].schema != s)
		i++;
	if (i == t->count) {
		t->list = list_make_room(a, t->list, sizeof *t->list, t->count, &t->room);
		t->list[t->count++] = (struct type){ .schema = s };
	}
	if ((t->list[i].use & use) == use)
		return;
	t->list[i].use |= use;
	use &= ~(unsigned)(TYPE_PAGED | TYPE_SAMPLED);
	for (size_t f = 0; f < s->count; f++) {
		types_add(t, a, s->fields[f].of, use);
		add_shape(t, a, s->fields[f].shape, use);
		add_words(t, a, s->fields[f].words);
	}
}

static void add_to_come(struct types *t, struct arena *a, const struct to_come *o)
{
	types_add(t, a, o->schema, TYPE_TO_COME);
	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].schema == o->schema)
			t->list[i].to_come = o->reason;
}

static void add_events(struct types *t, struct arena *a, const struct event_stream *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < t->streams_count; i++)
		if (t->streams[i] == s)
			return;
	t->streams = list_make_room(
		a, t->streams, sizeof *t->streams, t->streams_count, &t->streams_room);
	t->streams[t->streams_count++] = s;
	for (size_t i = 0; i < s->count; i++)
		if (s->table[i].streams & s->bit)
			types_add(t, a, s->table[i].data, TYPE_SHOWN);
	types_add(t, a, s->envelope, TYPE_SHOWN);
}

void types_collect(
	struct types *t, struct arena *a, const struct resource *const *resources, size_t count)
{
	*t = (struct types){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct resource *r = resources[i];

		for (size_t j = 0; j < r->route_count; j++) {
			const struct operation *op = r->routes[j].op;
			bool seen = !r->routes[j].unpublished;
			unsigned taken =
				route_foreign(&r->routes[j]) ? TYPE_TAKEN | TYPE_LOOSE : TYPE_TAKEN;

			if (!op)
				continue;
			types_add(t, a, op->body, seen ? taken | TYPE_SAMPLED : TYPE_UNSEEN);
			types_add(t, a, op->raw_body, taken | TYPE_SAMPLED);
			types_add(t, a, op->raw_reply, TYPE_SHOWN | TYPE_SAMPLED);
			types_add(t, a, op->query, TYPE_QUERIED);
			add_events(t, a, op->events);
			types_add(t, a, op->reply,
				!seen	   ? TYPE_UNSEEN
				: op->list ? TYPE_SHOWN | TYPE_PAGED
					   : TYPE_SHOWN | TYPE_SAMPLED);
		}
		for (const struct to_come *o = r->to_come; o && o->schema; o++)
			add_to_come(t, a, o);
	}
}

static int by_type_name(const void *a, const void *b)
{
	return strcmp(
		((const struct type *)a)->schema->name, ((const struct type *)b)->schema->name);
}

static int by_title(const void *a, const void *b)
{
	return strcmp(
		(*(const struct words *const *)a)->title, (*(const struct words *const *)b)->title);
}

static int by_shape_title(const void *a, const void *b)
{
	return strcmp(
		(*(const struct shape *const *)a)->title, (*(const struct shape *const *)b)->title);
}

static int by_stream_title(const void *a, const void *b)
{
	return strcmp((*(const struct event_stream *const *)a)->title,
		(*(const struct event_stream *const *)b)->title);
}

void types_sort(struct types *t)
{
	if (t->shapes_count)
		qsort(t->shapes, t->shapes_count, sizeof *t->shapes, by_shape_title);
	if (t->streams_count)
		qsort(t->streams, t->streams_count, sizeof *t->streams, by_stream_title);
	if (t->count)
		qsort(t->list, t->count, sizeof *t->list, by_type_name);
	if (t->words_count)
		qsort(t->words, t->words_count, sizeof *t->words, by_title);
}

const struct schema **types_schemas(const struct types *t, struct arena *a)
{
	const struct schema **list = arena_array(a, const struct schema *, t->count + 1);

	for (size_t i = 0; i < t->count; i++)
		list[i] = t->list[i].schema;
	return list;
}
