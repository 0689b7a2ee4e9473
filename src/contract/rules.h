/* rules.h - rules of fields that several resources share. */
#pragma once

#define SLUG_RULE                               \
	.pattern = "^[a-z0-9][a-z0-9-]{0,63}$", \
	.rule = "may have small letters a to z, digits and hyphens only, a hyphen not first"

/* What people, tenants and groups are called: see check_shown_name. */
#define SHOWN_NAME .check = check_shown_name

/* What is wrong with a name that is shown to others, or NULL: it shows something, and nothing in it works on the text
 * beside it. */
const char *check_shown_name(const char *text);
