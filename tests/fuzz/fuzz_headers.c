/* fuzz_headers.c - the values of headers that we read ourselves: credentials, cookies, tags, times,
 * percent escapes, ranges.  One a line. */
#include "setup.h"

#include <strings.h>

#include "access/caller.h"
#include "base/clock.h"
#include "base/fold.h"
#include "base/json.h"
#include "call/steps.h"
#include "contract/value.h"

static void check_time(const char *text)
{
	char again[TIME_TEXT_LEN];
	int64_t us, back;

	if (!time_read(text, strlen(text), &us) || us < -62135596800000000 ||
		us > 253402300799999999)
		return;
	time_write(us, again);
	if (!time_read(again, sizeof again, &back) || back > us || us - back >= 1000)
		abort();
}

/* A part lies within what there is, whatever was asked. */
static void check_range(const char *text)
{
	static const uint64_t sizes[] = { 0, 1, 1000, UINT64_C(1) << 40, INT64_MAX };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t at = 0, len = 0;
		enum range_asked asked = call_range(text, sizes[i], &at, &len);

		if (asked == RANGE_PART ? !len || at >= sizes[i] || len > sizes[i] - at : at || len)
			abort();
		if (asked != RANGE_ALL && strncasecmp(text, "bytes=", 6) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char tag[] = "\"0123456789abcdef0123456789abcdef\"";
	struct arena a = { 0 };
	char *text = arena_strndup(&a, (const char *)data, size), *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct credential c = credential_read(line, NULL);
		const char *folded;
		char *decoded;

		if (c.kind != CREDENTIAL_NONE && strlen(c.hash) != 64)
			abort();
		credential_read(NULL, line);
		call_etag_listed(line, tag, true);
		check_time(line);
		check_range(line);
		email_valid(line, strlen(line));
		decoded = percent_decode(&a, line, strlen(line), true);
		folded = decoded ? fold(&a, decoded) : NULL;
		if (decoded && (!utf8_valid(decoded, strlen(decoded)) ||
				       !utf8_valid(folded, strlen(folded))))
			abort();
	}
	arena_free(&a);
	return 0;
}
