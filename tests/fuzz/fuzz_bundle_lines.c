/* fuzz_bundle_lines.c - what is in a bundle of ours whose list of files is right: members of its manifest, lines of memories and of a
 * session, a prompt and a skill, each after a NUL.  What is taken is written, and read again as it was. */
#include "base/crypto.h"
#include "base/zip.h"
#include "bundle/bundle.h"
#include "setup.h"

enum { PIECES = 5 };

static const char *const names[PIECES] = { "m", "s", "p", "skills/x/SKILL.md", "skills/x/f" };

struct piece {
	const char *at;
	size_t len;
};

static void put_listed(struct buf *head, const char *name, const struct piece *p)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	sha256(p->at, p->len, digest);
	hex_write(digest, sizeof digest, hex);
	buf_printf(head, "%s{\"path\":\"%s\",\"size_bytes\":%zu,\"sha256\":\"%s\"}",
		name == names[0] ? "" : ",", name, p->len, hex);
}

static void make_zip(struct buf *out, const struct piece *members, const struct piece *pieces)
{
	struct zip_writer w;
	struct buf head;

	buf_init(&head, 1 << 20);
	buf_lit(&head,
		"{\"format\":\"lodge-agent\",\"version\":1,\"source_platform\":\"lodge\","
		"\"exported_at\":\"2026-02-03T04:05:06Z\",\"memories\":\"m\",\"sessions\":[\"s\"],"
		"\"prompts\":[{\"field\":\"description_prompt\",\"file\":\"p\"}],"
		"\"skills\":[{\"folder\":\"skills/x\"}],");
	buf_put(&head, members->at, members->len);
	buf_lit(&head, ",\"files\":[");
	for (int i = 0; i < PIECES; i++)
		put_listed(&head, names[i], &pieces[i]);
	buf_lit(&head, "]}");
	zip_begin(&w, out);
	zip_add(&w, "lodge-agent.json", false, head.at, head.len);
	for (int i = 0; i < PIECES; i++)
		zip_add(&w, names[i], false, pieces[i].at, pieces[i].len);
	zip_end(&w);
	buf_free(&head);
}

static bool read_once(struct arena *a, const struct buf *zip, struct agent_bundle *ret)
{
	static const struct zip_limits limits = {
		.entries = 64, .one = 1 << 23, .all = 1 << 24, .ratio = 200
	};
	struct problem p = { 0 };
	struct bundle_file *files;
	struct zip_entries z;
	struct bundle_skill *s;
	int err;

	if (!zip_read(a, zip->at, zip->len, &limits, &z))
		abort();
	files = arena_array(a, struct bundle_file, z.count + 1);
	for (size_t i = 0; i < z.count; i++)
		files[i] = (struct bundle_file){ z.at[i].name, z.at[i].bytes, z.at[i].len };
	err = bundle_read_files(a, service.app.patterns, NULL, files, z.count, ret, &p);
	s = ret->skills.at;

	if (err && (!p.err || (!p.first && !p.detail)))
		abort();
	for (size_t i = 0; !err && i < ret->skills.count; i++)
		s[i].folder += strncmp(s[i].folder, "skills/", 7) == 0 ? 7 : 0;
	return !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct piece all[PIECES + 1];
	const char *at = (const char *)data, *end = at + size;
	struct agent_bundle b;
	struct buf zip, one, two;

	for (int i = 0; i <= PIECES; i++) {
		const char *stop = i < PIECES ? memchr(at, '\0', (size_t)(end - at)) : NULL;

		all[i] = (struct piece){ at, (size_t)((stop ? stop : end) - at) };
		at = stop ? stop + 1 : end;
	}
	buf_init(&zip, 1 << 24);
	buf_init(&one, 1 << 24);
	buf_init(&two, 1 << 24);
	make_zip(&zip, &all[0], &all[1]);
	if (read_once(&a, &zip, &b) && !bundle_write(&one, &a, &b, &p)) {
		if (!read_once(&a, &one, &b) || bundle_write(&two, &a, &b, &p) ||
			one.len != two.len || memcmp(one.at, two.at, one.len) != 0)
			abort();
	}
	buf_free(&zip);
	buf_free(&one);
	buf_free(&two);
	arena_free(&a);
	return 0;
}
