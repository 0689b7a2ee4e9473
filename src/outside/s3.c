/* s3.c - see s3.h: objects put, got, looked at, removed and listed. */
#include "outside/s3_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"

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

	if ((int64_t)file->len > s3_part_bytes(s))
		return s3_put_parts(s, a, key, content_type, file, p);
	return s3_send(s, a, &c, &out, p);
}

/* Content-Range: bytes 5-9/100 */
static bool is_range_from(const struct fetched *out, int64_t from)
{
	static const char unit[] = "bytes ";
	char *end;

	return out->status == 206 && out->header && strncmp(out->header, unit, strlen(unit)) == 0 &&
	       strtoll(out->header + strlen(unit), &end, 10) == from && *end == '-';
}

int s3_get(struct s3 *s, struct arena *a, const char *key, int64_t from, int64_t bytes,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct problem *p)
{
	struct s3_call c = { .method = "GET",
		.key = key,
		.take = take,
		.take_ctx = ctx,
		.wanted = "content-range" };
	struct fetched out;
	int err;

	if (!bytes)
		return 0;
	if (bytes > 0)
		c.range = arena_printf(
			a, "bytes=%lld-%lld", (long long)from, (long long)(from + bytes - 1));
	else if (from)
		c.range = arena_printf(a, "bytes=%lld-", (long long)from);
	/* Who overlooks a range would send the first bytes in the place of those that were asked for. */
	c.take_status = from ? 206 : 0;
	err = s3_send(s, a, &c, &out, p);
	if (!err && from && !is_range_from(&out, from))
		err = problem_set(p, a, ERR_UPSTREAM,
			"The bucket %s answered with another part of an object.", s3_name(s));
	return err;
}

int s3_head(
	struct s3 *s, struct arena *a, const char *key, struct s3_object *ret, struct problem *p)
{
	struct s3_call c = { .method = "HEAD", .key = key };
	struct fetched out;
	int err = s3_send(s, a, &c, &out, p);

	if (!err && out.length < 0)
		err = problem_set(p, a, ERR_UPSTREAM,
			"The bucket %s does not say how long an object is.", s3_name(s));
	*ret = (struct s3_object){ .key = key, .size_bytes = out.length };
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
	const char *size = s3_xml_text(in, a, "Size"), *at = s3_xml_text(in, a, "LastModified");

	if (!key || !size || *size < '0' || *size > '9' || !at || !decode_key(key))
		return false;
	*ret = (struct s3_object){ key, strtoll(size, &end, 10), 0 };
	return !*end && time_read(at, strlen(at), &ret->changed_us);
}

static bool read_page(
	struct arena *a, const struct fetched *out, const char *token, struct s3_page *ret)
{
	struct s3_xml all = { out->body, out->body + out->len }, list, one;
	const char *more;

	*ret = (struct s3_page){ .at = arena_array(a, struct s3_object, S3_PAGE) };
	if (!s3_xml_element(&all, "ListBucketResult", &list))
		return false;
	more = s3_xml_text(list, a, "IsTruncated");
	if (more && strcmp(more, "true") == 0) {
		ret->next = s3_said(out, a, "NextContinuationToken");
		if (!ret->next || (token && strcmp(ret->next, token) == 0)) /* it would never end */
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
	if (!err && !read_page(a, &out, token, ret))
		err = problem_set(p, a, ERR_UPSTREAM,
			"The bucket %s answered with a list that cannot be read.", s3_name(s));
	return err;
}
