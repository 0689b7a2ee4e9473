/* bucket_mark.c - whose a place is: the id in its mark, lodge-bucket, held against the one that the store knows.
 *
 * The store is given an id for its bucket once; the place is given the same, in
 * the mark, and then the store notes that some place has it.  From then on
 * only a place with that id is taken: not an empty folder where a disk is not
 * mounted, not the folder of another process over the same store, and not that
 * of another store, whose bytes would belong to no object here.  The mark is
 * written within the transaction that notes it, so that of two processes that
 * begin with two folders one is refused; it is small, and written once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bucket/bucket_parts.h"
#include "store/pool.h"

enum { ENDING_MS = 3000 };

enum { ID_READ, ID_MAKE, MARKED_READ, MARKED_NOTE };

static const struct statement sql[] = {
	[ID_READ] = { "bucket_id_read", "select value from meta where key = 'bucket_id'",
		.row = &one_text_schema },
	[ID_MAKE] = { "bucket_id_make",
		"insert into meta (key, value) values ('bucket_id', $1) on conflict (key) do nothing" },
	[MARKED_READ] = { "bucket_marked_read",
		"select count(*) from meta where key = 'bucket_marked'" },
	[MARKED_NOTE] = { "bucket_marked_note",
		"insert into meta (key, value) values ('bucket_marked', 'yes') on conflict (key) do nothing" },
};
STATEMENT_SET(bucket_mark_sql, sql);

/* What the store knows of its bucket. */
struct known {
	char id[ID_LEN + 1]; /* or "" */
	bool marked;	     /* a place has it */
	bool in_use;	     /* it names objects */
};

struct claiming {
	struct db *db;
	enum bucket_claim how;
	struct known known;
	struct arena *arena;
	struct problem *problem;
};

const char *bucket_mark_text(struct arena *a, const char *id)
{
	return arena_printf(a,
		"The bytes of a Lodge service lie here. Without this file it does not start.\n" MARK_ID
		"%s\n",
		id);
}

void bucket_mark_read(const char *text, char id[ID_LEN + 1])
{
	const char *at = strstr(text, MARK_ID);

	*id = '\0';
	if (at && strlen(at) >= strlen(MARK_ID) + ID_LEN && id_valid(at + strlen(MARK_ID), ID_LEN))
		snprintf(id, ID_LEN + 1, "%s", at + strlen(MARK_ID));
}

static int read_known(struct db *db, struct arena *a, struct known *ret)
{
	struct one_text id = { 0 };
	int64_t marked = 0;
	int err = db_one(db, a, &sql[ID_READ], &id, NO_ARGS);

	*ret = (struct known){ 0 };
	if (!err)
		snprintf(ret->id, sizeof ret->id, "%s", id.value);
	if (!err || err == ERR_NOT_FOUND)
		err = db_int(db, &sql[MARKED_READ], &marked, NO_ARGS);
	ret->marked = marked;
	return err ? err : bucket_any(db, &ret->in_use);
}

static int store_fails(struct claiming *c, int err)
{
	return problem_set(
		c->problem, c->arena, err, "the store cannot be asked: %s", db_error(c->db));
}

#define ADOPT "; if the place is to be this store's from now on, run lodge bucket adopt"

/* Why a place is not taken for this store's; 0 if it is, or may be given the mark. */
static int refuse_place(struct claiming *c, struct bucket *b, int number, const char *mark)
{
	const struct known *k = &c->known;
	/* One process alone, as over SQLite, has nobody who could have put something elsewhere. */
	bool has = c->how != BUCKET_JOINS && (k->in_use || (k->marked && !db_is_sqlite(c->db)));
	const char *what = b->s3 ? "object" : "file";

	if (number && number != ENOENT && number != ENOTEMPTY)
		return problem_set(c->problem, c->arena, ERR_USAGE,
			"%s cannot be looked at, or its mark " MARK " cannot be read: %s", b->where,
			strerror(number));
	if (!number && *mark && strcmp(mark, k->id) != 0)
		return problem_set(c->problem, c->arena, ERR_USAGE,
			"%s is not the bucket of this store: by its mark it is that of another. Name the place of this "
			"store's bytes" ADOPT,
			b->where);
	if (!number && !*mark && k->marked && c->how != BUCKET_JOINS)
		return problem_set(c->problem, c->arena, ERR_USAGE,
			"%s is not the bucket of this store: its mark has no id, and this store has a bucket with one. "
			"Name the place of its bytes" ADOPT,
			b->where);
	if (number && has)
		return problem_set(c->problem, c->arena, ERR_USAGE,
			"%s is not the bucket of this store: it has no %s %s" MARK
			"; is a disk not mounted, or does another process over this store have another folder? Name "
			"the place of its bytes" ADOPT,
			b->where, what, b->s3 ? b->prefix : "");
	if (number == ENOTEMPTY)
		return problem_set(c->problem, c->arena, ERR_USAGE,
			"%s has other files and no mark " MARK
			": give the bucket a folder of its own" ADOPT,
			b->where);
	return 0;
}

/* In a transaction: 0 if the place has the mark now, ERR_CONFLICT if another process was faster with another place. */
static int mark_place(struct claiming *c, struct bucket *b)
{
	struct bucket_said said = { c->arena, c->problem };
	bool before = c->known.marked;
	int number, err = db_run(c->db, &sql[ID_MAKE], NULL, ARGS(T(id_new(NULL).text)));

	if (!err)
		err = read_known(c->db, c->arena, &c->known);
	if (err)
		return store_fails(c, err);
	if (c->how == BUCKET_SERVES && c->known.marked && !before)
		return ERR_CONFLICT;
	number = b->kind->mark(b, c->known.id, &said);
	if (number > 0)
		return problem_set(c->problem, c->arena, ERR_USAGE, "cannot write to %s: %s",
			b->where, strerror(number));
	if (!number && c->how != BUCKET_JOINS && db_run(c->db, &sql[MARKED_NOTE], NULL, NO_ARGS))
		return store_fails(c, ERR_STORE);
	return number;
}

static int give_mark(struct claiming *c, struct bucket *b)
{
	int err = db_begin(c->db, READ_WRITE);

	if (err)
		return store_fails(c, err);
	err = mark_place(c, b);
	if (err) {
		db_rollback(c->db);
		return err;
	}
	err = db_commit(c->db);
	return err ? store_fails(c, err) : 0;
}

/* S3 that does not answer is believed in by the one that serves; nothing is put there until it has. */
static int believe(struct claiming *c, struct bucket *b, int err)
{
	if (c->how != BUCKET_SERVES || (err != ERR_UPSTREAM && err != ERR_TOO_SLOW))
		return err;
	log_warn("the bucket cannot be used now", LOG_S("bucket", b->where),
		LOG_S("error", c->problem->detail ? c->problem->detail : error_row(err)->title));
	*c->problem = (struct problem){ 0 };
	return 0;
}

/* Once it is marked its id is never another, so that other threads may read it. */
static void learn_id(struct bucket *b, const struct known *k)
{
	if (atomic_load(&b->marked))
		return;
	snprintf(b->id, sizeof b->id, "%s", k->id);
	atomic_store(&b->marked, k->marked);
}

static int claim_place(struct claiming *c, struct bucket *b)
{
	struct bucket_said said = { c->arena, c->problem };
	char mark[ID_LEN + 1] = "";
	int number = b->kind->look(b, mark, &said), err = 0;

	learn_id(b, &c->known);
	if (number < 0)
		return believe(c, b, number);
	if (c->how != BUCKET_ADOPTS)
		err = refuse_place(c, b, number, mark);
	else if (strcmp(mark, c->known.id) != 0 && b->kind->is_served && b->kind->is_served(b))
		err = problem_set(c->problem, c->arena, ERR_USAGE,
			"%s is being served by the lodge of another store, and would be taken from it: stop that one first",
			b->where);
	if (err)
		return err;
	if (!number && c->known.marked && strcmp(mark, c->known.id) == 0) {
		atomic_store(&b->claimed, true);
		return 0;
	}
	if (c->how == BUCKET_LOOKS)
		return 0;
	err = give_mark(c, b);
	if (err)
		return believe(c, b, err);
	c->known.marked = true;
	learn_id(b, &c->known);
	atomic_store(&b->claimed, true);
	return 0;
}

static int claim_places(struct claiming *c, struct bucket *b)
{
	struct known before;
	int err = read_known(c->db, c->arena, &c->known);

	if (err)
		return store_fails(c, err);
	before = c->known;
	err = claim_place(c, b);
	if (!err && b->also) {
		c->known.marked = before.marked; /* the first may just have been given it */
		err = claim_place(c, b->also);
	}
	return err;
}

int bucket_claim(
	struct bucket *b, struct db *db, enum bucket_claim how, struct arena *a, struct problem *p)
{
	struct claiming c = { .db = db, .how = how, .arena = a, .problem = p };
	int err = claim_places(&c, b);

	/* Another process was faster: its place is the store's. */
	return err == ERR_CONFLICT ? claim_places(&c, b) : err;
}

int bucket_must_be_ours(struct bucket *b, struct bucket_said *said)
{
	char mark[ID_LEN + 1] = "";
	int number;

	if (atomic_load(&b->claimed))
		return 0;
	number = atomic_load(&b->marked) ? b->kind->look(b, mark, said) : ERR_UPSTREAM;
	if (!number && strcmp(mark, b->id) == 0) {
		atomic_store(&b->claimed, true);
		return 0;
	}
	if (number < 0 && said->problem->detail)
		return number;
	if (!number || number == ENOENT)
		log_error("the bucket is not that of this store: nothing is put there",
			LOG_S("bucket", b->where));
	return problem_set(said->problem, said->arena, ERR_UPSTREAM,
		"The bucket could not be reached since the start, or is not that of this store: nothing is put there.");
}

int bucket_serve(struct bucket *b, const char *who, struct arena *a, struct problem *p)
{
	int number = b->kind->serve && b->folder >= 0 && b->serving < 0
			     ? b->kind->serve(b, who, ENDING_MS)
			     : 0;

	if (number == EWOULDBLOCK)
		return problem_set(p, a, ERR_USAGE,
			"the bucket %s is being served by another lodge, of another store (it may be one that this is a copy of): stop that "
			"one, or give this store a copy of the folder",
			b->where);
	if (number)
		return problem_set(p, a, ERR_USAGE, "%s: its lock cannot be taken: %s", b->where,
			strerror(number));
	return b->also ? bucket_serve(b->also, who, a, p) : 0;
}

/* ---- now and then ---- */

/* A folder that is gone, or S3 that is away, is told of once, and once when it is back. */
static void probe_place(struct bucket *b)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	char mark[ID_LEN + 1] = "";
	int number = b->kind->look(b, mark, &(struct bucket_said){ &a, &p });
	const char *why = number > 0		     ? strerror(number)
			  : number		     ? p.detail
			  : strcmp(mark, b->id) != 0 ? "its mark is that of another"
						     : NULL;
	bool ill = number || why;

	if (atomic_exchange(&b->ill, ill) != ill) {
		if (ill)
			log_error("the bucket cannot be used", LOG_S("bucket", b->where),
				LOG_S("error", why ? why : error_row(number)->title));
		else
			log_info("the bucket can be used again", LOG_S("bucket", b->where));
	}
	arena_free(&a);
}

bool bucket_is_well(const struct bucket *b)
{
	return atomic_load(&b->claimed) && !atomic_load(&b->ill) &&
	       (!b->also || bucket_is_well(b->also));
}

static bool is_claimed(const struct bucket *b)
{
	return atomic_load(&b->claimed) && (!b->also || is_claimed(b->also));
}

struct late_claim {
	struct work work; /* first: it is handed back */
	struct bucket *bucket;
	struct store *store;
};

static int late_run(struct work *w, struct db *none)
{
	struct late_claim *l = (struct late_claim *)w;
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct db *db = NULL;
	int err;

	(void)none;
	if (is_claimed(l->bucket)) {
		for (struct bucket *b = l->bucket; b; b = b->also)
			probe_place(b);
		return 0;
	}
	err = store_connect(l->store, &db, &a, &p);
	if (!err)
		err = bucket_claim(l->bucket, db, BUCKET_SERVES, &a, &p);
	if (err)
		log_error("the bucket cannot be used", LOG_S("bucket", l->bucket->where),
			LOG_S("error", p.detail ? p.detail : error_row(err)->title));
	db_close(db);
	arena_free(&a);
	return err;
}

static void late_done(struct work *w, int err)
{
	struct late_claim *l = (struct late_claim *)w;

	(void)err; /* it was said */
	atomic_store(&l->bucket->claiming, false);
	free(l);
}

void bucket_claim_submit(struct bucket *b, struct store *store, struct pool *pool)
{
	struct late_claim *l;

	if (!b || atomic_exchange(&b->claiming, true))
		return;
	l = calloc(1, sizeof *l);
	if (l)
		*l = (struct late_claim){
			.work = { .run = late_run, .done = late_done }, .bucket = b, .store = store
		};
	if (!l || pool_submit(pool, NULL, &l->work)) {
		atomic_store(&b->claiming, false);
		free(l);
	}
}
