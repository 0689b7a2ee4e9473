/* run_send.c - the request of a run, and the bytes that come back; see run.h. */
#include <stdio.h>

#include "broker/run_parts.h"
#include "call/steps.h"

/* ---- the request ---- */

/* The most that may be written: where money is limited, what was promised is. */
static int64_t limit_of(const struct run *r)
{
	return r->asked.plan->hourly_limit_pd != NIL && r->broker->settings.accounting
		       ? r->booking.output_tokens
		       : r->candidate->target.max_tokens;
}

bool run_write_body(struct run *r)
{
	const struct candidate *c = r->candidate;
	struct target target = c->target;

	if (!c->url) /* it is inside the program, and told without writing */
		return true;
	target.max_tokens = r->body_limit = limit_of(r);
	r->body.len = 0;
	c->provider->write(r->asked.chat, &target, &r->body);
	return !r->body.overflow;
}

/* ---- the reply ---- */

static bool on_head(struct transfer *t, const struct traffic_head *head)
{
	struct run *r = t->ctx;
	char wait[24] = "";

	if (head->retry_after_s >= 0)
		snprintf(wait, sizeof wait, "%lld", (long long)head->retry_after_s);
	reply_head(&r->reply, head->status, head->type, wait);
	return !r->failed;
}

static bool on_bytes(struct transfer *t, const char *bytes, size_t n)
{
	struct run *r = t->ctx;

	reply_feed(&r->reply, bytes, n);
	/* Behind its end a provider only closes; one that goes on talking is not listened to. */
	return !r->failed && (!r->finished || n < 1024);
}

static void note_end(struct run *r, enum traffic_end end)
{
	struct reply *p = &r->reply;

	switch (end) {
	case TRAFFIC_WHOLE:
		reply_end(p);
		break;
	case TRAFFIC_CANCELLED:
		reply_fail(p, FAULT_CUT, "The call was cancelled.");
		break;
	case TRAFFIC_FORBIDDEN:
		reply_fail(p, FAULT_CONNECT,
			"The model's address is one that this service may not call.");
		break;
	case TRAFFIC_CONNECT:
		reply_fail(p, FAULT_CONNECT, NULL);
		break;
	case TRAFFIC_SILENT:
		reply_fail(p, r->transfer.headed ? FAULT_STALL : FAULT_TIMEOUT, NULL);
		break;
	case TRAFFIC_LATE:
		reply_fail(p, FAULT_TIMEOUT, NULL);
		break;
	case TRAFFIC_CUT:
		reply_fail(p, FAULT_CUT, NULL);
		break;
	}
}

static void on_done(struct transfer *t, enum traffic_end end, const char *why)
{
	struct run *r = t->ctx;

	(void)why;
	pthread_mutex_lock(&r->lock);
	r->in_transfer = false;
	pthread_mutex_unlock(&r->lock);
	if (!r->finished)
		note_end(r, end);
	run_attempt_over(r);
	run_let_go(r);
}

static int send_out(struct run *r)
{
	const struct candidate *c = r->candidate;
	int err;

	if (r->body_limit != limit_of(r) && !run_write_body(r))
		return ERR_TOO_LARGE;
	r->transfer = (struct transfer){
		.url = c->url,
		.headers = c->headers,
		.body = r->body.at,
		.body_len = r->body.len,
		.reach = r->broker->settings.allow_private_addresses ? REACH_ANY : REACH_PUBLIC,
		.connect_ms = RUN_CONNECT_MS,
		.silence_ms = c->silence_ms,
		.total_ms = c->total_ms,
		.head = on_head,
		.bytes = on_bytes,
		.done = on_done,
		.ctx = r,
	};
	/* Under the lock: its end, which may come before this returns, waits for in_transfer. */
	pthread_mutex_lock(&r->lock);
	err = traffic_submit(r->traffic, &r->transfer);
	r->in_transfer = !err;
	r->holds += !err;
	if (!err && r->cancelled)
		traffic_cancel(r->traffic, &r->transfer);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* ---- a model inside the program ---- */

enum { SPOKEN, PARKED };

static struct run *of_speaking(struct work *w)
{
	return (struct run *)((char *)w - offsetof(struct run, speaking));
}

static int speak(struct work *w, struct db *none)
{
	struct run *r = of_speaking(w);
	bool cancelled, held;

	(void)none;
	do {
		pthread_mutex_lock(&r->lock);
		cancelled = r->cancelled;
		held = r->held;
		pthread_mutex_unlock(&r->lock);
		if (cancelled)
			reply_fail(&r->reply, FAULT_CUT, "The call was cancelled.");
		else if (held)
			return PARKED;
	} while (!cancelled && r->candidate->provider->speak(r->speaker, &r->reply));
	return SPOKEN;
}

static void spoke(struct work *w, int verdict)
{
	struct run *r = of_speaking(w);

	if (verdict == PARKED) {
		/* Behind the unlocking it may be at work already on another thread. */
		pthread_mutex_lock(&r->lock);
		r->parked = true;
		run_unpark(r);
		pthread_mutex_unlock(&r->lock);
		return;
	}
	run_attempt_over(r);
	run_let_go(r);
}

void run_unpark(struct run *r)
{
	if (!r->parked || (r->held && !r->cancelled))
		return;
	r->parked = false;
	if (slow_pool_submit(r->broker->settings.slow, &r->speaking))
		r->parked = true; /* the next tick tries again */
}

static int speak_up(struct run *r)
{
	const struct candidate *c = r->candidate;
	struct target target = c->target;
	int err;

	target.max_tokens = limit_of(r);
	r->speaker = c->provider->open(&r->arena, r->asked.chat, &target);
	r->speaking = (struct work){ .run = speak, .done = spoke };
	pthread_mutex_lock(&r->lock);
	r->holds++;
	pthread_mutex_unlock(&r->lock);
	err = slow_pool_submit(r->broker->settings.slow, &r->speaking);
	if (err) {
		pthread_mutex_lock(&r->lock);
		r->holds--;
		pthread_mutex_unlock(&r->lock);
	}
	return err;
}

int run_send(struct run *r)
{
	struct reply_asked asked = {
		.provider = r->candidate->provider,
		.sink = { run_take, r },
		.tag = r->id,
		.prompt_tokens = r->asked.plan->prompt_tokens,
		.streamed = r->asked.chat->stream,
	};

	if (r->replying)
		reply_close(&r->reply);
	reply_open(&r->reply, &asked);
	r->replying = true;
	if (!r->candidate->url)
		return speak_up(r);
	r->sent = true;
	return send_out(r);
}
