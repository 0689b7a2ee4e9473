/* letter_post.c - see letter_post.h. */
#include "mailboxes/letter_post.h"

#include <pthread.h>
#include <stdlib.h>

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "mailboxes/mail_counts.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mailbox.h"
#include "store/pool.h"

enum { IDLE_S = 5, SILENCE_S = 30 };

struct letter_post {
	struct work work; /* first: of the step under way */
	struct letter_post_settings settings;
	struct pool *pool;
	pthread_mutex_t lock;
	pthread_cond_t rested;
	bool busy, again, stopping; /* under the lock */
	_Atomic int leaving;	    /* the one under way is let go */
	/* Of whoever has the step. */
	struct arena arena;
	struct letter_row row;
	struct letter letter;
	struct mail_dkim key;
	bool found, last, signs;
	struct smtp_said said;
};

static void post_step(struct letter_post *p, int (*run)(struct work *, struct db *),
	void (*done)(struct work *, int));

bool letter_post_goes(const struct letter_post *p)
{
	return p && p->settings.relay && p->settings.relay->url;
}

/* ---- taking ---- */

/* Unsigned is better than not sent. */
static int find_key(struct letter_post *p, struct db *db)
{
	const char *at = strrchr(mailbox_policy()->house, '@');
	int err = at ? mail_dkim_for(db, &p->arena, p->settings.vault, at + 1, &p->key)
		     : ERR_NOT_FOUND;

	p->signs = !err;
	return err == ERR_NOT_FOUND || err == ERR_SECRET ? 0 : err;
}

static int take_run(struct work *w, struct db *db)
{
	struct letter_post *p = (struct letter_post *)w;
	int64_t now = clock_now_us();
	int err;

	arena_reset(&p->arena);
	p->letter = (struct letter){ 0 };
	err = letter_next(db, &p->arena, now, &p->row);
	p->found = !err;
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = p->settings.fill(p->settings.ctx, db, &p->arena, &p->row, now, &p->letter);
	if (!err && !p->letter.says)
		return letter_drop(db, p->row.id);
	return err ? err : find_key(p, db);
}

/* ---- sending ---- */

static void hand_over(struct letter_post *p, const struct smtp_relay *relay, const char *bytes)
{
	smtp_send(relay,
		&(struct smtp_mail){ .from = mailbox_policy()->house,
			.to = p->letter.to,
			.bytes = bytes,
			.len = strlen(bytes) },
		&p->arena, &p->said);
	if (p->said.outcome != SMTP_LATER || !p->leaving) /* else we broke it off */
		mail_relay_said(&p->said);
}

static int send_run(struct work *w, struct db *db)
{
	struct letter_post *p = (struct letter_post *)w;
	struct smtp_relay relay = *p->settings.relay;
	const char *signature = NULL, *whole;
	struct buf bytes;
	int err;

	(void)db;
	buf_init(&bytes, LETTER_BYTES_MAX);
	relay.silence_s = SILENCE_S;
	relay.stopping = &p->leaving;
	err = letter_bytes(&p->arena, &p->letter, p->row.id, clock_now_us(), &bytes);
	if (!err && p->signs)
		signature = mail_dkim_sign(&p->arena, &p->key, bytes.at, bytes.len, clock_now_us());
	whole = arena_printf(&p->arena, "%s%.*s", signature ? signature : "", (int)bytes.len,
		bytes.at ? bytes.at : "");
	if (err || !smtp_path_is_plain(p->letter.to))
		p->said = (struct smtp_said){ .outcome = SMTP_REFUSED,
			.text = "no message can be made for this address" };
	else
		hand_over(p, &relay, whole);
	buf_free(&bytes);
	return 0;
}

/* ---- settling ---- */

static int settle_run(struct work *w, struct db *db)
{
	struct letter_post *p = (struct letter_post *)w;

	p->last = p->said.outcome != SMTP_LATER;
	return p->last ? letter_drop(db, p->row.id)
		       : letter_again(db, &p->row, clock_now_us(), &p->last);
}

/* What the relay says in words may name the address; its code and status do not. */
static const char *why_not(const struct letter_post *p)
{
	return p->said.outcome == SMTP_REFUSED ? "the relay refused it for good"
	       : p->said.code		       ? "the relay put it off too often"
	       : p->said.text		       ? p->said.text
					       : "no relay could be asked";
}

/* The address is personal, and stays out of the log. */
static void tell(const struct letter_post *p)
{
	bool sent = p->said.outcome == SMTP_SENT;

	mail_count(sent	     ? MAIL_COUNT_LETTERS_SENT
		   : p->last ? MAIL_COUNT_LETTERS_GIVEN_UP
			     : MAIL_COUNT_LETTERS_DEFERRED);
	if (!sent && p->last)
		log_warn("a letter was given up", LOG_S("letter", p->row.id),
			LOG_S("kind", letter_kind_words.list[p->row.kind]),
			LOG_N("code", p->said.code), LOG_S("status", p->said.enhanced),
			LOG_S("reason", why_not(p)));
}

/* ---- from one to the next ---- */

static void take_done(struct work *w, int err);

static void rest(struct letter_post *p, bool more)
{
	bool on;

	pthread_mutex_lock(&p->lock);
	on = (more || p->again) && !p->stopping;
	p->again = false;
	if (!on) {
		p->busy = false;
		pthread_cond_broadcast(&p->rested);
	}
	pthread_mutex_unlock(&p->lock);
	if (on)
		post_step(p, take_run, take_done);
}

static void settle_done(struct work *w, int err)
{
	struct letter_post *p = (struct letter_post *)w;

	if (!err)
		tell(p);
	rest(p, !err); /* what could not be settled is taken again when its time is over */
}

static void send_done(struct work *w, int err)
{
	(void)err;
	post_step((struct letter_post *)w, settle_run, settle_done);
}

/* It is not the store's trouble alone if this can be written: the letters behind it are not to wait for it. */
static int pass_over_run(struct work *w, struct db *db)
{
	struct letter_post *p = (struct letter_post *)w;

	return letter_again(db, &p->row, clock_now_us(), &p->last);
}

static void pass_over_done(struct work *w, int err)
{
	struct letter_post *p = (struct letter_post *)w;

	if (!err)
		mail_count(p->last ? MAIL_COUNT_LETTERS_GIVEN_UP : MAIL_COUNT_LETTERS_DEFERRED);
	if (!err && p->last)
		log_warn("a letter was given up", LOG_S("letter", p->row.id),
			LOG_S("kind", letter_kind_words.list[p->row.kind]),
			LOG_S("reason", "it could not be made"));
	rest(p, !err);
}

static void take_done(struct work *w, int err)
{
	struct letter_post *p = (struct letter_post *)w;

	if (err)
		log_warn("a letter cannot be made", LOG_S("letter", p->found ? p->row.id : ""),
			LOG_S("error", error_row(err)->title));
	if (err && p->found) {
		post_step(p, pass_over_run, pass_over_done);
		return;
	}
	if (err || !p->found || !p->letter.says) {
		rest(p, !err && p->found);
		return;
	}
	p->work = (struct work){ .run = send_run, .done = send_done };
	if (pool_submit(p->pool, NULL, &p->work))
		rest(p, false);
}

static void post_step(struct letter_post *p, int (*run)(struct work *, struct db *),
	void (*done)(struct work *, int))
{
	p->work = (struct work){ .run = run, .done = done, .mode = READ_WRITE };
	if (store_submit(p->settings.store, &p->work)) {
		pthread_mutex_lock(&p->lock);
		p->busy = false;
		pthread_cond_broadcast(&p->rested);
		pthread_mutex_unlock(&p->lock);
	}
}

void letter_post_wake(struct letter_post *p)
{
	bool begin;

	if (!letter_post_goes(p))
		return;
	pthread_mutex_lock(&p->lock);
	begin = !p->busy && !p->stopping;
	p->again = p->busy;
	p->busy = p->busy || begin;
	pthread_mutex_unlock(&p->lock);
	if (begin)
		post_step(p, take_run, take_done);
}

static void letters_told(void *ctx, const char *text)
{
	(void)text;
	letter_post_wake(ctx);
}

struct letter_post *letter_post_new(const struct letter_post_settings *settings)
{
	struct letter_post *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->settings = *settings;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->rested, NULL);
	p->pool = pool_new(&(struct pool_settings){ .threads = 1, .idle_s = IDLE_S, .waiting = 1 });
	store_listen(settings->store, LETTERS_CHANNEL, letters_told, p);
	return p;
}

void letter_post_stop(struct letter_post *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	p->leaving = 2; /* also where only its answer is waited for */
	while (p->busy)
		pthread_cond_wait(&p->rested, &p->lock);
	pthread_mutex_unlock(&p->lock);
	pool_free(p->pool);
	p->pool = NULL;
}

void letter_post_free(struct letter_post *p)
{
	if (!p)
		return;
	letter_post_stop(p);
	arena_free(&p->arena);
	pthread_cond_destroy(&p->rested);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
