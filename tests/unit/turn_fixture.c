/* turn_fixture.c - see turn_fixture.h. */
#include "turn_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "contract/decode.h"
#include "sessions/session_events.h"

enum { PATIENCE_MS = 120000 };

void turn_tool(struct turn_fixture *s, const char *agent_id, const char *name)
{
	struct fixture *f = s->f;
	struct answer r = ask(f, f->admin, NULL, "GET /tenant/%s/tools?q=%s", f->tenant_id, name);
	const char *id = NULL;

	for (size_t i = 0; i < json_array_size(at(&r, "items")); i++)
		if (strcmp(text_at(&r, arena_printf(&f->arena, "items.%zu.name", i)), name) == 0)
			id = text_at(&r, arena_printf(&f->arena, "items.%zu.id", i));
	if (!id) {
		r = ask(f, f->admin,
			arena_printf(&f->arena, "{\"name\":\"%s\",\"kind\":\"builtin\"}", name),
			"POST /tenant/%s/tools", f->tenant_id);
		STATUS(r, 201);
		id = text_at(&r, "id");
	}
	r = ask(f, f->admin, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", id),
		"POST /tenant/%s/agents/%s/tools", f->tenant_id, agent_id);
	CHECK(r.status == 200 || r.status == 201);
}

static void equip(struct turn_fixture *s, const char *const *tools)
{
	s->as.user_id = s->f->admin_id;
	for (; tools && *tools; tools++)
		turn_tool(s, s->agent_id, *tools);
	turn_session(s);
}

void turn_open(struct turn_fixture *s, const char *const *tools)
{
	struct answer r;

	*s = (struct turn_fixture){ 0 };
	gateway_open(&s->gateway);
	s->f = s->gateway.f;
	r = ask(s->f, s->f->admin,
		"{\"name\":\"Worker\",\"slug\":\"worker\",\"description_prompt\":\"You work.\"}",
		"POST /tenant/%s/agents", s->f->tenant_id);
	STATUS(r, 201);
	s->agent_id = text_at(&r, "id");
	equip(s, tools);
}

void turn_open_mock(struct turn_fixture *s, const char *const *scripts, const char *const *tools)
{
	*s = (struct turn_fixture){ 0 };
	gateway_open(&s->gateway);
	s->f = s->gateway.f;
	gateway_agent(&s->gateway, scripts);
	s->agent_id = s->gateway.agent_id;
	equip(s, tools);
}

void turn_close(struct turn_fixture *s)
{
	gateway_close(&s->gateway);
}

/* ---- what is done to a session ---- */

struct deed {
	struct turn_fixture *s;
	enum { OPEN, SAY, START, CANCEL, DECIDE, ANSWER } kind;
	const char *text, *call_id;
	bool approved;
	const struct run_options *options;
	struct arena arena;
};

static int decide_first(struct db *db, struct deed *d, int64_t now, struct problem *p)
{
	static const struct statement first = { .name = "test",
		.sql = "select id as value from approvals where tenant_id = $1 and session_id = $2 "
		       "and status = 'pending' order by id limit 1",
		.row = &one_text_schema };
	struct turn_fixture *s = d->s;
	struct one_text id;
	int err = db_one(db, &d->arena, &first, &id, ARGS(T(s->f->tenant_id), T(s->session_id)));

	return err ? err
		   : session_decide(db, &d->arena, s->f->tenant_id, s->session_id, id.value,
			     &(struct session_judge){ s->f->admin_id, true }, d->approved, now, p);
}

static int say(struct db *db, struct deed *d, int64_t now, struct problem *p)
{
	struct turn_fixture *s = d->s;
	struct session_words words = { .tenant_id = s->f->tenant_id,
		.session_id = s->session_id,
		.author_id = s->as.user_id,
		.by = s->as,
		.role = "user",
		.content = d->text,
		.now = now };

	return session_say(db, &d->arena, &words, NULL, p);
}

static int act(struct db *db, void *data)
{
	struct deed *d = data;
	struct turn_fixture *s = d->s;
	struct problem p = { 0 };
	const char *id = NULL, *tenant = s->f->tenant_id;
	int64_t now = clock_now_us();
	int err = 0;

	switch (d->kind) {
	case OPEN:
		err = session_open(db, &d->arena,
			&(struct session_new){ .tenant_id = tenant,
				.agent_id = s->agent_id,
				.created_by_id = s->as.user_id,
				.origin = "user",
				.greets = true,
				.now = now },
			&id, &p);
		if (!err)
			s->session_id = arena_strdup(&s->f->arena, id);
		break;
	case SAY:
		err = say(db, d, now, &p);
		/* fallthrough */
	case START:
		if (!err)
			err = session_start(db, &d->arena, tenant, s->session_id, &s->as,
				d->options, d->kind == SAY, now, &id, &p);
		if (!err && id)
			s->run_id = arena_strdup(&s->f->arena, id);
		break;
	case CANCEL:
		err = session_cancel(db, &d->arena, tenant, s->session_id, NULL, now, &p);
		break;
	case DECIDE:
		err = decide_first(db, d, now, &p);
		break;
	case ANSWER:
		err = session_answer(db, &d->arena, tenant, s->session_id, s->as.user_id,
			d->call_id, d->text, NULL, now, &p);
		break;
	}
	arena_free(&d->arena);
	return err;
}

static int do_it(struct turn_fixture *s, struct deed d)
{
	d.s = s;
	return fixture_work(s->f, act, &d);
}

void turn_session(struct turn_fixture *s)
{
	CHECK_INT(do_it(s, (struct deed){ .kind = OPEN }), 0);
}

int turn_say(struct turn_fixture *s, const char *text)
{
	return do_it(s, (struct deed){ .kind = SAY, .text = text });
}

int turn_say_with(struct turn_fixture *s, const char *text, const struct run_options *options)
{
	return do_it(s, (struct deed){ .kind = SAY, .text = text, .options = options });
}

int turn_start(struct turn_fixture *s, const struct run_options *options)
{
	return do_it(s, (struct deed){ .kind = START, .options = options });
}

int turn_cancel(struct turn_fixture *s)
{
	return do_it(s, (struct deed){ .kind = CANCEL });
}

int turn_decide(struct turn_fixture *s, bool approved)
{
	return do_it(s, (struct deed){ .kind = DECIDE, .approved = approved });
}

int turn_answer(struct turn_fixture *s, const char *call_id, const char *output)
{
	return do_it(s, (struct deed){ .kind = ANSWER, .call_id = call_id, .text = output });
}

/* ---- what became of it ---- */

static const char *filled(struct turn_fixture *s, const char *sql)
{
	const char *at = strstr(sql, "%s");

	return at ? arena_printf(
			    &s->f->arena, "%.*s'%s'%s", (int)(at - sql), sql, s->session_id, at + 2)
		  : sql;
}

int64_t turn_count(struct turn_fixture *s, const char *sql)
{
	return fixture_count(s->f, filled(s, sql));
}

const char *turn_text(struct turn_fixture *s, const char *sql)
{
	struct statement st = {
		.name = "test", .sql = filled(s, sql), .row = &one_text_schema, .scan = "a test"
	};
	struct problem p = { 0 };
	struct one_text row = { "" };
	struct db *db;

	if (store_connect(s->f->app.store, &db, &s->f->arena, &p))
		return "";
	if (db_one(db, &s->f->arena, &st, &row, NO_ARGS))
		row.value = "";
	db_close(db);
	return row.value ? row.value : "";
}

void turn_await_count(struct turn_fixture *s, const char *sql, int64_t count)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS, n;
	const char *text = filled(s, sql);

	while ((n = fixture_count(s->f, text)) != count && clock_mono_ms() < end)
		usleep(2000);
	if (n != count)
		test_fail(__FILE__, __LINE__, "%s: %lld, not %lld; the session is %s: %s", sql,
			(long long)n, (long long)count,
			turn_text(s, "select status as value from sessions where id = %s"),
			turn_text(s,
				"select coalesce(error, '') as value from sessions where id = %s"));
}

void turn_await(struct turn_fixture *s, const char *status)
{
	turn_await_count(s,
		arena_printf(&s->f->arena,
			"select count(*) from sessions where id = '%s' and status = '%s'",
			s->session_id, status),
		1);
}

const char *turn_transcript(struct turn_fixture *s)
{
	struct statement st = { .name = "test",
		.sql = filled(s, "select role || ': ' || content as value from messages "
				 "where session_id = %s and status = 'complete' order by id"),
		.row = &one_text_schema,
		.scan = "a test" };
	struct problem p = { 0 };
	struct list rows;
	struct db *db;
	const char *out = "";

	if (store_connect(s->f->app.store, &db, &s->f->arena, &p))
		return "";
	CHECK_INT(db_all(db, &s->f->arena, &st, &rows, 10000, NO_ARGS), 0);
	db_close(db);
	for (size_t i = 0; i < rows.count; i++)
		out = arena_printf(&s->f->arena, "%s%s%s", out, i ? " | " : "",
			((const struct one_text *)rows.at)[i].value);
	return out;
}

static int state_of(const char *word)
{
	for (int i = 0; i < SESSION_STATES; i++)
		if (strcmp(session_state_words.list[i], word) == 0)
			return i;
	return -1;
}

/* Its name is in the table, and its data what the table says, no more and no less. */
static void check_event(struct turn_fixture *s, const struct session_event_row *e)
{
	struct problem p = { 0 };
	size_t i = 0;

	while (i < SESSION_EVENT_COUNT && strcmp(stream_events[i].name, e->kind) != 0)
		i++;
	if (i == SESSION_EVENT_COUNT)
		test_fail(__FILE__, __LINE__, "there is no event %s in the table", e->kind);
	else if (decode_body(NULL, &s->f->arena, stream_events[i].data, UNKNOWN_REFUSED, e->data,
			 strlen(e->data), arena_alloc(&s->f->arena, stream_events[i].data->size),
			 &p))
		test_fail(__FILE__, __LINE__, "%s %s: %s %s", e->kind, e->data,
			p.first ? p.first->field : "", p.first ? p.first->message : "");
}

void turn_check_events(struct turn_fixture *s)
{
	struct problem p = { 0 };
	struct list rows;
	struct db *db;
	int state = -1;

	if (store_connect(s->f->app.store, &db, &s->f->arena, &p))
		return;
	CHECK_INT(session_events_read(
			  db, &s->f->arena, s->f->tenant_id, s->session_id, 0, 100000, &rows),
		0);
	db_close(db);
	for (size_t i = 0; i < rows.count; i++) {
		const struct session_event_row *e = (const struct session_event_row *)rows.at + i;
		json_t *v = json_loads(e->data, JSON_ALLOW_NUL, NULL);
		int next;

		CHECK_INT(e->seq, (long long)i + 1);
		check_event(s, e);
		if (!v) {
			test_fail(__FILE__, __LINE__, "not JSON: %s", e->data);
			continue;
		}
		if (strcmp(e->kind, "status") == 0) {
			next = state_of(json_string_value(json_object_get(v, "status")));
			if (state >= 0 && next != state && !session_may_move(state, next))
				test_fail(__FILE__, __LINE__, "from %s to %s",
					session_state_words.list[state],
					session_state_words.list[next]);
			state = next;
		}
		json_decref(v);
	}
	CHECK_INT(turn_count(s, "select last_event_id from sessions where id = %s"),
		(long long)rows.count);
	CHECK_INT(turn_count(s, "select message_count - (select count(*) from messages m where "
				"m.session_id = s.id) from sessions s where s.id = %s"),
		0);
	CHECK_STR(session_state_words.list[state < 0 ? 0 : state],
		turn_text(s, "select status as value from sessions where id = %s"));
}
