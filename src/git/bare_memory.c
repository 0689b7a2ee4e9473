/* bare_memory.c - how much the library may take to read one object; see bare_parts.h.
 *
 * An object may be kept as a difference from another, and that from a third.
 * The size that its header tells is its own; what the library inflates on the
 * way there is as large as whoever pushed it wanted.  Each of those is one
 * allocation, so that a bound on allocations is a bound on all of them, in
 * whichever pack they lie, and costs an ordinary read two comparisons. */
#include "git/bare_parts.h"

#include <git2/sys/alloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BESIDES = 4096 /* what the library puts around an object */ };
static const size_t work_max = (size_t)1 << 30; /* bytes of all steps to an object */

/* Of the thread, whose one read it is. */
static _Thread_local struct {
	bool reads, refused;
	size_t largest, left;
} at_hand;

static bool may_take(size_t n)
{
	if (!at_hand.reads)
		return true;
	if (n > at_hand.largest || n > at_hand.left) {
		at_hand.refused = true;
		return false;
	}
	at_hand.left -= n;
	return true;
}

static void *take(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return may_take(n) ? malloc(n ? n : 1) : NULL;
}

static void *take_again(void *was, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return may_take(n) ? realloc(was, n ? n : 1) : NULL;
}

static void *take_zeroed(size_t count, size_t each, const char *file, int line)
{
	size_t n;

	(void)file;
	(void)line;
	if (__builtin_mul_overflow(count, each, &n) || !may_take(n))
		return NULL;
	return calloc(n ? n : 1, 1);
}

static void *take_array(size_t count, size_t each, const char *file, int line)
{
	size_t n;

	return __builtin_mul_overflow(count, each, &n) ? NULL : take(n, file, line);
}

static void *take_array_again(void *was, size_t count, size_t each, const char *file, int line)
{
	size_t n;

	return __builtin_mul_overflow(count, each, &n) ? NULL : take_again(was, n, file, line);
}

static char *copy_bytes(const char *from, size_t n, const char *file, int line)
{
	char *copy = n < SIZE_MAX ? take(n + 1, file, line) : NULL;

	if (copy) {
		memcpy(copy, from, n);
		copy[n] = '\0';
	}
	return copy;
}

static char *copy_text(const char *from, const char *file, int line)
{
	return copy_bytes(from, strlen(from), file, line);
}

static char *copy_beginning(const char *from, size_t n, const char *file, int line)
{
	return copy_bytes(from, strnlen(from, n), file, line);
}

void bare_memory_begin(void)
{
	static git_allocator ours = { .gmalloc = take,
		.gcalloc = take_zeroed,
		.gstrdup = copy_text,
		.gstrndup = copy_beginning,
		.gsubstrdup = copy_bytes,
		.grealloc = take_again,
		.greallocarray = take_array_again,
		.gmallocarray = take_array,
		.gfree = free };

	git_libgit2_opts(GIT_OPT_SET_ALLOCATOR, &ours);
}

void bare_read_begin(size_t size)
{
	at_hand.reads = true;
	at_hand.refused = false;
	at_hand.largest = (size > BARE_BASE_MAX ? size : BARE_BASE_MAX) + BESIDES;
	at_hand.left = work_max + 2 * at_hand.largest;
}

bool bare_read_end(void)
{
	at_hand.reads = false;
	return at_hand.refused;
}
