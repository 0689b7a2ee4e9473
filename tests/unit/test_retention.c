/* test_retention.c - the pieces of old messages go, and whoever resumes from among them gets the whole. */
#include "document.h"
#include "stream_fixture.h"

#include "base/clock.h"
#include "sessions/retention.h"

static int64_t deltas(struct fixture *f)
{
	return fixture_count(f, "select count(*) from session_events where kind = 'delta'");
}

/* Maintenance are done when what was submitted after them is. */
static int nothing(struct db *db, void *data)
{
	(void)db;
	(void)data;
	return 0;
}

static void keep_house(struct fixture *f, int64_t now)
{
	for (int i = 0; i < 2; i++) {
		retention_submit(f->app.store, now);
		CHECK_INT(fixture_work(f, nothing, NULL), 0);
	}
}

TEST(retention_drops_the_pieces_of_messages_that_are_whole)
{
	int64_t now = clock_now_us(), hour = 3600 * SECOND_US;
	struct stream_fixture s;
	const char *done, *open;
	struct answer r;

	document_unheld = true; /* it writes events of its own into the log */
	stream_fixture_open(&s, 0);
	done = stream_session(&s, NULL);
	open = stream_session(&s, NULL);
	for (int i = 0; i < 5; i++) {
		stream_add(&s, done, SESSION_EVENT_DELTA, "{\"message_id\":\"m\",\"text\":\"x\"}");
		stream_add(&s, open, SESSION_EVENT_DELTA, "{\"message_id\":\"m\",\"text\":\"x\"}");
	}
	stream_add(&s, done, SESSION_EVENT_MESSAGE, "{\"content\":\"xxxxx\"}");
	fixture_sql(s.f, "update session_rows set writing_id = id where id = $1", ARGS(T(open)));
	keep_house(s.f, now);
	CHECK_INT(deltas(s.f), 10);
	keep_house(s.f, now + hour + 60 * SECOND_US);
	CHECK_INT(deltas(s.f), 5); /* of the one that is being written */
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events?after=2&wait=false", done);
	STATUS(r, 200);
	CHECK(strstr(r.body, "id: 6\nevent: message\ndata: {\"content\":\"xxxxx\"}\n\n"));
	CHECK(!strstr(r.body, "event: delta"));
	fixture_sql(s.f, "update session_rows set writing_id = null", NO_ARGS);
	keep_house(s.f, now + hour + 60 * SECOND_US);
	CHECK_INT(deltas(s.f), 0);
	STATUS(ask(s.f, s.f->admin, "{\"name\":\"B\"}", "PATCH /agents/%s", s.agent_id), 200);
	CHECK(fixture_count(s.f, "select count(*) from tenant_events") > 0);
	keep_house(s.f, now + 8 * 24 * hour);
	CHECK_INT(fixture_count(s.f, "select count(*) from tenant_events"), 0);
	CHECK_INT(fixture_count(s.f, "select count(*) from session_events"), 1);
	stream_fixture_close(&s);
	document_unheld = false;
}

TEST(retention_drops_more_than_one_piece_of_work)
{
	struct stream_fixture s;
	const char *id;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	fixture_sql(s.f,
		"insert into session_events (tenant_id, session_id, seq, kind, created_at, data) "
		"with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200) "
		"select cast($1 as text), cast($2 as text), i, 'delta', 1, 'x' from n",
		ARGS(T(s.f->tenant_id), T(id)));
	CHECK_INT(deltas(s.f), 1200);
	retention_submit(s.f->app.store, clock_now_us());
	for (int i = 0; i < 30000 && deltas(s.f); i++)
		CHECK_INT(fixture_work(s.f, nothing, NULL), 0);
	CHECK_INT(deltas(s.f), 0);
	stream_fixture_close(&s);
}
