/* repo_commands.c - `lodge repos keep`: the files of repositories put in order when the operator wants it; and `lodge repos adopt`,
 * a folder of them given to this store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "repos/repo_keep.h"
#include "repos/repo_lock.h"
#include "repos/repo_mark.h"
#include "serve/manual.h"
#include "serve/open.h"

enum { PIECE = 50, TRIES = 10, OUTCOMES = REPO_KEPT_FAILED + 1 };

struct keep_errand {
	struct store *store;
	struct db *db;
	struct repos *repos;
	struct problem problem;
	int lock;
	bool all;
	char after[ID_LEN + 1];
	struct list due;    /* struct repo_due */
	struct arena piece; /* where they are */
	const struct repo_due *kept;
	int64_t began, size;
	int64_t counts[OUTCOMES];
};

static int find_due(struct keep_errand *e)
{
	arena_reset(&e->piece);
	return repo_keep_due(e->db, &e->piece, e->after, e->all, PIECE, &e->due);
}

static int mark_kept(struct keep_errand *e)
{
	return repo_keep_mark(e->db, e->kept, e->began, e->size);
}

static int transact(struct keep_errand *e, enum transaction mode, int (*act)(struct keep_errand *e))
{
	int err, tries = TRIES;

	do {
		err = db_begin(e->db, mode);
		if (!err)
			err = act(e);
		if (err)
			db_rollback(e->db);
		else
			err = db_commit(e->db);
	} while (err == ERR_RETRY && --tries);
	return err;
}

static int keep_one(struct keep_errand *e, const struct repo_due *row)
{
	enum repo_kept outcome;

	e->kept = row;
	e->began = clock_now_us();
	outcome = repo_keep_one(e->repos, &e->piece, row->id, NULL);
	if (outcome == REPO_KEPT_AS_IT_WAS && e->all &&
		!repo_keep_is_whole(e->repos, &e->piece, row->id))
		outcome = REPO_KEPT_FAILED;
	e->counts[outcome]++;
	if (outcome != REPO_KEPT_WELL && outcome != REPO_KEPT_AS_IT_WAS)
		return 0;
	e->size = repo_size(e->repos, &e->piece, row->id);
	return transact(e, READ_WRITE, mark_kept);
}

static int keep_all(struct keep_errand *e)
{
	int err = transact(e, READ_ONLY, find_due);

	while (!err && e->due.count) {
		const struct repo_due *row = e->due.at;

		memcpy(e->after, row[e->due.count - 1].id, ID_LEN);
		for (size_t i = 0; !err && i < e->due.count; i++)
			err = keep_one(e, &row[i]);
		if (!err)
			err = transact(e, READ_ONLY, find_due);
	}
	return err;
}

int command_repos_keep(const struct settings *s, struct arena *a)
{
	struct keep_errand e = { .all = s->argument_count > 0, .lock = -1 };
	struct stat st;
	int err = repos_new(&e.repos,
		&(struct repos_settings){
			.folder = s->repo_folder, .bytes_max = s->repo_max_bytes.bytes },
		a, &e.problem);

	if (!err && geteuid() == 0 && stat(s->repo_folder, &st) == 0 && st.st_uid != 0)
		err = problem_set(&e.problem, a, ERR_USAGE,
			"run it as the user to whom %s belongs, not as root: what git writes would be root's",
			s->repo_folder);
	if (!err)
		err = open_current(&e.store, s, STORE_BESIDE, a, &e.problem);
	if (!err)
		err = store_connect(e.store, &e.db, a, &e.problem);
	if (!err) {
		e.lock = repo_lock_keeping(e.repos, a, false);
		if (e.lock < 0)
			err = problem_set(&e.problem, a, ERR_CONFLICT,
				"somebody is at it already, or a copy is being made: try again later");
	}
	if (!err)
		err = keep_all(&e);
	if (err && !e.problem.err)
		problem_set(&e.problem, a, err, "the store: %s", e.db ? db_error(e.db) : "");
	repo_unlock(e.lock);
	db_close(e.db);
	store_close(e.store);
	repos_free(e.repos);
	arena_free(&e.piece);
	if (!err)
		printf("%lld put in order, %lld in order already, %lld left because somebody pushes, %lld whose "
		       "folder is missing, %lld that git could not do.\n",
			(long long)e.counts[REPO_KEPT_WELL],
			(long long)e.counts[REPO_KEPT_AS_IT_WAS],
			(long long)e.counts[REPO_KEPT_PUSHED],
			(long long)e.counts[REPO_KEPT_MISSING],
			(long long)e.counts[REPO_KEPT_FAILED]);
	if (err)
		return complain(&e.problem);
	return e.counts[REPO_KEPT_FAILED] || e.counts[REPO_KEPT_MISSING] ? 1 : 0;
}

/* What somebody serves is not taken from them; nor what is put back by halves. */
static int adopt(struct repos *repos, struct db *db, struct arena *a, struct problem *p)
{
	char mark[ID_LEN + 1], known[ID_LEN + 1];
	int lock = repo_lock_unserved(repos, a), err = 0;

	repo_mark_read(repos, a, mark);
	if (lock < 0 && errno == EWOULDBLOCK &&
		(repo_mark_known(db, a, known) || !*mark || strcmp(mark, known) != 0))
		err = problem_set(p, a, ERR_USAGE,
			"the repositories in repo_folder are being served by another lodge, or a copy is being put there (lodge "
			"restore), and would be taken from it: stop that one first, or name another folder");
	if (!err)
		err = repo_unfinished(repos, a, p);
	if (!err)
		err = repo_claim(repos, db, REPOS_ADOPT, a, p);
	repo_unlock(lock);
	return err;
}

int command_repos_adopt(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	struct repos *repos = NULL;
	struct db *db = NULL;
	int err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = repos_new(
			&repos, &(struct repos_settings){ .folder = s->repo_folder }, a, &p);
	if (!err)
		err = open_repos_apart(s, a, &p);
	if (!err)
		err = store_connect(store, &db, a, &p);
	if (!err)
		err = adopt(repos, db, a, &p);
	db_close(db);
	repos_free(repos);
	store_close(store);
	if (err)
		return complain(&p);
	printf("%s bears the mark of this store now, and no other store's service starts with it.\n"
	       "Whether its repositories are there, lodge check --repositories says.\n",
		s->repo_folder);
	return 0;
}
