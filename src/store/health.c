/* health.c - whether the store takes what it is given, as far as this process has seen.
 *
 * What goes wrong is remembered where it happens, so that whoever asks need
 * not wait for it to go wrong again; and it is forgotten when it goes right.
 * On SQLite a small change may find room in the log of a disk that is full:
 * there only a probe that asks the disk for room says that it is over. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "store/engine.h"

enum { ROOM = 1 << 20, SIGN_EVERY_MS = 1000, SILENT_MS = 1500 };

static const struct statement sql[] = {
	{ "health_probe", "update meta set value = value where key = 'schema_version'" },
};
STATEMENT_SET(health_sql, sql);

void health_note(struct store *s, int err, bool wrote)
{
	int fault = s->fault;

	if (err == ERR_STORE_FULL || err == ERR_STORE)
		s->fault = err;
	else if (fault == ERR_STORE || (fault == ERR_STORE_FULL && wrote && !store_is_sqlite(s)))
		s->fault = 0;
}

int store_trouble(const struct store *s)
{
	return store_closed(s) ? ERR_STORE : s->fault;
}

const char *store_closed(const struct store *s)
{
	const char *shut = atomic_load_explicit(&s->shut, memory_order_acquire);

	return shut ? shut : s->silent ? "The store does not answer." : NULL;
}

void store_shut(struct store *s, const char *why)
{
	atomic_store_explicit(&s->shut, why, memory_order_release);
}

/* A server that hangs gives no error.  So it is asked for a sign of life, which also says whether the tables are still
 * good for this program: its statements were made for them, or for what is still there of them. */
static int life_sign_run(struct work *w, struct db *db)
{
	struct store_version v;
	int before = store_version_seen(db->store), err = db_store_version(db, &v);

	(void)w;
	if (!err && db->store->replica)
		err = replica_sample(db);
	if (err || !store_version_newer(&v))
		return err;
	if (store_version_admits(&v)) {
		if (before != v.tables)
			version_told(&v);
		return 0;
	}
	if (!store_closed(db->store))
		log_error(
			"the store was taken over by a newer program; this one writes nothing any more: replace it",
			LOG_N("version", v.tables), LOG_N("oldest_admitted", v.oldest),
			LOG_N("known", store_version_wanted()));
	store_shut(db->store, "The store was taken over by a newer version of the program.");
	return 0;
}

static void signed_off(struct work *w, int err)
{
	struct store *s = (struct store *)((char *)w - offsetof(struct store, sign));

	if (!err && atomic_exchange(&s->silent, false))
		log_line(LOG_WARN, "the store answers again", NULL);
	atomic_store(&s->signing, false);
}

static uint64_t work_ended(const struct store *s)
{
	struct store_stats now = store_stats(s);

	return now.work_done + now.work_failed;
}

void store_watch(struct store *s)
{
	int64_t now = clock_mono_ms();

	complaints_watch(s);
	if (store_is_sqlite(s)) {
		identity_holds(s);
		return;
	}
	replica_watch(s);
	if (atomic_load(&s->signing)) {
		/* Busy is not silent: work that ends is a sign as well. */
		if (now - s->sign_asked >= SILENT_MS && work_ended(s) == s->sign_beneath &&
			!atomic_exchange(&s->silent, true))
			log_line(LOG_ERROR, "the store does not answer", NULL);
	} else if (now - s->sign_asked >= SIGN_EVERY_MS) {
		s->sign_asked = now;
		s->sign_beneath = work_ended(s);
		atomic_store(&s->signing, true);
		s->sign = (struct work){
			.run = life_sign_run, .done = signed_off, .mode = READ_ONLY
		};
		if (store_submit(s, &s->sign))
			atomic_store(&s->signing, false);
	}
}

/* A file beside the store, and gone again at once: is there so much room? */
static int ask_for_room(const struct store *s)
{
	char path[4096];
	int fd, err;

	if ((size_t)snprintf(path, sizeof path, "%s.room", s->where) >= sizeof path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ENOSPC || errno == EDQUOT ? ERR_STORE_FULL : 0;
	err = posix_fallocate(fd, 0, ROOM);
	unlink(path);
	close(fd);
	return err == ENOSPC || err == EDQUOT || err == EFBIG ? ERR_STORE_FULL : 0;
}

static int probe_run(struct work *w, struct db *db)
{
	int err = db_is_sqlite(db) ? ask_for_room(db->store) : 0;

	(void)w;
	if (err)
		return db_fail(db, err, "the disk has less than %d KiB left", ROOM / 1024);
	return db_run(db, &sql[0], NULL, NO_ARGS);
}

static void probe_done(struct work *w, int err)
{
	struct store *s = (struct store *)((char *)w - offsetof(struct store, probe));

	if (!err)
		s->fault = 0;
	atomic_store(&s->probing, false);
}

void store_probe(struct store *s)
{
	if (atomic_exchange(&s->probing, true))
		return;
	s->probe = (struct work){ .run = probe_run, .done = probe_done, .mode = READ_WRITE };
	if (store_submit(s, &s->probe))
		atomic_store(&s->probing, false);
}
