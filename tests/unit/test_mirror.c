/* test_mirror.c - repositories on other hosts: their times, their secrets, the sweep over them, and who may have them looked at. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/same.h"
#include "git/git_child.h"
#include "git/git_orphans.h"
#include "repo_fixture.h"
#include "repos/mirrors.h"

#define R "/tenant/%s/agents/%s"

/* As one that was bound and fetched, on a host where nobody answers. */
static const char *mirror_agent(struct fixture *f, const char *slug)
{
	const char *agent = repo_agent(f, slug);

	fixture_sql(f,
		"update repositories set host = 'git', url = 'http://127.0.0.1:1/a.git', "
		"refs_sha256 = 'x', complete = 1, observed_at = 1, next_attempt_at = 1 where agent_id = $1",
		ARGS(T(agent)));
	return agent;
}

static struct mirrors *engine(struct fixture *f)
{
	return mirrors_new(&(struct mirrors_settings){ .store = &f->app.store,
		.repos = &f->service.repos,
		.vault = &f->app.vault,
		.egress = EGRESS_ANY });
}

static void end_engine(struct mirrors *m)
{
	while (!mirrors_are_swept(m))
		usleep(1000);
	mirrors_stop(m);
	mirrors_free(m);
}

TEST(mirrors_are_looked_at_each_minute_and_later_after_failures)
{
	for (int i = 0; i < 100; i++) {
		CHECK(mirror_next(0, 0, -1) >= 48 * SECOND_US);
		CHECK(mirror_next(0, 0, -1) <= 54 * SECOND_US);
		CHECK(mirror_next(0, 1, -1) <= 54 * SECOND_US);
		CHECK(mirror_next(0, 2, -1) >= 96 * SECOND_US);
		CHECK(mirror_next(0, 50, -1) <= 3600 * SECOND_US);
		CHECK(mirror_next(0, 50, -1) >= 2880 * SECOND_US);
		CHECK(mirror_next(5, 1, 1000) == 5 + 1000 * SECOND_US);
	}
}

TEST(mirrors_that_are_due_are_asked_for_once_whoever_sweeps)
{
	struct fixture *f = fixture_open();
	struct mirrors *one = engine(f), *other = engine(f);
	const char *agent = mirror_agent(f, "away");
	struct answer r;

	for (int i = 0; i < 5; i++)
		mirror_agent(f, arena_printf(&f->arena, "away-%d", i));
	repo_agent(f, "ours");
	mirrors_sweep(one, clock_now_us());
	mirrors_sweep(other, clock_now_us());
	end_engine(one);
	end_engine(other);
	CHECK_INT(fixture_count(f, "select count(*) from repositories where failures = 1"), 6);
	CHECK_INT(fixture_count(f, "select max(failures) from repositories"), 1);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from repositories where next_attempt_at is null and host = 'embedded'"),
		1);
	CHECK(fixture_count(f, "select min(next_attempt_at) from repositories") >
		clock_now_us() + 30 * SECOND_US);
	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	CHECK(strstr(text_at(&r, "last_error"), "cannot be reached"));
	/* What is known is told, and no more than that. */
	r = ask(f, f->admin, NULL, "GET " R "/repo/refs", f->tenant_id, agent);
	CHECK_STR(text_at(&r, "branches.0"), "main");
	CHECK(json_is_false(at(&r, "complete")));
	r = ask(f, f->admin, NULL, "GET " R "/prompt-provenance", f->tenant_id, agent);
	CHECK(json_is_false(at(&r, "available")));
	CHECK(strstr(text_at(&r, "unavailable_reason"), "cannot be reached"));
	r = ask(f, f->admin, "{\"code_ref\":\"none\"}", "PATCH " R "/code-ref", f->tenant_id,
		agent);
	STATUS(r, 502); /* nobody says that a name is wrong */
	fixture_close(f);
}

TEST(mirrors_keep_a_token_that_only_the_vault_opens)
{
	struct fixture *f = fixture_open();
	struct repository row = { .id = "c0000000000000000000000aa" };
	struct repo_secrets s = { .token = "jo:s3cret", .hook = "h00k" }, got;

	CHECK_INT(repo_secrets_seal(f->app.vault, &f->arena, &row, &s), 0);
	CHECK(row.sealed && !strstr(row.sealed, "s3cret"));
	CHECK_INT(repo_secrets_open(f->app.vault, &f->arena, &row, &got), 0);
	CHECK_STR(got.token, "jo:s3cret");
	CHECK_STR(got.hook, "h00k");
	s.token = NULL;
	CHECK_INT(repo_secrets_seal(f->app.vault, &f->arena, &row, &s), 0);
	CHECK_INT(repo_secrets_open(f->app.vault, &f->arena, &row, &got), 0);
	CHECK(!got.token && got.hook);
	row.id = "c0000000000000000000000bb";
	CHECK_INT(repo_secrets_open(f->app.vault, &f->arena, &row, &got), ERR_SECRET);
	CHECK_INT(repo_secrets_seal(f->app.vault, &f->arena, &row, &(struct repo_secrets){ 0 }), 0);
	CHECK(!row.sealed);
	fixture_close(f);
}

TEST(mirrors_have_the_operators_token_only_where_it_belongs)
{
	static const struct host host = {
		.kind = &host_gitlab, .url = "https://git.example.org", .token = "op"
	};
	static const struct {
		int host;
		const char *url, *own, *token;
	} rows[] = { { RepoHost_gitlab, "https://git.example.org/agents/a.git", NULL, "op" },
		{ RepoHost_gitlab, "https://git.example.org/agents/a.git", "own", "own" },
		{ RepoHost_git, "https://git.example.org/agents/a.git", NULL, NULL },
		{ RepoHost_gitea, "https://git.example.org/agents/a.git", NULL, NULL },
		{ RepoHost_gitlab, "https://git.example.org.evil.example/a.git", NULL, NULL },
		{ RepoHost_gitlab, "https://git.example.org@evil.example/a.git", NULL, NULL },
		{ RepoHost_gitlab, "http://git.example.org/agents/a.git", NULL, NULL },
		{ RepoHost_gitlab, NULL, NULL, NULL } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct repository row = { .host = rows[i].host, .url = rows[i].url };
		struct repo_secrets s = { .token = rows[i].own };

		CHECK(same_text(repo_token(&s, &row, &host), rows[i].token));
		CHECK(same_text(repo_token(&s, &row, NULL), rows[i].own));
	}
}

static struct answer tell(struct fixture *f, const char *url, const char *secret, const char *body)
{
	uint8_t mac[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	hmac_sha256(secret, strlen(secret), body, strlen(body), mac);
	hex_write(mac, sizeof mac, hex);
	return ask(f, NULL, body, "POST %s\nX-Hub-Signature-256: sha256=%s", strstr(url, "/hooks/"),
		hex);
}

TEST(mirrors_are_woken_by_who_knows_the_secret)
{
	struct fixture *f = fixture_open();
	const char *agent = mirror_agent(f, "woken"), *ours = repo_agent(f, "ours"), *url, *secret;
	struct answer r;

	STATUS(ask(f, f->admin, NULL, "POST " R "/repo/push-hook", f->tenant_id, ours), 409);
	r = ask(f, f->admin, NULL, "POST " R "/repo/push-hook", f->tenant_id, agent);
	STATUS(r, 201);
	url = arena_strdup(&f->arena, text_at(&r, "url"));
	secret = arena_strdup(&f->arena, text_at(&r, "secret"));
	fixture_sql(f,
		"update repositories set next_attempt_at = 9000000000000000 where host = 'git'",
		NO_ARGS);
	STATUS(tell(f, url, "wrong", "{}"), 401);
	STATUS(ask(f, NULL, "{}", "POST %s", strstr(url, "/hooks/")), 401);
	CHECK_INT(fixture_count(f, "select count(*) from repositories where asked_at > 0"), 0);
	for (int i = 0; i < 2; i++)
		STATUS(tell(f, url, secret, "{}"), 204);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from repositories where asked_at > 0 and next_attempt_at <= asked_at"),
		1);
	CHECK_INT(fixture_count(f, "select count(*) from jobs where kind = 'repo.mirror'"), 0);
	/* A job that has it is left with it. */
	fixture_sql(
		f, "update repositories set next_attempt_at = null where host = 'git'", NO_ARGS);
	STATUS(tell(f, url, secret, "{}"), 204);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from repositories where host = 'git' and next_attempt_at is null"),
		1);
	/* A new secret takes the place of the old one. */
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo/push-hook", f->tenant_id, agent), 201);
	STATUS(tell(f, url, secret, "{}"), 401);
	fixture_close(f);
}

struct failing {
	struct fixture *f;
	const char *agent_id;
	struct mirroring what;
};

static int begin_failing(struct db *db, void *data)
{
	struct failing *v = data;

	return mirror_load(db, &v->f->arena, v->f->app.vault, NULL, v->f->tenant_id, v->agent_id,
		clock_now_us(), &v->what);
}

static int fail_now(struct db *db, void *data)
{
	struct failing *v = data;

	return mirror_apply(db, &v->f->arena, &v->what, clock_now_us());
}

TEST(mirrors_that_fail_are_not_asked_for_more_often_than_each_minute)
{
	struct fixture *f = fixture_open();
	const char *agent = mirror_agent(f, "failing"), *url, *secret;
	struct answer r = ask(f, f->admin, NULL, "POST " R "/repo/push-hook", f->tenant_id, agent);
	struct failing v = { f, agent, { .begun = 0 } };
	int64_t now = clock_now_us();

	STATUS(r, 201);
	url = arena_strdup(&f->arena, text_at(&r, "url"));
	secret = arena_strdup(&f->arena, text_at(&r, "secret"));
	test_step("just now");
	fixture_sql(f,
		"update repositories set failures = 5, updated_at = $1, next_attempt_at = 9000000000000000",
		ARGS(N(now)));
	for (int i = 0; i < 2; i++)
		STATUS(tell(f, url, secret, "{}"), 204);
	CHECK_INT(fixture_count(f, "select next_attempt_at - updated_at from repositories"),
		MIRROR_EVERY_US);
	test_step("soon anyway");
	fixture_sql(f, "update repositories set next_attempt_at = updated_at + 1", NO_ARGS);
	STATUS(tell(f, url, secret, "{}"), 204);
	CHECK_INT(fixture_count(f, "select next_attempt_at - updated_at from repositories"), 1);
	test_step("a while ago");
	fixture_sql(f, "update repositories set updated_at = 1, next_attempt_at = 9000000000000000",
		NO_ARGS);
	STATUS(tell(f, url, secret, "{}"), 204);
	CHECK_INT(fixture_count(f, "select next_attempt_at - asked_at from repositories"), 0);
	test_step("asked for while it failed");
	CHECK_INT(fixture_work(f, begin_failing, &v), 0);
	v.what.failed = "Something is wrong.";
	v.what.row.size_bytes = 12345;
	STATUS(tell(f, url, secret, "{}"), 204);
	CHECK_INT(fixture_work(f, fail_now, &v), 0);
	CHECK_INT(fixture_count(f, "select next_attempt_at - updated_at from repositories"),
		MIRROR_EVERY_US);
	CHECK_INT(fixture_count(f, "select size_bytes from repositories"), 12345);
	fixture_close(f);
}

TEST(mirrors_are_not_bound_to_private_places)
{
	static const char *const urls[] = { "http://git.example.org/a.git",
		"https://127.0.0.1/a.git", "https://localhost/a.git", "https://[::1]/a.git",
		"file:///etc", "ext::sh", "https://jo:pw@git.example.org/a.git",
		"https://git.example.org/a.git?x=1", "HTTPS://git.example.org/a.git",
		"Http://git.example.org/a.git" };
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "bound");

	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		struct answer r =
			ask(f, f->admin, arena_printf(&f->arena, "{\"url\":\"%s\"}", urls[i]),
				"PATCH " R "/repo", f->tenant_id, agent);

		STATUS(r, 422);
		CHECK(refuses(&r, "url", "address"));
		r = ask(f, f->admin, arena_printf(&f->arena, "{\"import_url\":\"%s\"}", urls[i]),
			"POST " R "/repo", f->tenant_id, agent);
		STATUS(r, 422);
		CHECK(refuses(&r, "import_url", "address"));
	}
	STATUS(ask(f, f->admin, "{\"url\":null}", "PATCH " R "/repo", f->tenant_id, agent), 422);
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), 0);
	fixture_close(f);
}

/* As that of a process that was killed: nobody reads what it says, and it says nothing. */
TEST(mirrors_end_a_git_that_outlived_its_service)
{
	static const char *const words[] = { "cat-file", "--batch", NULL };
	struct fixture *f = fixture_open();
	const char *agent = mirror_agent(f, "orphan"),
		   *file = arena_printf(&f->arena, "%s/lodge-git", repo_folder_of(f, agent));
	int in[2], lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600), other;
	struct git_setup setup = {
		.words = words, .path = repo_folder_of(f, agent), .input_max = 1, .holds = lock
	};
	pid_t pid = 0;

	CHECK_INT(pipe2(in, O_CLOEXEC), 0);
	CHECK_INT(flock(lock, LOCK_EX | LOCK_NB), 0);
	CHECK_INT(git_child_begin(&setup, (int[]){ in[0], -1, -1 }, &pid), 0);
	close(lock);
	other = open(file, O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(other, LOCK_EX | LOCK_NB), -1);
	CHECK(git_orphans_end(other));
	CHECK_INT(git_child_end(pid), SIGKILL);
	/* One that this process holds itself is nobody's orphan. */
	lock = open(file, O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(lock, LOCK_EX | LOCK_NB), -1);
	CHECK(!git_orphans_end(lock));
	close(lock);
	close(other);
	close(in[0]);
	close(in[1]);
	fixture_close(f);
}
