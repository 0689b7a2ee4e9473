/* s3.h - objects in an S3 bucket of the operator's: put from a file, got piece by piece, looked at, listed, removed.
 *
 * Its functions wait, so they belong on threads that may.  They hold no more
 * than a page of an object in memory, whatever its size; what is large goes in
 * parts.  Nothing here knows tenants, or what is kept. */
#pragma once
#include "base/error.h"
#include "outside/fetch.h"

enum {
	S3_PART_MIN = 5 << 20, /* of S3 itself, but for the last */
	S3_PART = 64 << 20,    /* what is larger goes in parts of this size */
};

struct s3_settings {
	const char *endpoint; /* https://s3.eu-central-1.amazonaws.com */
	const char *bucket;
	bool path_style; /* https://endpoint/bucket/key instead of https://bucket.endpoint/key */
	const char *region, *key_id, *secret;
	enum egress egress;
	int64_t part_bytes; /* 0: S3_PART */
	int silence_s;	    /* 0: 30 */
};

struct s3;

/* What is given is copied. */
struct s3 *s3_new(const struct s3_settings *in);
void s3_free(struct s3 *s);

/* ERR_NOT_FOUND if there is no such object; ERR_UPSTREAM and ERR_TOO_SLOW with a sentence that says what S3 said, or why it
 * could not be asked. */

struct s3_object {
	const char *key; /* without a slash in front */
	int64_t size_bytes;
	int64_t changed_us; /* of one in a list */
};

/* Of the file's bytes the digest is known.  What is there already under the key is replaced; there is never half of one. */
int s3_put(struct s3 *s, struct arena *a, const char *key, const char *content_type,
	const struct fetch_file *file, const char *sha256, struct problem *p);
/* From a byte on, so many (-1: to the end), as they come; `take` returning false ends it (ERR_UPSTREAM without a sentence). */
int s3_get(struct s3 *s, struct arena *a, const char *key, int64_t from, int64_t bytes,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct problem *p);
int s3_head(
	struct s3 *s, struct arena *a, const char *key, struct s3_object *ret, struct problem *p);
/* None to remove is no error. */
int s3_remove(struct s3 *s, struct arena *a, const char *key, struct problem *p);

struct s3_page {
	struct s3_object *at;
	size_t count;
	const char *next; /* for the next page, or NULL */
};

enum { S3_PAGE = 1000 };
/* In the order of their keys; `token` is NULL, or what the page before said. */
int s3_list(struct s3 *s, struct arena *a, const char *prefix, const char *token,
	struct s3_page *ret, struct problem *p);

/* A URL with which anybody may do this for a while. */
const char *s3_url(
	struct s3 *s, struct arena *a, const char *method, const char *key, int expires_s);
