/* test_repo_faults.c - the store failing at every statement of what is done with repositories: what was answered holds, what was
 * not left nothing half done, and the same again succeeds.  The files are git's own: a commit that was made before the store
 * failed stands, and is told of as what it is. */
#include "base/clock.h"
#include "repo_fixture.h"
#include "repos/converge.h"
#include "store/engine.h"

#ifdef LODGE_FAULTS

#define R "/tenant/%s/agents/%s"

static void order(int64_t statement, int err)
{
	fault_plan.err = err;
	fault_plan.statement_at = statement;
}

/* What stands of an agent's repository: its row, its address and its bases, or none of them. */
static void check_whole(struct fixture *f, const char *agent, bool there)
{
	int64_t rows = fixture_count(f,
			arena_printf(&f->arena,
				"select count(*) from repositories where agent_id = '%s'", agent)),
		urls = fixture_count(f,
			arena_printf(&f->arena,
				"select count(*) from agents where id = '%s' and repo_url is not null",
				agent)),
		bases = fixture_count(f,
			arena_printf(&f->arena,
				"select count(*) from prompt_bases where agent_id = '%s'", agent));

	CHECK_INT(rows, there ? 1 : 0);
	CHECK_INT(urls, rows);
	CHECK_INT(bases, 2 * rows);
}

/* One deed, failing at its nth statement; false once it has fewer.  The second time it succeeds, or has been done. */
static bool fails_at(struct fixture *f, int n, int err, const char *request, const char *body,
	int status, int done_status, struct answer *ret_first)
{
	bool reached;

	order(n, err);
	*ret_first = ask(f, f->admin, body, "%s", request);
	reached = fault_plan.statement_at == 0;
	order(0, 0);
	if (err == ERR_RETRY)
		CHECK_INT(ret_first->status, status);
	else if (reached)
		CHECK(ret_first->status == 503 || ret_first->status == status);
	if (ret_first->status != status)
		STATUS(ask(f, f->admin, body, "%s", request), status);
	else if (done_status)
		STATUS(ask(f, f->admin, body, "%s", request), done_status);
	return reached;
}

static const char *plain_agent(struct fixture *f, int n)
{
	return fixture_created(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"A\",\"slug\":\"r%d\",\"description_prompt\":\"Be kind.\",\"initial_greeting\":\"Hello.\"}",
			n),
		"POST /tenant/%s/agents", f->tenant_id);
}

static void make_and_let_go(int err)
{
	struct fixture *f = fixture_open();
	bool making = true, leaving = true;
	int64_t kept;
	struct answer first;

	for (int n = 1; (making || leaving) && n < 100; n++) {
		const char *agent = plain_agent(f, n),
			   *repo = arena_printf(&f->arena, R "/repo", f->tenant_id, agent);

		test_step("making, statement %d", n);
		making = fails_at(f, n, err, arena_printf(&f->arena, "POST %s", repo), NULL, 201,
			409, &first);
		check_whole(f, agent, true);
		CHECK_STR(repo_said(f, agent, "git fsck --strict; git rev-list --count main"), "1");
		test_step("letting go, statement %d", n);
		leaving = fails_at(f, n, err, arena_printf(&f->arena, "DELETE %s", repo), NULL, 200,
			404, &first);
		check_whole(f, agent, false);
		test_step("an image's, statement %d", n);
		making |= fails_at(f, n, err,
			arena_printf(&f->arena, "POST " R "/image-repo", f->tenant_id, agent), NULL,
			201, 200, &first);
	}
	CHECK(!making && !leaving);
	kept = fixture_count(f, "select count(*) from repository_trash");
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), kept);
	/* Those that were refused left nothing, but for those whose commit was not heard of, which may stand: one or two statements
	 * of each deed, of some twenty. */
	CHECK(repo_folders(f) >= 2 * kept && repo_folders(f) <= 2 * kept + 4);
	fixture_close(f);
}

TEST(repo_faults_at_every_statement_of_making_and_letting_go)
{
	make_and_let_go(ERR_STORE);
}

TEST(repo_faults_at_every_statement_of_resolving)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "resolved");
	const char *request = arena_printf(
		&f->arena, "POST " R "/prompt-provenance/resolve", f->tenant_id, agent);
	static const char *const takes[] = {
		"{\"file\":\"prompts/description_prompt.md\",\"take\":\"live\"}",
		"{\"file\":\"prompts/description_prompt.md\",\"take\":\"repository\"}"
	};
	bool reached = true;
	struct answer first, r;

	for (int n = 1; reached && n < 100; n++) {
		reached = false;
		for (int take = 0; take < 2; take++) {
			const char *text = arena_printf(&f->arena, "Text %d.", n);

			test_step("%s, statement %d", takes[take], n);
			STATUS(ask(f, f->admin,
				       arena_printf(
					       &f->arena, "{\"description_prompt\":\"%s\"}", text),
				       "PATCH " R, f->tenant_id, agent),
				200);
			if (take) {
				repo_push(f, agent, "prompts/description_prompt.md",
					arena_printf(&f->arena, "Theirs %d.\\n", n));
				text = arena_printf(&f->arena, "Theirs %d.", n);
			}
			reached |=
				fails_at(f, n, ERR_STORE, request, takes[take], 200, 200, &first);
			r = ask(f, f->admin, NULL, "GET " R, f->tenant_id, agent);
			CHECK_STR(text_at(&r, "description_prompt"), text);
			CHECK_STR(
				repo_said(f, agent, "git show main:prompts/description_prompt.md"),
				text);
			r = ask(f, f->admin, NULL, "GET " R "/prompt-provenance", f->tenant_id,
				agent);
			CHECK(json_is_false(at(&r, "files.0.diverged")) &&
				json_is_false(at(&r, "files.0.pending_projection")));
		}
	}
	CHECK(!reached);
	CHECK_STR(repo_said(f, agent, "git fsck --strict --no-dangling"), "");
	fixture_close(f);
}

struct stepping {
	struct fixture *f;
	const char *agent;
	struct convergence what;
};

static int step_load(struct db *db, void *data)
{
	struct stepping *s = data;

	s->what = (struct convergence){ .failed = NULL };
	return converge_load(db, &s->f->arena, s->f->tenant_id, s->agent, &s->what);
}

static int step_apply(struct db *db, void *data)
{
	struct stepping *s = data;

	return converge_apply(db, &s->f->arena, &s->what, clock_now_us());
}

/* The texts of two prompts, their bases and the audit rows come together or not at all. */
TEST(repo_faults_at_every_statement_of_what_the_job_writes)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "followed");
	struct stepping s = { .f = f, .agent = agent };
	bool reached = true;

	fixture_sql(f, "update repositories set projection = 'auto'", NO_ARGS);
	for (int n = 1; reached && n < 100; n++) {
		const char *done = arena_printf(&f->arena,
			"select (select count(*) from agents where description_prompt = 'A %d.') + "
			"(select count(*) from agents where initial_greeting = 'B %d.') + "
			"(select count(*) from prompt_bases where commit_id = (select tip from repositories)) + "
			"(select count(*) from audit_logs where action = 'agent.prompt.project') - %d",
			n, n, 2 * (n - 1));
		int err;

		test_step("statement %d", n);
		repo_push(f, agent, "prompts/description_prompt.md",
			arena_printf(&f->arena, "A %d.\\n", n));
		repo_push(f, agent, "prompts/initial_greeting.md",
			arena_printf(&f->arena, "B %d.\\n", n));
		CHECK_INT(fixture_work(f, step_load, &s), 0);
		CHECK_INT(converge_read(f->service.repos, &f->arena, &s.what), 0);
		order(n, ERR_STORE);
		err = fixture_work(f, step_apply, &s);
		reached = fault_plan.statement_at == 0;
		order(0, 0);
		CHECK(reached == (err != 0));
		if (err) { /* of the round before two bases stand */
			CHECK_INT(fixture_count(f, done), 2);
			CHECK_INT(fixture_work(f, step_apply, &s), 0);
		}
		CHECK_INT(fixture_count(f, done), 6);
	}
	CHECK(!reached);
	fixture_close(f);
}
#endif
