/* memory.h - memory of the process, and a reserve for the moment in which there is none.
 *
 * Requests are refused long before (docs/limits.md); this is for a machine
 * that gives less than it promised.  Whoever finds that malloc has nothing
 * left is given the reserve's, the service answers 503 until the reserve is
 * whole again, and what is under way comes to its end: whatever takes in what
 * others say (bodies, JSON, rows) stops at once, so that the reserve is only
 * needed for the few small things on the way out. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like malloc(), and like it freed; NULL only when the reserve is used up, too. */
void *memory_get(size_t size);
/* The same for those who could not go on without: waits for what others give back, MEMORY_WAIT_MS at most, then
 * ends the process with a sentence. */
void *memory_must(size_t size);
/* The same, zeroed. */
void *memory_zeroed(size_t size);
enum { MEMORY_WAIT_MS = 5000 };
/* Like malloc() and realloc(); they never touch the reserve, for their callers can do without. */
void *memory_try(size_t size);
void *memory_grow(void *at, size_t size);
/* Whether that much could be had now: asked before something large is begun that cannot stop half-way. */
bool memory_has(size_t size);
/* True while the reserve is given away and cannot be had back. */
bool memory_short(void);
/* True while it is given away; only looks. */
extern _Atomic bool memory_is_spent;
static inline bool memory_spent(void)
{
	return atomic_load_explicit(&memory_is_spent, memory_order_relaxed);
}
/* How often somebody was given nothing, or the reserve's: who has begun at one number and failed at another has
 * failed for want of memory, whatever else it looks like. */
uint64_t memory_refusals(void);
/* Takes the reserve; without it there is none.  False if there is no memory even for that. */
bool memory_reserve(size_t size);

/* Whose memory it is, and how much it may be; 0: any number. */
struct memory_account {
	_Atomic uint64_t held;
	_Atomic uint64_t peak; /* since somebody last looked and set it back */
	uint64_t max;
};

static inline bool memory_account_has_room(const struct memory_account *a)
{
	return !a || !a->max || atomic_load_explicit(&a->held, memory_order_relaxed) <= a->max;
}

static inline void memory_account_add(struct memory_account *a, int64_t by)
{
	uint64_t now = atomic_fetch_add_explicit(&a->held, (uint64_t)by, memory_order_relaxed) +
		       (uint64_t)by;

	/* Two at once may forget one of them: it only says when to clear up. */
	if (by > 0 && now > atomic_load_explicit(&a->peak, memory_order_relaxed))
		atomic_store_explicit(&a->peak, now, memory_order_relaxed);
}

/* What the process may have at most, by the limits that are set for it (its control group, RLIMIT_AS, the
 * machine's own memory); 0 if nobody says. */
uint64_t memory_limit(void);

/* What the tests may order: every malloc() here fails, from the nth on, so many times. */
#ifdef LODGE_FAULTS
struct memory_fault {
	_Atomic int64_t at;	 /* counts down; at 1 the failures begin */
	_Atomic int64_t times;	 /* how many there are still to be */
	_Atomic int64_t asked;	 /* how many were asked for, with or without failure */
	_Atomic int64_t wait_ms; /* in the place of MEMORY_WAIT_MS; 0: that */
};
extern struct memory_fault memory_fault;
#endif
