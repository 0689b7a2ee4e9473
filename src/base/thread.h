/* thread.h - threads of the program.  Each has a stack besides its own for the handlers of signals: without
 * one a thread whose stack is used up dies without a word, because no handler can be called on it. */
#pragma once
#include <pthread.h>
#include <stdint.h>

/* As pthread_create with the usual attributes: 0, or an error number. */
int thread_start(pthread_t *ret, void *(*run)(void *data), void *data);

/* The same second stack for the thread that calls it, for as long as the process lives. */
void thread_spare_stack(void);

/* A condition that is waited for by the clock that nobody sets, and waiting for it: at most so many
 * milliseconds, perhaps less. */
void thread_cond_init(pthread_cond_t *cond);
void thread_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms);
