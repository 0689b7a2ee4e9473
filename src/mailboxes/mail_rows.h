/* mail_rows.h - messages and threads of mail as they are stored.
 *
 *   in:   received -> (it stays; unread or not)        blocked, unreadable: stored, and nobody is woken
 *   out:  draft -> delivered (within the house)
 *               -> held -> queued -> sent, bounced, failed: on the way to the outside (mail_send.h)
 *
 * A thread belongs to one mailbox, and what was said in another can never be
 * joined to it: a message finds its thread by the Message-IDs it names, among
 * those of the mailbox it comes to. */
#pragma once
#include "mailboxes/mail_text.h"
#include "mailboxes/mailbox.h"

enum MailDirection { MailDirection_in, MailDirection_out };
enum MailState {
	MailState_received,
	MailState_unreadable,
	MailState_held,
	MailState_draft,
	MailState_queued,
	MailState_sent,
	MailState_delivered,
	MailState_bounced,
	MailState_failed,
	MailState_blocked
};
enum MailVerdict { MailVerdict_pass, MailVerdict_fail, MailVerdict_none };
extern const struct words MailDirection_words, MailState_words, MailVerdict_words;

enum {
	MAIL_RECIPIENTS_MAX = 50,    /* of one message, to, cc and bcc together */
	MAIL_REFERENCES_MAX = 50,    /* the first is kept, and the last */
	MAIL_PARTICIPANTS_MAX = 100, /* of a thread; the first ones */
	MAIL_ATTACHMENTS_MAX = 50,
	MAIL_BYTES_MAX = 25 << 20, /* of all attachments of one message */
	MAIL_LABELS_MAX = 20,
	MAIL_LABEL_MAX = 64,
	MAIL_FILENAME_MAX = 255,    /* code points */
	MAIL_ROW_BYTES = 1024,	    /* that a message counts for besides its texts */
	MAIL_COPIES_MAX = 32 << 20, /* of one message and all copies of it within the house */
};

/* A file of a message: as it is shown, and as it is kept with the message. */
struct AgentAttachmentRow {
	const char *id, *message_id, *filename, *content_type;
	int64_t size_bytes;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentAttachmentRow);

struct mail_message_row {
	const char *tenant_id, *agent_id, *id, *mailbox_id, *thread_id;
	int direction, state, verdict;
	const char *sender;
	struct list recipients, cc, bcc; /* const char *, in small letters */
	const char *subject, *preview, *body, *extracted_text, *html, *html_text;
	struct list labels; /* const char * */
	bool unread;
	const char *message_id_header, *in_reply_to;
	struct list refs; /* const char * */
	int64_t size_bytes;
	struct list attachments; /* struct AgentAttachmentRow */
	const char *object_key;	 /* the bytes as they came, in the bucket; NULL: there are none */
	int64_t hops;		 /* automatic messages in a row that led to it */
	bool automatic;		 /* nobody read it before it was sent */
	const char *by_user_id, *by_key_id; /* who had it sent, in the same tenant; NULL: nobody */
	const char *session_id, *run_id;    /* what it woke; NULL: nothing */
	const char *error;
	const char *subject_folded, *preview_folded; /* made of the others when it is added */
	int64_t held_bytes; /* that are counted for it, since it was last written */
	int64_t created_at, sent_at;
};
SCHEMA_DECLARED(mail_message_row);

struct mail_thread_row {
	const char *tenant_id, *agent_id, *id, *mailbox_id, *subject;
	struct list participants; /* const char * */
	int64_t message_count, unread_count;
	const char *last_message_id;
	int64_t last_message_at;
	const char *session_id;
	int64_t created_at;
};
SCHEMA_DECLARED(mail_thread_row);

/* ---- in the transaction at hand ---- */

/* ERR_NOT_FOUND. */
int mail_message_find(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *id, struct mail_message_row *ret);
int mail_thread_find(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *id, struct mail_thread_row *ret);
/* The thread that the message continues, by what it is a reply to; ERR_NOT_FOUND if it begins one. */
int mail_thread_of(
	struct db *db, struct arena *a, const struct mail_message_row *m, const char **ret_id);
/* Adds it to its thread, or to a new one where thread_id is NULL, and counts it.  Fills in what follows from the rest; its id,
 * times and header are given.  ERR_NO_SPACE where the tenant's mail and bucket hold as much as they may: mail_no_room(). */
int mail_message_add(struct db *db, struct arena *a, struct mail_message_row *m);
/* The same for one that was taken from outside: whoever sent it was told that it is ours, and so there is room for it. */
int mail_message_take(struct db *db, struct arena *a, struct mail_message_row *m);
/* Writes all of it back; ERR_NO_SPACE likewise, if it is longer now. */
int mail_message_save(struct db *db, struct arena *a, struct mail_message_row *m);
/* The same for a draft that says something else now: its thread follows where it is alone in it. */
int mail_message_rewrite(struct db *db, struct arena *a, struct mail_message_row *m);
/* A draft, or what was held, has gone out as this: it is counted as mail now. */
int mail_message_sent(struct db *db, struct arena *a, struct mail_message_row *m, int64_t now);
int mail_message_mark(struct db *db, struct arena *a, struct mail_message_row *m, bool unread);
/* Removes its row alone, and its thread when that is empty then: see mail_remove(). */
int mail_message_remove(struct db *db, const struct mail_message_row *m);
int mail_thread_join(struct db *db, const struct mail_thread_row *t, const char *session_id);

/* The sentence for ERR_NO_SPACE. */
int mail_no_room(
	struct db *db, struct arena *a, const struct mail_message_row *m, struct problem *p);
/* What a message counts for. */
int64_t mail_held(const struct mail_message_row *m);

/* Is it among them? */
bool mail_listed(const struct list *addresses, const char *address);
/* One more, in the order in which they came; no more than `most`. */
void mail_list_add(struct arena *a, struct list *l, const char *text, size_t most);

extern const struct statement_set mail_row_sql;
