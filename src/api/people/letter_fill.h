/* letter_fill.h - what a letter to somebody says, as things are when it is sent; see mailboxes/letters.h.
 *
 * Who asked for a letter is never told whether there is somebody to write to:
 * it is found out here, where nobody waits for it. */
#pragma once
#include "api/service.h"
#include "mailboxes/letter_post.h"

/* How long the links are good. */
#define LETTER_RESET_US HOUR_US
#define LETTER_CONFIRM_US DAY_US

/* A letter_fill_fn; its context is the struct app. */
letter_fill_fn letter_fill;

/* ---- asking for a letter ---- */

/* ERR_CONFLICT with a sentence where the service has no mail. */
int letters_check(struct call *c);
/* Whether one more may go to the address, and come from where the caller is: ERR_THROTTLED.  Takes none. */
int letters_check_room(struct call *c, const char *email);
/* The same, and takes it. */
int letters_take_room(struct call *c, const char *email);
/* For somebody who may invite, which is counted apart: by tenant and address.  *ret_again_at: no letter goes now, and one may
 * then; else NIL. */
int letters_take_invitation(struct call *c, const char *email, int64_t *ret_again_at);

extern const struct statement_set letter_fill_sql;
