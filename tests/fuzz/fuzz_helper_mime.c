/* fuzz_helper_mime.c - messages as strangers could write them, through the reader of lodge-mime and then the server's reading of
 * its answer: what the one makes of any message the other takes. */
#include <stdint.h>
#include <stdlib.h>

#include "answered.h"
#include "mail/prescan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;
	struct arena a = { 0 };
	struct answered answer;
	struct helper_mail mail;
	enum answer got;

	if (!prepared)
		mime_prepare();
	prepared = true;
	if (prescan_fault((const char *)data, size, 1 << 20))
		return 0;
	answered_begin(&answer);
	read_mime((const char *)data, size, &answer.outlet);
	got = answer_mail(&answer.source, &a, &mail);
	if (got != ANSWER_WHOLE && got != ANSWER_FAULT)
		abort();
	answered_end(&answer);
	arena_free(&a);
	return 0;
}
