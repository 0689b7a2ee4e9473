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
		arena_printf(&f->arena, "{\"key\":\"x\",\"method\":\"%s\",\"expires_s\":%d}",
			method, seconds),
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
	fixture_sql(f,
		"update api_keys set scopes = '[\"bucket:read\"]', expires_at = $2 where id = $1",
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
	fixture_sql(
		f, "update tenants set allow_superadmin_access = 0 where id = $1", ARGS(T(other)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 403);
	fixture_sql(
		f, "update tenants set allow_superadmin_access = 1 where id = $1", ARGS(T(other)));
	fixture_sql(f, "update users set is_super_admin = 0 where id = $1", ARGS(T(f->admin_id)));
	STATUS(ask(f, NULL, NULL, "GET %s", path), 404);
	fixture_close(f);
}

/* ---- lanes ---- */

struct waiting {
	struct work work;
	struct gate *gate;
};

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t turned;
	bool open;
	int there, inside;
	struct waiting waits[1024];
};

static int wait_at_gate(struct work *w, struct db *none)
{
	struct gate *g = ((struct waiting *)w)->gate;

	(void)none;
	pthread_mutex_lock(&g->lock);
	g->inside++;
	pthread_cond_broadcast(&g->turned);
	while (!g->open)
		pthread_cond_wait(&g->turned, &g->lock);
	pthread_mutex_unlock(&g->lock);
	return 0;
}

static void left_gate(struct work *w, int err)
{
	struct gate *g = ((struct waiting *)w)->gate;

	(void)err;
	pthread_mutex_lock(&g->lock);
	g->there--;
	pthread_cond_broadcast(&g->turned);
	pthread_mutex_unlock(&g->lock);
}

static void fill_up(struct fixture *f, struct gate *g, const char *tenant_id)
{
	for (int err = 0; !err && g->there < 1024;) {
		struct waiting *w = &g->waits[g->there];

		*w = (struct waiting){ { .run = wait_at_gate, .done = left_gate }, g };
		err = pool_submit(f->app.disk, tenant_id, &w->work);
		g->there += !err;
	}
}

/* So much work of the tenant's is there that no more is taken: one runs, and the others wait. */
static void fill_lane(struct fixture *f, struct gate *g, const char *tenant_id)
{
	fill_up(f, g, tenant_id);
	pthread_mutex_lock(&g->lock);
	while (!g->inside)
		pthread_cond_wait(&g->turned, &g->lock);
	pthread_mutex_unlock(&g->lock);
	fill_up(f, g, tenant_id);
}

static void open_gate(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = true;
	pthread_cond_broadcast(&g->turned);
	while (g->there)
		pthread_cond_wait(&g->turned, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

/* Without a body, so that only what brings it to the disk stands in a lane. */
TEST(bucket_signed_put_stands_in_the_lane_of_its_tenant)
{
	static struct gate g;
	struct fixture *f = fixture_open();
	const char *owner, *owner_id = fixture_user(f, "owner@example.org", &owner);
	const char *other = fixture_tenant(f, "other", owner_id);
	const char *ours = address_of(f, f->admin, f->tenant_id, "PUT", 600);
	const char *theirs = address_of(f, owner, other, "PUT", 600);

	g = (struct gate){ .lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER };
	fill_lane(f, &g, f->tenant_id);
	STATUS(ask_bytes(f, NULL, "", 0, "PUT %s\nContent-Type: a/b", ours), 503);
	STATUS(ask_bytes(f, NULL, "", 0, "PUT %s\nContent-Type: a/b", theirs), 201);
	open_gate(&g);
	STATUS(ask_bytes(f, NULL, "", 0, "PUT %s\nContent-Type: a/b", ours), 201);
	fixture_close(f);
}

/* ---- room ---- */

/* Somebody announces nearly all the room there is, sends a little of it, and goes on when the address has ended. */
TEST(bucket_signed_put_holds_room_no_longer_than_its_address)
{
	enum { ANNOUNCED = 1000 * 1000 };
	struct fixture *f = fixture_open();
	const char *path = address_of(f, f->admin, f->tenant_id, "PUT", 2);
	int64_t ends = clock_now_us() + 2 * SECOND_US;
	const char *head = arena_printf(&f->arena,
		"PUT %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", path, ANNOUNCED);
	char *bytes = arena_alloc(&f->arena, ANNOUNCED);
	struct bucket_upload *u;
	struct buf in;
	int64_t room = 0;

	buf_init(&in, 1 << 20);
	CHECK(http_inproc_send(f->inproc, head, strlen(head), &in));
	CHECK(http_inproc_send(f->inproc, bytes, HTTP_PIECE, &in));
	CHECK_INT(in.len, 0);
	u = bucket_upload_new(f->service.bucket, f->tenant_id);
	CHECK_INT(bucket_upload_claim(u, 0, 0, ANNOUNCED, &room), ERR_NO_SPACE);
	while (clock_now_us() < ends + SECOND_US)
		usleep(20000);
	/* A piece is taken on another thread, and what became of it shows with the next bytes. */
	for (bool on = http_inproc_send(f->inproc, bytes, HTTP_PIECE, &in); on;) {
		usleep(10000);
		on = clock_now_us() < ends + 60 * SECOND_US &&
		     http_inproc_send(f->inproc, bytes, 1, &in);
	}
	CHECK(in.len > 12 && strncmp(in.at, "HTTP/1.1 403", 12) == 0);
	CHECK_INT(bucket_upload_claim(u, 0, 0, ANNOUNCED, &room), 0);
	bucket_upload_end(u, NULL);
	buf_free(&in);
	fixture_close(f);
}
