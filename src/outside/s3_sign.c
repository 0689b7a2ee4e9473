/* s3_sign.c - see s3_sign.h. */
#include "outside/s3_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/crypto.h"
#include "outside/fetch.h"

enum {
	DATE_LEN = 16,		/* 20130524T000000Z */
	CANONICAL_MAX = 1 << 16 /* a key has at most 1,024 bytes, each of which may become three */
};

#define ALGORITHM "AWS4-HMAC-SHA256"

/* All that goes into one signature. */
struct signing {
	const struct s3_signer *by;
	struct arena *a;
	const struct s3_request *request;
	char date[DATE_LEN + 1];
	const char *scope;
	struct s3_pair query[S3_PAIRS_MAX + 5]; /* encoded */
	size_t query_count;
	struct s3_pair headers[S3_PAIRS_MAX + 3];
	size_t header_count;
};

static void begin_signing(struct signing *s, int64_t now_s)
{
	time_t t = (time_t)now_s;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(s->date, sizeof s->date, "%Y%m%dT%H%M%SZ", &tm);
	s->scope = arena_printf(s->a, "%.8s/%s/s3/aws4_request", s->date, s->by->region);
}

static void add_header(struct signing *s, const char *name, const char *value)
{
	INVARIANT(s->header_count < sizeof s->headers / sizeof *s->headers);
	s->headers[s->header_count++] = (struct s3_pair){ name, value };
}

static void add_query(struct signing *s, const char *name, const char *value)
{
	INVARIANT(s->query_count < sizeof s->query / sizeof *s->query);
	s->query[s->query_count++] =
		(struct s3_pair){ fetch_escape(s->a, name), fetch_escape(s->a, value) };
}

static int compare_pairs(const void *a, const void *b)
{
	const struct s3_pair *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->value, y->value);
}

/* Every byte but unreserved ones and slashes. */
static const char *encode_path(struct arena *a, const char *path)
{
	struct buf b;
	const char *text;

	buf_init(&b, CANONICAL_MAX);
	while (*path) {
		size_t n = strcspn(path, "/");

		buf_puts(&b, fetch_escape(a, arena_strndup(a, path, n)));
		path += n;
		if (*path) {
			buf_putc(&b, '/');
			path++;
		}
	}
	INVARIANT(!b.overflow);
	text = arena_take(a, &b);
	return text;
}

static const char *write_query(struct signing *s)
{
	struct buf b;

	qsort(s->query, s->query_count, sizeof *s->query, compare_pairs);
	buf_init(&b, CANONICAL_MAX);
	for (size_t i = 0; i < s->query_count; i++)
		buf_printf(&b, "%s%s=%s", i ? "&" : "", s->query[i].name, s->query[i].value);
	INVARIANT(!b.overflow);
	return arena_take(s->a, &b);
}

static const char *signed_names(struct signing *s)
{
	struct buf b;

	qsort(s->headers, s->header_count, sizeof *s->headers, compare_pairs);
	buf_init(&b, CANONICAL_MAX);
	for (size_t i = 0; i < s->header_count; i++)
		buf_printf(&b, "%s%s", i ? ";" : "", s->headers[i].name);
	INVARIANT(!b.overflow);
	return arena_take(s->a, &b);
}

/* A value without blanks at its ends, and with one where there are more. */
static void put_value(struct buf *b, const char *value)
{
	bool blank = false, begun = false;

	for (; *value; value++) {
		if (*value == ' ' || *value == '\t') {
			blank = begun;
			continue;
		}
		if (blank)
			buf_putc(b, ' ');
		buf_putc(b, *value);
		blank = false;
		begun = true;
	}
}

static void hex_digest(const void *bytes, size_t n, char out[2 * SHA256_LEN + 1])
{
	uint8_t digest[SHA256_LEN];

	sha256(bytes, n, digest);
	hex_write(digest, sizeof digest, out);
}

static void make_signature(struct signing *s, const char *text, char out[2 * SHA256_LEN + 1])
{
	const char *const steps[] = { arena_strndup(s->a, s->date, 8), s->by->region, "s3",
		"aws4_request", text };
	char first[4 + 256];
	uint8_t key[SHA256_LEN];
	int n = snprintf(first, sizeof first, "AWS4%s", s->by->secret);

	INVARIANT(n > 0 && (size_t)n < sizeof first);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		hmac_sha256(i ? (const void *)key : first, i ? sizeof key : (size_t)n, steps[i],
			strlen(steps[i]), key);
	hex_write(key, sizeof key, out);
	wipe(first, sizeof first);
	wipe(key, sizeof key);
}

static void sign_request(struct signing *s, const char *path, const char *query, const char *names,
	const char *digest, char out[2 * SHA256_LEN + 1])
{
	char canonical[2 * SHA256_LEN + 1];
	struct buf b;

	buf_init(&b, CANONICAL_MAX);
	buf_printf(&b, "%s\n%s\n%s\n", s->request->method, path, query);
	for (size_t i = 0; i < s->header_count; i++) {
		buf_printf(&b, "%s:", s->headers[i].name);
		put_value(&b, s->headers[i].value);
		buf_putc(&b, '\n');
	}
	buf_printf(&b, "\n%s\n%s", names, digest);
	INVARIANT(!b.overflow);
	hex_digest(b.at, b.len, canonical);
	buf_free(&b);
	make_signature(s,
		arena_printf(s->a, "%s\n%s\n%s\n%s", ALGORITHM, s->date, s->scope, canonical), out);
}

void s3_sign(const struct s3_signer *by, struct arena *a, const struct s3_request *request,
	int64_t now_s, struct s3_signed *ret)
{
	struct signing s = { .by = by, .a = a, .request = request };
	const char *path = encode_path(a, request->path), *query, *names;
	char signature[2 * SHA256_LEN + 1];

	begin_signing(&s, now_s);
	for (size_t i = 0; i < request->query_count; i++)
		add_query(&s, request->query[i].name, request->query[i].value);
	for (size_t i = 0; i < request->header_count; i++)
		add_header(&s, request->headers[i].name, request->headers[i].value);
	add_header(&s, "x-amz-date", arena_strdup(a, s.date));
	add_header(&s, "x-amz-content-sha256", request->digest);
	add_header(&s, "host", request->host);
	query = write_query(&s);
	names = signed_names(&s);
	sign_request(&s, path, query, names, request->digest, signature);
	ret->target = *query ? arena_printf(a, "%s?%s", path, query) : path;
	ret->header_count = 0;
	for (size_t i = 0; i < s.header_count; i++)
		if (strcmp(s.headers[i].name, "host") != 0)
			ret->headers[ret->header_count++] = s.headers[i];
	ret->headers[ret->header_count++] = (struct s3_pair){ "authorization",
		arena_printf(a, "%s Credential=%s/%s,SignedHeaders=%s,Signature=%s", ALGORITHM,
			by->key_id, s.scope, names, signature) };
}

const char *s3_presign(const struct s3_signer *by, struct arena *a,
	const struct s3_request *request, int64_t now_s, int expires_s)
{
	struct signing s = { .by = by, .a = a, .request = request };
	const char *path = encode_path(a, request->path), *query, *names;
	char signature[2 * SHA256_LEN + 1];

	INVARIANT(expires_s > 0 && expires_s <= S3_PRESIGN_MAX_S);
	begin_signing(&s, now_s);
	for (size_t i = 0; i < request->header_count; i++)
		add_header(&s, request->headers[i].name, request->headers[i].value);
	add_header(&s, "host", request->host);
	names = signed_names(&s);
	for (size_t i = 0; i < request->query_count; i++)
		add_query(&s, request->query[i].name, request->query[i].value);
	add_query(&s, "X-Amz-Algorithm", ALGORITHM);
	add_query(&s, "X-Amz-Credential", arena_printf(a, "%s/%s", by->key_id, s.scope));
	add_query(&s, "X-Amz-Date", s.date);
	add_query(&s, "X-Amz-Expires", arena_printf(a, "%d", expires_s));
	add_query(&s, "X-Amz-SignedHeaders", names);
	query = write_query(&s);
	sign_request(&s, path, query, names, S3_UNSIGNED, signature);
	return arena_printf(a, "%s?%s&X-Amz-Signature=%s", path, query, signature);
}
