/* fuzz_pattern.c - a regular expression as anybody who may make a tool can write one, and a text for it: the
 * text up to the first line end is the expression, the rest is what it is held against, as it is and
 * repeated.  Whatever they are, a match ends soon and takes little memory; the fuzzer's own limits hold
 * it to that, and an arena shows what it kept. */
#include "setup.h"

#include "base/json.h"
#include "base/json_schema.h"
#include "base/slice.h"

static void hold(struct arena *a, const struct json_schema *s, struct slice text, size_t times)
{
	struct json_violations v;
	struct buf b;

	buf_init(&b, (size_t)4 << 20);
	buf_putc(&b, '"');
	for (size_t i = 0; i < times; i++) {
		size_t from = b.len;

		json_write_string(&b, text.at, text.len);
		/* one string of all */
		memmove(b.at + from, b.at + from + 1, b.len - from - 2);
		b.len -= 2;
	}
	buf_putc(&b, '"');
	if (!b.overflow)
		json_schema_check(s, a, b.at, b.len, &v);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = memchr(text, '\n', size);
	struct slice pattern = { text, end ? (size_t)(end - text) : size };
	struct slice rest = { end ? end + 1 : "", end ? size - pattern.len - 1 : 0 };
	struct json_violations v;
	struct arena a = { 0 };
	struct json_schema *s;
	struct buf b;

	if (!utf8_valid(pattern.at, pattern.len) || !utf8_valid(rest.at, rest.len))
		return 0;
	buf_init(&b, (size_t)1 << 20);
	buf_lit(&b, "{\"pattern\":");
	json_write_string(&b, pattern.at, pattern.len);
	buf_putc(&b, '}');
	s = json_schema_compile(&a, b.at, b.len, &v);
	if (!s && !v.count)
		abort();
	if (s) {
		hold(&a, s, rest, 1);
		hold(&a, s, rest, rest.len ? 20000 / rest.len + 1 : 0);
	}
	buf_free(&b);
	arena_free(&a);
	return 0;
}
