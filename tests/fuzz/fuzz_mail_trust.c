/* fuzz_mail_trust.c - what proves who sent a message, as a stranger could write it: nothing is proven by it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mail/date.h"
#include "mail/dmarc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DAY_S INT64_C(86400)

static const char key[] = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *message = (const char *)data;
	struct arena a = { 0 };
	char *text = arena_strndup(&a, message, size);
	struct mail_header h = { "authentication-results", text };
	struct mail_waking w = { &h, 1, text, text, false };
	struct dmarc_record record;
	struct dkim_check c;
	struct authres r;
	int64_t at;

	dkim_check_begin(&a, message, size, 0, &c);
	for (size_t i = 0; i < c.count; i++) {
		/* Its own bytes as the key's record, and one that signed nothing. */
		dkim_check_key(&a, &c, i, i % 2 ? text : key);
		if (c.at[i].verdict == MAIL_PASS && i % 2 == 0)
			abort();
		if (c.at[i].names && !dkim_covers(&c, i, "no-such-header"))
			abort();
	}
	if (mail_date_read(text, &at) && (at < -DAY_S || at > 10000 * 366 * DAY_S))
		abort();
	r = authres_read(&h, 1, "mx");
	if (!r.found && (r.dmarc || r.dkim || r.spf))
		abort();
	dmarc_parse(message, size, &record);
	h.name = "x-lodge-hops";
	if (mail_hops(&h, 1) < 0 || mail_hops(&h, 1) > MAIL_HOPS_MAX + 1)
		abort();
	mail_wake_bar(&w);
	arena_free(&a);
	return 0;
}
