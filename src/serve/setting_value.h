/* setting_value.h - one value of a setting: from text into its member, and back; and its origin.
 *
 * Private to the settings.  A reader says what is wrong in words that fit
 * after the value. */
#pragma once
#include "serve/settings.h"

/* Where a value came from; a later place outranks an earlier one. */
struct settings_origin {
	enum setting_place { NOWHERE, IN_FILE, IN_ENVIRONMENT, IN_FLAGS } place;
	const char *words; /* "from --max-body", "in lodge.conf line 3" */
};

const struct settings_origin *settings_origin(const struct settings *s, const char *name);

/* Reads text, which must stay, into the row's member of s.  NULL, or the fault: "is not a size". */
const char *setting_read(
	const struct setting *row, struct arena *a, const char *text, struct settings *s);
/* The row's value in s, as it would be written. */
const char *setting_text(const struct setting *row, struct arena *a, const struct settings *s);

/* Forms of text. */
bool setting_check_listen(const char *text);
bool setting_check_store(const char *text);
bool setting_check_postgres(const char *text);
bool setting_check_url(const char *text);
bool setting_check_space(const char *text);
bool setting_check_private(const char *text);
bool setting_check_address(const char *text); /* of mail; "" too, as in those below */
bool setting_check_lmtp(const char *text);    /* unix:PATH, or a loopback address and a port */
bool setting_check_relay(const char *text);
bool setting_check_resolver(const char *text);
bool setting_check_authserv(const char *text);
/* True for the words that a flag takes; *ret is what it says. */
bool setting_is_flag(const char *text, bool *ret);

/* settings_together.c: ERR_USAGE with a sentence where one is given that cannot be without another; then those that follow
 * from others get their value. */
int settings_check_together(const struct settings *s, struct arena *a, struct problem *p);
void settings_derive(struct settings *s, struct arena *a);
