/* html_text.h - what a person would read of an HTML page, as plain text.
 *
 * Tags, scripts, styles, comments and what is hidden from the eye go; paragraphs, list items and rows
 * become lines, links keep their address after their words.  Whatever the
 * page holds, the text is no longer than a small multiple of it, and reading
 * takes one pass.  Nothing is fetched or run. */
#pragma once
#include <stddef.h>

#include "base/arena.h"

/* UTF-8 in, UTF-8 out (what was valid stays valid). */
const char *html_text(struct arena *a, const char *html, size_t len, size_t *ret_len);
/* The same of a letter, whose title nobody is shown. */
const char *html_letter_text(struct arena *a, const char *html, size_t len, size_t *ret_len);
/* Bytes of windows-1252, and so of Latin-1 as the web has it, as UTF-8. */
const char *latin1_text(struct arena *a, const char *bytes, size_t len, size_t *ret_len);
