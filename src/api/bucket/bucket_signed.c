/* bucket_signed.c - addresses by which somebody without a credential reads or puts one object, for a while.
 *
 * Such an address names its method, tenant, key, end, who had it made and the
 * API key that they used, and is signed over all of them with a key of the
 * service's own.  It is good for as long as that person, with that API key, may
 * do the same: whoever loses the permission or the key, or is suspended, takes
 * their addresses along. */
#include <string.h>

#include "api/bucket/bucket_object.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "contract/encode.h"

enum { SIGNED_MOST_S = 86400, SIGNATURE_LEN = 2 * SHA256_LEN, URL_MAX = 8 * 1024 };

enum SignedMethod { SignedMethod_GET, SignedMethod_PUT };
static const struct words SignedMethod_words = {
	.list = (const char *const[]){ "GET", "PUT", NULL },
	.doc = "What an address is for.",
};

struct BucketPresign {
	const char *key;
	int method;
	int64_t expires_s;
};

FIELDS(BucketPresign) = {
	FIELD(BucketPresign, key, .required = true, BOUNDS(1, BUCKET_KEY_MAX),
		.example = "\"imports/helper.zip\"", .doc = "The key of the object."),
	FIELD(BucketPresign, method, .required = true, .words = &SignedMethod_words,
		.doc = "GET to read it, PUT to put it."),
	FIELD(BucketPresign, expires_s, .preset = "3600", BOUNDS(1, SIGNED_MOST_S),
		.doc = "For how many seconds."),
};
static SCHEMA(BucketPresign, .doc = "What an address is to be good for.");

struct BucketPresigned {
	const char *url;
	struct moment expires_at;
};

FIELDS(BucketPresigned) = {
	FIELD(BucketPresigned, url, .required = true,
		.doc = "The address. Whoever has it needs no credential."),
	FIELD(BucketPresigned, expires_at, .required = true, .doc = "When it ends."),
};
static SCHEMA(BucketPresigned, .doc = "An address that is good for a while.");

struct signed_query {
	const char *key, *user, *api_key;
	int64_t expires;
	const char *signature;
};

FIELDS(signed_query) = {
	FIELD(signed_query, key, .required = true, BOUNDS(1, BUCKET_KEY_MAX),
		.doc = "The key of the object."),
	FIELD(signed_query, user, .required = true, .id = true, .doc = "Who had the address made."),
	FIELD(signed_query, api_key, .nullable = true, .id = true,
		.doc = "The API key with which; not there if it was a login."),
	FIELD(signed_query, expires, .required = true, BOUNDS(0, INT64_C(1) << 40),
		.doc = "When it ends, in seconds since 1970."),
	FIELD(signed_query, signature, .required = true, BOUNDS(SIGNATURE_LEN, SIGNATURE_LEN),
		.doc = "The signature over all of it."),
};
SCHEMA(signed_query, .doc = "A signed address, as POST T/bucket/presign made it.");

static void sign_address(struct call *c, const char *method, const char *tenant_id,
	const struct signed_query *q, uint8_t out[SHA256_LEN])
{
	static const char purpose[] = "addresses of objects";
	const char *text = arena_printf(c->arena, "%s\n%s\n%s\n%s\n%lld\n%s", method, tenant_id,
		q->user, q->api_key ? q->api_key : "", (long long)q->expires, q->key);
	uint8_t key[SHA256_LEN];

	hmac_sha256(c->app->chain_key, sizeof c->app->chain_key, purpose, strlen(purpose), key);
	hmac_sha256(key, sizeof key, text, strlen(text), out);
	wipe(key, sizeof key);
}

/* ---- making one ---- */

static void put_escaped(struct buf *out, const char *text)
{
	for (const char *p = text; *p; p++)
		if ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
			(*p >= 'A' && *p <= 'Z') || strchr("-._~/", *p))
			buf_putc(out, *p);
		else
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
}

/* For the audit log: what for, and how long. */
static void note_address(struct call *c, const struct BucketPresign *in)
{
	struct buf b;

	buf_init(&b, 8 * BUCKET_KEY_MAX);
	encode_object(&b, &BucketPresign_schema, in);
	c->audit.meta = arena_take(c->arena, &b);
}

CHECK_STEP(presignBucketObject, BucketPresign)
{
	const char *fault = in->key ? bucket_key_fault(in->key) : NULL;

	if (fault && !problem_names(&c->problem, "key"))
		call_field(c, "key", "key", "%s", fault);
}

OPERATION(presignBucketObject, BucketPresign, BucketPresigned, .check = presignBucketObject_check)
{
	struct signed_query q = { .key = in->key,
		.user = c->caller.user_id,
		.api_key = c->caller.kind == CREDENTIAL_KEY ? c->caller.key_id : NULL,
		.expires = c->now / SECOND_US + in->expires_s };
	uint8_t digest[SHA256_LEN];
	char hex[SIGNATURE_LEN + 1];
	struct buf url;
	int err = object_check_key(c, in->key);

	if (!err && in->method == SignedMethod_PUT)
		err = caller_also(&c->caller, c->arena, PERM_BUCKET_WRITE, &c->problem);
	if (err)
		return err;
	sign_address(c, SignedMethod_words.list[in->method], c->caller.tenant_id, &q, digest);
	hex_write(digest, sizeof digest, hex);
	buf_init(&url, URL_MAX);
	buf_printf(
		&url, "%s/bucket/%s/object?key=", c->app->settings.public_url, c->caller.tenant_id);
	put_escaped(&url, in->key);
	if (q.api_key)
		buf_printf(&url, "&api_key=%s", q.api_key);
	buf_printf(&url, "&user=%s&expires=%lld&signature=%s", q.user, (long long)q.expires, hex);
	*out = (struct BucketPresigned){ .url = arena_take(c->arena, &url),
		.expires_at = { q.expires * SECOND_US } };
	note_address(c, in);
	return 0;
}

/* ---- using one ---- */

/* The caller is whoever had it made, as they stand now. */
static int permit_signed(
	struct call *c, const struct signed_query *q, const char *method, int permission)
{
	struct caller_absent who = {
		.tenant_id = call_param(c, "tenant_id"), .user_id = q->user, .key_id = q->api_key
	};
	uint8_t digest[SHA256_LEN], given[SHA256_LEN];

	sign_address(c, method, who.tenant_id, q, digest);
	if (!hex_read(q->signature, strlen(q->signature), given, sizeof given) ||
		!same_bytes(digest, sizeof digest, given, sizeof given))
		return call_fail(c, ERR_FORBIDDEN, "The address is not one that was made here.");
	if (q->expires * SECOND_US <= c->now)
		return call_fail(c, ERR_FORBIDDEN, OBJECT_EXPIRED);
	return caller_recall(&c->caller, c->db, c->arena, &who, permission, c->now, &c->problem);
}

QUERY_OPERATION(readSignedObject, signed_query, NONE, .gives = "*/*", .untagged = true,
	.own_tag = true, .gives_file = true)
{
	int err = permit_signed(c, in, "GET", PERM_BUCKET_READ);

	return err ? err : object_send(c, in->key);
}

QUERY_STEP(putSignedObject, intake, signed_query)
{
	int err = permit_signed(c, in, "PUT", PERM_BUCKET_WRITE);

	return err ? err : object_intake(c, in->key, in->expires * SECOND_US);
}

/* So that what follows stands in the lane of the tenant: the route itself is open to everybody, who have none. */
QUERY_STEP(putSignedObject, look, signed_query)
{
	return permit_signed(c, in, "PUT", PERM_BUCKET_WRITE);
}

QUERY_OPERATION(putSignedObject, signed_query, BucketObject, .may_stand = true, .untagged = true,
	.own_tag = true, .on_disk = true, .takes = object_types, .prepare = object_prepare,
	.intake = putSignedObject_intake, .look = putSignedObject_look)
{
	int err = permit_signed(c, in, "PUT", PERM_BUCKET_WRITE);

	return err ? err : object_put(c, in->key, out);
}

#define SIGNED "/bucket/{tenant_id}/object"

static const struct route routes[] = {
	{ METHOD_POST, "/tenant/{tenant_id}/bucket/presign", &presignBucketObject, PERM_BUCKET_READ,
		200, "bucket.presign", .tag = "Bucket",
		.doc = "Make an address by which an object is read, or put, without a credential." },
	{ METHOD_GET, SIGNED, &readSignedObject, PERM_PUBLIC, 200, .tag = "Bucket",
		.doc = "The bytes of an object, by a signed address." },
	{ METHOD_PUT, SIGNED, &putSignedObject, PERM_PUBLIC, 201, "bucket.put", .patient = true,
		.tag = "Bucket", .doc = "Put an object, by a signed address." },
};
RESOURCE(bucket_signed, routes, NULL);
