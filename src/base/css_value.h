/* css_value.h - values of styles that stand in a page's attributes: how long, how opaque, which colour.
 *
 * What a browser would not take for the value is none here either, and says
 * nothing.  Only what decides whether something is seen is read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum { CSS_COLOUR_UNKNOWN = -1 };

/* The next byte of an attribute's value as the page means it, its entities replaced; -1 at the end.  What is no ASCII comes as
 * '?': no style that hides has any. */
int css_attribute_byte(struct slice *rest);

/* A length in pixels, roughly where it hangs on the font or the window; a plain number is pixels too.  False where it is none. */
bool css_length(struct slice value, double *ret);
/* 0 to 1 of "0.5" or "50%". */
bool css_share(struct slice value, double *ret);
/* The numbers between the brackets of a function whose name begins so, lengths in pixels, per cent as they are: how many, at most
 * `most`; 0 too where the value is of another. */
size_t css_arguments(struct slice value, const char *name, double *ret, size_t most);
/* 0xRRGGBB, or CSS_COLOUR_UNKNOWN; *ret_opacity is 1 where nothing is said. */
int32_t css_colour(struct slice value, double *ret_opacity);
/* Of a digit; -1 where it is none. */
int css_hex(int c);
bool css_is(struct slice value, const char *word);
