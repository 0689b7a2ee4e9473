/* format_skills.c - folders with a SKILL.md, as many as lie in an archive, perhaps beside an agent; and the names of what belongs
 * to neither. */
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

/* The files of one folder, without those of another skill that lies in it. */
static void take_folder(
	struct bundle_reading *r, size_t md, int len, const struct bundle_file *agent)
{
	struct bundle_skill *s;

	if (r->out->skills.count == BUNDLE_SKILLS_MAX) {
		bundle_warn(r, "The skill in %s stays behind: an import takes %d.",
			r->files[md].name, BUNDLE_SKILLS_MAX);
		return;
	}
	s = BUNDLE_ADD(r->a, &r->out->skills, struct bundle_skill);
	s->folder = len ? arena_strndup(r->a, r->files[md].name, (size_t)len - 1) : SKILL_FILE;
	s->is_enabled = true;
	s->files = arena_array(r->a, struct bundle_file, r->count);
	for (size_t i = 0; i < r->count; i++) {
		const char *name = r->files[i].name;
		bool others = false;

		if (strncmp(name, r->files[md].name, (size_t)len) != 0)
			continue;
		for (size_t k = 0; !others && k < r->count; k++) {
			int inner = folder_of_skill(r->files[k].name);

			others = inner > len && strncmp(name, r->files[k].name, (size_t)inner) == 0;
		}
		if (!others && !(len == 0 && &r->files[i] == agent)) {
			s->files[s->count] = r->files[i];
			s->files[s->count++].name += len;
		}
	}
}

/* Does it lie in the folder of a skill? */
static bool is_skills(const struct bundle_reading *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++) {
		int len = folder_of_skill(r->files[i].name);

		if (len >= 0 && strncmp(name, r->files[i].name, (size_t)len) == 0)
			return true;
	}
	return false;
}

static void tell_unread(struct bundle_reading *r, const struct bundle_file *agent)
{
	const char *names = "";
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (&r->files[i] == agent || is_skills(r, r->files[i].name))
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
	for (size_t i = 0; i < r->count; i++) {
		int len = folder_of_skill(r->files[i].name);

		if (len >= 0)
			take_folder(r, i, len, agent);
	}
	tell_unread(r, agent);
}
