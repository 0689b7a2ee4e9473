/* arena.h - memory with one owner and one end.
 *
 * Everything made for a request lives in its arena and goes with it.  An
 * arena never answers NULL: a process that cannot get memory stops with a
 * sentence.  Sizes are policed where data enters, not here. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;
struct arena_defer;

struct arena {
	char *at, *end;		    /* what is left of the current chunk */
	struct arena_chunk *chunks; /* newest first */
	struct arena_defer *defers; /* newest first */
	size_t total;		    /* bytes asked of malloc and still held */
};

/* Zeroed and aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* Like arena_alloc, but the bytes are not cleared. */
void *arena_raw(struct arena *a, size_t size, size_t align);
char *arena_strndup(struct arena *a, const char *text, size_t len);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);

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
