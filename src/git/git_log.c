/* git_log.c - see git_log.h. */
#include "git/git_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "git/bare_parts.h"
#include "git/git_child.h"

enum {
	SAID_MAX = 4 << 20, /* bytes of all that it says */
	LOG_WALL_MS = 5000,
	TITLE_BYTES = 500,
	NAME_BYTES = 200,
	PARTS = 5, /* of a commit, each with a NUL after it */
};

bool git_log_fits(const char *repository, struct arena *a)
{
	return access(arena_printf(a, "%s/objects/info/commit-graph", repository), F_OK) == 0 ||
	       access(arena_printf(
			      a, "%s/objects/info/commit-graphs/commit-graph-chain", repository),
		       F_OK) == 0;
}

static bool hear(void *ctx, const char *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return !((struct buf *)ctx)->overflow;
}

/* "1700000000 -0130" */
static void read_time(const char *text, struct bare_change *ret)
{
	char *zone = NULL;
	long offset;

	ret->at = strtoll(text, &zone, 10);
	offset = strtol(zone, NULL, 10);
	ret->offset_min = (int)(offset / 100 * 60 + offset % 100);
}

static bool next_part(const char **at, const char *end, const char **ret)
{
	const char *stop = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;

	*ret = *at;
	*at = stop ? stop + 1 : *at;
	return stop;
}

static bool read_change(const char **at, const char *end, struct arena *a, struct bare_change *ret)
{
	const char *part[PARTS];

	for (int i = 0; i < PARTS; i++)
		if (!next_part(at, end, &part[i]))
			return false;
	if (strlen(part[0]) != BARE_ID_LEN)
		return false;
	memcpy(ret->id, part[0], BARE_ID_LEN + 1);
	read_time(part[1], ret);
	ret->author_name = bare_text(a, part[2], NAME_BYTES);
	ret->author_email = bare_text(a, part[3], NAME_BYTES);
	ret->title = bare_text(a, part[4], TITLE_BYTES);
	return true;
}

bool git_log_history(const char *repository, const char *from, const char *path, size_t most,
	struct arena *a, struct list *ret)
{
	const char *const words[] = { "log", "-z", "--no-color", "--no-show-signature",
		"--encoding=UTF-8", "--date=raw", arena_printf(a, "--max-count=%zu", most),
		"--format=tformat:%H%x00%cd%x00%an%x00%ae%x00%s", from, "--", path, NULL };
	struct bare_change *changes = arena_array(a, struct bare_change, most + 1);
	struct git_result result;
	struct buf said;
	struct git_run run = { .setup = { .path = repository, .words = words, .input_max = 1 },
		.in = -1,
		.wall_ms = LOG_WALL_MS,
		.take = hear,
		.ctx = &said };
	const char *at;
	size_t count = 0;
	bool whole;

	buf_init(&said, SAID_MAX);
	whole = git_run(&run, &result) == GIT_ENDED;
	at = said.at;
	while (whole && at < said.at + said.len && count < most) {
		whole = read_change(&at, said.at + said.len, a, &changes[count]);
		count += whole;
	}
	buf_free(&said);
	*ret = (struct list){ changes, count };
	return whole;
}
