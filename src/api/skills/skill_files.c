/* skill_files.c - skills as files: one file, SKILL.md, and whole folders in and out as archives.
 *
 * What comes in is unpacked, read and checked on the slow pool, all of it,
 * before the transaction that keeps it begins.  What goes out is always an
 * attachment, so that no browser shows a stranger's file as a page of ours. */
#include <string.h>

#include "call/operation.h"
#include "api/service.h"
#include "api/skills/skill_store.h"
#include "base/json.h"
#include "contract/encode.h"

struct skill_file_query {
	const char *path;
};

FIELDS(skill_file_query) = {
	FIELD(skill_file_query, path, .required = true, BOUNDS(1, SKILL_PATH_MAX),
		.example = "\"references/FORMS.md\"",
		.doc = "The path of the file below the folder of the skill."),
};
SCHEMA(skill_file_query, .doc = "Which file of a skill.");

struct skill_import_query {
	int visibility;
	bool replace;
};

FIELDS(skill_import_query) = {
	FIELD(skill_import_query, visibility, .nullable = true, .words = &SkillVisibility_words,
		.doc = "Of the skill that is made; private if not given. A file cannot say it "
		       "itself."),
	FIELD(skill_import_query, replace, .preset = "false",
		.doc = "True puts it in the place of the tenant's skill of that name, with all its "
		       "files; false refuses a name that is taken."),
};
SCHEMA(skill_import_query, .doc = "How to import a skill.");

/* Kept under the last part of its path. */
static void put_attachment_header(struct call *c, const char *path)
{
	const char *slash = strrchr(path, '/');

	call_attach(c, slash ? slash + 1 : path);
}

/* Text is shown, and everything else is only kept. */
QUERY_OPERATION(readSkillFile, skill_file_query, NONE, .long_read = true, .gives = "*/*")
{
	struct SkillRead skill;
	struct skill_file file;
	const void *bytes;
	size_t len;
	int err = skill_find(c, call_param(c, "skill_id"), &skill);

	if (!err)
		err = skill_file_one(c->db, c->arena, skill.tenant_id, skill.id, in->path, &file);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "The skill has no such file.");
	if (err)
		return err;
	bytes = skill_file_bytes(c->arena, &file, &len);
	c->x->reply.type = utf8_valid(bytes, len) && !memchr(bytes, '\0', len)
				   ? "text/plain; charset=utf-8"
				   : "application/octet-stream";
	buf_put(&c->x->reply.body, bytes, len);
	put_attachment_header(c, file.path);
	return 0;
}

OPERATION(readSkillMd, NONE, NONE, .long_read = true, .gives = "text/markdown")
{
	struct SkillRead skill;
	int err = skill_find(c, call_param(c, "skill_id"), &skill);

	if (err)
		return err;
	c->x->reply.type = "text/markdown; charset=utf-8";
	skill_md_write(&c->x->reply.body, c->arena, &skill);
	put_attachment_header(c, SKILL_MD);
	return 0;
}

OPERATION(exportSkill, NONE, NONE, .gives = "application/zip")
{
	struct SkillRead skill;
	struct list files;
	int err = skill_find(c, call_param(c, "skill_id"), &skill);

	if (!err)
		err = skill_files_all(c->db, c->arena, skill.tenant_id, skill.id, &files);
	if (err)
		return err;
	skill_bundle_zip(&c->x->reply.body, c->arena, &skill, &files);
	put_attachment_header(c, arena_printf(c->arena, "%s.zip", skill.slug));
	return 0;
}

static const char *const import_types[] = { "text/markdown", "application/zip", NULL };

static int unpack_skill(struct call *c)
{
	struct skill_bundle *b = c->own = arena_new(c->arena, struct skill_bundle);
	struct helper_file md = { SKILL_MD, c->raw, c->raw_len };
	struct helper *h = helper_for(service_of(c->app)->helper, c->arena, c->caller.tenant_id);

	if (c->raw_type == import_types[0])
		return skill_bundle_read(c->arena, c->app->patterns, h, &md, 1, b, &c->problem);
	return skill_bundle_unpack(
		c->arena, c->app->patterns, h, c->raw, c->raw_len, b, &c->problem);
}

QUERY_OPERATION(importSkill, skill_import_query, SkillRead, .may_stand = true, .unpacks = true,
	.takes = import_types, .prepare = unpack_skill)
{
	const struct skill_bundle *b = c->own;
	struct skill_keeping how = { .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.visibility = in->visibility,
		.replace = in->replace };
	struct skill_row row;
	int err = skill_taken(&c->problem, c->arena,
		skill_keep(c->db, c->arena, b, &how, c->now, &row, &c->standing), b->head.slug);

	if (err)
		return err;
	schema_copy(&skill_row_schema, &row, &SkillRead_schema, out);
	skill_told(c, &row);
	c->audit.meta = arena_printf(c->arena, "{\"slug\":\"%s\",\"files\":%zu,\"replaced\":%s}",
		row.slug, row.files.count, c->standing ? "true" : "false");
	c->location = arena_printf(c->arena, "/tenant/%s/skills/%s", row.tenant_id, row.id);
	return 0;
}

/* ---- one file ---- */

/* Two paths of which one is, or lies in, the other. */
static bool paths_clash(const char *a, const char *b)
{
	size_t an = strlen(a), bn = strlen(b), n = an < bn ? an : bn;

	return an != bn && strncmp(a, b, n) == 0 && (an < bn ? b[n] : a[n]) == '/';
}

/* The list without the path, and with the file (if given) where it belongs. */
static struct list files_with(
	struct arena *a, const struct list *files, const char *path, const struct skill_file *f)
{
	const struct SkillFile *old = files->at;
	struct SkillFile *out = arena_array(a, struct SkillFile, files->count + 2);
	struct list list = { out, 0 };
	bool placed = !f;

	for (size_t i = 0; i <= files->count; i++) {
		int order = i < files->count ? strcmp(old[i].path, path) : 1;

		if (!placed && order > 0) {
			out[list.count++] = (struct SkillFile){ f->path, f->size_bytes, f->sha256 };
			placed = true;
		}
		if (i < files->count && order)
			out[list.count++] = old[i];
	}
	return list;
}

static int check_skill_files(struct call *c, const struct list *files, const char *path)
{
	const struct SkillFile *f = files->at;
	int64_t total = 0;

	for (size_t i = 0; i < files->count; i++) {
		total += f[i].size_bytes;
		if (paths_clash(f[i].path, path))
			call_field(c, "path", "path", "is in the way of the file %s", f[i].path);
	}
	if (files->count > SKILL_FILES_MAX)
		call_field(c, "path", "too_many", "would be more than %d files of the skill",
			SKILL_FILES_MAX);
	if (total > SKILL_FILES_BYTES)
		call_field(c, "path", "too_large",
			"would make the files of the skill larger than %d bytes together",
			SKILL_FILES_BYTES);
	return c->problem.err;
}

/* For the audit log: the file that was put there, or taken away. */
static void note_skill_file(struct call *c, const struct SkillFile *f)
{
	struct buf b;

	buf_init(&b, 8 * SKILL_PATH_MAX);
	encode_object(&b, &SkillFile_schema, f);
	c->audit.meta = arena_take(c->arena, &b);
}

static const struct SkillFile *file_at(const struct list *files, const char *path)
{
	const struct SkillFile *f = files->at;

	for (size_t i = 0; i < files->count; i++)
		if (strcmp(f[i].path, path) == 0)
			return &f[i];
	return NULL;
}

static const char *const file_types[] = { "application/octet-stream", "text/plain", NULL };

QUERY_STEP(putSkillFile, prepare, skill_file_query)
{
	struct skill_file *f = c->own = arena_new(c->arena, struct skill_file);

	*f = skill_file_make(c->arena, in->path, c->raw, c->raw_len);
	return skill_path_check(&c->problem, c->arena, "path", in->path);
}

QUERY_OPERATION(putSkillFile, skill_file_query, SkillFile, .may_stand = true, .takes = file_types,
	.prepare = putSkillFile_prepare)
{
	const struct skill_file *f = c->own;
	struct skill_row row;
	size_t before;
	int err = skill_own(c, call_param(c, "skill_id"), &row);

	if (err)
		return err;
	before = row.files.count;
	row.files = files_with(c->arena, &row.files, f->path, f);
	c->standing = row.files.count == before;
	err = check_skill_files(c, &row.files, f->path);
	if (!err)
		err = skill_file_put(c->db, &row, f);
	if (!err)
		err = skill_update(c->db, c->arena, &row, c->now);
	*out = (struct SkillFile){ f->path, f->size_bytes, f->sha256 };
	note_skill_file(c, out);
	return err;
}

QUERY_OPERATION(deleteSkillFile, skill_file_query, NONE)
{
	const struct SkillFile *file;
	struct skill_row row;
	int err = skill_own(c, call_param(c, "skill_id"), &row);

	if (err)
		return err;
	file = file_at(&row.files, in->path);
	if (!file)
		return call_fail(c, ERR_NOT_FOUND, "The skill has no such file.");
	note_skill_file(c, file);
	row.files = files_with(c->arena, &row.files, in->path, NULL);
	err = skill_file_remove(c->db, row.tenant_id, row.id, in->path);
	return err ? err : skill_update(c->db, c->arena, &row, c->now);
}

#define SKILLS "/tenant/{tenant_id}/skills"

static const struct route routes[] = {
	{ METHOD_POST, SKILLS "/import", &importSkill, PERM_SKILLS_WRITE, 201, "skill.import",
		.tag = "Skills",
		.doc = "Import a skill in the Agent Skills format: one SKILL.md, or an archive of its "
		       "folder." },
	{ METHOD_GET, SKILLS "/{skill_id}/export", &exportSkill, PERM_TENANT_READ, 200,
		.tag = "Skills",
		.doc = "The skill as an archive of its folder, in the Agent Skills format." },
	{ METHOD_GET, SKILLS "/{skill_id}/SKILL.md", &readSkillMd, PERM_TENANT_READ, 200,
		.tag = "Skills", .doc = "The skill's SKILL.md." },
	{ METHOD_GET, SKILLS "/{skill_id}/file", &readSkillFile, PERM_TENANT_READ, 200,
		.tag = "Skills", .doc = "One file of the skill, as an attachment." },
	{ METHOD_PUT, SKILLS "/{skill_id}/file", &putSkillFile, PERM_SKILLS_WRITE, 201,
		"skill.put_file", .tag = "Skills", .max_body = SKILL_FILE_MAX,
		.doc = "Put a file into the skill, or in the place of the one with that path." },
	{ METHOD_DELETE, SKILLS "/{skill_id}/file", &deleteSkillFile, PERM_SKILLS_WRITE, 204,
		"skill.delete_file", .tag = "Skills", .doc = "Remove a file of the skill." },
};
RESOURCE(skill_files, routes, NULL);
