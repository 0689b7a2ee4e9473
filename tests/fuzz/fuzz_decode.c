/* fuzz_decode.c - JSON against every schema.  The first two bytes choose the schema, the rest is the
 * body.  What decodes must encode to JSON that decodes again to the same text; and our reader and
 * a second one must agree on what is JSON.  Stored events are read with less ado: whatever of one is
 * as its schema wants is JSON again. */
#include "setup.h"

#include "serve/registry.h"
#include "base/json.h"
#include "contract/encode.h"
#include "contract/types.h"
#include "events/events.h"
#include "oracle.h"

static struct types types;

/* Numbers beyond 64 bits and huge texts are where the second reader gives up. */
static void check_agreement(struct arena *a, const char *text, size_t len)
{
	struct json_reader r;
	bool ours;

	json_open(&r, a, text, len);
	ours = json_skip(&r, NULL, NULL) && json_end(&r);
	if (!ours && r.fault && strstr(r.fault, "deeply"))
		return;
	if (ours != oracle_accepts(text, len)) {
		size_t digits = 0;

		for (size_t i = 0; i < len; i++) {
			digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
			if (digits > 15)
				return;
		}
		if (memchr(text, '\0', len))
			return; /* the second reader stops at a NUL between tokens */
		fprintf(stderr, "readers disagree on: %.*s\n", (int)len, text);
		abort();
	}
}

static void check_round(struct arena *a, const struct schema *s, const void *object)
{
	struct buf first, second;
	struct problem p = { 0 };
	void *again = arena_alloc(a, s->size);

	buf_init(&first, 64 << 20);
	buf_init(&second, 64 << 20);
	encode_object(&first, s, object);
	if (decode_body(service.app.patterns, a, s, UNKNOWN_REFUSED, first.at, first.len, again,
		    &p) == ERR_BAD_JSON)
		abort();
	if (!p.err) {
		encode_object(&second, s, again);
		if (first.len != second.len || memcmp(first.at, second.at, first.len) != 0)
			abort();
	}
	buf_free(&first);
	buf_free(&second);
}

static void check_event(struct arena *a, const struct schema *s, const char *data, size_t len)
{
	void *object = arena_alloc(a, s->size);
	struct json_reader r;
	const char *text;

	if (!event_read(a, s, data, len, object))
		return;
	text = event_text(a, s, object);
	if (!text)
		abort();
	json_open(&r, a, text, strlen(text));
	if (!json_skip(&r, NULL, NULL) || !json_end(&r))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	const struct schema *s;
	void *object;

	if (size < 2)
		return 0;
	if (!types.count)
		types_collect(&types, &forever, api_resources, api_resource_count);
	s = types.list[(data[0] << 8 | data[1]) % types.count].schema;
	if (s->told) /* nothing decodes it */
		return 0;
	object = arena_alloc(&a, s->size);
	check_agreement(&a, (const char *)data + 2, size - 2);
	check_event(&a, s, (const char *)data + 2, size - 2);
	if (!decode_body(service.app.patterns, &a, s, UNKNOWN_REFUSED, (const char *)data + 2,
		    size - 2, object, &p))
		check_round(&a, s, object);
	arena_free(&a);
	return 0;
}
