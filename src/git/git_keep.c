/* git_keep.c - see git_keep.h. */
#include "git/git_keep.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LOOSE_FEW = 50, NAME_MAX_LEN = 4096 };

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	return n >= len && strcmp(name + n - len, end) == 0;
}

/* How many files of a folder end so, and when the newest of them was made. */
static size_t count_files(const char *folder, const char *end, time_t *ret_newest)
{
	const struct dirent *e;
	DIR *d = opendir(folder);
	struct stat st;
	size_t n = 0;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.' && ends_with(e->d_name, end)) {
			n++;
			if (ret_newest && fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
				st.st_mtime > *ret_newest)
				*ret_newest = st.st_mtime;
		}
	if (d)
		closedir(d);
	return n;
}

static size_t count_loose(const char *path)
{
	char folder[NAME_MAX_LEN];
	size_t n = 0;

	for (int i = 0; i < 256 && n < LOOSE_FEW; i++) {
		snprintf(folder, sizeof folder, "%s/objects/%02x", path, (unsigned)i);
		n += count_files(folder, "", NULL);
	}
	return n;
}

bool git_keep_gains(const char *path)
{
	char name[NAME_MAX_LEN];
	time_t newest = 0;
	struct stat graph;
	size_t packs;

	snprintf(name, sizeof name, "%s/objects/pack", path);
	packs = count_files(name, ".pack", &newest);
	if (packs > 1 || count_loose(path) >= LOOSE_FEW)
		return true;
	snprintf(name, sizeof name, "%s/objects/info/commit-graph", path);
	return packs && (stat(name, &graph) || graph.st_mtime < newest);
}

static bool let_go(void *ctx, const char *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return true;
}

static enum git_end run(
	const struct git_keep *what, const char *const *words, struct git_result *ret)
{
	/* What it says is nothing to us, but whether anybody waits is asked of the same. */
	return git_run(&(struct git_run){ .setup = { .path = what->path,
						  .words = words,
						  .input_max = what->bytes_max,
						  .yields = true },
			       .in = -1,
			       .wall_ms = what->wall_ms ? what->wall_ms : GIT_KEEP_WALL_MS,
			       .stop = what->stop,
			       .take = let_go,
			       .wanted = what->wanted,
			       .ctx = what->ctx },
		ret);
}

enum git_end git_keep(const struct git_keep *what, struct git_result *ret)
{
	/* What no ref leads to stays packed while it is kept: each in a file of its own, differences would have all of their bytes. */
	const char *const gc[] = { "-c", "gc.cruftPacks=true", "-c",
		what->drops ? "gc.pruneExpire=now" : "gc.pruneExpire=2.weeks.ago", "-c",
		"gc.writeCommitGraph=false", "gc", "--quiet", NULL };
	static const char *const graph[] = { "commit-graph", "write", "--reachable",
		"--changed-paths", "--no-progress", NULL };
	enum git_end end = run(what, gc, ret);

	return end == GIT_ENDED ? run(what, graph, ret) : end;
}

enum git_end git_keep_check(const struct git_keep *what, bool all, struct git_result *ret)
{
	static const char *const links[] = { "fsck", "--connectivity-only", "--no-dangling",
		"--no-progress", NULL };
	static const char *const each[] = { "fsck", "--full", "--no-dangling", "--no-progress",
		NULL };

	return run(what, all ? each : links, ret);
}
