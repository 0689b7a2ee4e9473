/* s3_call.c - one request to S3: signed, sent, and sent again where only the clock was wrong. */
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
	SAID_MAX = 200,
	YEARS_MAX = 8000 /* since 1900, of the clock of S3: a signature has four digits for one */
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
		arena_strdup(a, in->secret) };
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

const char *s3_name(const struct s3 *s)
{
	return s->in.bucket;
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
	struct fetch_header headers[S3_PAIRS_MAX + 5];
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
		.take_ctx = c->take_ctx,
		.take_status = c->take_status };
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

	if (!date || !strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm) || tm.tm_year < 0 ||
		tm.tm_year > YEARS_MAX)
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

const char *s3_said(const struct fetched *out, struct arena *a, const char *name)
{
	const char *text = s3_xml_text((struct s3_xml){ out->body, out->body + out->len }, a, name);

	return text && strlen(text) <= S3_SAID_MAX ? text : NULL;
}

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

const char *s3_url(
	struct s3 *s, struct arena *a, const char *method, const char *key, int expires_s)
{
	struct s3_request request = {
		.method = method, .host = s->host, .path = path_of(s, a, key)
	};

	return arena_printf(
		a, "%s%s", s->base, s3_presign(&s->signer, a, &request, s3_now(s), expires_s));
}
