/* push_many.c - see push_many.h. */
#include "git/push_many.h"

#include <string.h>

#include "git/git_child.h"
#include "git/ref_files.h"

enum {
	PACK_FROM = 16, /* refs that a push has made */
	PACK_MS = 60 * 1000,
	PACKED_MAX = 64 * 1024 * 1024, /* bytes; more than as many refs as there may be */
};

static bool makes(const struct push_command *one)
{
	return strspn(one->old_id, "0") == GIT_ID_LEN;
}

static size_t count_made(const struct push *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += makes(&p->commands[i]);
	return n;
}

static int count_one(const char *name, void *ctx)
{
	size_t *n = ctx;

	(void)name;
	return ++*n > PUSH_REFS_MAX;
}

/* One that is packed and has moved since counts twice. */
static size_t count_refs(const char *path)
{
	size_t n = 0;

	ref_files_each(path, "refs/heads/", count_one, &n);
	ref_files_each(path, "refs/tags/", count_one, &n);
	return n;
}

static bool let_go(void *ctx, const char *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return true;
}

static void pack(const char *path)
{
	struct git_run run = {
		.setup = { .path = path,
			.input_max = PACKED_MAX,
			.words = (const char *const[]){ "pack-refs", "--all", NULL } },
		.in = -1,
		.wall_ms = PACK_MS,
		.take = let_go
	};
	struct git_result result;

	git_run(&run, &result); /* they stand as they are where it fails */
}

void push_many_judge(struct push *p, const char *path)
{
	size_t made = count_made(p);

	if (!made || p->refused || count_refs(path) + made <= PUSH_REFS_MAX)
		return;
	pack(path); /* then each is there once */
	if (count_refs(path) + made <= PUSH_REFS_MAX)
		return;
	for (size_t i = 0; i < p->count; i++)
		if (makes(&p->commands[i]))
			p->commands[i].refused = "the repository has as many refs as it may have";
	p->refused = true;
}

void push_many_pack(const struct push *p, const char *path)
{
	size_t done = 0;

	for (size_t i = 0; i < p->count; i++)
		done += p->commands[i].done && makes(&p->commands[i]);
	if (done >= PACK_FROM)
		pack(path);
}
