/* test_agent_import_rights.c - imports and exports give nobody what they could not see or set themselves, and a dry run writes
 * nothing. */
#include "bundle_fixture.h"
#include "fixture.h"
#include "store/pool.h"

#define AGENT "\"agent\":{\"name\":\"A\",\"slug\":\"a\"}"

static struct answer send_made(struct fixture *f, const char *token, const char *query,
	const char *members, const struct bundle_piece *pieces)
{
	struct answer r;
	struct buf zip;

	bundle_made(&zip, &f->arena, members, pieces);
	r = ask_bytes(f, token, zip.at, zip.len,
		"POST /tenant/%s/agents/import%s\nContent-Type: application/zip", f->tenant_id,
		query);
	buf_free(&zip);
	return r;
}

static bool says(const struct answer *r, const char *of)
{
	size_t i;
	json_t *item;

	json_array_foreach(
		at(r, "warnings"), i, item) if (strstr(json_string_value(item), of)) return true;
	return false;
}

static const char *key_with(struct fixture *f, const char *scopes)
{
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"k\",\"scopes\":[%s]}", scopes),
		"POST /tenant/%s/api-keys", f->tenant_id);

	STATUS(r, 201);
	return text_at(&r, "key");
}

TEST(agent_import_with_a_key_that_only_creates)
{
	static const struct bundle_piece pieces[] = { { "m", "{\"content\":\"One\"}\n" },
		{ NULL, NULL } };
	struct fixture *f = fixture_open();
	struct answer r;

	r = send_made(f, key_with(f, "\"agents:create\""), "",
		"\"agent\":{\"name\":\"A\",\"slug\":\"a\",\"hourly_limit_usd\":2.5},"
		"\"chat\":{\"chat_rpm_limit\":5},\"memories\":\"m\"",
		pieces);
	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "memories_imported")), 0);
	CHECK_INT(json_integer_value(at(&r, "memories_failed")), 1);
	CHECK(says(&r, "Memories"));
	CHECK(says(&r, "Settings of chats"));
	CHECK(says(&r, "agent:budget:write"));
	CHECK_INT(fixture_count(f, "select count(*) from memories"), 0);
	CHECK_INT(fixture_count(
			  f, "select count(*) from agent_rows where hourly_limit_pd is not null"),
		0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/chat-config", f->tenant_id,
		text_at(&r, "agent_id"));
	CHECK(json_is_null(at(&r, "chat_rpm_limit")));
	fixture_close(f);
}

TEST(agent_export_with_a_key_that_only_writes)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r;

	STATUS(ask(f, f->admin, "{\"content\":\"kept quiet\"}",
		       "POST /tenant/%s/agents/%s/memories", f->tenant_id, id),
		201);
	r = ask(f, key_with(f, "\"agent:write\""), NULL,
		"GET /tenant/%s/agents/%s/export?memories=true&sessions=true", f->tenant_id, id);
	STATUS(r, 200);
	CHECK(!memmem(r.body, r.body_len, "kept quiet", 10));
	CHECK(memmem(r.body, r.body_len, "Memories were left out", 22));
	CHECK(memmem(r.body, r.body_len, "Sessions were left out", 22));
	CHECK(memmem(r.body, r.body_len, "Tools were left out", 19));
	r = ask(f,
		key_with(
			f, "\"agent:write\",\"agent:read\",\"session:read\",\"agent:tools:write\""),
		NULL, "GET /tenant/%s/agents/%s/export?memories=true&sessions=true", f->tenant_id,
		id);
	STATUS(r, 200);
	CHECK(memmem(r.body, r.body_len, "kept quiet", 10));
	CHECK(!memmem(r.body, r.body_len, "left out", 8));
	fixture_close(f);
}

TEST(agent_import_of_what_others_imported_unseen)
{
	static const struct bundle_piece none[] = { { NULL, NULL } };
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *first, *own;
	struct answer r = send_made(f, f->admin, "", AGENT, none);

	fixture_member(f, f->tenant_id, user, "MEMBER");
	STATUS(r, 201);
	first = text_at(&r, "agent_id");
	STATUS(ask(f, f->admin, "{\"name\":\"Layoffs\",\"is_admin_only\":true}",
		       "PATCH /tenant/%s/agents/%s", f->tenant_id, first),
		200);
	r = send_made(f, token, "?dry_run=true", AGENT, none);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "idempotent_reuse")));
	r = send_made(f, token, "", AGENT, none);
	STATUS(r, 201);
	own = text_at(&r, "agent_id");
	CHECK(strcmp(own, first) != 0);
	CHECK_STR(text_at(&r, "agent_name"), "A");
	test_step("and that one is theirs from now on");
	r = send_made(f, token, "", AGENT, none);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "agent_id"), own);
	fixture_close(f);
}

/* Reading files takes none of the threads that passwords need. */
TEST(agent_import_leaves_sign_in_alone)
{
	static const struct bundle_piece none[] = { { NULL, NULL } };
	struct fixture *f = fixture_open();
	struct pool *own = f->app.slow;

	f->app.slow = pool_new_shared(1, 0); /* as if it were full */
	STATUS(send_made(f, f->admin, "", AGENT, none), 201);
	STATUS(ask(f, f->admin, "---\nname: s\ndescription: d\n---\n",
		       "POST /tenant/%s/skills/import\nContent-Type: text/markdown", f->tenant_id),
		201);
	pool_free(f->app.slow);
	f->app.slow = own;
	fixture_close(f);
}

TEST(agent_import_dry_run_writes_nothing)
{
	static const struct bundle_piece pieces[] = {
		{ "1", "{}\n{\"role\":\"user\",\"content\":\"a\"}" },
		{ "2", "{}\n{\"role\":\"user\",\"content\":\"b\"}" },
		{ "m", "{\"content\":\"One\"}\n" },
		{ "s/SKILL.md", "---\nname: s\ndescription: d\n---\n" },
		{ "t/SKILL.md", "---\nname: s\ndescription: other\n---\n" },
		{ NULL, NULL },
	};
	static const char members[] = AGENT
		",\"memories\":\"m\",\"sessions\":[\"1\",\"2\"],\"models\":[\"demo\",\"demo\"],"
		"\"skills\":[{\"folder\":\"s\"},{\"folder\":\"t\"}]";
	static const char *const counts[] = { "memories_imported", "sessions_imported",
		"messages_imported", "skills_imported", "skills_failed", "memories_failed" };
	struct fixture *f = fixture_open();
	int64_t audited = fixture_count(f, "select count(*) from audit_logs");
	struct answer dry, run;

	fixture_sql(f, "update plans set max_sessions_per_day = 1", NO_ARGS);
	dry = send_made(f, f->admin, "?dry_run=true", members, pieces);
	STATUS(dry, 200);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs"), audited);
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 0);
	test_step("and what it says comes true");
	run = send_made(f, f->admin, "", members, pieces);
	STATUS(run, 201);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		test_step("%s", counts[i]);
		CHECK_INT(json_integer_value(at(&dry, counts[i])),
			json_integer_value(at(&run, counts[i])));
	}
	CHECK_INT(json_integer_value(at(&run, "sessions_imported")), 1);
	CHECK_INT(json_integer_value(at(&run, "skills_failed")), 1);
	CHECK(json_equal(at(&dry, "warnings"), at(&run, "warnings")));
	CHECK(says(&run, "named twice"));
	fixture_close(f);
}

/* Rows that go together: one that fails there fails alone. */
TEST(agent_import_takes_rows_together)
{
	struct fixture *f = fixture_open();
	struct buf lines;
	struct answer r;

	buf_init(&lines, 1 << 20);
	for (int i = 0; i < 1201; i++)
		buf_printf(&lines, "{\"content\":\"keep %d\"}\n", i == 700 ? 5 : i);
	fixture_sql(f, "create unique index memories_once on memories (content)", NO_ARGS);
	r = send_made(f, f->admin, "", AGENT ",\"memories\":\"m\"",
		(const struct bundle_piece[]){ { "m", buf_text(&lines) }, { NULL, NULL } });
	buf_free(&lines);
	STATUS(r, 201);
	CHECK_INT(json_integer_value(at(&r, "memories_imported")), 1200);
	CHECK_INT(json_integer_value(at(&r, "memories_failed")), 1);
	CHECK(says(&r, "Memory 701"));
	CHECK_INT(fixture_count(f, "select count(*) from memories"), 1200);
	fixture_close(f);
}
