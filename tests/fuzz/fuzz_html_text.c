/* fuzz_html_text.c - any bytes as an HTML page: the text is bounded, stays UTF-8 if the page was, and holds
 * nothing of a script that is closed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "outside/html_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "<script>HIDDEN(1)</script>";
	struct arena a = { 0 };
	const char *page = (const char *)data, *text, *whole;
	size_t len;

	text = html_text(&a, page, size, &len);
	if (len > size * 3 + 32 || (utf8_valid(page, size) && !utf8_valid(text, len)))
		abort();
	if (!memmem(page, size, "HIDDEN", 6)) {
		char *joined = arena_raw(&a, size + sizeof head, 1);

		memcpy(joined, head, sizeof head - 1);
		memcpy(joined + sizeof head - 1, page, size);
		whole = html_text(&a, joined, size + sizeof head - 1, &len);
		if (memmem(whole, len, "HIDDEN", 6))
			abort();
	}
	text = latin1_text(&a, page, size, &len);
	if (!utf8_valid(text, len))
		abort();
	arena_free(&a);
	return 0;
}
