/* arena.h - memory with one owner and one end.
 *
 * Everything made for a request lives in its arena and goes with it.  An
 * arena never answers NULL.  One that has a maximum may pass it by what is
 * asked for at once; whoever fills it with what others say - the reader of
 * JSON, the store with its rows, the reader of archives - asks whether it is
 * full, and for anything large whether there is room for it, and stops. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"

struct arena_chunk;
struct arena_defer;

struct arena {
	char *at, *end;		    /* what is left of the current chunk */
	struct arena_chunk *chunks; /* newest first */
	struct arena_defer *defers; /* newest first */
	size_t total;		    /* bytes asked of malloc and still held */
	size_t max;		    /* the most it should hold; 0: no matter */
	bool failed;		    /* there was no room for something large */
	/* What it holds beyond ARENA_UNMETERED is added here as it grows, and while there is no room the arena
	 * is full; NULL: nobody counts. */
	struct memory_account *meter;
	size_t metered;
};

enum { ARENA_LARGE = 64 * 1024, ARENA_UNMETERED = 256 * 1024 };

static inline bool arena_full(const struct arena *a)
{
	return a->failed || (a->max && (a->total > a->max || memory_spent())) ||
	       (a->metered && !memory_account_has_room(a->meter));
}

/* Whether there is room for so many bytes at once, beyond ARENA_LARGE; it is there then.  If not, the arena
 * is full from now on, whether or not it has a maximum. */
bool arena_room(struct arena *a, size_t size);

/* Zeroed and aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* Like arena_alloc, but the bytes are not cleared. */
void *arena_raw(struct arena *a, size_t size, size_t align);
char *arena_strndup(struct arena *a, const char *text, size_t len);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);

struct buf;
/* What the buffer holds, as text that lasts; the buffer gives its own back. */
char *arena_take(struct arena *a, struct buf *b);

/* Runs fn(data) when the arena is reset, newest first. */
void arena_defer(struct arena *a, void (*fn)(void *), void *data);

/* Runs the defers and forgets everything, but keeps one small chunk for the next use. */
void arena_reset(struct arena *a);
/* Runs the defers and gives everything back. */
void arena_free(struct arena *a);
/* The same, and nothing of what was in it stays in memory: where there were secrets. */
void arena_wipe(struct arena *a);

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (n)))
