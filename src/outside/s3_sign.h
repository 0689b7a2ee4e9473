/* s3_sign.h - AWS Signature Version 4 for S3: of a request, and of a URL that anybody may use for a while.
 *
 * Our own, because libcurl's signs what it sends only where the caller has
 * encoded and sorted it first, and gives a wrong signature for `=`, `+`, `(`
 * or `!` in a key.  Nothing here connects to anybody. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { S3_PAIRS_MAX = 16, S3_PRESIGN_MAX_S = 7 * 86400 };

/* Instead of a digest: the body is not signed, which is good only under TLS. */
#define S3_UNSIGNED "UNSIGNED-PAYLOAD"
/* The digest of an empty body. */
#define S3_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct s3_signer {
	const char *region, *key_id, *secret;
};

struct s3_pair {
	const char *name, *value;
};

struct s3_request {
	const char *method;
	const char *host; /* as the Host header has it */
	const char *path; /* as people write it: "/bucket/a key" */
	const struct s3_pair *query;
	size_t query_count;
	const struct s3_pair *headers; /* to be signed, their names in lower case */
	size_t header_count;
	const char *digest; /* of the body: SHA-256 in hexadecimal, or S3_UNSIGNED */
};

struct s3_signed {
	const char *target; /* path and query, encoded */
	/* Those that were given, and x-amz-date, x-amz-content-sha256, authorization. */
	struct s3_pair headers[S3_PAIRS_MAX + 3];
	size_t header_count;
};

void s3_sign(const struct s3_signer *by, struct arena *a, const struct s3_request *request,
	int64_t now_s, struct s3_signed *ret);
/* The target of a URL that holds for so many seconds; of the headers only those that are given are signed. */
const char *s3_presign(const struct s3_signer *by, struct arena *a,
	const struct s3_request *request, int64_t now_s, int expires_s);
