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

/* Where bytes are kept.  Each function waits for the disk, or whatever is in its place; 0, or an errno. */
struct bucket_kind {
	/* The upload has a blob; what it needs besides is in `state`. */
	int (*begin)(struct bucket_upload *u);
	int (*write)(struct bucket_upload *u, const void *bytes, size_t n);
	/* On the disk, under its name, whatever happens then. */
	int (*finish)(struct bucket_upload *u);
	/* Whether or not it was finished. */
	void (*discard)(struct bucket_upload *u);
	int (*open)(struct bucket *b, const char *tenant_id, const char *blob, int *ret_fd);
	/* 0, too, where there is none. */
	int (*remove)(struct bucket *b, const char *tenant_id, const char *blob);
	/* Everything that is there; what `fn` says other than 0 ends it. */
	int (*each)(struct bucket *b, int (*fn)(void *ctx, const struct bucket_found *found),
		void *ctx);
};

struct bucket {
	const struct bucket_kind *kind;
	int folder; /* descriptor */
	int64_t tenant_max;
	pthread_mutex_t lock; /* over the next */
	struct bucket_upload *uploads;
	_Atomic bool sweeping, collecting;
	_Atomic int64_t collected_us;
};

struct bucket_upload {
	struct work work; /* first: it is removed on another thread */
	struct bucket *bucket;
	struct bucket_upload *next, **at; /* the bucket's */
	int64_t claimed;		  /* under its lock */
	char tenant_id[ID_LEN + 1];
	struct id blob;
	int64_t size_bytes;
	struct sha256_run *digest;
	char sha256[65];
	bool begun, finished, kept;
	int folder, file; /* of the folder kind: descriptors, or -1 */
};

extern const struct bucket_kind bucket_folder;
/* A folder that is there, and has the mark of a bucket.  One that is empty is given it, unless the bucket is in use. */
int bucket_folder_enter(
	struct bucket *b, const char *path, bool in_use, struct arena *a, struct problem *p);
