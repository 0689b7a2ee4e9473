/* format_lodge.c - reading a bundle of ours: lodge-agent.json and the files that it lists.
 *
 * It may come from anybody: every file must be listed with its size and its
 * digest, every listed one be there, and every line be what the tables say. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "bundle/format_parts.h"
#include "bundle/manifest.h"
#include "contract/decode.h"

bool lodge_sniff(const struct bundle_reading *r)
{
	return r->archive && bundle_find(r, MANIFEST);
}

static int refuse_file(struct bundle_reading *r, const char *name, const char *why)
{
	return problem_field(r->p, r->a, name, "bundle", "%s", why);
}

/* The file, which the manifest names for something. */
static const struct bundle_file *file_of(struct bundle_reading *r, const char *name)
{
	const struct bundle_file *f = bundle_find(r, name);

	if (!f)
		refuse_file(r, name, "is named by " MANIFEST " and is not in the archive");
	return f;
}

static int by_listed_path(const void *a, const void *b)
{
	return strcmp(((const struct BundleFile *)a)->path, ((const struct BundleFile *)b)->path);
}

static int by_file_name(const void *a, const void *b)
{
	return strcmp(((const struct bundle_file *)a)->name, ((const struct bundle_file *)b)->name);
}

static void check_digest(
	struct bundle_reading *r, const struct BundleFile *said, const struct bundle_file *f)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	sha256(f->bytes, f->len, digest);
	hex_write(digest, sizeof digest, hex);
	if ((size_t)said->size_bytes != f->len || strcmp(said->sha256, hex) != 0)
		refuse_file(r, f->name,
			"is not what " MANIFEST " says: its size or its sha256 is another");
}

/* Both sides in the same order: each file is listed, and each that is listed is there. */
static int check_list(struct bundle_reading *r, const struct BundleManifest *m)
{
	struct BundleFile *said = m->files.at;
	struct bundle_file *have = arena_array(r->a, struct bundle_file, r->count + 1);
	size_t count = 0, i = 0, k = 0;

	for (size_t n = 0; n < r->count; n++)
		if (strcmp(r->files[n].name, MANIFEST) != 0)
			have[count++] = r->files[n];
	qsort(have, count, sizeof *have, by_file_name);
	if (m->files.count)
		qsort(said, m->files.count, sizeof *said, by_listed_path);
	while (i < m->files.count || k < count) {
		int way = i == m->files.count ? 1
			  : k == count	      ? -1
					      : strcmp(said[i].path, have[k].name);

		if (way < 0)
			refuse_file(r, said[i++].path, "is listed and is not in the archive");
		else if (way > 0)
			refuse_file(r, have[k++].name, "is not listed in " MANIFEST);
		else
			check_digest(r, &said[i++], &have[k++]);
	}
	return r->p->err;
}

/* ---- lines ---- */

/* One line into the struct; what is wrong is told with its number. */
static int read_line(struct bundle_reading *r, const struct bundle_file *f, size_t line,
	const struct schema *s, const char *text, size_t len, void *ret)
{
	struct problem own = { 0 };

	if (!decode_body(r->patterns, r->a, s, UNKNOWN_REFUSED, text, len, ret, &own))
		return 0;
	return problem_field(r->p, r->a, f->name, "line", "line %zu: %s %s", line,
		own.first ? own.first->field : "",
		own.first    ? own.first->message
		: own.detail ? own.detail
			     : "is not an object");
}

/* Calls `each` with the place of every line; the last may lack its end. */
static int each_line(struct bundle_reading *r, const struct bundle_file *f,
	int (*each)(struct bundle_reading *r, const struct bundle_file *f, size_t line,
		const char *text, size_t len, void *ctx),
	void *ctx)
{
	const char *at = f->bytes, *end = at + f->len;
	int err = 0;

	for (size_t line = 1; !err && at < end; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);

		err = arena_full(r->a) ? ERR_TOO_LARGE : each(r, f, line, at, len, ctx);
		at += len + 1;
	}
	return err;
}

static int take_memory(struct bundle_reading *r, const struct bundle_file *f, size_t line,
	const char *text, size_t len, void *ctx)
{
	struct BundleMemory m;
	int err = read_line(r, f, line, &BundleMemory_schema, text, len, &m);

	(void)ctx;
	if (!err)
		bundle_add_memory(r, m.content, m.created_at.us);
	return err;
}

/* The first line is the session's own, the others its messages. */
static int take_session_line(struct bundle_reading *r, const struct bundle_file *f, size_t line,
	const char *text, size_t len, void *ctx)
{
	struct bundle_session *s = ctx;
	struct BundleMessage m, *kept;
	int err;

	if (line == 1)
		return read_line(r, f, line, &BundleSession_schema, text, len, &s->head);
	err = read_line(r, f, line, &BundleMessage_schema, text, len, &m);
	if (err)
		return err;
	kept = bundle_add_message(r, s, m.role, m.content);
	if (kept)
		*kept = m;
	return 0;
}

static int read_sessions(struct bundle_reading *r, const struct BundleManifest *m)
{
	const char *const *name = m->sessions.at;
	int err = 0;

	for (size_t i = 0; !err && i < m->sessions.count; i++) {
		const struct bundle_file *f = file_of(r, name[i]);
		struct bundle_session *s = f ? bundle_add_session(r, NULL, NIL) : NULL;

		if (!s)
			return r->p->err;
		err = each_line(r, f, take_session_line, s);
		if (!err)
			bundle_mend_calls(r, s);
	}
	return err;
}

/* ---- the rest ---- */

static int read_prompts(struct bundle_reading *r, const struct BundleManifest *m)
{
	const struct BundlePrompt *prompt = m->prompts.at;

	for (size_t i = 0; i < m->prompts.count; i++) {
		const char **place = manifest_prompt(r->out, prompt[i].field);
		const struct bundle_file *f = file_of(r, prompt[i].file);

		if (!place)
			problem_field(r->p, r->a, MANIFEST, "prompts",
				"prompts[%zu].field is no prompt of an agent", i);
		else if (f && (f->len > CEILING_PROMPT || memchr(f->bytes, '\0', f->len) ||
				      !utf8_valid(f->bytes, f->len)))
			refuse_file(r, f->name, "is no text, or is longer than a prompt may be");
		else if (f)
			*place = arena_strndup(r->a, f->bytes, f->len);
	}
	return r->p->err;
}

static void read_skill(struct bundle_reading *r, const struct BundleFolder *from)
{
	const char *under = arena_printf(r->a, "%s/", from->folder);
	struct bundle_skill *s = BUNDLE_ADD(r->a, &r->out->skills, struct bundle_skill);

	s->folder = from->folder;
	s->is_enabled = from->is_enabled;
	s->files = arena_array(r->a, struct bundle_file, r->count);
	for (size_t i = 0; i < r->count; i++)
		if (strncmp(r->files[i].name, under, strlen(under)) == 0) {
			s->files[s->count] = r->files[i];
			s->files[s->count++].name += strlen(under);
		}
	if (!s->count)
		refuse_file(r, from->folder, "is named by " MANIFEST " and has no file");
}

static void take_manifest(struct bundle_reading *r, const struct BundleManifest *m)
{
	const struct BundleTool *tool = m->tools.at;
	const char *const *said = m->left_out.at, *const *model = m->models.at;
	struct agent_bundle *b = r->out;
	size_t again = 0;

	b->platform = m->source_platform;
	b->settings = m->agent.text;
	b->chat = m->chat.text;
	b->exported_at = m->exported_at;
	b->tool_bundles = m->tool_bundles;
	for (size_t i = 0; i < m->tools.count; i++)
		*BUNDLE_ADD(r->a, &b->tools, struct BundleTool) = tool[i];
	for (size_t i = 0; i < m->models.count; i++) {
		bundle_add_model(r, model[i]);
		if (b->models.count <= i && !again++)
			bundle_warn(r, "A model is named twice in the chain; it is taken once.");
	}
	for (size_t i = 0; i < m->left_out.count; i++)
		bundle_warn(r, "%s", said[i]);
}

int lodge_read(struct bundle_reading *r)
{
	const struct bundle_file *head = bundle_find(r, MANIFEST), *f;
	struct BundleManifest m;
	const struct BundleFolder *skill;
	int err = decode_body(r->patterns, r->a, &BundleManifest_schema, UNKNOWN_REFUSED,
		head->bytes, head->len, &m, r->p);

	if (err == ERR_BAD_JSON) /* of the archive, not of the request */
		r->p->err = err = ERR_INVALID;
	if (!err)
		err = check_list(r, &m);
	if (err)
		return err;
	take_manifest(r, &m);
	skill = m.skills.at;
	for (size_t i = 0; i < m.skills.count; i++)
		read_skill(r, &skill[i]);
	err = read_prompts(r, &m);
	if (!err && m.memories && (f = file_of(r, m.memories)))
		err = each_line(r, f, take_memory, NULL);
	if (!err && m.avatar && (f = file_of(r, m.avatar)))
		r->out->avatar = *f;
	return err ? err : read_sessions(r, &m);
}
