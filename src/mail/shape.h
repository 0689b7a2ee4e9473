/* shape.h - whether the words that a signature covers can be read in one way alone.
 *
 * A signature is over the bytes of the body; what they say is in headers, which
 * many senders leave open (Content-Type, Content-Transfer-Encoding).  Whoever
 * has such a letter could write others above it, and what its sender had quoted
 * or forwarded from somebody else would be what they said themselves.  So where
 * these are open, the body itself must show what it is. */
#pragma once
#include "mail/dkim.h"

#define MAIL_UNPROVEN "Its sender is not taken for proven: "

/* What leaves it open: a sentence, or NULL. */
const char *shape_doubt(const struct dkim_check *c, size_t which);
