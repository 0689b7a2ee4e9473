/* test_helper_turns.c - places that owners share: who has one next, whoever asked for much before. */
#include <pthread.h>
#include <unistd.h>

#include "helper/turns.h"
#include "t.h"

enum { LONG_MS = 30000 };

struct guest {
	struct turns *turns;
	struct turn turn;
	char *came; /* the names of those who had a turn, in order; under the lock of the turns */
	pthread_t thread;
};

static void *wait_for_turn(void *data)
{
	struct guest *g = data;

	if (!turns_take(g->turns, &g->turn, LONG_MS))
		return NULL;
	pthread_mutex_lock(&g->turns->lock);
	strcat(g->came, g->turn.whose);
	pthread_mutex_unlock(&g->turns->lock);
	turns_leave(g->turns, &g->turn);
	return NULL;
}

/* How many there are, with those that have a place. */
static int count_turns(struct turns *t)
{
	int n = 0;

	pthread_mutex_lock(&t->lock);
	for (const struct turn *one = t->first; one; one = one->next)
		n++;
	pthread_mutex_unlock(&t->lock);
	return n;
}

static void add_guest(struct guest *g)
{
	int before = count_turns(g->turns);

	CHECK_INT(pthread_create(&g->thread, NULL, wait_for_turn, g), 0);
	while (count_turns(g->turns) == before)
		usleep(1000);
}

TEST(helper_turns_leave_one_place_to_others)
{
	struct turn first = { .whose = "a" }, second = first, other = { .whose = "b" };
	struct turns t;

	turns_init(&t, 2);
	CHECK(turns_take(&t, &first, 0));
	CHECK(!turns_take(&t, &second, 0));
	CHECK_INT(count_turns(&t), 1);
	CHECK(turns_take(&t, &other, 0));
	turns_leave(&t, &first);
	CHECK(turns_take(&t, &second, 0));
	turns_leave(&t, &second);
	turns_leave(&t, &other);
	turns_free(&t);
	test_step("where there is one place, everybody may have it");
	turns_init(&t, 1);
	CHECK(turns_take(&t, &first, 0));
	CHECK(!turns_take(&t, &other, 0));
	turns_leave(&t, &first);
	CHECK(turns_take(&t, &other, 0));
	turns_leave(&t, &other);
	turns_free(&t);
}

TEST(helper_turns_are_taken_owner_by_owner)
{
	static const char *const names[] = { "a", "a", "a", "b", "c", "b" };
	enum { GUESTS = sizeof names / sizeof *names };
	struct guest guests[GUESTS];
	struct turn one = { .whose = "x" }, two = { .whose = "y" };
	char came[GUESTS + 1] = "";
	struct turns t;

	turns_init(&t, 2);
	CHECK(turns_take(&t, &one, 0));
	CHECK(turns_take(&t, &two, 0));
	for (size_t i = 0; i < GUESTS; i++) {
		guests[i] = (struct guest){ .turns = &t, .turn.whose = names[i], .came = came };
		add_guest(&guests[i]);
	}
	test_step("one place becomes free: they go through it one after the other");
	turns_leave(&t, &one);
	for (size_t i = 0; i < GUESTS; i++)
		pthread_join(guests[i].thread, NULL);
	CHECK_STR(came, "abcaba");
	turns_leave(&t, &two);
	CHECK_INT(count_turns(&t), 0);
	turns_free(&t);
}
