/* token.h - signed words in plus parts: where a bounce comes back to, and which thread an answer belongs to.
 *
 * Both are an id, a dot, and ten hexadecimal digits of an HMAC over the id and
 * what it is for; 40 bits, which nobody can try out by mail: each try is a
 * message, and is counted.  What is forged is no error, but a plain address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "mail/address.h"

enum { MAIL_KEY_LEN = 32, MAIL_TOKEN_LEN = ID_LEN + 1 + 10 };

/* b+<id of a recipient's row>.<10 hex>@domain, the envelope sender of what is sent; false if the domain is none. */
bool mail_verp_make(const uint8_t key[MAIL_KEY_LEN], const char *send_id, const char *domain,
	struct mail_address *ret);
/* Whether a recipient is such an address, and of which row. */
bool mail_verp_read(const uint8_t key[MAIL_KEY_LEN], const struct mail_address *to,
	const char *domain, struct id *ret_send);

/* The mailbox's address with the thread in its plus part, for Reply-To. */
bool mail_thread_make(const uint8_t key[MAIL_KEY_LEN], const struct mail_address *mailbox,
	const char *thread_id, struct mail_address *ret);
/* Which thread a recipient names; the mailbox is part of what was signed, so that one mailbox's is none of another's. */
bool mail_thread_read(
	const uint8_t key[MAIL_KEY_LEN], const struct mail_address *to, struct id *ret_thread);
