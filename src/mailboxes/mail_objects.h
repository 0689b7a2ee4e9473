/* mail_objects.h - the bytes of mail in the tenant's bucket: attachments, and messages as they came.
 *
 * They lie under a reserved prefix by their digest, so that bytes which several
 * messages have are there once; an object goes with the last row that names it. */
#pragma once
#include "bucket/bucket.h"
#include "mailboxes/mail_rows.h"

#define MAIL_OBJECTS BUCKET_RESERVED "mail/"

/* The key under which bytes with this digest lie. */
const char *mail_object_key(struct arena *a, const char *sha256);

/* A file on its way into a message. */
struct mail_file {
	const char *filename, *content_type;
	int64_t size_bytes;
	const char *object_key;
};

/* In the transaction that adds the message: its attachments.  Fills in the message's own list, before it is added. */
int mail_files_add(struct db *db, struct arena *a, struct mail_message_row *m,
	const struct mail_file *files, size_t count);
/* Those of a message, to go with another one: struct mail_file. */
int mail_files_of(
	struct db *db, struct arena *a, const struct mail_message_row *m, struct list *ret);
/* Removes a message with its attachments, and the bytes that nobody else has. */
int mail_remove(struct db *db, struct arena *a, const struct mail_message_row *m, int64_t now);
/* The same without its thread for up to `most` attachments and messages of an agent that is gone; *ret_dropped is 0 when none is left. */
int mail_files_drop_some(struct db *db, struct arena *a, const char *tenant_id,
	const char *agent_id, int64_t most, int64_t now, int64_t *ret_dropped);

extern const struct statement_set mail_object_sql;
