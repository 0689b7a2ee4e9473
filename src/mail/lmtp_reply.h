/* lmtp_reply.h - what the parts of the machine of lmtp.h say and where they go on: its states, its replies, and the counts that
 * end a conversation which leads nowhere. */
#pragma once
#include "mail/lmtp.h"

void lmtp_move(struct lmtp *s, enum lmtp_state to);
/* One line of a reply, with no byte in it that is not plain; the mark is a blank, or a hyphen if more follow. */
void lmtp_send_line(struct lmtp *s, int code, char mark, const char *status, const char *text);
void lmtp_answer(struct lmtp *s, int code, const char *status, const char *text);
void lmtp_forget(struct lmtp *s);

/* Replies to what is not taken, each of which is counted; one too many is answered with 421 and ends it.  A command that is none, or
 * not now; a sender or recipient that is refused; one beyond the most recipients.  Of one that brings nothing on: true while there
 * may be more. */
void lmtp_bad(struct lmtp *s, int code, const char *status, const char *text);
void lmtp_decline(struct lmtp *s, int code, const char *status, const char *text);
void lmtp_beyond(struct lmtp *s);
bool lmtp_idle(struct lmtp *s);
