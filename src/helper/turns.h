/* turns.h - who has one of a few places next, so that no owner keeps another waiting.
 *
 * One owner has all places but one at most, if there is more than one; and
 * whoever gets a place comes behind all others with the rest of what they wait
 * for.  So an owner who asks for much waits for himself, and owners take turns
 * in the order in which they came. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One stay, from when somebody asks for a place until they leave it; theirs, and untouched meanwhile. */
struct turn {
	const char *whose;
	struct turn *next;
	bool running;
};

struct turns {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t places;
	struct turn *
		first; /* under the lock, with all that follows: those who wait are in the order of their turns */
};

void turns_init(struct turns *t, size_t places);
void turns_free(struct turns *t);
/* Waits for a place, so many milliseconds at most; false if there was none.  mine->whose is set. */
bool turns_take(struct turns *t, struct turn *mine, int64_t ms);
void turns_leave(struct turns *t, const struct turn *mine);
