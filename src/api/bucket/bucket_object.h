/* bucket_object.h - what is done to one object of a bucket, by who is permitted in the tenant of call.caller or has it
 * signed. */
#pragma once
#include "bucket/bucket.h"
#include "call/operation.h"

struct BucketObject {
	const char *id, *key;
	int64_t size_bytes;
	const char *sha256, *content_type;
	struct moment created_at, updated_at;
	const char *storage_uri;
};
SCHEMA_DECLARED(BucketObject);

/* ERR_INVALID names the key; ERR_NOT_FOUND for what is reserved. */
int object_check_key(struct call *c, const char *key);
/* The bytes of a row as the answer, as an attachment of that name: the last of an `apply`. */
int object_send_row(
	struct call *c, const struct bucket_row *row, const char *name, const char *type);
/* The steps of operations: `apply` of one that reads, `intake`, `prepare` and `apply` of one that puts, of one that deletes. */
int object_send(struct call *c, const char *key);
/* What has not come until then is refused; NIL: it may come for as long as it does. */
int object_intake(struct call *c, const char *key, int64_t until);
#define OBJECT_EXPIRED "The address has expired."
int object_prepare(struct call *c);
int object_put(struct call *c, const char *key, struct BucketObject *out);
int object_delete(struct call *c, const char *key);
/* For other operations: the object that a member of the body names, 422 for any that is not there or not the tenant's own; and
 * bytes as an object, prepared on a thread that may wait for the disk, then named by a row. */
int object_named(struct call *c, const char *field, const char *uri, struct bucket_row *ret);
int object_key_named(struct call *c, const char *field, const char *uri, const char **ret_key);
struct object_made;
struct object_made *object_make_begin(struct call *c);
/* In a transaction, before it is made: ERR_NO_SPACE if there is no room for so many bytes under that key. */
int object_make_claim(struct call *c, struct object_made *m, const char *key, size_t n);
int object_make(struct call *c, struct object_made *m, const void *bytes, size_t n);
int object_make_row(struct call *c, struct object_made *m, const char *key, const char *type,
	struct bucket_row *ret);
/* What may be put. */
extern const char *const object_types[];
