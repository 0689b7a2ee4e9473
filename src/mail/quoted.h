/* quoted.h - what somebody wrote, without the letter that they answer and without their signature.
 *
 * By rules, in one pass over the lines: what clients put before a quotation
 * ("On … wrote:" in some twenty languages, Outlook's block of headers,
 * "-----Original Message-----"), lines with >, a signature behind "-- ".  A
 * forwarded letter is what its sender wants to be read, and stays.  The whole
 * text is always kept beside this one. */
#pragma once
#include "base/arena.h"

/* UTF-8 with LF or CR LF in, with LF out.  Never empty where the text is not: if everything is quoted, it is everything. */
const char *mail_extract_reply(struct arena *a, const char *text, size_t len, size_t *ret_len);
