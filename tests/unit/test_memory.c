/* test_memory.c - what a request can make the house hold: pages of large rows, bodies of strangers, and
 * accounts that are full.  What is held is counted by ourselves, in bytes of arenas and buffers, never by what
 * the system says of the process.  The worst body of every route: test_memory_routes.c. */
#include "t.h"

#include <stdlib.h>

#include "serve/registry.h"
#include "base/memory.h"
#include "contract/decode.h"
#include "fixture.h"

/* ---- pages ---- */

static void add_memories(struct fixture *f, const char *agent, int count, size_t size)
{
	char *text = arena_alloc(&f->arena, size + 1);

	memset(text, 'x', size);
	for (int i = 0; i < count; i++) {
		struct id id = id_new(NULL);

		fixture_sql(f,
			"insert into memories (tenant_id, agent_id, id, created_at, content, "
			"content_folded) values ($1, $2, $3, 1, $4, '')",
			ARGS(T(f->tenant_id), T(agent), T(id.text), T(text)));
	}
}

TEST(memory_pages_are_cut_by_bytes)
{
	enum { ROWS = 30, SIZE = 300 * 1024 };
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "keeper"), *after = "";
	int seen = 0, pages = 0;

	add_memories(f, agent, ROWS, SIZE);
	while (after && pages < ROWS + 1) {
		struct answer r =
			ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/memories?per_page=200%s%s",
				f->tenant_id, agent, *after ? "&after=" : "", after);

		STATUS(r, 200);
		CHECK(r.body_len < CALL_PAGE_BYTES + 2 * SIZE);
		seen += (int)json_array_size(at(&r, "items"));
		CHECK_INT(json_integer_value(at(&r, "total")), ROWS);
		after = text_at(&r, "next_after");
		pages++;
	}
	CHECK_INT(seen, ROWS);
	CHECK(pages > 3 && pages <= ROWS);
	/* A page that is counted is whole, or refused. */
	CHECK(refuses(&(struct answer[]){ ask(f, f->admin, NULL,
			      "GET /tenant/%s/agents/%s/memories?per_page=15&page=2", f->tenant_id,
			      agent) }[0],
		"per_page", "too_large"));
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/memories?per_page=5&page=2",
		       f->tenant_id, agent),
		200);
	fixture_close(f);
}

/* ---- at the head ---- */

static const char *say(struct fixture *f, struct http_inproc *inproc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static const char *say(struct fixture *f, struct http_inproc *inproc, const char *fmt, ...)
{
	const char *text;
	struct buf out;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(&f->arena, fmt, ap);
	va_end(ap);
	buf_init(&out, 1 << 20);
	http_inproc_send(inproc, text, strlen(text), &out);
	text = arena_strndup(&f->arena, out.at ? out.at : "", out.len);
	buf_free(&out);
	return text;
}

static const struct http_limits inproc_limits = {
	.max_head = 32 * 1024,
	.max_headers = 100,
	.max_body = 8 << 20,
	.max_arena = (size_t)128 << 20,
	.max_connections = 10,
	.header_ms = 10000,
	.body_ms = 10000,
	.idle_ms = 10000,
	.reply_ms = 10000,
	.deferred_ms = 60000,
	.patient_ms = 60000,
};

static struct http_inproc *open_inproc(struct fixture *f)
{
	struct http_handler h = call_handler(&f->app);

	return http_inproc_new(&inproc_limits, &h);
}

#define LARGE "Host: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n"

/* The answer comes with the head alone: not a byte of the body is waited for. */
TEST(memory_is_not_given_to_the_bodies_of_strangers)
{
	struct fixture *f = fixture_open();
	static const char *const said[] = { "", "Authorization: Bearer nonsense\r\n",
		"Authorization: Bearer lodge_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n",
		"Expect: 100-continue\r\n" };
	const char *agent = fixture_agent(f, "keeper"), *token, *text;
	struct http_inproc *inproc = open_inproc(f);

	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		test_step("%s", said[i]);
		text = say(f, inproc, "POST /tenant/%s/agents HTTP/1.1\r\n" LARGE "%s\r\n",
			f->tenant_id, said[i]);
		CHECK(strncmp(text, "HTTP/1.1 401 ", 13) == 0);
		CHECK(strstr(text, "\r\nConnection: close\r\n"));
	}
	fixture_user(f, "stranger@example.com", &token);
	text = say(f, inproc,
		"PATCH /tenant/%s/agents/%s HTTP/1.1\r\n" LARGE "Authorization: Bearer %s\r\n\r\n",
		f->tenant_id, agent, token);
	CHECK(strncmp(text, "HTTP/1.1 404 ", 13) == 0);
	text = say(f, inproc, "POST /auth/login HTTP/1.1\r\n" LARGE "\r\n");
	CHECK(strncmp(text, "HTTP/1.1 413 ", 13) == 0);
	text = say(f, inproc, "POST /nothing/here HTTP/1.1\r\n" LARGE "\r\n");
	CHECK(strncmp(text, "HTTP/1.1 404 ", 13) == 0);
	text = say(f, inproc, "POST /v1/nothing HTTP/1.1\r\n" LARGE "\r\n");
	CHECK(strncmp(text, "HTTP/1.1 404 ", 13) == 0);
	CHECK(strstr(text, "\r\n\r\n{\"error\":{"));
	CHECK(strstr(text, "\r\nConnection: close\r\n"));
	text = say(f, inproc,
		"POST /tenant/%s/agents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
		"Content-Length: 31\r\nExpect: 100-continue\r\nAuthorization: Bearer %s\r\n\r\n",
		f->tenant_id, f->admin);
	CHECK_STR(text, "HTTP/1.1 100 Continue\r\n\r\n");
	text = say(f, inproc, "{\"name\":\"Later\",\"slug\":\"later\"}");
	test_step("%s", text);
	CHECK(strncmp(text, "HTTP/1.1 201 ", 13) == 0);
	http_inproc_free(inproc);
	fixture_close(f);
}

/* ---- accounts ---- */

TEST(memory_of_one_address_and_one_tenant_has_an_end)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "keeper"), *large;
	char *text = arena_alloc(&f->arena, 900 * 1024 + 1);
	struct answer r;

	memset(text, 'x', 900 * 1024);
	large = arena_printf(&f->arena, "{\"description_prompt\":\"%s\"}", text);
	f->app.settings.address_memory = f->app.settings.tenant_memory = 512 * 1024;
	r = ask(f, NULL, large, "POST /hooks/%s", f->tenant_id);
	STATUS(r, 503);
	CHECK(header_of(f, &r, "Retry-After"));
	STATUS(ask(f, f->admin, large, "PATCH /tenant/%s/agents/%s", f->tenant_id, agent), 503);
	f->app.settings.address_memory = f->app.settings.tenant_memory = 8 << 20;
	for (int i = 0; i < 20; i++) { /* what was charged has been taken off again */
		STATUS(ask(f, f->admin, large, "PATCH /tenant/%s/agents/%s", f->tenant_id, agent),
			200);
		CHECK(ask(f, NULL, large, "POST /hooks/%s", f->tenant_id).status != 503);
	}
	add_memories(f, agent, 4, 400 * 1024);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/memories", f->tenant_id, agent),
		200);
	f->app.settings.tenant_memory = 512 * 1024;
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/memories", f->tenant_id, agent),
		503);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s", f->tenant_id, agent), 503);
	STATUS(ask(f, f->admin, NULL, "GET /me"), 200);
	fixture_close(f);
}

/* ---- nothing is asked for ---- */

/* That the agent has no picture is told by the operation: the body was no hindrance. */
TEST(memory_an_empty_object_is_no_body)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "keeper");

	STATUS(ask(f, f->admin, "{}", "DELETE /tenant/%s/agents/%s/avatar", f->tenant_id, agent),
		404);
	STATUS(ask(f, f->admin, " { } ", "DELETE /tenant/%s/agents/%s/avatar", f->tenant_id, agent),
		404);
	STATUS(ask(f, f->admin, "{\"a\":1}", "DELETE /tenant/%s/agents/%s/avatar", f->tenant_id,
		       agent),
		400);
	STATUS(ask(f, f->admin, "[]", "DELETE /tenant/%s/agents/%s/avatar", f->tenant_id, agent),
		400);
	STATUS(ask(f, f->admin, "{} x", "DELETE /tenant/%s/agents/%s/avatar", f->tenant_id, agent),
		400);
	fixture_close(f);
}
