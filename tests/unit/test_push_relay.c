/* test_push_relay.c - a push over ssh whose client goes still: it does not read, or says nothing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "git/push_relay.h"
#include "git/push_trace.h"
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

struct entering {
	const char *path, *why;
	int64_t room;
	struct push_trace trace;
	struct arena *a;
	int entered;
};

static const char *enter(void *ctx, struct push *p, int64_t *ret_room)
{
	struct entering *e = ctx;

	e->entered++;
	push_trace_begin(&e->trace, p, e->path, e->a);
	*ret_room = e->room;
	return e->why;
}

/* A client that wants to hear nothing, or hears too much: what is done is seen by the refs. */
TEST(push_relay_is_entered_once_and_its_refs_tell_what_it_did)
{
	enum { WALL_MS = 60 * 1000, MUCH = 1 << 20 };
	static const struct {
		const char *why;
		int64_t room;
		int end;
	} rows[] = { { "somebody else is at it", MUCH, RELAY_REFUSED },
		{ NULL, -MUCH, RELAY_REFUSED }, { NULL, MUCH, RELAY_DONE } };
	char path[] = "/tmp/lodge-relay.XXXXXX", line[1024];

	CHECK(mkdtemp(path) != NULL);
	snprintf(line, sizeof line,
		"cd %s && git init -q --bare x.git && git init -q --bare w && cd w && "
		"export GIT_AUTHOR_NAME=j GIT_AUTHOR_EMAIL=j GIT_COMMITTER_NAME=j GIT_COMMITTER_EMAIL=j && "
		"head -c 200000 /dev/urandom >../r && b=$(git hash-object -w ../r) && "
		"t=$(printf '100644 blob %%s\tr\n' $b | git mktree) && c=$(git commit-tree -m one $t) && "
		"{ printf '006c%%040d %%s refs/heads/main\\0 quiet0000' 0 $c; echo $c | "
		"git pack-objects --revs --stdout -q; } >../body",
		path);
	CHECK_INT(system(line), 0); /* NOLINT: a fixed line */
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char repo[64], body[64];
		struct arena a = { 0 };
		struct entering e = { repo, rows[i].why, rows[i].room, .a = &a };
		struct push_gate gate = { enter, &e };
		struct git_setup setup = {
			.service = GIT_RECEIVE_PACK, .path = repo, .input_max = MUCH
		};
		const char *fault = NULL;
		struct push push;
		int from, to = open("/dev/null", O_WRONLY | O_CLOEXEC);

		test_step("%zu", i);
		snprintf(repo, sizeof repo, "%s/x.git", path);
		snprintf(body, sizeof body, "%s/body", path);
		from = open(body, O_RDONLY | O_CLOEXEC);
		CHECK(from >= 0 && to >= 0);
		CHECK_INT(
			push_relay(&setup, &gate, (int[]){ from, to }, WALL_MS, &push, &a, &fault),
			rows[i].end);
		CHECK_INT(e.entered, 1);
		CHECK(!fault == (rows[i].end == RELAY_DONE));
		push_trace_end(&e.trace, &push, &a);
		CHECK_INT(push.count, 1);
		CHECK(push.commands[0].done == (rows[i].end == RELAY_DONE));
		close(from);
		close(to);
		arena_free(&a);
	}
	snprintf(line, sizeof line,
		"test $(ls %s/x.git/objects/pack/*.pack | wc -l) = 1 && rm -r %s", path, path);
	CHECK_INT(system(line), 0); /* NOLINT: likewise */
}
