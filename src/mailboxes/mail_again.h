/* mail_again.h - a message that came back, or could not be sent, goes out once more to those who did not get it. */
#pragma once
#include "mailboxes/mail_post.h"

/* In the transaction at hand.  It is the same message, with its Message-ID, and of a later date; whoever has it is not written to again.
 * Those whom nothing is sent to (suppressed, or kept out by the rules) stay as they are; ERR_INVALID with each of them and why if
 * there is nobody else.  ERR_CONFLICT where nobody lacks it, or the mailbox sends nothing. */
int mail_again(const struct mail_posting *o);
