/* bundle_fixture.c - see bundle_fixture.h. */
#include "bundle_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/zip.h"
#include "t.h"

const char *bundle_example(struct arena *a, const char *name, size_t *ret_len)
{
	const char *folders[] = { "tests/fuzz/corpus/bundle", "../tests/fuzz/corpus/bundle" };
	FILE *f = NULL;
	char *text;

	for (int i = 0; !f && i < 2; i++)
		f = fopen(arena_printf(a, "%s/%s", folders[i], name), "rb");
	*ret_len = 0;
	if (!f) {
		test_fail(__FILE__, __LINE__, "there is no example %s", name);
		return "";
	}
	text = arena_alloc(a, 1 << 20);
	*ret_len = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

void bundle_zipped(struct buf *out, const struct bundle_piece *pieces)
{
	struct zip_writer w;

	buf_init(out, 1 << 24);
	zip_begin(&w, out);
	for (; pieces->name; pieces++)
		zip_add(&w, pieces->name, false, pieces->text, strlen(pieces->text));
	zip_end(&w);
}

void bundle_made(
	struct buf *out, struct arena *a, const char *members, const struct bundle_piece *pieces)
{
	struct zip_writer w;
	const char *list = "", *head;
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	for (const struct bundle_piece *p = pieces; p->name; p++) {
		sha256(p->text, strlen(p->text), digest);
		hex_write(digest, sizeof digest, hex);
		list = arena_printf(a, "%s%s{\"path\":\"%s\",\"size_bytes\":%zu,\"sha256\":\"%s\"}",
			list, *list ? "," : "", p->name, strlen(p->text), hex);
	}
	head = arena_printf(a,
		"{\"format\":\"lodge-agent\",\"version\":1,\"source_platform\":\"lodge\","
		"\"exported_at\":\"2026-02-03T04:05:06.789Z\",%s,\"files\":[%s]}",
		members, list);
	buf_init(out, 1 << 24);
	zip_begin(&w, out);
	zip_add(&w, "lodge-agent.json", false, head, strlen(head));
	for (; pieces->name; pieces++)
		zip_add(&w, pieces->name, false, pieces->text, strlen(pieces->text));
	zip_end(&w);
}
