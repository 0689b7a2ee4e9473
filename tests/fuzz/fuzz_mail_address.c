/* fuzz_mail_address.c - addresses as strangers write them: what is taken is plain, and means itself when it is read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "mail/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct mail_address *m)
{
	static const uint8_t key[MAIL_KEY_LEN] = { 7 };
	struct mail_address again;
	const char *fault;
	struct id id;

	for (const char *p = m->text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			abort();
	if (!utf8_valid(m->text, strlen(m->text)) || strlen(m->text) > MAIL_ADDRESS_MAX ||
		!mail_address_parse(m->text, strlen(m->text), &again, &fault) ||
		memcmp(m, &again, sizeof again) != 0)
		abort();
	/* Nobody guesses a signature. */
	if (mail_thread_read(key, m, &id) || mail_verp_read(key, m, m->domain, &id))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *fault;
	struct mail_address m;
	struct mail_people all;
	struct arena a = { 0 };
	size_t used;

	if (mail_address_parse(text, size, &m, &fault))
		check(&m);
	used = mail_address_path(text, size, &m, &fault);
	if (used > size || (used && text[used - 1] != '>'))
		abort();
	if (used && *m.text)
		check(&m);
	if (mail_people_parse(&a, text, size, 20, &all, &fault))
		for (size_t i = 0; i < all.count; i++) {
			check(&all.at[i].address);
			if (!utf8_valid(all.at[i].name, strlen(all.at[i].name)))
				abort();
		}
	arena_free(&a);
	return 0;
}
