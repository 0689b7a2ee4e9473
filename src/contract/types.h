/* types.h - every schema and list of words that the routes reach, each once.
 *
 * The document, the lint and the compiler of patterns all walk this list.
 * It follows bodies, queries, replies, events, what a resource publishes beside
 * them, and whatever those refer to. */
#pragma once
#include "base/arena.h"
#include "contract/route.h"

/* How a schema is used. */
enum {
	TYPE_TAKEN = 1,	    /* part of a request's body */
	TYPE_SHOWN = 2,	    /* part of a reply, or published beside the routes */
	TYPE_PAGED = 4,	    /* answered as a page of it */
	TYPE_QUERIED = 8,   /* parameters of a query */
	TYPE_UNSEEN = 16,   /* of routes that are not in the document */
	TYPE_LOOSE = 32,    /* taken where fields that are not known are overlooked */
	TYPE_TO_COME = 64,  /* published, and its operation is still to come */
	TYPE_SAMPLED = 128, /* a whole body or a whole reply: the document has an example of it */
};

struct type {
	const struct schema *schema;
	unsigned use;
	const char *to_come; /* why its operation is not there yet; NULL: it is */
};

struct types {
	struct type *list;
	size_t count, room;
	const struct words **words; /* those with a title */
	size_t words_count, words_room;
	const struct shape **shapes; /* those with a title */
	size_t shapes_count, shapes_room;
	const struct event_stream **streams;
	size_t streams_count, streams_room;
};

/* In the order of the tables. */
void types_collect(
	struct types *t, struct arena *a, const struct resource *const *resources, size_t count);
/* Adds one more, with whatever it refers to. */
void types_add(struct types *t, struct arena *a, const struct schema *s, unsigned use);
/* In the order of names. */
void types_sort(struct types *t);
/* The schemas alone, for patterns_new(). */
const struct schema **types_schemas(const struct types *t, struct arena *a);
