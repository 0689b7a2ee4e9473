/* peak.c - see peak.h. */
#include "peak.h"

#include <stdatomic.h>

#ifdef __SANITIZE_ADDRESS__
/* Of the sanitizer's allocator; not every compiler brings the header. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*taken)(const volatile void *, size_t), void (*given_back)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *at);

static _Atomic long long now, top, base;

static void taken(const volatile void *at, size_t size)
{
	long long have = atomic_fetch_add(&now, (long long)size) + (long long)size;
	long long most = top;

	(void)at;
	while (have > most && !atomic_compare_exchange_weak(&top, &most, have))
		;
}

static void given_back(const volatile void *at)
{
	if (at)
		atomic_fetch_sub(&now, (long long)__sanitizer_get_allocated_size(at));
}

bool peak_counts(void)
{
	return true;
}

void peak_begin(void)
{
	static bool counting;

	if (!counting)
		counting = __sanitizer_install_malloc_and_free_hooks(taken, given_back) != 0;
	base = now;
	top = base;
}

size_t peak_grown(void)
{
	return top > base ? (size_t)(top - base) : 0;
}
#else
bool peak_counts(void)
{
	return false;
}

void peak_begin(void)
{
}

size_t peak_grown(void)
{
	return 0;
}
#endif
