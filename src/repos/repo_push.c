/* repo_push.c - see repo_push.h. */
#include "repos/repo_push.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "repos/converge.h"

enum { META_MAX = 256 * 1024 }; /* twice what 64 kB of commands can come to */

bool repo_push_did(const struct push *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->commands[i].done)
			return true;
	return false;
}

/* What git has just written lies in a file of its own. */
static bool stands_at(const char *path, const struct push_command *one)
{
	char name[4096], id[GIT_ID_LEN];
	ssize_t n;
	int fd;

	if ((size_t)snprintf(name, sizeof name, "%s/%s", path, one->ref) >= sizeof name)
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	n = fd >= 0 ? read(fd, id, sizeof id) : -1;
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof id && memcmp(id, one->new_id, sizeof id) == 0;
}

void repo_push_look(struct push *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (!p->commands[i].refused)
			p->commands[i].done = stands_at(path, &p->commands[i]);
}

const char *repo_push_meta(struct arena *a, enum RepoPurpose purpose, const struct push *p)
{
	const char *comma = "";
	struct buf b;

	buf_init(&b, META_MAX);
	buf_printf(&b, "{\"repository\":\"%s\",\"refs\":[", RepoPurpose_words.list[purpose]);
	for (size_t i = 0; i < p->count; i++) {
		const struct push_command *one = &p->commands[i];

		if (!one->done)
			continue;
		buf_printf(&b, "%s{\"ref\":", comma);
		json_write_string(&b, one->ref, strlen(one->ref));
		buf_printf(&b, ",\"old\":\"%s\",\"new\":\"%s\"}", one->old_id, one->new_id);
		comma = ",";
	}
	buf_lit(&b, "]}");
	return arena_take(a, &b);
}

int64_t repo_room(const struct repos *r, const struct repository *row)
{
	int64_t most = repos_bytes_max(r);

	return row->size_bytes < most ? most - row->size_bytes : 0;
}

int repo_pushed(
	struct db *db, struct arena *a, const struct repository *row, int64_t size, int64_t now)
{
	struct repository seen = *row;
	int err;

	seen.size_bytes = size;
	seen.updated_at = now;
	err = repo_change(db, &seen);
	return err ? err : repo_converge_add(db, a, row, now);
}
