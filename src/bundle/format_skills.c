/* format_skills.c - folders with a SKILL.md, as many as lie in an archive, perhaps beside an agent; and the names of what belongs
 * to neither. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8_cut.h"
#include "bundle/format_parts.h"

#define SKILL_FILE "SKILL.md"

enum { NAMES_SHOWN = 20, NAME_SHOWN = 100 };

/* "skills/x/" of "skills/x/SKILL.md"; its length, or -1 for a file that is none. */
static int folder_of_skill(const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t at = slash ? (size_t)(slash - name) + 1 : 0;

	return strcmp(name + at, SKILL_FILE) == 0 ? (int)at : -1;
}

bool skills_in(const struct bundle_reading *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (folder_of_skill(r->files[i].name) >= 0)
			return true;
	return false;
}

bool skills_at_top(const struct bundle_reading *r)
{
	return bundle_find(r, SKILL_FILE);
}

/* A skill's folder: the length of its name, with the slash, and its SKILL.md. */
struct skill_place {
	const char *name;
	int len;
	size_t md;
};

static int by_place(const void *a, const void *b)
{
	const struct skill_place *x = a, *y = b;
	int order = memcmp(x->name, y->name, (size_t)(x->len < y->len ? x->len : y->len));

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* For each file the SKILL.md of the innermost folder that has one and holds it; r->count: none. */
static const size_t *skill_owners(struct bundle_reading *r)
{
	struct skill_place *place = arena_array(r->a, struct skill_place, r->count + 1);
	size_t *owner = arena_array(r->a, size_t, r->count + 1), count = 0;

	for (size_t i = 0; i < r->count; i++) {
		int len = folder_of_skill(r->files[i].name);

		if (len >= 0)
			place[count++] = (struct skill_place){ r->files[i].name, len, i };
	}
	qsort(place, count, sizeof *place, by_place);
	for (size_t i = 0; i < r->count; i++) {
		struct skill_place at = { r->files[i].name, (int)strlen(r->files[i].name), 0 };
		const struct skill_place *found = NULL;

		while (!found && at.len > 0) {
			do
				at.len--;
			while (at.len && at.name[at.len - 1] != '/');
			found = bsearch(&at, place, count, sizeof *place, by_place);
		}
		owner[i] = found ? found->md : r->count;
	}
	return owner;
}

/* The files of one folder, without those of another skill that lies in it, and without the agent's own. */
static void take_folder(
	struct bundle_reading *r, size_t md, const size_t *owner, const struct bundle_file *agent)
{
	int len = folder_of_skill(r->files[md].name);
	struct bundle_skill *s;
	size_t count = 0;

	if (r->out->skills.count == BUNDLE_SKILLS_MAX) {
		bundle_warn(r, "The skill in %s stays behind: an import takes %d.",
			r->files[md].name, BUNDLE_SKILLS_MAX);
		return;
	}
	for (size_t i = 0; i < r->count; i++)
		count += owner[i] == md;
	s = BUNDLE_ADD(r->a, &r->out->skills, struct bundle_skill);
	s->folder = len ? arena_strndup(r->a, r->files[md].name, (size_t)len - 1) : SKILL_FILE;
	s->is_enabled = true;
	s->files = arena_array(r->a, struct bundle_file, count + 1);
	for (size_t i = 0; i < r->count; i++)
		if (owner[i] == md && !(len == 0 && &r->files[i] == agent)) {
			s->files[s->count] = r->files[i];
			s->files[s->count++].name += len;
		}
}

static void tell_unread(
	struct bundle_reading *r, const size_t *owner, const struct bundle_file *agent)
{
	const char *names = "";
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (&r->files[i] == agent || owner[i] < r->count)
			continue;
		if (count++ < NAMES_SHOWN)
			names = arena_printf(r->a, "%s%s%.*s", names, *names ? ", " : "",
				UTF8_SHOWN(NAME_SHOWN, r->files[i].name));
	}
	if (count > NAMES_SHOWN)
		names = arena_printf(r->a, "%s and %zu more", names, count - NAMES_SHOWN);
	if (count)
		bundle_warn(r,
			"Not read: %s. An import makes one agent, of a file at the top of the archive or of Markdown, and skills of folders with SKILL.md.",
			names);
}

void skills_take(struct bundle_reading *r, const struct bundle_file *agent)
{
	const size_t *owner = skill_owners(r);

	for (size_t i = 0; i < r->count; i++)
		if (folder_of_skill(r->files[i].name) >= 0)
			take_folder(r, i, owner, agent);
	tell_unread(r, owner, agent);
}
