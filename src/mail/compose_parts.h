/* compose_parts.h - the pieces of which compose.c makes a message: encoded words, parameters, bodies. */
#pragma once
#include "mail/compose.h"

/* Lines on their way to the sink; after something failed nothing is put. */
struct compose_out {
	struct compose_sink *sink;
	size_t column; /* of the header line under way */
	bool failed;
};

void compose_put(struct compose_out *o, const void *bytes, size_t len);
void compose_puts(struct compose_out *o, const char *text);
/* A word of a header: on a line of its own where the line would get longer than 78 with it. */
void compose_word(struct compose_out *o, const char *word);
void compose_end_header(struct compose_out *o);
/* UTF-8 in a header that is free text: as it is, or in encoded words. */
void compose_text(struct compose_out *o, const char *text);
/* "Name <a@b>" */
void compose_person(struct compose_out *o, const struct mail_person *p, bool more);
/* ; filename="x", or by RFC 2231. */
void compose_filename(struct compose_out *o, const char *name, const char *text);
/* The bodies: quoted-printable if that is shorter, or base64. */
void compose_body(struct compose_out *o, const char *subtype, const char *text);
bool compose_attached(struct compose_out *o, struct compose_source *s);
