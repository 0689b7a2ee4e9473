/* test_push_relay.c - a push over ssh whose client goes still: it does not read, or says nothing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "git/push_relay.h"
#include "t.h"

/* Bytes into a pipe until it takes no more. */
static void fill(int fd)
{
	char bytes[4096] = { 0 };

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, bytes, sizeof bytes) > 0)
		;
	while (write(fd, bytes, 1) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

TEST(push_relay_ends_though_its_client_does_not)
{
	enum { WALL_MS = 400, LATE_MS = 20 * 1000 };
	char path[] = "/tmp/lodge-relay.XXXXXX", line[256];
	int from[2], to[2];

	CHECK(mkdtemp(path) != NULL);
	snprintf(line, sizeof line, "git init -q --bare %s", path);
	CHECK_INT(system(line), 0); /* NOLINT: a fixed line */
	for (int reads = 0; reads < 2; reads++) {
		struct git_setup setup = {
			.service = GIT_RECEIVE_PACK, .path = path, .input_max = 1 << 20
		};
		struct arena a = { 0 };
		struct push push;
		const char *fault = NULL;
		int64_t began = clock_mono_ms();

		test_step(reads ? "it says nothing" : "it does not read");
		CHECK(pipe(from) == 0 && pipe(to) == 0);
		if (!reads)
			fill(to[1]);
		CHECK_INT(push_relay(&setup, NULL, (int[]){ from[0], to[1] }, WALL_MS, &push, &a,
				  &fault),
			RELAY_BROKEN);
		CHECK(clock_mono_ms() - began < LATE_MS);
		CHECK(!(fcntl(to[1], F_GETFL) & O_NONBLOCK));
		CHECK_INT(push.count, 0);
		for (int i = 0; i < 2; i++) {
			close(from[i]);
			close(to[i]);
		}
		arena_free(&a);
	}
	snprintf(line, sizeof line, "rm -r %s", path);
	CHECK_INT(system(line), 0); /* NOLINT: likewise */
}
