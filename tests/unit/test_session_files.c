/* test_session_files.c - the bytes of sessions' files: large ones in the tenant's bucket, counted and collected there; small ones in
 * the store; and old ones on their way from here to there. */
#include "gateway_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "bucket/bucket.h"
#include "sessions/session_file.h"
#include "sessions/session_file_move.h"
#include "store/pool.h"

enum { SMALL = SESSION_FILE_SMALL, LARGE = SMALL + 1, HUGE_LEN = 400 * 1000 };

static char *bytes_of(struct fixture *f, size_t n)
{
	char *bytes = arena_alloc(&f->arena, n + 1);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + i * 7 % 26);
	return bytes;
}

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

/* Has what nobody names removed, and waits for it. */
static void swept(struct fixture *f, int64_t want)
{
	for (int i = 0; i < 500 && files_of(f) != want; i++) {
		bucket_sweep_submit(f->service.bucket, f->app.store, f->app.disk,
			clock_now_us() + 2 * BUCKET_TRASH_US);
		usleep(10000);
	}
	CHECK_INT(files_of(f), want);
}

static int64_t objects_of(struct fixture *f)
{
	return fixture_count(f, "select count(*) from bucket_objects");
}

static int64_t used(struct fixture *f)
{
	return fixture_count(f, "select coalesce(sum(size_bytes), 0) from bucket_usage");
}

/* Every sum and name is as it must be. */
static void sound(struct fixture *f)
{
	struct session_files_report r = { 0 };
	struct bucket_report b = { 0 };
	struct problem p = { 0 };
	struct db *db = NULL;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(session_files_check(db, &r), 0);
	CHECK_INT(r.lost, 0);
	CHECK_INT(r.unnamed, 0);
	CHECK_INT(r.miscounted, 0);
	CHECK_INT(bucket_check(f->service.bucket, db, &f->arena, &b), 0);
	CHECK(!b.first);
	db_close(db);
}

static struct answer bring(struct fixture *f, const char *session, const char *bytes, size_t n)
{
	return ask_bytes(f, f->admin, bytes, n,
		"POST /sessions/%s/files?name=a.txt\nContent-Type: application/octet-stream",
		session);
}

static struct answer content(
	struct fixture *f, const char *session, const char *file, const char *more)
{
	return ask(f, f->admin, NULL, "GET /sessions/%s/files/%s/content%s", session, file, more);
}

TEST(session_files_large_lie_in_the_bucket)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}"), *file;
	char *bytes = bytes_of(f, HUGE_LEN);
	struct answer r;

	bucket_files_begin(f->service.bucket);
	test_step("one of this length is in its row");
	r = bring(f, id, bytes, SMALL);
	STATUS(r, 201);
	CHECK_INT(objects_of(f), 0);
	r = content(f, id, text_at(&r, "id"), "");
	STATUS(r, 200);
	CHECK(r.body_len == SMALL && memcmp(r.body, bytes, SMALL) == 0);

	test_step("one more byte is an object");
	r = bring(f, id, bytes, LARGE);
	STATUS(r, 201);
	file = text_at(&r, "id");
	CHECK_INT(objects_of(f), 1);
	CHECK_INT(files_of(f), 1);
	CHECK_INT(used(f), LARGE);
	CHECK_INT(fixture_count(f, "select sum(length(content)) from session_files"), SMALL);
	r = content(f, id, file, "");
	STATUS(r, 200);
	CHECK(r.body_len == LARGE && memcmp(r.body, bytes, LARGE) == 0);
	CHECK_STR(header_of(f, &r, "content-type"), "application/octet-stream");
	CHECK(strstr(header_of(f, &r, "content-disposition"), "attachment") != NULL);
	r = content(f, id, file, "\nRange: bytes=5-9");
	STATUS(r, 206);
	CHECK(r.body_len == 5 && memcmp(r.body, bytes + 5, 5) == 0);
	STATUS(content(f, id, file,
		       arena_printf(&f->arena, "\nIf-None-Match: %s", header_of(f, &r, "etag"))),
		304);

	test_step("nobody finds it in the bucket");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items")), 0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket?prefix=.lodge/", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 0);

	test_step("beyond what a tenant may have: nothing is kept");
	STATUS(bring(f, id, bytes, HUGE_LEN), 201);
	STATUS(bring(f, id, bytes, HUGE_LEN), 201);
	r = bring(f, id, bytes, HUGE_LEN);
	STATUS(r, 507);
	CHECK(strstr(text_at(&r, "detail"), "files of sessions") != NULL);
	CHECK_INT(objects_of(f), 3);
	CHECK_INT(fixture_count(f, "select count(*) from session_files"), 4);
	CHECK_INT(files_of(f), 3);
	sound(f);

	test_step("they go with the session");
	STATUS(ask(f, f->admin, NULL, "DELETE /sessions/%s", id), 204);
	fixture_sweep(f);
	CHECK_INT(objects_of(f), 0);
	CHECK_INT(used(f), 0);
	swept(f, 0);
	fixture_close(f);
}

/* ---- in messages ---- */

#define PNG_HEAD "\x89PNG\r\n\x1a\n"

/* An image of so many bytes in base64. */
static const char *image_of(struct fixture *f, size_t n)
{
	char *bytes = bytes_of(f, n), *text = arena_alloc(&f->arena, base64_length(n) + 1);

	memcpy(bytes, PNG_HEAD, 8);
	base64_encode(bytes, n, text);
	return text;
}

static struct answer show(struct gateway_fixture *s, const char *image)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena,
			"{\"model\":\"%s\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
			"\"text\":\"look\"},{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,%s\"},"
			"{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,%s\"}]}]}",
			s->agent_id, image, image),
		"POST /v1/responses");
}

static const char *first_session(struct gateway_fixture *s)
{
	struct answer r = ask(s->f, s->f->admin, NULL, "GET /agents/%s/sessions", s->agent_id);

	STATUS(r, 200);
	return text_at(&r, "items.0.id");
}

static void open_seeing(struct gateway_fixture *s)
{
	gateway_open(s);
	gateway_agent(s, (const char *const[]){ "ok", NULL });
	fixture_sql(s->f, "update models set supports_vision = 1", NO_ARGS);
	bucket_files_begin(s->f->service.bucket);
}

TEST(session_files_of_messages_are_shared_and_go_last)
{
	struct gateway_fixture s;
	const char *image, *session, *branch, *file, *message;
	struct answer r;

	open_seeing(&s);
	image = image_of(s.f, LARGE);
	STATUS(show(&s, image), 200);
	test_step("the same bytes twice are one object, and the model is shown them");
	CHECK(strstr(s.mock.last_body, arena_strndup(&s.f->arena, image, 2000)) != NULL);
	CHECK_INT(fixture_count(s.f, "select count(*) from session_files"), 2);
	CHECK_INT(objects_of(s.f), 1);
	CHECK_INT(used(s.f), LARGE);
	CHECK_INT(files_of(s.f), 1);
	session = first_session(&s);
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/messages", session);
	message = text_at(&r, "items.1.id");
	file = text_at(&r, "items.1.parts.0.file_id");

	test_step("a branch names the same");
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "{\"message_id\":\"%s\"}", text_at(&r, "items.0.id")),
		"POST /tenant/%s/sessions/%s/branch", s.f->tenant_id, session);
	STATUS(r, 201);
	branch = text_at(&r, "id");
	CHECK_INT(objects_of(s.f), 1);
	CHECK_INT(used(s.f), LARGE);
	STATUS(content(s.f, branch, file, ""), 200);

	test_step("deleted here, it is there");
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /v1/threads/%s/messages/%s", session, message),
		200);
	STATUS(content(s.f, session, file, ""), 404);
	CHECK_INT(objects_of(s.f), 1);
	r = content(s.f, branch, file, "");
	STATUS(r, 200);
	CHECK_INT(r.body_len, LARGE);
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /sessions/%s", session), 204);
	fixture_sweep(s.f);
	STATUS(content(s.f, branch, file, ""), 200);
	sound(s.f);
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /sessions/%s", branch), 204);
	fixture_sweep(s.f);
	CHECK_INT(objects_of(s.f), 0);
	CHECK_INT(used(s.f), 0);
	swept(s.f, 0);
	gateway_close(&s);
}

TEST(session_files_of_messages_have_their_limits)
{
	struct gateway_fixture s;
	struct answer r;
	const char *id, *file;

	open_seeing(&s);
	test_step("no room");
	r = show(&s, image_of(s.f, (1 << 20) + 1));
	STATUS(r, 507);
	CHECK_INT(fixture_count(s.f, "select count(*) from session_files"), 0);
	CHECK_INT(fixture_count(s.f, "select count(*) from messages"), 0);
	CHECK_INT(files_of(s.f), 0);

	test_step("a file that was brought apart is shown by its id, as what it is");
	id = fixture_session(s.f, s.f->admin, s.agent_id, "{}");
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "data:application/octet-stream;base64,%s",
			image_of(s.f, LARGE)),
		"POST /sessions/%s/files?name=a", id);
	STATUS(r, 201);
	file = text_at(&r, "id");
	CHECK_INT(objects_of(s.f), 1);
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "{\"content\":\"see\",\"file_ids\":[\"%s\"]}", file),
		"POST /sessions/%s/messages\nAccept: text/event-stream", id);
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, "data:image/png;base64,") != NULL);

	test_step("bytes that are lost are told of, and end nothing");
	CHECK(system(arena_printf(&s.f->arena, "find '%s/%s' -type f -delete", s.f->bucket,
		      s.f->tenant_id)) == 0);
	r = ask(s.f, s.f->admin, "{\"content\":\"again\"}",
		"POST /sessions/%s/messages\nAccept: text/event-stream", id);
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, "data:image/png;base64,") == NULL);
	CHECK(strstr(s.mock.last_body, "not shown") != NULL);
	STATUS(content(s.f, id, file, ""), 503);
	gateway_close(&s);
}

/* ---- from the store to the bucket ---- */

static void keep_in_store(
	struct fixture *f, const char *session, const char *bytes, size_t n, int count)
{
	for (int i = 0; i < count; i++)
		fixture_sql(f,
			"insert into session_files (tenant_id, session_id, id, name, content_type, size_bytes, "
			"created_at, content) values ($1, $2, $3, 'old.txt', 'text/plain', $4, 1, $5)",
			ARGS(T(f->tenant_id), T(session), T(id_new(NULL).text), N((int64_t)n),
				value_bytes(bytes, n)));
}

static int64_t in_store(struct fixture *f)
{
	return fixture_count(f, "select count(*) from session_files where object_id is null and "
				"size_bytes > 16384");
}

static void moved(struct fixture *f, int64_t want)
{
	for (int i = 0; i < 1000 && in_store(f) != want; i++) {
		file_mover_start(f->service.mover);
		usleep(10000);
	}
	CHECK_INT(in_store(f), want);
}

TEST(session_files_move_to_the_bucket)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}");
	struct file_mover *other;
	struct bucket_settings settings = { .tenant_max = 1 << 20 };
	struct bucket *second = NULL;
	struct answer r;
	char *bytes = bytes_of(f, LARGE);

	keep_in_store(f, id, bytes, LARGE, 70);
	keep_in_store(f, id, bytes, SMALL, 2);
	test_step("two processes at once; more than a tenant may have is moved all the same");
	settings.where = arena_printf(&f->arena, "dir:%s", f->bucket);
	fixture_bucket(f, &second, &settings);
	other = file_mover_new(second, f->app.store, f->app.disk);
	for (int i = 0; i < 1000 && in_store(f); i++) {
		file_mover_start(f->service.mover);
		file_mover_start(other);
		usleep(5000);
	}
	CHECK_INT(in_store(f), 0);
	bucket_stop(second);
	for (int i = 0; i < 1000 && files_of(f) > 70; i++)
		usleep(10000); /* the other's last */
	CHECK_INT(objects_of(f), 70);
	CHECK_INT(used(f), 70 * LARGE);
	CHECK_INT(files_of(f), 70);
	sound(f);
	CHECK_INT(fixture_count(f,
			  "select cast(value as integer) from meta where key = 'oldest_program'"),
		BUCKET_FILES_SINCE);
	test_step("they are read, and too much is too much for the next");
	r = ask(f, f->admin, NULL, "GET /sessions/%s/files", id);
	r = content(f, id, text_at(&r, "items.5.id"), "");
	STATUS(r, 200);
	CHECK(r.body_len == LARGE && memcmp(r.body, bytes, LARGE) == 0);
	STATUS(bring(f, id, bytes, LARGE), 507);
	pool_free(f->app.disk); /* before the other mover, which may be under way */
	f->app.disk = pool_new(&(struct pool_settings){
		.threads = 1, .idle_s = 1, .waiting = 10, .waiting_each = 10 });
	file_mover_free(other);
	bucket_free(second);
	fixture_close(f);
}

TEST(session_files_wait_for_older_programs)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}");
	char *bytes = bytes_of(f, LARGE);

	test_step("a store that was served before: a day is given, and nothing goes to the bucket");
	fixture_sql(f, "delete from meta where key = 'session_files_move_at'", NO_ARGS);
	fixture_sql(f, "update meta set value = '45' where key = 'oldest_program'", NO_ARGS);
	STATUS(bring(f, id, bytes, LARGE), 201);
	for (int i = 0;
		i < 500 &&
		fixture_count(f, "select count(*) from meta where key = 'session_files_move_at'") ==
			0;
		i++) {
		file_mover_start(f->service.mover);
		usleep(10000);
	}
	for (int i = 0; i < 5; i++) {
		file_mover_start(f->service.mover);
		usleep(10000);
	}
	CHECK(fixture_count(f,
		      "select cast(value as bigint) from meta where key = 'session_files_move_at'") >
		clock_now_us() + DAY_US / 2);
	CHECK_INT(in_store(f), 1);
	STATUS(bring(f, id, bytes, LARGE), 201);
	CHECK_INT(in_store(f), 2);
	CHECK_INT(fixture_count(f,
			  "select cast(value as integer) from meta where key = 'oldest_program'"),
		45);

	test_step("when it is over the older are shut out first");
	fixture_sql(f, "update meta set value = '1' where key = 'session_files_move_at'", NO_ARGS);
	moved(f, 0);
	CHECK_INT(fixture_count(f,
			  "select cast(value as integer) from meta where key = 'oldest_program'"),
		BUCKET_FILES_SINCE);
	CHECK_INT(objects_of(f), 2);
	STATUS(bring(f, id, bytes, LARGE), 201);
	CHECK_INT(objects_of(f), 3);
	sound(f);
	fixture_close(f);
}

/* ---- from one place to another ---- */

TEST(bucket_moves_to_another_folder)
{
	struct fixture *f = fixture_open();
	char *bytes = bytes_of(f, HUGE_LEN);
	const char *there = arena_printf(&f->arena, "%s.there", f->bucket);
	struct bucket_settings settings = { .tenant_max = 1 << 20 }, inside = settings;
	struct bucket *to = NULL, *both = NULL, *within = NULL;
	struct bucket_moving m;
	struct problem p = { 0 };
	struct db *db = NULL;
	int fd;

	settings.where = arena_printf(&f->arena, "dir:%s", there);
	STATUS(ask_bytes(f, f->admin, bytes, HUGE_LEN, "PUT /tenant/%s/bucket/object?key=a",
		       f->tenant_id),
		201);
	STATUS(ask_bytes(f, f->admin, "", 0, "PUT /tenant/%s/bucket/object?key=b", f->tenant_id),
		201);
	STATUS(ask_bytes(f, f->admin, "x", 1, "PUT /tenant/%s/bucket/object?key=c", f->tenant_id),
		201);
	fixture_bucket(f, &to, &settings);
	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	test_step("all of them, and then none");
	CHECK_INT(bucket_move(to, f->service.bucket, db, &f->arena, &m, NULL, NULL, &p), 0);
	CHECK_INT(m.objects, 3);
	CHECK_INT(m.copied, 3);
	CHECK_INT(m.copied_bytes, HUGE_LEN + 1);
	CHECK(!m.first);
	CHECK_INT(bucket_move(to, f->service.bucket, db, &f->arena, &m, NULL, NULL, &p), 0);
	CHECK_INT(m.copied, 0);
	test_step("one with other bytes of the same length is made whole, too");
	CHECK(system(arena_printf(&f->arena,
		      "cd '%s' && for x in $(find . -type f -size 1c); do printf z > $x; done",
		      there)) == 0);
	CHECK_INT(bucket_move(to, f->service.bucket, db, &f->arena, &m, NULL, NULL, &p), 0);
	CHECK_INT(m.copied, 1);
	test_step("a folder in the former one, and the former by another name, are none");
	for (int i = 0; i < 2; i++) {
		inside.where = arena_printf(&f->arena, i ? "dir:%s/../%s" : "dir:%s/%s", f->bucket,
			i ? strrchr(f->bucket, '/') + 1 : "in");
		fixture_bucket(f, &within, &inside);
		CHECK_INT(bucket_move(within, f->service.bucket, db, &f->arena, &m, NULL, NULL, &p),
			ERR_USAGE);
		bucket_free(within);
		p = (struct problem){ 0 };
	}

	test_step(
		"one that broke off is made whole; one whose bytes are others is told of and not copied");
	CHECK(system(arena_printf(&f->arena,
		      "cd '%s' && find . -type f -size +1k -exec truncate -s 5 {} + && "
		      "find . -type f -size 1c -delete",
		      there)) == 0);
	CHECK(system(arena_printf(&f->arena, "cd '%s/%s' && printf y > $(find . -type f -size 1c)",
		      f->bucket, f->tenant_id)) == 0);
	CHECK_INT(bucket_move(to, f->service.bucket, db, &f->arena, &m, NULL, NULL, &p), 0);
	CHECK_INT(m.copied, 1);
	CHECK_INT(m.torn, 1);
	CHECK_INT(m.missing, 0);
	CHECK_STR(m.first, arena_printf(&f->arena, "bucket://%s/c", f->tenant_id));

	test_step("with both, bytes are read from either, and removed from both");
	settings.also = arena_printf(&f->arena, "dir:%s", f->bucket);
	CHECK_INT(bucket_new(&both, &settings, &f->arena, &p), 0);
	CHECK_INT(bucket_claim(both, db, BUCKET_SERVES, &f->arena, &p), 0);
	{
		struct bucket_row row;

		CHECK_INT(bucket_row_find(db, &f->arena, f->tenant_id, "c", &row), 0);
		CHECK_INT(bucket_open(both, &row, &fd, &f->arena, &p), 0);
		close(fd);
		CHECK(bucket_open(to, &row, &fd, &f->arena, &p) != 0);
		CHECK_INT(bucket_row_find(db, &f->arena, f->tenant_id, "a", &row), 0);
		CHECK_INT(bucket_open(both, &row, &fd, &f->arena, &p), 0);
		close(fd);
	}
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/bucket/object?key=a", f->tenant_id), 204);
	for (int i = 0; i < 500 && fixture_count(f, "select count(*) from bucket_trash"); i++) {
		bucket_sweep_submit(
			both, f->app.store, f->app.disk, clock_now_us() + 2 * BUCKET_TRASH_US);
		usleep(10000);
	}
	CHECK(system(arena_printf(
		      &f->arena, "test -z \"$(find '%s' -type f -size +100k)\"", f->bucket)) == 0);
	while (!bucket_is_swept(both))
		usleep(1000);
	pool_free(f->app.disk);
	f->app.disk = pool_new(&(struct pool_settings){
		.threads = 1, .idle_s = 1, .waiting = 10, .waiting_each = 10 });

	test_step("a second place that is not marked is refused while objects are named");
	settings.also = arena_printf(&f->arena, "dir:%s/none", f->bucket);
	bucket_free(both);
	both = NULL;
	p = (struct problem){ 0 };
	CHECK_INT(bucket_new(&both, &settings, &f->arena, &p), 0);
	CHECK_INT(bucket_claim(both, db, BUCKET_SERVES, &f->arena, &p), ERR_USAGE);
	bucket_free(both);
	bucket_free(to);
	db_close(db);
	CHECK(system(arena_printf(&f->arena, "rm -rf '%s'", there)) == 0);
	fixture_close(f);
}
