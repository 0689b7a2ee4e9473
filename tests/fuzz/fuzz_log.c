/* fuzz_log.c - lines of the log.  The input is cut at line feeds into a message and values; in either
 * format the line must end once, hold no byte that a terminal would obey, be UTF-8, and in JSON be an
 * object to a second reader. */
#include "setup.h"

#include "base/utf8.h"
#include "base/log.h"
#include "oracle.h"

enum { PAIRS = 24 };

static void check(const char *line, size_t len, enum log_format format)
{
	if (!len || len > LOG_LINE_MAX || line[len - 1] != '\n' || !utf8_valid(line, len))
		abort();
	for (size_t i = 0; i + 1 < len; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f ||
			((unsigned char)line[i] == 0xc2 && (unsigned char)line[i + 1] < 0xa0))
			abort();
	if (format == LOG_JSON && !oracle_accepts(line, len - 1)) {
		fprintf(stderr, "not JSON: %.*s", (int)len, line);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "a", "path", "ip", "error", "user_id" };
	struct log_pair pairs[PAIRS + 1] = { 0 };
	char *text = malloc(size + 1), *at, *message, *line = malloc(LOG_LINE_MAX);
	size_t count = 0;

	if (!text || !line)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	at = text;
	message = strsep(&at, "\n");
	while (at && count < PAIRS) {
		const char *value = strsep(&at, "\n");
		pairs[count] = (struct log_pair){ .name = names[count % 5],
			.text = value,
			.number = (int64_t)(strlen(value) * UINT64_C(0x9e3779b97f4a7c15)),
			.is_number = *value == '#' };
		count++;
	}
	for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
		struct log_pair once[2] = { pairs[0] };

		check(line, log_compose(line, LOG_WARN, (enum log_format)format, message, pairs),
			LOG_TEXT);
		/* a name that comes twice is no JSON to the second reader */
		check(line, log_compose(line, LOG_WARN, (enum log_format)format, message, once),
			(enum log_format)format);
	}
	free(text);
	free(line);
	return 0;
}
