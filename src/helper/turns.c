/* turns.c - see turns.h. */
#include "helper/turns.h"

#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

void turns_init(struct turns *t, size_t places)
{
	*t = (struct turns){ .places = places };
	pthread_mutex_init(&t->lock, NULL);
	thread_cond_init(&t->changed);
}

void turns_free(struct turns *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

static bool is_same_owner(const struct turn *a, const struct turn *b)
{
	return strcmp(a->whose, b->whose) == 0;
}

/* How many places are taken, by one owner or by all. */
static size_t count_taken(const struct turns *t, const struct turn *of)
{
	size_t n = 0;

	for (const struct turn *one = t->first; one; one = one->next)
		n += one->running && (!of || is_same_owner(one, of));
	return n;
}

/* The first that waits and whose owner may have one more. */
static bool comes_next(const struct turns *t, const struct turn *mine)
{
	size_t each = t->places > 1 ? t->places - 1 : 1;
	const struct turn *one = t->first;

	if (count_taken(t, NULL) >= t->places)
		return false;
	while (one && (one->running || count_taken(t, one) >= each))
		one = one->next;
	return one == mine;
}

static void add_turn(struct turns *t, struct turn *mine)
{
	struct turn **at = &t->first;

	while (*at)
		at = &(*at)->next;
	mine->next = NULL;
	mine->running = false;
	*at = mine;
}

static void drop_turn(struct turns *t, const struct turn *mine)
{
	struct turn **at = &t->first;

	while (*at != mine)
		at = &(*at)->next;
	*at = mine->next;
}

/* What its owner waits for besides goes behind all others, in the order that it has. */
static void put_others_back(struct turns *t, const struct turn *mine)
{
	struct turn *back = NULL, **end = &back, **at = &t->first;

	while (*at) {
		struct turn *one = *at;

		if (one->running || !is_same_owner(one, mine)) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		one->next = NULL;
		*end = one;
		end = &one->next;
	}
	*at = back;
}

bool turns_take(struct turns *t, struct turn *mine, int64_t ms)
{
	int64_t until = clock_mono_ms() + ms;

	pthread_mutex_lock(&t->lock);
	add_turn(t, mine);
	while (!comes_next(t, mine) && clock_mono_ms() < until)
		thread_wait_ms(&t->changed, &t->lock, until - clock_mono_ms());
	mine->running = comes_next(t, mine);
	if (mine->running)
		put_others_back(t, mine);
	else
		drop_turn(t, mine);
	pthread_cond_broadcast(&t->changed); /* the next may have a place, too */
	pthread_mutex_unlock(&t->lock);
	return mine->running;
}

void turns_leave(struct turns *t, const struct turn *mine)
{
	pthread_mutex_lock(&t->lock);
	drop_turn(t, mine);
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}
