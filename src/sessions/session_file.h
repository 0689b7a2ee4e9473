/* session_file.h - the files of sessions: rows that name bytes.
 *
 * Bytes of more than SESSION_FILE_SMALL lie in the tenant's bucket, as an
 * object under a key that is the service's own; a smaller file is in its row.
 * Several files may name one object (a branch takes files along without their
 * bytes): it goes with the last of them, in the same transaction. */
#pragma once
#include "bucket/bucket.h"
#include "bucket/bucket_carry.h"

enum { SESSION_FILE_SMALL = 16 * 1024 }; /* as in the migrations' index of those to be moved */

struct session_file_new {
	const char *tenant_id, *session_id, *id, *name, *content_type;
	int64_t created_at;
	const void *bytes;
	size_t len;
	struct bucket_carry *carry; /* NULL: the row keeps them, and maintenance moves them later */
	bool stays;		    /* the bytes outlive the carry */
	/* Where they cannot be brought to the bucket the row keeps them, rather than that they are lost. */
	bool anyhow;
};

/* ERR_BRING: see bucket_carry.h.  ERR_NO_SPACE, said in `p`, beyond what a tenant may have. */
int session_file_add(
	struct db *db, struct arena *a, const struct session_file_new *in, struct problem *p);

/* Such a file will be added, with bytes that stay: they are brought together with the first that is asked for. */
void session_file_note(struct bucket_carry *carry, const void *bytes, size_t len);

/* Where the bytes of a file are: in the arena, or an object. */
struct session_file_bytes {
	bool in_bucket;
	struct bucket_row object;
	const void *bytes;
	size_t len;
};
int session_file_find(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *id, struct session_file_bytes *ret, struct problem *p);

/* Before files are deleted, the objects that they name: of one, or of the first `most` by id.  A list of struct one_text.
 * After it the objects that no file names any more go. */
int session_file_object(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *id, struct list *ret);
int session_file_objects(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t most, struct list *ret);
int session_file_unname(struct db *db, struct arena *a, const char *tenant_id,
	const struct list *objects, int64_t now);

/* A row whose bytes lie in the bucket by now names them instead, unless it does already or has gone: *ret_moved. */
int session_file_moved(struct db *db, struct arena *a, const struct session_file_new *in,
	const struct bucket_stored *stored, int64_t now, bool *ret_moved);

/* For `lodge check`: files whose object is not there, objects of files that no file names, and tenants of whom the sum of
 * objects is not what is counted. */
struct session_files_report {
	int64_t files, objects, lost, unnamed, miscounted;
};
int session_files_check(struct db *db, struct session_files_report *ret);

extern const struct statement_set session_file_row_sql;
