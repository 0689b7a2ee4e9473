/* test_bucket_mark.c - whose a place is: a store takes the bucket that bears its mark, and no other. */
#include "fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bucket/bucket.h"

struct places {
	struct fixture *f;
	struct db *db;
	const char *in; /* a folder in which each has its own */
	struct problem p;
};

static void open_places(struct places *s)
{
	*s = (struct places){ .f = fixture_open() };
	s->in = mkdtemp(arena_strdup(&s->f->arena, "/tmp/lodge-places.XXXXXX"));
	CHECK(s->in);
	CHECK_INT(store_connect(s->f->app.store, &s->db, &s->f->arena, &s->p), 0);
}

static void close_places(struct places *s)
{
	db_close(s->db);
	fixture_remove_folder(s->in);
	fixture_close(s->f);
}

/* As the store says it of a new one. */
static void forget_bucket(struct places *s)
{
	fixture_sql(s->f, "delete from meta where key in ('bucket_id', 'bucket_marked')", NO_ARGS);
}

static const char *place(struct places *s, const char *name)
{
	return arena_printf(&s->f->arena, "%s/%s", s->in, name);
}

static int claim(struct places *s, const char *name, enum bucket_claim how)
{
	struct bucket_settings settings = { .tenant_max = 1 << 20 };
	struct bucket *b = NULL;
	int err;

	s->p = (struct problem){ 0 };
	settings.where = arena_printf(&s->f->arena, "dir:%s", place(s, name));
	CHECK_INT(bucket_new(&b, &settings, &s->f->arena, &s->p), 0);
	err = bucket_claim(b, s->db, how, &s->f->arena, &s->p);
	bucket_free(b);
	return err;
}

static void shell(struct places *s, const char *line)
{
	CHECK(system(arena_printf(&s->f->arena, "cd '%s' && %s", s->in, line)) == 0);
}

/* Over SQLite there is one process, and while it names no object nothing can lie elsewhere. */
static void check_other_folder(struct places *s)
{
	if (fixture_is_sqlite()) {
		test_step("an empty folder is taken in its place while no object is named");
		CHECK_INT(claim(s, "d", BUCKET_SERVES), 0);
		return;
	}
	test_step("another folder over the same store is refused, though no object is named yet");
	CHECK_INT(claim(s, "b", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s->p.detail, "is a disk not mounted"));
	CHECK(access(place(s, "b"), F_OK));
	shell(s, "mkdir b");
	CHECK_INT(claim(s, "b", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s->p.detail, "lodge bucket adopt"));
	CHECK_INT(claim(s, "b", BUCKET_LOOKS), ERR_USAGE);
}

TEST(bucket_belongs_to_one_store)
{
	struct places s;

	open_places(&s);
	forget_bucket(&s);
	test_step("who only looks makes nothing");
	CHECK_INT(claim(&s, "a", BUCKET_LOOKS), 0);
	CHECK(access(place(&s, "a"), F_OK));
	CHECK_INT(fixture_count(s.f, "select count(*) from meta where key like 'bucket%'"), 0);
	CHECK_INT(claim(&s, "none/a", BUCKET_LOOKS), ERR_USAGE);
	CHECK(strstr(s.p.detail, "cannot make the folder"));

	test_step("the first folder is made and marked, and taken again");
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), 0);
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), 0);
	CHECK_INT(claim(&s, "a", BUCKET_LOOKS), 0);

	check_other_folder(&s);

	test_step("but it can be a further place, and then be served from");
	CHECK_INT(claim(&s, "b", BUCKET_JOINS), 0);
	CHECK_INT(claim(&s, "b", BUCKET_SERVES), 0);

	test_step("another store is refused, whoever it is, until it adopts the place");
	forget_bucket(&s);
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s.p.detail, "that of another"));
	CHECK_INT(claim(&s, "a", BUCKET_JOINS), ERR_USAGE);
	CHECK_INT(claim(&s, "c", BUCKET_SERVES), 0);
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), ERR_USAGE);
	CHECK_INT(claim(&s, "a", BUCKET_ADOPTS), 0);
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), 0);
	close_places(&s);
}

/* A copy of a store has its id too; it is the lock that tells them apart. */
TEST(bucket_folder_is_served_by_one_store)
{
	struct bucket *b[3] = { NULL };
	struct bucket_settings settings = { .tenant_max = 1 << 20 };
	struct places s;

	open_places(&s);
	forget_bucket(&s);
	settings.where = arena_printf(&s.f->arena, "dir:%s", place(&s, "a"));
	for (int i = 0; i < 3; i++) {
		CHECK_INT(bucket_new(&b[i], &settings, &s.f->arena, &s.p), 0);
		CHECK_INT(bucket_claim(b[i], s.db, BUCKET_SERVES, &s.f->arena, &s.p), 0);
	}
	CHECK_INT(bucket_serve(b[0], "a database", &s.f->arena, &s.p), 0);
	CHECK_INT(bucket_serve(b[1], "a database", &s.f->arena, &s.p), 0);
	CHECK_INT(bucket_serve(b[2], "a copy of it", &s.f->arena, &s.p), ERR_USAGE);
	CHECK(strstr(s.p.detail, "being served by another lodge"));
	CHECK_INT(claim(&s, "a", BUCKET_ADOPTS), 0); /* it is this store's already */
	forget_bucket(&s);
	CHECK_INT(claim(&s, "a", BUCKET_ADOPTS), ERR_USAGE);
	CHECK(strstr(s.p.detail, "would be taken from it"));
	bucket_free(b[0]);
	bucket_free(b[1]);
	CHECK_INT(bucket_serve(b[2], NULL, &s.f->arena, &s.p), 0);
	bucket_free(b[2]);
	CHECK_INT(claim(&s, "a", BUCKET_ADOPTS), 0);
	close_places(&s);
}

/* A mark without an id, as it was once made; and a process that died between the mark and the word of the store. */
TEST(bucket_mark_of_before_is_given_an_id)
{
	struct places s;

	open_places(&s);
	forget_bucket(&s);
	shell(&s,
		"mkdir a b && echo 'The bytes of a Lodge service lie here.' | tee a/lodge-bucket > b/lodge-bucket");
	CHECK_INT(claim(&s, "a", BUCKET_LOOKS), 0);
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), 0);
	shell(&s, "grep -q '^id: ' a/lodge-bucket");
	CHECK_INT(claim(&s, "b", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s.p.detail, "its mark has no id"));
	fixture_sql(s.f, "delete from meta where key = 'bucket_marked'", NO_ARGS);
	CHECK_INT(claim(&s, "a", BUCKET_SERVES), 0);
	CHECK_INT(fixture_count(s.f, "select count(*) from meta where key = 'bucket_marked'"), 1);
	close_places(&s);
}

TEST(bucket_folder_must_be_fit)
{
	struct places s;
	static const char row[] =
		"insert into bucket_objects (tenant_id, id, key, blob, size_bytes, sha256, content_type, "
		"created_at, updated_at) values ($1, 'x', 'x', 'x', 0, '', '', 0, 0)";

	open_places(&s);
	forget_bucket(&s);
	shell(&s,
		"mkdir -p disk/lost+found others locked && touch disk/lodge-bucket.new && touch others/mine");
	test_step("files of somebody else");
	CHECK_INT(claim(&s, "others", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s.p.detail, "has other files"));
	test_step("a store that names objects, and a folder that has none");
	fixture_sql(s.f, row, ARGS(T(s.f->tenant_id)));
	CHECK_INT(claim(&s, "disk", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s.p.detail, "is a disk not mounted"));
	CHECK_INT(claim(&s, "none", BUCKET_SERVES), ERR_USAGE);
	CHECK(access(place(&s, "none"), F_OK));
	fixture_sql(s.f, "delete from bucket_objects", NO_ARGS);
	test_step("a disk that is new");
	CHECK_INT(claim(&s, "disk", BUCKET_SERVES), 0);
	test_step("a mark that is no file");
	shell(&s, "ln -sf /etc/passwd locked/lodge-bucket");
	CHECK_INT(claim(&s, "locked", BUCKET_SERVES), ERR_USAGE);
	CHECK(strstr(s.p.detail, "cannot be read"));
	close_places(&s);
}

/* As the service does once a minute. */
static void look_until(struct fixture *f, bool well)
{
	for (int i = 0; i < 500 && bucket_is_well(f->service.bucket) != well; i++) {
		bucket_claim_submit(f->service.bucket, f->app.store, f->app.disk);
		usleep(10000);
	}
	CHECK_INT(bucket_is_well(f->service.bucket), well);
}

TEST(bucket_that_is_gone_is_seen)
{
	struct places s;

	open_places(&s);
	look_until(s.f, true);
	CHECK(system(arena_printf(
		      &s.f->arena, "mv '%s/lodge-bucket' '%s/mark'", s.f->bucket, s.in)) == 0);
	look_until(s.f, false);
	CHECK(system(arena_printf(
		      &s.f->arena, "mv '%s/mark' '%s/lodge-bucket'", s.in, s.f->bucket)) == 0);
	look_until(s.f, true);
	close_places(&s);
}
