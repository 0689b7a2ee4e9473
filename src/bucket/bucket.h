/* bucket.h - the workspace bucket of each tenant: bytes by key, of any length.
 *
 * An object is a row in the store (key, size, digest, type) and bytes under a
 * name that is never used twice, the blob.  Bytes come first and are on the
 * disk before the row that names them is written; they go after the row that
 * named them.  So the store alone decides what there is, and a process that
 * dies leaves at most bytes that nobody names, which are collected.
 *
 * What waits for a disk says so; such functions run on the threads for disks,
 * never on a loop and never in a transaction.  This room knows no requests. */
#pragma once
#include "base/clock.h"
#include "base/id.h"
#include "store/store.h"

struct bucket;
struct bucket_upload;
struct pool;

enum {
	BUCKET_KEY_MAX = 1024, /* bytes */
	BUCKET_TYPE_MAX = 127,
	BUCKET_SINCE = 46, /* the version of the store that first has its rows */
	BUCKET_FILES_SINCE =
		48, /* and of the program that first knows of files of sessions in it */
	BUCKET_TRASH_US =
		60 * 1000 *
		1000, /* bytes are there for so long after their row has gone, for who read it */
};

/* Bytes that no row names are there for so long after they were found. */
#define BUCKET_UNNAMED_US (7 * DAY_US)

/* What begins so belongs to the service itself: session files, raw mail. */
#define BUCKET_RESERVED ".lodge/"

struct bucket_settings {
	const char *where; /* dir:PATH, or s3://BUCKET and perhaps /PREFIX */
	const char *spool; /* with S3: a folder through which bytes pass */
	const char *data;  /* with S3: or this, if that is not there and not to be made */
	bool makes_spool;
	const char *endpoint, *region, *key_id, *secret; /* with S3 */
	bool path_style;				 /* with S3: https://endpoint/bucket/key */
	int64_t tenant_max; /* bytes that the objects of one tenant may have */
	/* Where bytes are looked for too, and removed; NULL: nowhere.  One of the two may be in S3. */
	const char *also;
};

/* Nothing is looked at yet, and nothing made: that is bucket_claim(). */
int bucket_new(struct bucket **ret, const struct bucket_settings *settings, struct arena *a,
	struct problem *p);

enum bucket_claim {
	BUCKET_SERVES, /* an empty place is given the mark if the store has none that has it; S3 that is away is believed in */
	BUCKET_LOOKS,  /* as one that serves would decide, but nothing is made */
	BUCKET_JOINS,  /* a further place of the store's: an empty one is given the mark */
	BUCKET_ADOPTS, /* whatever it has been so far */
};

/* Whether its places are this store's; see bucket_mark.c.  It waits for the disk and for S3. */
int bucket_claim(
	struct bucket *b, struct db *db, enum bucket_claim how, struct arena *a, struct problem *p);
/* Once it is claimed, until bucket_free(): folders are served by the processes of the store that `who` names (store_served_as()), or by
 * one alone (NULL).  ERR_USAGE if another serves one.  In S3 there is no such lock. */
int bucket_serve(struct bucket *b, const char *who, struct arena *a, struct problem *p);
/* Again, where S3 did not answer; else whether it is there still.  On a thread of the pool; does not wait. */
void bucket_claim_submit(struct bucket *b, struct store *store, struct pool *pool);
/* As it was last looked at. */
bool bucket_is_well(const struct bucket *b);
extern const struct statement_set bucket_mark_sql;
void bucket_free(struct bucket *b);
int64_t bucket_tenant_max(const struct bucket *b);
/* Whether files of sessions go there: from when on no program is left that would look for their bytes in the store. */
void bucket_files_begin(struct bucket *b);
bool bucket_takes_files(const struct bucket *b);
/* The service stops: long work on the threads for disks ends soon. */
void bucket_stop(struct bucket *b);
bool bucket_stopping(const struct bucket *b);
bool bucket_where_valid(const char *where);
bool bucket_where_is_s3(const char *where);

/* ---- keys ---- */

/* What is wrong with a key, as in "must not ..."; NULL if nothing is. */
const char *bucket_key_fault(const char *key);
bool bucket_key_is_reserved(const char *key);
/* bucket://TENANT/KEY, and the key of one that lies in this tenant's bucket, NULL with a sentence for all else.  Of a bucket in S3
 * s3://BUCKET/PREFIX/TENANT/KEY is taken for the same.  Neither looks whether it is there. */
const char *bucket_uri(struct arena *a, const char *tenant_id, const char *key);
const char *bucket_uri_key(
	const struct bucket *b, const char *uri, const char *tenant_id, const char **ret_fault);

/* ---- bytes ---- */

struct bucket_stored {
	char blob[ID_LEN + 1], sha256[65];
	int64_t size_bytes;
};

/* Bytes on their way in.  Belongs to one thread at a time. */
struct bucket_upload *bucket_upload_new(struct bucket *b, const char *tenant_id);
/* Claims room before the first byte: what the tenant's rows come to, what of that this takes the place of, and how many bytes it
 * will have, or has so far.  ERR_NO_SPACE if that is, with what others are bringing, more than a tenant may have;
 * *ret_room is what is left.  Again with other numbers, as often as need be.  What is written beyond it claims more as it
 * comes, and is refused then; one that never claimed counts for others and is not refused. */
int bucket_upload_claim(
	struct bucket_upload *u, int64_t used, int64_t stands, int64_t bytes, int64_t *ret_room);
/* With its row they come to so much: for those who are still bringing some, once it is kept and over. */
void bucket_upload_came_to(struct bucket_upload *u, int64_t used);
/* These two wait for the disk.  The digest is that of what was written so far, which ends the writing. */
int bucket_upload_write(
	struct bucket_upload *u, const void *bytes, size_t n, struct arena *a, struct problem *p);
void bucket_upload_digest(struct bucket_upload *u, char out[65]);
int bucket_upload_finish(
	struct bucket_upload *u, struct bucket_stored *ret, struct arena *a, struct problem *p);
/* A row names the bytes now, or may do so: they are not removed at its end.  Or not, after all. */
void bucket_upload_keep(struct bucket_upload *u, bool keep);
/* Removes what is not kept, which waits for the disk: on a thread of the pool, if that has room. */
void bucket_upload_end(struct bucket_upload *u, struct pool *pool);

/* A descriptor of the bytes of a row, for reading; it waits for the disk.  ERR_NOT_FOUND if they are not there, ERR_STORE if
 * they are not as long as the row says. */
struct bucket_row;
int bucket_open(struct bucket *b, const struct bucket_row *row, int *ret_fd, struct arena *a,
	struct problem *p);
/* Whether the bytes come from elsewhere, so that they need not be waited for as a whole; then so many from that one on, each run of
 * them to `take`, which ends it with false; and a file without a name to put them.  They wait. */
bool bucket_comes_from_elsewhere(const struct bucket *b);
int bucket_fetch(struct bucket *b, const struct bucket_row *row, int64_t at, int64_t len,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct arena *a,
	struct problem *p);
int bucket_spool(struct bucket *b);
/* All of it in memory, if it has at most so many bytes (ERR_TOO_LARGE) and the digest of its row. */
int bucket_load(struct bucket *b, const struct bucket_row *row, size_t most, struct arena *a,
	const void **ret, size_t *ret_len, struct problem *p);
/* Bytes in memory as bytes of the bucket: then bucket_row_put(), and bucket_upload_keep(). */
int bucket_store(struct bucket_upload *u, const void *bytes, size_t n, struct bucket_stored *ret,
	struct arena *a, struct problem *p);

/* ---- rows, in the transaction at hand ---- */

struct bucket_row {
	const char *tenant_id, *id, *key, *blob;
	int64_t size_bytes;
	const char *sha256, *content_type;
	int64_t created_at, updated_at;
};

struct bucket_putting {
	const char *tenant_id, *key, *content_type;
	const struct bucket_stored *stored;
	int64_t tenant_max, now;
};

/* ERR_NOT_FOUND if there is none. */
int bucket_row_find(struct db *db, struct arena *a, const char *tenant_id, const char *key,
	struct bucket_row *ret);
/* The same by its id. */
int bucket_row_read(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct bucket_row *ret);
/* What the tenant's rows come to, and the texts of its mail, which lie in the store. */
int bucket_used(struct db *db, const char *tenant_id, int64_t *ret);
/* ERR_NO_SPACE if what is there and what these bytes add is more than `most`; or if what was replaced and deleted, and still waits to be removed,
 * comes to more than that, the bytes that these replace among it.  So on the disk there is never more than twice as much. */
int bucket_room(struct db *db, const char *tenant_id, int64_t most, int64_t adds, int64_t replaced);
/* So many bytes more of mail, or fewer; ERR_NO_SPACE as above. */
int bucket_hold_mail(struct db *db, const char *tenant_id, int64_t most, int64_t by);
/* The sentence for it. */
int bucket_no_room(struct db *db, const char *tenant_id, int64_t most, int64_t replaced,
	struct arena *a, struct problem *p);
/* In the place of the row with that key, if there is one.  ERR_NO_SPACE if it is too much: writers are one after the other,
 * so that what a tenant may have is never passed. */
int bucket_row_put(struct db *db, struct arena *a, const struct bucket_putting *in,
	struct bucket_row *ret, bool *ret_stood);
int bucket_row_remove(struct db *db, const struct bucket_row *row, int64_t now);
/* Whether any tenant has an object. */
int bucket_any(struct db *db, bool *ret);
extern const struct statement_set bucket_row_sql;

/* ---- now and then ---- */

/* Removes bytes whose rows have gone; on threads of the pool and of the store, one at a time.  Does not wait. */
void bucket_sweep_submit(struct bucket *b, struct store *store, struct pool *pool, int64_t now);
/* No sweep is under way. */
bool bucket_is_swept(const struct bucket *b);
extern const struct statement_set bucket_sweep_sql;

/* Notes bytes that no row names although they are a day old, of uploads whose process died, to be removed a week later; and removes what
 * never became whole.  Once a day, and a minute after the start; on a thread of the pool.  Does not wait. */
void bucket_collect_submit(struct bucket *b, struct store *store, struct pool *pool, int64_t now);

/* ---- from one place to another ---- */

struct bucket_moving {
	int64_t objects, size_bytes;	    /* that the store names */
	int64_t looked_at, looked_at_bytes; /* of them, in this pass */
	int64_t copied, copied_bytes;
	int64_t missing, torn; /* of which `from` has no bytes, or others than were put */
	const char *first;     /* of these: its place, or NULL */
};

/* Copies the bytes of all objects that `from` has and `to` has not, each held against its digest, until a pass over all of them finds
 * none; it waits for the disk.  What is there is not copied again, so that one that was broken off goes on.  `told` is
 * called after each object; may be NULL. */
int bucket_move(struct bucket *to, struct bucket *from, struct db *db, struct arena *a,
	struct bucket_moving *ret, void (*told)(void *ctx, const struct bucket_moving *so_far),
	void *ctx, struct problem *p);
extern const struct statement_set bucket_move_sql;

/* What the store names. */
int bucket_totals(struct db *db, int64_t *ret_objects, int64_t *ret_bytes);

/* Holds every row against its bytes, which it reads all, and looks for bytes that no row names. */
struct bucket_report {
	int64_t objects, size_bytes;
	int64_t missing, torn; /* rows without their bytes, or with others */
	int64_t unread;	       /* of which nobody knows: they cannot be read now */
	const char *first;     /* of these: its place, or NULL */
	const char *why;       /* the first of them cannot be read, or the bucket; or NULL */
	int64_t unnamed, unnamed_bytes; /* that are older than an hour */
};
int bucket_check(struct bucket *b, struct db *db, struct arena *a, struct bucket_report *ret);
extern const struct statement_set bucket_check_sql;
