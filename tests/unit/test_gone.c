/* test_gone.c - what is deleted is gone at once for everybody, and its rows go in pieces; which tables those are is
 * asked of the store. */
#include "api/erasure/gone.h"
#include "base/id.h"
#include "fixture.h"
#include "mailboxes/mail_objects.h"
#include "store/batches.h"
#include "store/sweep.h"

enum { MESSAGES = 1300 };

struct gone_world {
	struct fixture *f;
	const char *agent, *session, *child;
};

static int take_nothing(struct batches *b, struct db *db)
{
	(void)b;
	(void)db;
	return 0;
}

/* Nothing is swept unless the test does it. */
static void hold_sweeping(struct fixture *f)
{
	f->service.removals[REMOVE_GONE]->take = take_nothing;
}

static struct gone_world make_world(void)
{
	struct gone_world w = { fixture_open() };

	hold_sweeping(w.f);
	w.agent = fixture_agent(w.f, "a");
	w.session = fixture_session(w.f, w.f->admin, w.agent, "{\"title\":\"Quarterly figures\"}");
	fixture_sql(w.f,
		fixture_is_sqlite()
			? "with recursive n(i) as (select 1 union all select i + 1 from n where i < $3) "
			  "insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, "
			  "completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
			  "tool_calls, content) select $1, $2, 'm' || i, 'user', 'complete', 0, 0, 0, 0, 0, "
			  "i, '[]', 'x' from n"
			: "insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, "
			  "completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
			  "tool_calls, content) select $1, $2, 'm' || i, 'user', 'complete', 0, 0, 0, 0, 0, "
			  "i, '[]', 'x' from generate_series(1, $3::bigint) as n(i)",
		ARGS(T(w.f->tenant_id), T(w.session), N(MESSAGES)));
	return w;
}

static int64_t messages_left(const struct gone_world *w)
{
	return fixture_count(w->f, "select count(*) from messages");
}

static int take_a_piece(struct db *db, void *data)
{
	return gone_take(db, data);
}

/* As a process would that ends after each piece, and another that begins. */
static void sweep_in_pieces(const struct gone_world *w)
{
	int64_t before = messages_left(w);
	bool more = true;
	int pieces = 0;

	while (more) {
		int64_t left;

		CHECK_INT(fixture_work(w->f, take_a_piece, &more), 0);
		left = messages_left(w);
		CHECK(before - left < SWEEP_PIECE + 128);
		before = left;
		if (++pieces > 3000)
			test_fail(__FILE__, __LINE__, "it does not end");
	}
	CHECK(pieces > MESSAGES / (SWEEP_PIECE + 128));
	CHECK_INT(before, 0);
	CHECK_INT(fixture_count(w->f, "select count(*) from session_rows"), 0);
}

static void session_is_unknown(const struct gone_world *w)
{
	static const char *const paths[] = { "", "/messages", "/events", "/subtasks", "/export",
		"/files", "/approvals" };
	struct fixture *f = w->f;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		test_step("%s", paths[i]);
		STATUS(ask(f, f->admin, NULL, "GET /sessions/%s%s", w->session, paths[i]), 404);
		STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s%s", f->tenant_id,
			       w->session, paths[i]),
			404);
	}
	test_step("and said to");
	STATUS(ask(f, f->admin, "{\"content\":\"hi\"}", "POST /sessions/%s/messages", w->session),
		404);
	STATUS(ask(f, f->admin, "{}", "PATCH /sessions/%s", w->session), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /sessions/%s", w->session), 404);
	STATUS(ask(f, f->admin, NULL, "GET /v1/threads/%s", w->session), 404);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s/audit", f->tenant_id, w->session),
		404);
}

/* The lists that go over more than one agent: none shows so many. */
static void lists_show(const struct gone_world *w, int64_t sessions)
{
	struct fixture *f = w->f;
	struct answer r = ask(f, f->admin, NULL, "GET /me/sessions");

	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), sessions);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=quarterly&types=session",
		f->tenant_id);
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), sessions);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/sessions", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), sessions);
}

TEST(gone_sessions_are_unknown_at_once_and_their_rows_go_in_pieces)
{
	struct gone_world w = make_world();

	lists_show(&w, 1);
	STATUS(ask(w.f, w.f->admin, NULL, "DELETE /sessions/%s", w.session), 204);
	CHECK_INT(messages_left(&w), MESSAGES);
	session_is_unknown(&w);
	lists_show(&w, 0);
	sweep_in_pieces(&w);
	STATUS(ask(w.f, w.f->admin, NULL, "GET /agents/%s", w.agent), 200);
	fixture_close(w.f);
}

TEST(gone_agents_are_unknown_at_once_and_their_rows_go_in_pieces)
{
	struct gone_world w = make_world();
	struct fixture *f = w.f;
	struct answer r;

	lists_show(&w, 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", w.agent), 204);
	CHECK_INT(messages_left(&w), MESSAGES);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s", w.agent), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", w.agent), 404);
	STATUS(ask(f, f->admin, "{}", "POST /agents/%s/sessions", w.agent), 404);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/memories", w.agent), 404);
	session_is_unknown(&w);
	lists_show(&w, 0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?include_hidden=true", f->tenant_id);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 0);
	test_step("its slug is free");
	r = ask(f, f->admin, "{\"name\":\"A\",\"slug\":\"a\"}", "POST /tenant/%s/agents",
		f->tenant_id);
	STATUS(r, 201);
	sweep_in_pieces(&w);
	CHECK_INT(fixture_count(f, "select count(*) from agent_rows"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from directory"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from search_things where type = 'session'"), 0);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s", text_at(&r, "id")), 200);
	fixture_close(f);
}

/* ---- no table is forgotten ---- */

struct child_table {
	const char *name, *parent;
};

FIELDS(child_table) = {
	FIELD(child_table, name),
	FIELD(child_table, parent),
};
static SCHEMA(child_table, .internal = true);

static const struct statement cascades = { .name = "test_cascades",
	.sql = "select distinct m.name, k.\"table\" as parent from sqlite_master m, "
	       "pragma_foreign_key_list(m.name) k where m.type = 'table' and k.on_delete <> 'NO ACTION'",
	.postgres =
		"select distinct conrelid::regclass::text as name, confrelid::regclass::text as parent "
		"from pg_constraint where contype = 'f' and confdeltype <> 'a' and connamespace = "
		"(select oid from pg_namespace where nspname = current_schema())",
	.row = &child_table_schema,
	.scan = "a test" };

static bool is_taken_from(const struct statement_set *set, const char *start, const char *table)
{
	char text[200];

	snprintf(text, sizeof text, "%s %s where", start, table);
	for (size_t i = 0; i < set->count; i++)
		if (strstr(set->list[i].sql, text))
			return true;
	return false;
}

static bool is_swept(const char *table)
{
	return is_taken_from(&gone_heirs_sql, "delete from", table) ||
	       is_taken_from(&gone_agent_sql, "delete from", table) ||
	       is_taken_from(&gone_sql, "delete from", table) ||
	       is_taken_from(&mail_object_sql, "delete from", table);
}

/* Deleted by a statement of its own with all that hangs on it, and why that is not much. */
static const struct {
	const char *parent, *why;
} small[] = {
	{ "members", "their keys, roles and models" },
	{ "groups", "their members and roles" },
	{ "users", "their logins, identities and links" },
	{ "tool_bundles", "their tools" },
	{ "agent_skills", "webhooks, which are marked first" },
	{ "skills", "files and versions, bounded by the size of a skill; its grants" },
	{ "skill_versions", "files, bounded by the size of a skill" },
};

TEST(gone_every_table_that_hangs_on_something_is_swept_or_small)
{
	struct fixture *f = fixture_open();
	struct problem p = { 0 };
	struct list rows = { 0 };
	const struct child_table *t;
	struct db *db;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(db_all(db, &f->arena, &cascades, &rows, 1000, NO_ARGS), 0);
	CHECK(rows.count > 30);
	t = rows.at;
	for (size_t i = 0; i < rows.count; i++) {
		bool known = is_swept(t[i].name);

		for (size_t s = 0; s < sizeof small / sizeof *small; s++)
			known = known || strcmp(t[i].parent, small[s].parent) == 0;
		if (!known)
			test_fail(__FILE__, __LINE__, "%s goes with %s, all at once", t[i].name,
				t[i].parent);
	}
	db_close(db);
	fixture_close(f);
}
