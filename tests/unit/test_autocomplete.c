/* test_autocomplete.c - what is found, in which order, and by whom. */
#include "base/fold.h"
#include "search/refold.h"
#include "search_fixture.h"

static const char *named_agent(struct fixture *f, const char *name, const char *slug)
{
	return fixture_created(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"%s\",\"slug\":\"%s\"}", name, slug),
		"POST /tenant/%s/agents", f->tenant_id);
}

/* The labels of the answer, one after the other. */
static const char *labels(struct fixture *f, struct answer r)
{
	const char *out = "";

	STATUS(r, 200);
	for (size_t i = 0; i < json_array_size(at(&r, "items")); i++)
		out = arena_printf(&f->arena, "%s%s%s", out, i ? "|" : "",
			text_at(&r, arena_printf(&f->arena, "items.%zu.label", i)));
	return out;
}

TEST(autocomplete_answers_the_best_first)
{
	struct fixture *f = fixture_open();
	struct answer r;

	named_agent(f, "Customer support", "customer-support");
	named_agent(f, "Support desk of the whole northern hemisphere", "support-north");
	named_agent(f, "Support", "support");
	named_agent(f, "Desk for support", "desk-for");
	named_agent(f, "Sales", "supplies");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=SUP")),
		"Support|Support desk of the whole northern hemisphere|Sales|Customer "
		"support|Desk for support");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=support+de")),
		"Support desk of the whole northern hemisphere|Desk for support");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=su&limit=1")), "Support");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=upport")), "");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=adm&types=")), "Admin");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=local&types=user,skill")), "Admin");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=local&types=agent")), "");
	r = hunt(f, f->admin, "q=admin%40local");
	CHECK_STR(text_at(&r, "items.0.type"), "user");
	CHECK_STR(text_at(&r, "items.0.detail"), "admin@localhost");
	CHECK_STR(text_at(&r, "items.0.id"), f->admin_id);

	test_step("a thing that is found by two of its words counts once");
	named_agent(f, "Ze zeb", "ze-zeb");
	named_agent(f, "Another fine zed", "another");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=ze&limit=2")), "Ze zeb|Another fine zed");

	test_step("refusals");
	r = hunt(f, f->admin, "types=agent,group&limit=51");
	STATUS(r, 422);
	CHECK(refuses(&r, "limit", "too_large"));
	r = hunt(f, f->admin,
		arena_printf(&f->arena, "q=%s",
			"0123456789012345678901234567890123456789012345678901234567890123"
			"01234567890123456789012345678901234567890123456789012345678901234"));
	CHECK(refuses(&r, "q", "too_long"));
	fixture_close(f);
}

TEST(autocomplete_folds_words)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", "" },
		{ " -- ", "" },
		{ "Support-Desk (EU)", "support desk eu" },
		{ "ÅSA Łódź, Straße", "asa lodz strasse" },
		{ "Œuvre æther þing", "oeuvre aether thing" },
		{ "e\xcc\x81t\xc3\xa9", "ete" },
		{ "ΑΒΓ ДОМ", "αβγ дом" },
		{ "東京\xe3\x80\x80タワー", "東京 タワー" },
		{ "ada.l@example.org", "ada l example org" },
		{ "ΟΔΥΣΣΕΎΣ ᏣᎳᎩ 𐐔𐐇", "οδυσσεύσ ᏣᎳᎩ 𐐼𐐯" },
		{ "İstanbul DIYARBAKIR Diyarbakır", "istanbul diyarbakir diyarbakir" },
		{ "ＡＢＣ，ｄｅｆ（Ｘ）", "abc def x" },
		{ "Tiếng Việt, Tie\xcc\x82\xcc\x81ng", "tieng viet tieng" },
		{ "\xd0\x98\xcc\x86\xd0\x9e\xd0\x94 \xd0\x99\xd0\x9e\xd0\x94", "йод йод" },
		{ "नमस्ते؟ 서울・東京", "नमस्ते 서울 東京" },
		{ "a\xf4\x8f\xbf\xbf"
		  "b\xc2\xa0"
		  "c×d",
			"a b c d" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_STR(fold_words(&a, cases[i].text), cases[i].words);
	arena_free(&a);
}

TEST(autocomplete_follows_members)
{
	struct fixture *f = fixture_open();
	const char *token, *other, *id = fixture_user(f, "zoe@example.org", &token);
	struct answer r;

	other = fixture_tenant(f, "other", id);
	CHECK_STR(labels(f, hunt(f, f->admin, "q=zoe")), "");
	r = ask(f, f->admin, "{\"email\":\"zoe@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	CHECK_STR(
		labels(f, hunt(f, f->admin, "q=exam")), ""); /* who is only invited is not found */
	fixture_sql(f, "update users set email_proven_at = 1 where id = $1", ARGS(T(id)));
	STATUS(ask(f, token, "{\"accept\":true}", "POST /me/invitations/%s", f->tenant_id), 200);
	CHECK_STR(labels(f, hunt(f, f->admin, "q=exam")), "zoe@example.org");
	STATUS(ask(f, token, "{\"name\":\"Zo\u00eb Q\"}", "PATCH /me"), 200);
	CHECK_STR(labels(f, hunt(f, f->admin, "q=zoe+exam")), "Zoë Q");
	CHECK_STR(
		labels(f, ask(f, token, NULL, "GET /tenant/%s/autocomplete?q=q", other)), "Zoë Q");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, id), 204);
	CHECK_STR(labels(f, hunt(f, f->admin, "q=zoe")), "");
	CHECK_STR(
		labels(f, ask(f, token, NULL, "GET /tenant/%s/autocomplete?q=q", other)), "Zoë Q");

	test_step("another's tenant is not there");
	STATUS(hunt(f, token, "q=a"), 404);

	test_step("a key without members:read finds no users");
	named_agent(f, "Admiral", "admiral");
	r = ask(f, f->admin, "{\"name\":\"k\",\"scopes\":[\"tenant:read\"]}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	CHECK_STR(labels(f, hunt(f, text_at(&r, "key"), "q=adm")), "Admiral");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=adm")), "Admin|Admiral");
	index_check(f, 0);
	fixture_close(f);
}

/* More roles than are looked up one by one: the visibility is walked instead, and gives the same. */
TEST(autocomplete_of_somebody_with_many_roles)
{
	struct fixture *f = fixture_open();
	const char *token, *id = fixture_user(f, "many@example.org", &token);

	fixture_member(f, f->tenant_id, id, "MEMBER");
	named_agent(f, "Pattern", "pattern");
	fixture_sql(f,
		fixture_is_sqlite()
			? "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100) "
			  "insert into agent_rows select place + i, tenant_id, substr(id, 1, 20) || "
			  "substr('0000' || i, -5), 'Secret ' || i, 'secret-' || i, kind, "
			  "resource_class, code_ref, image_ref, repo_url, is_active, 0, is_seed, 0, 0, "
			  "can_author_skills, editor_enabled, external_mail_enabled, meeting_managed, "
			  "environment_mode, skill_visibility_scope, iteration_warn_threshold, "
			  "hourly_limit_pd, voice, avatar_sha256, created_by_id, created_by_agent_id, "
			  "created_at, updated_at, 'secret ' || i, null, null, null, null, null, null, null "
			  "from agents, n"
			: "insert into agent_rows select tenant_id, substr(id, 1, 20) || lpad(i::text, 5, '0'), "
			  "'Secret ' || i, 'secret-' || i, kind, "
			  "resource_class, code_ref, image_ref, repo_url, is_active, 0, is_seed, 0, 0, "
			  "can_author_skills, editor_enabled, external_mail_enabled, meeting_managed, "
			  "environment_mode, skill_visibility_scope, iteration_warn_threshold, "
			  "hourly_limit_pd, voice, avatar_sha256, created_by_id, created_by_agent_id, "
			  "created_at, updated_at, 'secret ' || i, null, null, null, null, null, null, null "
			  "from agents, generate_series(1, 1100) as n(i)",
		NO_ARGS);
	index_ensure(f);
	CHECK_STR(labels(f, hunt(f, token, "q=s")), "");
	fixture_sql(f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"select tenant_id, id, $1, 'VIEWER', 1, 1 from agents where name <> 'Secret 1'",
		ARGS(T(id)));
	CHECK_STR(labels(f, hunt(f, token, "q=s&limit=3")), "Secret 10|Secret 100|Secret 1000");
	CHECK_STR(labels(f, hunt(f, f->admin, "q=s&limit=2")), "Secret 1|Secret 10");
	fixture_sql(f, "delete from agent_roles where user_id = $1 and agent_id like $2",
		ARGS(T(id), T("%9")));
	CHECK_STR(labels(f, hunt(f, token, "q=secret+99&limit=2")), "Secret 990|Secret 991");
	fixture_close(f);
}

TEST(autocomplete_finds_skills_and_tools_as_they_come_and_go)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"name\":\"Zebra care\",\"slug\":\"zebra-care\",\"description\":\"D\",\"instructions\":\"I\",\"visibility\":\"tenant\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	const char *skill = text_at(&r, "id"), *tool;

	r = ask(f, f->admin,
		"{\"name\":\"zebra_count\",\"kind\":\"http\",\"description\":\"d\",\"config\":{\"method\":\"GET\",\"url\":\"https://api.example.org/\"}}",
		"POST /tenant/%s/tools", f->tenant_id);
	STATUS(r, 201);
	tool = text_at(&r, "id");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=zeb", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=zeb&types=skill", f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), skill);
	STATUS(ask(f, f->admin, "{\"name\":\"Horse care\"}", "PATCH /tenant/%s/skills/%s",
		       f->tenant_id, skill),
		200);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/tools/%s", f->tenant_id, tool), 204);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=horse", f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), skill);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s", f->tenant_id, skill), 204);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=care", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 0);
	fixture_close(f);
}

static int refold(struct db *db, void *data)
{
	return refold_ensure(db, data);
}

/* Texts as an older program folded them. */
static void fold_otherwise(struct fixture *f)
{
	static const char *const changes[] = {
		"update users set email = 'É.Ada@Example.org', email_folded = 'é.ada@example.org'",
		"update agent_rows set name = 'ꮳꮃꭹ', name_folded = 'stale' where slug = 'cherokee'",
		"update session_rows set title_folded = 'stale'",
		"update skills set name_folded = 'stale', description_folded = 'stale'",
		"update tool_bundles set name_folded = 'stale'",
		"update memories set content_folded = 'stale'",
	};

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		fixture_sql(f, changes[i], NO_ARGS);
}

TEST(refold_brings_up_to_date_what_was_folded_by_other_rules)
{
	static const char *const counts[] = {
		"select count(*) from users where email_folded = 'É.ada@example.org'",
		"select count(*) from agent_rows where name_folded = 'ᏣᎳᎩ'",
		"select count(*) from session_rows where title_folded = 'όσοσ'",
		"select count(*) from skills where name_folded = 'strasse' "
		"and description_folded = 'stale'",
		"select count(*) from tool_bundles where name_folded = 'tokyo'",
		"select count(*) from memories where content_folded = 'йод'",
	};
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "cherokee");

	fixture_agent(f, "a");
	fixture_session(f, f->admin, agent, "{\"title\":\"Όσος\"}");
	fixture_created(f, f->admin,
		"{\"name\":\"Straße\",\"slug\":\"s\",\"description\":\"Plain\",\"instructions\":\"I\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	fixture_created(f, f->admin, "{\"name\":\"ＴＯＫＹＯ\",\"slug\":\"t\",\"tools\":[]}",
		"POST /tenant/%s/tool-bundles", f->tenant_id);
	fixture_created(f, f->admin, "{\"content\":\"Йод!\",\"scope\":\"shared\"}",
		"POST /agents/%s/memories", agent);
	fold_otherwise(f);
	CHECK_INT(fixture_work(f, refold, &f->arena), 0);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		test_step("%s", counts[i]);
		CHECK_INT(fixture_count(f, counts[i]), 1);
	}
	CHECK_INT(fixture_count(f, "select count(*) from agent_rows where name_folded = 'a'"), 1);
	test_step("once");
	fold_otherwise(f);
	CHECK_INT(fixture_work(f, refold, &f->arena), 0);
	CHECK_INT(
		fixture_count(f, "select count(*) from agent_rows where name_folded = 'stale'"), 1);
	fixture_close(f);
}
