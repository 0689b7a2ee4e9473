/* identity.c - whether an SQLite store's file is the one that its log belongs to.
 *
 * SQLite replays whatever log lies beside a file, and goes on writing to a file that no longer has its
 * name.  So a serving process gives the file a number at every start (`user_version`, in the file's first
 * page; a copy made by backup has none) and writes the same beside it, in FILE-id.  Whoever opens the
 * file with a log beside it compares the two; and the process that serves looks, after each commit and once
 * a second, whether file and log are still those it began with.  Once they are not, it never
 * touches them again: what is acknowledged is in a log that only the former file can use. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/folder.h"
#include "base/log.h"
#include "store/engine.h"

enum { NUMBER_AT = 60, LOG_HEAD = 32, LOOKS = 5, PAUSE_US = 20000, IDS_LEN = 32 };

static const char *path_beside(struct arena *a, const char *path, const char *suffix)
{
	return arena_printf(a, "%s%s", path, suffix);
}

/* SQLite has the log beside the file itself, not beside a link to it. */
const char *identity_path(const char *path, struct arena *a)
{
	char *whole = realpath(path, NULL);
	const char *kept = arena_strdup(a, whole ? whole : path);

	free(whole);
	return kept;
}

/* The number in the file itself, whatever its log says; false if it has no such place. */
static bool number_in(int fd, uint32_t *ret)
{
	uint8_t at[4];

	if (fd < 0 || pread(fd, at, sizeof at, NUMBER_AT) != sizeof at)
		return false;
	*ret = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
	return true;
}

/* FILE-id: the number, and while a new one is being given the one before, too. */
static bool ids_read(const char *path, uint32_t ret[2])
{
	char text[IDS_LEN + 1] = "", *end;
	int fd = open(path, O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return false;
	n = (int)read(fd, text, IDS_LEN);
	close(fd);
	if (n <= 0)
		return false;
	ret[0] = ret[1] = (uint32_t)strtoul(text, &end, 16);
	if (*end == ' ')
		ret[1] = (uint32_t)strtoul(end, NULL, 16);
	return end > text;
}

static bool ids_write(struct arena *a, const char *path, const char *text)
{
	const char *fresh = path_beside(a, path, ".new");
	size_t len = strlen(text);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return good && rename(fresh, path) == 0 && folder_sync(path) == 0;
}

static bool has_log(struct arena *a, const char *path)
{
	struct stat st;

	return stat(path_beside(a, path, "-wal"), &st) == 0 && st.st_size > LOG_HEAD;
}

/* A closed descriptor of the file takes SQLite's locks with it, so this comes before any connection. */
static bool log_belongs(struct arena *a, const char *path)
{
	uint32_t ids[2], number = 0;
	int fd;
	bool has;

	if (!ids_read(path_beside(a, path, "-id"), ids))
		return true; /* of a program that wrote none: nothing is known */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	has = number_in(fd, &number);
	if (fd >= 0)
		close(fd);
	return has && (number == ids[0] || number == ids[1]);
}

bool identity_has_log(const char *path, struct arena *a)
{
	path = identity_path(path, a);
	return has_log(a, path) && log_belongs(a, path);
}

int identity_admit(const char *path, struct arena *a, struct problem *p)
{
	path = identity_path(path, a);
	/* A process that is just starting may be giving a new number. */
	for (int looks = 0; looks < LOOKS; looks++) {
		if (!has_log(a, path) || log_belongs(a, path))
			return 0;
		usleep(PAUSE_US);
	}
	return problem_set(p, a, ERR_STORE,
		"the log %s-wal belongs to another file than %s, which was put in its place: nothing is read, since that "
		"would damage it. With the service stopped, put the former file back; or, to give up what is only in "
		"the log, have lodge restore put a copy in its place (lodge restore %s, if that is the copy)",
		path, path, path);
}

/* What the file and its log are, on the disk. */
static bool look_at_file(const char *path, dev_t *ret_device, ino_t *ret_node)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	*ret_device = st.st_dev;
	*ret_node = st.st_ino;
	return true;
}

int identity_take(struct store *s, struct db *db)
{
	struct identity *i = &s->identity;
	const char *path = identity_path(s->where, &s->arena);
	const char *ids = path_beside(&s->arena, path, "-id");
	uint32_t former = 0, now = 0;

	if (s->lock_fd < 0) /* not the one that serves */
		return 0;
	do
		random_bytes(&i->number, sizeof i->number);
	while (!(i->number &= INT32_MAX));
	number_in(s->lock_fd, &former);
	if (!ids_write(&s->arena, ids, arena_printf(&s->arena, "%08x %08x\n", former, i->number)))
		return db_fail(db, ERR_STORE, "cannot write %s: %s", ids, strerror(errno));
	if (db->engine->script(
		    db, arena_printf(&s->arena,
				"pragma user_version = %u; pragma wal_checkpoint(truncate)",
				i->number)))
		return ERR_STORE;
	/* Somebody who reads may hold the log back: then either number is right until the next start. */
	i->numbered = number_in(s->lock_fd, &now) && now == i->number;
	if (i->numbered && !ids_write(&s->arena, ids, arena_printf(&s->arena, "%08x\n", now)))
		return db_fail(db, ERR_STORE, "cannot write %s: %s", ids, strerror(errno));
	i->log = path_beside(&s->arena, path, "-wal");
	i->known = look_at_file(s->where, &i->device, &i->node) &&
		   look_at_file(i->log, &i->log_device, &i->log_node);
	return 0;
}

static const char *change_of(const struct store *s)
{
	const struct identity *i = &s->identity;
	dev_t device;
	ino_t node;
	uint32_t number;

	if (!look_at_file(s->where, &device, &node))
		return "it was moved or removed";
	if (device != i->device || node != i->node)
		return "another file was put in its place";
	if (!look_at_file(i->log, &device, &node) || device != i->log_device || node != i->log_node)
		return "its log (-wal) was moved or removed";
	if (i->numbered && (!number_in(s->lock_fd, &number) || number != i->number))
		return "it was written over";
	return NULL;
}

bool identity_holds(struct store *s)
{
	struct identity *i = &s->identity;
	const char *change;

	if (!i->known)
		return true;
	if (atomic_load_explicit(&i->changed, memory_order_acquire))
		return false;
	change = change_of(s);
	if (!change)
		return true;
	store_shut(s, "The store's file was changed under the running service.");
	if (!atomic_exchange(&i->changed, true))
		log_error(
			"the store's file was changed under the running service; nothing is written any more: stop "
			"it, put the former file back or use lodge restore, and start it",
			LOG_S("file", s->where), LOG_S("change", change));
	return false;
}

bool identity_changed(const struct store *s)
{
	return atomic_load_explicit(&s->identity.changed, memory_order_acquire);
}
