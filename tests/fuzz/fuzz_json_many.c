/* fuzz_json_many.c - JSON with many small objects.  The input is a text as it is, and a pattern that is
 * repeated to some ten thousand bytes inside an array and inside an object with a name for each.
 * What the reader takes of memory must stay within a multiple of the text that it could not pass by
 * luck, and what it says of names that come twice must be what a second reader says. */
#include "setup.h"

#include "base/json.h"
#include "oracle.h"

enum { REPEATED = 64 * 1024, PATTERN_MAX = 512, NAMES_BYTES = 96, FIXED = 128 * 1024 };

/* Reading one text: a copy of each decoded name at most, and the names that are open at once. */
static size_t bound(size_t len, bool keeps_strings)
{
	size_t names = len / 5 < JSON_NAMES_MAX ? len / 5 : JSON_NAMES_MAX;

	return FIXED + NAMES_BYTES * names + (keeps_strings ? 2 * len : len);
}

static bool read_all(struct json_reader *r, int depth)
{
	const char *text;
	size_t len;

	switch (json_peek(r)) {
	case JSON_OBJECT:
		json_enter_object(r);
		while (json_next_key(r, &text, &len))
			read_all(r, depth + 1);
		return !r->fault;
	case JSON_ARRAY:
		json_enter_array(r);
		while (json_next_item(r))
			read_all(r, depth + 1);
		return !r->fault;
	default:
		return json_skip(r, NULL, NULL);
	}
}

static void check(const char *text, size_t len)
{
	struct arena skipped = { 0 }, read = { 0 };
	struct json_reader r;
	bool one, two;

	json_open(&r, &skipped, text, len);
	one = json_skip(&r, NULL, NULL) && json_end(&r);
	if (skipped.total > bound(len, false)) {
		fprintf(stderr, "%zu bytes skipped took %zu\n", len, skipped.total);
		abort();
	}
	json_open(&r, &read, text, len);
	two = read_all(&r, 0) && json_end(&r);
	if (read.total > bound(len, true)) {
		fprintf(stderr, "%zu bytes read took %zu\n", len, read.total);
		abort();
	}
	if (one != two)
		abort();
	arena_free(&skipped);
	arena_free(&read);
}

/* Whether a member comes twice is decided alike; the second reader knows fewer numbers and no NUL. */
static void check_twice(const char *text, size_t len)
{
	struct arena a = { 0 };
	struct json_reader r;
	bool ours;

	json_open(&r, &a, text, len);
	ours = json_skip(&r, NULL, NULL) && json_end(&r);
	if (!ours && strstr(r.fault, "twice") && oracle_accepts(text, len))
		abort();
	if (ours && !memchr(text, '\0', len) && !memchr(text, '0', len) &&
		!memchr(text, '9', len) && !strpbrk(text, "12345678") && !oracle_accepts(text, len))
		abort();
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[REPEATED + PATTERN_MAX + 64];
	size_t len = 0, n = 0;
	char *whole;

	whole = malloc(size + 1);
	if (!whole)
		abort();
	memcpy(whole, data, size);
	whole[size] = '\0';
	check(whole, size);
	check_twice(whole, size);
	free(whole);
	if (!size || size > PATTERN_MAX)
		return 0;
	text[len++] = '[';
	while (len < REPEATED) {
		memcpy(text + len, data, size);
		len += size;
		text[len++] = ',';
	}
	text[len - 1] = ']';
	check(text, len);
	text[0] = '{';
	for (len = 1; len < REPEATED; n++) {
		len += (size_t)sprintf(text + len, "\"%zx\":", n);
		memcpy(text + len, data, size);
		len += size;
		text[len++] = ',';
	}
	text[len - 1] = '}';
	check(text, len);
	return 0;
}
