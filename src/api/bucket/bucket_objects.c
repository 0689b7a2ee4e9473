/* bucket_objects.c - the operations on a tenant's bucket: its objects listed, read, put and deleted by key. */
#include "api/bucket/bucket_object.h"
#include "store/listing.h"

struct bucket_query {
	const char *prefix;
};

FIELDS(bucket_query) = {
	FIELD(bucket_query, prefix, .nullable = true, BOUNDS(1, BUCKET_KEY_MAX),
		.example = "\"imports/\"", .doc = "Only objects whose key begins so."),
};
SCHEMA(bucket_query, .doc = "Which objects.");

struct object_query {
	const char *key;
};

FIELDS(object_query) = {
	FIELD(object_query, key, .required = true, BOUNDS(1, BUCKET_KEY_MAX),
		.example = "\"imports/helper.zip\"",
		.doc = "The key of the object: parts with a slash between, none of them . or .., at most "
		       "1024 bytes."),
};
SCHEMA(object_query, .doc = "Which object.");

struct object_list_args {
	const char *tenant_id, *from, *until, *reserved, *after_reserved;
};

FIELDS(object_list_args) = {
	FIELD(object_list_args, tenant_id),
	FIELD(object_list_args, from),
	FIELD(object_list_args, until),
	FIELD(object_list_args, reserved),
	FIELD(object_list_args, after_reserved),
};
static SCHEMA(object_list_args, .internal = true);

enum { LIST_OF(OBJECT_LIST), SORT_OF(OBJECT_LIST, KEY) };

#define COLUMNS                                                                             \
	"o.id, o.key, o.size_bytes, o.sha256, o.content_type, o.created_at, o.updated_at, " \
	"'bucket://' || o.tenant_id || '/' || o.key as storage_uri"
#define FROM                                                                                     \
	"bucket_objects o where o.tenant_id = :tenant_id and o.key >= :from and o.key < :until " \
	"and not (o.key >= :reserved and o.key < :after_reserved)"

static const struct words object_sorts = {
	.list = (const char *const[]){ "key", NULL },
	.doc = "What objects may be sorted by.",
};

static const struct statement sql[] = {
	LISTING(OBJECT_LIST, "object_list", &BucketObject_schema, COLUMNS, FROM, "o.id",
		.args = &object_list_args_schema),
	SORTING(OBJECT_LIST, KEY, "object_list_key", &BucketObject_schema, COLUMNS, FROM, "o.id",
		"o.key", .args = &object_list_args_schema),
};
STATEMENT_SET(bucket_object_sql, sql);

/* Beyond every key that begins so: the last sign of all, once more than a key has room for. */
static const char *beyond(struct call *c, const char *prefix)
{
	static const char last[] = "\xf4\x8f\xbf\xbf";
	struct buf b;

	buf_init(&b, (size_t)3 * BUCKET_KEY_MAX);
	buf_puts(&b, prefix);
	for (size_t n = 0; n <= BUCKET_KEY_MAX; n += sizeof last - 1)
		buf_lit(&b, last);
	return arena_take(c->arena, &b);
}

LIST_OPERATION(listBucketObjects, bucket_query, BucketObject, .sorts = &object_sorts)
{
	const char *prefix = in->prefix ? in->prefix : "";
	struct object_list_args args = { .tenant_id = c->caller.tenant_id,
		.from = prefix,
		.until = beyond(c, prefix),
		.reserved = BUCKET_RESERVED,
		.after_reserved = beyond(c, BUCKET_RESERVED) };

	return call_list(c, &sql[OBJECT_LIST], BY_NAME(object_list_args, &args));
}

#define READS .gives = "*/*", .untagged = true, .own_tag = true, .gives_file = true
#define PUTS                                                                   \
	.may_stand = true, .untagged = true, .own_tag = true, .on_disk = true, \
	.takes = object_types, .prepare = object_prepare

QUERY_OPERATION(readBucketObject, object_query, NONE, READS)
{
	return object_send(c, in->key);
}

QUERY_STEP(putBucketObject, intake, object_query)
{
	return object_intake(c, in->key, NIL);
}

QUERY_OPERATION(putBucketObject, object_query, BucketObject, PUTS, .intake = putBucketObject_intake)
{
	return object_put(c, in->key, out);
}

QUERY_OPERATION(deleteBucketObject, object_query, NONE, .own_tag = true)
{
	return object_delete(c, in->key);
}

#define BUCKET "/tenant/{tenant_id}/bucket"

static const struct route routes[] = {
	{ METHOD_GET, BUCKET, &listBucketObjects, PERM_BUCKET_READ, 200, .tag = "Bucket",
		.doc = "List the objects of the tenant's bucket, the newest keys first." },
	{ METHOD_GET, BUCKET "/object", &readBucketObject, PERM_BUCKET_READ, 200, .tag = "Bucket",
		.doc = "The bytes of an object, or a part of them, as an attachment." },
	{ METHOD_PUT, BUCKET "/object", &putBucketObject, PERM_BUCKET_WRITE, 201, "bucket.put",
		.patient = true, .tag = "Bucket",
		.doc = "Put an object into the bucket, or in the place of the one with that key. The body is "
		       "its bytes, of any length and type." },
	{ METHOD_DELETE, BUCKET "/object", &deleteBucketObject, PERM_BUCKET_WRITE, 204,
		"bucket.delete", .tag = "Bucket", .doc = "Delete an object of the bucket." },
};
RESOURCE(bucket_objects, routes, NULL, &bucket_object_sql);
