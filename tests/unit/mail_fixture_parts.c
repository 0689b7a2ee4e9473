/* mail_fixture_parts.c - see mail_fixture.h: what needs headers that do not go together with the others'. */
#include <stdio.h>

#include "helper/helper.h"
#include "mailboxes/mail_entry.h"

struct helper *mail_helper(const char *program, struct helper *h);
void mail_note_bounces(bool on);
extern struct mail_back {
	int calls;
	bool told;
	char message_id[64], status[32], words[512];
} mail_back;
struct mail_back mail_back;

struct helper *mail_helper(const char *program, struct helper *h)
{
	if (program)
		return helper_new(&(struct helper_setup){ .mime_program = program });
	helper_free(h);
	return NULL;
}

static int note_bounce(struct db *db, struct arena *a, const char *tenant_id,
	const char *message_id, const struct mail_delivery *told, const char *words, int64_t now)
{
	(void)db, (void)a, (void)tenant_id, (void)now;
	mail_back.calls++;
	mail_back.told = told != NULL;
	snprintf(mail_back.message_id, sizeof mail_back.message_id, "%s", message_id);
	snprintf(mail_back.status, sizeof mail_back.status, "%s", told ? told->status : "");
	snprintf(mail_back.words, sizeof mail_back.words, "%s", words);
	return 0;
}

void mail_note_bounces(bool on)
{
	mail_on_bounce(on ? note_bounce : NULL);
}
