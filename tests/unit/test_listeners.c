/* test_listeners.c - how many streams of events a person and a tenant keep open, and events of one kind alone. */
#include "stream_fixture.h"

#include <string.h>

#include "base/clock.h"

enum { LISTENER_WAIT_MS = 15000 };

static void listen_to(
	struct reader *c, struct stream_fixture *s, const char *token, const char *path)
{
	reader_open(c, s, token, NULL, "%s", path);
	while (!c->status && !c->over)
		reader_next(c, 50);
}

/* The service learns of a reader that went when it comes to it. */
static void listen_in_time(
	struct reader *c, struct stream_fixture *s, const char *token, const char *path)
{
	int64_t until = clock_mono_ms() + LISTENER_WAIT_MS;

	listen_to(c, s, token, path);
	while (c->status == 429 && clock_mono_ms() < until) {
		reader_close(c);
		hub_check_now(s->f->app.hub);
		listen_to(c, s, token, path);
	}
	CHECK_INT(c->status, 200);
}

TEST(listeners_of_one_person_are_counted_and_given_back)
{
	struct stream_fixture s;
	struct reader one, two, three;
	struct answer r;
	const char *path, *token;

	stream_fixture_open(&s, 0);
	s.f->app.settings.person_streams = 2;
	path = arena_printf(&s.f->arena, "/sessions/%s/events", stream_session(&s, NULL));
	fixture_member(s.f, s.f->tenant_id, fixture_user(s.f, "o@example.org", &token), "ADMIN");
	listen_to(&one, &s, s.f->admin, "/me/events");
	CHECK_INT(one.status, 200);
	listen_to(&two, &s, s.f->admin, path);
	CHECK_INT(two.status, 200);
	r = ask(s.f, s.f->admin, NULL, "GET /me/events");
	STATUS(r, 429);
	CHECK(strstr(text_at(&r, "type"), "too_many_streams"));
	CHECK(strstr(text_at(&r, "detail"), "wait=false"));
	CHECK(header_of(s.f, &r, "Retry-After"));
	STATUS(ask(s.f, s.f->admin, NULL, "GET %s", path), 429);
	/* What ends by itself is not counted, and others are not counted with them. */
	STATUS(ask(s.f, s.f->admin, NULL, "GET /me/events?wait=false"), 200);
	STATUS(ask(s.f, s.f->admin, NULL, "GET %s?wait=false", path), 200);
	listen_to(&three, &s, token, path);
	CHECK_INT(three.status, 200);
	reader_close(&three);
	reader_close(&two);
	listen_in_time(&two, &s, s.f->admin, path);
	reader_close(&one);
	listen_in_time(&one, &s, s.f->admin, "/me/events");
	reader_close(&one);
	reader_close(&two);
	stream_fixture_close(&s);
}

TEST(listeners_of_one_tenant_are_counted)
{
	struct stream_fixture s;
	struct reader one, two;
	const char *path, *token;
	struct answer r;

	stream_fixture_open(&s, 0);
	s.f->app.settings.tenant_streams = 1;
	s.f->app.settings.person_streams = 1;
	path = arena_printf(&s.f->arena, "/sessions/%s/events", stream_session(&s, NULL));
	fixture_member(s.f, s.f->tenant_id, fixture_user(s.f, "o@example.org", &token), "ADMIN");
	listen_to(&one, &s, s.f->admin, path);
	CHECK_INT(one.status, 200);
	r = ask(s.f, token, NULL, "GET %s", path);
	STATUS(r, 429);
	CHECK(strstr(text_at(&r, "detail"), "tenant"));
	/* Refused for the tenant, it does not count for the person. */
	listen_to(&two, &s, token, "/me/events");
	CHECK_INT(two.status, 200);
	reader_close(&one);
	reader_close(&two);
	stream_fixture_close(&s);
}

TEST(stream_tells_of_one_kind_alone)
{
	struct stream_fixture s;
	const char *id, *text;
	struct answer r;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	stream_add(&s, id, SESSION_EVENT_STATUS, "{\"status\":\"running\"}");
	stream_add(&s, id, SESSION_EVENT_NOTICE, "{\"code\":\"failover\",\"text\":\"t\"}");
	stream_add(&s, id, SESSION_EVENT_STATUS, "{\"status\":\"completed\"}");
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events?after=0&wait=false&kind=notice",
		id);
	STATUS(r, 200);
	text = answer_unchunked(s.f, &r);
	CHECK(strstr(text, "event: notice"));
	CHECK(!strstr(text, "event: status"));
	STATUS(ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events?wait=false&kind=smell", id),
		422);
	stream_fixture_close(&s);
}
