/* test_bucket_trash.c - bytes whose rows have gone: they count until they are removed, and none that cannot be removed
 * keeps others from it. */
#include "fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/clock.h"
#include "bucket/bucket.h"

enum { LARGE = 400 * 1000, STUCK = 250 };

#define OBJECT "/tenant/%s/bucket/object?key=%s"

static struct answer put(struct fixture *f, const char *key, size_t n)
{
	return ask_bytes(
		f, f->admin, arena_alloc(&f->arena, n + 1), n, "PUT " OBJECT, f->tenant_id, key);
}

static struct answer drop(struct fixture *f, const char *key)
{
	return ask(f, f->admin, NULL, "DELETE " OBJECT, f->tenant_id, key);
}

/* By a clock that is two minutes ahead, until so much is left. */
static void sweep(struct fixture *f, const char *count, int64_t want)
{
	for (int i = 0; i < 500 && fixture_count(f, count) != want; i++) {
		bucket_sweep_submit(f->service.bucket, f->app.store, f->app.disk,
			clock_now_us() + 2 * BUCKET_TRASH_US);
		usleep(10000);
	}
	CHECK_INT(fixture_count(f, count), want);
}

TEST(bucket_what_is_being_freed_counts)
{
	static const char freeing[] = "select sum(trash_bytes) from bucket_usage";
	struct fixture *f = fixture_open();
	struct answer r;

	STATUS(put(f, "a", LARGE), 201);
	STATUS(put(f, "a", LARGE), 200);
	STATUS(put(f, "a", LARGE), 200);
	CHECK_INT(fixture_count(f, freeing), 2 * LARGE);
	test_step("once more would leave three times that on the disk");
	r = put(f, "a", LARGE);
	STATUS(r, 507);
	CHECK(strstr(text_at(&r, "detail"), "being freed"));
	STATUS(put(f, "b", 10), 201);
	test_step("what is deleted may always be, and then nothing is put");
	STATUS(drop(f, "a"), 204);
	r = put(f, "c", 10);
	STATUS(r, 507);
	CHECK(strstr(text_at(&r, "detail"), "being freed"));
	sweep(f, freeing, 0);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), 0);
	STATUS(put(f, "a", LARGE), 201);
	test_step("a program of before removes what it does not count");
	fixture_sql(f, "update bucket_usage set trash_bytes = 5000000", NO_ARGS);
	STATUS(drop(f, "b"), 204);
	sweep(f, freeing, 0);
	fixture_close(f);
}

/* In the place of an object lies a folder, which is not removed as one. */
static void add_stuck(struct fixture *f)
{
	const char *tenant = arena_printf(&f->arena, "%s/%s", f->bucket, f->tenant_id);

	mkdir(tenant, 0700);
	for (int i = 0; i < STUCK; i++) {
		const char *blob = arena_printf(&f->arena, "%0*d", ID_LEN, i);
		const char *fan = arena_printf(&f->arena, "%s/%s", tenant, blob + ID_LEN - 2);

		mkdir(fan, 0700);
		CHECK(mkdir(arena_printf(&f->arena, "%s/%s", fan, blob), 0700) == 0);
		fixture_sql(f, "insert into bucket_trash (folder, blob, since) values ($1, $2, 1)",
			ARGS(T(f->tenant_id), T(blob)));
	}
}

TEST(bucket_bytes_that_cannot_be_removed_keep_no_others)
{
	struct fixture *f = fixture_open();

	add_stuck(f);
	STATUS(put(f, "a", 10), 201);
	STATUS(drop(f, "a"), 204);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), STUCK + 1);
	sweep(f, "select count(*) from bucket_trash", STUCK);
	fixture_close(f);
}

/* One sweep, however many there are; and the folders of a tenant go with the last. */
TEST(bucket_is_swept_until_nothing_is_left)
{
	struct fixture *f = fixture_open();
	const char *tenant = arena_printf(&f->arena, "%s/%s", f->bucket, f->tenant_id);

	STATUS(put(f, "a", 10), 201);
	for (int i = 0; i < 3 * STUCK; i++)
		fixture_sql(f, "insert into bucket_trash (folder, blob, since) values ($1, $2, 1)",
			ARGS(T(f->tenant_id), T(arena_printf(&f->arena, "%0*d", ID_LEN, i))));
	bucket_sweep_submit(f->service.bucket, f->app.store, f->app.disk, clock_now_us());
	for (int i = 0; i < 500 && fixture_count(f, "select count(*) from bucket_trash"); i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), 0);
	CHECK(access(tenant, F_OK) == 0);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s", f->tenant_id), 204);
	for (int i = 0; i < 2000 && fixture_count(f, "select count(*) from tenants"); i++) {
		erase_submit(&f->app);
		usleep(5000);
	}
	sweep(f, "select count(*) from bucket_trash", 0);
	CHECK(access(tenant, F_OK));
	fixture_close(f);
}
