/* disk.c - see disk.h. */
#include "disk.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, FILES = 2, ID_LEN = 64 };
enum act { ACT_WRITE, ACT_CUT, ACT_SYNC, ACT_ACKNOWLEDGE, ACT_DELETE };

static const char *const endings[FILES] = { "", "-wal" };

struct moment {
	enum act act;
	int file;
	int64_t offset; /* of a cut: the size */
	size_t len;
	uint8_t *bytes;
	char id[ID_LEN]; /* what stood in FILE-id then */
};

struct image {
	uint8_t *at;
	size_t len, room;
	bool there;
};

/* The process has one disk, as it has one list of SQLite's layers. */
static struct {
	pthread_mutex_t lock;
	bool recording, modest;
	char folder[512], name[64], id_path[600];
	struct moment *list;
	size_t count, room;
	struct image first[FILES];
	struct image base[FILES]; /* all moments before base_at, played */
	size_t base_at;
} disk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static sqlite3_vfs layer, *below;

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* ---- remembering ---- */

static size_t read_small(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* With the lock held. */
static void moment_add(enum act act, int file, int64_t offset, const void *bytes, size_t len)
{
	struct moment *m;

	if (!disk.recording || file < 0)
		return;
	if (disk.count == disk.room) {
		disk.room = disk.room ? 2 * disk.room : 1024;
		disk.list = must(realloc(disk.list, disk.room * sizeof *disk.list));
	}
	m = &disk.list[disk.count++];
	*m = (struct moment){ .act = act, .file = file, .offset = offset, .len = len };
	if (bytes)
		m->bytes = memcpy(must(malloc(len + !len)), bytes, len);
	read_small(disk.id_path, m->id, sizeof m->id);
}

void disk_acknowledge(int64_t number)
{
	pthread_mutex_lock(&disk.lock);
	moment_add(ACT_ACKNOWLEDGE, 0, number, NULL, 0);
	pthread_mutex_unlock(&disk.lock);
}

/* ---- the layer ---- */

struct disk_file {
	sqlite3_file base;
	int which; /* -1: none that is remembered */
};

static sqlite3_file *own(sqlite3_file *f)
{
	return (sqlite3_file *)((struct disk_file *)f + 1);
}

#define PASS(f, method, ...) (own(f)->pMethods->method(own(f), ##__VA_ARGS__))

static int disk_write(sqlite3_file *f, const void *bytes, int len, sqlite3_int64 offset)
{
	int rc;

	pthread_mutex_lock(&disk.lock);
	rc = PASS(f, xWrite, bytes, len, offset);
	moment_add(ACT_WRITE, ((struct disk_file *)f)->which, offset, bytes, (size_t)len);
	pthread_mutex_unlock(&disk.lock);
	return rc;
}

static int disk_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc;

	pthread_mutex_lock(&disk.lock);
	rc = PASS(f, xTruncate, size);
	moment_add(ACT_CUT, ((struct disk_file *)f)->which, size, NULL, 0);
	pthread_mutex_unlock(&disk.lock);
	return rc;
}

/* The disk of this machine is not asked: what is played here is another one. */
static int disk_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	pthread_mutex_lock(&disk.lock);
	moment_add(ACT_SYNC, ((struct disk_file *)f)->which, 0, NULL, 0);
	pthread_mutex_unlock(&disk.lock);
	return SQLITE_OK;
}

static int disk_close(sqlite3_file *f)
{
	return PASS(f, xClose);
}

static int disk_read(sqlite3_file *f, void *bytes, int len, sqlite3_int64 offset)
{
	return PASS(f, xRead, bytes, len, offset);
}

static int disk_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return PASS(f, xFileSize, ret);
}

static int disk_lock(sqlite3_file *f, int how)
{
	return PASS(f, xLock, how);
}

static int disk_unlock(sqlite3_file *f, int how)
{
	return PASS(f, xUnlock, how);
}

static int disk_reserved(sqlite3_file *f, int *ret)
{
	return PASS(f, xCheckReservedLock, ret);
}

static int disk_control(sqlite3_file *f, int which, void *arg)
{
	return PASS(f, xFileControl, which, arg);
}

static int disk_sector(sqlite3_file *f)
{
	return PASS(f, xSectorSize);
}

static int disk_traits(sqlite3_file *f)
{
	return disk.modest ? 0 : PASS(f, xDeviceCharacteristics);
}

static int disk_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	return PASS(f, xShmMap, page, size, extend, ret);
}

static int disk_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return PASS(f, xShmLock, offset, n, flags);
}

static void disk_shm_barrier(sqlite3_file *f)
{
	PASS(f, xShmBarrier);
}

static int disk_shm_unmap(sqlite3_file *f, int delete)
{
	return PASS(f, xShmUnmap, delete);
}

static int disk_fetch(sqlite3_file *f, sqlite3_int64 offset, int len, void **ret)
{
	return PASS(f, xFetch, offset, len, ret);
}

static int disk_unfetch(sqlite3_file *f, sqlite3_int64 offset, void *at)
{
	return PASS(f, xUnfetch, offset, at);
}

static const sqlite3_io_methods methods = {
	.iVersion = 3,
	.xClose = disk_close,
	.xRead = disk_read,
	.xWrite = disk_write,
	.xTruncate = disk_truncate,
	.xSync = disk_sync,
	.xFileSize = disk_size,
	.xLock = disk_lock,
	.xUnlock = disk_unlock,
	.xCheckReservedLock = disk_reserved,
	.xFileControl = disk_control,
	.xSectorSize = disk_sector,
	.xDeviceCharacteristics = disk_traits,
	.xShmMap = disk_shm_map,
	.xShmLock = disk_shm_lock,
	.xShmBarrier = disk_shm_barrier,
	.xShmUnmap = disk_shm_unmap,
	.xFetch = disk_fetch,
	.xUnfetch = disk_unfetch,
};

static int file_of(const char *path)
{
	char known[700];

	for (int i = 0; path && i < FILES; i++) {
		snprintf(known, sizeof known, "%s/%s%s", disk.folder, disk.name, endings[i]);
		if (strcmp(path, known) == 0)
			return i;
	}
	return -1;
}

static int layer_open(
	sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *ret_flags)
{
	struct disk_file *d = (struct disk_file *)f;
	int rc;

	(void)vfs;
	*d = (struct disk_file){ .which = file_of(name) };
	rc = below->xOpen(below, name, own(f), flags, ret_flags);
	if (own(f)->pMethods)
		f->pMethods = &methods;
	return rc;
}

static int layer_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	int rc;

	(void)vfs;
	pthread_mutex_lock(&disk.lock);
	rc = below->xDelete(below, name, sync);
	moment_add(ACT_DELETE, file_of(name), 0, NULL, 0);
	pthread_mutex_unlock(&disk.lock);
	return rc;
}

void disk_install(void)
{
	below = must(sqlite3_vfs_find(NULL));
	layer = *below;
	layer.pNext = NULL;
	layer.zName = "power";
	layer.szOsFile += (int)sizeof(struct disk_file);
	layer.xOpen = layer_open;
	layer.xDelete = layer_delete;
	if (sqlite3_vfs_register(&layer, 1))
		abort();
}

void disk_acknowledged(bool as_usual)
{
	disk.modest = !as_usual;
}

/* ---- images ---- */

static void image_room(struct image *i, size_t len)
{
	if (len <= i->room)
		return;
	i->at = must(realloc(i->at, 2 * len));
	i->room = 2 * len;
}

static void image_put(struct image *i, int64_t offset, const uint8_t *bytes, size_t len)
{
	size_t end = (size_t)offset + len;

	if (!len)
		return;
	image_room(i, end);
	if (end > i->len) {
		memset(i->at + i->len, 0, end - i->len);
		i->len = end;
	}
	memcpy(i->at + offset, bytes, len);
	i->there = true;
}

static void image_cut(struct image *i, size_t len)
{
	image_room(i, len);
	if (len > i->len)
		memset(i->at + i->len, 0, len - i->len);
	i->len = len;
}

static void image_read(struct image *i, const char *path)
{
	FILE *in = fopen(path, "rb");

	*i = (struct image){ .there = in };
	if (!in)
		return;
	fseek(in, 0, SEEK_END);
	i->len = (size_t)ftell(in);
	rewind(in);
	image_room(i, i->len + 1);
	if (fread(i->at, 1, i->len, in) != i->len)
		abort();
	fclose(in);
}

static void file_write(const char *folder, const char *ending, const void *bytes, size_t len)
{
	char path[700];
	FILE *out;

	snprintf(path, sizeof path, "%s/%s%s", folder, disk.name, ending);
	out = must(fopen(path, "wb"));
	if (fwrite(bytes, 1, len, out) != len || fclose(out))
		abort();
}

void disk_record(const char *folder, const char *name)
{
	char path[700];

	disk_forget();
	snprintf(disk.folder, sizeof disk.folder, "%s", folder);
	snprintf(disk.name, sizeof disk.name, "%s", name);
	snprintf(disk.id_path, sizeof disk.id_path, "%s/%s-id", folder, name);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof path, "%s/%s%s", folder, name, endings[i]);
		image_read(&disk.first[i], path);
	}
	disk.recording = true;
}

void disk_forget(void)
{
	for (size_t i = 0; i < disk.count; i++)
		free(disk.list[i].bytes);
	free(disk.list);
	disk.list = NULL;
	disk.count = disk.room = disk.base_at = 0;
	for (int i = 0; i < FILES; i++) {
		free(disk.first[i].at);
		free(disk.base[i].at);
		disk.first[i] = disk.base[i] = (struct image){ 0 };
	}
	disk.recording = false;
}

struct disk_counts disk_counts(void)
{
	struct disk_counts c = { .moments = disk.count };

	for (size_t i = 0; i < disk.count; i++) {
		const struct moment *m = &disk.list[i];

		c.syncs += m->act == ACT_SYNC;
		c.file_writes += m->act == ACT_WRITE && m->file == 0;
		c.log_writes += m->act == ACT_WRITE && m->file == 1;
		c.cuts += m->act == ACT_CUT;
	}
	return c;
}

size_t disk_next_sync(size_t from)
{
	for (size_t i = from; i <= disk.count; i++)
		if ((i < disk.count && disk.list[i].act == ACT_SYNC) ||
			(i > 0 && disk.list[i - 1].act == ACT_SYNC))
			return i;
	return SIZE_MAX;
}

/* ---- a loss ---- */

static uint64_t draw(uint64_t *chance)
{
	uint64_t z = *chance += 0x9e3779b97f4a7c15U;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

/* Some sectors of it. */
static void put_torn(struct image *i, const struct moment *m, uint64_t *chance)
{
	size_t n, at;

	for (at = 0; at < m->len; at += n) {
		n = SECTOR - (size_t)(m->offset + (int64_t)at) % SECTOR;
		if (n > m->len - at)
			n = m->len - at;
		if (draw(chance) & 1)
			image_put(i, m->offset + (int64_t)at, m->bytes + at, n);
	}
}

static bool is_covered(size_t at, size_t moment)
{
	for (size_t i = at + 1; i < moment; i++)
		if (disk.list[i].act == ACT_SYNC && disk.list[i].file == disk.list[at].file)
			return true;
	return false;
}

static void play(struct image *i, const struct moment *m, bool torn, uint64_t *chance)
{
	switch (m->act) {
	case ACT_WRITE:
		if (torn)
			put_torn(i, m, chance);
		else
			image_put(i, m->offset, m->bytes, m->len);
		break;
	case ACT_CUT:
		image_cut(i, (size_t)m->offset);
		break;
	case ACT_DELETE:
		i->len = 0;
		i->there = false;
		break;
	case ACT_SYNC:
	case ACT_ACKNOWLEDGE:
		break;
	}
}

/* From the last moment that all syncs cover on, each is looked at for itself. */
static size_t certain_until(size_t moment)
{
	bool covered[FILES] = { false };
	size_t open = moment;

	for (size_t i = moment; i-- > 0;) {
		const struct moment *m = &disk.list[i];

		if (m->act == ACT_SYNC)
			covered[m->file] = true;
		else if (m->act != ACT_ACKNOWLEDGE && !covered[m->file])
			open = i;
		if (covered[0] && covered[1])
			break;
	}
	return open;
}

static void image_copy(struct image *to, const struct image *from)
{
	to->len = 0;
	image_put(to, 0, from->at, from->len);
	to->there = from->there;
}

/* Losses are played one after the other, mostly later and later ones. */
static void base_move(size_t to)
{
	uint64_t chance = 0;

	if (to < disk.base_at || !disk.base[0].at) {
		for (int i = 0; i < FILES; i++)
			image_copy(&disk.base[i], &disk.first[i]);
		disk.base_at = 0;
	}
	for (; disk.base_at < to; disk.base_at++) {
		const struct moment *m = &disk.list[disk.base_at];

		play(&disk.base[m->file], m, false, &chance);
	}
}

static int64_t acknowledged_until(size_t moment)
{
	int64_t n = 0;

	for (size_t i = 0; i < moment; i++)
		n += disk.list[i].act == ACT_ACKNOWLEDGE;
	return n;
}

static bool survives(size_t at, size_t moment, enum disk_loss how, uint64_t *chance)
{
	if (is_covered(at, moment) || how == LOSE_NONE)
		return true;
	return how != LOSE_ALL && (draw(chance) & 1);
}

int64_t disk_lose(size_t moment, enum disk_loss how, uint64_t chance, const char *folder)
{
	struct image now[FILES] = { 0 };
	const char *id = moment > 0 ? disk.list[moment - 1].id : "";
	size_t open = certain_until(moment);

	base_move(open);
	for (int i = 0; i < FILES; i++)
		image_copy(&now[i], &disk.base[i]);
	for (size_t i = open; i < moment; i++) {
		const struct moment *m = &disk.list[i];
		bool sure = is_covered(i, moment);

		if (survives(i, moment, how, &chance))
			play(&now[m->file], m, !sure && how == LOSE_PIECES && (draw(&chance) & 1),
				&chance);
	}
	for (int i = 0; i < FILES; i++) {
		if (now[i].there)
			file_write(folder, endings[i], now[i].at, now[i].len);
		free(now[i].at);
	}
	if (*id)
		file_write(folder, "-id", id, strlen(id));
	return acknowledged_until(moment);
}
