/* test_bucket_signed.c - signed addresses of objects: what they end with, whose lane they stand in, and how long they hold room. */
#include "fixture.h"

#include <unistd.h>

#include "base/clock.h"
#include "bucket/bucket.h"
#include "store/pool.h"

/* The path and query of an address of x. */
static const char *address_of(struct fixture *f, const char *token, const char *tenant_id,
	const char *method, int seconds)
{
	struct answer r = ask(f, token,
		arena_printf(&f->arena, "{\"key\":\"x\",\"method\":\"%s\",\"expires_s\":%d}", method,
			seconds),
		"POST /tenant/%s/bucket/presign", tenant_id);

	STATUS(r, 200);
	return r.status == 200 ? text_at(&r, "url") + strlen("http://lodge.test") : "/";
}

static void put_x(struct fixture *f, const char *token, const char *tenant_id)
{
	STATUS(ask_bytes(f, token, "hello", 5,
		       "PUT /tenant/%s/bucket/object?key=x\nContent-Type: a/b", tenant_id),
		201);
}

TEST(bucket_address_ends_with_the_key_that_made_it)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin, "{\"name\":\"k\",\"scopes\":[\"bucket:read\"]}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	const char *key_id = text_at(&r, "id"), *token = text_at(&r, "key"), *by_key, *by_login;

	STATUS(r, 201);
	put_x(f, f->admin, f->tenant_id);
	by_key = address_of(f, token, f->tenant_id, "GET", 600);
	by_login = address_of(f, f->admin, f->tenant_id, "GET", 600);
	CHECK(strstr(by_key, key_id));
	STATUS(ask(f, NULL, NULL, "GET %s", by_key), 200);
	/* It cannot be taken for one of a login. */
	STATUS(ask(f, NULL, NULL, "GET %.*s%s", (int)(strstr(by_key, "&api_key=") - by_key), by_key,
		       strstr(by_key, "&user=")),
		403);
	fixture_sql(f, "update api_keys set scopes = '[\"agent:read\"]' where id = $1",
		ARGS(T(key_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", by_key), 403);
	fixture_sql(f, "update api_keys set scopes = '[\"bucket:read\"]', expires_at = $2 where id = $1",
		ARGS(T(key_id), N(clock_now_us() + 600 * SECOND_US)));
	STATUS(ask(f, NULL, NULL, "GET %s", by_key), 200);
	fixture_sql(f, "update api_keys set expires_at = $2 where id = $1",
		ARGS(T(key_id), N(clock_now_us() - 1)));
	r = ask(f, NULL, NULL, "GET %s", by_key);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "has expired"));
	fixture_sql(f, "update api_keys set expires_at = null where id = $1", ARGS(T(key_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", by_key), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/api-keys/%s", f->tenant_id, key_id), 204);
	r = ask(f, NULL, NULL, "GET %s", by_key);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "was revoked"));
	STATUS(ask(f, NULL, NULL, "GET %s", by_login), 200);
	fixture_close(f);
}

/* Who reads it as super administrator has addresses that do, for as long as they are one and are let in. */
TEST(bucket_address_of_a_super_administrator)
{
	struct fixture *f = fixture_open();
	const char *owner, *owner_id = fixture_user(f, "owner@example.org", &owner);
	const char *other = fixture_tenant(f, "other", owner_id), *path;

	put_x(f, owner, other);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/bucket/object?key=x", other), 200);
	path = address_of(f, f->admin, other, "GET", 600);
	STATUS(ask(f, NULL, NULL, "GET %s", path), 200);
	fixture_sql(f, "update tenants set allow_superadmin_access = 0 where id = $1",
		ARGS(T(other)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 403);
	fixture_sql(f, "update tenants set allow_superadmin_access = 1 where id = $1",
		ARGS(T(other)));
	fixture_sql(f, "update users set is_super_admin = 0 where id = $1", ARGS(T(f->admin_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 404);
	fixture_close(f);
}
