/* test_skills.c - skills: making and changing them, who sees which, their files, and their end. */
#include <pthread.h>
#include <stdlib.h>

#include "fixture.h"

#define SKILL(slug, more)                                                           \
	"{\"name\":\"S\",\"slug\":\"" slug "\",\"description\":\"What it is for\"," \
	"\"instructions\":\"Do it.\"" more "}"

static const char *make(struct fixture *f, const char *token, const char *tenant, const char *slug,
	const char *visibility)
{
	return fixture_created(f, token,
		arena_printf(&f->arena,
			"{\"name\":\"S\",\"slug\":\"%s\",\"description\":\"D\","
			"\"instructions\":\"I\",\"visibility\":\"%s\"}",
			slug, visibility),
		"POST /tenant/%s/skills", tenant);
}

TEST(skills_are_made_read_changed_and_removed)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		SKILL("pdf-forms",
			",\"license\":\"MIT\",\"compatibility\":\"Needs qpdf\",\"metadata\":{\"a\":\"b\"},"
			"\"allowed_tools\":[\"Read\",\"Bash(git:*)\"]"),
		"POST /tenant/%s/skills", f->tenant_id);
	const char *id = text_at(&r, "id"), *tag;

	STATUS(r, 201);
	CHECK_STR(header_of(f, &r, "Location"),
		arena_printf(&f->arena, "/tenant/%s/skills/%s", f->tenant_id, id));
	CHECK_STR(text_at(&r, "tenant_id"), f->tenant_id);
	CHECK_STR(text_at(&r, "visibility"), "private");
	CHECK_STR(text_at(&r, "created_by_id"), f->admin_id);
	CHECK(json_is_null(at(&r, "created_by_agent_id")));
	CHECK(json_is_false(at(&r, "is_seed")));
	CHECK_STR(text_at(&r, "metadata.a"), "b");
	CHECK_STR(text_at(&r, "allowed_tools.1"), "Bash(git:*)");
	CHECK_INT(json_array_size(at(&r, "files")), 0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "instructions"), "Do it.");
	tag = header_of(f, &r, "ETag");
	STATUS(ask(f, f->admin, "{\"name\":\"T\"}", "PATCH /tenant/%s/skills/%s\nIf-Match: \"x\"",
		       f->tenant_id, id),
		412);
	r = ask(f, f->admin,
		"{\"name\":\"T\",\"license\":null,\"visibility\":\"tenant\",\"metadata\":{},"
		"\"slug\":\"forms\"}",
		"PATCH /tenant/%s/skills/%s\nIf-Match: %s", f->tenant_id, id, tag);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "T");
	CHECK_STR(text_at(&r, "slug"), "forms");
	CHECK_STR(text_at(&r, "compatibility"), "Needs qpdf");
	CHECK(json_is_null(at(&r, "license")));
	CHECK_INT(json_object_size(at(&r, "metadata")), 0);
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'skill.update' and "
			  "meta like '%\"visibility\":_\"from\":\"private\",\"to\":\"tenant\"_%'"),
		1);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s", f->tenant_id, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s", f->tenant_id, id), 404);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s", f->tenant_id, id), 404);
	fixture_close(f);
}

TEST(skills_name_every_field_that_is_wrong)
{
	static const char *const slugs[] = { "", "A", "-a", "a-", "a--b", "a_b", "a b", "a\\n",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof slugs / sizeof *slugs; i++) {
		test_step("slug %s", slugs[i]);
		r = ask(f, f->admin,
			arena_printf(&f->arena,
				"{\"name\":\"S\",\"slug\":\"%s\",\"description\":\"D\","
				"\"instructions\":\"\"}",
				slugs[i]),
			"POST /tenant/%s/skills", f->tenant_id);
		STATUS(r, 422);
		CHECK(refuses(&r, "slug", "pattern") || refuses(&r, "slug", "too_short") ||
			refuses(&r, "slug", "too_long"));
	}
	r = ask(f, f->admin,
		SKILL("a",
			",\"metadata\":{\"n\":1,\"lodge-name\":\"x\",\"z\":\"\\u0000\",\"\":\"e\"},"
			"\"allowed_tools\":[\"ok\",\" \",\"a\\u0001\"],\"visibility\":\"all\""),
		"POST /tenant/%s/skills", f->tenant_id);
	CHECK(refuses(&r, "visibility", "choice"));
	r = ask(f, f->admin,
		SKILL("a", ",\"metadata\":{\"n\":1,\"lodge-name\":\"x\",\"\":\"e\"},"
			   "\"allowed_tools\":[\"ok\",\" \",\"a\\u0001\"]"),
		"POST /tenant/%s/skills", f->tenant_id);
	CHECK(refuses(&r, "metadata.n", "type"));
	CHECK(refuses(&r, "metadata.lodge-name", "reserved"));
	CHECK(refuses(&r, "metadata.", "too_long"));
	CHECK(refuses(&r, "allowed_tools[1]", "too_short"));
	CHECK(refuses(&r, "allowed_tools[2]", "character"));
	r = ask(f, f->admin, SKILL("a", ",\"metadata\":{\"z\":\"\\u0000\"}"),
		"POST /tenant/%s/skills", f->tenant_id);
	CHECK(refuses(&r, "metadata", "character"));
	r = ask(f, f->admin,
		"{\"name\":\"S\",\"slug\":\"a\",\"description\":\" \\n\",\"instructions\":\"I\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	CHECK(refuses(&r, "description", "too_short"));
	CHECK_INT(fixture_count(f, "select count(*) from skills"), 0);
	fixture_close(f);
}

struct racer {
	struct fixture *f;
	struct http_inproc *inproc;
	int status;
};

static void *race(void *data)
{
	struct racer *r = data;
	struct buf out, in;

	buf_init(&out, 1 << 16);
	buf_init(&in, 1 << 16);
	buf_printf(&out,
		"POST /tenant/%s/skills HTTP/1.1\r\nHost: lodge.test\r\nAuthorization: Bearer %s\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		r->f->tenant_id, r->f->admin, strlen(SKILL("race", "")), SKILL("race", ""));
	http_inproc_send(r->inproc, out.at, out.len, &in);
	buf_putc(&in, '\0');
	r->status = atoi(in.at + 9);
	buf_free(&out);
	buf_free(&in);
	return NULL;
}

TEST(skills_have_slugs_of_their_own)
{
	enum { RACERS = 4 };
	static const struct http_limits limits = { .max_head = 32768,
		.max_headers = 100,
		.max_body = 1 << 20,
		.max_connections = 10,
		.header_ms = 10000,
		.body_ms = 10000,
		.idle_ms = 10000,
		.reply_ms = 10000,
		.deferred_ms = 60000 };
	struct fixture *f = fixture_open();
	struct http_handler handler = call_handler(&f->app);
	struct racer racers[RACERS];
	pthread_t threads[RACERS];
	int made = 0, taken = 0;
	struct answer r;

	for (int i = 0; i < RACERS; i++) {
		racers[i] = (struct racer){ f, http_inproc_new(&limits, &handler), 0 };
		pthread_create(&threads[i], NULL, race, &racers[i]);
	}
	for (int i = 0; i < RACERS; i++) {
		pthread_join(threads[i], NULL);
		http_inproc_free(racers[i].inproc);
		made += racers[i].status == 201;
		taken += racers[i].status == 409;
	}
	CHECK_INT(made, 1);
	CHECK_INT(taken, RACERS - 1);
	make(f, f->admin, f->tenant_id, "other", "private");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills?q=other", f->tenant_id);
	STATUS(ask(f, f->admin, "{\"slug\":\"race\"}", "PATCH /tenant/%s/skills/%s", f->tenant_id,
		       text_at(&r, "items.0.id")),
		409);
	fixture_close(f);
}

static bool sees(struct fixture *f, const char *token, const char *tenant, const char *id)
{
	struct answer one = ask(f, token, NULL, "GET /tenant/%s/skills/%s", tenant, id);
	struct answer list = ask(f, token, NULL, "GET /tenant/%s/skills?per_page=200", tenant);
	bool listed = strstr(list.body, id) != NULL;

	STATUS(list, 200);
	CHECK(one.status == 200 || one.status == 404);
	CHECK(listed == (one.status == 200));
	CHECK_INT(json_integer_value(at(&list, "total")), json_array_size(at(&list, "items")));
	return listed;
}

TEST(skills_are_seen_as_far_as_their_visibility)
{
	struct fixture *f = fixture_open();
	const char *guest, *author, *stranger, *theirs;
	const char *guest_id = fixture_user(f, "g@example.org", &guest);
	const char *author_id = fixture_user(f, "a@example.org", &author);
	const char *stranger_id = fixture_user(f, "s@example.org", &stranger);
	const char *ids[3];

	fixture_member(f, f->tenant_id, guest_id, "GUEST");
	fixture_member(f, f->tenant_id, author_id, "ADMIN");
	theirs = fixture_tenant(f, "theirs", stranger_id);
	ids[0] = make(f, author, f->tenant_id, "one", "private");
	ids[1] = make(f, author, f->tenant_id, "two", "tenant");
	ids[2] = make(f, author, f->tenant_id, "three", "public");
	fixture_sql(f, "update members set role = 'MEMBER' where user_id = $1", ARGS(T(author_id)));
	for (int i = 0; i < 3; i++) {
		test_step("%d", i);
		CHECK(sees(f, f->admin, f->tenant_id, ids[i]));
		CHECK(sees(f, author, f->tenant_id, ids[i]));
		CHECK(sees(f, guest, f->tenant_id, ids[i]) == (i >= 1));
		CHECK(sees(f, stranger, theirs, ids[i]) == (i == 2));
		STATUS(ask(f, stranger, NULL, "GET /tenant/%s/skills/%s/export", theirs, ids[i]),
			i == 2 ? 200 : 404);
		STATUS(ask(f, stranger, NULL, "GET /tenant/%s/skills/%s/SKILL.md", theirs, ids[i]),
			i == 2 ? 200 : 404);
		STATUS(ask(f, stranger, NULL, "GET /tenant/%s/skills/%s/file?path=x", theirs,
			       ids[i]),
			404);
		/* Another tenant's is never changed from here. */
		STATUS(ask(f, stranger, "{\"name\":\"N\"}", "PATCH /tenant/%s/skills/%s", theirs,
			       ids[i]),
			404);
		STATUS(ask(f, stranger, NULL, "DELETE /tenant/%s/skills/%s", theirs, ids[i]), 404);
		STATUS(ask(f, stranger, "x",
			       "PUT /tenant/%s/skills/%s/file?path=a\nContent-Type: text/plain",
			       theirs, ids[i]),
			404);
		STATUS(ask(f, stranger, NULL, "DELETE /tenant/%s/skills/%s/file?path=a", theirs,
			       ids[i]),
			404);
		/* An author without skills:write reads their own and no more. */
		STATUS(ask(f, author, "{\"name\":\"N\"}", "PATCH /tenant/%s/skills/%s",
			       f->tenant_id, ids[i]),
			403);
	}
	test_step("who wrote it is told at home");
	for (int home = 0; home < 2; home++) {
		const char *who = home ? author : stranger, *place = home ? f->tenant_id : theirs;
		struct answer r = ask(f, who, NULL, "GET /tenant/%s/skills/%s", place, ids[2]);
		struct answer all = ask(f, who, NULL, "GET /tenant/%s/skills?q=three", place);

		CHECK_STR(text_at(&all, "items.0.id"), ids[2]);
		CHECK(home == !json_is_null(at(&r, "created_by_id")));
		CHECK(home == !json_is_null(at(&all, "items.0.created_by_id")));
		CHECK(home == (strstr(r.body, author_id) != NULL));
		CHECK(home == (strstr(all.body, author_id) != NULL));
	}
	test_step("a tenant that is closed");
	fixture_sql(f, "update tenants set status = 'closed' where id = $1", ARGS(T(f->tenant_id)));
	CHECK(!sees(f, stranger, theirs, ids[2]));
	fixture_close(f);
}

TEST(skills_are_filtered)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *agent, *id;
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	r = ask(f, f->admin,
		"{\"name\":\"\xc3\x84pfel\",\"slug\":\"fruit\",\"description\":\"100% JUICE\","
		"\"instructions\":\"I\",\"visibility\":\"tenant\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	STATUS(r, 201);
	id = text_at(&r, "id");
	make(f, f->admin, f->tenant_id, "other", "private");
	agent = fixture_agent(f, "a");
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", id),
		       "POST /agents/%s/skills", agent),
		201);
#define FINDS(query, want)                                                           \
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills?%s", f->tenant_id, query); \
	STATUS(r, 200);                                                              \
	CHECK_INT(json_integer_value(at(&r, "total")), want)
	FINDS("", 2);
	FINDS("q=%C3%A4PFEL", 1);
	CHECK(!at(&r, "items.0.instructions"));
	FINDS("q=FRUI", 1);
	FINDS("q=100%25", 1);
	FINDS("q=100_", 0);
	FINDS("visibility=private", 1);
	FINDS("visibility=public", 0);
	FINDS(arena_printf(&f->arena, "agent_id=%s", agent), 1);
	CHECK_STR(text_at(&r, "items.0.id"), id);
	FINDS("agent_id=caaaaaaaaaaaaaaaaaaaaaaaa", 0);
	FINDS("per_page=1", 2);
	CHECK(text_at(&r, "next_after") != NULL);
#undef FINDS
	test_step("an agent the caller cannot see has no skills for them");
	fixture_sql(f, "update agent_rows set default_role_enabled = 0", NO_ARGS);
	r = ask(f, token, NULL, "GET /tenant/%s/skills?agent_id=%s", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	fixture_close(f);
}

TEST(skills_hold_files)
{
	struct fixture *f = fixture_open();
	const char *id = make(f, f->admin, f->tenant_id, "files", "tenant");
	static const unsigned char bytes[] = { 0, 1, 0xff, '\r', '\n', 0, 'x' };
	static char large[(1 << 20) + 1];
	struct answer r;

#define PUT_FILE(path, body, len)                                                                \
	ask_bytes(f, f->admin, body, len,                                                        \
		"PUT /tenant/%s/skills/%s/file?path=%s\nContent-Type: application/octet-stream", \
		f->tenant_id, id, path)
#define GET_FILE(path) \
	ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s/file?path=%s", f->tenant_id, id, path)
	r = PUT_FILE("scripts/run.py", "print(1)\n", 9);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "path"), "scripts/run.py");
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), 9);
	CHECK_INT(strlen(text_at(&r, "sha256")), 64);
	STATUS(PUT_FILE("assets/b.bin", bytes, sizeof bytes), 201);
	STATUS(PUT_FILE("assets/b.bin", bytes, sizeof bytes), 200);
	STATUS(PUT_FILE("empty", "", 0), 201);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s", f->tenant_id, id);
	CHECK_INT(json_array_size(at(&r, "files")), 3);
	CHECK_STR(text_at(&r, "files.0.path"), "assets/b.bin");
	CHECK_STR(text_at(&r, "files.2.path"), "scripts/run.py");

	test_step("served as what cannot be shown as a page");
	r = GET_FILE("assets/b.bin");
	STATUS(r, 200);
	CHECK_INT(r.body_len, sizeof bytes);
	CHECK(memcmp(r.body, bytes, sizeof bytes) == 0);
	CHECK_STR(header_of(f, &r, "Content-Type"), "application/octet-stream");
	CHECK_STR(header_of(f, &r, "X-Content-Type-Options"), "nosniff");
	CHECK_STR(header_of(f, &r, "Content-Disposition"), "attachment; filename=\"b.bin\"");
	STATUS(PUT_FILE("a%22b%3Cc%3E.html", "<script>alert(1)</script>", 25), 201);
	r = GET_FILE("a%22b%3Cc%3E.html");
	CHECK_STR(header_of(f, &r, "Content-Type"), "text/plain; charset=utf-8");
	CHECK_STR(header_of(f, &r, "Content-Disposition"), "attachment; filename=\"a_b_c_.html\"");
	STATUS(GET_FILE("assets"), 404);
	STATUS(GET_FILE("../x"), 404);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/skills/%s/file", f->tenant_id, id), 422);

	test_step("paths");
	r = PUT_FILE("../x", "x", 1);
	CHECK(refuses(&r, "path", "path"));
	r = PUT_FILE("/x", "x", 1);
	CHECK(refuses(&r, "path", "path"));
	r = PUT_FILE("SKILL.md", "x", 1);
	CHECK(refuses(&r, "path", "path"));
	r = PUT_FILE("empty/x", "x", 1);
	CHECK(refuses(&r, "path", "path"));
	r = PUT_FILE("assets", "x", 1);
	CHECK(refuses(&r, "path", "path"));

	test_step("sizes");
	STATUS(PUT_FILE("l0", large, sizeof large), 413);
	for (int i = 0; i < 3; i++)
		STATUS(PUT_FILE(arena_printf(&f->arena, "l%d", i), large, sizeof large - 1), 201);
	r = PUT_FILE("l3", large, sizeof large - 1);
	CHECK(refuses(&r, "path", "too_large"));
	CHECK_INT(fixture_count(f, "select count(*) from skill_files"), 7);

	test_step("a file is changed only as it was read");
	r = GET_FILE("l0");
	STATUS(ask(f, f->admin, "x",
		       "PUT /tenant/%s/skills/%s/file?path=l0\nContent-Type: text/plain\r\n"
		       "If-Match: \"x\"",
		       f->tenant_id, id),
		412);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s/file?path=l0\nIf-Match: \"x\"",
		       f->tenant_id, id),
		412);
	STATUS(ask(f, f->admin, "x",
		       "PUT /tenant/%s/skills/%s/file?path=l0\nContent-Type: text/plain\r\n"
		       "If-Match: %s",
		       f->tenant_id, id, header_of(f, &r, "ETag")),
		200);
	r = GET_FILE("l0");
	CHECK_STR(r.body, "x");

	test_step("removed one by one, and with the skill");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s/file?path=l0", f->tenant_id, id),
		204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s/file?path=l0", f->tenant_id, id),
		404);
	CHECK_INT(fixture_count(f, "select count(*) from skill_files"), 6);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s", f->tenant_id, id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from skill_files"), 0);
#undef PUT_FILE
#undef GET_FILE
	fixture_close(f);
}

TEST(skills_by_agents_pass_the_agents_settings)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a");
	struct answer r;
	static const struct {
		int can;
		const char *scope, *visibility;
		int status;
		const char *says;
	} cases[] = {
		{ 0, "tenant_allowed", "private", 409, "can_author_skills" },
		{ 1, "private_only", "private", 201, NULL },
		{ 1, "private_only", "tenant", 409, "private_only" },
		{ 1, "private_only", "public", 409, "private_only" },
		{ 1, "tenant_allowed", "private", 201, NULL },
		{ 1, "tenant_allowed", "tenant", 201, NULL },
		{ 1, "tenant_allowed", "public", 201, NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%zu", i);
		fixture_sql(f,
			"update agent_rows set can_author_skills = $2, skill_visibility_scope = $3 "
			"where id = $1",
			ARGS(T(agent), N(cases[i].can), T(cases[i].scope)));
		r = ask(f, f->admin,
			arena_printf(&f->arena,
				"{\"name\":\"S\",\"slug\":\"s%zu\",\"description\":\"D\","
				"\"instructions\":\"I\",\"visibility\":\"%s\","
				"\"created_by_agent_id\":\"%s\"}",
				i, cases[i].visibility, agent),
			"POST /tenant/%s/skills", f->tenant_id);
		STATUS(r, cases[i].status);
		if (cases[i].says)
			CHECK(strstr(text_at(&r, "detail"), cases[i].says));
		else
			CHECK_STR(text_at(&r, "created_by_agent_id"), agent);
	}
	r = ask(f, f->admin, SKILL("x", ",\"created_by_agent_id\":\"caaaaaaaaaaaaaaaaaaaaaaaa\""),
		"POST /tenant/%s/skills", f->tenant_id);
	CHECK(refuses(&r, "created_by_agent_id", "not_found"));
	fixture_close(f);
}
