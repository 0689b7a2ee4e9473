/* reserved.h - names that are nobody's to choose, since whoever has mail to one is taken for the house.
 *
 * Mail to them speaks for a domain: certificates are given to who reads mail of hostmaster, bounces and
 * complaints go to postmaster and abuse.  This file knows no rows: who has such a name from before keeps it. */
#pragma once
#include <stdbool.h>

/* As what stands before the @. */
bool mail_reserved_local(const char *slug);
/* As a part of a domain: those, and what machines are called. */
bool mail_reserved_label(const char *slug);
