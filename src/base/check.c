/* check.c - see check.h. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without a lock and without memory: whoever comes here may hold the one and lack the other. */
_Noreturn void invariant_broken(const char *file, int line, const char *condition)
{
	const char *name = strstr(file, "src/");
	char text[512];
	int len = snprintf(text, sizeof text,
		"lodge: %s:%d: this must hold and does not: %s; the program is wrong, and ends\n",
		name ? name : file, line, condition);
	ssize_t n =
		write(STDERR_FILENO, text, len < (int)sizeof text ? (size_t)len : sizeof text - 1);

	(void)n; /* there is nothing to be done about it */
	abort();
}

/* Its address is another in each thread. */
static _Thread_local char thread_mark;

void thread_owner_claim(struct thread_owner *o)
{
	INVARIANT(thread_owner_is(o));
	atomic_store_explicit(&o->thread, &thread_mark, memory_order_relaxed);
}

void thread_owner_leave(struct thread_owner *o)
{
	INVARIANT(thread_owner_is(o));
	atomic_store_explicit(&o->thread, NULL, memory_order_relaxed);
}

bool thread_owner_is(const struct thread_owner *o)
{
	const void *thread = atomic_load_explicit(&o->thread, memory_order_relaxed);

	return !thread || thread == &thread_mark;
}
