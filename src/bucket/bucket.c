/* bucket.c - keys, and bytes on their way in and out, whatever kind of bucket they are in; see bucket.h. */
#include "bucket/bucket_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "store/pool.h"

#define FOLDER "dir:"
#define S3 "s3://"
#define URI "bucket://"

bool bucket_where_is_s3(const char *where)
{
	return strncmp(where, S3, strlen(S3)) == 0;
}

/* Letters, digits, dots and hyphens, as buckets of S3 are called; then perhaps a prefix. */
static bool is_s3_place(const char *text)
{
	size_t bucket = strcspn(text, "/");

	if (bucket < 3 || bucket > 63 ||
		strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-") != bucket)
		return false;
	return !text[bucket] || !bucket_key_fault(text + bucket + 1);
}

bool bucket_where_valid(const char *where)
{
	if (bucket_where_is_s3(where))
		return is_s3_place(where + strlen(S3));
	return strncmp(where, FOLDER, strlen(FOLDER)) == 0 && where[strlen(FOLDER)];
}

static int enter_place(struct bucket **ret, const struct bucket_settings *settings,
	const char *where, struct arena *a, struct problem *p)
{
	struct bucket_settings in = *settings;
	struct bucket *b = memory_must(sizeof *b);
	int err;

	in.where = where;
	*b = (struct bucket){ .kind = &bucket_folder,
		.serving = -1,
		.folder = -1,
		.tenant_max = settings->tenant_max,
		.lock = PTHREAD_MUTEX_INITIALIZER };
	b->where = memory_must(strlen(where) + 1);
	strcpy(b->where, where); /* NOLINT: it has the room */
	if (bucket_where_is_s3(where))
		err = bucket_s3_enter(b, &in, a, p);
	else
		err = 0; /* it is opened when it is claimed */
	if (err) {
		bucket_free(b);
		return err;
	}
	*ret = b;
	return 0;
}

int bucket_new(struct bucket **ret, const struct bucket_settings *settings, struct arena *a,
	struct problem *p)
{
	const char *also = settings->also;
	struct bucket *b = NULL;
	int err;

	if (also && strcmp(also, settings->where) == 0)
		also = NULL;
	if (also && bucket_where_is_s3(also) && bucket_where_is_s3(settings->where))
		return problem_set(p, a, ERR_USAGE,
			"only one of the two places of the bucket can be in S3: %s and %s",
			settings->where, also);
	err = enter_place(&b, settings, settings->where, a, p);
	if (!err && also)
		err = enter_place(&b->also, settings, also, a, p);
	if (err && b)
		bucket_free(b);
	else
		*ret = b;
	return err;
}

void bucket_free(struct bucket *b)
{
	if (!b)
		return;
	bucket_free(b->also);
	if (b->kind->leave)
		b->kind->leave(b);
	if (b->serving >= 0)
		close(b->serving);
	if (b->folder >= 0)
		close(b->folder);
	free(b->where);
	free(b);
}

int64_t bucket_tenant_max(const struct bucket *b)
{
	return b->tenant_max;
}

void bucket_files_begin(struct bucket *b)
{
	atomic_store(&b->takes_files, true);
}

bool bucket_takes_files(const struct bucket *b)
{
	return atomic_load(&b->takes_files);
}

void bucket_stop(struct bucket *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	atomic_store(&b->stopping, true);
	pthread_mutex_unlock(&b->lock);
}

bool bucket_stopping(const struct bucket *b)
{
	return atomic_load(&b->stopping);
}

/* ---- keys ---- */

const char *bucket_key_fault(const char *key)
{
	size_t len = strlen(key);

	if (!len || len > BUCKET_KEY_MAX)
		return "must have 1 to 1024 bytes";
	if (!utf8_valid(key, len))
		return "must be UTF-8";
	for (const char *at = key;; at++) {
		size_t part = strcspn(at, "/");

		if (!part)
			return "must have no empty part, and no slash at its beginning or end";
		if ((part == 1 && at[0] == '.') || (part == 2 && at[0] == '.' && at[1] == '.'))
			return "must have no part that is . or ..";
		for (size_t i = 0; i < part; i++)
			if ((unsigned char)at[i] < ' ' || at[i] == 0x7f)
				return "must have no control characters";
		at += part;
		if (!*at)
			return NULL;
	}
}

bool bucket_key_is_reserved(const char *key)
{
	return strncmp(key, BUCKET_RESERVED, strlen(BUCKET_RESERVED)) == 0;
}

const char *bucket_uri(struct arena *a, const char *tenant_id, const char *key)
{
	return arena_printf(a, URI "%s/%s", tenant_id, key);
}

/* What stands after the place of all tenants' buckets, or NULL. */
static const char *beyond_place(const struct bucket *b, const char *uri)
{
	size_t len = b->place ? strlen(b->place) : 0;

	if (strncmp(uri, URI, strlen(URI)) == 0)
		return uri + strlen(URI);
	return len && strncmp(uri, b->place, len) == 0 ? uri + len : NULL;
}

const char *bucket_uri_key(
	const struct bucket *b, const char *uri, const char *tenant_id, const char **ret_fault)
{
	size_t len = strlen(tenant_id);
	const char *key;

	*ret_fault = "must be bucket://, the tenant's id, a slash and a key";
	uri = beyond_place(b, uri);
	if (!uri)
		return NULL;
	if (strncmp(uri, tenant_id, len) != 0 || uri[len] != '/') {
		*ret_fault = "must lie in the tenant's own bucket";
		return NULL;
	}
	key = uri + len + 1;
	*ret_fault = bucket_key_is_reserved(key) ? "must lie in the tenant's own bucket"
						 : bucket_key_fault(key);
	return *ret_fault ? NULL : key;
}

/* ---- bytes in ---- */

struct bucket_upload *bucket_upload_new(struct bucket *b, const char *tenant_id)
{
	struct bucket_upload *u = memory_must(sizeof *u);

	*u = (struct bucket_upload){
		.bucket = b, .blob = id_new(NULL), .folder = -1, .file = -1, .suffix = "part"
	};
	snprintf(u->tenant_id, sizeof u->tenant_id, "%s", tenant_id);
	bucket_room_enter(u);
	return u;
}

static int disk_problem(int number, const char *what, struct arena *a, struct problem *p)
{
	if (number < 0)
		return number; /* it was said */
	if (number == ENOSPC || number == EDQUOT) {
		log_error(
			"the disk of the bucket, or of the folder through which its bytes pass, is full",
			LOG_S("what", what));
		return problem_set(p, a, ERR_NO_SPACE, "The disk of the bucket is full.");
	}
	log_error("the bucket", LOG_S("what", what), LOG_S("error", strerror(number)));
	return problem_set(p, a, ERR_STORE, "The bucket cannot be %s just now.", what);
}

static int begin_bytes(struct bucket_upload *u, struct bucket_said *said)
{
	int number = bucket_must_be_ours(u->bucket, said);

	if (number)
		return number;
	u->begun = true;
	return u->bucket->kind->begin(u);
}

/* With its first bytes, or where it turns out to have none. */
static int upload_begin(struct bucket_upload *u, struct bucket_said *said)
{
	if (u->begun)
		return 0;
	if (!u->digest)
		u->digest = sha256_begin();
	return begin_bytes(u, said);
}

int bucket_upload_write(
	struct bucket_upload *u, const void *bytes, size_t n, struct arena *a, struct problem *p)
{
	struct bucket_said said = { a, p };
	int number, err = bucket_room_grow(u, (int64_t)n, a, p);

	if (err)
		return err;
	number = upload_begin(u, &said);
	if (!number)
		number = u->bucket->kind->write(u, bytes, n);
	if (number)
		return disk_problem(number, "written", a, p);
	sha256_add(u->digest, bytes, n);
	u->size_bytes += (int64_t)n;
	return 0;
}

void bucket_upload_digest(struct bucket_upload *u, char out[65])
{
	uint8_t digest[SHA256_LEN];

	if (!*u->sha256) {
		if (!u->digest)
			u->digest = sha256_begin();
		sha256_end(u->digest, digest);
		u->digest = NULL;
		hex_write(digest, sizeof digest, u->sha256);
	}
	memcpy(out, u->sha256, sizeof u->sha256);
}

int bucket_upload_finish(
	struct bucket_upload *u, struct bucket_stored *ret, struct arena *a, struct problem *p)
{
	struct bucket_said said = { a, p };
	int number = 0;

	bucket_upload_digest(u, ret->sha256);
	if (!u->begun)
		number = begin_bytes(u, &said);
	if (!number && !u->finished)
		number = u->bucket->kind->finish(u, &said);
	if (number)
		return disk_problem(number, "written", a, p);
	u->finished = true;
	memcpy(ret->blob, u->blob.text, sizeof ret->blob);
	ret->size_bytes = u->size_bytes;
	return 0;
}

void bucket_upload_keep(struct bucket_upload *u, bool keep)
{
	u->kept = keep && u->finished;
}

static int discard_run(struct work *w, struct db *none)
{
	struct bucket_upload *u = (struct bucket_upload *)w;

	(void)none;
	u->bucket->kind->discard(u);
	return 0;
}

static void discard_done(struct work *w, int err)
{
	(void)err;
	free(w);
}

void bucket_upload_end(struct bucket_upload *u, struct pool *pool)
{
	bucket_room_leave(u);
	sha256_end(u->digest, NULL);
	u->digest = NULL;
	u->work = (struct work){ .run = discard_run, .done = discard_done };
	if (u->begun && !u->kept && pool && !pool_submit(pool, u->tenant_id, &u->work))
		return;
	discard_run(&u->work, NULL);
	free(u);
}

int bucket_store(struct bucket_upload *u, const void *bytes, size_t n, struct bucket_stored *ret,
	struct arena *a, struct problem *p)
{
	int err = bucket_upload_write(u, bytes, n, a, p);

	return err ? err : bucket_upload_finish(u, ret, a, p);
}

/* ---- bytes out ---- */

int bucket_blob_open(struct bucket *b, const char *tenant_id, const char *blob, int64_t size,
	int *ret_fd, struct bucket_said *said)
{
	int number = b->kind->open(b, tenant_id, blob, size, ret_fd, said);

	if (number != ENOENT || !b->also)
		return number;
	return b->also->kind->open(b->also, tenant_id, blob, size, ret_fd, said);
}

int bucket_blob_remove(
	struct bucket *b, const char *tenant_id, const char *blob, struct bucket_said *said)
{
	int number = b->kind->remove(b, tenant_id, blob, said);

	return number || !b->also ? number : bucket_blob_remove(b->also, tenant_id, blob, said);
}

void bucket_tenant_remove(struct bucket *b, const char *tenant_id, const char *blob)
{
	if (b->kind->fold)
		b->kind->fold(b, tenant_id, blob);
	if (b->also)
		bucket_tenant_remove(b->also, tenant_id, blob);
}

int bucket_open(struct bucket *b, const struct bucket_row *row, int *ret_fd, struct arena *a,
	struct problem *p)
{
	struct bucket_said said = { a, p };
	struct stat st;
	int fd = -1,
	    number = bucket_blob_open(b, row->tenant_id, row->blob, row->size_bytes, &fd, &said);

	if (!number && fstat(fd, &st))
		number = errno;
	if (!number && (!S_ISREG(st.st_mode) || st.st_size != row->size_bytes))
		number = EIO;
	if (!number) {
		*ret_fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	if (number != ENOENT && number != EIO)
		return disk_problem(number, "read", a, p);
	log_error("the bucket lacks an object, or has another in its place",
		LOG_S("tenant_id", row->tenant_id), LOG_S("key", row->key),
		LOG_S("blob", row->blob), LOG_S("error", strerror(number)));
	return problem_set(p, a, ERR_STORE, "The bytes of this object cannot be read just now.");
}

bool bucket_comes_from_elsewhere(const struct bucket *b)
{
	return b->kind->fetch != NULL;
}

int bucket_spool(struct bucket *b)
{
	return openat(b->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Of a file that is here. */
static int take_file(int fd, int64_t at, int64_t len,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx)
{
	enum { AT_ONCE = 64 * 1024 };
	char bytes[AT_ONCE];

	while (len) {
		ssize_t n = pread(fd, bytes, len < AT_ONCE ? (size_t)len : sizeof bytes, (off_t)at);

		if (n <= 0 || !take(ctx, bytes, (size_t)n))
			return ERR_STORE;
		at += n;
		len -= n;
	}
	return 0;
}

int bucket_fetch(struct bucket *b, const struct bucket_row *row, int64_t at, int64_t len,
	bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct arena *a,
	struct problem *p)
{
	struct bucket_said said = { a, p };
	int fd = -1, err = b->kind->fetch(b, row->tenant_id, row->blob, at, len, take, ctx, &said);

	if (err != ENOENT)
		return err > 0 ? disk_problem(err, "read", a, p) : err;
	*p = (struct problem){ 0 };
	err = bucket_open(b, row, &fd, a, p); /* in the second place, or said */
	if (err)
		return err;
	err = take_file(fd, at, len, take, ctx);
	close(fd);
	return err;
}

int bucket_load(struct bucket *b, const struct bucket_row *row, size_t most, struct arena *a,
	const void **ret, size_t *ret_len, struct problem *p)
{
	size_t len = (size_t)row->size_bytes, got = 0;
	uint8_t digest[SHA256_LEN];
	char hex[65];
	char *bytes;
	int fd = -1, err;

	if (row->size_bytes > (int64_t)most || !arena_room(a, len + 1))
		return problem_set(p, a, ERR_TOO_LARGE, "The object has %lld bytes; %zu are taken.",
			(long long)row->size_bytes, most);
	err = bucket_open(b, row, &fd, a, p);
	if (err)
		return err;
	bytes = arena_raw(a, len + 1, 1);
	while (got < len) {
		ssize_t n = read(fd, bytes + got, len - got);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	close(fd);
	bytes[got] = '\0';
	sha256(bytes, got, digest);
	hex_write(digest, sizeof digest, hex);
	if (got != len || strcmp(hex, row->sha256) != 0)
		return disk_problem(EIO, "read", a, p);
	*ret = bytes;
	*ret_len = len;
	return 0;
}
