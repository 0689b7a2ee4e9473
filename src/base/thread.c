/* thread.c - see thread.h. */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Of which only what a handler touches is ever there. */
enum { SPARE_BYTES = 128 << 10 };

struct thread_order {
	void *(*run)(void *data);
	void *data;
};

/* NULL if there is one already (a sanitizer's), or none can be had: then it is as without. */
static void *spare_begin(void)
{
	stack_t now, spare = { .ss_size = SPARE_BYTES };

	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return NULL;
	spare.ss_sp = mmap(NULL, SPARE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (spare.ss_sp == MAP_FAILED)
		return NULL;
	if (sigaltstack(&spare, NULL)) {
		munmap(spare.ss_sp, SPARE_BYTES);
		return NULL;
	}
	return spare.ss_sp;
}

static void spare_end(void *spare)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	if (spare && !sigaltstack(&none, NULL))
		munmap(spare, SPARE_BYTES);
}

static void *thread_main(void *data)
{
	struct thread_order order = *(struct thread_order *)data;
	void *spare = spare_begin(), *result;

	free(data);
	result = order.run(order.data);
	spare_end(spare);
	return result;
}

int thread_start(pthread_t *ret, void *(*run)(void *data), void *data)
{
	struct thread_order *order = malloc(sizeof *order);
	int err;

	if (!order)
		return ENOMEM;
	*order = (struct thread_order){ run, data };
	err = pthread_create(ret, NULL, thread_main, order);
	if (err)
		free(order);
	return err;
}

void thread_spare_stack(void)
{
	spare_begin();
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void thread_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	due.tv_sec += ms / 1000;
	due.tv_nsec += ms % 1000 * 1000000;
	if (due.tv_nsec >= 1000000000) {
		due.tv_sec++;
		due.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(cond, lock, &due);
}
