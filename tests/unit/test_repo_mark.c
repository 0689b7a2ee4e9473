/* test_repo_mark.c - a folder of repositories is that of one store, by its mark, and of who serves it, by a lock. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repo_fixture.h"
#include "repos/repo_lock.h"
#include "repos/repo_mark.h"
#include "repos/repo_swap.h"

struct another {
	struct fixture *f;
	struct repos *repos;
	struct problem p;
};

static const char *mark_of(struct fixture *f, const char *folder)
{
	return arena_printf(&f->arena, "%s/" REPO_MARK, folder);
}

static void write_over(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	CHECK(out && fputs(text, out) >= 0);
	fclose(out);
}

static struct another folder_named(struct fixture *f, const char *folder, bool makes)
{
	struct another o = { .f = f };

	CHECK_INT(repos_new(&o.repos, &(struct repos_settings){ .folder = folder, .makes = makes },
			  &f->arena, &o.p),
		0);
	return o;
}

static int claim(struct another *o, enum repo_claim how)
{
	struct db *db = NULL;
	int err = store_connect(o->f->app.store, &db, &o->f->arena, &o->p);

	o->p = (struct problem){ 0 };
	if (!err)
		err = repo_claim(o->repos, db, how, &o->f->arena, &o->p);
	db_close(db);
	return err;
}

TEST(repo_mark_refuses_a_folder_that_is_another_stores)
{
	struct fixture *f = fixture_open();
	struct another o = folder_named(f, f->repos, false);
	const char *lost = arena_printf(&f->arena, "%s/c00000000000000000000000a.git", f->repos);

	CHECK_INT(claim(&o, REPOS_SERVE), 0);
	CHECK(repo_mark_holds(o.repos, &f->arena));
	write_over(mark_of(f, f->repos), "Another's.\nid: c00000000000000000000000b\n");
	CHECK(!repo_mark_holds(o.repos, &f->arena));
	CHECK_INT(claim(&o, REPOS_SERVE), ERR_USAGE);
	CHECK(strstr(o.p.detail, "by its mark") && strstr(o.p.detail, "lodge repos adopt"));
	CHECK_INT(claim(&o, REPOS_LOOK), ERR_USAGE);
	/* Nothing is collected there either. */
	CHECK(mkdir(lost, 0700) == 0);
	for (int day = 3; day < 30; day += 13) {
		repo_sweep_submit(
			f->service.repos, f->app.store, f->app.disk, clock_now_us() + day * DAY_US);
		while (!repo_is_swept(f->service.repos))
			usleep(1000);
	}
	CHECK(access(lost, F_OK) == 0);
	CHECK(access(arena_printf(&f->arena, "%s/lodge-unnamed", lost), F_OK) != 0);
	CHECK_INT(claim(&o, REPOS_ADOPT), 0);
	CHECK_INT(claim(&o, REPOS_SERVE), 0);
	repos_free(o.repos);
	fixture_close(f);
}

TEST(repo_mark_is_given_to_a_folder_that_has_none_unless_nothing_in_it_is_known)
{
	struct fixture *f = fixture_open();
	const char *mark = mark_of(f, f->repos), *agent = repo_agent(f, "known"), *known;
	const char *aside = arena_printf(&f->arena, "%s/aside", f->repos),
		   *strange = arena_printf(&f->arena, "%s/c00000000000000000000000a.git", f->repos);
	struct another o = folder_named(f, f->repos, false), empty;

	known = repo_folder_of(f, agent);
	CHECK(mkdir(strange, 0700) == 0 && unlink(mark) == 0);
	CHECK_INT(claim(&o, REPOS_LOOK), 0);
	CHECK(access(mark, F_OK) != 0);
	CHECK_INT(claim(&o, REPOS_SERVE), 0);
	CHECK(access(mark, F_OK) == 0);
	/* Only what others made. */
	CHECK(unlink(mark) == 0 && rename(known, aside) == 0);
	CHECK_INT(claim(&o, REPOS_SERVE), ERR_USAGE);
	CHECK(strstr(o.p.detail, "knows none"));
	CHECK(rename(aside, known) == 0);
	/* An empty folder, where a disk is not mounted. */
	empty = folder_named(f, arena_printf(&f->arena, "%s/empty", f->repos), true);
	CHECK_INT(claim(&empty, REPOS_SERVE), ERR_USAGE);
	CHECK(strstr(empty.p.detail, "not mounted"));
	fixture_sql(f, "delete from meta where key = 'repositories_id'", NO_ARGS);
	CHECK_INT(claim(&empty, REPOS_SERVE), 0);
	repos_free(empty.repos);
	repos_free(o.repos);
	fixture_close(f);
}

/* A disk that has gone away while the service runs is not written around, and what was is no mark. */
TEST(repo_mark_must_be_there_before_anything_is_made)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "first"),
		   *aside = arena_printf(&f->arena, "%s.disk", f->repos);
	const char *folder = repo_folder_of(f, agent), *trash;
	struct another o = folder_named(f, f->repos, false);

	repo_agent(f, "second");
	trash = repo_folder_of(f, repo_agent(f, "third"));
	CHECK(rename(f->repos, aside) == 0 && mkdir(f->repos, 0700) == 0);
	agent = fixture_created(f, f->admin, "{\"name\":\"Late\",\"slug\":\"late\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	STATUS(ask(f, f->admin, NULL, "POST /tenant/%s/agents/%s/repo", f->tenant_id, agent), 502);
	CHECK(rmdir(f->repos) == 0);
	/* With a known one in the bare mount point, and the others on the disk. */
	CHECK(mkdir(f->repos, 0700) == 0 && mkdir(folder, 0700) == 0);
	CHECK_INT(claim(&o, REPOS_SERVE), ERR_USAGE);
	CHECK(strstr(o.p.detail, "2 of this store's 3 repositories are not in it"));
	CHECK(rmdir(folder) == 0);
	/* What is to go is on the disk still. */
	fixture_sql(f,
		"insert into repository_trash (id, owner, former, size_bytes, since, remove_at) "
		"select id, tenant_id, agent_id, 0, 0, 0 from repositories",
		NO_ARGS);
	repo_sweep_submit(f->service.repos, f->app.store, f->app.disk, clock_now_us());
	while (!repo_is_swept(f->service.repos))
		usleep(1000);
	CHECK_INT(fixture_count(f, "select count(*) from repository_trash"), 3);
	fixture_sql(f, "delete from repository_trash", NO_ARGS);
	CHECK(unlink(arena_printf(&f->arena, "%s/keeping.lock", f->repos)) == 0);
	CHECK(rmdir(f->repos) == 0 && rename(aside, f->repos) == 0);
	CHECK(access(trash, F_OK) == 0);
	CHECK_INT(claim(&o, REPOS_SERVE), 0);
	STATUS(ask(f, f->admin, NULL, "POST /tenant/%s/agents/%s/repo", f->tenant_id, agent), 201);
	repos_free(o.repos);
	fixture_close(f);
}

TEST(repo_mark_refuses_what_was_put_back_by_halves)
{
	struct fixture *f = fixture_open();
	struct another o = folder_named(f, f->repos, false);
	const char *copy = arena_printf(&f->arena, "%s.copy", f->repos), *kept;
	struct repo_copied copied;

	repo_agent(f, "half");
	CHECK_INT(repo_copy_all(f->repos, copy, &copied, &f->arena, &o.p), 0);
	CHECK_INT(repo_swap_begin(copy, f->repos, f->repos, "/c.db", &copied, &f->arena, &o.p), 0);
	CHECK_INT(claim(&o, REPOS_SERVE), ERR_USAGE);
	CHECK(strstr(o.p.detail, "lodge restore /c.db was broken off") &&
		strstr(o.p.detail, ".restoring"));
	CHECK_INT(repo_swap_placed(f->repos, f->repos, &f->arena, &o.p), 0);
	CHECK_INT(claim(&o, REPOS_LOOK), ERR_USAGE);
	CHECK(strstr(o.p.detail, "it goes on from there"));
	CHECK_INT(repo_swap_end(f->repos, f->repos, &kept, &f->arena, &o.p), 0);
	CHECK_INT(claim(&o, REPOS_SERVE), ERR_USAGE);
	repo_swap_drop(f->repos, &f->arena);
	CHECK_INT(claim(&o, REPOS_SERVE), 0);
	repos_free(o.repos);
	fixture_close(f);
}

TEST(repo_mark_folder_is_served_by_one_store)
{
	struct fixture *f = fixture_open();
	struct another first = folder_named(f, f->repos, false),
		       second = folder_named(f, f->repos, false), copy;
	int lock;

	CHECK(repo_lock_serving(first.repos, &f->arena, "a database"));
	CHECK(repo_lock_serving(second.repos, &f->arena, "a database"));
	/* The id of the mark is a row, and in a copy of the store too. */
	copy = folder_named(f, f->repos, false);
	CHECK_INT(claim(&copy, REPOS_SERVE), 0);
	CHECK(!repo_lock_serving(copy.repos, &f->arena, "a copy of it"));
	CHECK(!repo_lock_serving(copy.repos, &f->arena, NULL));
	CHECK_INT(repo_lock_unserved(f->service.repos, &f->arena), -1);
	repos_free(first.repos);
	CHECK_INT(repo_lock_unserved(f->service.repos, &f->arena), -1);
	repos_free(second.repos);
	lock = repo_lock_unserved(f->service.repos, &f->arena);
	CHECK(lock >= 0);
	first = folder_named(f, f->repos, false);
	CHECK(!repo_lock_serving(first.repos, &f->arena, NULL));
	repo_unlock(lock);
	CHECK(repo_lock_serving(first.repos, &f->arena, NULL));
	CHECK(!repo_lock_serving(copy.repos, &f->arena, "a database"));
	repos_free(first.repos);
	/* Nobody is left of those who had the name. */
	CHECK(repo_lock_serving(copy.repos, &f->arena, "a copy of it"));
	repos_free(copy.repos);
	fixture_close(f);
}
