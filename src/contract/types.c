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
	use &= ~(unsigned)TYPE_PAGED;
	for (size_t f = 0; f < s->count; f++) {
		types_add(t, a, s->fields[f].of, use);
		add_words(t, a, s->fields[f].words);
	}
}

static void add_events(struct types *t, struct arena *a, const struct event_stream *s)
{
	for (size_t i = 0; s && i < s->count; i++)
		if (s->table[i].streams & s->bit)
			types_add(t, a, s->table[i].data, TYPE_SHOWN);
	if (s)
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
			types_add(t, a, op->body, seen ? taken : TYPE_UNSEEN);
			types_add(t, a, op->raw_body, taken);
			types_add(t, a, op->raw_reply, TYPE_SHOWN);
			types_add(t, a, op->query, TYPE_QUERIED);
			add_events(t, a, op->events);
			types_add(t, a, op->reply,
				!seen	   ? TYPE_UNSEEN
				: op->list ? TYPE_SHOWN | TYPE_PAGED
					   : TYPE_SHOWN);
		}
		for (size_t j = 0; r->schemas && r->schemas[j]; j++)
			types_add(t, a, r->schemas[j], TYPE_SHOWN);
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

void types_sort(struct types *t)
{
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
