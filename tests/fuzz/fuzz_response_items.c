/* fuzz_response_items.c - the input of a response, whatever JSON it is: it is refused with a field, or read
 * into items whose own JSON is sound and reads as the same items again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "openai/responses.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_json(struct arena *a, const char *text, size_t len)
{
	struct json_reader r;

	json_open(&r, a, text, len);
	return json_skip(&r, NULL, NULL) && json_end(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct call c = { .arena = &arena }, again = { .arena = &arena };
	const char *text = arena_strndup(&arena, (const char *)data, size), *json = NULL;
	struct list items, second;

	if (!memchr(data, '\0', size) && is_json(&arena, text, size)) {
		text += strspn(text, " \t\r\n");
		if (response_items_read(&c, "input", text, "tag", &items, &json)) {
			if (!c.problem.first)
				abort();
		} else {
			const struct response_item *one, *two;

			if (!is_json(&arena, json, strlen(json)) ||
				response_items_read(&again, "input", json, "tag", &second, NULL) ||
				second.count != items.count)
				abort();
			one = items.at;
			two = second.at;
			for (size_t i = 0; i < items.count; i++)
				if (one[i].kind != two[i].kind ||
					!same_text(one[i].text, two[i].text) ||
					!same_text(one[i].role, two[i].role) ||
					!same_text(one[i].call_id, two[i].call_id) ||
					!same_text(one[i].arguments, two[i].arguments))
					abort();
		}
	}
	arena_free(&arena);
	return 0;
}
