/* copy_sides.c - the two stores of a copy, opened so that nobody else has them, and refused with a sentence where they are
 * not what a copy needs: a source that is whole and of this program's version, a target that is empty or has the
 * beginning of a copy. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/copy_parts.h"

const char *store_said(const char *where, struct arena *a)
{
	const char *rest = strstr(where, "://"), *at;
	char *whole;

	if (strncmp(where, "sqlite:", 7) == 0) {
		whole = realpath(where + 7, NULL);
		where = arena_strdup(a, whole ? whole : where + 7);
		free(whole);
		return where;
	}
	rest = rest ? rest + 3 : where;
	for (at = rest; *at && *at != '/' && *at != '?'; at++)
		if (*at == '@')
			rest = at + 1;
	return arena_printf(a, "postgres://%.*s", (int)strcspn(rest, "?"), rest);
}

static int open_side(
	struct copying *c, const char *where, struct store **ret_store, struct db **ret_db)
{
	struct store_settings settings = { .where = where, .workers = 1, .queue_max = 1 };
	int err = store_open(ret_store, &settings, STORE_SERVE, c->a, c->p);

	if (!err)
		err = store_connect(*ret_store, ret_db, c->a, c->p);
	if (err || store_is_sqlite(*ret_store))
		return err;
	/* Neither reading a table to its end nor waiting for the other side is a fault here. */
	err = (*ret_db)->engine->script(
		*ret_db, "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0");
	return err ? problem_set(
			     c->p, c->a, err, "%s: %s", store_said(where, c->a), db_error(*ret_db))
		   : served_take(*ret_db, store_said(where, c->a), c->a, c->p);
}

/* ---- the source ---- */

static int check_source(struct copying *c)
{
	struct store_version v = { 0 };
	int version, wanted = store_version_wanted();
	const char *beyond;
	int err = store_version(c->from_store, &v, c->a, c->p);

	version = (int)v.tables;
	if (err)
		return err;
	if (!version)
		return problem_set(
			c->p, c->a, ERR_STORE, "%s is not a store of lodge", c->from_said);
	if (version != wanted)
		return problem_set(c->p, c->a, ERR_STORE,
			version > wanted
				? "%s is at version %d and this program only knows %d: copy it with a newer lodge"
				: "%s is at version %d and this program copies %d: bring it up to that first with lodge migrate "
				  "--store and its address",
			c->from_said, version, wanted);
	err = shape_check(c->from, version, &beyond, c->a, c->p);
	if (err)
		return err;
	c->stage = (struct copy_stage){ .doing = COPY_CHECKS, .table = "" };
	if (c->order->told)
		c->order->told(c->order->ctx, &c->stage);
	return store_check(c->from_store, c->a, c->p);
}

int copy_open_source(struct copying *c)
{
	const char *where = c->order->from;
	int err;

	if (strncmp(where, "sqlite:", 7) == 0 && access(where + 7, F_OK))
		return problem_set(c->p, c->a, ERR_STORE, "there is no store at %s", c->from_said);
	err = open_side(c, where, &c->from_store, &c->from);
	if (!err)
		err = check_source(c);
	if (!err && !db_is_sqlite(c->from) && served_still(c->from))
		err = problem_set(c->p, c->a, ERR_STORE,
			"somebody writes to the store %s: %s; stop all that uses it first",
			c->from_said, db_error(c->from));
	return err;
}

/* ---- the target ---- */

static int refuse_target(struct copying *c, const char *there)
{
	struct problem unread = { 0 };
	struct store_version v = { 0 };
	int err = store_version(c->to_store, &v, c->a, &unread);
	const char *what =
		!err && v.tables
			? arena_printf(c->a, "it is a store of lodge, at version %d", (int)v.tables)
			: arena_printf(c->a, "it has %s", there);

	return problem_set(c->p, c->a, ERR_CONFLICT, "%s is not empty: %s. A copy is made into %s",
		c->to_said, what,
		db_is_sqlite(c->to)
			? "a file that is not there yet"
			: "an empty database, or a schema of its own: make one with createdb, or drop what "
			  "is not needed");
}

/* The mark of a copy comes before the tables, so that one which is broken off here is known, too. */
static int mark_target(struct copying *c, bool *ret_filled)
{
	bool there;
	const char *said = NULL;
	int err = copy_record_find(c->to, &there, ret_filled);

	if (!err && !there)
		err = shape_said(c->to, &said, c->a);
	if (!err && said)
		return refuse_target(c, said);
	if (!err && !there)
		err = copy_record_make(c->to, c->a);
	return err ? copy_fails(c, c->to, err) : 0;
}

int copy_open_target(struct copying *c)
{
	int from, to, err = open_side(c, c->order->to, &c->to_store, &c->to);
	bool filled = false;

	if (err)
		return err;
	c->to_store->filling = true;
	err = mark_target(c, &filled);
	/* Once rows come in, the tables are there, but the row that says so may be among those that do not yet. */
	if (!err && !filled)
		err = store_migrate(c->to_store, &from, &to, c->a, c->p);
	db_forget(c->to);
	return err;
}

/* A file that root has made is its folder's owner's, who is to serve it. */
static void give_away(const char *where, struct arena *a)
{
	static const char *const beside[] = { "", "-wal", "-shm", "-id" };
	const char *path = where + strlen("sqlite:");
	struct stat folder;

	if (strncmp(where, "sqlite:", 7) != 0 || geteuid() != 0 ||
		stat(dirname(arena_strdup(a, path)), &folder))
		return;
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
		if (lchown(arena_printf(a, "%s%s", path, beside[i]), folder.st_uid,
			    folder.st_gid) &&
			errno != ENOENT)
			log_warn("a file cannot be given to the owner of its folder",
				LOG_S("file", path));
}

void copy_close(struct copying *c)
{
	bool made = c->to != NULL;

	if (c->from)
		db_rollback(c->from);
	db_close(c->from);
	db_close(c->to);
	store_close(c->from_store);
	store_close(c->to_store);
	if (made)
		give_away(c->order->to, c->a);
}
