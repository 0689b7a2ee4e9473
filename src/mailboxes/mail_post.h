/* mail_post.h - mail goes out: within the house as rows, and to the outside as rows that wait for the relay, all of them in the
 * transaction at hand. */
#pragma once
#include "mailboxes/mail_objects.h"
#include "mailboxes/mail_rules.h"

struct mail_posting {
	struct db *db;
	struct arena *a;
	struct problem *p;
	int64_t now;
	struct mail_message_row
		*m;  /* the sender's own, with its id; its mailbox is not looked at */
	bool stands; /* it is a draft, or held, and was stored before */
	bool released; /* somebody has decided that it may go although it has too many new recipients */
	const struct mail_file *files;
	size_t file_count;
};

/* A message of this mailbox, with a new id and its Message-ID. */
struct mail_message_row mail_new(
	struct arena *a, const struct mailbox_row *from, const char *id, int64_t now);
/* Makes of a message the reply to another: the thread, and what it refers to. */
void mail_refer(struct arena *a, struct mail_message_row *m, const struct mail_message_row *to);

/* Whom the answer to it is for: its sender, or where oneself wrote it those it was for; or everybody who had it.
 * False: nobody is left. */
#define MAIL_NOT_SENT_YET "What was not sent yet is not answered; a person sends it first."
#define MAIL_NOBODY_WROTE \
	"There is nobody to answer: the message names no sender, or went to blind copies only."
bool mail_address_reply(
	struct arena *a, struct mail_message_row *m, const struct mail_message_row *to, bool all);

/* "Re: " before a subject that has none yet. */
const char *mail_reply_subject(struct arena *a, const char *subject);

/* Stores it as a draft. */
int mail_draft(const struct mail_posting *o);
/* ERR_CONFLICT if the mailbox is paused, or the agent switched off. */
int mail_check_box(const struct mail_posting *o);
/* ERR_INVALID with each recipient that cannot be written to and why; ERR_CONFLICT if the mailbox is paused. */
int mail_check(const struct mail_posting *o);
/* The same, and then it is sent: with everybody inside when this is committed, and queued for those outside; or held as a whole.
 * What goes to the outside goes out of the agent's external mailbox, and is that one's message then. */
int mail_post(const struct mail_posting *o);
