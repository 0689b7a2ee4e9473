/* chat_terms.h - members of a chat-completions body on which the price of a call hangs, and what becomes
 * of each.
 *
 * What a call may cost is reckoned before it is sent, from every byte of the
 * request and the one limit of output in it.  A member that would make the
 * provider charge for something else is refused, where its effect is what the
 * caller is after, or dropped, where it is a mere wish, which a header of the
 * answer then says.  Whoever adds a row says why.  All other members, known
 * or not, are sent to providers of OpenAI's kind as they came. */
#pragma once
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

enum chat_term_rule { TERM_REFUSED, TERM_DROPPED };

enum { TERM_HARMLESS_MAX = 3 };

struct chat_term {
	const char *name;
	enum chat_term_rule rule;
	const char *why; /* goes after "Invalid 'name': " */
	const char
		*harmless[TERM_HARMLESS_MAX]; /* values, without white space, that change nothing */
};

extern const struct chat_term chat_terms[];
extern const size_t chat_term_count;

/* Some providers read names without regard to case or to what joins their words: is it this one to them? */
bool chat_name_like(const char *name, const char *known);
/* The row for that member with that value as JSON text, or NULL: it is sent.  Null always is. */
const struct chat_term *chat_term_of(const char *name, struct slice raw);
