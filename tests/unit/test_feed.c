/* test_feed.c - GET /me/events: what is seen and what is not, pieces joined, resumed without loss or repeat. */
#include "stream_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "events/feed_number.h"
#include "events/feed.h"

enum { LONG_MS = 15000 };

static void open_at_now(struct reader *c, struct stream_fixture *s, const char *token)
{
	reader_open(c, s, token, NULL, "/me/events");
	while (!*c->last_id && !c->over)
		reader_next(c, 50);
	CHECK_INT(c->status, 200);
}

static const char *field(struct stream_fixture *s, struct reader *c, const char *path)
{
	struct answer r = { .json = json_loads(c->data.at, 0, NULL) };
	const char *text = text_at(&r, path), *copy = text ? arena_strdup(&s->f->arena, text) : "";

	json_decref(r.json);
	return copy;
}

TEST(feed_places_are_read_as_they_are_written)
{
	static const char *const good[] = { "0", "812",
		"812-830-caaaaaaaaaaaaaaaaaaaaaaaa-cbbbbbbbbbbbbbbbbbbbbbbbb-41" };
	static const char *const bad[] = { "", "x", "-1", "1x", "812-", "812-830", "812-830-",
		"812-812-caaaaaaaaaaaaaaaaaaaaaaaa-cbbbbbbbbbbbbbbbbbbbbbbbb-41",
		"830-812-caaaaaaaaaaaaaaaaaaaaaaaa-cbbbbbbbbbbbbbbbbbbbbbbbb-41",
		"812-830-caaaaaaaaaaaaaaaaaaaaaaa-cbbbbbbbbbbbbbbbbbbbbbbbb-41",
		"812-830-caaaaaaaaaaaaaaaaaaaaaaaa-cbbbbbbbbbbbbbbbbbbbbbbbb-",
		"812-830-caaaaaaaaaaaaaaaaaaaaaaaa-cbbbbbbbbbbbbbbbbbbbbbbbb-41-",
		"9999999999999999999" };
	struct feed_cursor p;
	struct buf b;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		buf_init(&b, 1000);
		CHECK(feed_cursor_read(&p, good[i]));
		feed_cursor_write(&p, &b);
		buf_putc(&b, '\0');
		CHECK_STR(b.at, good[i]);
		buf_free(&b);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK(!feed_cursor_read(&p, bad[i]));
	}
}

TEST(feed_tells_the_owner_everything)
{
	struct stream_fixture s;
	struct reader c;
	const char *one, *two;

	stream_fixture_open(&s, 0);
	one = stream_session(&s, NULL);
	two = stream_session(&s, NULL);
	open_at_now(&c, &s, s.f->admin);
	stream_add(&s, one, SESSION_EVENT_STATUS, "{\"status\":\"running\"}");
	CHECK(reader_next(&c, LONG_MS));
	CHECK_STR(c.event, "status");
	CHECK_STR(field(&s, &c, "tenant_id"), s.f->tenant_id);
	CHECK_STR(field(&s, &c, "session_id"), one);
	CHECK_STR(field(&s, &c, "data.status"), "running");
	stream_add(&s, two, SESSION_EVENT_APPROVAL, "{\"id\":\"a\"}");
	CHECK(reader_next(&c, LONG_MS));
	CHECK_STR(c.event, "approval");
	CHECK_STR(field(&s, &c, "session_id"), two);
	STATUS(ask(s.f, s.f->admin, "{\"name\":\"B\"}", "PATCH /agents/%s", s.agent_id), 200);
	CHECK(reader_next(&c, LONG_MS));
	CHECK_STR(c.event, "agent");
	CHECK_STR(field(&s, &c, "data.agent_id"), s.agent_id);
	CHECK_STR(field(&s, &c, "data.action"), "agent.update");
	reader_close(&c);
	stream_fixture_close(&s);
}

/* Adds one event everywhere, then one to the session that is seen, and expects the latter alone. */
static void expect_only(struct stream_fixture *s, struct reader *c, const char *seen,
	const char *const *unseen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		stream_add(s, unseen[i], SESSION_EVENT_NOTICE, "{\"code\":\"secret\"}");
	stream_add(s, seen, SESSION_EVENT_NOTICE, "{\"code\":\"mine\"}");
	CHECK(reader_next(c, LONG_MS));
	CHECK_STR(field(s, c, "session_id"), seen);
	CHECK_STR(field(s, c, "data.code"), "mine");
}

TEST(feed_tells_nobody_what_they_may_not_see)
{
	struct stream_fixture s;
	struct reader member, stranger, viewer, key;
	const char *user, *token, *foreign, *foreigner, *reads, *reader;
	const char *mine, *other, *last[1];

	stream_fixture_open(&s, 0);
	user = fixture_user(s.f, "mira@example.org", &token);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	foreign = fixture_user(s.f, "far@example.org", &foreigner);
	fixture_tenant(s.f, "far", foreign);
	reads = fixture_user(s.f, "rea@example.org", &reader);
	fixture_member(s.f, s.f->tenant_id, reads, "MEMBER");
	STATUS(ask(s.f, s.f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", s.agent_id,
		       reads),
		201);
	mine = stream_session(&s, user);
	other = stream_session(&s, NULL);
	last[0] = other;
	open_at_now(&member, &s, token);
	open_at_now(&stranger, &s, foreigner);
	open_at_now(&viewer, &s, reader);
	reader_open(&key, &s, reader, NULL, "/me/events?session_id=%s", mine);
	while (!*key.last_id && !key.over)
		reader_next(&key, 50);
	expect_only(&s, &member, mine, last, 1);
	CHECK(!reader_next(&stranger, 300));
	/* A role of one's own sees all of the agent's sessions. */
	CHECK(reader_next(&viewer, LONG_MS));
	CHECK(reader_next(&viewer, LONG_MS));
	/* The filter: that session alone. */
	CHECK(reader_next(&key, LONG_MS));
	CHECK_STR(field(&s, &key, "session_id"), mine);
	CHECK(!reader_next(&key, 300));
	/* Whoever is let in or shut out hears the difference. */
	fixture_sql(s.f, "delete from session_people where user_id = $1", ARGS(T(user)));
	fixture_sql(s.f,
		"insert into session_people (tenant_id, user_id, session_id) values ($1, $2, $3)",
		ARGS(T(s.f->tenant_id), T(user), T(other)));
	hub_check_now(s.f->app.hub);
	CHECK(!reader_next(&member, 400));
	last[0] = mine;
	expect_only(&s, &member, other, last, 1);
	fixture_sql(s.f, "update users set is_suspended = 1 where id = $1", ARGS(T(user)));
	hub_check_now(s.f->app.hub);
	CHECK(reader_await_end(&member, LONG_MS) && member.whole);
	STATUS(ask(s.f, foreigner, NULL, "GET /me/events?wait=false&session_id=%s", mine), 404);
	STATUS(ask(s.f, foreigner, NULL, "GET /me/events?wait=false&tenant_id=%s", s.f->tenant_id),
		404);
	STATUS(ask(s.f, foreigner, NULL, "GET /me/events?wait=false\nLast-Event-ID: 1-2"), 422);
	STATUS(ask(s.f, foreigner, NULL, "GET /me/events?wait=false"), 200);
	reader_close(&member);
	reader_close(&stranger);
	reader_close(&viewer);
	reader_close(&key);
	stream_fixture_close(&s);
}

TEST(feed_tells_of_hidden_agents_to_those_who_find_them)
{
	static const struct {
		const char *role, *agent_role;
		bool told;
	} cases[] = {
		{ "MEMBER", NULL, false },
		{ "MEMBER", "VIEWER", false },
		{ "MEMBER", "MANAGER", true },
		{ "ADMIN", NULL, true },
	};
	enum { CASES = sizeof cases / sizeof *cases };
	struct stream_fixture s;
	struct reader readers[CASES];
	const char *hidden;

	stream_fixture_open(&s, 0);
	hidden = fixture_agent(s.f, "hidden");
	STATUS(ask(s.f, s.f->admin, "{\"hidden\":true}", "PATCH /agents/%s", hidden), 200);
	for (size_t i = 0; i < CASES; i++) {
		const char *token,
			*user = fixture_user(
				s.f, arena_printf(&s.f->arena, "h%zu@example.org", i), &token);
		struct answer r;

		fixture_member(s.f, s.f->tenant_id, user, cases[i].role);
		if (cases[i].agent_role)
			STATUS(ask(s.f, s.f->admin,
				       arena_printf(&s.f->arena, "{\"role\":\"%s\"}",
					       cases[i].agent_role),
				       "PUT /agents/%s/roles/%s", hidden, user),
				201);
		r = ask(s.f, token, NULL, "GET /tenant/%s/agents?include_hidden=true",
			s.f->tenant_id);
		CHECK((strstr(r.body, hidden) != NULL) == cases[i].told);
		open_at_now(&readers[i], &s, token);
	}
	STATUS(ask(s.f, s.f->admin, "{\"name\":\"H\"}", "PATCH /agents/%s", hidden), 200);
	STATUS(ask(s.f, s.f->admin, "{\"name\":\"S\"}", "PATCH /agents/%s", s.agent_id), 200);
	for (size_t i = 0; i < CASES; i++) {
		test_step("%s %s", cases[i].role, cases[i].agent_role ? cases[i].agent_role : "");
		CHECK(reader_next(&readers[i], LONG_MS));
		if (cases[i].told) {
			CHECK_STR(field(&s, &readers[i], "data.agent_id"), hidden);
			CHECK(reader_next(&readers[i], LONG_MS));
		}
		CHECK_STR(field(&s, &readers[i], "data.agent_id"), s.agent_id);
		reader_close(&readers[i]);
	}
	stream_fixture_close(&s);
}

TEST(feed_joins_the_pieces_of_a_message)
{
	enum { PIECES = 400 };
	struct stream_fixture s;
	struct reader c;
	const char *id;
	char want[PIECES + 1] = "", data[128];
	struct buf got;
	int64_t began;
	int events = 0;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	open_at_now(&c, &s, s.f->admin);
	began = clock_mono_ms();
	for (int i = 0; i < PIECES; i++) {
		want[i] = (char)('a' + i % 26);
		snprintf(data, sizeof data, "{\"message_id\":\"%s\",\"text\":\"%c\"}", id, want[i]);
		stream_add(&s, id, SESSION_EVENT_DELTA, data);
	}
	stream_add(&s, id, SESSION_EVENT_STATUS, "{\"status\":\"completed\"}");
	buf_init(&got, 1 << 20);
	while (reader_next(&c, LONG_MS) && strcmp(c.event, "delta") == 0) {
		events++;
		buf_puts(&got, field(&s, &c, "data.text"));
	}
	CHECK_STR(c.event, "status");
	buf_putc(&got, '\0');
	CHECK_STR(got.at, want);
	/* At most ten a second, and what a turn that was under way had begun. */
	CHECK(events <= 2 + (clock_mono_ms() - began) / FEED_BATCH_MS);
	buf_free(&got);
	reader_close(&c);
	stream_fixture_close(&s);
}

TEST(feed_says_when_a_place_is_of_another_history)
{
	struct stream_fixture s;
	struct answer r;

	stream_fixture_open(&s, 0);
	r = ask(s.f, s.f->admin, NULL, "GET /me/events?wait=false\nLast-Event-ID: 999999999999");
	STATUS(r, 200);
	CHECK(strstr(r.body, "event: reset\n"));
	stream_fixture_close(&s);
}

static int repair(struct db *db, void *data)
{
	(void)data;
	return feed_repair(db);
}

struct numbers {
	int64_t horizon, started;
};

static int read_horizon(struct db *db, void *data)
{
	struct numbers *n = data;
	struct arena a = { 0 };
	int err = feed_horizon(db, &a, &n->horizon, &n->started);

	arena_free(&a);
	return err;
}

TEST(feed_numbers_go_on_above_all_that_were_given)
{
	struct stream_fixture s;
	struct numbers before, after;
	struct reader c;
	const char *id;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	stream_add(&s, id, SESSION_EVENT_NOTICE, "{}");
	CHECK_INT(fixture_work(s.f, read_horizon, &before), 0);
	/* As if the tables came from a server that had given far higher ones. */
	fixture_sql(s.f, "delete from meta where key = 'feed_home'", NO_ARGS);
	fixture_sql(
		s.f, "insert into meta (key, value) values ('feed_home', 'postgres 1')", NO_ARGS);
	fixture_sql(s.f, "update session_events set feed = $1", ARGS(N(before.horizon + 5000000)));
	CHECK_INT(fixture_work(s.f, repair, NULL), 0);
	open_at_now(&c, &s, s.f->admin);
	CHECK(strtoll(c.last_id, NULL, 10) >= before.horizon + 5000000);
	stream_add(&s, id, SESSION_EVENT_NOTICE, "{}");
	CHECK(reader_next(&c, LONG_MS));
	CHECK_INT(fixture_work(s.f, repair, NULL), 0); /* once is enough */
	CHECK_INT(fixture_work(s.f, read_horizon, &after), 0);
	CHECK(after.horizon < before.horizon + 5001000);
	/* Where they are at home nobody looks through all tenants. */
	fixture_sql(s.f, "update session_events set feed = $1", ARGS(N(before.horizon + 9000000)));
	CHECK_INT(fixture_work(s.f, repair, NULL), 0);
	CHECK_INT(fixture_work(s.f, read_horizon, &after), 0);
	CHECK(after.horizon < before.horizon + 9000000);
	reader_close(&c);
	stream_fixture_close(&s);
}

/* ---- the law: what was received, one piece after the other, is the log ---- */

enum { SESSIONS = 5, WRITERS = 4, READERS = 4, EVENTS = 60 };

struct race {
	struct stream_fixture s;
	const char *ids[SESSIONS];
	_Atomic int wrong;
};

struct racer {
	struct race *race;
	int number;
	unsigned seed;
	int seen[SESSIONS];
};

static void *race_write(void *arg)
{
	struct racer *me = arg;
	char data[4000];

	for (int i = 0; i < EVENTS * SESSIONS; i++) {
		const char *id = me->race->ids[(i + me->number) % SESSIONS];
		int pad = rand_r(&me->seed) % 10 == 0 ? 3000 : 10;

		if (rand_r(&me->seed) % 2) {
			snprintf(data, sizeof data, "{\"message_id\":\"%s\",\"text\":\"x\"}", id);
			stream_add(&me->race->s, id, SESSION_EVENT_DELTA, data);
		} else {
			snprintf(data, sizeof data, "{\"pad\":\"%0*d\"}", pad, i);
			stream_add(&me->race->s, id, SESSION_EVENT_NOTICE, data);
		}
	}
	return NULL;
}

/* An event tells its number; pieces that were joined tell how many by the length of their text. */
static bool take_event(struct racer *me, struct reader *c)
{
	json_t *v = json_loads(c->data.at, 0, NULL);
	const char *id = json_string_value(json_object_get(v, "session_id"));
	int seq = (int)json_integer_value(json_object_get(v, "seq")), pieces = 1, k = 0;
	bool good;

	if (strcmp(c->event, "delta") == 0)
		pieces = (int)strlen(
			json_string_value(json_object_get(json_object_get(v, "data"), "text")));
	while (k < SESSIONS - 1 && strcmp(me->race->ids[k], id) != 0)
		k++;
	good = me->seen[k] + pieces == seq;
	me->seen[k] = seq;
	json_decref(v);
	return good;
}

static bool has_all(const struct racer *me)
{
	for (int k = 0; k < SESSIONS; k++)
		if (me->seen[k] != EVENTS * WRITERS)
			return false;
	return true;
}

static void *race_read(void *arg)
{
	struct racer *me = arg;
	int64_t due = clock_mono_ms() + 60000;
	char last[160] = "0";
	struct reader c;

	while (!has_all(me) && clock_mono_ms() < due) {
		int stay = 1 + rand_r(&me->seed) % 60;

		reader_open(&c, &me->race->s, me->race->s.f->admin, last, "/me/events?tenant_id=%s",
			me->race->s.f->tenant_id);
		while (!has_all(me) && stay-- > 0 && reader_next(&c, 20000))
			if (strcmp(c.event, "agent") != 0 && !take_event(me, &c))
				atomic_fetch_add(&me->race->wrong, 1);
		if (!has_all(me) && stay >= 0 && !c.over) /* there is more, and it does not come */
			atomic_fetch_add(&me->race->wrong, 1);
		strcpy(last, c.last_id);
		reader_close(&c);
	}
	if (!has_all(me))
		atomic_fetch_add(&me->race->wrong, 1);
	return NULL;
}

TEST(feed_loses_and_repeats_nothing)
{
	static struct race race;
	struct racer racers[WRITERS + READERS];
	pthread_t threads[WRITERS + READERS];

	memset(&race, 0, sizeof race);
	stream_fixture_open(&race.s, 0);
	for (int i = 0; i < SESSIONS; i++)
		race.ids[i] = stream_session(&race.s, NULL);
	for (int i = 0; i < WRITERS + READERS; i++) {
		racers[i] = (struct racer){ &race, i, (unsigned)i * 7919 + 1 };
		pthread_create(&threads[i], NULL, i < WRITERS ? race_write : race_read, &racers[i]);
	}
	for (int i = 0; i < WRITERS + READERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(race.wrong, 0);
	stream_fixture_close(&race.s);
}
