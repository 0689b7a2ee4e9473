/* bucket_parts.h - what the kinds of buckets have in common.  Private: no other room includes it. */
#pragma once
#include <stdatomic.h>
#include <pthread.h>

#include "base/crypto.h"
#include "bucket/bucket.h"

/* Bytes that are there, whether or not a row names them. */
struct bucket_found {
	const char *tenant_id;
	const char *name; /* the blob, or, on its way in, the blob and what tells it from one */
	bool whole;
	int64_t size_bytes, changed_us;
};

/* Where a function puts the sentence for an error of its own. */
struct bucket_said {
	struct arena *arena;
	struct problem *problem;
};

/* Where bytes are kept.  Each function waits for the disk, or whatever is in its place; 0, an errno, or (an enum error) what
 * it has said itself. */
struct bucket_kind {
	/* The upload has a blob; what it needs besides is in `state`. */
	int (*begin)(struct bucket_upload *u);
	int (*write)(struct bucket_upload *u, const void *bytes, size_t n);
	/* On the disk, under its name, whatever happens then.  Its digest is known. */
	int (*finish)(struct bucket_upload *u, struct bucket_said *said);
	/* Whether or not it was finished. */
	void (*discard)(struct bucket_upload *u);
	/* A file with all of its bytes, which should be so many; of one that has more, more than that are not brought. */
	int (*open)(struct bucket *b, const char *tenant_id, const char *blob, int64_t size,
		int *ret_fd, struct bucket_said *said);
	/* Some of its bytes as they come; NULL: they are here, in the file. */
	int (*fetch)(struct bucket *b, const char *tenant_id, const char *blob, int64_t at,
		int64_t len, bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx,
		struct bucket_said *said);
	/* How many bytes there are; ENOENT. */
	int (*size)(struct bucket *b, const char *tenant_id, const char *blob, int64_t *ret,
		struct bucket_said *said);
	/* 0, too, where there is none. */
	int (*remove)(struct bucket *b, const char *tenant_id, const char *blob,
		struct bucket_said *said);
	/* Of a tenant that is gone: the folders in which that lay, where they are empty now; or NULL. */
	void (*fold)(struct bucket *b, const char *tenant_id, const char *blob);
	/* Everything that is there; what `fn` says other than 0 ends it. */
	int (*each)(struct bucket *b, int (*fn)(void *ctx, const struct bucket_found *found),
		void *ctx);
	/* What it holds of its own, when the bucket is over; or NULL. */
	void (*leave)(struct bucket *b);
	/* The id in its mark, or "" in one of before; ENOENT: there is none, and the place is empty or not there; ENOTEMPTY: there are
	 * other files.  Makes nothing. */
	int (*look)(struct bucket *b, char id[ID_LEN + 1], struct bucket_said *said);
	/* Takes the lock of those who serve it, for as long as the bucket lasts; EWOULDBLOCK: others have it.  NULL: there is none. */
	int (*serve)(struct bucket *b, const char *who, int wait_ms);
	/* Somebody has it. */
	bool (*is_served)(struct bucket *b);
	/* Gives it a mark with this id, and makes the place if it is not there. */
	int (*mark)(struct bucket *b, const char *id, struct bucket_said *said);
};

struct bucket {
	const struct bucket_kind *kind;
	int serving; /* the lock of those who serve it; -1: it is not held */
	int folder;  /* descriptor: where the bytes are, or pass through; -1 while there is none */
	char *where; /* as the settings name it */
	char id[ID_LEN +
		1]; /* what its mark must say, and whether the store says that some place has it */
	_Atomic bool marked;		/* from then on the id stays */
	_Atomic bool claimed, claiming; /* it is known to be this store's */
	_Atomic bool ill;		/* as it was last looked at */
	struct s3 *s3_mark;		/* for the mark alone: it is not waited for as long */
	struct s3 *s3;
	char *place; /* in S3: s3://, its name, a slash, and the prefix with one; else NULL */
	const char *prefix; /* in it: what stands before the tenant, or "" */
	int64_t tenant_max;
	struct bucket *also;  /* the second place; or NULL */
	pthread_mutex_t lock; /* over the next */
	struct bucket_upload *uploads;
	_Atomic bool sweeping, collecting, takes_files, stopping;
	_Atomic int64_t collected_us;
};

struct bucket_upload {
	struct work work; /* first: it is removed on another thread */
	struct bucket *bucket;
	struct bucket_upload *next, **at; /* the bucket's */
	/* Under its lock: what it claims; of those that did: what the rows come to besides, as far as is known, and what of them
	 * it takes the place of; what they come to with its own, or NIL. */
	int64_t claimed;
	bool limited;
	int64_t used, stands, came_to;
	char tenant_id[ID_LEN + 1];
	struct id blob;
	int64_t size_bytes;
	struct sha256_run *digest;
	char sha256[65];
	bool begun, finished, kept;
	bool copies;	  /* of bytes that have their name already: others may bring the same */
	char suffix[8];	  /* by which it is known until it is whole */
	int folder, file; /* descriptors, or -1 */
};

/* bucket_room.c: it is one of those that count, until it leaves; so many bytes more are about to be written. */
void bucket_room_enter(struct bucket_upload *u);
void bucket_room_leave(struct bucket_upload *u);
int bucket_room_grow(struct bucket_upload *u, int64_t n, struct arena *a, struct problem *p);

extern const struct bucket_kind bucket_folder, bucket_s3;
/* In this place, or else in the second; as bucket_kind.open and .remove. */
int bucket_blob_open(struct bucket *b, const char *tenant_id, const char *blob, int64_t size,
	int *ret_fd, struct bucket_said *said);
int bucket_blob_remove(
	struct bucket *b, const char *tenant_id, const char *blob, struct bucket_said *said);
/* Reads a file from where it stands to its end: true if the bytes have this digest. */
bool bucket_digest_is(int fd, const char *sha256);
/* As bucket_kind.fold, of both. */
void bucket_tenant_remove(struct bucket *b, const char *tenant_id, const char *blob);
/* Whether the settings suffice; S3 is not asked. */
int bucket_s3_enter(
	struct bucket *b, const struct bucket_settings *in, struct arena *a, struct problem *p);

/* ---- bucket_mark.c ---- */

#define MARK "lodge-bucket"
#define MARK_ID "id: "
enum { MARK_MAX = 512 };
const char *bucket_mark_text(struct arena *a, const char *id);
void bucket_mark_read(const char *text, char id[ID_LEN + 1]);
/* Before the first byte is put: what could not be reached at the start is looked at now. */
int bucket_must_be_ours(struct bucket *b, struct bucket_said *said);
