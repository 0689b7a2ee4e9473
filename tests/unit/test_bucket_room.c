/* test_bucket_room.c - room for bytes on their way in: all of a tenant's together have so much, whether or not they said how
 * many they are. */
#include "fixture.h"

#include <unistd.h>

#include "bucket/bucket.h"

/* A tenant has 1 MiB here. */
enum { KB = 1000 };

static struct bucket_upload *bring(struct fixture *f, const char *tenant_id)
{
	struct bucket_upload *u = bucket_upload_new(f->service.bucket, tenant_id);
	int64_t room = 0;

	CHECK_INT(bucket_upload_claim(u, 0, 0, 1, &room), 0);
	return u;
}

static int write_some(struct fixture *f, struct bucket_upload *u, size_t n)
{
	struct problem p = { 0 };
	int err = bucket_upload_write(u, arena_alloc(&f->arena, n), n, &f->arena, &p);

	CHECK(!err || strstr(p.detail, "holds 1048576 bytes"));
	return err;
}

TEST(bucket_room_is_claimed_as_bytes_come)
{
	struct fixture *f = fixture_open();
	const char *token, *owner_id = fixture_user(f, "o@example.org", &token);
	const char *other = fixture_tenant(f, "other", owner_id);
	struct bucket_upload *one = bring(f, f->tenant_id), *two = bring(f, f->tenant_id),
			     *theirs = bring(f, other);
	struct bucket_stored stored;
	struct problem p = { 0 };
	int64_t room = 0;

	CHECK_INT(write_some(f, one, 600 * KB), 0);
	CHECK_INT(write_some(f, theirs, 900 * KB), 0);
	CHECK_INT(write_some(f, two, 600 * KB), ERR_NO_SPACE);
	CHECK_INT(write_some(f, two, 400 * KB), 0);
	CHECK_INT(write_some(f, one, 100 * KB), ERR_NO_SPACE);
	/* The one has its row: what it claimed is what there is, and no room for the other. */
	CHECK_INT(bucket_upload_finish(one, &stored, &f->arena, &p), 0);
	bucket_upload_keep(one, true);
	bucket_upload_came_to(one, 600 * KB);
	bucket_upload_end(one, NULL);
	CHECK_INT(write_some(f, two, 100 * KB), ERR_NO_SPACE);
	/* Somebody has looked since, and it has been deleted. */
	one = bucket_upload_new(f->service.bucket, f->tenant_id);
	CHECK_INT(bucket_upload_claim(one, 0, 0, 0, &room), 0);
	CHECK_INT(room, (1 << 20) - 400 * KB);
	CHECK_INT(write_some(f, two, 100 * KB), 0);
	/* In the place of what was there. */
	CHECK_INT(bucket_upload_claim(one, 1000 * KB, 500 * KB, 100 * KB, &room), ERR_NO_SPACE);
	CHECK_INT(room, (1 << 20) - 1000 * KB);
	bucket_upload_end(one, NULL);
	bucket_upload_end(two, NULL);
	bucket_upload_end(theirs, NULL);
	fixture_close(f);
}

/* Refused in the middle, and not when all of it has come. */
TEST(bucket_put_in_chunks_is_refused_as_soon_as_there_is_no_room)
{
	struct fixture *f = fixture_open();
	const char *head = arena_printf(&f->arena,
		"PUT /tenant/%s/bucket/object?key=x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
		"Transfer-Encoding: chunked\r\n\r\n%x\r\n",
		f->tenant_id, f->admin, 3 * HTTP_PIECE);
	char *bytes = arena_alloc(&f->arena, HTTP_PIECE);
	struct bucket_upload *u = bucket_upload_new(f->service.bucket, f->tenant_id);
	int64_t room = 0;
	bool on;
	struct buf in;

	buf_init(&in, 1 << 20);
	CHECK(http_inproc_send(f->inproc, head, strlen(head), &in));
	CHECK(http_inproc_send(f->inproc, bytes, HTTP_PIECE, &in));
	CHECK_INT(in.len, 0);
	CHECK_INT(bucket_upload_claim(u, 0, 0, 700 * KB, &room), 0);
	/* A piece is taken on another thread, and what became of it shows with the next bytes. */
	on = http_inproc_send(f->inproc, bytes, HTTP_PIECE, &in);
	for (int i = 0; i < 2000 && on; i++) {
		usleep(10000);
		on = http_inproc_send(f->inproc, bytes, 1, &in);
	}
	CHECK(!on);
	CHECK(in.len > 12 && strncmp(in.at, "HTTP/1.1 507", 12) == 0);
	bucket_upload_end(u, NULL);
	buf_free(&in);
	fixture_close(f);
}
