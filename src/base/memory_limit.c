/* memory_limit.c - how much memory this process may have, as far as anybody says; see memory.h.
 *
 * The least of: the control group's limit and those of the groups around it,
 * the limit on address space, and the machine's own memory. */
#include "base/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE = PATH_MAX };
#define GROUPS "/sys/fs/cgroup"

static void lower_memory_limit(uint64_t *least, uint64_t limit)
{
	if (limit && (!*least || limit < *least))
		*least = limit;
}

/* A number in a file; 0 for "max", and where there is none. */
static uint64_t read_limit_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char text[32] = "";
	bool read = f && fgets(text, sizeof text, f);

	if (f)
		fclose(f);
	return read && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

/* The group of version 2 and all around it, up to the root. */
static void lower_by_groups(uint64_t *least, char *group)
{
	char path[sizeof GROUPS + LINE + sizeof "/memory.max"];
	char *slash;

	do {
		snprintf(
			path, sizeof path, GROUPS "%s/memory.max", strcmp(group, "/") ? group : "");
		lower_memory_limit(least, read_limit_file(path));
		slash = strrchr(group, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
}

static void lower_by_group(uint64_t *least)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[LINE];

	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) == 0)
			lower_by_groups(least, line + 3);
	}
	if (f)
		fclose(f);
	lower_memory_limit(
		least, read_limit_file(GROUPS "/memory/memory.limit_in_bytes")); /* version 1 */
}

uint64_t memory_limit(void)
{
	struct rlimit space;
	uint64_t least = 0;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (pages > 0 && page > 0)
		least = (uint64_t)pages * (uint64_t)page;
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		lower_memory_limit(&least, space.rlim_cur);
	lower_by_group(&least);
	return least;
}
