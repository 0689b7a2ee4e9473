/* fuzz_headers.c - the values of headers that we read ourselves: credentials, cookies, tags, times,
 * percent escapes.  One a line. */
#include "setup.h"

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
