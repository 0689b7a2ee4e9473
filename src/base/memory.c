/* memory.c - see memory.h. */
#include "base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;
static void *reserve;
static size_t reserve_size;
static size_t reserve_left; /* of one that is given away */
_Atomic bool memory_is_spent;
static _Atomic uint64_t refusals;

#ifdef LODGE_FAULTS
struct memory_fault memory_fault;

/* LODGE_FAULT=memory:N:TIMES */
__attribute__((constructor)) static void read_order(void)
{
	const char *order = getenv("LODGE_FAULT");
	char *rest = NULL;

	if (!order || strncmp(order, "memory:", 7) != 0)
		return;
	memory_fault.at = strtoll(order + 7, &rest, 10);
	memory_fault.times = *rest == ':' ? strtoll(rest + 1, NULL, 10) : INT64_MAX;
}

static bool is_ordered(void)
{
	int64_t left = memory_fault.at;

	atomic_fetch_add(&memory_fault.asked, 1);
	while (left > 1)
		if (atomic_compare_exchange_weak(&memory_fault.at, &left, left - 1))
			return false;
	if (left < 1)
		return false;
	left = memory_fault.times;
	while (left > 0)
		if (atomic_compare_exchange_weak(&memory_fault.times, &left, left - 1))
			return true;
	return false;
}

static int patience_ms(void)
{
	int64_t ordered = memory_fault.wait_ms;

	return ordered ? (int)ordered : MEMORY_WAIT_MS;
}
#else
#define is_ordered() false
#define patience_ms() MEMORY_WAIT_MS
#endif

static void *count_if_refused(void *p)
{
	if (!p)
		atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
	return p;
}

uint64_t memory_refusals(void)
{
	return atomic_load_explicit(&refusals, memory_order_relaxed);
}

void *memory_try(size_t size)
{
	return count_if_refused(is_ordered() ? NULL : malloc(size));
}

void *memory_grow(void *at, size_t size)
{
	return count_if_refused(is_ordered() ? NULL : realloc(at, size));
}

bool memory_has(size_t size)
{
	void *p = memory_try(size);

	free(p);
	return p != NULL;
}

/* What it gives is counted, so that nothing is promised of it twice. */
static void *spend_reserve(size_t size)
{
	void *p = NULL;

	pthread_mutex_lock(&reserve_lock);
	if (reserve) {
		free(reserve);
		reserve = NULL;
		reserve_left = reserve_size;
		atomic_store(&memory_is_spent, true);
	}
	if (size <= reserve_left && (p = malloc(size)))
		reserve_left -= size;
	pthread_mutex_unlock(&reserve_lock);
	return p;
}

void *memory_get(size_t size)
{
	void *p = memory_try(size);

	return p ? p : spend_reserve(size);
}

void *memory_must(size_t size)
{
	static const struct timespec step = { .tv_nsec = 10 * 1000000 };
	void *p = memory_get(size);

	for (int waited = 0; !p && waited < patience_ms(); waited += 10) {
		nanosleep(&step, NULL);
		p = memory_try(size);
	}
	if (!p) {
		fprintf(stderr, "lodge: out of memory (%zu bytes)\n", size);
		abort();
	}
	return p;
}

void *memory_zeroed(size_t size)
{
	return memset(memory_must(size), 0, size);
}

bool memory_reserve(size_t size)
{
	bool whole;

	pthread_mutex_lock(&reserve_lock);
	reserve_size = size;
	if (!reserve)
		reserve = memory_try(size);
	whole = reserve != NULL;
	atomic_store(&memory_is_spent, !whole);
	pthread_mutex_unlock(&reserve_lock);
	return whole;
}

bool memory_short(void)
{
	return memory_spent() && !memory_reserve(reserve_size);
}
