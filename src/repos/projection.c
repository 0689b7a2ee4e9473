/* projection.c - the three-way rule; see projection.h.
 *
 *	file		live and base		present	diverged  pending  settles
 *	unreadable				yes
 *	absent								(never clears)
 *	the same as the live text		yes			   yes
 *	another		no base, or live = base	yes		  yes
 *	another		live is not the base	yes	yes */
#include "repos/projection.h"

#include <string.h>

struct prompt_verdict projection_judge(const struct prompt_sides *sides)
{
	struct prompt_verdict v = { .present = sides->file.side != PROMPT_ABSENT };
	char live[65], file[65];

	if (sides->file.side != PROMPT_READ)
		return v;
	prompt_digest(sides->live, live);
	prompt_digest(sides->file.text, file);
	v.settles = strcmp(live, file) == 0;
	v.pending = !v.settles && (!*sides->base || strcmp(live, sides->base) == 0);
	v.diverged = !v.settles && !v.pending;
	return v;
}

int projection_read(struct bare *b, const char *commit, int file, struct prompt_reading *ret,
	struct arena *a, struct problem *p)
{
	struct problem too_large = { 0 };
	struct bare_entry e;
	const char *bytes;
	size_t len;
	int err = bare_entry(b, commit, prompt_files[file].path, &e, a, p);

	*ret = (struct prompt_reading){ .side = PROMPT_ABSENT };
	if (err == ERR_NOT_FOUND || (!err && e.kind > BARE_PROGRAM))
		return 0;
	if (!err)
		err = bare_bytes(b, e.id, PROMPT_FILE_MAX, a, &bytes, &len, &too_large);
	if (err == ERR_UPSTREAM)
		return problem_set(
			p, a, err, "%s", too_large.detail ? too_large.detail : p->detail);
	if (err && err != ERR_TOO_LARGE)
		return err;
	ret->text = err ? NULL : prompt_file_text(a, bytes, len);
	ret->side = ret->text ? PROMPT_READ : PROMPT_UNREADABLE;
	return 0;
}
