/* skill_folder.h - a skill's folder on this machine, in and out.  Links are never followed. */
#pragma once
#include "api/skills/skill_bundle.h"

/* Every file below the folder, SKILL.md among them, within what a skill may hold. */
int skill_folder_read(struct arena *a, const char *folder, struct helper_file **ret,
	size_t *ret_count, struct problem *p);
/* Makes <folder>/<slug>, which must not be there, with SKILL.md and the files (struct skill_file). */
int skill_folder_write(struct arena *a, const char *folder, const struct SkillRead *skill,
	const struct list *files, struct problem *p);
