/* mail_reading.c - see mail_reading.h.
 *
 *   begin -> look and read (own threads) -> store -> over
 *                          bring the files <-> store
 *
 * Mail that was taken is never lost: what is the message's own fault makes it
 * unreadable at once, what is ours has it tried again, and the last try keeps it
 * with what is known. */
#include "mailboxes/mail_reading.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "helper/helper.h"
#include "mailboxes/mail_counts.h"
#include "mailboxes/mail_entry.h"
#include "mailboxes/mail_verdict.h"
#include "mailboxes/mailbox.h"
#include "store/pool.h"

enum {
	READ_THREADS = 3,
	READ_IDLE_S = 10,
	READ_WAITING = 100000, /* the runner has fewer jobs at a time */
	DNS_ATTEMPTS = 3, /* after so many the sender is not proven, and nobody waits any longer */
	DNS_BUSY_S = 2,	  /* before it is asked whether there is a turn */
	DNS_BUSY_MAX_S = 60 * 60, /* likewise */
};

struct mail_reader {
	struct store *store;
	struct pool *threads;
	struct bucket *bucket;
	struct helper *helper;
	struct pool *disk;
	pthread_mutex_t lock; /* over the next */
	pthread_cond_t fewer;
	size_t count; /* under way */
};

struct reading {
	struct work work; /* first */
	struct mail_reader *reader;
	struct job *job;
	struct arena arena; /* as long as the reading */
	struct arena step;  /* of a transaction, which may be run again */
	struct mail_arrival_row arrival;
	struct bucket_row object;
	int64_t put_off_us; /* it is to be read again after so long; 0: not */
	bool over;	    /* nothing is left to read: it was, or its agent has gone */
	bool unreadable;    /* and it was entered as such, once that is committed */
	struct mail_read read;
	struct mail_entry entry;
	struct bucket_carry *carry;
};

static void reading_over(struct reading *v, int err)
{
	struct mail_reader *r = v->reader;
	struct job *job = v->job;

	bucket_carry_free(v->carry, r->disk);
	arena_free(&v->step);
	arena_free(&v->arena);
	free(v);
	job_over(job, err);
	pthread_mutex_lock(&r->lock);
	if (!--r->count)
		pthread_cond_broadcast(&r->fewer);
	pthread_mutex_unlock(&r->lock);
}

/* ---- on a thread of its own ---- */

static int look(struct work *w, struct db *db)
{
	struct reading *v = (struct reading *)w;
	int err = mail_arrival_find(db, &v->arena, v->job->tenant_id, v->job->subject, &v->arrival);

	v->over = err == ERR_NOT_FOUND || (!err && v->arrival.read_at != NIL);
	if (v->over || err)
		return v->over ? 0 : err;
	v->object = (struct bucket_row){ 0 };
	err = v->arrival.object_key ? bucket_row_find(db, &v->arena, v->job->tenant_id,
					      v->arrival.object_key, &v->object)
				    : 0;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static bool is_last(const struct reading *v)
{
	return v->job->attempts >= MAIL_READ_ATTEMPTS;
}

/* It is kept as it came. */
static int give_up(struct reading *v, const char *why)
{
	v->entry.read = NULL;
	v->entry.fault = why;
	return 0;
}

static int judge(struct reading *v, const void *raw, size_t len)
{
	struct mail_coming how = { .recipient = v->arrival.recipient,
		.by_lmtp = v->arrival.by_lmtp,
		.at = v->arrival.created_at };
	int err = mail_verdict(&v->arena, &v->read, raw, len, &how, &v->entry.judged);
	bool busy = err && v->entry.judged.turn == MAIL_DNS_BUSY;
	int64_t age = clock_now_us() - v->arrival.created_at, pause = DNS_BUSY_S * SECOND_US;
	bool given_up = busy ? age > DNS_BUSY_MAX_S * SECOND_US : v->job->attempts >= DNS_ATTEMPTS;

	if (err != ERR_UPSTREAM || given_up)
		return err == ERR_UPSTREAM ? 0 : err;
	if (v->entry.judged.turn == MAIL_DNS_MAY)
		return err;
	/* The longer it waits the more seldom it is read again, which is work. */
	v->put_off_us = !busy ? MAIL_DNS_SILENT_S * SECOND_US : age / 2 > pause ? age / 2 : pause;
	return 0;
}

static int read_bytes(struct reading *v)
{
	struct helper *h = helper_for(v->reader->helper, &v->arena, v->job->tenant_id);
	size_t most = (size_t)mailbox_policy()->bytes_max, len = 0;
	struct problem problem = { 0 };
	const void *raw = NULL;
	int err;

	if (!v->object.key)
		return give_up(v, "Its bytes are not in the bucket any more.");
	err = bucket_load(v->reader->bucket, &v->object, (size_t)v->object.size_bytes, &v->arena,
		&raw, &len, &problem);
	if (err)
		return is_last(v) ? give_up(v, "Its bytes cannot be had from the bucket.") : err;
	err = mail_read(h, &v->arena, raw, len, most, &v->read);
	if (err == ERR_INVALID)
		return give_up(v, v->read.fault);
	if (err)
		return is_last(v) ? give_up(v, v->read.fault ? v->read.fault
							     : "The parser of mail does not run.")
				  : err;
	v->entry.read = &v->read;
	return judge(v, raw, len);
}

static int read_run(struct work *w, struct db *none)
{
	struct reading *v = (struct reading *)w;
	int err = pool_read(v->reader->store, w, look);

	(void)none;
	if (err || v->over)
		return err;
	v->entry = (struct mail_entry){ .arrival = &v->arrival, .carry = v->carry };
	return v->job->condemned
		       ? give_up(v, "The service broke down over it, and does not try again.")
		       : read_bytes(v);
}

/* ---- what follows, in one transaction ---- */

static void store_entry(struct reading *v);

static int bring_run(struct work *w, struct db *none)
{
	struct reading *v = (struct reading *)w;
	struct problem problem = { 0 };

	(void)none;
	arena_reset(&v->step);
	return bucket_carry_run(v->carry, &v->step, &problem);
}

/* What could not be brought says so when it is asked for again. */
static void bring_done(struct work *w, int err)
{
	(void)err;
	store_entry((struct reading *)w);
}

static void bring_files(struct reading *v)
{
	int err;

	v->work = (struct work){ .run = bring_run, .done = bring_done };
	err = pool_submit(v->reader->threads, v->job->tenant_id, &v->work);
	if (err)
		reading_over(v, err);
}

static int store_run(struct work *w, struct db *db)
{
	struct reading *v = (struct reading *)w;
	int64_t now = clock_now_us();
	struct mail_arrival_row standing;
	int err = job_still_mine(db, v->job, now);

	arena_reset(&v->step);
	if (!err && v->put_off_us)
		return job_requeue(db, v->job, now + v->put_off_us,
			v->entry.judged.turn != MAIL_DNS_BUSY, "the DNS does not answer", now);
	if (!err && !v->over)
		err = mail_arrival_find(
			db, &v->step, v->job->tenant_id, v->job->subject, &standing);
	if (!err && !v->over && standing.read_at == NIL)
		err = mail_entry(db, &v->step, &v->entry, now);
	v->unreadable = !err && !v->over && standing.read_at == NIL && !v->entry.read;
	if (err && err != ERR_NOT_FOUND) /* not found: the agent went, and its mail with it */
		return err;
	return job_finish(db, v->job, now);
}

static void store_done(struct work *w, int err)
{
	struct reading *v = (struct reading *)w;

	if (!err && v->unreadable)
		mail_count(MAIL_COUNT_UNREADABLE);
	if (err == ERR_BRING)
		bring_files(v);
	else
		reading_over(v, err);
}

static void store_entry(struct reading *v)
{
	int err;

	v->work = (struct work){ .run = store_run, .done = store_done, .mode = READ_WRITE };
	err = store_submit(v->reader->store, &v->work);
	if (err)
		reading_over(v, err);
}

static void read_done(struct work *w, int err)
{
	struct reading *v = (struct reading *)w;

	if (!err)
		store_entry(v);
	else
		reading_over(v, err);
}

/* ---- the job ---- */

static void begin_reading(void *ctx, struct job *job)
{
	struct mail_reader *r = ctx;
	struct reading *v = memory_zeroed(sizeof *v);
	int err;

	pthread_mutex_lock(&r->lock);
	r->count++;
	pthread_mutex_unlock(&r->lock);
	v->reader = r;
	v->job = job;
	v->carry = bucket_carry_new(r->bucket, job->tenant_id);
	v->work = (struct work){ .run = read_run, .done = read_done };
	err = pool_submit(r->threads, job->tenant_id, &v->work);
	if (err)
		reading_over(v, err);
}

struct job_kind mail_reader_job_kind(struct mail_reader *r)
{
	return (struct job_kind){
		.name = MAIL_READ_JOB, .begin = begin_reading, .condemned = begin_reading, .ctx = r
	};
}

struct mail_reader *mail_reader_new(struct store *store)
{
	struct mail_reader *r = memory_zeroed(sizeof *r);

	r->store = store;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->fewer, NULL);
	r->threads = pool_new(&(struct pool_settings){ .threads = READ_THREADS,
		.idle_s = READ_IDLE_S,
		.threads_left = 1,
		.waiting = READ_WAITING,
		.waiting_each = READ_WAITING });
	return r;
}

void mail_reader_join(
	struct mail_reader *r, struct bucket *bucket, struct helper *helper, struct pool *disk)
{
	r->bucket = bucket;
	r->helper = helper;
	r->disk = disk;
}

void mail_reader_stop(struct mail_reader *r)
{
	if (!r || !r->threads)
		return;
	pthread_mutex_lock(&r->lock);
	while (r->count)
		pthread_cond_wait(&r->fewer, &r->lock);
	pthread_mutex_unlock(&r->lock);
	pool_free(r->threads);
	r->threads = NULL;
}

void mail_reader_free(struct mail_reader *r)
{
	if (!r)
		return;
	mail_reader_stop(r);
	pthread_cond_destroy(&r->fewer);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
