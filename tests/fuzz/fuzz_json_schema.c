/* fuzz_json_schema.c - schemas and instances as a stranger could write them: the text up to the first
 * line end is the schema, the rest the instance.  A schema that is taken gives the same verdict twice,
 * and what it refuses it refuses with a sentence. */
#include "setup.h"

#include "base/json_schema.h"

static void check_told(const struct json_violations *v, bool good)
{
	if (good == (v->count > 0) || v->count > JSON_VIOLATIONS_MAX ||
		(v->unlisted && v->count < JSON_VIOLATIONS_MAX))
		abort();
	for (size_t i = 0; i < v->count; i++)
		if (!v->list[i].path || !v->list[i].sentence || !*v->list[i].sentence)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = memchr(text, '\n', size);
	size_t len = end ? (size_t)(end - text) : size;
	struct json_violations v;
	struct arena a = { 0 };
	struct json_schema *s = json_schema_compile(&a, text, len, &v);

	check_told(&v, s != NULL);
	if (s && end) {
		bool good = json_schema_check(s, &a, end + 1, size - len - 1, &v);

		check_told(&v, good);
		/* true for whatever is JSON, and never for what is not */
		if (good != json_schema_check(s, &a, end + 1, size - len - 1, &v))
			abort();
	}
	arena_free(&a);
	return 0;
}
