/* skill_bundle.c - see skill_bundle.h. */
#include "api/skills/skill_bundle.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "base/zip.h"

enum {
	MD_MAX = CEILING_PROMPT + 256 * 1024, /* instructions and head */
	ZIP_ENTRIES_MAX = 2 * SKILL_FILES_MAX + 112,
	ZIP_RATIO = 200,
};

static const struct helper_limits limits = {
	.packed = 64 << 20,
	.path = ZIP_NAME_MAX,
	.entries = ZIP_ENTRIES_MAX,
	.one = MD_MAX,
	.all = MD_MAX + SKILL_FILES_BYTES,
	.ratio = ZIP_RATIO,
	.ratio_from = 64 * 1024,
};

/* ---- files ---- */

int skill_path_check(struct problem *p, struct arena *a, const char *field, const char *path)
{
	if (strlen(path) > SKILL_PATH_MAX)
		return problem_field(
			p, a, field, "too_long", "must have at most %d bytes", SKILL_PATH_MAX);
	if (!zip_name_valid(path, strlen(path)))
		return problem_field(p, a, field, "path",
			"must be a path below the skill's folder, such as scripts/run.py");
	if (strcasecmp(path, SKILL_MD) == 0)
		return problem_field(p, a, field, "path",
			"must not be " SKILL_MD ", which is made from the skill itself");
	return 0;
}

struct skill_file skill_file_make(struct arena *a, const char *path, const void *bytes, size_t len)
{
	size_t room = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
	char *content = arena_raw(a, room, 1), *hex = arena_raw(a, 2 * SHA256_LEN + 1, 1);
	uint8_t digest[SHA256_LEN];

	sodium_bin2base64(content, room, bytes, len, sodium_base64_VARIANT_ORIGINAL);
	sha256(bytes, len, digest);
	hex_write(digest, sizeof digest, hex);
	return (struct skill_file){ path, (int64_t)len, hex, content };
}

const void *skill_file_bytes(struct arena *a, const struct skill_file *f, size_t *ret_len)
{
	size_t room = (size_t)f->size_bytes;
	unsigned char *bytes = arena_raw(a, room + 1, 1);

	if (sodium_base642bin(bytes, room, f->content, strlen(f->content), NULL, ret_len, NULL,
		    sodium_base64_VARIANT_ORIGINAL))
		*ret_len = 0;
	return bytes;
}

struct list skill_files_shown(struct arena *a, const struct list *files)
{
	struct SkillFile *out = arena_array(a, struct SkillFile, files->count + 1);
	const struct skill_file *in = files->at;

	for (size_t i = 0; i < files->count; i++)
		out[i] = (struct SkillFile){ in[i].path, in[i].size_bytes, in[i].sha256 };
	return (struct list){ out, files->count };
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct skill_file *)a)->path, ((const struct skill_file *)b)->path);
}

static int read_files(struct arena *a, const struct helper_file *entries, size_t count,
	struct list *ret, struct problem *p)
{
	struct skill_file *files = arena_array(a, struct skill_file, count + 1);
	size_t n = 0, total = 0;

	for (size_t i = 0; i < count; i++) {
		const struct helper_file *e = &entries[i];

		if (strcmp(e->name, SKILL_MD) == 0)
			continue;
		total += e->len;
		if (e->len > SKILL_FILE_MAX)
			problem_field(p, a, e->name, "too_large", "is a file of more than %d bytes",
				SKILL_FILE_MAX);
		else if (!skill_path_check(p, a, e->name, e->name) && n < SKILL_FILES_MAX)
			files[n] = skill_file_make(a, e->name, e->bytes, e->len);
		n++;
	}
	if (n > SKILL_FILES_MAX)
		problem_field(p, a, "files", "too_many",
			"must be at most %d files beside " SKILL_MD, SKILL_FILES_MAX);
	if (total > SKILL_FILES_BYTES)
		problem_field(p, a, "files", "too_large", "must have at most %d bytes together",
			SKILL_FILES_BYTES);
	if (p->err)
		return p->err;
	qsort(files, n, sizeof *files, by_path);
	*ret = (struct list){ files, n };
	return 0;
}

int skill_bundle_read(struct arena *a, const struct patterns *patterns, struct helper *h,
	const struct helper_file *entries, size_t count, struct skill_bundle *ret,
	struct problem *p)
{
	const struct helper_file *md = NULL;

	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i].name, SKILL_MD) == 0)
			md = &entries[i];
	if (!md)
		return problem_field(p, a, SKILL_MD, "required",
			"is not there: it must lie at the top, or in the one top folder");
	skill_md_read(a, patterns, h, md->bytes, md->len, &ret->head, p);
	if (p->err && p->err != ERR_INVALID)
		return p->err;
	read_files(a, entries, count, &ret->files, p);
	return p->err;
}

/* ---- archives ---- */

/* What some systems put into every archive and nobody means. */
static bool is_archive_litter(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

	return strncmp(name, "__MACOSX/", 9) == 0 || strcmp(base, ".DS_Store") == 0;
}

/* The length of the one folder that all entries lie in, with its slash; 0 if there is none such. */
static size_t top_folder(const struct helper_files *z)
{
	const char *slash = z->count ? strchr(z->at[0].name, '/') : NULL;
	size_t n = slash ? (size_t)(slash - z->at[0].name) + 1 : 0;

	for (size_t i = 0; n && i < z->count; i++) {
		if (strcmp(z->at[i].name, SKILL_MD) == 0 ||
			strncmp(z->at[i].name, z->at[0].name, n) != 0)
			return 0;
	}
	return n;
}

int skill_bundle_unpack(struct arena *a, const struct patterns *patterns, struct helper *h,
	const void *bytes, size_t len, struct skill_bundle *ret, struct problem *p)
{
	struct helper_files z;
	size_t kept = 0, top;
	int err = helper_unpack(h, a, bytes, len, &limits, &z);

	if (err == ERR_INVALID)
		return problem_field(p, a, "archive", "archive", "%s", z.fault);
	if (err)
		return problem_set(p, a, err, "%s", z.fault);
	for (size_t i = 0; i < z.count; i++)
		if (!is_archive_litter(z.at[i].name))
			z.at[kept++] = z.at[i];
	z.count = kept;
	top = top_folder(&z);
	for (size_t i = 0; i < z.count; i++)
		z.at[i].name += top;
	return skill_bundle_read(a, patterns, h, z.at, z.count, ret, p);
}

void skill_bundle_zip(
	struct buf *out, struct arena *a, const struct SkillRead *skill, const struct list *files)
{
	const struct skill_file *f = files->at;
	struct zip_writer w;
	struct buf md;

	buf_init(&md, MD_MAX);
	skill_md_write(&md, a, skill);
	zip_begin(&w, out);
	zip_add(&w, arena_printf(a, "%s/" SKILL_MD, skill->slug), false, md.at, md.len);
	for (size_t i = 0; i < files->count; i++) {
		size_t len;
		const void *bytes = skill_file_bytes(a, &f[i], &len);

		zip_add(&w, arena_printf(a, "%s/%s", skill->slug, f[i].path),
			strncmp(f[i].path, "scripts/", 8) == 0, bytes, len);
	}
	zip_end(&w);
	out->overflow |= md.overflow;
	buf_free(&md);
}
