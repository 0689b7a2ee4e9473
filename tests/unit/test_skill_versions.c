/* test_skill_versions.c - which text of a skill an agent reads: the one that was accepted, with the values of
 * its configuration that are no secrets. */
#include <string.h>

#include "base/id.h"
#include "fixture.h"
#include "sessions/builtin_tools.h"
#include "sessions/tool_run.h"

struct reader {
	struct fixture *f;
	const char *tenant_id, *agent_id, *arguments; /* whose agent, what it asks */
	struct tool_answer answer;
};

static int run(struct db *db, void *data)
{
	struct reader *u = data;
	struct held_tool tool = { .name = "skill_read",
		.kind = "builtin",
		.input_schema = builtin_tool("skill_read")->input_schema };
	struct id id = id_new(NULL);
	struct tool_asked in = { .tenant_id = u->tenant_id,
		.agent_id = u->agent_id,
		.call_id = id.text,
		.tool = &tool,
		.arguments = u->arguments,
		.vault = u->f->app.vault,
		.now = 1 };

	return tool_run_quick(db, &u->f->arena, &in, &u->answer);
}

static const char *reads(struct reader *u, const char *slug, const char *file)
{
	u->arguments =
		file ? arena_printf(&u->f->arena, "{\"skill\":\"%s\",\"file\":\"%s\"}", slug, file)
		     : arena_printf(&u->f->arena, "{\"skill\":\"%s\"}", slug);
	CHECK_INT(fixture_work(u->f, run, u), 0);
	return u->answer.text;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

struct versions_fixture {
	struct fixture *f;
	const char *them, *theirs,
		*skill;		   /* the owner's token and tenant, and their public skill */
	struct reader ours, their; /* agents that hold it */
};

static void give(struct fixture *f, const char *token, const char *agent, const char *skill)
{
	STATUS(ask(f, token, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", skill),
		       "POST /agents/%s/skills", agent),
		201);
}

static void write_file(struct versions_fixture *s, const char *text)
{
	STATUS(ask(s->f, s->them, text,
		       "PUT /tenant/%s/skills/%s/file?path=a.txt\nContent-Type: text/plain",
		       s->theirs, s->skill),
		*text == 'o' ? 201 : 200);
}

static void rewrite(struct versions_fixture *s, const char *body)
{
	STATUS(ask(s->f, s->them, body, "PATCH /tenant/%s/skills/%s", s->theirs, s->skill), 200);
}

static struct versions_fixture http_fixture_open(const char *skill)
{
	struct versions_fixture s = { .f = fixture_open() };
	const char *they = fixture_user(s.f, "t@example.org", &s.them);
	struct answer r;

	s.theirs = fixture_tenant(s.f, "theirs", they);
	r = ask(s.f, s.them, skill, "POST /tenant/%s/skills", s.theirs);
	STATUS(r, 201);
	s.skill = text_at(&r, "id");
	write_file(&s, "old file");
	s.ours = (struct reader){ s.f, s.f->tenant_id, fixture_agent(s.f, "a") };
	s.their = (struct reader){ s.f, s.theirs, fixture_agent_of(s.f, s.them, s.theirs, "a") };
	give(s.f, s.f->admin, s.ours.agent_id, s.skill);
	give(s.f, s.them, s.their.agent_id, s.skill);
	return s;
}

#define PUBLIC_SKILL                                                                            \
	"{\"name\":\"Old\",\"slug\":\"old\",\"description\":\"Old\",\"visibility\":\"public\"," \
	"\"instructions\":\"Old words.\"}"
#define KEPT "select count(*) from skill_versions"

static struct answer version(struct versions_fixture *s, const struct reader *u)
{
	struct answer r = ask(s->f, u == &s->ours ? s->f->admin : s->them, NULL,
		"GET /agents/%s/skills/%s/version", u->agent_id, s->skill);

	STATUS(r, 200);
	return r;
}

static struct answer take(struct versions_fixture *s, const struct reader *u, const char *digest)
{
	return ask(s->f, u == &s->ours ? s->f->admin : s->them,
		digest ? arena_printf(&s->f->arena, "{\"digest\":\"%s\"}", digest)
		       : "{\"digest\":null}",
		"PUT /agents/%s/skills/%s/version", u->agent_id, s->skill);
}

TEST(skill_versions_of_another_tenant_change_only_when_accepted)
{
	struct versions_fixture s = http_fixture_open(PUBLIC_SKILL);
	struct answer r = version(&s, &s.ours);
	const char *digest;

	CHECK(json_is_true(at(&r, "is_pinned")));
	CHECK(json_is_false(at(&r, "update_available")));
	r = version(&s, &s.their);
	CHECK(json_is_false(at(&r, "is_pinned")));
	test_step("rewritten: the owner's agents follow, others do not");
	rewrite(&s, "{\"instructions\":\"New words.\",\"description\":\"New\",\"slug\":\"new\"}");
	write_file(&s, "new file");
	CHECK(begins(reads(&s.their, "new", NULL), "New words."));
	CHECK_STR(reads(&s.their, "new", "a.txt"), "new file");
	CHECK(begins(reads(&s.ours, "old", NULL), "Old words."));
	CHECK_STR(reads(&s.ours, "old", "a.txt"), "old file");
	r = version(&s, &s.ours);
	CHECK(json_is_true(at(&r, "update_available")));
	digest = text_at(&r, "latest_digest");
	test_step("accepted by the digest that was read, and by no other");
	STATUS(take(&s, &s.ours, text_at(&r, "digest")), 409);
	STATUS(take(&s, &s.ours, NULL), 409);
	CHECK(begins(reads(&s.ours, "old", NULL), "Old words."));
	rewrite(&s, "{\"instructions\":\"Newest words.\"}");
	STATUS(take(&s, &s.ours, digest), 409);
	r = version(&s, &s.ours);
	r = take(&s, &s.ours, text_at(&r, "latest_digest"));
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "update_available")));
	CHECK(begins(reads(&s.ours, "new", NULL), "Newest words."));
	CHECK_STR(reads(&s.ours, "new", "a.txt"), "new file");
	CHECK_INT(fixture_count(s.f, KEPT), 1);
	test_step("a copy of the agent holds the same");
	r = ask(s.f, s.f->admin, "{\"name\":\"B\"}", "POST /agents/%s/clone", s.ours.agent_id);
	rewrite(&s, "{\"instructions\":\"Other words.\"}");
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /agents/%s/skills/%s", s.ours.agent_id, s.skill),
		204);
	s.ours.agent_id = text_at(&r, "id");
	CHECK(begins(reads(&s.ours, "new", NULL), "Newest words."));
	test_step("what is private is not used, and not offered");
	rewrite(&s, "{\"visibility\":\"tenant\"}");
	CHECK(strstr(reads(&s.ours, "new", NULL), "has no skill"));
	r = version(&s, &s.ours);
	CHECK(json_is_null(at(&r, "latest_digest")));
	CHECK(json_is_false(at(&r, "update_available")));
	STATUS(take(&s, &s.ours, digest), 409);
	rewrite(&s, "{\"visibility\":\"public\"}");
	CHECK(begins(reads(&s.ours, "new", NULL), "Newest words."));
	test_step("nobody holds it any more");
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /agents/%s/skills/%s", s.ours.agent_id, s.skill),
		204);
	CHECK_INT(fixture_count(s.f, KEPT), 0);
	CHECK_INT(fixture_count(s.f, "select count(*) from skill_version_files"), 0);
	fixture_close(s.f);
}

/* As the way to this version leaves what was given before. */
TEST(skill_versions_pinned_before_digests_were_are_told_by_their_text)
{
	struct versions_fixture s = http_fixture_open(PUBLIC_SKILL);
	struct answer r;

	fixture_sql(s.f,
		"insert into skill_versions (tenant_id, skill_id, digest, created_at, name, slug, "
		"description, allowed_tools, metadata, files, instructions) select tenant_id, skill_id, "
		"'before', created_at, name, slug, description, allowed_tools, metadata, files, "
		"instructions from skill_versions",
		NO_ARGS);
	fixture_sql(
		s.f, "update agent_skills set digest = 'before' where digest is not null", NO_ARGS);
	r = version(&s, &s.ours);
	CHECK(json_is_true(at(&r, "is_pinned")));
	CHECK(json_is_false(at(&r, "update_available")));
	rewrite(&s, "{\"instructions\":\"New words.\"}");
	CHECK(begins(reads(&s.ours, "old", NULL), "Old words."));
	r = version(&s, &s.ours);
	r = take(&s, &s.ours, text_at(&r, "latest_digest"));
	STATUS(r, 200);
	CHECK(begins(reads(&s.ours, "old", NULL), "New words."));
	CHECK_INT(fixture_count(s.f, KEPT), 1);
	fixture_close(s.f);
}

TEST(skill_versions_of_the_own_tenant_follow_unless_pinned)
{
	struct versions_fixture s = http_fixture_open(PUBLIC_SKILL);
	struct answer r = version(&s, &s.their);

	r = take(&s, &s.their, text_at(&r, "latest_digest"));
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "is_pinned")));
	rewrite(&s, "{\"instructions\":\"New words.\"}");
	CHECK(begins(reads(&s.their, "old", NULL), "Old words."));
	STATUS(take(&s, &s.their, NULL), 200);
	CHECK(begins(reads(&s.their, "old", NULL), "New words."));
	CHECK_INT(fixture_count(s.f,
			  "select count(*) from audit_logs where action = 'agent_skill.version'"),
		2);
	STATUS(ask(s.f, s.them, NULL, "DELETE /tenant/%s/skills/%s", s.theirs, s.skill), 204);
	CHECK_INT(fixture_count(s.f, KEPT), 0);
	CHECK(strstr(reads(&s.ours, "old", NULL), "has no skill"));
	fixture_close(s.f);
}

TEST(skill_config_reaches_the_model_where_it_is_named_and_open)
{
	struct versions_fixture s = http_fixture_open(
		"{\"name\":\"Old\",\"slug\":\"old\",\"description\":\"D\",\"visibility\":\"public\","
		"\"metadata\":{\"config\":\"region, limits unset\"},\"instructions\":"
		"\"{{config.region}}|{{config.limits}}|{{config.token}}|{{config.unset}}|"
		"{{config.}}|{{config.region|{{config.region}}\"}");
	struct answer r;

	CHECK(begins(reads(&s.ours, "old", NULL), "[config.region is not set]|"));
	r = ask(s.f, s.f->admin,
		"{\"config\":{\"region\":\"{{config.token}}\",\"limits\":{\"a\":[1,true]},"
		"\"token\":\"t-123\"}}",
		"PATCH /agents/%s/skills/%s/config", s.ours.agent_id, s.skill);
	STATUS(r, 200);
	reads(&s.ours, "old", NULL);
	CHECK(begins(s.ours.answer.text,
		"{{config.token}}|{\"a\":[1,true]}|[config.token is kept secret]|"
		"[config.unset is not set]|{{config.}}|{{config.region|{{config.token}}"));
	CHECK(!strstr(s.ours.answer.text, "t-123"));
	test_step("the configuration of one agent is not another's");
	CHECK(begins(reads(&s.their, "old", NULL), "[config.region is not set]|"));
	fixture_close(s.f);
}
