/* model_stream.c - see model_stream.h. */
#include "api/model_stream.h"

#include "base/clock.h"
#include "broker/openai_out.h"

enum { TEXT_MAX = 64 << 20, QUIET_MS = 5000 };

static void stop(struct model_stream *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->run)
		run_cancel(s->run);
	pthread_mutex_unlock(&s->lock);
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_room(struct http_exchange *x)
{
	struct model_stream *s = ((struct call *)x->data)->own;

	pthread_mutex_lock(&s->lock);
	if (s->run)
		run_resume(s->run);
	pthread_mutex_unlock(&s->lock);
}

void model_stream_begin(struct model_stream *s)
{
	struct http_exchange *x = s->c->x;

	x->reply.status = 200;
	x->reply.type = "text/event-stream";
	buf_lit(&x->reply.extra, "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
	if (!http_stream_begin(x, on_room))
		stop(s);
	atomic_store(&s->spoke_ms, clock_mono_ms());
	atomic_store(&s->begun, true);
}

/* Written and held under one lock: room may be told of as soon as it is written, and a run that is held
 * behind that would never be told again. */
void model_stream_flush(struct model_stream *s)
{
	enum http_flow flow;

	if (!s->text.len)
		return;
	pthread_mutex_lock(&s->lock);
	flow = http_stream_write(s->c->x, s->text.at, s->text.len);
	if (flow == HTTP_STREAM_FULL && s->run)
		run_hold(s->run);
	pthread_mutex_unlock(&s->lock);
	s->text.len = 0;
	atomic_store_explicit(&s->spoke_ms, clock_mono_ms(), memory_order_relaxed);
	if (flow == HTTP_STREAM_GONE)
		stop(s);
}

/* A stream that says nothing for long is taken for dead on its way. */
static bool on_tick(void *data)
{
	struct model_stream *s = data;
	int64_t now = clock_mono_ms();

	if (http_left(s->c->x))
		return false;
	if (!atomic_load(&s->begun) || now - atomic_load(&s->spoke_ms) < QUIET_MS)
		return true;
	atomic_store(&s->spoke_ms, now);
	return http_stream_write(s->c->x, ":\n\n", 3) != HTTP_STREAM_GONE;
}

void model_stream_open(struct model_stream *s, struct call *c)
{
	s->c = c;
	pthread_mutex_init(&s->lock, NULL);
	buf_init(&s->text, TEXT_MAX);
}

void model_stream_close(struct model_stream *s)
{
	buf_free(&s->text);
}

int model_stream_start(struct model_stream *s, struct run_asked *asked)
{
	asked->tick = on_tick;
	asked->data = s;
	asked->sink.data = s;
	return run_start(s->c->app->broker, asked, &s->run);
}

void model_stream_run_over(struct model_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->run = NULL;
	pthread_mutex_unlock(&s->lock);
}

void model_fault_reply(struct call *c, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];
	struct http_reply *reply = &c->x->reply;

	reply->status = row->status;
	reply->type = "application/json";
	if (row->status == 429)
		buf_printf(&reply->extra, "Retry-After: %d\r\n",
			f->retry_after_s ? f->retry_after_s : 1);
	openai_write_error(row->status, f->sentence, NULL,
		f->class == FAULT_CONTEXT_LENGTH ? "context_length_exceeded" : row->word,
		&reply->body);
}
