/* fuzz_mail_text.c - any bytes as a letter: what is taken of it is no longer than it, is UTF-8 if it was, and is there if it was;
 * the look before the parser, and what a message is known by, say the same however it is cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "mail/known.h"
#include "mail/prescan.h"
#include "mail/quoted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_known(const char *text, size_t size)
{
	char whole[MAIL_KNOWN_LEN + 1], cut[MAIL_KNOWN_LEN + 1];
	struct mail_known k;

	mail_known_begin(&k);
	mail_known_push(&k, text, size);
	mail_known_end(&k, whole);
	mail_known_begin(&k);
	for (size_t i = 0; i < size; i++)
		mail_known_push(&k, text + i, 1);
	mail_known_end(&k, cut);
	if (strcmp(whole, cut) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *out, *fault;
	struct arena a = { 0 };
	struct prescan s;
	bool written = false;
	size_t len;

	out = mail_extract_reply(&a, text, size, &len);
	for (size_t i = 0; i < size; i++)
		written |= text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n';
	if (len > size || (utf8_valid(text, size) && !utf8_valid(out, len)) || written != (len > 0))
		abort();
	fault = prescan_fault(text, size, 1 << 20);
	prescan_begin(&s, 1 << 20);
	for (size_t i = 0; i < size; i++)
		prescan_push(&s, text + i, 1);
	if (!fault != !s.fault)
		abort();
	try_known(text, size);
	arena_free(&a);
	return 0;
}
