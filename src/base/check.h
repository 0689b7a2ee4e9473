/* check.h - what must hold, looked at where it is cheap, in every build.
 *
 * An INVARIANT is about this program: who owns something, in which state it is,
 * that a length is within its capacity.  A broken one means that the code is
 * wrong, and going on could write nonsense into the store; so the process says
 * which and ends with SIGABRT, as from any other fault (queue/crash.h).  What
 * somebody outside can bring about is never an invariant: it is an error, with a
 * code and a sentence. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

#define INVARIANT(condition)                          \
	(__builtin_expect(!!(condition), 1) ? (void)0 \
					    : invariant_broken(__FILE__, __LINE__, #condition))

_Noreturn void invariant_broken(const char *file, int line, const char *condition)
	__attribute__((cold));

/* The one move of a machine of states: `moves` has, for each state, a bit for each that may follow. */
#define INVARIANT_MOVE(moves, from, to) INVARIANT((moves)[from] >> (to)&1)

/* A thread that something belongs to.  Nobody's until it is claimed; whatever is nobody's may be touched by any. */
struct thread_owner {
	const void *_Atomic thread;
};

/* The calling thread has it from now on; it must have been nobody's, or this thread's. */
void thread_owner_claim(struct thread_owner *o);
/* It is nobody's again. */
void thread_owner_leave(struct thread_owner *o);
/* May the calling thread touch it? */
bool thread_owner_is(const struct thread_owner *o);
