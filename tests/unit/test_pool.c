/* test_pool.c - threads for what takes long: everybody gets a turn, and nobody all the room. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/pool.h"
#include "t.h"

enum { MOST = 400 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open; /* pieces called ! may end; those called ? end when they are withdrawn */
	int begun, done;
	char order[MOST + 1];
} slow = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void open_gate(bool open)
{
	pthread_mutex_lock(&slow.lock);
	slow.open = open;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
}

static void begin(bool open)
{
	slow.begun = slow.done = 0;
	open_gate(open);
}

struct piece {
	struct work work;
	char name;
};

static int piece_run(struct work *w, struct db *db)
{
	struct piece *p = (struct piece *)w;

	(void)db;
	pthread_mutex_lock(&slow.lock);
	slow.begun++;
	pthread_cond_broadcast(&slow.changed);
	while (p->name == '!' && !slow.open)
		pthread_cond_wait(&slow.changed, &slow.lock);
	pthread_mutex_unlock(&slow.lock);
	while (p->name == '?' && !w->withdrawn)
		usleep(100);
	return 0;
}

static void piece_done(struct work *w, int err)
{
	struct piece *p = (struct piece *)w;

	CHECK_INT(err, 0);
	pthread_mutex_lock(&slow.lock);
	slow.order[slow.done++] = p->name;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
}

static int submit(struct pool *p, struct piece *piece, const char *owner, char name)
{
	*piece = (struct piece){ { .run = piece_run, .done = piece_done }, name };
	return pool_submit(p, owner, &piece->work);
}

TEST(pool_tenants_take_turns_and_have_a_share)
{
	struct pool *p = pool_new_shared(1, MOST);
	struct piece *pieces = calloc(MOST, sizeof *pieces);
	int count = 0, waiting = 0;

	begin(false);
	/* the one thread is taken, and much of one tenant stands in line before anybody else comes */
	CHECK_INT(submit(p, &pieces[count++], "a", '!'), 0);
	pthread_mutex_lock(&slow.lock);
	while (!slow.begun)
		pthread_cond_wait(&slow.changed, &slow.lock);
	pthread_mutex_unlock(&slow.lock);
	while (waiting < MOST && submit(p, &pieces[count], "a", 'a') == 0)
		count++, waiting++;
	CHECK_INT(waiting, MOST / POOL_SHARE);
	CHECK_INT(submit(p, &pieces[count++], "b", 'b'), 0);
	CHECK_INT(submit(p, &pieces[count++], NULL, 's'), 0);
	CHECK_INT(submit(p, &pieces[count++], "b", 'b'), 0);
	open_gate(true);
	pthread_mutex_lock(&slow.lock);
	while (slow.done < count)
		pthread_cond_wait(&slow.changed, &slow.lock);
	pthread_mutex_unlock(&slow.lock);
	slow.order[7] = '\0';
	CHECK_STR(slow.order, "!absaba");
	pool_free(p);
	free(pieces);
}

/* Until so many have begun and ended; false if that does not come about. */
static bool await(int begun, int done)
{
	struct timespec until;
	bool came;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	pthread_mutex_lock(&slow.lock);
	while ((slow.begun < begun || slow.done < done) &&
		pthread_cond_timedwait(&slow.changed, &slow.lock, &until) == 0)
		;
	came = slow.begun == begun && slow.done == done;
	pthread_mutex_unlock(&slow.lock);
	return came;
}

/* What waits for long hears so, though all threads are in something that takes longer. */
TEST(pool_ends_what_has_waited_for_too_long)
{
	struct pool *p = pool_new_shared(1, MOST);
	struct piece held, late, other;

	begin(false);
	CHECK_INT(submit(p, &held, "a", '!'), 0);
	CHECK(await(1, 0));
	CHECK_INT(submit(p, &late, "a", 'l'), 0);
	CHECK_INT(submit(p, &other, "b", 'o'), 0);
	pool_withdraw_late(p, 60000);
	CHECK_INT(pool_stats(p).waiting, 2);
	pool_withdraw_late(p, 0);
	CHECK(await(3, 2));
	CHECK(late.work.late && late.work.withdrawn && other.work.late);
	CHECK(!held.work.late && !held.work.withdrawn);
	open_gate(true);
	CHECK(await(3, 3));
	pool_free(p);
}

/* However much a tenant asks for, the next to come finds a thread. */
TEST(pool_tenants_leave_a_thread_to_others)
{
	enum { OF_ONE = 6 };

	for (int threads = 2; threads <= 4; threads++) {
		struct pool *p = pool_new_shared((size_t)threads, MOST);
		struct piece pieces[OF_ONE + 3];
		int taken = threads - 1;

		test_step("%d threads", threads);
		begin(false);
		for (int i = 0; i < OF_ONE; i++)
			CHECK_INT(submit(p, &pieces[i], "a", '!'), 0);
		CHECK(await(taken, 0));
		for (int i = 0; i < 3;
			i++) { /* one after the other: the thread is free again each time */
			CHECK_INT(submit(p, &pieces[OF_ONE + i], i == 1 ? NULL : "b", 'b'), 0);
			CHECK(await(taken + i + 1, i + 1));
		}
		CHECK_INT(pool_stats(p).waiting, OF_ONE - taken);
		open_gate(true);
		CHECK(await(OF_ONE + 3, OF_ONE + 3));
		pool_free(p);
	}
}

/* What waits when the threads are told to stop is done before they do, also in a lane that has its part. */
TEST(pool_threads_end_with_nothing_left)
{
	enum { OF_ONE = 40 };
	struct pool *p = pool_new_shared(3, MOST);
	struct piece pieces[OF_ONE];

	begin(true);
	for (int i = 0; i < OF_ONE; i++)
		CHECK_INT(submit(p, &pieces[i], "a", 'a'), 0);
	pool_free(p);
	CHECK_INT(slow.done, OF_ONE);
}

/* What one owner may not have is refused, and leaves nothing. */
TEST(pool_without_room_takes_nothing)
{
	struct pool *none = pool_new_shared(1, 0), *few = pool_new_shared(1, POOL_SHARE - 1);
	struct piece piece;

	begin(true);
	CHECK_INT(submit(none, &piece, "a", 'a'), ERR_BUSY);
	CHECK_INT(submit(none, &piece, NULL, 'a'), ERR_BUSY);
	CHECK_INT(submit(few, &piece, "a", 'a'), ERR_BUSY); /* a part of so little is nothing */
	CHECK_INT(submit(few, &piece, NULL, 's'), 0);
	CHECK(await(1, 1));
	pool_free(none);
	pool_free(few);
}

/* What is withdrawn comes to its end before what waits, though every thread is in something that takes long; and so does
 * all that is there when the pool ends. */
TEST(pool_ends_what_is_withdrawn_first)
{
	enum { THREADS = 2, COUNT = 6 };
	struct pool *p = pool_new(&(struct pool_settings){
		.threads = THREADS, .waiting = MOST, .waiting_each = MOST, .withdraws = true });
	struct piece pieces[COUNT];

	begin(false);
	for (int i = 0; i < COUNT; i++)
		CHECK_INT(submit(p, &pieces[i], "a", i < THREADS ? '!' : (char)('a' + i)), 0);
	CHECK(await(THREADS, 0));
	pool_withdraw(p, &pieces[4].work);
	CHECK(await(THREADS + 1, 1));
	CHECK_INT(slow.order[0], 'e');
	CHECK(pieces[4].work.withdrawn && !pieces[3].work.withdrawn);
	CHECK_INT(pool_stats(p).waiting, COUNT - THREADS - 1);
	test_step("the others go on");
	open_gate(true);
	CHECK(await(COUNT, COUNT));
	CHECK_INT(pool_stats(p).begun, COUNT);
	begin(false);
	test_step("the end");
	for (int i = 0; i < COUNT; i++)
		CHECK_INT(submit(p, &pieces[i], "b", i < THREADS ? '?' : 'b'), 0);
	pool_free(p);
	CHECK_INT(slow.done, COUNT);
	for (int i = THREADS; i < COUNT; i++)
		CHECK(pieces[i].work.withdrawn);
}

/* Threads that are begun when there is need end when there is none, and others are begun after them. */
static bool count_idle(void *ctx, const _Atomic bool *stopping)
{
	(void)stopping;
	pthread_mutex_lock(&slow.lock);
	++*(int *)ctx;
	pthread_cond_broadcast(&slow.changed);
	pthread_mutex_unlock(&slow.lock);
	return false;
}

TEST(pool_threads_come_and_go)
{
	enum { ROUNDS = 100 };
	int idle = 0;
	struct pool *p = pool_new(&(struct pool_settings){ .threads = 1,
		.waiting = MOST,
		.waiting_each = MOST,
		.idle = count_idle,
		.ctx = &idle });
	struct piece piece;

	begin(true);
	for (int i = 1; i <= ROUNDS; i++) {
		CHECK_INT(submit(p, &piece, "a", 'a'), 0);
		CHECK(await(i, i));
		pthread_mutex_lock(&slow.lock);
		while (i % 10 == 0 && idle < i / 10) /* else the next comes as the thread leaves */
			pthread_cond_wait(&slow.changed, &slow.lock);
		pthread_mutex_unlock(&slow.lock);
	}
	pool_free(p);
	CHECK(idle > 0);
}
