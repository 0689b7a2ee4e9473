/* test_avatars.c - an agent's picture as clients set, see and remove it. */
#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/crypto.h"
#include "fixture.h"
#include "picture_fixture.h"

/* A file as a body; it is freed. */
static const char *body_of(struct fixture *f, const char *type, struct buf *file)
{
	size_t room = sodium_base64_encoded_len(file->len, sodium_base64_VARIANT_ORIGINAL);
	char *text = arena_alloc(&f->arena, room);

	sodium_bin2base64(text, room, (const unsigned char *)file->at, file->len,
		sodium_base64_VARIANT_ORIGINAL);
	buf_free(file);
	return arena_printf(&f->arena, "data:%s;base64,%s", type, text);
}

static void reddish(int x, int y, uint8_t *rgba)
{
	rgba[0] = 200;
	rgba[1] = (uint8_t)(x % 100);
	rgba[2] = (uint8_t)(y % 100);
	rgba[3] = 255;
}

static void bluish(int x, int y, uint8_t *rgba)
{
	reddish(y, x, rgba);
	rgba[0] = 0;
	rgba[2] = 240;
	rgba[3] = (uint8_t)(x + 1);
}

static const char *png_body(struct fixture *f, void (*paint)(int x, int y, uint8_t *rgba))
{
	struct picture p = picture_paint(250, 210, paint);
	struct buf file;

	picture_fixture_png(&file, &p, KIND_RGBA_8, false);
	picture_free(&p);
	return body_of(f, "image/png", &file);
}

static const char *hash_of(struct fixture *f, const struct answer *r)
{
	uint8_t digest[SHA256_LEN];
	char *text = arena_alloc(&f->arena, 65);

	sha256(r->body, r->body_len, digest);
	hex_write(digest, sizeof digest, text);
	return text;
}

TEST(avatars_are_set_shown_and_removed)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "seen"), *hash;
	struct answer r, png;
	struct picture got;

	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar", agent);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "has_avatar")) && json_is_null(at(&r, "avatar_sha256")));
	CHECK(json_is_false(at(&r, "repohost_synced")));
	CHECK(json_is_null(at(&r, "avatar_size_bytes")) &&
		json_is_null(at(&r, "avatar_updated_at")));
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/avatar.png", agent), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/avatar", agent), 404);

	r = ask(f, f->admin, png_body(f, reddish), "PUT /tenant/%s/agents/%s/avatar", f->tenant_id,
		agent);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "has_avatar")) && json_is_true(at(&r, "repohost_synced")));
	CHECK_STR(text_at(&r, "agent_id"), agent);
	hash = text_at(&r, "avatar_sha256");
	png = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png", agent);
	STATUS(png, 200);
	CHECK_STR(header_of(f, &png, "Content-Type"), "image/png");
	CHECK_STR(header_of(f, &png, "X-Content-Type-Options"), "nosniff");
	CHECK_STR(header_of(f, &png, "Content-Disposition"), "inline; filename=\"avatar.png\"");
	CHECK_STR(hash_of(f, &png), hash);
	CHECK_INT(png.body_len, json_integer_value(at(&r, "avatar_size_bytes")));
	got = picture_read(png.body, png.body_len);
	CHECK(got.width == 192 && got.height == 192 && got.rgba && got.rgba[0] == 200);
	picture_free(&got);
	r = ask(f, f->admin, NULL, "GET /agents/%s", agent);
	CHECK_STR(text_at(&r, "avatar_sha256"), hash);

	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/avatar", agent), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/avatar", agent), 404);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/avatar.png", agent), 404);
	r = ask(f, f->admin, NULL, "GET /agents/%s", agent);
	CHECK(json_is_null(at(&r, "avatar_sha256")));
	fixture_close(f);
}

TEST(avatars_are_taken_as_png_jpeg_and_webp)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "many");
	struct picture p = picture_paint(400, 300, reddish);
	struct buf file;

	picture_fixture_jpeg(&file, &p, (struct jpeg_how){ .progressive = true, .orientation = 6 });
	STATUS(ask(f, f->admin, body_of(f, "image/jpeg", &file), "PUT /agents/%s/avatar", agent),
		200);
	picture_fixture_webp(&file, &p, true);
	STATUS(ask(f, f->admin, body_of(f, "image/webp", &file), "PUT /agents/%s/avatar", agent),
		200);
	CHECK_INT(fixture_count(f, "select count(*) from agent_avatars"), 1);
	picture_free(&p);
	fixture_close(f);
}

TEST(avatars_are_kept_by_browsers_as_long_as_they_stay)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "kept"), *hash, *tag;
	struct answer r = ask(f, f->admin, png_body(f, reddish), "PUT /agents/%s/avatar", agent);

	hash = text_at(&r, "avatar_sha256");
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png", agent);
	tag = header_of(f, &r, "ETag");
	CHECK(tag && tag[0] == '"');
	CHECK_STR(header_of(f, &r, "Cache-Control"), "private, no-cache");
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png?v=%s", agent, hash);
	CHECK_STR(header_of(f, &r, "Cache-Control"), "private, max-age=31536000, immutable");
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png?v=%.8s", agent, hash);
	STATUS(r, 200);
	CHECK_STR(header_of(f, &r, "Cache-Control"), "private, no-cache");
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png\nIf-None-Match: %s", agent, tag);
	STATUS(r, 304);
	CHECK_INT(r.body_len, 0);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/avatar.png?size=9", agent), 422);

	STATUS(ask(f, f->admin, png_body(f, bluish), "PUT /agents/%s/avatar", agent), 200);
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png?v=%s\nIf-None-Match: %s", agent, hash,
		tag);
	STATUS(r, 200);
	CHECK(strcmp(header_of(f, &r, "ETag"), tag) != 0);
	CHECK_STR(header_of(f, &r, "Cache-Control"), "private, no-cache");
	fixture_close(f);
}

TEST(avatars_refuse_what_is_no_picture)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "strict"), *png = png_body(f, reddish);
	struct picture p = picture_paint(64, 64, reddish);
	struct buf file;
	struct answer r;

	r = ask(f, f->admin, "{}", "PUT /agents/%s/avatar", agent);
	STATUS(r, 415);
	CHECK(strstr(text_at(&r, "detail"), "image/png, image/jpeg, image/webp"));
	STATUS(ask(f, f->admin, "GIF89a", "PUT /agents/%s/avatar\nContent-Type: image/png", agent),
		415);
	STATUS(ask(f, f->admin, "", "PUT /agents/%s/avatar\nContent-Type: image/png", agent), 415);
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/avatar", agent), 415);
	r = ask(f, f->admin,
		arena_printf(&f->arena, "data:image/webp%s", png + strlen("data:image/png")),
		"PUT /agents/%s/avatar", agent);
	STATUS(r, 415);
	CHECK(strstr(text_at(&r, "detail"), "is a PNG picture and not image/webp"));

	picture_fixture_png(&file, &p, KIND_RGB_8, false);
	file.len -= 40;
	r = ask(f, f->admin, body_of(f, "image/png", &file), "PUT /agents/%s/avatar", agent);
	CHECK(refuses(&r, "body", "damaged"));
	picture_fixture_png(&file, &p, KIND_RGB_8, false);
	memcpy(file.at + 16, "\0\1\x86\xa0\0\1\x86\xa0", 8);
	r = ask(f, f->admin, body_of(f, "image/png", &file), "PUT /agents/%s/avatar", agent);
	CHECK(refuses(&r, "body", "too_large"));
	CHECK(strstr(text_at(&r, "errors.0.message"), "100000 x 100000"));
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar", agent);
	CHECK(json_is_false(at(&r, "has_avatar")));
	picture_free(&p);
	fixture_close(f);
}

/* A PNG with bytes after its end, which nobody reads. */
static const char *long_body(struct fixture *f, size_t len)
{
	struct picture p = picture_paint(64, 64, reddish);
	struct buf file;

	picture_fixture_png(&file, &p, KIND_RGB_8, false);
	picture_free(&p);
	while (file.len < len)
		buf_putc(&file, 'x');
	return body_of(f, "image/png", &file);
}

TEST(avatars_take_ten_megabytes_and_no_more)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "large");
	struct answer r;

	STATUS(ask(f, f->admin, long_body(f, 10000000), "PUT /agents/%s/avatar", agent), 200);
	r = ask(f, f->admin, long_body(f, 10000001), "PUT /agents/%s/avatar", agent);

	STATUS(r, 413);
	CHECK_STR(text_at(&r, "detail"),
		"The body is larger than the 10000000 bytes that are taken here.");
	/* What one path may take is not another's. */
	r = ask(f, f->admin, long_body(f, 9000000), "PATCH /agents/%s", agent);
	STATUS(r, 413);
	CHECK_STR(text_at(&r, "detail"), "The body is larger than the 8 MiB that are taken here.");
	fixture_close(f);
}

TEST(avatars_are_audited_without_their_bytes)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "noted"), *hash;
	struct answer r = ask(f, f->admin, png_body(f, reddish), "PUT /agents/%s/avatar", agent);

	hash = text_at(&r, "avatar_sha256");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/avatar", agent), 204);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?agent_id=%s", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.0.action"), "agent.avatar.delete");
	CHECK_STR(text_at(&r, "items.1.action"), "agent.avatar.update");
	CHECK_STR(text_at(&r, "items.1.resource_id"), agent);
	CHECK(strstr(r.body, hash));
	CHECK(r.body_len < 4096);
	fixture_close(f);
}

TEST(avatars_honour_if_match_and_roles)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "guarded"), *viewer, *tag;
	const char *user = fixture_user(f, "viewer@example.org", &viewer);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar", agent);
	tag = header_of(f, &r, "ETag");
	STATUS(ask(f, viewer, png_body(f, reddish), "PUT /agents/%s/avatar", agent), 403);
	STATUS(ask(f, f->admin, png_body(f, reddish), "PUT /agents/%s/avatar\nIf-Match: %s", agent,
		       tag),
		200);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/avatar\nIf-Match: %s", agent, tag), 412);
	STATUS(ask(f, viewer, NULL, "GET /agents/%s/avatar.png", agent), 200);
	STATUS(ask(f, viewer, NULL, "DELETE /agents/%s/avatar", agent), 403);
	STATUS(ask(f, NULL, NULL, "GET /agents/%s/avatar.png", agent), 401);
	fixture_close(f);
}

TEST(avatars_go_with_their_agent)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "short-lived");

	STATUS(ask(f, f->admin, png_body(f, reddish), "PUT /agents/%s/avatar", agent), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from agent_avatars"), 0);
	fixture_close(f);
}

TEST(avatars_go_with_their_tenant)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "erased");

	STATUS(ask(f, f->admin, png_body(f, reddish), "PUT /agents/%s/avatar", agent), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s", f->tenant_id), 204);
	erase_submit(&f->app);
	for (int i = 0; i < 30000 && fixture_count(f, "select count(*) from tenants"); i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, "select count(*) from tenants"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from agent_avatars"), 0);
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'tenant.erase' and "
			  "meta like '%\"agent_avatars\":1%'"),
		1);
	fixture_close(f);
}

TEST(avatars_are_in_a_backup_byte_for_byte)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "copied"), *path;
	char folder[] = "/tmp/lodge-unit.XXXXXX";
	struct store_settings settings = { .queue_max = 1 };
	struct statement st = { "test", "select png from agent_avatars", .scan = "a test" };
	struct store *copy = NULL;
	struct db *db = NULL;
	struct problem p = { 0 };
	struct answer r;
	const void *png = NULL;
	size_t len = 0;

	CHECK(mkdtemp(folder) != NULL);
	STATUS(ask(f, f->admin, png_body(f, bluish), "PUT /agents/%s/avatar", agent), 200);
	r = ask(f, f->admin, NULL, "GET /agents/%s/avatar.png", agent);
	path = arena_printf(&f->arena, "%s/copy.db", folder);
	CHECK_INT(store_backup(f->app.store, path, &f->arena, &p), 0);
	settings.where = arena_printf(&f->arena, "sqlite:%s", path);
	if (store_open(&copy, &settings, STORE_BESIDE, &f->arena, &p) ||
		store_connect(copy, &db, &f->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	else if (db_bytes(db, &f->arena, &st, &png, &len, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s", db_error(db));
	CHECK(len == r.body_len && len && memcmp(png, r.body, len) == 0);
	db_close(db);
	store_close(copy);
	CHECK_INT(system(arena_printf(&f->arena, "rm -rf '%s'", folder)), 0);
	fixture_close(f);
}
