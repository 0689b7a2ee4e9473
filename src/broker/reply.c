/* reply.c - the common half of reading replies; see reply.h. */
#include "broker/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8_cut.h"
#include "broker/provider.h"

const char *const finish_names[FINISH_COUNT] = {
	[FINISH_STOP] = "stop",
	[FINISH_LENGTH] = "length",
	[FINISH_TOOL_CALLS] = "tool_calls",
	[FINISH_CONTENT_FILTER] = "content_filter",
};

static void reply_emit(struct reply *r, const struct event *e)
{
	r->sink.take(r->sink.data, e);
}

static bool reply_take_event(void *to, const char *name, struct slice data)
{
	struct reply *r = to;

	r->events++;
	r->provider->read_event(r, name, data);
	arena_reset(&r->scratch);
	return !r->ended;
}

void reply_open(struct reply *r, const struct reply_asked *asked)
{
	*r = (struct reply){
		.provider = asked->provider,
		.sink = asked->sink,
		.prompt_tokens = asked->prompt_tokens,
		.streamed = asked->streamed,
		.pieces = asked->pieces,
		.request = asked->request,
		.price = asked->price,
		.seconds_said = -1,
		.block = -1,
	};
	snprintf(r->tag, sizeof r->tag, "%s", asked->tag ? asked->tag : "");
	sse_open(&r->sse, reply_take_event, r);
	buf_init(&r->body, REPLY_BODY_MAX);
	buf_init(&r->reason, REPLY_REASON_MAX);
	buf_init(&r->stop, REPLY_REASON_MAX);
}

void reply_close(struct reply *r)
{
	sse_close(&r->sse);
	buf_free(&r->body);
	buf_free(&r->reason);
	buf_free(&r->stop);
	arena_free(&r->scratch);
}

/* ---- the bytes ---- */

static bool reply_type_is(const char *type, const char *want)
{
	size_t n = strlen(want);

	return strncasecmp(type, want, n) == 0 &&
	       (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

void reply_head(struct reply *r, int status, const char *content_type, const char *retry_after)
{
	r->status = status;
	if (status < 200 || status > 299) {
		r->mode = REPLY_REFUSAL;
		r->retry_after_s = retry_after_read(retry_after, clock_now_us());
		r->body.max = FAULT_BODY_MAX;
	} else if (r->provider->mode) {
		r->mode = r->provider->mode(r, content_type ? content_type : "");
		if (r->mode == REPLY_HEAD)
			reply_fail(r, FAULT_MALFORMED,
				"The model provider answered with another type than was asked for.");
	} else if (!content_type || !*content_type) {
		r->mode = r->streamed ? REPLY_STREAM : REPLY_WHOLE;
	} else if (reply_type_is(content_type, "text/event-stream")) {
		r->mode = REPLY_STREAM;
	} else if (reply_type_is(content_type, "application/json")) {
		r->mode = REPLY_WHOLE;
	} else if (reply_type_is(content_type, "text/html")) {
		reply_fail(r, FAULT_MALFORMED,
			"The model provider answered with a web page; its base_url may be wrong.");
	} else {
		reply_fail(r, FAULT_MALFORMED,
			"The model provider answered with neither JSON nor an event stream.");
	}
}

void reply_feed(struct reply *r, const char *bytes, size_t len)
{
	if (r->ended)
		return;
	r->bytes += len;
	if (r->mode == REPLY_STREAM) {
		if (r->bytes > REPLY_STREAM_MAX)
			reply_fail(r, FAULT_MALFORMED, "The model's reply does not end.");
		else if (!sse_feed(&r->sse, bytes, len))
			reply_fail(r, FAULT_MALFORMED,
				"An event of the model's reply is larger than %d bytes.",
				SSE_EVENT_MAX);
		return;
	}
	if (r->mode == REPLY_BYTES) {
		if (r->bytes > REPLY_STREAM_MAX)
			reply_fail(r, FAULT_MALFORMED, "The model's reply does not end.");
		else
			reply_bytes(r, (struct slice){ bytes, len });
		return;
	}
	buf_put(&r->body, bytes, len);
	if (r->mode != REPLY_REFUSAL && r->body.overflow)
		reply_fail(r, FAULT_MALFORMED, "The model's reply is larger than %d bytes.",
			REPLY_BODY_MAX);
}

static void read_refusal(struct reply *r)
{
	struct fault f;

	fault_read(&f, r->status, NULL, r->body.at, r->body.len, 0);
	f.retry_after_s = r->retry_after_s;
	reply_fail_with(r, &f);
}

static void read_whole(struct reply *r)
{
	struct json_reader j;

	if (!r->body.len) {
		reply_fail(r, FAULT_CUT, "The model provider's reply is empty.");
		return;
	}
	/* All of it is checked first, so that a bad reply yields its error and nothing else. */
	json_open(&j, &r->scratch, r->body.at, r->body.len);
	if (json_peek(&j) == JSON_OBJECT && json_skip(&j, NULL, NULL) && json_end(&j)) {
		arena_reset(&r->scratch);
		r->provider->read_whole(r, (struct slice){ r->body.at, r->body.len });
	} else {
		reply_unreadable(r, &j);
	}
}

/* Bytes are whole when their transfer is, which has said how many there are. */
static void end_bytes(struct reply *r)
{
	if (!r->bytes) {
		reply_fail(r, FAULT_CUT, "The model provider's reply is empty.");
		return;
	}
	reply_reason(r, FINISH_STOP);
	reply_finish(r);
}

void reply_end(struct reply *r)
{
	if (!r->ended && r->mode == REPLY_BYTES)
		end_bytes(r);
	if (!r->ended && r->mode == REPLY_TEXT)
		r->provider->read_text(r, (struct slice){ r->body.at, r->body.len });
	if (!r->ended && r->mode == REPLY_REFUSAL)
		read_refusal(r);
	else if (!r->ended && r->mode == REPLY_WHOLE)
		read_whole(r);
	else if (!r->ended && r->mode == REPLY_STREAM && sse_ends_with(&r->sse, "[DONE]"))
		reply_take_event(r, "", SLICE("[DONE]"));
	reply_fail(r, FAULT_CUT, NULL);
}

/* ---- the events ---- */

static void reply_start_once(struct reply *r)
{
	if (!r->started)
		reply_start(r, (struct slice){ 0 }, (struct slice){ 0 });
}

void reply_start(struct reply *r, struct slice id, struct slice model)
{
	if (r->started || r->ended)
		return;
	r->started = true;
	reply_emit(r, &(struct event){ .kind = EVENT_START,
			      .id = id,
			      .name = model,
			      .maker = r->provider->name,
			      .media = *r->media ? r->media : NULL,
			      .usage = r->usage });
}

void reply_text(struct reply *r, struct slice text, struct slice logprobs)
{
	if (r->ended || (!text.len && !logprobs.at))
		return;
	reply_start_once(r);
	tokens_add(&r->spoken, text);
	reply_emit(r, &(struct event){ .kind = EVENT_TEXT, .text = text, .logprobs = logprobs });
}

void reply_bytes(struct reply *r, struct slice bytes)
{
	if (r->ended || !bytes.len)
		return;
	reply_start_once(r);
	reply_emit(r, &(struct event){ .kind = EVENT_BYTES, .text = bytes });
}

void reply_refusal(struct reply *r, struct slice text)
{
	if (r->ended || !text.len)
		return;
	reply_start_once(r);
	tokens_add(&r->spoken, text);
	reply_emit(r, &(struct event){ .kind = EVENT_TEXT, .text = text, .refusal = true });
}

void reply_item(struct reply *r, struct slice raw)
{
	if (r->ended)
		return;
	reply_start_once(r);
	reply_emit(r,
		&(struct event){ .kind = EVENT_ITEM, .text = text_without_nul(&r->scratch, raw) });
}

void reply_thought(struct reply *r, struct slice text)
{
	if (r->ended || !text.len)
		return;
	reply_start_once(r);
	tokens_add(&r->thought, text);
	reply_emit(r, &(struct event){ .kind = EVENT_THOUGHT, .text = text });
}

void reply_signature(struct reply *r, struct slice signature, struct slice id, bool redacted)
{
	if (r->ended || !signature.len)
		return;
	reply_start_once(r);
	reply_emit(r, &(struct event){ .kind = EVENT_SIGNATURE,
			      .text = signature,
			      .id = id,
			      .redacted = redacted });
}

int reply_call_find(const struct reply *r, int64_t key)
{
	for (int i = r->call_count; i-- > 0;)
		if (r->calls[i].key == key)
			return i;
	return -1;
}

int reply_call(struct reply *r, int64_t key, struct slice id, struct slice name)
{
	return reply_call_extra(r, key, id, name, (struct slice){ 0 });
}

int reply_call_extra(
	struct reply *r, int64_t key, struct slice id, struct slice name, struct slice extra)
{
	char made[REPLY_TAG_MAX + 32];
	int index = r->call_count;

	if (r->ended)
		return -1;
	if (index == REPLY_CALLS_MAX) {
		reply_fail(r, FAULT_MALFORMED, "The model calls more than %d tools at once.",
			REPLY_CALLS_MAX);
		return -1;
	}
	reply_start_once(r);
	if (!id.len) {
		snprintf(made, sizeof made, "call_%s_%d", r->tag, index);
		id = (struct slice){ made, strlen(made) };
	}
	r->calls[r->call_count++] = (struct reply_call){ .key = key, .open = true };
	tokens_add(&r->spoken, name);
	reply_emit(r, &(struct event){ .kind = EVENT_CALL,
			      .index = index,
			      .id = id,
			      .name = name,
			      .extra = extra });
	return index;
}

void reply_arguments(struct reply *r, int index, struct slice text)
{
	if (r->ended || index < 0 || index >= r->call_count || !text.len || !r->calls[index].open)
		return;
	r->calls[index].spoken = true;
	tokens_add(&r->spoken, text);
	reply_emit(r, &(struct event){ .kind = EVENT_ARGUMENTS, .index = index, .text = text });
}

void reply_call_end(struct reply *r, int index)
{
	reply_call_item(r, index, (struct slice){ 0 });
}

void reply_call_item(struct reply *r, int index, struct slice item)
{
	if (r->ended || index < 0 || index >= r->call_count || !r->calls[index].open)
		return;
	/* No arguments are an empty object, for whoever parses them. */
	if (!r->calls[index].spoken)
		reply_arguments(r, index, SLICE("{}"));
	r->calls[index].open = false;
	reply_emit(r, &(struct event){ .kind = EVENT_CALL_END,
			      .index = index,
			      .extra = text_without_nul(&r->scratch, item) });
}

void reply_usage(struct reply *r, const struct usage *u, unsigned said)
{
	r->usage = *u;
	r->usage_said = said;
}

void reply_reason(struct reply *r, enum finish finish)
{
	r->finish = finish;
	r->finish_said = true;
}

void reply_reason_word(struct reply *r, const char *word)
{
	buf_clear(&r->reason);
	buf_puts(&r->reason, word);
}

void reply_stop(struct reply *r, struct slice text)
{
	buf_clear(&r->stop);
	text_put(&r->stop, text);
}

void reply_piece(struct reply *r, enum event_piece piece, struct slice text)
{
	if (r->ended || !r->pieces)
		return;
	reply_start_once(r);
	tokens_add(&r->spoken, text);
	reply_emit(r, &(struct event){ .kind = EVENT_PIECE, .piece = piece, .text = text });
}

static struct slice said_or_absent(const struct buf *b)
{
	return b->len && !b->overflow ? (struct slice){ b->at, b->len } : (struct slice){ 0 };
}

/* Says what was used; what the provider did not say is counted.  Figures that came before the end are not
 * the last, a prompt that has text was read, and an answer that took no tokens was not counted. */
static void say_usage(struct reply *r)
{
	struct usage u = r->usage;
	int64_t counted = tokens_count(&r->spoken), thought = tokens_count(&r->thought);
	bool read = (r->usage_said & USAGE_INPUT) &&
		    (u.input || u.cache_read || u.cache_write || !r->prompt_tokens);

	if (r->provider->used) {
		u = r->provider->used(r);
		reply_emit(r, &(struct event){ .kind = EVENT_USAGE, .usage = u });
		return;
	}
	if (!read) {
		u.input = r->prompt_tokens;
		u.cache_read = u.cache_write = 0;
		u.estimated = true;
	}
	if (!(r->usage_said & USAGE_OUTPUT) || !r->finish_said ||
		(!u.output && counted + thought)) {
		u.output = u.output > counted + thought ? u.output : counted + thought;
		u.reasoning = u.reasoning > thought ? u.reasoning : thought;
		u.estimated = true;
	}
	reply_emit(r, &(struct event){ .kind = EVENT_USAGE, .usage = u });
}

void reply_finish(struct reply *r)
{
	if (r->ended)
		return;
	if (!r->finish_said) {
		reply_fail(r, FAULT_CUT, "The model's reply ended without saying why.");
		return;
	}
	reply_start_once(r);
	for (int i = 0; i < r->call_count; i++)
		reply_call_end(r, i);
	if (r->finish == FINISH_STOP && r->call_count)
		r->finish = FINISH_TOOL_CALLS;
	else if (r->finish == FINISH_TOOL_CALLS && !r->call_count)
		r->finish = FINISH_STOP;
	say_usage(r);
	r->ended = true;
	reply_emit(r, &(struct event){ .kind = EVENT_FINISH,
			      .finish = r->finish,
			      .reason = said_or_absent(&r->reason),
			      .stop = said_or_absent(&r->stop) });
}

void reply_fail_with(struct reply *r, const struct fault *f)
{
	if (r->ended)
		return;
	/* Figures may come without an answer. */
	if (r->usage_said)
		reply_start_once(r);
	if (r->started)
		say_usage(r);
	r->ended = true;
	reply_emit(r, &(struct event){ .kind = EVENT_ERROR, .fault = f });
}

void reply_fail(struct reply *r, enum fault_class class, const char *fmt, ...)
{
	char text[FAULT_TEXT_MAX];
	struct fault f;
	va_list ap;

	if (r->ended)
		return;
	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof text, fmt, ap);
		va_end(ap);
		utf8_trim(text);
	}
	/* What cannot be read is an answer all the same, and will be charged. */
	if ((r->mode == REPLY_STREAM && r->events) ||
		((r->mode == REPLY_WHOLE || r->mode == REPLY_TEXT) && r->bytes))
		reply_start_once(r);
	fault_set(&f, class, fmt ? "%s" : NULL, text);
	f.status = r->status;
	reply_fail_with(r, &f);
}

void reply_unreadable(struct reply *r, const struct json_reader *j)
{
	reply_fail(r, FAULT_MALFORMED, "The model provider's reply is not what it should be: %s.",
		j->fault ? j->fault : "it is no object");
}

/* ---- usage ---- */

static int64_t at_most(int64_t v, int64_t most, bool *cut)
{
	if (v <= most)
		return v;
	*cut = true;
	return most;
}

static bool usage_read_figure(struct json_reader *j, int64_t *ret)
{
	struct json_number n;

	if (json_peek(j) == JSON_NULL)
		return json_read_null(j);
	*ret = FIGURE_ABSURD;
	if (json_peek(j) != JSON_NUMBER)
		return json_skip(j, NULL, NULL);
	if (!json_read_number(j, &n))
		return false;
	if (n.is_integer && n.integer >= 0 && n.integer <= TOKENS_MAX)
		*ret = n.integer;
	return true;
}

static const struct usage_member *usage_row(const struct usage_member *rows, const char *name)
{
	while (rows->name && strcmp(rows->name, name) != 0)
		rows++;
	return rows->name ? rows : NULL;
}

bool usage_read(struct json_reader *j, const struct usage_member *rows, struct usage_figures *ret)
{ /* NOLINT(misc-no-recursion): as deep as the rows */
	const struct usage_member *m;
	const char *key;
	size_t len;

	if (json_peek(j) != JSON_OBJECT) {
		json_skip(j, NULL, NULL);
		return false;
	}
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		m = usage_row(rows, key);
		if (!m)
			json_skip(j, NULL, NULL);
		else if (m->within)
			usage_read(j, m->within, ret);
		else
			usage_read_figure(j, (int64_t *)((char *)ret + m->figure));
	}
	return true;
}

static int64_t figure_or_zero(int64_t figure, bool *cut)
{
	*cut |= figure == FIGURE_ABSURD;
	return figure < 0 ? 0 : figure;
}

unsigned usage_inclusive(const struct usage_figures *f, struct usage *ret)
{
	bool cut = false;
	int64_t input = figure_or_zero(f->input, &cut), output = figure_or_zero(f->output, &cut);
	int64_t reasoning = figure_or_zero(f->reasoning, &cut);
	struct usage u = { .output = output };

	/* Some leave the thinking out of the output, and give it away by their total. */
	if (reasoning && f->total == input + output + reasoning)
		u.output += reasoning;
	u.cache_read = at_most(figure_or_zero(f->cache_read, &cut), input, &cut);
	u.cache_write = at_most(figure_or_zero(f->cache_write, &cut), input - u.cache_read, &cut);
	u.input = input - u.cache_read - u.cache_write;
	u.reasoning = at_most(reasoning, u.output, &cut);
	u.estimated = cut;
	*ret = u;
	return (f->input < 0 ? 0 : USAGE_INPUT) | (f->output < 0 ? 0 : USAGE_OUTPUT);
}
