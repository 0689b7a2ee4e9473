/* reserved.h - names that are nobody's to choose, since whoever has mail to one is taken for the house.
 *
 * Mail to them speaks for a domain: certificates are given to who reads mail of hostmaster, bounces and
 * complaints go to postmaster and abuse.  This file knows no rows: who has such a name from before keeps it, but no address of it. */
#pragma once
#include <stdbool.h>

/* As what stands before the @. */
bool mail_reserved_local(const char *slug);
extern const char *const mail_reserved_locals[]; /* the last is NULL */
/* As a part of a domain: those, and what machines are called. */
bool mail_reserved_label(const char *slug);
