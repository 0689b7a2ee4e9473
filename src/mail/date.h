/* date.h - the Date of a message (RFC 5322, 3.3). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* "Fri, 11 Jul 2003 21:00:37 -0700 (PDT)", in seconds.  A zone by letters is taken for UTC, since nobody agrees on them. */
bool mail_date_read(const char *text, int64_t *ret_s);
