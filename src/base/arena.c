/* arena.c - chunked bump allocation; see arena.h.
 *
 * Under AddressSanitizer the unused tail of every chunk is poisoned, so that
 * an overrun inside an arena is caught like one on the heap. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 8 };
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
enum { RED_ZONE = 0 };
#endif

enum { FIRST_CHUNK = 8 * 1024, LATER_CHUNK = 32 * 1024, KEEP_CHUNK = 16 * 1024 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size; /* of the bytes that follow */
	_Alignas(max_align_t) char bytes[];
};

struct arena_defer {
	struct arena_defer *next;
	void (*fn)(void *);
	void *data;
};

static void arena_meter_update(struct arena *a)
{
	size_t now = a->total > ARENA_UNMETERED ? a->total : 0;

	if (!a->meter || now == a->metered)
		return;
	memory_account_add(a->meter, (int64_t)now - (int64_t)a->metered);
	a->metered = now;
}

static void chunk_add(struct arena *a, struct arena_chunk *chunk, size_t size)
{
	chunk->size = size;
	chunk->next = a->chunks;
	a->chunks = chunk;
	a->total += size;
	arena_meter_update(a);
	a->at = chunk->bytes;
	a->end = chunk->bytes + size;
	ASAN_POISON_MEMORY_REGION(chunk->bytes, size);
}

bool arena_room(struct arena *a, size_t size)
{
	enum { BESIDES = 2 * sizeof(max_align_t) + RED_ZONE }; /* its end, and how it lies */
	struct arena_chunk *chunk;

	if (size <= ARENA_LARGE || (a->at && size + BESIDES <= (size_t)(a->end - a->at)))
		return true;
	chunk = arena_full(a) ? NULL : memory_try(sizeof *chunk + size + BESIDES);
	if (chunk)
		chunk_add(a, chunk, size + BESIDES);
	else
		a->failed = true;
	return chunk != NULL;
}

void *arena_raw(struct arena *a, size_t size, size_t align)
{
	size_t pad = a->at ? (size_t)(-(uintptr_t)a->at & (align - 1)) : 0;
	char *p;

	if (!a->at || size + RED_ZONE + pad > (size_t)(a->end - a->at)) {
		size_t least = a->chunks ? LATER_CHUNK : FIRST_CHUNK, chunk;

		INVARIANT(size <= SIZE_MAX / 2); /* or a length was subtracted from a shorter one */
		chunk = size + RED_ZONE > least ? size + RED_ZONE : least;
		chunk_add(a, memory_must(sizeof(struct arena_chunk) + chunk), chunk);
		pad = 0;
	}
	INVARIANT(align && (align & (align - 1)) == 0 && a->at <= a->end);
	p = a->at + pad;
	a->at = p + size + RED_ZONE;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(arena_raw(a, size, _Alignof(max_align_t)), 0, size);
}

char *arena_strndup(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_raw(a, len + 1, 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *arena_take(struct arena *a, struct buf *b)
{
	char *text = arena_strndup(a, b->at ? b->at : "", b->len);

	buf_free(b);
	return text;
}

char *arena_strdup(struct arena *a, const char *text)
{
	return arena_strndup(a, text, strlen(text));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char small[256], *text;
	int len;

	va_copy(again, ap);
	len = vsnprintf(small, sizeof small, fmt, ap);
	if (len < 0)
		len = 0;
	if ((size_t)len < sizeof small) {
		text = arena_strndup(a, small, (size_t)len);
	} else {
		text = arena_raw(a, (size_t)len + 1, 1);
		vsnprintf(text, (size_t)len + 1, fmt, again);
	}
	va_end(again);
	return text;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return text;
}

void arena_defer(struct arena *a, void (*fn)(void *), void *data)
{
	struct arena_defer *d = arena_new(a, struct arena_defer);

	d->fn = fn;
	d->data = data;
	d->next = a->defers;
	a->defers = d;
}

static void run_defers(struct arena *a)
{
	while (a->defers) {
		struct arena_defer *d = a->defers;

		a->defers = d->next;
		d->fn(d->data);
	}
}

static void chunk_free(struct arena *a, struct arena_chunk *chunk)
{
	INVARIANT(chunk->size <= a->total);
	ASAN_UNPOISON_MEMORY_REGION(chunk->bytes, chunk->size);
	a->total -= chunk->size;
	arena_meter_update(a);
	free(chunk);
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *keep = NULL;

	run_defers(a);
	a->failed = false;
	while (a->chunks) {
		struct arena_chunk *chunk = a->chunks;

		a->chunks = chunk->next;
		if (!keep && chunk->size <= KEEP_CHUNK)
			keep = chunk;
		else
			chunk_free(a, chunk);
	}
	a->at = a->end = NULL;
	if (keep) {
		keep->next = NULL;
		a->chunks = keep;
		a->at = keep->bytes;
		a->end = keep->bytes + keep->size;
		ASAN_POISON_MEMORY_REGION(keep->bytes, keep->size);
	}
}

void arena_free(struct arena *a)
{
	run_defers(a);
	while (a->chunks) {
		struct arena_chunk *chunk = a->chunks;

		a->chunks = chunk->next;
		chunk_free(a, chunk);
	}
	a->at = a->end = NULL;
}

void arena_wipe(struct arena *a)
{
	run_defers(a);
	for (struct arena_chunk *chunk = a->chunks; chunk; chunk = chunk->next) {
		ASAN_UNPOISON_MEMORY_REGION(chunk->bytes, chunk->size);
		explicit_bzero(chunk->bytes, chunk->size);
	}
	arena_free(a);
}
