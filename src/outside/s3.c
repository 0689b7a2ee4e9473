/* s3.c - see s3.h: the requests, signed and sent; what is large goes by way of s3_parts.c. */
#include "outside/s3_call.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/memory.h"

enum {
	SILENCE_S = 30,
	TOTAL_MS = 2 * 3600 * 1000, /* of one request; a part takes far less */
	ANSWER_MAX = 4 << 20,	    /* a page of a thousand keys, each of them percent-encoded */
	SAID_MAX = 200
};

struct s3 {
	struct s3_settings in;
	struct s3_signer signer;
	struct arena arena;
	const char *base, *host; /* with the bucket in them, as its style is */
	const char *above;	 /* what stands before a key in the path */
	_Atomic int64_t skew_s;	 /* how far its clock is ahead of ours */
};

struct s3 *s3_new(const struct s3_settings *in)
{
	struct s3 *s = memory_zeroed(sizeof *s);
	struct arena *a = &s->arena;
	const char *endpoint = fetch_base_trimmed(a, in->endpoint), *host;

	s->in = *in;
	s->in.bucket = arena_strdup(a, in->bucket);
	s->in.part_bytes = in->part_bytes ? in->part_bytes : S3_PART;
	s->in.silence_s = in->silence_s ? in->silence_s : SILENCE_S;
	s->signer = (struct s3_signer){ arena_strdup(a, in->region), arena_strdup(a, in->key_id),
		arena_strdup(a, in->secret), in->token ? arena_strdup(a, in->token) : NULL };
	host = strstr(endpoint, "://");
	INVARIANT(host);
	host += 3;
	if (in->path_style) {
		s->base = endpoint;
		s->host = host;
		s->above = arena_printf(a, "/%s", s->in.bucket);
	} else {
		s->base = arena_printf(
			a, "%.*s%s.%s", (int)(host - endpoint), endpoint, s->in.bucket, host);
		s->host = arena_printf(a, "%s.%s", s->in.bucket, host);
		s->above = "";
	}
	return s;
}

void s3_free(struct s3 *s)
{
	if (!s)
		return;
	wipe((char *)s->signer.secret, strlen(s->signer.secret));
	arena_free(&s->arena);
	free(s);
}

int64_t s3_part_bytes(const struct s3 *s)
{
	return s->in.part_bytes;
}

static int64_t s3_now(struct s3 *s)
{
	return clock_now_us() / 1000000 + s->skew_s;
}

static const char *path_of(const struct s3 *s, struct arena *a, const char *key)
{
	return arena_printf(a, "%s/%s", s->above, key);
}

/* ---- one request ---- */

static int send_once(struct s3 *s, struct arena *a, const struct s3_call *c, struct fetched *out,
	const char **ret_why)
{
	struct s3_request request = { .method = c->method,
		.host = s->host,
		.path = path_of(s, a, c->key),
		.query = c->query,
		.query_count = c->query_count,
		.headers = c->headers,
		.header_count = c->header_count,
		.digest = c->digest ? c->digest : S3_EMPTY };
	struct fetch_header headers[S3_PAIRS_MAX + 6];
	struct fetch fetch = { .egress = s->in.egress,
		.method = c->method,
		.body = c->body,
		.body_len = c->body ? strlen(c->body) : 0,
		.file = c->file,
		.headers = headers,
		.answer_max = ANSWER_MAX,
		.total_ms = TOTAL_MS,
		.silence_s = s->in.silence_s,
		.wanted = c->wanted,
		.take = c->take,
		.take_ctx = c->take_ctx };
	struct s3_signed done;

	s3_sign(&s->signer, a, &request, s3_now(s), &done);
	for (size_t i = 0; i < done.header_count; i++)
		headers[fetch.header_count++] =
			(struct fetch_header){ done.headers[i].name, done.headers[i].value };
	if (c->range)
		headers[fetch.header_count++] = (struct fetch_header){ "range", c->range };
	if (c->content_type || c->body)
		headers[fetch.header_count++] = (struct fetch_header){ "content-type",
			c->content_type ? c->content_type : "application/xml" };
	fetch.url = arena_printf(a, "%s%s", s->base, done.target);
	return fetch_run(&fetch, a, out, ret_why);
}

/* A word of the other side's: in the log and in answers it must stay one. */
static const char *plain_word(struct arena *a, const char *text)
{
	char *word = arena_strndup(a, text, strnlen(text, SAID_MAX));

	for (char *c = word; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '-';
	return word;
}

/* As in a Date header: what the other side's clock is ahead of ours. */
static bool learn_skew(struct s3 *s, const char *date)
{
	struct tm tm = { 0 };

	if (!date || !strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		return false;
	s->skew_s = (int64_t)timegm(&tm) - clock_now_us() / 1000000;
	return true;
}

int s3_send(struct s3 *s, struct arena *a, const struct s3_call *c, struct fetched *out,
	struct problem *p)
{
	const char *why = NULL, *code = NULL;
	int err = send_once(s, a, c, out, &why);

	if (!err && out->status == 403) {
		code = s3_xml_text((struct s3_xml){ out->body, out->body + out->len }, a, "Code");
		if (code && strcmp(code, "RequestTimeTooSkewed") == 0 && learn_skew(s, out->date))
			err = send_once(s, a, c, out, &why);
	}
	if (err)
		return problem_set(p, a, out->late ? ERR_TOO_SLOW : ERR_UPSTREAM,
			"The bucket %s cannot be reached: %s.", s->in.bucket, why);
	if (out->status >= 200 && out->status < 300)
		return 0;
	code = s3_xml_text((struct s3_xml){ out->body, out->body + out->len }, a, "Code");
	if (out->status == 404 && (!code || strcmp(code, "NoSuchBucket") != 0))
		return ERR_NOT_FOUND;
	return problem_set(p, a, ERR_UPSTREAM, "The bucket %s answered %d%s%s.", s->in.bucket,
		out->status, code ? " " : "", code ? plain_word(a, code) : "");
}

/* ---- objects ---- */

const char *s3_checksum(struct arena *a, const char *sha256)
{
	uint8_t digest[SHA256_LEN];
	size_t n = base64_length(sizeof digest);
	char *text = arena_alloc(a, n + 1);

	INVARIANT(hex_read(sha256, strlen(sha256), digest, sizeof digest));
	base64_encode(digest, sizeof digest, text);
	text[n] = '\0';
	return text;
}

int s3_put(struct s3 *s, struct arena *a, const char *key, const char *content_type,
	const struct fetch_file *file, const char *sha256, struct problem *p)
{
	struct s3_pair checksum = { "x-amz-checksum-sha256", s3_checksum(a, sha256) };
	struct s3_call c = { .method = "PUT",
		.key = key,
		.headers = &checksum,
		.header_count = 1,
		.digest = sha256,
		.file = file,
		.content_type = content_type };
	struct fetched out;

	if ((int64_t)file->len > s->in.part_bytes)
		return s3_put_parts(s, a, key, content_type, file, p);
	return s3_send(s, a, &c, &out, p);
}

int s3_get(struct s3 *s, struct arena *a, const char *key, int64_t from, int64_t bytes,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct problem *p)
{
	struct s3_call c = { .method = "GET", .key = key, .take = take, .take_ctx = ctx };
	struct fetched out;

	if (bytes >= 0)
		c.range = arena_printf(
			a, "bytes=%lld-%lld", (long long)from, (long long)(from + bytes - 1));
	else if (from)
		c.range = arena_printf(a, "bytes=%lld-", (long long)from);
	return bytes == 0 ? 0 : s3_send(s, a, &c, &out, p);
}

int s3_head(
	struct s3 *s, struct arena *a, const char *key, struct s3_object *ret, struct problem *p)
{
	struct s3_call c = { .method = "HEAD", .key = key };
	struct fetched out;
	int err = s3_send(s, a, &c, &out, p);

	if (!err && out.length < 0)
		err = problem_set(p, a, ERR_UPSTREAM,
			"The bucket %s does not say how long an object is.", s->in.bucket);
	*ret = (struct s3_object){ key, out.length };
	return err;
}

int s3_remove(struct s3 *s, struct arena *a, const char *key, struct problem *p)
{
	struct s3_call c = { .method = "DELETE", .key = key };
	struct fetched out;
	int err = s3_send(s, a, &c, &out, p);

	return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- lists ---- */

/* Percent-encoded, in place; a plus is a blank there. */
static bool decode_key(char *text)
{
	char *out = text;

	for (; *text; text++) {
		uint8_t byte;

		if (*text == '+') {
			*out++ = ' ';
		} else if (*text != '%') {
			*out++ = *text;
		} else {
			if (!text[1] || !text[2] || !hex_read(text + 1, 2, &byte, 1) || !byte)
				return false;
			*out++ = (char)byte;
			text += 2;
		}
	}
	*out = '\0';
	return true;
}

static bool read_object(struct s3_xml in, struct arena *a, struct s3_object *ret)
{
	char *key = (char *)s3_xml_text(in, a, "Key"), *end;
	const char *size = s3_xml_text(in, a, "Size");

	if (!key || !size || *size < '0' || *size > '9' || !decode_key(key))
		return false;
	*ret = (struct s3_object){ key, strtoll(size, &end, 10) };
	return !*end;
}

static bool read_page(struct arena *a, const struct fetched *out, struct s3_page *ret)
{
	struct s3_xml all = { out->body, out->body + out->len }, list, one;
	const char *more;

	*ret = (struct s3_page){ .at = arena_array(a, struct s3_object, S3_PAGE) };
	if (!s3_xml_element(&all, "ListBucketResult", &list))
		return false;
	more = s3_xml_text(list, a, "IsTruncated");
	if (more && strcmp(more, "true") == 0) {
		ret->next = s3_xml_text(list, a, "NextContinuationToken");
		if (!ret->next)
			return false;
	}
	while (s3_xml_element(&list, "Contents", &one))
		if (ret->count == S3_PAGE || !read_object(one, a, &ret->at[ret->count++]))
			return false;
	return true;
}

int s3_list(struct s3 *s, struct arena *a, const char *prefix, const char *token,
	struct s3_page *ret, struct problem *p)
{
	struct s3_pair query[4] = { { "list-type", "2" }, { "encoding-type", "url" },
		{ "prefix", prefix } };
	struct s3_call c = { .method = "GET", .key = "", .query = query, .query_count = 3 };
	struct fetched out;
	int err;

	if (token)
		query[c.query_count++] = (struct s3_pair){ "continuation-token", token };
	err = s3_send(s, a, &c, &out, p);
	if (!err && !read_page(a, &out, ret))
		err = problem_set(p, a, ERR_UPSTREAM,
			"The bucket %s answered with a list that cannot be read.", s->in.bucket);
	return err;
}

const char *s3_url(
	struct s3 *s, struct arena *a, const char *method, const char *key, int expires_s)
{
	struct s3_request request = {
		.method = method, .host = s->host, .path = path_of(s, a, key)
	};

	return arena_printf(
		a, "%s%s", s->base, s3_presign(&s->signer, a, &request, s3_now(s), expires_s));
}
