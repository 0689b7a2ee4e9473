/* repo_push.c - see repo_push.h. */
#include "repos/repo_push.h"

#include <string.h>

#include "base/json.h"
#include "repos/converge.h"
#include "repos/repo_lock.h"

enum { META_MAX = 256 * 1024 }; /* twice what 64 kB of commands can come to */

bool repo_push_did(const struct push *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->commands[i].done)
			return true;
	return false;
}

enum { KEEPER_ENDS_MS = 3000 };

int repo_push_begin(struct repo_pushing *w, const struct repos *r, const char *id,
	const struct push *p, struct arena *a)
{
	/* What a keeper writes would look as if the push had brought it. */
	bool alone = repo_push_is_alone(r, a, id, KEEPER_ENDS_MS);
	int64_t most = repos_bytes_max(r), size;

	push_trace_begin(&w->trace, p, repo_path(r, a, id), a);
	w->trace.known = w->trace.known && alone;
	size = repo_size(r, a, id);
	w->room = size < most ? most - size : 0;
	return w->room ? 0 : ERR_NO_SPACE;
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
	return err ? err : repo_look_add(db, a, row, now);
}
