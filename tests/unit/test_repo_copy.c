/* test_repo_copy.c - repositories copied while somebody pushes, put back, and held against their rows. */
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "repo_fixture.h"
#include "repos/repo_check.h"
#include "repos/repo_copy.h"
#include "repos/repo_lock.h"
#include "repos/repo_swap.h"

#define HELD "/tenant/%s/agents/%s"

static const char *place(struct fixture *f, const char *agent, const char *name)
{
	const char *folder = repo_folder_of(f, agent), *slash = strrchr(folder, '/');

	return arena_printf(&f->arena, "%.*s%s", (int)(slash - folder), folder, name);
}

/* A process of its own that commits without an end, now and then into a pack, as those who push do. */
static pid_t push_on(struct fixture *f, const char *agent)
{
	const char *script = arena_printf(&f->arena,
		"cd '%s' && export HOME=/nowhere GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A "
		"GIT_COMMITTER_EMAIL=a; i=0; while :; do i=$((i+1)); b=$(echo $i | git hash-object -w --stdin); "
		"t=$(printf '100644 blob %%s\\tf\\n' $b | git mktree); c=$(git commit-tree -p main -m $i $t); "
		"git update-ref refs/heads/main $c; git update-ref refs/tags/t$i $c; "
		"[ $((i %% 7)) != 0 ] || git repack -q; done",
		repo_folder_of(f, agent));
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(1);
	}
	setpgid(pid, pid);
	return pid;
}

TEST(repo_copy_is_sound_while_somebody_pushes)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "pushed"), *other = repo_agent(f, "other");
	const char *from = place(f, agent, ""), *tip;
	const char *name = strrchr(repo_folder_of(f, agent), '/');
	struct repo_copied copied;
	struct problem p = { 0 };
	pid_t pid = push_on(f, agent);

	for (int i = 0; i < 8; i++) {
		const char *to = arena_printf(&f->arena, "%s.copy-%d", from, i);

		test_step("%d", i);
		tip = repo_said(f, agent, "sleep 0.1; git rev-parse main");
		CHECK_INT(repo_copy_all(from, to, &copied, &f->arena, &p), 0);
		CHECK_INT(copied.repositories, 2);
		CHECK_STR(
			repo_said(f, other,
				"cd '%s%s' && git fsck --strict --no-dangling 2>&1 && git merge-base --is-ancestor %s main "
				"&& git clone -q . ../clone-%d 2>&1",
				to, name, tip, i),
			"");
	}
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* Never over what is there. */
	CHECK_INT(repo_copy_all(
			  from, arena_printf(&f->arena, "%s.copy-0", from), &copied, &f->arena, &p),
		ERR_STORE);
	fixture_close(f);
}

TEST(repo_copy_is_put_back_and_the_former_is_kept)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "back"), *from = place(f, agent, ""), *tip, *kept = NULL,
		   *again = NULL;
	const char *to = arena_printf(&f->arena, "%s.copy", from);
	struct repo_copied copied;
	struct problem p = { 0 };

	tip = repo_said(f, agent, "git rev-parse main");
	repo_said(f, agent,
		"git pack-refs --all; git repack -qad; ln -s /etc/passwd refs/heads/link; "
		"echo /nowhere > objects/info/alternates; mkdir -p objects/tmp_objdir-incoming-x; touch refs/heads/x.lock");
	CHECK_INT(repo_copy_all(from, to, &copied, &f->arena, &p), 0);
	repo_said(f, agent,
		"rm refs/heads/link objects/info/alternates refs/heads/x.lock; rmdir objects/tmp_objdir-incoming-x");
	repo_push(f, agent, "later", "x");
	CHECK_INT(repo_swap_begin(to, from, from, "/copy.db", &copied, &f->arena, &p), 0);
	CHECK_INT(copied.repositories, 1);
	CHECK(strcmp(repo_said(f, agent, "git rev-parse main"), tip) != 0);
	CHECK_INT(repo_swap_placed(from, from, &f->arena, &p), 0);
	CHECK_INT(repo_swap_end(from, from, &kept, &f->arena, &p), 0);
	repo_swap_drop(from, &f->arena);
	CHECK(kept && access(kept, F_OK) == 0);
	/* Again within a second. */
	CHECK_INT(repo_swap_begin(to, from, from, "/copy.db", &copied, &f->arena, &p), 0);
	CHECK_INT(repo_swap_placed(from, from, &f->arena, &p), 0);
	CHECK_INT(repo_swap_end(from, from, &again, &f->arena, &p), 0);
	repo_swap_drop(from, &f->arena);
	CHECK(again && strcmp(kept, again) != 0);
	/* One that cannot be read to its end leaves nothing, and all as it was. */
	CHECK(mkdir(arena_printf(&f->arena, "%s/c00000000000000000000000a.git", to), 0700) == 0);
	CHECK(symlink("objects", arena_printf(&f->arena, "%s/c00000000000000000000000a.git/objects",
					 to)) == 0);
	CHECK_INT(repo_swap_begin(to, from, from, "/copy.db", &copied, &f->arena, &p), ERR_STORE);
	CHECK(strstr(p.detail, "Nothing was changed"));
	CHECK(access(arena_printf(&f->arena, "%s/.restoring", from), F_OK) != 0);
	CHECK_STR(repo_said(f, agent, "git rev-parse main"), tip);
	CHECK_STR(
		repo_said(f, agent,
			"git fsck --strict 2>&1; ls refs/heads objects/info | grep -c 'link\\|alternates\\|lock' || true"),
		"0");
	STATUS(ask(f, f->admin, NULL, "GET " HELD "/repo/tree", f->tenant_id, agent), 200);
	fixture_close(f);
}

/* How many repositories a folder has. */
static int count_in(struct fixture *f, const char *folder)
{
	glob_t found = { 0 };
	int n = glob(arena_printf(&f->arena, "%s/*.git", folder), 0, NULL, &found)
			? 0
			: (int)found.gl_pathc;

	globfree(&found);
	return n;
}

/* Broken off, it is gone on with: nothing is lost, and the former ones are together. */
TEST(repo_copy_that_is_put_back_by_halves_goes_on)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "one"), *from = place(f, agent, ""), *kept, *again;
	const char *to = arena_printf(&f->arena, "%s.copy", from);
	const char *folder = repo_folder_of(f, agent), *name = strrchr(folder, '/'), *blocks;
	const char *stage = arena_printf(&f->arena, "%s/.restoring", from);
	struct repo_copied copied;
	struct repo_swap swap;
	struct problem p = { 0 };

	repo_agent(f, "two");
	CHECK_INT(repo_copy_all(from, to, &copied, &f->arena, &p), 0);
	repo_swap_look(from, &swap, &f->arena);
	CHECK_INT(swap.state, SWAP_NONE);
	CHECK_INT(repo_swap_begin(to, from, from, "/copy.db", &copied, &f->arena, &p), 0);
	repo_swap_look(from, &swap, &f->arena);
	CHECK_INT(swap.state, SWAP_BROUGHT);
	CHECK_STR(swap.of, "/copy.db");
	/* Not before the store is in its place. */
	CHECK_INT(repo_swap_end(from, from, &kept, &f->arena, &p), ERR_STORE);
	CHECK_INT(count_in(f, from), 2);
	CHECK_INT(repo_swap_placed(from, from, &f->arena, &p), 0);
	/* Something is in the way of one of the former ones. */
	blocks = arena_printf(&f->arena, "%s/%s%s", from, swap.former, name);
	CHECK(mkdir(blocks, 0700) == 0);
	CHECK(mkdir(arena_printf(&f->arena, "%s/x", blocks), 0700) == 0);
	p = (struct problem){ 0 };
	CHECK_INT(repo_swap_end(from, from, &kept, &f->arena, &p), ERR_STORE);
	CHECK(strstr(p.detail, "run the same command again"));
	CHECK_INT(count_in(f, stage), 2);
	repo_copy_drop(blocks);
	CHECK_INT(repo_swap_end(from, from, &again, &f->arena, &p), 0);
	CHECK_STR(again, kept);
	CHECK_INT(count_in(f, kept), 2);
	CHECK_INT(count_in(f, from), 2);
	/* One of the new ones had not been moved yet: the other stays where it is. */
	CHECK(rename(folder, arena_printf(&f->arena, "%s%s", stage, name)) == 0);
	CHECK_INT(repo_swap_end(from, from, &again, &f->arena, &p), 0);
	CHECK_INT(count_in(f, kept), 2);
	CHECK_INT(count_in(f, from), 2);
	repo_swap_drop(from, &f->arena);
	CHECK(access(stage, F_OK) != 0 && access(kept, F_OK) == 0);
	fixture_close(f);
}

struct checking {
	struct fixture *f;
	enum repo_check_depth depth;
	struct repo_report report;
};

static int check(struct db *db, void *data)
{
	struct checking *c = data;

	return repo_check(c->f->service.repos, db, c->depth, &c->f->arena, &c->report);
}

TEST(repo_copy_check_holds_rows_and_folders_against_each_other)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "checked"), *folder;
	struct checking c = { .f = f, .depth = REPO_CHECK_OBJECTS };

	repo_agent(f, "second");
	CHECK_INT(fixture_work(f, check, &c), 0);
	CHECK_INT(c.report.rows, 2);
	CHECK(!c.report.first && !c.report.unnamed);
	/* An object that a ref names is gone: the links tell. */
	folder = repo_folder_of(f, agent);
	repo_said(f, agent,
		"o=$(git rev-parse main:prompts | sed 's|^..|&/|'); mv objects/$o ../gone.object");
	c.depth = REPO_CHECK_FOLDERS;
	CHECK_INT(fixture_work(f, check, &c), 0);
	CHECK(!c.report.first);
	c.depth = REPO_CHECK_LINKS;
	CHECK_INT(fixture_work(f, check, &c), 0);
	CHECK_INT(c.report.broken, 1);
	CHECK(strstr(folder, c.report.first));
	CHECK_STR(c.report.whose, "demo/checked");
	/* A folder that no row names, and a row without one. */
	CHECK(rename(folder, place(f, agent, "/c00000000000000000000000a.git")) == 0);
	c.depth = REPO_CHECK_FOLDERS;
	CHECK_INT(fixture_work(f, check, &c), 0);
	CHECK_INT(c.report.missing, 1);
	CHECK_INT(c.report.unnamed, 1);
	fixture_close(f);
}

/* What a copy may still need is not removed while it is made. */
TEST(repo_copy_holds_the_sweep_off)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "swept"), *folder = repo_folder_of(f, agent);
	int lock = repo_lock_keeping(f->service.repos, &f->arena, false);

	STATUS(ask(f, f->admin, NULL, "DELETE " HELD "/repo", f->tenant_id, agent), 200);
	fixture_sql(f, "update repository_trash set remove_at = 0", NO_ARGS);
	for (int i = 0; i < 2; i++) {
		repo_sweep_submit(
			f->service.repos, f->service.app.store, f->service.app.disk, 1000);
		for (int k = 0; k < 1000 && !repo_is_swept(f->service.repos); k++)
			usleep(10 * 1000);
		CHECK_INT(access(folder, F_OK) == 0, i == 0);
		repo_unlock(lock);
		lock = -1;
	}
	fixture_close(f);
}
