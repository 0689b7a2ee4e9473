/* completion_send.c - the request of a completion, and the bytes that come back; see completion.h. */
#include <stdio.h>

#include "broker/completion_parts.h"
#include "store/pool.h"

/* ---- the request ---- */

/* The most that may be written: where money is limited, what was reserved is. */
static int64_t limit_of(const struct completion *r)
{
	return r->asked.candidates->hourly_limit_pd != NIL && r->broker->settings.accounting
		       ? r->reservation.output_tokens
		       : r->candidate->target.max_tokens;
}

static size_t answer_bytes(const struct completion *r)
{
	const struct reply *p = &r->reply;
	size_t kept = (size_t)r->said * r->asked.keeps;

	return r->replying
		       ? kept + p->body.cap + p->scratch.total + p->sse.line.cap + p->sse.data.cap
		       : kept;
}

/* In steps, so that the pieces of an answer are not each an entry. */
bool completion_count(struct completion *r)
{
	enum { STEP = 64 * 1024 };
	size_t now = r->body.cap + r->arena.total + answer_bytes(r);

	return held_count(
		r->broker->settings.held, &r->part, r->asked.tenant_id, now / STEP * STEP);
}

static int no_room(struct completion *r)
{
	r->problem = (struct problem){
		.err = ERR_BUSY, .code = COMPLETION_MEMORY_CODE, .detail = HTTP_HOLDS_TOO_MUCH
	};
	return ERR_BUSY;
}

static int no_store_work(struct work *w, struct db *none)
{
	(void)w;
	(void)none;
	return 0;
}

static void write_aside(struct work *w, int err)
{
	struct completion *r =
		(struct completion *)((char *)w - offsetof(struct completion, writing));

	(void)err;
	r->write(r);
}

/* By what was written before, or what is asked: a token is some four bytes. */
static bool is_large_request(const struct completion *r)
{
	enum { LARGE = 64 * 1024, TOKEN = 4 };

	return r->body.len > LARGE || r->asked.candidates->prompt_tokens > LARGE / TOKEN;
}

bool completion_writes_aside(struct completion *r, void (*write)(struct completion *r))
{
	if (!r->broker->settings.slow || !is_large_request(r))
		return false;
	r->write = write;
	r->writing = (struct work){ .run = no_store_work, .done = write_aside };
	return !pool_submit(r->broker->settings.slow, r->asked.tenant_id, &r->writing);
}

int completion_write_body(struct completion *r)
{
	const struct candidate *c = r->candidate;
	struct target target = c->target;

	r->prompt_tokens = r->asked.candidates->prompt_tokens;
	if (!c->url) /* it is inside the program, and told without writing */
		return 0;
	target.max_tokens = r->body_limit = limit_of(r);
	r->body.len = 0;
	if (c->without_tools) {
		struct chat bare = *completion_chat(r);

		bare.tools = NULL;
		bare.tool_choice = CHOICE_UNSAID;
		bare.parallel_calls = -1;
		c->provider->write(&bare, &target, &r->body);
	} else {
		c->provider->write(completion_chat(r), &target, &r->body);
	}
	buf_fit(&r->body);
	if (!completion_count(r) || r->body.starved) {
		buf_free(&r->body);
		return no_room(r);
	}
	r->prompt_tokens =
		chat_tokens_written(completion_chat(r), (struct slice){ r->body.at, r->body.len });
	return r->body.overflow ? ERR_TOO_LARGE : 0;
}

/* ---- the reply ---- */

static bool completion_on_head(struct transfer *t, const struct transfer_head *head)
{
	struct completion *r = t->ctx;
	char wait[24] = "";

	if (head->retry_after_s >= 0)
		snprintf(wait, sizeof wait, "%lld", (long long)head->retry_after_s);
	reply_head(&r->reply, head->status, head->type, wait);
	return !completion_has_failed(r);
}

static bool completion_on_bytes(struct transfer *t, const char *bytes, size_t n)
{
	struct completion *r = t->ctx;

	reply_feed(&r->reply, bytes, n);
	if (!completion_count(r) && answer_bytes(r) > COMPLETION_SPARED)
		reply_fail(&r->reply, FAULT_MEMORY, NULL);
	/* After its end a provider only closes; one that goes on talking is not listened to. */
	return !completion_has_failed(r) && (r->stage != COMPLETION_OVER || n < 1024);
}

static void note_end(struct completion *r, enum transfer_end end, const char *why)
{
	struct reply *p = &r->reply;

	switch (end) {
	case TRANSFER_WHOLE:
		reply_end(p);
		break;
	case TRANSFER_CANCELLED:
		reply_fail(p, FAULT_CUT, "The call was cancelled.");
		break;
	case TRANSFER_FORBIDDEN:
		reply_fail(p, FAULT_CONNECT,
			"The model's address is one that this service may not call: %s.", why);
		break;
	case TRANSFER_CONNECT:
		reply_fail(p, FAULT_CONNECT, "%s: %s.", fault_rows[FAULT_CONNECT].title, why);
		break;
	case TRANSFER_SILENT:
		reply_fail(p, r->transfer.headed ? FAULT_STALL : FAULT_TIMEOUT, NULL);
		break;
	case TRANSFER_LATE:
		reply_fail(p, FAULT_TIMEOUT, NULL);
		break;
	case TRANSFER_CUT:
		reply_fail(p, FAULT_CUT, "%s: %s.", fault_rows[FAULT_CUT].title, why);
		break;
	}
}

static void completion_on_done(struct transfer *t, enum transfer_end end, const char *why)
{
	struct completion *r = t->ctx;

	pthread_mutex_lock(&r->lock);
	completion_carry(r, COMPLETION_CARRIED_NOT);
	pthread_mutex_unlock(&r->lock);
	if (r->stage != COMPLETION_OVER)
		note_end(r, end, why);
	completion_attempt_over(r);
	completion_let_go(r);
}

static bool was_cut(const struct completion *r)
{
	return r->body_limit != limit_of(r);
}

static int send_out(struct completion *r)
{
	const struct candidate *c = r->candidate;
	int err = was_cut(r) ? completion_write_body(r) : 0;

	if (err)
		return err;
	r->transfer = (struct transfer){
		.url = c->url,
		.headers = c->headers,
		.body = r->body.at,
		.body_len = r->body.len,
		.egress = r->broker->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC,
		.connect_ms = COMPLETION_CONNECT_MS,
		.silence_ms = c->silence_ms,
		.total_ms = c->total_ms,
		.head = completion_on_head,
		.bytes = completion_on_bytes,
		.done = completion_on_done,
		.ctx = r,
	};
	/* Under the lock: its end may come before this returns, and waits for the move. */
	pthread_mutex_lock(&r->lock);
	err = async_http_submit(r->http, &r->transfer);
	if (!err)
		completion_carry(r, COMPLETION_CARRIED_OUTSIDE);
	r->holds += !err;
	if (!err && r->cancelled)
		async_http_cancel(r->http, &r->transfer);
	pthread_mutex_unlock(&r->lock);
	return err;
}

static void send_aside(struct completion *r)
{
	int err = send_out(r);

	if (err)
		completion_refuse(r, err);
}

/* ---- a model inside the program ---- */

enum { SPOKEN, PAUSED };

static struct completion *of_speaking(struct work *w)
{
	return (struct completion *)((char *)w - offsetof(struct completion, speaking));
}

static int completion_speak(struct work *w, struct db *none)
{
	struct completion *r = of_speaking(w);
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
			return PAUSED;
	} while (!cancelled && r->candidate->provider->speak(r->speaker, &r->reply));
	return SPOKEN;
}

static void completion_spoke(struct work *w, int verdict)
{
	struct completion *r = of_speaking(w);

	if (verdict == PAUSED) {
		/* After the unlocking it may be at work already on another thread. */
		pthread_mutex_lock(&r->lock);
		completion_carry(r, COMPLETION_CARRIED_PAUSED);
		completion_unpause(r);
		pthread_mutex_unlock(&r->lock);
		return;
	}
	pthread_mutex_lock(&r->lock);
	completion_carry(r, COMPLETION_CARRIED_NOT);
	pthread_mutex_unlock(&r->lock);
	completion_attempt_over(r);
	completion_let_go(r);
}

void completion_unpause(struct completion *r)
{
	if (r->carriage != COMPLETION_CARRIED_PAUSED || (r->held && !r->cancelled))
		return;
	completion_carry(r, COMPLETION_CARRIED_INSIDE);
	if (pool_submit(r->broker->settings.slow, r->asked.tenant_id, &r->speaking))
		completion_carry(r, COMPLETION_CARRIED_PAUSED); /* the next tick tries again */
}

static int speak_up(struct completion *r)
{
	const struct candidate *c = r->candidate;
	struct target target = c->target;
	int err;

	target.max_tokens = limit_of(r);
	r->speaker = c->provider->open(&r->arena, completion_chat(r), &target);
	r->speaking = (struct work){ .run = completion_speak, .done = completion_spoke };
	pthread_mutex_lock(&r->lock);
	completion_carry(r, COMPLETION_CARRIED_INSIDE);
	r->holds++;
	pthread_mutex_unlock(&r->lock);
	err = pool_submit(r->broker->settings.slow, r->asked.tenant_id, &r->speaking);
	if (err) {
		pthread_mutex_lock(&r->lock);
		completion_carry(r, COMPLETION_CARRIED_NOT);
		r->holds--;
		pthread_mutex_unlock(&r->lock);
	}
	return err;
}

int completion_send(struct completion *r)
{
	struct reply_asked asked = {
		.provider = r->candidate->provider,
		.sink = { completion_take, r },
		.tag = r->id,
		.prompt_tokens = r->prompt_tokens,
		.streamed = r->asked.chat->stream,
		.pieces = r->asked.chat->shape == SHAPE_ANTHROPIC,
		.request = r->asked.chat->request,
		.price = &r->candidate->price,
	};

	completion_move(r, COMPLETION_ASKING);
	if (r->replying)
		reply_close(&r->reply);
	reply_open(&r->reply, &asked);
	r->replying = true;
	if (!r->candidate->url)
		return speak_up(r);
	return was_cut(r) && completion_writes_aside(r, send_aside) ? 0 : send_out(r);
}
