/* fuzz_html_text.c - any bytes as an HTML page: the text is bounded, stays UTF-8 if the page was, and a
 * script before it changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/html_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "<script>HIDDEN(1)</script>";
	struct arena a = { 0 };
	const char *page = (const char *)data, *text, *whole;
	size_t len, whole_len;
	char *joined;

	text = html_text(&a, page, size, &len);
	if (len > size * 3 + 32 || (utf8_valid(page, size) && !utf8_valid(text, len)))
		abort();
	joined = arena_raw(&a, size + sizeof head, 1);
	memcpy(joined, head, sizeof head - 1);
	memcpy(joined + sizeof head - 1, page, size);
	whole = html_text(&a, joined, size + sizeof head - 1, &whole_len);
	if (whole_len != len || memcmp(whole, text, len) != 0)
		abort();
	text = latin1_text(&a, page, size, &len);
	if (!utf8_valid(text, len))
		abort();
	arena_free(&a);
	return 0;
}
