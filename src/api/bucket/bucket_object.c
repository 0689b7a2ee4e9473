/* bucket_object.c - what is done to one object of a bucket, whoever asked for it: see bucket_object.h.
 *
 * A put is permitted, and its room claimed, before its first byte is taken;
 * its bytes go to the disk as they come, and the row that names them is written
 * last.  What is read is always an attachment, so that no browser shows a
 * stranger's file as a page of ours. */
#include "api/bucket/bucket_object.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/service.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"

#define NO_OBJECT "There is no such object."

FIELDS(BucketObject) = {
	FIELD(BucketObject, id, .required = true, .id = true, .doc = "Its name in lists."),
	FIELD(BucketObject, key, .required = true, .example = "\"imports/helper.zip\"",
		.doc = "What it is called in the bucket."),
	FIELD(BucketObject, size_bytes, .required = true, .doc = "How many bytes it has."),
	FIELD(BucketObject, sha256, .required = true,
		.doc = "Their SHA-256, in hexadecimal; in quotes it is the object's ETag."),
	FIELD(BucketObject, content_type, .required = true, .example = "\"application/zip\"",
		.doc = "The Content-Type with which it was put."),
	FIELD(BucketObject, created_at, .required = true, .doc = "When the key was first put."),
	FIELD(BucketObject, updated_at, .required = true, .doc = "When the bytes were put."),
	FIELD(BucketObject, storage_uri, .required = true,
		.doc = "The object as other operations name it."),
};
SCHEMA(BucketObject, .doc = "An object of the tenant's bucket.");

/* What is reserved is as if it were not there. */
int object_check_key(struct call *c, const char *key)
{
	const char *fault = bucket_key_fault(key);

	if (bucket_key_is_reserved(key))
		return call_fail(c, ERR_NOT_FOUND, NO_OBJECT);
	return fault ? call_field(c, "key", "key", "%s", fault) : 0;
}

static int find_object(struct call *c, const char *key, struct bucket_row *ret)
{
	int err = object_check_key(c, key);

	if (!err)
		err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, ret);
	if (err == ERR_NOT_FOUND)
		call_fail(c, err, NO_OBJECT);
	return err;
}

static const char *object_tag(struct call *c, const struct bucket_row *row)
{
	return arena_printf(c->arena, "\"%s\"", row->sha256);
}

/* For the audit log: which object it was. */
static void note_object(struct call *c, const struct bucket_row *row)
{
	struct buf b;

	buf_init(&b, 8 * BUCKET_KEY_MAX);
	buf_lit(&b, "{\"key\":");
	json_write_string(&b, row->key, strlen(row->key));
	buf_printf(&b, ",\"size_bytes\":%lld,\"sha256\":\"%s\"}", (long long)row->size_bytes,
		row->sha256);
	c->audit.meta = arena_take(c->arena, &b);
	c->audit.resource_id = row->id;
}

/* ---- read ---- */

static int open_object(struct call *c, int *ret_fd)
{
	return bucket_open(service_of(c->app)->bucket, c->own, ret_fd, c->arena, &c->problem);
}

/* One that comes from elsewhere, for longer than the call perhaps. */
struct object_source {
	struct bucket *bucket;
	struct bucket_row row;
	struct arena arena;
};

static int fetch_object(void *from, uint64_t at, uint64_t len,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct arena *a,
	struct problem *p)
{
	struct object_source *s = from;

	return bucket_fetch(s->bucket, &s->row, (int64_t)at, (int64_t)len, take, ctx, a, p);
}

static int spool_object(void *from)
{
	return bucket_spool(((struct object_source *)from)->bucket);
}

static void let_object_go(void *from)
{
	struct object_source *s = from;

	arena_free(&s->arena);
	free(s);
}

static bool object_source(struct call *c, struct call_source *ret)
{
	const struct bucket_row *row = c->own;
	struct bucket *b = service_of(c->app)->bucket;
	struct object_source *s;

	if (!bucket_comes_from_elsewhere(b))
		return false;
	s = memory_zeroed(sizeof *s);
	s->bucket = b;
	s->row = (struct bucket_row){ .tenant_id = arena_strdup(&s->arena, row->tenant_id),
		.key = arena_strdup(&s->arena, row->key),
		.blob = arena_strdup(&s->arena, row->blob),
		.size_bytes = row->size_bytes };
	*ret = (struct call_source){
		.from = s, .fetch = fetch_object, .spool = spool_object, .let_go = let_object_go
	};
	memcpy(ret->sha256, row->sha256, sizeof ret->sha256);
	return true;
}

int object_send_row(
	struct call *c, const struct bucket_row *row, const char *name, const char *type)
{
	struct bucket_row *own = c->own = arena_new(c->arena, struct bucket_row);

	*own = *row;
	call_attach(c, name);
	buf_lit(&c->x->reply.extra, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
	return call_send_file(c, &(struct call_file){ .size = (uint64_t)row->size_bytes,
					 .tag = object_tag(c, row),
					 .type = type,
					 .open = open_object,
					 .source = object_source });
}

int object_send(struct call *c, const char *key)
{
	const char *slash = strrchr(key, '/');
	struct bucket_row row;
	int err = find_object(c, key, &row);

	return err ? err : object_send_row(c, &row, slash ? slash + 1 : key, row.content_type);
}

/* ---- put ---- */

struct object_made {
	struct app *app;
	struct bucket_upload *upload;
	struct bucket_stored stored;
	int64_t until; /* of one that is put: when no more is taken; or NIL */
};

static void end_make(void *data)
{
	const struct object_made *m = data;

	bucket_upload_end(m->upload, m->app->disk);
}

struct object_made *object_make_begin(struct call *c)
{
	struct object_made *m = arena_new(c->arena, struct object_made);

	m->app = c->app;
	m->upload = bucket_upload_new(service_of(c->app)->bucket, c->caller.tenant_id);
	arena_defer(c->arena, end_make, m);
	return m;
}

static struct object_made *putting_of(struct call *c)
{
	if (!c->own)
		c->own = object_make_begin(c);
	return c->own;
}

/* A piece comes soon or the connection ends: so nobody holds room for much longer than their address holds. */
static int take_object_bytes(struct call *c, const void *bytes, size_t n)
{
	const struct object_made *put = c->own;

	if (put->until != NIL && put->until <= clock_now_us())
		return call_fail(c, ERR_FORBIDDEN, OBJECT_EXPIRED);
	return bucket_upload_write(put->upload, bytes, n, c->arena, &c->problem);
}

/* Whether it may be put there, by what is there now. */
static int match_object(struct call *c, const char *key, int64_t *ret_size)
{
	struct bucket_row row;
	int err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, &row);

	if (err && err != ERR_NOT_FOUND)
		return err;
	*ret_size = err ? 0 : row.size_bytes;
	return call_match(c, err ? NULL : object_tag(c, &row));
}

static int64_t most_of(struct call *c)
{
	return bucket_tenant_max(service_of(c->app)->bucket);
}

static int no_room(struct call *c, int64_t replaced)
{
	return bucket_no_room(
		c->db, c->caller.tenant_id, most_of(c), replaced, c->arena, &c->problem);
}

int object_intake(struct call *c, const char *key, int64_t until)
{
	const struct http_request *r = &c->x->request;
	int64_t used = 0, stands = 0, room = 0;
	int err = object_check_key(c, key);

	if (!err)
		err = match_object(c, key, &stands);
	if (!err)
		err = bucket_used(c->db, c->caller.tenant_id, &used);
	if (err)
		return err;
	c->take = take_object_bytes;
	putting_of(c)->until = until;
	if (!r->chunked && r->content_length > INT64_MAX / 2)
		return no_room(c, stands);
	if (bucket_room(c->db, c->caller.tenant_id, most_of(c), 0, stands) == ERR_NO_SPACE)
		return no_room(c, stands);
	err = bucket_upload_claim(putting_of(c)->upload, used, stands,
		r->chunked ? 1 : (int64_t)r->content_length, &room);
	c->x->max_body = (uint64_t)room;
	return err ? no_room(c, stands) : 0;
}

/* 0 if none was sent. */
static int check_digest(struct call *c, const char *digest)
{
	const char *wanted = http_header(&c->x->request, "x-sha256");

	if (!wanted || (strlen(wanted) == 64 && strcasecmp(wanted, digest) == 0))
		return 0;
	return call_field(
		c, "x-sha256", "digest", "is not the digest of what came, which is %s", digest);
}

int object_prepare(struct call *c)
{
	struct object_made *put = putting_of(c);
	char digest[65];
	int err;

	bucket_upload_digest(put->upload, digest);
	err = check_digest(c, digest);
	return err ? err : bucket_upload_finish(put->upload, &put->stored, c->arena, &c->problem);
}

static const char *type_of_object(struct call *c)
{
	const char *type = http_header(&c->x->request, "content-type");

	return type && *type && strlen(type) <= BUCKET_TYPE_MAX ? type : "application/octet-stream";
}

static void show_object(struct call *c, const struct bucket_row *row, struct BucketObject *out)
{
	*out = (struct BucketObject){ .id = row->id,
		.key = row->key,
		.size_bytes = row->size_bytes,
		.sha256 = row->sha256,
		.content_type = row->content_type,
		.created_at = { row->created_at },
		.updated_at = { row->updated_at },
		.storage_uri = bucket_uri(c->arena, row->tenant_id, row->key) };
	buf_printf(&c->x->reply.extra, "ETag: %s\r\n", object_tag(c, row));
}

const char *const object_types[] = { "*/*", NULL };

static int64_t standing_bytes(struct call *c, const char *key)
{
	struct bucket_row row;
	int err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, &row);

	return err ? 0 : row.size_bytes;
}

int object_make_row(struct call *c, struct object_made *m, const char *key, const char *type,
	struct bucket_row *ret)
{
	int64_t used = 0;
	int err;

	bucket_upload_keep(m->upload, false); /* an earlier run has come to nothing */
	err = bucket_row_put(c->db, c->arena,
		&(struct bucket_putting){ .tenant_id = c->caller.tenant_id,
			.key = key,
			.content_type = type,
			.stored = &m->stored,
			.tenant_max = most_of(c),
			.now = c->now },
		ret, &c->standing);
	if (!err)
		err = bucket_used(c->db, c->caller.tenant_id, &used);
	if (err)
		return err == ERR_NO_SPACE ? no_room(c, standing_bytes(c, key)) : err;
	/* A commit whose end nobody hears of may have been made: bytes that no row names are collected. */
	bucket_upload_keep(m->upload, true);
	bucket_upload_came_to(m->upload, used);
	return 0;
}

int object_put(struct call *c, const char *key, struct BucketObject *out)
{
	struct bucket_row row;
	int64_t stands = 0;
	int err = match_object(c, key, &stands);

	if (!err)
		err = object_make_row(c, c->own, key, type_of_object(c), &row);
	if (err)
		return err;
	show_object(c, &row, out);
	note_object(c, &row);
	return 0;
}

/* ---- delete ---- */

int object_delete(struct call *c, const char *key)
{
	struct bucket_row row;
	int err = find_object(c, key, &row);

	if (!err)
		err = call_match(c, object_tag(c, &row));
	if (err)
		return err;
	note_object(c, &row);
	return bucket_row_remove(c->db, &row, c->now);
}

/* ---- for other operations ---- */

int object_key_named(struct call *c, const char *field, const char *uri, const char **ret_key)
{
	const char *fault;

	*ret_key = bucket_uri_key(service_of(c->app)->bucket, uri, c->caller.tenant_id, &fault);
	return *ret_key ? 0 : call_field(c, field, "bucket", "%s", fault);
}

int object_named(struct call *c, const char *field, const char *uri, struct bucket_row *ret)
{
	const char *key;
	int err = object_key_named(c, field, uri, &key);

	if (!err)
		err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, ret);
	return err == ERR_NOT_FOUND ? call_field(c, field, "unknown", "names no object") : err;
}

int object_make_claim(struct call *c, struct object_made *m, const char *key, size_t n)
{
	struct bucket_row row = { 0 };
	int64_t used = 0, room = 0;
	int err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, &row);

	if (err == ERR_NOT_FOUND)
		row.size_bytes = 0;
	else if (err)
		return err;
	err = bucket_used(c->db, c->caller.tenant_id, &used);
	if (err)
		return err;
	err = bucket_upload_claim(m->upload, used, row.size_bytes, (int64_t)n, &room);
	return err ? no_room(c, row.size_bytes) : 0;
}

int object_make(struct call *c, struct object_made *m, const void *bytes, size_t n)
{
	return bucket_store(m->upload, bytes, n, &m->stored, c->arena, &c->problem);
}
