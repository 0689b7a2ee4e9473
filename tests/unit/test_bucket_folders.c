/* test_bucket_folders.c - a bucket as folders: one level at a time, page by page, however much lies below. */
#include "fixture.h"

#define FOLDER "/tenant/%s/bucket/folder"

static void put_key(struct fixture *f, const char *key)
{
	STATUS(ask_bytes(f, f->admin, "12345", 5, "PUT /tenant/%s/bucket/object?key=%s",
		       f->tenant_id, key),
		201);
}

/* "folders | keys", with blanks between. */
static const char *shown_of(struct fixture *f, const struct answer *r)
{
	const char *out = "";
	size_t i;
	json_t *one;

	json_array_foreach(at(r, "folders"), i, one) out =
		arena_printf(&f->arena, "%s%s ", out, json_string_value(one));
	out = arena_printf(&f->arena, "%s|", out);
	json_array_foreach(at(r, "objects"), i, one) out = arena_printf(
		&f->arena, "%s %s", out, json_string_value(json_object_get(one, "key")));
	return out;
}

static const char *folder(struct fixture *f, const char *query)
{
	struct answer r = ask(f, f->admin, NULL, "GET " FOLDER "?%s", f->tenant_id, query);

	STATUS(r, 200);
	return shown_of(f, &r);
}

TEST(bucket_folders_show_one_level)
{
	static const char *const keys[] = { "a", "a/b", "a/c/d", "a/c/e", "a.b", "a0", "z/1",
		"%C3%BC/1" };
	struct fixture *f = fixture_open();
	const char *all = "";
	struct answer r;
	char after[64] = "";

	CHECK_STR(folder(f, ""), "|");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		put_key(f, keys[i]);
	put_key(f, "hidden");
	fixture_sql(f, "update bucket_objects set key = '.lodge/x' where key = 'hidden'", NO_ARGS);
	CHECK_STR(folder(f, ""), "a/ z/ \xc3\xbc/ | a a.b a0");
	CHECK_STR(folder(f, "prefix=a/"), "a/c/ | a/b");
	CHECK_STR(folder(f, "prefix=a/c/"), "| a/c/d a/c/e");
	test_step("what is not there, and what is reserved");
	CHECK_STR(folder(f, "prefix=b/"), "|");
	CHECK_STR(folder(f, "prefix=.lodge/"), "|");
	r = ask(f, f->admin, NULL, "GET " FOLDER "?prefix=a", f->tenant_id);
	STATUS(r, 422);
	CHECK(refuses(&r, "prefix", "folder"));

	test_step("page by page, the same");
	for (int pages = 0; pages < 7; pages++) {
		r = ask(f, f->admin, NULL, "GET " FOLDER "?per_page=1%s%s", f->tenant_id,
			*after ? "&after=" : "", after);
		STATUS(r, 200);
		all = arena_printf(&f->arena, "%s%s;", all, shown_of(f, &r));
		if (json_is_null(at(&r, "next_after")))
			break;
		snprintf(after, sizeof after, "%s", text_at(&r, "next_after"));
	}
	CHECK_STR(all, "| a;| a.b;a/ |;| a0;z/ |;\xc3\xbc/ |;");
	test_step("how much there is");
	CHECK_INT(json_integer_value(at(&r, "used_bytes")), 9 * 5);
	CHECK(json_integer_value(at(&r, "max_bytes")) > 9 * 5);
	fixture_close(f);
}

TEST(bucket_folders_are_passed_over_at_once)
{
	struct fixture *f = fixture_open();
	struct answer r;

	put_key(f, "m/0");
	put_key(f, "z");
	fixture_sql(f,
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 450) "
		"insert into bucket_objects (tenant_id, id, key, blob, size_bytes, sha256, content_type, "
		"created_at, updated_at) select tenant_id, 'c000000000000000000' || (100000 + i), 'm/' || (100000 + i), "
		"'b' || i, 0, sha256, content_type, 0, 0 from n, bucket_objects where key = 'm/0'",
		NO_ARGS);
	CHECK_STR(folder(f, ""), "m/ | z");
	r = ask(f, f->admin, NULL, "GET " FOLDER "?prefix=m/&per_page=200&after=m/100249",
		f->tenant_id);
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "objects")), 200);
	CHECK_STR(text_at(&r, "next_after"), "m/100449");
	fixture_close(f);
}
