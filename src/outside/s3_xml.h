/* s3_xml.h - the little XML that S3 speaks: elements with text, of which a few are wanted by name.
 *
 * No document type, no entities but the five and numbers of ASCII (keys are asked
 * for percent-encoded), no attributes that matter.  What is not well formed ends the reading; nothing is looked up. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct s3_xml {
	const char *at, *end;
};

/* The next element of that name, wherever it is: what it holds, as a text to be read further. */
bool s3_xml_element(struct s3_xml *x, const char *name, struct s3_xml *ret_inner);
/* The text of the first element of that name, or NULL. */
const char *s3_xml_text(struct s3_xml in, struct arena *a, const char *name);
/* A text as it stands in an element. */
const char *s3_xml_escape(struct arena *a, const char *text);
