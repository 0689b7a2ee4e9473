/* test_call_stream.c - the mechanism of streams alone: a source that a test plays, on a thread of its own, and
 * what a client gets to read.  What sources tell is tested with them. */
#include "fixture.h"

#include <pthread.h>
#include <semaphore.h>

#include "call/stream.h"

/* What is to happen, and what has. */
struct play {
	struct fixture *f;
	struct stream_source source;
	struct call_stream *stream;
	struct call *c;
	pthread_t thread;
	sem_t told; /* what the other side waits for */
	bool threaded;
	void (*tell)(struct play *p); /* what the source does once it was started */
	enum stream_end end;
	int starts, lasts, resumes, cancels, asked;
	int lasts_before; /* the answer of the store */
};

static void *tell_aside(void *arg)
{
	struct play *p = arg;

	call_stream_enter(p->stream);
	p->tell(p);
	return NULL;
}

static int start_aside(void *state)
{
	struct play *p = state;

	p->starts++;
	p->threaded = true;
	return pthread_create(&p->thread, NULL, tell_aside, p) ? ERR_INTERNAL : 0;
}

static int start_here(void *state)
{
	struct play *p = state;

	p->starts++;
	p->tell(p);
	return 0;
}

static int start_refused(void *state)
{
	((struct play *)state)->starts++;
	return ERR_BUSY;
}

static int start_nothing(void *state)
{
	((struct play *)state)->starts++;
	return STREAM_NOTHING;
}

static void count_resume(void *state)
{
	struct play *p = state;

	p->resumes++;
	sem_post(&p->told);
}

static void count_cancel(void *state)
{
	((struct play *)state)->cancels++;
}

static void say(struct play *p, const char *text)
{
	call_stream_write(p->stream, text, strlen(text));
}

static void say_first(void *state)
{
	struct play *p = state;

	buf_lit(call_stream_out(p->stream), "data: first\n\n");
}

static enum stream_end say_last(void *state)
{
	struct play *p = state;

	p->lasts++;
	say(p, "data: last\n\n");
	return p->end;
}

/* ---- the server ---- */

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	(void)x;
	return HTTP_GO_ON;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	static const struct operation op = { .id = "played" };
	static const struct route route = { METHOD_GET, "/played", &op, PERM_PUBLIC, 200 };
	struct play *p = ctx;
	struct call *c = arena_new(&x->arena, struct call);

	x->data = c;
	c->app = &p->f->app;
	c->x = x;
	c->arena = &x->arena;
	c->route = &route;
	c->op = &op;
	c->caller.last_used = c->now = 1;
	p->c = c;
	p->stream = call_stream(c, &p->source, p);
	return c->deferred(c);
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	(void)x;
	(void)err;
	test_fail(__FILE__, __LINE__, "%s", sentence);
}

/* Everything that was answered, taken out of its chunks, with the head. */
static const char *perform(struct play *p, const char *method)
{
	static const struct http_limits limits = { .max_head = 8192,
		.max_headers = 50,
		.max_body = 1000,
		.max_connections = 1,
		.header_ms = 10000,
		.body_ms = 10000,
		.idle_ms = 10000,
		.reply_ms = 10000,
		.deferred_ms = 10000,
		.patient_ms = 10000 };
	struct http_handler handler = {
		.head = on_head, .request = on_request, .fault = on_fault, .ctx = p
	};
	struct http_inproc *inproc = http_inproc_new(&limits, &handler);
	const char *request =
		arena_printf(&p->f->arena, "%s /played HTTP/1.0\r\nHost: a\r\n\r\n", method);
	const char *text;
	struct buf out;

	buf_init(&out, 1 << 20);
	sem_init(&p->told, 0, 0);
	p->source.resume = count_resume;
	p->source.cancel = count_cancel;
	p->source.last = p->source.last ? p->source.last : say_last;
	http_inproc_send(inproc, request, strlen(request), &out);
	if (p->threaded)
		pthread_join(p->thread, NULL);
	http_inproc_free(inproc);
	text = arena_strndup(&p->f->arena, out.at, out.len);
	buf_free(&out);
	CHECK_INT(p->starts, strcmp(method, "HEAD") == 0 ? 0 : 1);
	return text;
}

static const char *body_of(const char *text)
{
	const char *at = strstr(text, "\r\n\r\n");

	return at ? at + 4 : "";
}

/* ---- what is played ---- */

static void tell_once(struct play *p)
{
	say(p, "data: word\n\n");
	call_stream_over(p->stream);
}

TEST(call_stream_has_a_head_before_its_words_and_an_end_after_them)
{
	struct fixture *f = fixture_open();
	struct play whole = { .f = f,
		.tell = tell_once,
		.source = { .resumable = true, .first = say_first, .start = start_aside } };
	struct play cut = whole, other = whole;
	const char *text = perform(&whole, "GET");

	CHECK(strstr(text, "200 OK") && strstr(text, "Cache-Control: no-store"));
	CHECK(strstr(text, "Content-Type: text/event-stream"));
	CHECK_STR(body_of(text), "retry: 1000\n\ndata: first\n\ndata: word\n\ndata: last\n\n");
	CHECK_INT(whole.lasts, 1);
	CHECK_INT(whole.cancels, 0);

	cut.end = STREAM_CUT_SHORT;
	CHECK_STR(body_of(perform(&cut, "GET")),
		"retry: 1000\n\ndata: first\n\ndata: word\n\ndata: last\n\n"
		": the stream ends here; go on with Last-Event-ID\n\n");

	other.end = STREAM_CUT_SHORT;
	other.source.resumable = false;
	text = perform(&other, "GET");
	CHECK(strstr(text, "Cache-Control: no-cache"));
	CHECK_STR(body_of(text), "data: first\n\ndata: word\n\ndata: last\n\n");
	fixture_close(f);
}

TEST(call_stream_without_anything_to_tell_is_an_answer)
{
	struct fixture *f = fixture_open();
	struct play refused = { .f = f, .source = { .first = say_first, .start = start_refused } };
	struct play empty = { .f = f, .source = { .resumable = true, .start = start_nothing } };
	struct play head = { .f = f, .source = { .resumable = true, .start = start_aside } };
	const char *text = perform(&refused, "GET");

	CHECK(strstr(text, " 503 ") && !strstr(text, "data: first"));
	CHECK_STR(body_of(perform(&empty, "GET")), "retry: 1000\n\n");
	text = perform(&head, "HEAD");
	CHECK(strstr(text, "200 OK") && strstr(text, "text/event-stream"));
	CHECK_STR(body_of(text), "");
	CHECK_INT(refused.lasts + empty.lasts + head.lasts, 0);
	fixture_close(f);
}

/* ---- a head that comes later, or never ---- */

static void tell_after_head(struct play *p)
{
	buf_lit(call_stream_out(p->stream), "data: kept\n\n");
	call_stream_flush(p->stream);
	CHECK(!call_stream_begun(p->stream) && call_stream_tick(p->stream));
	call_stream_begin(p->stream);
	call_stream_flush(p->stream);
	call_stream_over(p->stream);
}

static enum stream_end answer_whole(void *state)
{
	struct play *p = state;
	struct http_reply *reply = &p->c->x->reply;

	p->lasts++;
	reply->status = 418;
	reply->type = "text/plain";
	buf_put(&reply->body, call_stream_out(p->stream)->at, call_stream_out(p->stream)->len);
	return STREAM_COMPLETE;
}

static void end_without_head(struct play *p)
{
	call_stream_flush(p->stream);
	call_stream_over(p->stream);
}

TEST(call_stream_may_be_over_before_it_was_started)
{
	struct fixture *f = fixture_open();
	struct play later = { .f = f,
		.tell = tell_after_head,
		.source = { .head_later = true, .start = start_here } };
	struct play never = { .f = f,
		.tell = end_without_head,
		.source = { .head_later = true,
			.first = say_first,
			.start = start_here,
			.last = answer_whole } };
	const char *text;

	CHECK_STR(body_of(perform(&later, "GET")), "data: kept\n\ndata: last\n\n");
	CHECK_INT(later.lasts, 1);
	text = perform(&never, "GET");
	CHECK(strstr(text, " 418 ") && strstr(text, "Content-Length: 13\r\n"));
	CHECK_STR(body_of(text), "data: first\n\n");
	fixture_close(f);
}

/* ---- the store is asked meanwhile ---- */

static int read_one(void *state, struct db *db)
{
	static const struct statement one = { "stream_one", "select 1" };
	int64_t n;

	((struct play *)state)->asked++;
	return db_int(db, &one, &n, NO_ARGS);
}

/* Not before the source is over. */
static int read_late(void *state, struct db *db)
{
	struct play *p = state;

	if (!p->asked)
		sem_wait(&p->told);
	return read_one(state, db);
}

static bool say_answer(void *state, int err)
{
	struct play *p = state;

	CHECK_INT(err, 0);
	p->lasts_before = p->lasts;
	say(p, "data: answer\n\n");
	return true;
}

static void ask_and_be_over(struct play *p)
{
	static const struct stream_question late = { READ_ONLY, read_late, say_answer };

	CHECK_INT(call_stream_ask(p->stream, &late), 0);
	call_stream_over(p->stream);
	sem_post(&p->told);
}

static const struct stream_question question = { READ_ONLY, read_one, say_answer };

static void ask_and_go_on(struct play *p)
{
	CHECK_INT(call_stream_ask(p->stream, &question), 0);
	sem_wait(&p->told);
	say(p, "data: more\n\n");
	call_stream_over(p->stream);
}

static enum stream_end ask_last(void *state)
{
	struct play *p = state;

	p->lasts++;
	return call_stream_ask(p->stream, &question) ? STREAM_COMPLETE : STREAM_ASKING;
}

TEST(call_stream_waits_for_what_the_store_was_asked)
{
	struct fixture *f = fixture_open();
	struct play over = { .f = f, .tell = ask_and_be_over, .source = { .start = start_aside } };
	struct play goes_on = { .f = f, .tell = ask_and_go_on, .source = { .start = start_aside } };
	struct play last = {
		.f = f, .tell = tell_once, .source = { .start = start_aside, .last = ask_last }
	};

	CHECK_STR(body_of(perform(&over, "GET")), "data: answer\n\ndata: last\n\n");
	CHECK_INT(over.lasts_before, 0);
	CHECK_INT(over.lasts, 1);
	CHECK_INT(over.resumes + over.cancels, 0);

	CHECK_STR(
		body_of(perform(&goes_on, "GET")), "data: answer\n\ndata: more\n\ndata: last\n\n");
	CHECK_INT(goes_on.resumes, 1);
	CHECK_INT(goes_on.lasts, 1);

	CHECK_STR(body_of(perform(&last, "GET")), "data: word\n\ndata: answer\n\n");
	CHECK_INT(last.lasts_before, 1);
	CHECK_INT(last.lasts, 1);
	fixture_close(f);
}

/* ---- signs of life, and of death ---- */

static void be_silent(struct play *p)
{
	CHECK(call_stream_tick(p->stream));
	p->source.quiet_ms = 0; /* nothing was said for so long */
	CHECK(call_stream_tick(p->stream));
	call_stream_over(p->stream);
}

TEST(call_stream_says_something_empty_when_it_was_silent_for_long)
{
	struct fixture *f = fixture_open();
	struct play p = {
		.f = f, .tell = be_silent, .source = { .start = start_aside, .quiet_ms = 1000000 }
	};

	CHECK_STR(body_of(perform(&p, "GET")), ":\n\ndata: last\n\n");
	fixture_close(f);
}
