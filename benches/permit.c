/* permit.c - what a permission decision costs: permit STORE READS ROUNDS.
 * For each line "PATH TOKEN" of READS: who is the key's user, and may they read the agent?  Once in the
 * way a request asks, with what is proven fresh remembered, and once with nothing remembered.
 * Prints microseconds a decision for both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/caller.h"
#include "base/clock.h"
#include "base/crypto.h"

enum { LINES = 10000 };

struct line {
	char agent[32], token[80];
};

static size_t read_lines(const char *path, struct line *lines)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;

	while (f && n < LINES &&
		fscanf(f, "/agents/%31s %79s\n", lines[n].agent, lines[n].token) == 2)
		n++;
	if (f)
		fclose(f);
	return n;
}

static double measure(
	struct db *db, enum transaction mode, const struct line *lines, size_t count, int rounds)
{
	int64_t began = clock_mono_us(), now = clock_now_us();
	struct arena a = { 0 };

	for (int r = 0; r < rounds; r++) {
		if (db_begin(db, mode))
			exit(1);
		for (size_t i = 0; i < count; i++) {
			struct credential credential;
			struct caller caller;
			struct problem p = { 0 };
			struct place place = { .agent_id = lines[i].agent };
			char header[100];

			snprintf(header, sizeof header, "Bearer %s", lines[i].token);
			credential = credential_read(header, NULL);
			if (caller_load(&caller, db, &a, &credential, now, INT64_MAX / 2, &p) ||
				caller_permit(
					&caller, db, &a, PERM_AGENT_READ, &place, false, &p)) {
				fprintf(stderr, "refused: %s\n", p.detail);
				exit(1);
			}
			arena_reset(&a);
		}
		db_rollback(db);
	}
	arena_free(&a);
	return (double)(clock_mono_us() - began) / ((double)count * rounds);
}

int main(int argc, char **argv)
{
	static struct line lines[LINES];
	struct store_settings settings = { .workers = 1, .queue_max = 1 };
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct store *store;
	struct db *db;
	size_t count = argc == 4 ? read_lines(argv[2], lines) : 0;

	if (!count || !crypto_init())
		return fprintf(stderr, "permit STORE READS ROUNDS\n"), 2;
	settings.where = argv[1];
	if (store_open(&store, &settings, STORE_BESIDE, &a, &p) ||
		store_connect(store, &db, &a, &p))
		return fprintf(stderr, "%s\n", p.detail), 1;
	measure(db, READ_ONLY, lines, count, 1);
	printf("%.3f %.3f\n", measure(db, READ_ONLY, lines, count, atoi(argv[3])),
		measure(db, READ_WRITE, lines, count, atoi(argv[3])));
	db_close(db);
	store_close(store);
	arena_free(&a);
	return 0;
}
