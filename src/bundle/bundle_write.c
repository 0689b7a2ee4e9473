/* bundle_write.c - a bundle of ours as bytes, always the same for the same agent: files in one order, no time but
 * those of the agent, nothing packed that another version of a library would pack otherwise. */
#include <string.h>

#include "base/crypto.h"
#include "base/zip.h"
#include "bundle/format_parts.h"
#include "bundle/manifest.h"
#include "contract/encode.h"

/* The files are gathered first: the manifest lists them, and comes before them. */
struct bundle_writer {
	struct arena *a;
	struct BundleManifest m;
	struct list files; /* struct bundle_file */
	size_t total;
	bool overflow;
};

static void keep_file(struct bundle_writer *w, const char *name, const void *bytes, size_t len)
{
	struct BundleFile *said = BUNDLE_ADD(w->a, &w->m.files, struct BundleFile);
	char *hex = arena_raw(w->a, 2 * SHA256_LEN + 1, 1);
	uint8_t digest[SHA256_LEN];

	sha256(bytes, len, digest);
	hex_write(digest, sizeof digest, hex);
	*said = (struct BundleFile){ name, (int64_t)len, hex };
	*BUNDLE_ADD(w->a, &w->files, struct bundle_file) = (struct bundle_file){ name, bytes, len };
	w->total += len;
	w->overflow |= w->files.count >= BUNDLE_FILES_MAX || len > BUNDLE_FILE_MAX ||
		       w->total > BUNDLE_PACKED_MAX - BUNDLE_FILE_MAX / 4;
}

static void keep_buf(struct bundle_writer *w, const char *name, struct buf *b)
{
	size_t len = b->len;

	w->overflow |= b->overflow;
	keep_file(w, name, arena_take(w->a, b), len);
}

static void put_line(struct buf *b, const struct schema *s, const void *object)
{
	encode_object(b, s, object);
	buf_putc(b, '\n');
}

static void write_prompts(struct bundle_writer *w, struct agent_bundle *b)
{
	for (size_t i = 0; manifest_prompts[i]; i++) {
		const char *field = manifest_prompts[i], *text = *manifest_prompt(b, field);
		const char *file = arena_printf(w->a, "prompts/%s.md", field);

		if (!text)
			continue;
		*BUNDLE_ADD(w->a, &w->m.prompts, struct BundlePrompt) =
			(struct BundlePrompt){ field, file };
		keep_file(w, file, text, strlen(text));
	}
}

static void write_skills(struct bundle_writer *w, const struct agent_bundle *b)
{
	const struct bundle_skill *s = b->skills.at;

	for (size_t i = 0; i < b->skills.count; i++) {
		const char *folder = arena_printf(w->a, SKILLS_FOLDER "%s", s[i].folder);

		*BUNDLE_ADD(w->a, &w->m.skills, struct BundleFolder) =
			(struct BundleFolder){ folder, s[i].is_enabled };
		for (size_t k = 0; k < s[i].count; k++)
			keep_file(w, arena_printf(w->a, "%s/%s", folder, s[i].files[k].name),
				s[i].files[k].bytes, s[i].files[k].len);
	}
}

static void write_memories(struct bundle_writer *w, const struct agent_bundle *b)
{
	const struct BundleMemory *m = b->memories.at;
	struct buf lines;

	if (!b->memories.count)
		return;
	buf_init(&lines, BUNDLE_FILE_MAX);
	for (size_t i = 0; i < b->memories.count; i++)
		put_line(&lines, &BundleMemory_schema, &m[i]);
	w->m.memories = MEMORIES_FILE;
	keep_buf(w, MEMORIES_FILE, &lines);
}

static void write_bundle_sessions(struct bundle_writer *w, const struct agent_bundle *b)
{
	const struct bundle_session *s = b->sessions.at;

	for (size_t i = 0; i < b->sessions.count; i++) {
		const struct BundleMessage *m = s[i].messages.at;
		const char *file = arena_printf(w->a, SESSIONS_FOLDER "%04zu.ndjson", i + 1);
		struct buf lines;

		buf_init(&lines, BUNDLE_FILE_MAX);
		put_line(&lines, &BundleSession_schema, &s[i].head);
		for (size_t k = 0; k < s[i].messages.count; k++)
			put_line(&lines, &BundleMessage_schema, &m[k]);
		*BUNDLE_ADD(w->a, &w->m.sessions, const char *) = file;
		keep_buf(w, file, &lines);
	}
}

static void none_is_empty(struct arena *a, struct list *l)
{
	if (!l->at)
		l->at = arena_alloc(a, 1);
}

static void write_zip(struct bundle_writer *w, struct buf *out)
{
	const struct bundle_file *f = w->files.at;
	struct zip_writer zip;
	struct buf head;

	struct list *const lists[] = { &w->m.models, &w->m.prompts, &w->m.tools, &w->m.tool_bundles,
		&w->m.skills, &w->m.sessions, &w->m.left_out, &w->m.files };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		none_is_empty(w->a, lists[i]);
	buf_init(&head, BUNDLE_FILE_MAX);
	put_line(&head, &BundleManifest_schema, &w->m);
	zip_begin(&zip, out);
	zip_add(&zip, MANIFEST, false, head.at, head.len);
	for (size_t i = 0; i < w->files.count; i++)
		zip_add(&zip, f[i].name, false, f[i].bytes, f[i].len);
	zip_end(&zip);
	w->overflow |= head.overflow || out->overflow;
	buf_free(&head);
}

int bundle_write(struct buf *out, struct arena *a, const struct agent_bundle *b, struct problem *p)
{
	struct agent_bundle given = *b;
	struct bundle_writer w = { .a = a,
		.m = { .format = "lodge-agent",
			.version = MANIFEST_VERSION,
			.source_platform = b->platform,
			.exported_at = b->exported_at,
			.agent = { b->settings },
			.chat = { b->chat },
			.models = b->models,
			.tools = b->tools,
			.tool_bundles = b->tool_bundles,
			.left_out = b->warnings } };

	write_prompts(&w, &given);
	write_skills(&w, b);
	write_memories(&w, b);
	write_bundle_sessions(&w, b);
	if (b->avatar.bytes) {
		w.m.avatar = AVATAR_FILE;
		keep_file(&w, AVATAR_FILE, b->avatar.bytes, b->avatar.len);
	}
	if (!w.overflow)
		write_zip(&w, out);
	if (!w.overflow)
		return 0;
	return problem_set(p, a, ERR_CONFLICT,
		"The bundle would be larger than one may be (%d MiB, %d files): export it without its sessions.",
		BUNDLE_PACKED_MAX >> 20, BUNDLE_FILES_MAX);
}
