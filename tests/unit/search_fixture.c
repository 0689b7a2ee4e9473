/* search_fixture.c - see search_fixture.h. */
#include "search_fixture.h"

struct answer hunt(struct fixture *f, const char *token, const char *query)
{
	return ask(f, token, NULL, "GET /tenant/%s/autocomplete?%s", f->tenant_id, query);
}

static struct db *begin(struct fixture *f)
{
	struct problem p = { 0 };
	struct db *db = NULL;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(db_begin(db, READ_WRITE), 0);
	return db;
}

static void end(struct db *db)
{
	CHECK_INT(db_commit(db), 0);
	db_close(db);
}

void index_put(struct fixture *f, const struct search_entry *e)
{
	struct db *db = begin(f);

	CHECK_INT(search_put(db, &f->arena, e), 0);
	end(db);
}

void index_refresh(struct fixture *f, const struct search_entry *e)
{
	struct db *db = begin(f);

	CHECK_INT(search_refresh(db, &f->arena, e->tenant_id, e->type, e->id), 0);
	end(db);
}

void index_ensure(struct fixture *f)
{
	struct db *db = begin(f);

	CHECK_INT(search_ensure(db, &f->arena), 0);
	end(db);
}

void index_check(struct fixture *f, int64_t want)
{
	struct db *db = begin(f);
	int64_t wrong = -1;

	CHECK_INT(search_check(db, &wrong), 0);
	CHECK_INT(wrong, want);
	end(db);
}
