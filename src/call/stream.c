/* stream.c - see stream.h.
 *
 * Whoever may touch a source asks first, under the lock, whether it lives.
 * The lock stays as long as the exchange: the peer may make room after the
 * end.  What belongs to one thread at a time - the words, the state - is not
 * under it.  call_stream_tick() takes no lock, for it is called under those
 * of sources. */
#include "call/stream.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "call/listeners.h"
#include "call/maintenance.h"

enum { OUT_MAX = 64 << 20, OUT_KEEP = 16 * 1024 };

/* A reader tries again by itself, at once or nearly. */
#define GREETING "retry: 1000\n\n"
#define FAREWELL ": the stream ends here; go on with Last-Event-ID\n\n"
#define SIGN_OF_LIFE ":\n\n"

struct call_stream {
	struct work work; /* first: it is handed back */
	struct stream_question question;
	struct call *c;
	const struct stream_source *source;
	void *state;
	struct buf out;	  /* of whoever tells */
	const char *type; /* of bytes; NULL: events */
	int refusal;
	bool counted; /* among those that its reader keeps open */
	const char *tenant_id;
	struct listening listening;
	bool ending; /* the last words were asked for */
	_Atomic bool begun;
	_Atomic int64_t spoke_ms;

	pthread_mutex_t lock; /* over all below */
	bool live;	      /* the source was started and is not over */
	bool asking;	      /* the store has something to answer */
};

/* ---- words ---- */

static void note_word(struct call_stream *s)
{
	atomic_store_explicit(&s->spoke_ms, clock_mono_ms(), memory_order_relaxed);
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_room(struct http_exchange *x)
{
	struct call_stream *s = ((struct call *)x->data)->stream;

	pthread_mutex_lock(&s->lock);
	if (s->live && !s->asking)
		(http_left(x) ? s->source->cancel : s->source->resume)(s->state);
	pthread_mutex_unlock(&s->lock);
}

/* Under the lock, as the next. */
static void put_head(struct call_stream *s)
{
	struct http_exchange *x = s->c->x;

	x->reply.status = 200;
	x->reply.type = s->type ? s->type : "text/event-stream";
	buf_puts(&x->reply.extra, s->source->resumable ? "Cache-Control: no-store\r\n"
						       : "Cache-Control: no-cache\r\n");
	buf_lit(&x->reply.extra, "X-Accel-Buffering: no\r\n");
	if (http_stream_begin(x, on_room)) {
		if (s->source->resumable)
			http_stream_write(x, GREETING, sizeof GREETING - 1);
	} else if (s->live) {
		s->source->cancel(s->state);
	}
	note_word(s);
	atomic_store(&s->begun, true);
}

/* Written and held under one lock: room may be told of as soon as it is written, and a source that is held after
 * that would never be told again. */
static enum http_flow put_words(struct call_stream *s, const char *text, size_t len)
{
	struct http_exchange *x = s->c->x;
	bool too_large = s->source->resumable && len > HTTP_STREAM_HIGH && !http_stream_has_room(x);
	enum http_flow flow = too_large ? HTTP_STREAM_GONE : http_stream_write(x, text, len);

	if (s->live && flow == HTTP_STREAM_FULL && s->source->hold)
		s->source->hold(s->state);
	if (s->live && flow == HTTP_STREAM_GONE)
		s->source->cancel(s->state);
	note_word(s);
	return flow;
}

static enum http_flow put_out(struct call_stream *s)
{
	enum http_flow flow;

	if (!s->out.len || !atomic_load(&s->begun))
		return HTTP_STREAM_OPEN;
	flow = put_words(s, s->out.at, s->out.len);
	buf_clear(&s->out);
	if (s->out.cap > OUT_KEEP)
		buf_free(&s->out);
	return flow;
}

void call_stream_enter(struct call_stream *s)
{
	pthread_mutex_lock(&s->lock);
	pthread_mutex_unlock(&s->lock);
}

void call_stream_begin(struct call_stream *s)
{
	pthread_mutex_lock(&s->lock);
	put_head(s);
	pthread_mutex_unlock(&s->lock);
}

void call_stream_begin_bytes(struct call_stream *s, const char *type)
{
	s->type = type;
	call_stream_begin(s);
}

bool call_stream_begun(const struct call_stream *s)
{
	return atomic_load(&s->begun);
}

enum http_flow call_stream_write(struct call_stream *s, const char *text, size_t len)
{
	enum http_flow flow;

	pthread_mutex_lock(&s->lock);
	flow = put_words(s, text, len);
	pthread_mutex_unlock(&s->lock);
	return flow;
}

struct buf *call_stream_out(struct call_stream *s)
{
	return &s->out;
}

enum http_flow call_stream_flush(struct call_stream *s)
{
	enum http_flow flow;

	pthread_mutex_lock(&s->lock);
	flow = put_out(s);
	pthread_mutex_unlock(&s->lock);
	return flow;
}

/* ---- the end ---- */

static void end_stream(struct call_stream *s, enum stream_end end)
{
	struct http_exchange *x = s->c->x;

	buf_free(&s->out);
	listeners_leave(s->c->app, &s->listening);
	if (!atomic_load(&s->begun)) {
		http_finish(x);
		return;
	}
	if (s->source->resumable && end == STREAM_CUT_SHORT)
		http_stream_write(x, FAREWELL, sizeof FAREWELL - 1);
	http_stream_end(x, end != STREAM_BROKEN);
}

/* Who asks the store has the stream ended by its answer, perhaps before this returns. */
static void conclude_stream(struct call_stream *s)
{
	enum stream_end end;

	s->ending = true;
	end = s->source->last(s->state);
	if (end != STREAM_ASKING)
		end_stream(s, end);
}

void call_stream_over(struct call_stream *s)
{
	bool asking;

	pthread_mutex_lock(&s->lock);
	s->live = false;
	asking = s->asking;
	pthread_mutex_unlock(&s->lock);
	if (!asking)
		conclude_stream(s);
}

/* ---- what the store is asked meanwhile ---- */

static int ask_store(struct work *w, struct db *db)
{
	struct call_stream *s = (struct call_stream *)w;

	return s->question.ask(s->state, db);
}

static void store_answered(struct work *w, int err)
{
	struct call_stream *s = (struct call_stream *)w;
	bool goes_on = s->question.answered(s->state, err), live;

	pthread_mutex_lock(&s->lock);
	s->asking = false;
	live = s->live;
	if (live)
		(goes_on ? s->source->resume : s->source->cancel)(s->state);
	pthread_mutex_unlock(&s->lock);
	if (live)
		return;
	if (s->ending)
		end_stream(s, STREAM_COMPLETE);
	else
		conclude_stream(s);
}

static void set_asking(struct call_stream *s, bool asking)
{
	pthread_mutex_lock(&s->lock);
	s->asking = asking;
	pthread_mutex_unlock(&s->lock);
}

int call_stream_ask(struct call_stream *s, const struct stream_question *q)
{
	int err;

	s->question = *q;
	s->work = (struct work){ .run = ask_store, .done = store_answered, .mode = q->mode };
	set_asking(s, true);
	err = store_submit(s->c->app->store, &s->work);
	if (err)
		set_asking(s, false);
	return err;
}

/* ---- now and then ---- */

bool call_stream_tick(struct call_stream *s)
{
	struct http_exchange *x = s->c->x;
	int64_t now = clock_mono_ms();

	if (http_left(x))
		return false;
	if (!atomic_load(&s->begun) || s->type ||
		now - atomic_load(&s->spoke_ms) < s->source->quiet_ms)
		return true;
	atomic_store(&s->spoke_ms, now);
	return http_stream_write(x, SIGN_OF_LIFE, sizeof SIGN_OF_LIFE - 1) != HTTP_STREAM_GONE;
}

int call_stream_caller(struct call_stream *s, struct db *db, struct arena *a, struct caller *ret)
{
	struct problem p = { 0 };

	return caller_load(ret, db, a, &s->c->credential, clock_now_us(),
		s->c->app->settings.session_idle_us, &p);
}

int call_stream_recheck(struct call_stream *s, struct db *db, struct arena *a)
{
	struct caller caller;
	int err;

	if (http_left(s->c->x))
		return ERR_STOPPING;
	err = call_stream_caller(s, db, a, &caller);
	return err ? err : s->source->recheck(s->state, db, a, &caller);
}

bool call_stream_stays(struct call_stream *s, struct db *db, struct arena *a)
{
	int err = call_stream_recheck(s, db, a);

	if (err && err != ERR_STORE && err != ERR_BUSY && err != ERR_RETRY) {
		s->refusal = err;
		return false;
	}
	return call_stream_tick(s);
}

int call_stream_refusal(const struct call_stream *s)
{
	return s->refusal;
}

/* ---- the beginning ---- */

static enum http_verdict answer_at_once(struct call_stream *s, int err)
{
	struct call *c = s->c;

	buf_free(&s->out);
	listeners_leave(c->app, &s->listening);
	if (err < 0)
		call_conclude(c, err);
	else
		http_stream_end(c->x, true);
	return err < 0 ? HTTP_REPLIED : HTTP_KEPT;
}

/* The source may be over, and the stream gone, as soon as it was started. */
static enum http_verdict start_headless(struct call_stream *s)
{
	int err;

	s->live = true;
	err = s->source->start(s->state);
	return err ? answer_at_once(s, err) : HTTP_KEPT;
}

/* Under the lock nothing is told before the head. */
static enum http_verdict start_headed(struct call_stream *s)
{
	int err;

	pthread_mutex_lock(&s->lock);
	s->live = s->c->x->request.method != METHOD_HEAD;
	err = s->live && s->counted ? listeners_enter(s->c, s->tenant_id, &s->listening) : 0;
	if (!err)
		err = s->live ? s->source->start(s->state) : STREAM_NOTHING;
	s->live = !err;
	if (err >= 0) {
		put_head(s);
		put_out(s);
	}
	pthread_mutex_unlock(&s->lock);
	return err ? answer_at_once(s, err) : HTTP_KEPT;
}

/* What the operation did is durable. */
static enum http_verdict start_stream(struct call *c)
{
	struct call_stream *s = c->stream;

	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	pthread_mutex_init(&s->lock, NULL);
	buf_init(&s->out, OUT_MAX);
	if (s->source->first)
		s->source->first(s->state);
	return s->source->head_later ? start_headless(s) : start_headed(s);
}

struct call_stream *call_stream(struct call *c, const struct stream_source *source, void *state)
{
	struct call_stream *s = arena_new(c->arena, struct call_stream);

	s->c = c;
	s->source = source;
	s->state = state;
	c->stream = s;
	c->deferred = start_stream;
	return s;
}

void call_stream_count(struct call_stream *s, const char *tenant_id)
{
	s->counted = true;
	s->tenant_id = tenant_id;
}
