/* html_hidden.h - what a page shows to nobody: elements whose attributes hide them from a person's eyes.
 *
 * A model reads text, a person looks: what only one of them sees is how a
 * page, or a letter, tells a model what its owner would not let it.  So text
 * that is not displayed, of no size, transparent, cut off, far outside, or of
 * the colour of the ground it stands on is left out, however its style is
 * written.  Styles in sheets are not read: what a
 * class hides stays in the text. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTML_GROUND_UNKNOWN = -1, HTML_WHITE = 0xffffff };

/* The attributes of one tag, from behind its name to its end, over the ground (0xRRGGBB or HTML_GROUND_UNKNOWN) of what it
 * lies in.  *ret_ground is the ground inside it. */
bool html_hides(const char *attributes, size_t len, int32_t ground, int32_t *ret_ground);
/* Whether one of them has this name. */
bool html_has(const char *attributes, size_t len, const char *wanted);
