/* test_bucket.c - the bucket of a tenant: what is put is read, whole and in parts; what is not whole is not there; and
 * nobody has more than their share, or sees what is not theirs. */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "bucket/bucket.h"

enum { LARGE = 700 * 1000 };

#define OBJECT "/tenant/%s/bucket/object?key=%s"

static struct answer put(struct fixture *f, const char *key, const char *bytes, size_t n)
{
	return ask_bytes(f, f->admin, bytes, n, "PUT " OBJECT "\nContent-Type: text/plain",
		f->tenant_id, key);
}

static struct answer get(struct fixture *f, const char *key)
{
	return ask(f, f->admin, NULL, "GET " OBJECT, f->tenant_id, key);
}

static char *bytes_of(struct fixture *f, size_t n)
{
	char *bytes = arena_alloc(&f->arena, n + 1);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + i * 7 % 26);
	return bytes;
}

static const char *digest_of(struct fixture *f, const void *bytes, size_t n)
{
	uint8_t digest[SHA256_LEN];
	char *hex = arena_alloc(&f->arena, 65);

	sha256(bytes, n, digest);
	hex_write(digest, sizeof digest, hex);
	return hex;
}

/* Files below the folder of the bucket, without its mark. */
static int64_t files_of(struct fixture *f)
{
	FILE *p = popen(arena_printf(&f->arena, "find '%s' -type f ! -name lodge-bucket | wc -l",
				f->bucket),
		"r");
	long long n = -1;

	if (!p || fscanf(p, "%lld", &n) != 1)
		test_fail(__FILE__, __LINE__, "find");
	if (p)
		pclose(p);
	return n;
}

/* What is removed on another thread is gone a little later. */
static void await_files(struct fixture *f, int64_t want)
{
	for (int i = 0; i < 500 && files_of(f) != want; i++)
		usleep(10000);
	CHECK_INT(files_of(f), want);
}

static void sweep_now(struct fixture *f, int64_t want)
{
	for (int i = 0; i < 500 && files_of(f) != want; i++) {
		bucket_sweep_submit(f->service.bucket, f->app.store, f->app.disk,
			clock_now_us() + 2 * BUCKET_TRASH_US);
		usleep(10000);
	}
	CHECK_INT(files_of(f), want);
}

/* Bytes are forgotten after they have gone. */
static void await_none(struct fixture *f, const char *count)
{
	for (int i = 0; i < 500 && fixture_count(f, count); i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, count), 0);
}

TEST(bucket_object_is_put_read_replaced_and_deleted)
{
	struct fixture *f = fixture_open();
	char *bytes = bytes_of(f, LARGE);
	struct answer r = put(f, "imports/a%20b.zip", bytes, LARGE);
	const char *tag;

	STATUS(r, 201);
	CHECK_STR(text_at(&r, "key"), "imports/a b.zip");
	CHECK_STR(text_at(&r, "sha256"), digest_of(f, bytes, LARGE));
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), LARGE);
	CHECK_STR(text_at(&r, "storage_uri"),
		arena_printf(&f->arena, "bucket://%s/imports/a b.zip", f->tenant_id));
	tag = header_of(f, &r, "ETag");
	CHECK_STR(tag, arena_printf(&f->arena, "\"%s\"", digest_of(f, bytes, LARGE)));
	CHECK(strstr(header_of(f, &r, "Location"), "/bucket/object?key=imports/a%20b.zip"));
	r = get(f, "imports/a%20b.zip");
	STATUS(r, 200);
	CHECK_INT(r.body_len, LARGE);
	CHECK(memcmp(r.body, bytes, LARGE) == 0);
	CHECK_STR(header_of(f, &r, "ETag"), tag);
	CHECK_STR(header_of(f, &r, "Content-Type"), "text/plain");
	CHECK(strstr(header_of(f, &r, "Content-Disposition"), "attachment; filename=\"a_b.zip\""));
	r = ask(f, f->admin, NULL, "HEAD " OBJECT, f->tenant_id, "imports/a%20b.zip");
	STATUS(r, 200);
	CHECK_INT(r.body_len, 0);
	CHECK_STR(header_of(f, &r, "Content-Length"), "700000");
	/* Another in its place: the former bytes go a while later. */
	r = put(f, "imports/a%20b.zip", "short", 5);
	STATUS(r, 200);
	CHECK_INT(files_of(f), 2);
	sweep_now(f, 1);
	r = get(f, "imports/a%20b.zip");
	CHECK_STR(r.body, "short");
	STATUS(ask(f, f->admin, NULL, "DELETE " OBJECT, f->tenant_id, "imports/a%20b.zip"), 204);
	STATUS(get(f, "imports/a%20b.zip"), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE " OBJECT, f->tenant_id, "imports/a%20b.zip"), 404);
	sweep_now(f, 0);
	await_none(f, "select count(*) from bucket_trash");
	CHECK_INT(fixture_count(f, "select sum(size_bytes) from bucket_usage"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action like 'bucket.%'"),
		3);
	/* One without bytes is one all the same. */
	STATUS(put(f, "none", "", 0), 201);
	r = get(f, "none");
	STATUS(r, 200);
	CHECK_INT(r.body_len, 0);
	fixture_close(f);
}

TEST(bucket_object_is_read_in_parts)
{
	static const struct {
		const char *range;
		int status;
		size_t from, len;
	} rows[] = {
		{ "bytes=0-4", 206, 0, 5 },
		{ "bytes=5-5", 206, 5, 1 },
		{ "bytes=90-", 206, 90, 10 },
		{ "bytes=90-1000", 206, 90, 10 },
		{ "bytes=-3", 206, 97, 3 },
		{ "bytes=-1000", 206, 0, 100 },
		{ "BYTES=1-2", 206, 1, 2 },
		{ "bytes=100-", 416, 0, 0 },
		{ "bytes=-0", 416, 0, 0 },
		{ "bytes=99999999999999999999999-", 416, 0, 0 },
		{ "bytes=5-4", 200, 0, 100 },
		{ "bytes=0-1,3-4", 200, 0, 100 },
		{ "bytes=a-b", 200, 0, 100 },
		{ "bytes=-", 200, 0, 100 },
		{ "lines=0-4", 200, 0, 100 },
	};
	struct fixture *f = fixture_open();
	char *bytes = bytes_of(f, 100);
	struct answer r;
	const char *tag;

	STATUS(put(f, "x", bytes, 100), 201);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].range);
		r = ask(f, f->admin, NULL, "GET " OBJECT "\nRange: %s", f->tenant_id, "x",
			rows[i].range);
		STATUS(r, rows[i].status);
		if (rows[i].status == 416) {
			CHECK_STR(header_of(f, &r, "Content-Range"), "bytes */100");
			continue;
		}
		CHECK_INT(r.body_len, rows[i].len);
		CHECK(memcmp(r.body, bytes + rows[i].from, rows[i].len) == 0);
		if (rows[i].status == 206)
			CHECK_STR(header_of(f, &r, "Content-Range"),
				arena_printf(&f->arena, "bytes %zu-%zu/100", rows[i].from,
					rows[i].from + rows[i].len - 1));
	}
	r = get(f, "x");
	tag = header_of(f, &r, "ETag");
	r = ask(f, f->admin, NULL, "GET " OBJECT "\nIf-None-Match: \"no\", W/%s", f->tenant_id, "x",
		tag);
	STATUS(r, 304);
	CHECK_INT(r.body_len, 0);
	STATUS(ask(f, f->admin, NULL, "GET " OBJECT "\nRange: bytes=0-0\r\nIf-Range: %s",
		       f->tenant_id, "x", tag),
		206);
	STATUS(ask(f, f->admin, NULL, "GET " OBJECT "\nRange: bytes=0-0\r\nIf-Range: \"other\"",
		       f->tenant_id, "x"),
		200);
	fixture_close(f);
}

TEST(bucket_put_keeps_its_conditions)
{
	struct fixture *f = fixture_open();
	struct answer r = ask_bytes(f, f->admin, "one", 3,
		"PUT " OBJECT "\nContent-Type: a/b\r\nIf-None-Match: *", f->tenant_id, "x");
	const char *tag = header_of(f, &r, "ETag");

	STATUS(r, 201);
#define PUT_IF(lines)                                                                   \
	ask_bytes(f, f->admin, "two", 3, "PUT " OBJECT "\nContent-Type: a/b\r\n" lines, \
		f->tenant_id, "x")
	STATUS(PUT_IF("If-None-Match: *"), 412);
	STATUS(PUT_IF("If-Match: \"other\""), 412);
	STATUS(ask_bytes(f, f->admin, "two", 3, "PUT " OBJECT "\nContent-Type: a/b\r\nIf-Match: %s",
		       f->tenant_id, "y", tag),
		412);
	STATUS(PUT_IF("X-SHA256: 00"), 422);
	STATUS(ask_bytes(f, f->admin, "two", 3, "PUT " OBJECT "\nContent-Type: a/b\r\nX-SHA256: %s",
		       f->tenant_id, "x", digest_of(f, "one", 3)),
		422);
	r = get(f, "x");
	CHECK_STR(r.body, "one");
	STATUS(ask_bytes(f, f->admin, "two", 3,
		       "PUT " OBJECT "\nContent-Type: a/b\r\nIf-Match: %s\r\nX-SHA256: %s",
		       f->tenant_id, "x", tag, digest_of(f, "two", 3)),
		200);
	STATUS(ask(f, f->admin, NULL, "DELETE " OBJECT "\nIf-Match: %s", f->tenant_id, "x", tag),
		412);
	r = get(f, "x");
	CHECK_STR(r.body, "two");
	/* What was refused left nothing on the disk. */
	sweep_now(f, 1);
	fixture_close(f);
}

TEST(bucket_keys_have_a_grammar)
{
	static const struct {
		const char *key;
		int status;
	} rows[] = {
		{ "a", 201 },
		{ "a/b", 201 }, /* though a is an object */
		{ "A", 201 },
		{ "%C3%A9/%E2%82%AC", 201 },
		{ "...", 201 },
		{ "a%20%25%3F%23", 201 },
		{ "%F4%8F%BF%BFx", 201 }, /* the last sign that there is */
		{ "%F4%8F%BF%BF%F4%8F%BF%BF%F4%8F%BF%BF", 201 },
		{ "a%F4%8F%BF%BF", 201 },
		{ ".lodg", 201 },
		{ "%2Fa", 422 },
		{ "a/", 422 },
		{ "a//b", 422 },
		{ ".", 422 },
		{ "..", 422 },
		{ "a/../b", 422 },
		{ "../../etc/passwd", 422 },
		{ "a/.", 422 },
		{ "a%0Ab", 422 },
		{ "a%7Fb", 422 },
		{ "", 422 },
		{ ".lodge/x", 404 },
	};
	struct fixture *f = fixture_open();
	char *longest = bytes_of(f, BUCKET_KEY_MAX);
	int made = 0;
	struct answer r;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].key);
		STATUS(put(f, rows[i].key, "x", 1), rows[i].status);
		STATUS(get(f, rows[i].key), rows[i].status == 201 ? 200 : rows[i].status);
		made += rows[i].status == 201;
	}
	STATUS(put(f, longest, "x", 1), 201);
	STATUS(put(f, arena_printf(&f->arena, "%s1", longest), "x", 1), 422);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket?prefix=a&sort=key", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 5); /* with the longest */
	CHECK_STR(text_at(&r, "items.0.key"), "a");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket?per_page=2", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), made + 1);
	CHECK_STR(text_at(&r, "items.0.key"), longest);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket?per_page=200&after=%s", f->tenant_id,
		text_at(&r, "next_after"));
	CHECK_INT(json_array_size(at(&r, "items")), made - 1);
	fixture_close(f);
}

/* What is reserved is neither listed nor read, whoever made it. */
TEST(bucket_reserved_is_not_there)
{
	struct fixture *f = fixture_open();
	struct answer r;

	STATUS(put(f, "x", "x", 1), 201);
	fixture_sql(f, "update bucket_objects set key = '.lodge/x'", NO_ARGS);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	STATUS(get(f, ".lodge/x"), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE " OBJECT, f->tenant_id, ".lodge/x"), 404);
	fixture_close(f);
}

TEST(bucket_of_another_is_not_ones_own)
{
	struct fixture *f = fixture_open();
	const char *guest, *owner;
	const char *guest_id = fixture_user(f, "guest@example.org", &guest);
	const char *owner_id = fixture_user(f, "owner@example.org", &owner);
	const char *other = fixture_tenant(f, "other", owner_id);
	const char *fault;

	fixture_member(f, f->tenant_id, guest_id, "GUEST");
	STATUS(put(f, "x", "x", 1), 201);
	STATUS(ask(f, guest, NULL, "GET " OBJECT, f->tenant_id, "x"), 403);
	STATUS(ask_bytes(f, guest, "x", 1, "PUT " OBJECT "\nContent-Type: a/b", f->tenant_id, "x"),
		403);
	STATUS(ask(f, owner, NULL, "GET " OBJECT, f->tenant_id, "x"), 404);
	STATUS(ask(f, owner, NULL, "GET " OBJECT, other, "x"), 404);
	STATUS(ask_bytes(f, NULL, "x", 1, "PUT " OBJECT "\nContent-Type: a/b", f->tenant_id, "x"),
		401);
	CHECK_STR(bucket_uri_key(f->service.bucket,
			  arena_printf(&f->arena, "bucket://%s/a/b", other), other, &fault),
		"a/b");
	CHECK(!bucket_uri_key(f->service.bucket,
		arena_printf(&f->arena, "bucket://%s/a", f->tenant_id), other, &fault));
	CHECK(!bucket_uri_key(f->service.bucket, arena_printf(&f->arena, "bucket://%s/../x", other),
		other, &fault));
	CHECK(!bucket_uri_key(f->service.bucket,
		arena_printf(&f->arena, "bucket://%s/.lodge/x", other), other, &fault));
	CHECK(!bucket_uri_key(f->service.bucket, "file:///etc/passwd", other, &fault));
	fixture_close(f);
}

TEST(bucket_holds_so_much_and_no_more)
{
	struct fixture *f = fixture_open();
	char *bytes = bytes_of(f, LARGE);
	struct bucket_upload *u;
	struct answer r;
	int64_t room = 0;

	STATUS(put(f, "a", bytes, LARGE), 201);
	/* Refused with the head alone: the body never comes. */
	r = ask(f, f->admin, NULL, "PUT " OBJECT "\nContent-Length: 700000", f->tenant_id, "b");
	STATUS(r, 507);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:no_space");
	r = ask(f, f->admin, NULL, "PUT " OBJECT "\nContent-Length: 9223372036854775807",
		f->tenant_id, "b");
	STATUS(r, 507);
	/* In the place of itself it fits. */
	STATUS(put(f, "a", bytes, LARGE), 200);
	/* In chunks nobody knows before. */
	r = ask(f, f->admin, NULL,
		"PUT " OBJECT "\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n60000\r\n",
		f->tenant_id, "b");
	STATUS(r, 507);
	/* What others are bringing counts. */
	u = bucket_upload_new(f->service.bucket, f->tenant_id);
	CHECK_INT(bucket_upload_claim(u, LARGE, 0, 300 * 1000, &room), 0);
	STATUS(put(f, "b", bytes, 50 * 1000), 507);
	STATUS(put(f, "b", bytes, 40 * 1000), 201);
	bucket_upload_end(u, NULL);
	/* And rows alone decide in the end: the rest was taken meanwhile. */
	STATUS(put(f, "c", bytes, 308 * 1000), 201);
	CHECK_INT(fixture_count(f, "select size_bytes from bucket_usage"), LARGE + 348 * 1000);
	await_files(f, 4);
	fixture_close(f);
}

struct putting {
	struct fixture *f;
	struct bucket_stored stored;
	int taken;
};

static int put_row(struct db *db, void *data)
{
	struct putting *p = data;
	struct arena a = { 0 };
	struct bucket_row row;
	bool stood;
	int err = bucket_row_put(db, &a,
		&(struct bucket_putting){ .tenant_id = p->f->tenant_id,
			.key = arena_printf(&a, "k%d", p->taken),
			.content_type = "a/b",
			.stored = &p->stored,
			.tenant_max = 1000,
			.now = 1 },
		&row, &stood);

	arena_free(&a);
	return err;
}

TEST(bucket_rows_never_pass_their_share)
{
	struct fixture *f = fixture_open();
	struct putting p = { .f = f, .stored = { .sha256 = "", .size_bytes = 300 } };

	for (p.taken = 0; p.taken < 3; p.taken++) {
		snprintf(p.stored.blob, sizeof p.stored.blob, "blob%d", p.taken);
		CHECK_INT(fixture_work(f, put_row, &p), 0);
	}
	snprintf(p.stored.blob, sizeof p.stored.blob, "blob%d", p.taken);
	CHECK_INT(fixture_work(f, put_row, &p), ERR_NO_SPACE);
	p.stored.size_bytes = 100;
	CHECK_INT(fixture_work(f, put_row, &p), 0);
	CHECK_INT(fixture_count(f, "select size_bytes from bucket_usage"), 1000);
	fixture_close(f);
}

/* The body breaks off: nothing is there, on the disk neither. */
TEST(bucket_put_that_breaks_off_leaves_nothing)
{
	struct fixture *f = fixture_open();
	const char *head = arena_printf(&f->arena,
		"PUT /tenant/%s/bucket/object?key=x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
		"Content-Length: 700000\r\n\r\n",
		f->tenant_id, f->admin);
	char *bytes = bytes_of(f, LARGE);
	struct buf in;

	buf_init(&in, 1 << 20);
	CHECK(http_inproc_send(f->inproc, head, strlen(head), &in));
	CHECK(http_inproc_send(f->inproc, bytes, 2 * HTTP_PIECE, &in));
	await_files(f, 1);
	CHECK(!http_inproc_half_close(f->inproc, &in));
	CHECK(strncmp(in.at, "HTTP/1.1 400", 12) == 0);
	await_files(f, 0);
	STATUS(get(f, "x"), 404);
	buf_free(&in);
	fixture_close(f);
}

/* Whoever plants a link in the folder is refused, in whichever place. */
TEST(bucket_follows_no_links)
{
	struct fixture *f = fixture_open();
	char outside[] = "/tmp/lodge-outside.XXXXXX";
	const char *blob, *path;
	struct stat st;

	CHECK(mkdtemp(outside));
	STATUS(put(f, "x", "x", 1), 201);
	path = arena_printf(&f->arena, "%s/%s", f->bucket, f->tenant_id);
	/* To where the bytes are, and within the bucket: it is the link that is refused. */
	CHECK(system(arena_printf(&f->arena, "cd '%s' && mv %s moved && ln -s moved %s", f->bucket,
		      f->tenant_id, f->tenant_id)) == 0);
	STATUS(get(f, "x"), 503);
	CHECK(system(arena_printf(&f->arena, "cd '%s' && rm %s && mv moved %s", f->bucket,
		      f->tenant_id, f->tenant_id)) == 0);
	STATUS(get(f, "x"), 200);
	CHECK(system(arena_printf(&f->arena,
		      "cd '%s' && b=$(find . -type f) && printf s > %s/secret && rm $b && "
		      "ln -s %s/secret $b",
		      path, outside, outside)) == 0);
	STATUS(get(f, "x"), 503);
	/* The tenant's whole folder. */
	CHECK(system(arena_printf(
		      &f->arena, "rm -rf '%s' && ln -s %s '%s'", path, outside, path)) == 0);
	STATUS(get(f, "x"), 503);
	STATUS(put(f, "y", "y", 1), 503);
	STATUS(get(f, "y"), 404);
	CHECK(system(arena_printf(&f->arena, "test $(ls %s | wc -l) = 1", outside)) == 0);
	blob = arena_printf(&f->arena, "%s/secret", outside);
	CHECK(stat(blob, &st) == 0 && st.st_size == 1);
	fixture_remove_folder(outside);
	fixture_close(f);
}

TEST(bucket_bytes_that_are_missing_or_torn_are_told)
{
	struct fixture *f = fixture_open();
	struct answer r;

	STATUS(put(f, "x", "hello", 5), 201);
	CHECK(system(arena_printf(&f->arena, "find '%s/%s' -type f -exec truncate -s 3 {} +",
		      f->bucket, f->tenant_id)) == 0);
	r = get(f, "x");
	STATUS(r, 503);
	CHECK(strstr(text_at(&r, "detail"), "cannot be read"));
	fixture_close(f);
}

TEST(bucket_is_loaded_into_memory_up_to_a_limit)
{
	struct fixture *f = fixture_open();
	struct bucket_row row = { .tenant_id = f->tenant_id, .key = "x" };
	struct bucket_upload *u = bucket_upload_new(f->service.bucket, f->tenant_id);
	struct bucket_stored stored;
	struct problem p = { 0 };
	const void *bytes;
	size_t len = 0;

	CHECK_INT(bucket_store(u, "hello", 5, &stored, &f->arena, &p), 0);
	bucket_upload_keep(u, true);
	bucket_upload_end(u, f->app.disk);
	row.blob = stored.blob;
	row.sha256 = stored.sha256;
	row.size_bytes = stored.size_bytes;
	CHECK_INT(bucket_load(f->service.bucket, &row, 5, &f->arena, &bytes, &len, &p), 0);
	CHECK_INT(len, 5);
	CHECK(memcmp(bytes, "hello", 5) == 0);
	CHECK_INT(bucket_load(f->service.bucket, &row, 4, &f->arena, &bytes, &len, &p),
		ERR_TOO_LARGE);
	p = (struct problem){ 0 };
	row.sha256 = digest_of(f, "hellu", 5);
	CHECK_INT(bucket_load(f->service.bucket, &row, 5, &f->arena, &bytes, &len, &p), ERR_STORE);
	fixture_close(f);
}

/* The path and query of an address. */
static const char *signed_path(struct fixture *f, const char *key, const char *method, int seconds)
{
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"key\":\"%s\",\"method\":\"%s\",\"expires_s\":%d}", key,
			method, seconds),
		"POST /tenant/%s/bucket/presign", f->tenant_id);

	STATUS(r, 200);
	return text_at(&r, "url") + strlen("http://lodge.test");
}

TEST(bucket_address_is_good_for_one_method_and_key)
{
	struct fixture *f = fixture_open();
	const char *get_it = signed_path(f, "a b/\u00e9", "GET", 60);
	const char *put_it = signed_path(f, "a b/\u00e9", "PUT", 60);
	char *other = arena_strdup(&f->arena, get_it);
	struct answer r;

	STATUS(ask(f, NULL, NULL, "GET %s", get_it), 404);
	STATUS(ask_bytes(f, NULL, "hello", 5, "PUT %s\nContent-Type: a/b", put_it), 201);
	r = ask(f, NULL, NULL, "GET %s\nRange: bytes=1-2", get_it);
	STATUS(r, 206);
	CHECK_STR(r.body, "el");
	r = get(f, "a%20b/%C3%A9");
	CHECK_STR(r.body, "hello");
	STATUS(ask(f, NULL, NULL, "GET %s", put_it), 403);
	STATUS(ask_bytes(f, NULL, "x", 1, "PUT %s\nContent-Type: a/b", get_it), 403);
	strstr(other, "a%20b")[0] = 'c';
	STATUS(ask(f, NULL, NULL, "GET %s", other), 403);
	other = arena_strdup(&f->arena, get_it);
	strstr(other, "expires=")[8]++;
	STATUS(ask(f, NULL, NULL, "GET %s", other), 403);
	other = arena_strdup(&f->arena, get_it);
	other[strlen(other) - 1] ^= 1;
	STATUS(ask(f, NULL, NULL, "GET %s", other), 403);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from audit_logs where action = 'bucket.put' and user_id is not null"),
		1);
	fixture_close(f);
}

TEST(bucket_address_ends_with_its_time_and_its_maker)
{
	struct fixture *f = fixture_open();
	const char *member, *member_id = fixture_user(f, "m@example.org", &member);
	const char *path;
	int64_t ends = clock_now_us() + 60 * SECOND_US;
	struct answer r;

	fixture_member(f, f->tenant_id, member_id, "MEMBER");
	STATUS(put(f, "x", "hello", 5), 201);
	STATUS(ask(f, f->admin, "{\"key\":\".lodge/x\",\"method\":\"GET\"}",
		       "POST /tenant/%s/bucket/presign", f->tenant_id),
		404);
	r = ask(f, member, "{\"key\":\"x\",\"method\":\"GET\"}", "POST /tenant/%s/bucket/presign",
		f->tenant_id);
	STATUS(r, 200);
	path = text_at(&r, "url") + strlen("http://lodge.test");
	STATUS(ask(f, NULL, NULL, "GET %s", path), 200);
	fixture_sql(f, "update members set role = 'GUEST' where user_id = $1", ARGS(T(member_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 403);
	fixture_sql(f, "update members set role = 'MEMBER' where user_id = $1", ARGS(T(member_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 200);
	fixture_sql(f, "update users set is_suspended = 1 where id = $1", ARGS(T(member_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 403);
	path = signed_path(f, "x", "GET", 1);
	do {
		r = ask(f, NULL, NULL, "GET %s", path);
		usleep(50000);
	} while (r.status == 200 && clock_now_us() < ends);
	STATUS(r, 403);
	fixture_close(f);
}

/* A whole sweep, by a clock that is ahead; so many rows are left. */
static void sweep_until(struct fixture *f, int64_t want, int64_t ahead_us)
{
	for (int i = 0; i < 50; i++) {
		bucket_sweep_submit(
			f->service.bucket, f->app.store, f->app.disk, clock_now_us() + ahead_us);
		usleep(10000);
		if (want == 0 && !fixture_count(f, "select count(*) from bucket_trash"))
			break;
	}
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), want);
}

/* What an upload left whose process died: it is found when it is a day old, and nothing else is. */
TEST(bucket_bytes_that_no_row_names_are_collected)
{
	struct fixture *f = fixture_open();
	struct bucket_report r = { 0 };
	struct db *db = NULL;
	struct problem p = { 0 };

	STATUS(put(f, "x", "hello", 5), 201);
	STATUS(put(f, "gone", "hello", 5), 201);
	fixture_sql(f, "delete from bucket_objects where key = 'gone'", NO_ARGS);
	CHECK(system(arena_printf(&f->arena,
		      "cd '%s/%s' && cp $(find . -type f | head -n 1) $(find . -type f | tail -n 1).part",
		      f->bucket, f->tenant_id)) == 0);
	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(bucket_check(f->service.bucket, db, &f->arena, &r), 0);
	CHECK_INT(r.unnamed, 0); /* it may be on its way */
	CHECK_INT(r.objects, 1);
	CHECK(!r.first);
	CHECK(system(arena_printf(&f->arena, "find '%s' -type f -exec touch -d '2 days ago' {} +",
		      f->bucket)) == 0);
	r = (struct bucket_report){ 0 };
	CHECK_INT(bucket_check(f->service.bucket, db, &f->arena, &r), 0);
	CHECK_INT(r.unnamed, 2);
	CHECK_INT(files_of(f), 3);
	bucket_collect_submit(f->service.bucket, f->app.store, f->app.disk, clock_now_us());
	await_files(f, 2);
	for (int i = 0; i < 500 && !fixture_count(f, "select count(*) from bucket_trash"); i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), 1);
	/* What is whole stays for a week: a store that was put aside may name it. */
	sweep_until(f, 1, BUCKET_UNNAMED_US - HOUR_US);
	CHECK_INT(files_of(f), 2);
	r = (struct bucket_report){ 0 };
	CHECK_INT(bucket_check(f->service.bucket, db, &f->arena, &r), 0);
	CHECK_INT(r.unnamed, 1);
	sweep_until(f, 0, BUCKET_UNNAMED_US + HOUR_US);
	CHECK_INT(files_of(f), 1);
	STATUS(get(f, "x"), 200);
	/* And what is not as it was put is told. */
	CHECK(system(arena_printf(&f->arena, "cd '%s/%s' && printf hellu > $(find . -type f)",
		      f->bucket, f->tenant_id)) == 0);
	r = (struct bucket_report){ 0 };
	CHECK_INT(bucket_check(f->service.bucket, db, &f->arena, &r), 0);
	CHECK_INT(r.torn, 1);
	CHECK_STR(r.first, arena_printf(&f->arena, "bucket://%s/x", f->tenant_id));
	CHECK(system(arena_printf(&f->arena, "cd '%s/%s' && rm $(find . -type f)", f->bucket,
		      f->tenant_id)) == 0);
	r = (struct bucket_report){ 0 };
	CHECK_INT(bucket_check(f->service.bucket, db, &f->arena, &r), 0);
	CHECK_INT(r.missing, 1);
	db_close(db);
	fixture_close(f);
}

/* Of a tenant that is erased nothing is left, on the disk neither. */
TEST(bucket_goes_with_its_tenant)
{
	struct fixture *f = fixture_open();

	STATUS(put(f, "x", "hello", 5), 201);
	STATUS(put(f, "y", "hello", 5), 201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s", f->tenant_id), 204);
	for (int i = 0; i < 2000 && fixture_count(f, "select count(*) from tenants"); i++) {
		erase_submit(&f->app);
		usleep(5000);
	}
	CHECK_INT(fixture_count(f, "select count(*) from tenants"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_objects"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_usage"), 0);
	sweep_now(f, 0);
	fixture_close(f);
}
