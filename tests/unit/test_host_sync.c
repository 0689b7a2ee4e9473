/* test_host_sync.c - the picture and the key of an agent on their way to another host of repositories: what is told of it, what is kept
 * when the host fails, and what becomes of two changes at once. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "fixture.h"
#include "picture_fixture.h"
#include "repos/host_sync.h"

#define A "/tenant/%s/agents/%s"
#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGTk3bSVZ2kqcnMfxQ3Wt4Qh0Vw0Q7W3v0bJ4c8n7m1Z"

/* A Gitea that has every user it is asked for, unless it is away. */
static struct {
	int away, key_status;
	int pictures, keys, members;
	const char *member_of;
	char email[64];
} gitea;

static int answer_gitea(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	bool posts = in->body != NULL;

	(void)ret_why;
	*out = (struct fetched){ .max_age_s = -1, .length = -1, .status = 200, .body = "[]" };
	if (gitea.away) {
		out->status = gitea.away;
		out->header = "90";
	} else if (strstr(in->url, "/user/avatar")) {
		gitea.pictures++;
		out->status = 204;
	} else if (strstr(in->url, "/keys")) {
		gitea.keys += posts && gitea.key_status == 201;
		out->status = posts ? gitea.key_status : 200;
	} else if (strstr(in->url, "/collaborators/")) {
		gitea.members++;
		gitea.member_of = arena_strdup(a, in->url);
		out->status = 204;
	} else {
		out->body =
			arena_printf(a, "{\"id\":7,\"login\":\"x\",\"email\":\"%s\"}", gitea.email);
	}
	out->len = strlen(out->body);
	return 0;
}

static const struct host host = { .kind = &host_gitea,
	.url = "https://git.example.org",
	.token = "t",
	.space = "",
	.fetch = answer_gitea };

static void one_colour(int x, int y, uint8_t *rgba)
{
	(void)x;
	(void)y;
	memset(rgba, 255, 4);
}

static void another_colour(int x, int y, uint8_t *rgba)
{
	one_colour(x, y, rgba);
	rgba[0] = 3;
}

/* Whether the answer says that it is there already. */
static bool put_picture(
	struct fixture *f, const char *agent, void (*paint)(int x, int y, uint8_t *rgba))
{
	struct picture p = picture_paint(200, 200, paint);
	struct answer r;
	struct buf file;
	char *text;

	picture_fixture_png(&file, &p, KIND_RGBA_8, false);
	picture_free(&p);
	text = arena_alloc(&f->arena, file.len * 2 + 8);
	base64_encode(file.at, file.len, text);
	buf_free(&file);
	r = ask(f, f->admin, arena_printf(&f->arena, "data:image/png;base64,%s", text),
		"PUT " A "/avatar", f->tenant_id, agent);
	STATUS(r, 200);
	return json_is_true(at(&r, "repohost_synced"));
}

static bool is_synced(struct fixture *f, const char *agent)
{
	struct answer r = ask(f, f->admin, NULL, "GET " A "/avatar", f->tenant_id, agent);

	STATUS(r, 200);
	return json_is_true(at(&r, "repohost_synced"));
}

struct stepping {
	struct fixture *f;
	const char *agent, *job;
	struct host_syncing what;
};

static int step_load(struct db *db, void *data)
{
	struct stepping *s = data;

	s->what = (struct host_syncing){ .len = 0 };
	return host_sync_load(db, &s->f->arena, &host, s->f->tenant_id, s->agent, s->job, &s->what);
}

static int step_apply(struct db *db, void *data)
{
	struct stepping *s = data;

	return host_sync_apply(db, &host, &s->what, s->job, clock_now_us());
}

struct job_read {
	struct fixture *f;
	struct one_text row;
};

static int read_job(struct db *db, void *data)
{
	static const struct statement st = { "test_host_job",
		"select job_id as value from agent_host_users", .row = &one_text_schema,
		.scan = "a test", .across = "a test" };
	struct job_read *r = data;

	return db_one(db, &r->f->arena, &st, &r->row, NULL, 0);
}

/* The newest job of the only agent that has one. */
static const char *job_of(struct fixture *f)
{
	struct job_read r = { .f = f };

	CHECK_INT(fixture_work(f, read_job, &r), 0);
	return r.row.value ? r.row.value : "";
}

static void sync_once(struct stepping *s)
{
	CHECK_INT(fixture_work(s->f, step_load, s), 0);
	host_sync_push(&host, &s->f->arena, &s->what);
	CHECK_INT(fixture_work(s->f, step_apply, s), 0);
}

TEST(host_sync_tells_what_the_host_shows)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "shown");
	struct stepping s = { .f = f, .agent = agent }, late = s;

	memset(&gitea, 0, sizeof gitea);
	gitea.key_status = 201;
	snprintf(gitea.email, sizeof gitea.email, "%s@lodge.internal", agent);
	f->service.host = &host;
	test_step("pending, and the host is away");
	CHECK(!put_picture(f, agent, one_colour));
	CHECK_INT(fixture_count(f, "select count(*) from jobs where kind = 'tenant.reconcile'"), 1);
	s.job = job_of(f);
	gitea.away = 429;
	sync_once(&s);
	CHECK_INT(s.what.said.end, REMOTE_LIMITED);
	CHECK_INT(s.what.said.retry_after_s, 90);
	CHECK(!is_synced(f, agent));
	CHECK_INT(fixture_count(
			  f, "select failures from agent_host_users where last_error is not null"),
		1);
	CHECK_STR(job_of(f), s.job);

	test_step("it is back");
	gitea.away = 0;
	sync_once(&s);
	CHECK(is_synced(f, agent));
	CHECK_INT(gitea.pictures, 1);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from agent_host_users where job_id is null and failures = 0 and "
			"last_error is null"),
		1);

	test_step("the same picture again needs nobody");
	CHECK(put_picture(f, agent, one_colour));
	CHECK_INT(fixture_count(f, "select count(*) from jobs where kind = 'tenant.reconcile'"), 1);

	test_step("another picture while one is under way");
	CHECK(!put_picture(f, agent, another_colour));
	late.job = job_of(f);
	CHECK_INT(fixture_work(f, step_load, &late), 0);
	CHECK(put_picture(f, agent, one_colour));
	CHECK(!put_picture(f, agent, another_colour));
	s.job = job_of(f);
	CHECK(strcmp(s.job, late.job) != 0);
	host_sync_push(&host, &f->arena, &late.what);
	CHECK_INT(fixture_work(f, step_apply, &late), 0);
	CHECK_STR(job_of(f), s.job);
	CHECK_INT(fixture_work(f, step_load, &late), ERR_NOT_FOUND);
	sync_once(&s);
	CHECK(is_synced(f, agent));
	CHECK_INT(gitea.pictures, 2);

	test_step("removal leaves it there");
	STATUS(ask(f, f->admin, NULL, "DELETE " A "/avatar", f->tenant_id, agent), 204);
	CHECK(!is_synced(f, agent));
	CHECK(put_picture(f, agent, another_colour));

	test_step("another host knows nothing of it");
	fixture_sql(f, "update agent_host_users set host = 'https://other.example.org'", NULL, 0);
	CHECK(!is_synced(f, agent));
	f->service.host = NULL;
	fixture_close(f);
}

TEST(host_sync_brings_a_key_though_the_picture_fails)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "keyed");
	struct stepping s = { .f = f, .agent = agent };

	memset(&gitea, 0, sizeof gitea);
	gitea.key_status = 422;
	snprintf(gitea.email, sizeof gitea.email, "%s@lodge.internal", agent);
	f->service.host = &host;
	STATUS(ask(f, f->admin, "{\"ssh_public_key\":\"" KEY " ada\"}", "PATCH " A, f->tenant_id,
		       agent),
		200);
	CHECK(!put_picture(f, agent, one_colour));
	s.job = job_of(f);
	test_step("the key is somebody else's, and the picture is brought all the same");
	sync_once(&s);
	CHECK_INT(s.what.said.end, REMOTE_TAKEN);
	CHECK(is_synced(f, agent));
	CHECK_INT(fixture_count(
			  f, "select failures from agent_host_users where ssh_public_key is null"),
		1);
	gitea.key_status = 201;
	sync_once(&s);
	CHECK_INT(gitea.keys, 1);
	CHECK_INT(gitea.pictures, 1);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from agent_host_users where ssh_public_key is not null and job_id is "
			"null"),
		1);
	test_step("a user that is not ours is left alone");
	snprintf(gitea.email, sizeof gitea.email, "somebody@example.org");
	CHECK(!put_picture(f, agent, another_colour));
	s.job = job_of(f);
	sync_once(&s);
	CHECK_INT(s.what.said.end, REMOTE_TAKEN);
	CHECK_INT(gitea.pictures, 1);
	f->service.host = NULL;
	fixture_close(f);
}

TEST(host_sync_lets_the_user_into_its_projects)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "member");
	struct stepping s = { .f = f, .agent = agent };

	memset(&gitea, 0, sizeof gitea);
	gitea.key_status = 201;
	snprintf(gitea.email, sizeof gitea.email, "%s@lodge.internal", agent);
	STATUS(ask(f, f->admin, NULL, "POST " A "/repo", f->tenant_id, agent), 201);
	f->service.host = &host;
	STATUS(ask(f, f->admin, "{\"ssh_public_key\":\"" KEY " ada\"}", "PATCH " A, f->tenant_id,
		       agent),
		200);
	test_step("one of our own, and one of another host, are none of its");
	s.job = job_of(f);
	sync_once(&s);
	fixture_sql(f,
		"update repositories set host = 'gitea', url = 'https://other.example.org/t/a.git'",
		NULL, 0);
	fixture_sql(f, "update agent_host_users set job_id = 'j'", NULL, 0);
	s.job = "j";
	sync_once(&s);
	CHECK_INT(gitea.members, 0);
	test_step("one that was made there is");
	fixture_sql(f, "update repositories set url = 'https://git.example.org/t/a.git'", NULL, 0);
	fixture_sql(f, "update agent_host_users set job_id = 'j'", NULL, 0);
	sync_once(&s);
	CHECK_INT(s.what.said.end, REMOTE_OK);
	CHECK_INT(gitea.members, 1);
	CHECK(gitea.member_of &&
		strstr(gitea.member_of,
			arena_printf(&f->arena, "/repos/t/a/collaborators/lodge-%s", agent)));
	CHECK_INT(gitea.keys, 1);
	f->service.host = NULL;
	fixture_close(f);
}

TEST(host_sync_waits_longer_each_time)
{
	static const struct {
		int64_t failures, asked, least_s, most_s;
	} rows[] = { { 1, -1, 60, 66 }, { 2, -1, 120, 132 }, { 6, -1, 1920, 2112 },
		{ 7, -1, 3600, 3960 }, { 1000, -1, 3600, 3960 }, { 1, 600, 600, 660 },
		{ 7, 600, 3600, 3960 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t pause = host_sync_pause_us(rows[i].failures, rows[i].asked);

		test_step("row %zu", i);
		CHECK(pause >= rows[i].least_s * SECOND_US && pause <= rows[i].most_s * SECOND_US);
	}
}
