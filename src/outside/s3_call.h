/* s3_call.h - what the files of S3 share: one request, told in a struct. */
#pragma once
#include "outside/s3.h"
#include "outside/s3_sign.h"
#include "outside/s3_xml.h"

struct s3_call {
	const char *method, *key;
	const struct s3_pair *query;
	size_t query_count;
	const struct s3_pair *headers; /* x-amz-*, which are signed */
	size_t header_count;
	const char *digest; /* of the body; NULL: it is empty */
	const char *body;   /* or a file, or neither */
	const struct fetch_file *file;
	const char *content_type, *range;
	const char *wanted; /* a header of the answer */
	bool (*take)(void *ctx, const char *bytes, size_t n);
	void *take_ctx;
	int take_status; /* 0: any of 200 to 299 */
};

/* What S3 names and has said back to it, the id of an upload or the place in a list; S3's own have some hundred bytes. */
enum { S3_SAID_MAX = 4096 };
/* The text of an element that is to be said back, or NULL if there is none or it is longer. */
const char *s3_said(const struct fetched *out, struct arena *a, const char *name);

/* 0 for an answer of 200 to 299. */
int s3_send(struct s3 *s, struct arena *a, const struct s3_call *c, struct fetched *out,
	struct problem *p);
const char *s3_name(const struct s3 *s);
int64_t s3_part_bytes(const struct s3 *s);
/* A digest in hexadecimal as S3's headers have it. */
const char *s3_checksum(struct arena *a, const char *sha256);
/* s3_parts.c */
int s3_put_parts(struct s3 *s, struct arena *a, const char *key, const char *content_type,
	const struct fetch_file *file, struct problem *p);
