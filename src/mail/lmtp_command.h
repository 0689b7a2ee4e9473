/* lmtp_command.h - the commands; a part of lmtp.c. */
#pragma once
#include "mail/lmtp.h"

/* Of the line that is whole, without its CR LF. */
void lmtp_run_line(struct lmtp *s);
/* What was decided about the sender or recipient at hand. */
void lmtp_take_sender(struct lmtp *s, struct lmtp_reply r);
void lmtp_take_recipient(struct lmtp *s, struct lmtp_reply r);
