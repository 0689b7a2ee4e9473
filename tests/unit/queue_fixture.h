/* queue_fixture.h - a store with tenants in it and runners on it, without the rest of the service. */
#pragma once
#include <pthread.h>

#include "fixture.h"
#include "queue/runner.h"

enum {
	QUEUE_FIXTURE_TENANTS = 4,
	QUEUE_FIXTURE_LOG = 20000,
	QUEUE_FIXTURE_KINDS = 3,
	PATIENCE_MS = 60000
};

/* A job as it was begun. */
struct begun {
	struct job *job; /* NULL once it is over */
	char id[26], subject[64];
	int tenant, attempts;
	_Atomic bool stopped;
};

struct queue_fixture {
	struct arena arena;
	const char *where, *folder;
	bool peopled; /* its tenants have been made */
	struct store *store;
	struct db *db; /* for looking */
	char tenants[QUEUE_FIXTURE_TENANTS][26];
	pthread_mutex_t lock;
	struct begun *log;
	size_t count;
	struct job_kind kinds
		[QUEUE_FIXTURE_KINDS]; /* quick: finished at once; slow: waits for the test; broken: fails */
	_Atomic size_t over;
};

struct queue_fixture *queue_fixture_open(void);
/* The same with runners on it, which the test starts; they are freed after queue_stage_close(). */
struct queue_fixture *queue_fixture_open_with(
	struct runner_settings *settings, struct runner **runners, size_t count);
/* In pieces: a place without a store yet; its store, opened (again); and shut. */
struct queue_fixture *queue_fixture_place(void);
void queue_fixture_reopen(struct queue_fixture *s, struct runner_settings *settings,
	struct runner **runners, size_t count);
void queue_fixture_shut(struct queue_fixture *s);
void queue_fixture_close(struct queue_fixture *s);

/* In a transaction of its own; the id is in the fixture's arena. */
const char *queue_fixture_add(struct queue_fixture *s, int tenant, const struct job_new *in);
void queue_fixture_add_many(
	struct queue_fixture *s, int tenant, const struct job_new *in, int count);
/* Waits until so many were begun. */
bool queue_fixture_wait(struct queue_fixture *s, size_t begun);
size_t queue_fixture_begun(struct queue_fixture *s);
/* Finishes the nth that was begun, in a transaction; what that said. */
int queue_fixture_finish(struct queue_fixture *s, size_t n);
int fixture_requeue(
	struct queue_fixture *s, size_t n, int64_t run_at, bool counts, const char *error);
/* Says that it is over without having done anything about it. */
void queue_fixture_over(struct queue_fixture *s, size_t n, int err);
/* Those that are still open, once their runners have stopped. */
void queue_fixture_drop_jobs(struct queue_fixture *s);
int64_t queue_fixture_int(struct queue_fixture *s, const char *sql);
void queue_fixture_sql(struct queue_fixture *s, const char *sql);
/* Waits until the number is what it should be. */
void queue_fixture_until(
	struct queue_fixture *s, const char *sql, int64_t want, const char *file, int line);
#define UNTIL_TRUE(cond)                                        \
	do {                                                    \
		int64_t until_ = clock_mono_ms() + PATIENCE_MS; \
		while (!(cond) && clock_mono_ms() < until_)     \
			usleep(200);                            \
		CHECK(cond);                                    \
	} while (0)
#define UNTIL(s, sql, want) queue_fixture_until(s, sql, want, __FILE__, __LINE__)
