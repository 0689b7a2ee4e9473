/* mail.c - taking mail durably, and the floor under it.
 *
 *   mail send SOCKET RECIPIENT CONNECTIONS SECONDS
 *   mail bare FOLDER CONNECTIONS SECONDS
 *
 * send hands letters of 10 KB over by LMTP, one after the other on each
 * connection, and counts those that were said to be taken.  bare does what
 * cannot be left out, without protocol, lookups and digests: each of as many
 * threads writes the same bytes to a file, syncs it, renames it and syncs the
 * folder, then waits for a commit with its three rows, which one thread makes
 * for all who wait.  Both print letters and microseconds. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rows.h"

enum { LETTER = 10 * 1024, CONNECTIONS_MAX = 64 };

static char letter[LETTER + 1];
static const char *place, *recipient;
static int64_t until;
static atomic_llong letters;

static void fail(const char *what)
{
	fprintf(stderr, "mail: %s\n", what);
	exit(1);
}

static void fill_letter(void)
{
	for (int i = 0; i < LETTER; i++)
		letter[i] = i % 72 == 70 ? '\r' : i % 72 == 71 ? '\n' : (char)('a' + i % 26);
}

/* ---- by LMTP ---- */

static void hear(FILE *f, const char *want)
{
	char line[512];

	do
		if (!fgets(line, sizeof line, f))
			fail("the connection ended");
	while (line[3] == '-');
	if (strncmp(line, want, strlen(want)) != 0)
		fail(line);
}

static void say(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n <= 0)
			fail("nothing can be said");
		text += n;
		len -= (size_t)n;
	}
}

static void *send_main(void *arg)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), n;
	char text[512];
	FILE *f;

	snprintf(at.sun_path, sizeof at.sun_path, "%s", place);
	if (connect(fd, (struct sockaddr *)&at, sizeof at))
		fail("nobody takes mail there");
	f = fdopen(dup(fd), "r");
	hear(f, "220");
	say(fd, "LHLO bench\r\n", 12);
	hear(f, "250");
	for (long i = 0; clock_us(CLOCK_MONOTONIC) < until; i++) {
		n = snprintf(text, sizeof text,
			"MAIL FROM:<jo@example.net> SIZE=%d\r\nRCPT TO:<%s>\r\nDATA\r\n", LETTER,
			recipient);
		say(fd, text, (size_t)n);
		hear(f, "250");
		hear(f, "250");
		hear(f, "354");
		n = snprintf(text, sizeof text,
			"From: jo@example.net\r\nMessage-ID: <%d.%ld.%lld@example.net>\r\n\r\n",
			(int)(intptr_t)arg, i, (long long)until);
		say(fd, text, (size_t)n);
		say(fd, letter, LETTER);
		say(fd, "\r\n.\r\n", 5);
		hear(f, "250 2.0.0 Taken as");
		letters++;
	}
	fclose(f);
	close(fd);
	return NULL;
}

/* ---- bare ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, committed = PTHREAD_COND_INITIALIZER;
static long waiting, round_now, round_done;
static bool over;

static void *commit_main(void *unused)
{
	char path[512];
	sqlite3_stmt *begin, *commit, *add[3];
	sqlite3 *db;

	(void)unused;
	snprintf(path, sizeof path, "%s/bare.db", place);
	if (sqlite3_open(path, &db) ||
		sqlite3_exec(db,
			"pragma journal_mode = wal; pragma synchronous = full;"
			"create table arrivals (tenant text, id text, mailbox text, known text, sender text, recipient text, "
			"object text, at int, primary key (tenant, id)); create unique index known on arrivals (tenant, mailbox, known);"
			"create table jobs (tenant text, id text primary key, kind text, subject text, at int);"
			"create table objects (tenant text, key text, blob text, size int, digest text, primary key (tenant, key))",
			NULL, NULL, NULL))
		fail("no store");
	begin = prepare(db, "begin immediate");
	commit = prepare(db, "commit");
	add[0] = prepare(db,
		"insert into arrivals values ('c0000000000000000000000000', hex(randomblob(13)), "
		"'c0000000000000000000000001', hex(randomblob(32)), 'jo@example.net', 'desk@demo.example.org', "
		"hex(randomblob(32)), 1)");
	add[1] = prepare(db,
		"insert into jobs values ('c0000000000000000000000000', hex(randomblob(13)), 'mail.read', "
		"hex(randomblob(13)), 1)");
	add[2] = prepare(db,
		"insert into objects values ('c0000000000000000000000000', hex(randomblob(38)), "
		"hex(randomblob(13)), 10240, hex(randomblob(32)))");
	pthread_mutex_lock(&lock);
	for (;;) {
		long count;

		while (!waiting && !over)
			pthread_cond_wait(&more, &lock);
		if (!waiting)
			break;
		count = waiting;
		waiting = 0;
		round_now++;
		pthread_mutex_unlock(&lock);
		run(begin);
		for (long i = 0; i < count; i++)
			for (int k = 0; k < 3; k++)
				run(add[k]);
		run(commit);
		pthread_mutex_lock(&lock);
		round_done = round_now;
		pthread_cond_broadcast(&committed);
	}
	pthread_mutex_unlock(&lock);
	sqlite3_finalize(begin);
	sqlite3_finalize(commit);
	for (int k = 0; k < 3; k++)
		sqlite3_finalize(add[k]);
	sqlite3_close(db);
	return NULL;
}

static void keep_bytes(int folder, int me, long i)
{
	char part[64], name[64];
	int fd;

	snprintf(part, sizeof part, "%d-%ld.part", me, i);
	snprintf(name, sizeof name, "%d-%ld", me, i);
	fd = openat(folder, part, O_CREAT | O_WRONLY, 0600);
	say(fd, letter, LETTER);
	if (fsync(fd) || close(fd) || renameat(folder, part, folder, name) || fsync(folder))
		fail("the disk");
}

static void *bare_main(void *arg)
{
	int folder = open(place, O_RDONLY | O_DIRECTORY);

	for (long i = 0; clock_us(CLOCK_MONOTONIC) < until; i++) {
		long mine;

		keep_bytes(folder, (int)(intptr_t)arg, i);
		pthread_mutex_lock(&lock);
		waiting++;
		mine = round_now + 1; /* the one that takes what waits now */
		pthread_cond_signal(&more);
		while (round_done < mine)
			pthread_cond_wait(&committed, &lock);
		pthread_mutex_unlock(&lock);
		letters++;
	}
	close(folder);
	return NULL;
}

int main(int argc, char **argv)
{
	bool bare = argc == 5 && strcmp(argv[1], "bare") == 0;
	pthread_t threads[CONNECTIONS_MAX], writer;
	int64_t began = clock_us(CLOCK_MONOTONIC);
	int count;

	if (!bare && (argc != 6 || strcmp(argv[1], "send") != 0))
		return fprintf(stderr,
			       "mail send SOCKET RECIPIENT CONNECTIONS SECONDS\nmail bare FOLDER CONNECTIONS SECONDS\n"),
		       2;
	place = argv[2];
	recipient = argv[3];
	count = atoi(argv[argc - 2]);
	until = began + 1000000LL * atoi(argv[argc - 1]);
	fill_letter();
	if (count < 1 || count > CONNECTIONS_MAX)
		fail("so many connections are not");
	if (bare && pthread_create(&writer, NULL, commit_main, NULL))
		fail("no thread");
	for (int i = 0; i < count; i++)
		if (pthread_create(
			    &threads[i], NULL, bare ? bare_main : send_main, (void *)(intptr_t)i))
			fail("no thread");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (bare) {
		pthread_mutex_lock(&lock);
		over = true;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&lock);
		pthread_join(writer, NULL);
	}
	printf("%lld %lld\n", (long long)letters, (long long)(clock_us(CLOCK_MONOTONIC) - began));
	return 0;
}
