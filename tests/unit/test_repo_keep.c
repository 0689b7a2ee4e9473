/* test_repo_keep.c - the files of repositories put in order at night; locks between those who are at work there. */
#include <unistd.h>

#include "base/clock.h"
#include "git/git_keep.h"
#include "repo_fixture.h"
#include "repos/remote_git.h"
#include "repos/repo_keep.h"
#include "repos/repo_lock.h"

/* Commits as they come one by one: loose objects. */
static void push_some(struct fixture *f, const char *agent, int count)
{
	repo_said(f, agent,
		"i=0; p=$(git rev-parse main); t=$(git rev-parse main^{tree}); "
		"while [ $i -lt %d ]; do p=$(git commit-tree -p $p -m \"number $i\" $t); i=$((i+1)); done; "
		"git update-ref refs/heads/main $p",
		count);
}

static int64_t due(struct fixture *f)
{
	return fixture_count(f,
		"select count(*) from repositories where kept_at is null or kept_at < updated_at");
}

static void sleep_the_night(struct fixture *f, int64_t now)
{
	repo_keep_submit(f->service.repos, f->service.app.store, now);
	for (int i = 0; i < 3000 && !repo_is_kept(f->service.repos); i++)
		usleep(10 * 1000);
	CHECK(repo_is_kept(f->service.repos));
}

TEST(repo_keep_puts_in_order_what_has_changed)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "kept"), *small = repo_agent(f, "small");
	struct repos *r = f->service.repos;
	const char *folder = repo_folder_of(f, agent);
	int64_t night = DAY_US * 20000; /* at midnight, which is the hour of the fixture */
	int lock;

	CHECK(!git_keep_gains(folder));
	push_some(f, agent, 60);
	CHECK(git_keep_gains(folder));
	/* Not at another hour, and not while somebody else is at it. */
	sleep_the_night(f, night + DAY_US / 24);
	CHECK_INT(due(f), 2);
	lock = repo_lock_keeping(r, &f->arena, false);
	CHECK(lock >= 0 && repo_lock_keeping(r, &f->arena, false) < 0);
	sleep_the_night(f, night);
	CHECK_INT(due(f), 2);
	repo_unlock(lock);
	/* A night of its own has come; the small one has nothing to gain, and is done with too. */
	sleep_the_night(f, night + DAY_US);
	CHECK_INT(due(f), 0);
	CHECK_INT((int64_t)repo_keep_figures(r).kept, 1);
	CHECK_STR(repo_said(f, agent, "ls objects/pack/*.pack | wc -l"), "1");
	CHECK_STR(repo_said(f, agent, "ls objects/info/commit-graph"), "objects/info/commit-graph");
	CHECK_STR(repo_said(f, agent, "git commit-graph verify --no-progress; git fsck --strict"),
		"");
	CHECK_STR(repo_said(f, small, "ls objects/pack | wc -l"), "0");
	CHECK(!git_keep_gains(folder));
	/* The next night nothing changed; then one did, but somebody pushes. */
	sleep_the_night(f, night + 2 * DAY_US);
	CHECK_INT((int64_t)repo_keep_figures(r).kept, 1);
	push_some(f, agent, 60);
	fixture_sql(f, "update repositories set updated_at = kept_at + 1 where agent_id = $1",
		ARGS(T(agent)));
	lock = repo_lock_push(
		r, &f->arena, arena_strndup(&f->arena, strrchr(folder, '/') + 1, ID_LEN), 0);
	CHECK(lock >= 0);
	sleep_the_night(f, night + 3 * DAY_US);
	CHECK_INT(due(f), 1);
	CHECK_INT((int64_t)repo_keep_figures(r).put_off, 1);
	repo_unlock(lock);
	sleep_the_night(f, night + 4 * DAY_US);
	CHECK_INT(due(f), 0);
	CHECK_INT((int64_t)repo_keep_figures(r).kept, 2);
	/* The prompts' histories are read by the index, and what is served is whole. */
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/prompt-provenance", f->tenant_id,
		       agent),
		200);
	fixture_close(f);
}

TEST(repo_keep_ends_when_it_is_not_wanted)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "ended");
	_Atomic bool stop = true;

	push_some(f, agent, 60);
	CHECK_INT(repo_keep_one(f->service.repos, &f->arena,
			  arena_strndup(
				  &f->arena, strrchr(repo_folder_of(f, agent), '/') + 1, ID_LEN),
			  &stop),
		REPO_KEPT_PUSHED);
	CHECK_STR(repo_said(f, agent, "git fsck --strict"), "");
	fixture_close(f);
}

TEST(repo_keep_leaves_alone_what_is_fetched)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "fetched"), *folder = repo_folder_of(f, agent),
		   *id = arena_strndup(&f->arena, strrchr(folder, '/') + 1, ID_LEN);
	struct repos *r = f->service.repos;
	struct remote remote = { .url = "http://127.0.0.1:1/a.git", .egress = EGRESS_ANY };
	struct problem p = { 0 };
	int lock = repo_lock_fetch(r, &f->arena, id);

	push_some(f, agent, 60);
	CHECK(lock >= 0);
	/* The same lock as that of who fetches. */
	CHECK_INT(remote_git_fetch(&remote, folder, 1 << 20, &f->arena, &p), ERR_BUSY);
	CHECK_INT(repo_keep_one(r, &f->arena, id, NULL), REPO_KEPT_PUSHED);
	CHECK_INT((int64_t)repo_keep_figures(r).put_off, 1);
	CHECK_STR(repo_said(f, agent, "ls objects/pack | wc -l"), "0");
	repo_unlock(lock);
	CHECK_INT(repo_keep_one(r, &f->arena, id, NULL), REPO_KEPT_WELL);
	lock = repo_lock_fetch(r, &f->arena, id);
	CHECK(lock >= 0);
	repo_unlock(lock);
	fixture_close(f);
}

TEST(repo_keep_slots_of_ssh_leave_one_to_other_tenants)
{
	struct fixture *f = fixture_open();
	struct repos *r = f->service.repos;
	int mine[REPO_SLOTS], other;

	for (int i = 0; i < REPO_SLOTS; i++)
		mine[i] = repo_lock_slot(r, &f->arena, "a", 0);
	CHECK(mine[REPO_SLOTS - 2] >= 0 && mine[REPO_SLOTS - 1] < 0);
	other = repo_lock_slot(r, &f->arena, "b", 0);
	CHECK(other >= 0);
	CHECK(repo_lock_slot(r, &f->arena, "b", 0) < 0);
	repo_unlock(mine[0]);
	mine[0] = repo_lock_slot(r, &f->arena, "a", 0);
	CHECK(mine[0] >= 0);
	for (int i = 0; i < REPO_SLOTS; i++)
		repo_unlock(mine[i]);
	repo_unlock(other);
	test_step("none is served while a copy is put back, and the other way around");
	mine[0] = repo_lock_ssh(r, &f->arena);
	mine[1] = repo_lock_ssh(r, &f->arena);
	CHECK(mine[0] >= 0 && mine[1] >= 0);
	CHECK(repo_lock_no_ssh(r, &f->arena) < 0);
	repo_unlock(mine[0]);
	repo_unlock(mine[1]);
	other = repo_lock_no_ssh(r, &f->arena);
	CHECK(other >= 0 && repo_lock_ssh(r, &f->arena) < 0);
	repo_unlock(other);
	fixture_close(f);
}
