/* mail_send_job.c - see mail_send_job.h.
 *
 * Three steps: everything is read on a thread that may wait, which then speaks
 * with the relay without holding anything of the store; what came of it, the
 * state of the message and the end of the job (or its next time) are one
 * transaction.  A process that dies between leaves the job to another, which
 * sends the same bytes again.
 *
 * So many are under way at once in a process; more go back to wait, so that a
 * relay that is slow does not hold the places of agents at work. */
#include "mailboxes/mail_send_job.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "mailboxes/mail_counts.h"
#include "mailboxes/mail_outgoing.h"
#include "store/pool.h"

enum {
	THREADS = 8, /* as many messages are handed over at a time */
	THREADS_LEFT = 2,
	IDLE_S = 10,
	UNDER_WAY = 4 * THREADS,
	BUSY_US = 2 * 1000 * 1000,
};

struct mail_sender {
	struct mail_sender_settings settings;
	struct pool *pool;
	_Atomic int stopping; /* as smtp.h has it */
	_Atomic size_t refs;  /* one for each that is under way, and the owner's */
};

enum sending_end {
	SENDING_GONE,	   /* there is nothing to send */
	SENDING_BUSY,	   /* not now, for a reason of ours */
	SENDING_NOT,	   /* not any more, and `why` */
	SENDING_TRIED,	   /* as `said` */
	SENDING_CONDEMNED, /* processes died of it */
};

struct sending {
	struct work work; /* first */
	struct mail_sender *s;
	struct job *job;
	struct arena arena;
	struct mail_outgoing letter;
	enum sending_end end;
	const char *why;
	struct smtp_said said;
	enum mail_count counts_as; /* once it is noted; MAIL_COUNTS: as nothing */
};

/* ---- what came of it ---- */

static int note_tried(struct sending *v, struct db *db, int64_t now)
{
	struct mail_send_row row;
	int64_t again = NIL;
	int err = mail_send_find(db, &v->arena, v->job->tenant_id, v->job->subject, &row);

	if (err == ERR_NOT_FOUND || (!err && row.state != MailSendState_queued))
		return v->end == SENDING_CONDEMNED ? job_condemn(db, v->job, now)
						   : job_finish(db, v->job, now);
	if (!err && v->end == SENDING_TRIED)
		err = mail_send_tried(db, &v->arena, &row, &v->said, now, &again);
	else if (!err)
		err = mail_send_failed(db, &v->arena, &row, v->why, now);
	if (err)
		return err;
	v->counts_as = v->end != SENDING_TRIED	      ? MAIL_COUNT_FAILED
		       : v->said.outcome == SMTP_SENT ? MAIL_COUNT_SENT
		       : again == NIL		      ? MAIL_COUNT_FAILED
						      : MAIL_COUNT_DEFERRED;
	if (v->end == SENDING_CONDEMNED)
		return job_condemn(db, v->job, now);
	return again == NIL ? job_finish(db, v->job, now)
			    : job_requeue(db, v->job, again, false, v->said.text, now);
}

static int note_run(struct work *w, struct db *db)
{
	struct sending *v = (struct sending *)w;
	int64_t now = clock_now_us();
	int err = job_still_mine(db, v->job, now);

	v->counts_as = MAIL_COUNTS;
	if (err)
		return err;
	if (v->end == SENDING_GONE)
		return job_finish(db, v->job, now);
	if (v->end == SENDING_BUSY)
		return job_requeue(db, v->job, now + BUSY_US, false, NULL, now);
	return note_tried(v, db, now);
}

static void let_go(struct mail_sender *s)
{
	if (atomic_fetch_sub(&s->refs, 1) == 1)
		free(s);
}

static void sending_over(struct sending *v, int err)
{
	struct job *job = v->job;

	let_go(v->s);
	buf_free(&v->letter.bytes);
	arena_free(&v->arena);
	free(v);
	job_over(job, err);
}

static void note_done(struct work *w, int err)
{
	struct sending *v = (struct sending *)w;

	if (!err && v->counts_as < MAIL_COUNTS)
		mail_count(v->counts_as);
	sending_over(v, err);
}

static void note(struct sending *v)
{
	int err;

	v->work = (struct work){ .run = note_run, .done = note_done, .mode = READ_WRITE };
	err = store_submit(v->s->settings.store, &v->work);
	if (err)
		sending_over(v, err);
}

/* ---- on a thread that may wait ---- */

static int read_letter(struct work *w, struct db *db)
{
	struct sending *v = (struct sending *)w;

	return mail_outgoing_read(db, &v->arena, v->s->settings.vault, v->job->tenant_id,
		v->job->subject, &v->letter);
}

static void later(struct sending *v, const char *why)
{
	v->end = SENDING_TRIED;
	v->said = (struct smtp_said){ .outcome = SMTP_LATER, .text = why };
}

static void hand_over(struct sending *v)
{
	const struct mail_outgoing *l = &v->letter;
	struct smtp_relay relay = **v->s->settings.relay;
	struct smtp_mail mail = { .from = l->envelope.text,
		.to = l->send.address,
		.bytes = l->bytes.at + l->first,
		.len = l->bytes.len - l->first };

	relay.stopping = &v->s->stopping;
	v->end = SENDING_TRIED;
	smtp_send(&relay, &mail, &v->arena, &v->said);
	if (v->said.outcome == SMTP_LATER && atomic_load(&v->s->stopping))
		v->end = SENDING_BUSY; /* we broke it off */
	else
		mail_relay_said(&v->said);
}

static int send_run(struct work *w, struct db *none)
{
	struct sending *v = (struct sending *)w;
	const struct smtp_relay *const *relay = v->s->settings.relay;
	const char *fault = NULL;
	int err;

	(void)none;
	v->end = SENDING_BUSY;
	if (atomic_load(&v->s->stopping) || atomic_load(&w->withdrawn))
		return 0;
	err = pool_read(v->s->settings.store, w, read_letter);
	if (pool_db(v->s->settings.store)) /* nothing of the store is held while we speak */
		store_rest(pool_db(v->s->settings.store));
	if (err == ERR_NOT_FOUND) {
		v->end = SENDING_GONE;
		return 0;
	}
	if (err == ERR_SECRET) {
		later(v, "the key that it is to be signed with cannot be opened");
		return 0;
	}
	if (err)
		return err;
	v->why = v->letter.why_not;
	if (v->why)
		v->end = SENDING_NOT;
	else if (!*relay || !(*relay)->url)
		later(v, "no relay is set");
	if (v->end != SENDING_BUSY)
		return 0;
	err = mail_outgoing_write(&v->letter, *v->s->settings.bucket, &v->arena, &fault);
	if (!err)
		hand_over(v);
	else if (err == ERR_INVALID)
		v->end = SENDING_NOT;
	else
		later(v, fault);
	v->why = fault;
	return 0;
}

static void send_done(struct work *w, int err)
{
	struct sending *v = (struct sending *)w;

	/* What is large is not needed any more. */
	buf_free(&v->letter.bytes);
	v->letter.bytes = (struct buf){ 0 };
	if (err)
		sending_over(v, err);
	else
		note(v);
}

/* ---- the job ---- */

static struct sending *sending_new(struct mail_sender *s, struct job *job)
{
	struct sending *v = memory_zeroed(sizeof *v);

	atomic_fetch_add(&s->refs, 1);
	v->s = s;
	v->job = job;
	return v;
}

static void begin_sending(void *ctx, struct job *job)
{
	struct mail_sender *s = ctx;
	struct sending *v = sending_new(s, job);

	v->work = (struct work){ .run = send_run, .done = send_done, .mode = READ_ONLY };
	if (atomic_load(&s->refs) <= UNDER_WAY + 1 &&
		!pool_submit(s->pool, job->tenant_id, &v->work))
		return;
	v->end = SENDING_BUSY;
	note(v);
}

static void bury_sending(void *ctx, struct job *job)
{
	struct sending *v = sending_new(ctx, job);

	v->end = SENDING_CONDEMNED;
	v->why = "the service broke down over it";
	note(v);
}

static void leave_sending(void *ctx, struct job *job)
{
	struct mail_sender *s = ctx;
	int none = 0;

	(void)job;
	atomic_compare_exchange_strong(&s->stopping, &none, 1);
}

struct job_kind mail_sender_kind(struct mail_sender *s)
{
	return (struct job_kind){ .name = MAIL_SEND_JOB,
		.begin = begin_sending,
		.stop = leave_sending,
		.condemned = bury_sending,
		.ctx = s };
}

struct mail_sender *mail_sender_new(const struct mail_sender_settings *settings)
{
	struct mail_sender *s = memory_zeroed(sizeof *s);

	s->settings = *settings;
	atomic_init(&s->refs, 1);
	s->pool = pool_new(&(struct pool_settings){ .threads = THREADS,
		.idle_s = IDLE_S,
		.threads_left = THREADS_LEFT,
		.waiting = UNDER_WAY,
		.waiting_each = UNDER_WAY });
	return s;
}

void mail_sender_free(struct mail_sender *s)
{
	if (!s)
		return;
	atomic_store(&s->stopping, 2);
	pool_free(s->pool);
	let_go(s);
}
