/* test_utf8_cut.c - a text that is cut ends with a whole character, wherever the cut falls. */
#include "t.h"

#include "base/utf8.h"
#include "base/utf8_cut.h"

static const char *const signs[] = { "a", "\u00e9", "\u65e5", "\U0001f600" };

TEST(utf8_cut_leaves_whole_characters)
{
	char text[64], shown[64];

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t n = strlen(signs[i]), len = 0;

		for (; len + n < 40; len += n)
			memcpy(text + len, signs[i], n + 1);
		for (size_t most = 0; most < 48; most++) {
			size_t want = most < len ? most - most % n : len;

			test_step("%s up to %zu", signs[i], most);
			CHECK_INT(utf8_cut(text, len, most), want);
			snprintf(shown, sizeof shown, "%.*s", UTF8_SHOWN(most, text));
			CHECK_INT(strlen(shown), want);
			test_step("%s printed into %zu", signs[i], most + 1);
			snprintf(shown, most + 1, "%s", text);
			utf8_trim(shown);
			CHECK_INT(strlen(shown), want);
		}
	}
}
