/* bucket_s3.c - a bucket of S3: bytes pass through a file without a name, and lie there under PREFIX/TENANT/BLOB.
 *
 * On the way in they are written to the file, and are put from it once all of
 * them are there and their digest is known: so a sender who leaves costs S3
 * nothing, a part that failed can be sent again, and nobody holds more than a
 * page of them in memory.  On the way out they come into such a file first,
 * which is what replies and readers take them from.  Objects in S3 are named
 * by blobs and not by keys, as in a folder: the store alone says what there is. */
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
#include "outside/s3.h"

/* The start waits for it; S3 that is there answers sooner. */
enum { MARK_SILENCE_S = 5 };

static int open_spool(const struct bucket *b)
{
	return openat(b->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static const char *blob_key(
	const struct bucket *b, struct arena *a, const char *tenant_id, const char *blob)
{
	return arena_printf(a, "%s%s/%s", b->prefix, tenant_id, blob);
}

static int spool_begin(struct bucket_upload *u)
{
	u->file = open_spool(u->bucket);
	return u->file < 0 ? errno : 0;
}

static int write_spool(int fd, const char *at, size_t n)
{
	while (n) {
		ssize_t put = write(fd, at, n);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0) {
			at += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

static int spool_write(struct bucket_upload *u, const void *bytes, size_t n)
{
	return write_spool(u->file, bytes, n);
}

static int spool_finish(struct bucket_upload *u, struct bucket_said *said)
{
	struct fetch_file file = { .fd = u->file, .len = (uint64_t)u->size_bytes };

	return s3_put(u->bucket->s3, said->arena,
		blob_key(u->bucket, said->arena, u->tenant_id, u->blob.text),
		"application/octet-stream", &file, u->sha256, said->problem);
}

static int s3_blob_remove(
	struct bucket *b, const char *tenant_id, const char *blob, struct bucket_said *said)
{
	return s3_remove(
		b->s3, said->arena, blob_key(b, said->arena, tenant_id, blob), said->problem);
}

/* It is found with all that nobody names, if not now. */
static void drop_blob(struct bucket *b, const char *tenant_id, const char *blob)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	int err = s3_blob_remove(b, tenant_id, blob, &(struct bucket_said){ &a, &p });

	if (err)
		log_warn("an object of the bucket cannot be removed", LOG_S("blob", blob),
			LOG_S("error", p.detail ? p.detail : error_row(err)->title));
	arena_free(&a);
}

/* What was sent and failed may be there all the same. */
static void spool_discard(struct bucket_upload *u)
{
	if (u->file >= 0) {
		close(u->file);
		if (!u->kept && !u->copies && *u->sha256)
			drop_blob(u->bucket, u->tenant_id, u->blob.text);
	}
	u->file = -1;
}

struct receiving {
	int fd, number;
	uint64_t left; /* one more than there should be, by which it shows that there are more */
};

static bool receive_bytes(void *ctx, const char *bytes, size_t n)
{
	struct receiving *r = ctx;

	if (n > r->left)
		n = (size_t)r->left;
	r->number = write_spool(r->fd, bytes, n);
	r->left -= n;
	return !r->number && r->left;
}

static int s3_blob_open(struct bucket *b, const char *tenant_id, const char *blob, int64_t size,
	int *ret_fd, struct bucket_said *said)
{
	struct receiving r = { .fd = open_spool(b), .left = (uint64_t)size + 1 };
	int err;

	if (r.fd < 0)
		return errno;
	err = s3_get(b->s3, said->arena, blob_key(b, said->arena, tenant_id, blob), 0, -1,
		receive_bytes, &r, said->problem);
	if (err && !r.left) { /* it was we who ended it */
		*said->problem = (struct problem){ 0 };
		err = 0;
	}
	if (!err && lseek(r.fd, 0, SEEK_SET) < 0)
		r.number = errno;
	if (err || r.number) {
		close(r.fd);
		if (r.number) /* it was not S3 that failed */
			*said->problem = (struct problem){ 0 };
		return r.number ? r.number : err == ERR_NOT_FOUND ? ENOENT : err;
	}
	*ret_fd = r.fd;
	return 0;
}

static int s3_blob_fetch(struct bucket *b, const char *tenant_id, const char *blob, int64_t at,
	int64_t len, bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx,
	struct bucket_said *said)
{
	int err = s3_get(b->s3, said->arena, blob_key(b, said->arena, tenant_id, blob), at, len,
		take, ctx, said->problem);

	return err == ERR_NOT_FOUND ? ENOENT : err;
}

static int s3_blob_size(struct bucket *b, const char *tenant_id, const char *blob, int64_t *ret,
	struct bucket_said *said)
{
	struct s3_object found = { 0 };
	int err = s3_head(b->s3, said->arena, blob_key(b, said->arena, tenant_id, blob), &found,
		said->problem);

	*ret = found.size_bytes;
	return err == ERR_NOT_FOUND ? ENOENT : err;
}

/* PREFIX/TENANT/BLOB, of which both are ids. */
static bool read_blob_key(const struct bucket *b, struct arena *a, const struct s3_object *o,
	struct bucket_found *ret)
{
	size_t above = strlen(b->prefix), len = strlen(o->key);
	const char *tenant = o->key + above;

	if (len != above + 2 * ID_LEN + 1 || !id_valid(tenant, ID_LEN) || tenant[ID_LEN] != '/' ||
		!id_valid(tenant + ID_LEN + 1, ID_LEN))
		return false;
	*ret = (struct bucket_found){ .tenant_id = arena_strndup(a, tenant, ID_LEN),
		.name = tenant + ID_LEN + 1,
		.whole = true,
		.size_bytes = o->size_bytes,
		.changed_us = o->changed_us };
	return true;
}

static int s3_blob_each(
	struct bucket *b, int (*fn)(void *ctx, const struct bucket_found *found), void *ctx)
{
	struct arena pages[2] = { 0 };
	struct s3_page page = { 0 };
	struct problem p = { 0 };
	int err = 0, turn = 0;

	do { /* the token of a page is in its arena */
		struct arena *a = &pages[turn ^= 1];
		const char *token = page.next;

		arena_reset(a);
		err = s3_list(b->s3, a, b->prefix, token, &page, &p);
		for (size_t i = 0; !err && i < page.count; i++) {
			struct bucket_found found;

			if (read_blob_key(b, a, &page.at[i], &found))
				err = fn(ctx, &found);
		}
	} while (!err && page.next);
	if (p.detail)
		log_warn("the bucket cannot be listed", LOG_S("error", p.detail));
	arena_free(&pages[0]);
	arena_free(&pages[1]);
	return err;
}

static void s3_leave(struct bucket *b)
{
	s3_free(b->s3);
	s3_free(b->s3_mark);
	free(b->place);
}

/* ---- the mark ---- */

static const char *mark_key(const struct bucket *b, struct arena *a)
{
	return arena_printf(a, "%s" MARK, b->prefix);
}

struct mark_text {
	char text[MARK_MAX + 1];
	size_t len;
};

static bool take_mark(void *ctx, const char *bytes, size_t n)
{
	struct mark_text *m = ctx;

	if (n > MARK_MAX - m->len)
		n = MARK_MAX - m->len;
	memcpy(m->text + m->len, bytes, n);
	m->len += n;
	return true;
}

/* By its bytes: only an answer that has some tells a mark that is missing from a bucket that is. */
static int s3_mark_look(struct bucket *b, char id[ID_LEN + 1], struct bucket_said *said)
{
	struct mark_text mark = { 0 };
	int err = s3_get(b->s3_mark, said->arena, mark_key(b, said->arena), 0, -1, take_mark, &mark,
		said->problem);

	bucket_mark_read(mark.text, id);
	return err == ERR_NOT_FOUND ? ENOENT : err;
}

static int s3_mark_put(struct bucket *b, const char *id, struct bucket_said *said)
{
	const char *text = bucket_mark_text(said->arena, id);
	struct fetch_file file = { .fd = -1, .len = strlen(text) };
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];
	int err;

	file.fd = open_spool(b);
	if (file.fd < 0)
		return errno;
	err = write_spool(file.fd, text, file.len);
	sha256(text, file.len, digest);
	hex_write(digest, sizeof digest, hex);
	if (!err)
		err = s3_put(b->s3_mark, said->arena, mark_key(b, said->arena), "text/plain", &file,
			hex, said->problem);
	close(file.fd);
	return err;
}

const struct bucket_kind bucket_s3 = {
	.begin = spool_begin,
	.write = spool_write,
	.finish = spool_finish,
	.discard = spool_discard,
	.open = s3_blob_open,
	.fetch = s3_blob_fetch,
	.size = s3_blob_size,
	.remove = s3_blob_remove,
	.each = s3_blob_each,
	.leave = s3_leave,
	.look = s3_mark_look,
	.mark = s3_mark_put,
};

/* ---- the bucket itself ---- */

static int open_s3(
	struct bucket *b, const struct bucket_settings *in, struct arena *a, struct problem *p)
{
	const char *place = in->where + strlen("s3://");
	size_t name = strcspn(place, "/");
	struct s3_settings s3 = { .endpoint = in->endpoint,
		.bucket = arena_strndup(a, place, name),
		.path_style = in->path_style,
		.region = in->region,
		.key_id = in->key_id,
		.secret = in->secret,
		.egress = EGRESS_ANY };

	if (!*in->key_id || !*in->secret)
		return problem_set(p, a, ERR_USAGE,
			"a bucket in S3 needs the settings bucket_key_id and bucket_secret_file");
	b->s3 = s3_new(&s3);
	s3.silence_s = MARK_SILENCE_S;
	b->s3_mark = s3_new(&s3);
	b->place = memory_must(strlen(in->where) + 2);
	sprintf(b->place, "%s/", in->where); /* NOLINT: it has the room */
	b->prefix = b->place + strlen("s3://") + name + 1;
	return 0;
}

int bucket_s3_enter(
	struct bucket *b, const struct bucket_settings *in, struct arena *a, struct problem *p)
{
	int err = open_s3(b, in, a, p);

	b->kind = &bucket_s3;
	if (err)
		return err;
	if (in->makes_spool && mkdir(in->spool, 0700) && errno != EEXIST)
		return problem_set(p, a, ERR_USAGE, "cannot make the folder %s: %s", in->spool,
			strerror(errno));
	b->folder = open(in->spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->folder < 0 &&
		errno == ENOENT) /* a command: it makes no folder that is not its user's */
		b->folder = open(in->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->folder < 0)
		return problem_set(p, a, ERR_USAGE, "cannot open the folder %s: %s", in->spool,
			strerror(errno));
	return 0;
}
