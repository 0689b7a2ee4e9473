/* test_repos.c - the repositories of agents as clients make, read and let go of them. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/clock.h"
#include "queue_fixture.h"
#include "repo_fixture.h"
#include "repos/repo.h"

#define R "/tenant/%s/agents/%s"

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void sweep(struct fixture *f, int64_t now)
{
	repo_sweep_submit(f->service.repos, f->app.store, f->app.disk, now);
	while (!repo_is_swept(f->service.repos))
		usleep(1000);
}

TEST(repos_begin_with_the_prompts_of_the_agent)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "writer"), *other = fixture_agent(f, "plain");
	struct answer r = ask(f, f->admin, NULL, "GET " R, f->tenant_id, agent);

	CHECK_STR(text_at(&r, "repo_url"), "http://lodge.test/git/demo/writer.git");
	CHECK_STR(repo_said(f, agent, "git ls-tree -r --name-only main"),
		"prompts/description_prompt.md\nprompts/initial_greeting.md");
	CHECK_STR(repo_said(f, agent, "git show main:prompts/description_prompt.md"), "Be kind.");
	CHECK_STR(repo_said(f, agent, "git log --format='%%an %%ae %%s' main"),
		"A writer@lodge.internal Begin with the prompts of the agent");
	CHECK_STR(
		repo_said(f, agent, "git symbolic-ref HEAD; git fsck --strict"), "refs/heads/main");
	CHECK_INT(fixture_count(f, "select count(*) from prompt_bases"), 2);
	CHECK(fixture_count(f, "select size_bytes from repositories") > 100);
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo", f->tenant_id, agent), 409);
	/* Without any prompt there is a main branch all the same; and a copy has nothing of it. */
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo", f->tenant_id, other), 201);
	CHECK_STR(repo_said(f, other, "git ls-tree -r main"), "");
	r = ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent);
	STATUS(r, 201);
	CHECK(json_is_null(at(&r, "repo_url")));
	fixture_close(f);
}

TEST(repos_tell_their_refs_and_take_a_pin_that_is_one_of_them)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "pinned"), *folder;
	struct answer r = ask(f, f->admin, NULL, "GET " R "/repo/refs", f->tenant_id, agent);

	STATUS(r, 200);
	CHECK(json_array_size(at(&r, "branches")) == 0 && json_is_false(at(&r, "complete")));
	r = ask(f, f->admin, "{\"code_ref\":\"main\"}", "PATCH " R "/code-ref", f->tenant_id,
		agent);
	STATUS(r, 422);
	CHECK(refuses(&r, "code_ref", "unknown"));
	agent = repo_agent(f, "other");
	repo_said(f, agent, "git tag v1.0 main; git branch feature/x main");
	r = ask(f, f->admin, NULL, "GET " R "/repo/refs", f->tenant_id, agent);
	CHECK_STR(text_at(&r, "branches.0"), "feature/x");
	CHECK_STR(text_at(&r, "branches.1"), "main");
	CHECK_STR(text_at(&r, "tags.0"), "v1.0");
	CHECK(json_is_true(at(&r, "complete")));
	r = ask(f, f->admin, "{\"code_ref\":\"v1.0\"}", "PATCH " R "/code-ref", f->tenant_id,
		agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "code_ref"), "v1.0");
	r = ask(f, f->admin, NULL, "GET " R "/code-ref", f->tenant_id, agent);
	CHECK_STR(text_at(&r, "code_ref"), "v1.0");
	r = ask(f, f->admin, "{\"code_ref\":\"feature\"}", "PATCH " R "/code-ref", f->tenant_id,
		agent);
	CHECK(refuses(&r, "code_ref", "unknown"));
	r = ask(f, f->admin, "{\"code_ref\":\"a..b\"}", "PATCH " R "/code-ref", f->tenant_id,
		agent);
	STATUS(r, 422);
	CHECK(!refuses(&r, "code_ref", "unknown"));
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'agent.code_ref'"),
		1);
	/* While its files are away, nobody says that a name is wrong. */
	folder = repo_folder_of(f, agent);
	CHECK(rename(folder, arena_printf(&f->arena, "%s.away", folder)) == 0);
	STATUS(ask(f, f->admin, "{\"code_ref\":\"main\"}", "PATCH " R "/code-ref", f->tenant_id,
		       agent),
		502);
	r = ask(f, f->admin, NULL, "GET " R "/repo/refs", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "complete")));
	STATUS(ask(f, f->admin, NULL, "GET " R "/repo/tree", f->tenant_id, agent), 502);
	fixture_close(f);
}

TEST(repos_show_folders_files_and_commits)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "shown");
	struct answer r;

	repo_push(f, agent, "prompts/initial_greeting.md", "Hi.\\n");
	repo_push(f, agent, "page.html", "<script>\\n");
	repo_said(f, agent,
		"git tag first main~2; "
		"t=$(printf '120000 blob %%s\\tlink\\n' $(printf page.html | git hash-object -w --stdin) "
		"| git mktree); git update-ref refs/heads/links $(git commit-tree -m l $t)");
	r = ask(f, f->admin, NULL, "GET " R "/repo/tree", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "entries.0.name"), "page.html");
	CHECK_INT(json_integer_value(at(&r, "entries.0.size_bytes")), 9);
	CHECK_STR(text_at(&r, "entries.1.kind"), "folder");
	r = ask(f, f->admin, NULL, "GET " R "/repo/tree?path=prompts&per_page=1", f->tenant_id,
		agent);
	CHECK_STR(text_at(&r, "entries.0.path"), "prompts/description_prompt.md");
	CHECK_STR(text_at(&r, "next_after"), "description_prompt.md");
	r = ask(f, f->admin, NULL, "GET " R "/repo/tree?path=prompts&after=description_prompt.md",
		f->tenant_id, agent);
	CHECK_STR(text_at(&r, "entries.0.name"), "initial_greeting.md");
	CHECK(json_is_null(at(&r, "next_after")));
	STATUS(ask(f, f->admin, NULL, "GET " R "/repo/tree?path=page.html", f->tenant_id, agent),
		404);
	STATUS(ask(f, f->admin, NULL, "GET " R "/repo/tree?ref=none", f->tenant_id, agent), 404);
	STATUS(ask(f, f->admin, NULL, "GET " R "/repo/tree?path=..%%2Fx", f->tenant_id, agent),
		422);

	r = ask(f, f->admin, NULL, "GET " R "/repo/file?path=prompts%%2Finitial_greeting.md",
		f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_STR(r.body, "Hi.\n");
	r = ask(f, f->admin, NULL,
		"GET " R "/repo/file?ref=first&path=prompts%%2Finitial_greeting.md", f->tenant_id,
		agent);
	CHECK_STR(r.body, "Hello.\n");
	r = ask(f, f->admin, NULL, "GET " R "/repo/file?path=page.html", f->tenant_id, agent);
	CHECK_STR(header_of(f, &r, "content-type"), "text/plain; charset=utf-8");
	CHECK(strstr(r.head, "sandbox") && strstr(r.head, "attachment"));
	STATUS(ask(f, f->admin, NULL, "GET " R "/repo/file?ref=links&path=link", f->tenant_id,
		       agent),
		404);

	r = ask(f, f->admin, NULL, "GET " R "/repo/commits?per_page=2", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	CHECK_STR(text_at(&r, "items.0.author_email"), "ada@example.org");
	r = ask(f, f->admin, NULL, "GET " R "/repo/commits?per_page=2&page=2", f->tenant_id, agent);
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	r = ask(f, f->admin, NULL, "GET " R "/repo/commits?path=prompts%%2Finitial_greeting.md",
		f->tenant_id, agent);
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	CHECK_STR(text_at(&r, "items.0.title"), "Change it");
	STATUS(ask(f, f->admin, NULL, "GET " R "/repo/commits", f->tenant_id,
		       fixture_agent(f, "x")),
		404);
	fixture_close(f);
}

TEST(repos_whose_files_are_lost_say_so)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "lost");
	struct answer r;

	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	CHECK(json_is_null(at(&r, "last_error")));
	repo_said(f, agent, "rm -r $PWD");
	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "last_error"), "are not where"));
	fixture_close(f);
}

/* As when the service is killed while git takes a push: the branch has moved, and no row says so. */
TEST(repos_that_moved_without_a_note_are_found)
{
	static const char pushes[] = "select count(*) from audit_logs where action = 'repo.push'";
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "moved"), *text = "{\"projection\":\"auto\"}", *tip;
	struct answer r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	const char *first = text_at(&r, "tip");
	int64_t now;

	STATUS(ask(f, f->admin, text, "PATCH " R "/repo", f->tenant_id, agent), 200);
	UNTIL_TRUE(fixture_count(f, "select count(*) from jobs") == 0);
	repo_push(f, agent, "prompts/description_prompt.md", "Be brief.\\n");
	tip = repo_said(f, agent, "git rev-parse main");
	fixture_sql(f, "update repositories set size_bytes = 1", NO_ARGS);
	now = clock_now_us();
	sweep(f, now); /* who pushed may be about to note it */
	CHECK_INT(fixture_count(f, pushes), 0);
	sweep(f, now + 2 * 60 * SECOND_US);
	UNTIL_TRUE(
		fixture_count(f,
			"select count(*) from agents where description_prompt = 'Be brief.'") == 1);
	CHECK_INT(fixture_count(f, arena_printf(&f->arena, "%s and meta like '%%%s%%%s%%found%%'",
					   pushes, first, tip)),
		1);
	CHECK(fixture_count(f, "select size_bytes from repositories") > 100);
	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	CHECK_STR(text_at(&r, "tip"), tip);
	sweep(f, now + 5 * 60 * SECOND_US);
	CHECK_INT(fixture_count(f, pushes), 1);
	/* What was noted is none that nobody noted, even if the row does not have its commit. */
	fixture_sql(f, "update repositories set tip = $1", ARGS(T(first)));
	sweep(f, now + 8 * 60 * SECOND_US);
	CHECK_INT(fixture_count(f, pushes), 1);
	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	CHECK_STR(text_at(&r, "tip"), tip);
	fixture_close(f);
}

TEST(repos_that_are_let_go_of_are_kept_for_a_month_and_then_gone)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "left"), *folder = repo_folder_of(f, agent);
	int64_t now = clock_now_us();
	struct answer r = ask(f, f->admin, NULL, "DELETE " R "/repo", f->tenant_id, agent);

	STATUS(r, 200);
	CHECK(json_is_null(at(&r, "repo_url")));
	CHECK_INT(fixture_count(f, "select count(*) from prompt_bases"), 0);
	STATUS(ask(f, f->admin, NULL, "DELETE " R "/repo", f->tenant_id, agent), 404);
	sweep(f, now + 29 * DAY_US);
	CHECK(is_there(folder));
	sweep(f, now + 31 * DAY_US);
	CHECK(!is_there(folder));
	CHECK_INT(fixture_count(f, "select count(*) from repository_trash"), 0);
	for (int i = 0; i <= REPO_RELEASED_MAX; i++) {
		STATUS(ask(f, f->admin, NULL, "POST " R "/repo", f->tenant_id, agent), 201);
		STATUS(ask(f, f->admin, NULL, "DELETE " R "/repo", f->tenant_id, agent),
			i < REPO_RELEASED_MAX ? 200 : 409);
	}
	/* With the agent all of them go. */
	folder = repo_folder_of(f, agent);
	STATUS(ask(f, f->admin, NULL, "DELETE " R, f->tenant_id, agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), 0);
	sweep(f, clock_now_us());
	CHECK(!is_there(folder));
	CHECK_INT(fixture_count(f, "select count(*) from repository_trash"), 0);
	fixture_close(f);
}

TEST(repos_that_no_row_names_are_removed_a_week_after_that_was_seen)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "kept"), *folder = repo_folder_of(f, agent);
	const char *lost = repo_path(f->service.repos, &f->arena, id_at(clock_now_us()).text);
	int64_t now = clock_now_us();

	CHECK(mkdir(lost, 0700) == 0);
	sweep(f, now);
	sweep(f, now + 30 * DAY_US); /* the service may have been stopped for long */
	sweep(f, now + 36 * DAY_US);
	CHECK(is_there(lost));
	sweep(f, now + 38 * DAY_US);
	CHECK(!is_there(lost));
	CHECK(is_there(folder));
	fixture_close(f);
}

/* A copy of the store is put back that does not know it yet, and then the newer one again: the week begins anew. */
TEST(repos_that_a_row_names_again_lose_the_note)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "again"), *folder = repo_folder_of(f, agent);
	int64_t now = clock_now_us() + 2 * DAY_US;

	fixture_sql(f, "update repositories set id = 'x' || id", NO_ARGS);
	sweep(f, now);
	fixture_sql(f, "update repositories set id = substr(id, 2)", NO_ARGS);
	sweep(f, now + 2 * DAY_US);
	fixture_sql(f, "update repositories set id = 'x' || id", NO_ARGS);
	sweep(f, now + 8 * DAY_US);
	CHECK(is_there(folder));
	sweep(f, now + 16 * DAY_US);
	CHECK(!is_there(folder));
	fixture_close(f);
}

/* As on a disk that is full: folders can be made, and nothing be written into files. */
TEST(repos_that_cannot_be_made_leave_no_folder)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "full");
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit whole, none;

	CHECK(getrlimit(RLIMIT_FSIZE, &whole) == 0);
	none = (struct rlimit){ 4, whole.rlim_max };
	CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo", f->tenant_id, agent), 502);
	CHECK(setrlimit(RLIMIT_FSIZE, &whole) == 0);
	signal(SIGXFSZ, before);
	CHECK_INT(repo_folders(f), 0);
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo", f->tenant_id, agent), 201);
	CHECK_INT(repo_folders(f), 1);
	fixture_close(f);
}

TEST(repos_that_are_refused_or_stand_already_leave_no_folder)
{
	static const char body[] = "{\"projection\":\"auto\"}";
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "refused");

	STATUS(ask(f, f->admin, NULL, "POST " R "/repo\nIf-Match: \"nope\"", f->tenant_id, agent),
		404);
	STATUS(ask(f, f->admin, NULL, "POST " R "/image-repo\nIf-Match: \"nope\"", f->tenant_id,
		       agent),
		412);
	CHECK_INT(repo_folders(f), 0);
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo\nIdempotency-Key: once", f->tenant_id,
		       agent),
		201);
	CHECK_INT(repo_folders(f), 1);
	test_step("the same again, and something else by the same key");
	STATUS(ask(f, f->admin, NULL, "POST " R "/repo\nIdempotency-Key: once", f->tenant_id,
		       agent),
		201);
	STATUS(ask(f, f->admin, body, "POST " R "/repo\nIdempotency-Key: once", f->tenant_id,
		       agent),
		422);
	CHECK_INT(repo_folders(f), 1);
	fixture_close(f);
}
