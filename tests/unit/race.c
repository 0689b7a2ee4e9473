/* race.c - see race.h. */
#include "race.h"

#include <pthread.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20 };

static const struct http_limits limits = {
	.max_head = 32 * 1024,
	.max_headers = 100,
	.max_body = 8 << 20,
	.max_connections = 10,
	.header_ms = 60000,
	.body_ms = 60000,
	.idle_ms = 60000,
	.reply_ms = 60000,
	.deferred_ms = 60000,
	.patient_ms = 60000,
};

struct lane {
	pthread_t thread;
	pthread_barrier_t *start;
	struct http_inproc *inproc;
	struct buf out, in;
};

static void *run(void *arg)
{
	struct lane *l = arg;

	pthread_barrier_wait(l->start);
	http_inproc_send(l->inproc, l->out.at, l->out.len, &l->in);
	return NULL;
}

static void compose(struct buf *out, const struct racer *r)
{
	const char *more = strchr(r->request, '\n');
	int line = (int)(more ? more - r->request : (long)strlen(r->request));

	buf_printf(out, "%.*s HTTP/1.1\r\nHost: lodge.test\r\nAuthorization: Bearer %s\r\n", line,
		r->request, r->token);
	if (more)
		buf_printf(out, "%s\r\n", more + 1);
	buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(r->body), r->body);
}

static void release(void *json)
{
	json_decref(json);
}

static struct answer read_answer(struct fixture *f, const struct buf *in)
{
	char *text = arena_strndup(&f->arena, in->at, in->len), *body = strstr(text, "\r\n\r\n");
	struct answer r = { .head = text, .body = body ? body + 4 : "" };

	if (!body || strncmp(text, "HTTP/1.1 ", 9) != 0) {
		test_fail(__FILE__, __LINE__, "not a reply: %.200s", text);
		return r;
	}
	r.status = atoi(text + 9);
	r.body_len = strlen(r.body);
	if (r.body_len && body[4 + r.body_len - 1] == '\n') /* as the fixture's answers are */
		body[4 + --r.body_len] = '\0';
	r.json = json_loads(r.body, 0, NULL);
	if (r.json)
		arena_defer(&f->arena, release, r.json);
	return r;
}

void race(struct fixture *f, struct racer *racers, size_t count)
{
	struct http_handler handler = call_handler(&f->app);
	struct lane lanes[RACERS_MAX];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, (unsigned)count);
	for (size_t i = 0; i < count; i++) {
		lanes[i].start = &start;
		lanes[i].inproc = http_inproc_new(&limits, &handler);
		buf_init(&lanes[i].out, TEXT_MAX);
		buf_init(&lanes[i].in, TEXT_MAX);
		compose(&lanes[i].out, &racers[i]);
	}
	for (size_t i = 0; i < count; i++)
		pthread_create(&lanes[i].thread, NULL, run, &lanes[i]);
	for (size_t i = 0; i < count; i++) {
		pthread_join(lanes[i].thread, NULL);
		racers[i].answer = read_answer(f, &lanes[i].in);
		http_inproc_free(lanes[i].inproc);
		buf_free(&lanes[i].out);
		buf_free(&lanes[i].in);
	}
	pthread_barrier_destroy(&start);
}

int race_count(const struct racer *racers, size_t count, int status)
{
	int n = 0;

	for (size_t i = 0; i < count; i++)
		n += racers[i].answer.status == status;
	return n;
}
