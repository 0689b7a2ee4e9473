/* skill_bundle.h - a skill as a folder in the Agent Skills format: SKILL.md and its files.
 *
 * From and to memory only: no store, no request, no file system.  Archives and
 * heads are read by the helper's process.  What is
 * wrong with a bundle is listed in the problem, with the line of SKILL.md
 * where it has one, before anything is kept. */
#pragma once
#include "api/skills/skills.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "contract/pattern.h"
#include "helper/helper.h"

#define SKILL_MD "SKILL.md"
/* Key of the metadata under which SKILL.md carries the name for people; such keys are ours alone. */
#define SKILL_RESERVED "lodge-"
#define SKILL_NAME_KEY SKILL_RESERVED "name"

/* A file as it is kept. */
struct skill_file {
	const char *path;
	int64_t size_bytes;
	const char *sha256, *content; /* content: base64 */
};

struct skill_bundle {
	struct SkillCreate head;
	struct list files; /* of struct skill_file, by path */
};

/* What the tables cannot say: the description is not blank, the metadata holds texts under keys that are
 * not reserved, the tools are words. */
int skill_check(struct problem *p, struct arena *a, const char *description,
	const struct json *metadata, const struct list *tools);
/* The path of a file inside a skill: the field to blame and a sentence if it is none. */
int skill_path_check(struct problem *p, struct arena *a, const char *field, const char *path);
/* Digest and base64. */
struct skill_file skill_file_make(struct arena *a, const char *path, const void *bytes, size_t len);
/* The bytes again. */
const void *skill_file_bytes(struct arena *a, const struct skill_file *f, size_t *ret_len);
/* Path, size and digest of each: a list of struct SkillFile. */
struct list skill_files_shown(struct arena *a, const struct list *files);

/* One SKILL.md.  These block while the helper reads. */
int skill_md_read(struct arena *a, const struct patterns *patterns, struct helper *h,
	const char *text, size_t len, struct SkillCreate *ret, struct problem *p);
/* From the entries of a folder, SKILL.md among them. */
int skill_bundle_read(struct arena *a, const struct patterns *patterns, struct helper *h,
	const struct helper_file *entries, size_t count, struct skill_bundle *ret,
	struct problem *p);
/* From an archive with SKILL.md at its top or in its one top folder. */
int skill_bundle_unpack(struct arena *a, const struct patterns *patterns, struct helper *h,
	const void *bytes, size_t len, struct skill_bundle *ret, struct problem *p);

void skill_md_write(struct buf *out, struct arena *a, const struct SkillRead *skill);
/* An archive with one folder, named like the skill. */
void skill_bundle_zip(
	struct buf *out, struct arena *a, const struct SkillRead *skill, const struct list *files);
