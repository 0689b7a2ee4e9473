/* dkim_parts.h - what checking and making a signature share: the canonical forms, and the fields of a message. */
#pragma once
#include "base/buf.h"
#include "mail/dkim.h"

/* The headers and the body of a message; false where it has too many. */
bool dkim_split(struct arena *a, const char *message, size_t len, struct dkim_check *ret);
/* A header as it is signed, with CR LF behind it. */
void dkim_put_field(struct buf *b, struct slice field, bool relaxed);
void dkim_hash_body(struct slice body, bool relaxed, uint8_t ret[SHA256_LEN]);
/* Whether the field has this name, of `len` bytes, whatever the case. */
bool dkim_field_is(struct slice field, const char *name, size_t len);
