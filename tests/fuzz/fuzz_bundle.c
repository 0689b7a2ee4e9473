/* fuzz_bundle.c - files as a stranger could send them to be imported, of whichever format.  What is taken keeps to the limits and can be
 * written as a bundle of ours; what is not is told why. */
#include "base/zip.h"
#include "bundle/bundle.h"
#include "setup.h"

static void check_limits(const struct agent_bundle *b)
{
	const struct bundle_session *s = b->sessions.at;
	size_t messages = 0;

	for (size_t i = 0; i < b->sessions.count; i++) {
		const struct BundleMessage *m = s[i].messages.at;

		messages += s[i].messages.count;
		for (size_t k = 0; k < s[i].messages.count; k++)
			if (!m[k].content || m[k].role < 0 || m[k].role > BUNDLE_SYSTEM ||
				m[k].tool_calls.count > BUNDLE_CALLS_MAX)
				abort();
	}
	if (!b->platform || messages > BUNDLE_MESSAGES_MAX ||
		b->sessions.count > BUNDLE_SESSIONS_MAX || b->tools.count > BUNDLE_TOOLS_MAX ||
		b->memories.count > BUNDLE_MEMORIES_MAX || b->skills.count > BUNDLE_SKILLS_MAX ||
		b->warnings.count > BUNDLE_WARNINGS_MAX || b->models.count > BUNDLE_MODELS_MAX)
		abort();
}

static const struct zip_limits limits = {
	.entries = 64, .one = 1 << 18, .all = 1 << 20, .ratio = 200
};

/* An archive is unpacked in this process, where the fuzzer sees it. */
static int read_here(
	struct arena *a, const char *bytes, size_t size, struct agent_bundle *b, struct problem *p)
{
	struct bundle_file *files;
	struct zip_entries z;

	if (size < 2 || memcmp(bytes, "PK", 2) != 0)
		return size > 1 && memcmp(bytes, "\x1f\x8b", 2) == 0
			       ? problem_set(p, a, ERR_INVALID, "none of ours")
			       : bundle_read(a, service.app.patterns, NULL,
					 &(struct bundle_file){ "", bytes, size }, b, p);
	if (!zip_read(a, bytes, size, &limits, &z))
		return problem_set(p, a, ERR_INVALID, "%s", z.fault);
	files = arena_array(a, struct bundle_file, z.count + 1);
	for (size_t i = 0; i < z.count; i++)
		files[i] = (struct bundle_file){ z.at[i].name, z.at[i].bytes, z.at[i].len };
	return bundle_read_files(a, service.app.patterns, NULL, files, z.count, b, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct agent_bundle b;
	struct buf out;
	/* as it comes from an archive or a request, with a NUL after it */
	char *bytes = arena_alloc(&a, size + 1);

	memcpy(bytes, data, size);
	buf_init(&out, BUNDLE_PACKED_MAX);
	if (read_here(&a, bytes, size, &b, &p)) {
		if (!p.err || (!p.first && !p.detail))
			abort();
	} else {
		check_limits(&b);
		b.settings = b.settings ? b.settings : "{}";
		b.exported_at.us = 0;
		bundle_write(&out, &a, &b, &p);
	}
	buf_free(&out);
	arena_free(&a);
	return 0;
}
