/* power.c - what is promised survives a loss of power, at any moment, on SQLite's own files and on ours.
 *
 * A workload writes through disk.h; then power is lost before and after every sync and at moments in
 * between, in every way the disk knows, and what is left is opened: it must be whole, hold every change
 * that was acknowledged, and no change in part.  Takes how many losses to play of each kind of store.  The
 * last line is "N passed, N failed". */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "disk.h"
#include "store/engine.h"

enum {
	LOSSES = 60,
	RAW_CHANGES = 300,
	RAW_CHECKPOINT_EVERY = 7,
	STORE_CHANGES = 360,
	TOGETHER = 12
};

static char scratch[256];
static int64_t passed, failed;

static void give_up(const char *what, const char *why)
{
	fprintf(stderr, "power: %s: %s\n", what, why);
	exit(2);
}

static void folder_make(char *out, size_t room, const char *name)
{
	snprintf(out, room, "%s/%s", scratch, name);
	mkdir(out, 0700);
}

static void folder_empty(const char *folder)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-id", "-journal", "-id.new",
		"-lock" };
	char path[600];

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(path, sizeof path, "%s/s.db%s", folder, endings[i]);
		unlink(path);
	}
}

/* A change is two rows, far from each other, and a sum; its text is long or short. */
static size_t text_len(int64_t n)
{
	static const size_t lens[] = { 10, 900, 5000, 60, 30000, 300, 12000 };

	return lens[(size_t)n % (sizeof lens / sizeof *lens)];
}

static void text_fill(char *text, int64_t n)
{
	for (size_t i = 0; i < text_len(n); i++)
		text[i] = (char)('a' + (n * 7 + (int64_t)i * (n % 5 + 1)) % 26);
}

#define TABLES                                                                           \
	"create table power (id integer primary key, n bigint, body text);"              \
	"create table power_sum (id integer primary key, changes bigint, total bigint);" \
	"insert into power_sum values (1, 0, 0);"
enum { HALF = 1000000 };

/* ---- SQLite by itself, on one layer or the other ---- */

static void raw_do(sqlite3 *db, const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &why))
		give_up(sql, why ? why : "");
}

static sqlite3 *raw_open(const char *folder, const char *layer, bool create)
{
	char path[600];
	sqlite3 *db;

	snprintf(path, sizeof path, "%s/s.db", folder);
	if (sqlite3_open_v2(
		    path, &db, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), layer))
		give_up(path, sqlite3_errmsg(db));
	sqlite3_busy_timeout(db, 10000);
	raw_do(db,
		"pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 0");
	return db;
}

static void raw_change(sqlite3 *db, int64_t n)
{
	static char text[32768];
	sqlite3_stmt *put;

	text_fill(text, n);
	raw_do(db, "begin immediate");
	if (sqlite3_prepare_v2(db, "insert into power values (?1, ?2, ?3)", -1, &put, NULL))
		give_up("insert", sqlite3_errmsg(db));
	for (int half = 0; half < 2; half++) {
		sqlite3_bind_int64(put, 1, n + half * HALF);
		sqlite3_bind_int64(put, 2, n);
		sqlite3_bind_text(put, 3, text, (int)text_len(n), SQLITE_STATIC);
		if (sqlite3_step(put) != SQLITE_DONE)
			give_up("insert", sqlite3_errmsg(db));
		sqlite3_reset(put);
	}
	sqlite3_finalize(put);
	snprintf(text, sizeof text,
		"update power_sum set changes = changes + 1, total = total + %lld", (long long)n);
	raw_do(db, text);
	raw_do(db, "commit");
	disk_acknowledge(n);
}

static void raw_work(const char *folder, const char *layer)
{
	static const int hows[] = { SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_RESTART,
		SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_TRUNCATE };
	sqlite3 *db = raw_open(folder, layer, true), *other;
	int checkpoints = 0;

	raw_do(db, TABLES);
	sqlite3_close(db);
	disk_record(folder, "s.db");
	db = raw_open(folder, layer, false);
	other = raw_open(folder, layer, false);
	for (int64_t n = 1; n <= RAW_CHANGES; n++) {
		raw_change(db, n);
		if (n % RAW_CHECKPOINT_EVERY == 0)
			sqlite3_wal_checkpoint_v2(other, NULL, hows[checkpoints++ % 4], NULL, NULL);
	}
	sqlite3_close(other);
	sqlite3_close(db);
}

static void raw_work_plain(const char *folder)
{
	raw_work(folder, "power");
}

static void raw_work_layered(const char *folder)
{
	raw_work(folder, sqlite_layer());
}

/* ---- the store, with its writer and the thread that moves the log ---- */

static const struct statement store_sql[] = {
	{ "power_add", "insert into power (id, n, body) values ($1, $2, $3)" },
	{ "power_count", "update power_sum set changes = changes + 1, total = total + $1" },
};

struct change {
	struct work work;
	int64_t n;
	char *text;
};

static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_some = PTHREAD_COND_INITIALIZER;
static int done_count;

static int change_run(struct work *w, struct db *db)
{
	struct change *c = (struct change *)w;
	int err = 0;

	for (int half = 0; !err && half < 2; half++)
		err = db_run(
			db, &store_sql[0], NULL, ARGS(N(c->n + half * HALF), N(c->n), T(c->text)));
	return err ? err : db_run(db, &store_sql[1], NULL, ARGS(N(c->n)));
}

static void change_done(struct work *w, int err)
{
	struct change *c = (struct change *)w;

	if (err)
		give_up("a change", "the store refused it");
	disk_acknowledge(c->n);
	pthread_mutex_lock(&done_lock);
	done_count++;
	pthread_cond_signal(&done_some);
	pthread_mutex_unlock(&done_lock);
}

static struct store *store_at(const char *folder, struct arena *a, struct problem *p)
{
	struct store_settings settings = {
		.where = arena_printf(a, "sqlite:%s/s.db", folder), .workers = 1, .queue_max = 100
	};
	struct store *s = NULL;

	return store_open(&s, &settings, STORE_SERVE, a, p) ? NULL : s;
}

static void store_change_all(struct store *s)
{
	static struct change list[TOGETHER];

	for (int64_t n = 1; n <= STORE_CHANGES; n += TOGETHER) {
		done_count = 0;
		for (int i = 0; i < TOGETHER; i++) {
			struct change *c = &list[i];

			free(c->text);
			*c = (struct change){ .n = n + i, .text = calloc(1, text_len(n + i) + 1) };
			text_fill(c->text, c->n);
			c->work = (struct work){
				.run = change_run, .done = change_done, .mode = READ_WRITE
			};
			if (store_submit(s, &c->work))
				give_up("a change", "the queue is full");
		}
		pthread_mutex_lock(&done_lock);
		while (done_count < TOGETHER)
			pthread_cond_wait(&done_some, &done_lock);
		pthread_mutex_unlock(&done_lock);
	}
}

static void store_work(const char *folder)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct store *s = store_at(folder, &a, &p);
	struct db *db = NULL;
	int from, to;

	if (!s || store_migrate(s, &from, &to, &a, &p) || store_connect(s, &db, &a, &p) ||
		db->engine->script(db, TABLES))
		give_up("making a store", p.detail ? p.detail : "");
	db_close(db);
	store_close(s);
	disk_record(folder, "s.db"); /* with what a start writes */
	s = store_at(folder, &a, &p);
	if (!s || store_start(s))
		give_up("opening a store", p.detail ? p.detail : "");
	store_change_all(s);
	store_stop(s);
	store_close(s);
	arena_free(&a);
}

/* What a start of the service says to what is left. */
static bool store_opens(const char *folder, char *why, size_t room)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct store *s = store_at(folder, &a, &p);

	if (!s)
		snprintf(why, room, "the store does not open: %s", p.detail ? p.detail : "");
	else if (store_check(s, &a, &p))
		snprintf(why, room, "the store is not sound: %s", p.detail ? p.detail : "");
	store_close(s);
	arena_free(&a);
	return !*why;
}

/* ---- what is left ---- */

static int64_t raw_int(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;
	int64_t n = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static bool raw_is_whole(sqlite3 *db, char *why, size_t room)
{
	sqlite3_stmt *st;
	const char *said = "no answer";

	if (sqlite3_prepare_v2(db, "pragma integrity_check(1)", -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW)
		said = (const char *)sqlite3_column_text(st, 0);
	else
		said = sqlite3_errmsg(db);
	if (strcmp(said, "ok") != 0)
		snprintf(why, room, "the file is damaged: %s", said);
	sqlite3_finalize(st);
	return !*why;
}

/* Of each change both rows with the text they were given; and the sums of just those. */
static void changes_check(sqlite3 *db, int64_t promised, char *why, size_t room)
{
	static char text[32768];
	sqlite3_stmt *st;
	int64_t changes = 0, total = 0, first = 0;

	if (sqlite3_prepare_v2(db,
		    "select a.n, a.body, b.body from power a left join power b on b.id = a.id + 1000000 "
		    "where a.id < 1000000 order by a.id",
		    -1, &st, NULL)) {
		snprintf(why, room, "%s", sqlite3_errmsg(db));
		return;
	}
	while (!*why && sqlite3_step(st) == SQLITE_ROW) {
		int64_t n = sqlite3_column_int64(st, 0);
		const char *one = (const char *)sqlite3_column_text(st, 1);
		const char *two = (const char *)sqlite3_column_text(st, 2);

		text_fill(text, n);
		text[text_len(n)] = '\0';
		if (!one || !two || strcmp(one, text) != 0 || strcmp(two, text) != 0)
			snprintf(why, room, "change %lld is there in part", (long long)n);
		if (n == first + 1)
			first = n;
		changes++;
		total += n;
	}
	sqlite3_finalize(st);
	if (!*why && first < promised)
		snprintf(why, room, "%lld changes were promised and %lld are there",
			(long long)promised, (long long)first);
	if (!*why && (raw_int(db, "select changes from power_sum") != changes ||
			     raw_int(db, "select total from power_sum") != total ||
			     raw_int(db, "select count(*) from power") != 2 * changes))
		snprintf(why, room, "the sums are not those of the rows");
}

/* ---- losses ---- */

struct subject {
	const char *name;
	void (*work)(const char *folder);
	bool as_usual; /* see disk_acknowledged() */
	bool is_store;
};

static const struct subject subjects[] = {
	{ "SQLite's own files", raw_work_plain, true, false },
	{ "SQLite's own files, on a modest disk", raw_work_plain, false, false },
	{ "the layer over its log", raw_work_layered, true, false },
	{ "the layer over its log, on a modest disk", raw_work_layered, false, false },
	{ "the store", store_work, true, true },
};

static void loss_try(const struct subject *k, const char *folder, size_t moment, enum disk_loss how)
{
	char why[512] = "";
	int64_t promised;
	sqlite3 *db;

	folder_empty(folder);
	promised = disk_lose(moment, how, moment * LOSS_COUNT + how, folder);
	if (k->is_store)
		store_opens(folder, why, sizeof why);
	db = raw_open(folder, "unix", false);
	if (!*why && raw_is_whole(db, why, sizeof why))
		changes_check(db, promised, why, sizeof why);
	sqlite3_close(db);
	if (*why) {
		failed++;
		printf("FAILED %s: power lost at moment %zu (%d): %s\n", k->name, moment, how, why);
	} else {
		passed++;
	}
}

/* Spread over the workload: the moments around syncs, and as many in between. */
static void losses_play(const struct subject *k, const char *folder, size_t losses)
{
	struct disk_counts c = disk_counts();
	size_t step = c.moments / (losses / 2 + 1) + 1, before = 0;

	if (!c.syncs || !c.file_writes || !c.log_writes)
		give_up(k->name, "the workload moved nothing into the file");
	for (size_t at = 0, i = 0; at < c.moments; at += step, i++) {
		size_t edge = disk_next_sync(at);

		loss_try(k, folder, at, (enum disk_loss)(i % LOSS_COUNT));
		if (edge != SIZE_MAX && edge != before && edge != at)
			loss_try(k, folder, edge,
				(enum disk_loss)((i + i / LOSS_COUNT) % LOSS_COUNT));
		before = edge;
	}
	loss_try(k, folder, c.moments, LOSE_ALL);
}

int main(int argc, char **argv)
{
	size_t losses = argc > 1 ? strtoul(argv[1], NULL, 10) : LOSSES;
	char live[400], left[400];

	snprintf(scratch, sizeof scratch, "%s/lodge-power.XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(scratch))
		give_up(scratch, "cannot be made");
	disk_install();
	folder_make(live, sizeof live, "live");
	folder_make(left, sizeof left, "left");
	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
		disk_acknowledged(subjects[i].as_usual);
		subjects[i].work(live);
		losses_play(&subjects[i], left, losses);
		disk_forget();
		folder_empty(live);
		folder_empty(left);
	}
	rmdir(live);
	rmdir(left);
	rmdir(scratch);
	printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
	return failed > 0;
}
