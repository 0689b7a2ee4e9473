/* doors.h - the tenants that have allowed an address: whoever has shown that it is theirs comes in.
 *
 * A tenant that allows an address takes in whoever is in no tenant; anybody
 * else is asked, as by an invitation. */
#pragma once
#include "call/call.h"

/* Those that the user (NULL: nobody yet) is not in, and that have room: struct one_text. */
int doors_open(struct call *c, const char *address, const char *user_id, struct list *ret);
/* Takes the user into them, or asks; `how` is what the audit log says of it. */
int doors_enter(struct call *c, const char *user_id, const char *address, const struct list *doors,
	const char *how);

extern const struct statement_set doors_sql;
