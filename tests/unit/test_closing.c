/* test_closing.c - closing a tenant loses nothing; deleting one loses nothing until its time has come. */
#include "fixture.h"

#include "api/tenants/erase.h"
#include "base/clock.h"
#include "queue/parts.h"
#include "turn_fixture.h"

#include <unistd.h>

#define SHUT(r)                                                                 \
	do {                                                                    \
		struct answer shut_ = (r);                                      \
		STATUS(shut_, 403);                                             \
		CHECK_STR(text_at(&shut_, "type"), "urn:lodge:problem:closed"); \
	} while (0)

#define SHELLS "select count(*) from tenants where slug = 'house'"

struct house {
	struct fixture *f;
	const char *id, *owner, *key, *stranger;
};

/* A tenant that has something to lose. */
static struct house furnished(void)
{
	struct house h = { .f = fixture_open() };
	const char *owner_id = fixture_user(h.f, "owner@example.org", &h.owner);
	struct answer r;

	fixture_user(h.f, "stranger@example.org", &h.stranger);
	h.id = fixture_tenant(h.f, "house", owner_id);
	r = ask(h.f, h.owner, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", h.id);
	h.key = text_at(&r, "key");
	STATUS(ask(h.f, h.owner, "{\"name\":\"A\",\"slug\":\"a\"}", "POST /tenant/%s/agents", h.id),
		201);
	return h;
}

/* Has the eraser look, and waits until it has: what is submitted after it ran after it. */
static void look_for_what_to_erase(const struct house *h)
{
	erase_submit(&h->f->app);
	for (int i = 0; i < 200; i++)
		STATUS(ask(h->f, h->f->admin, "{}", "PATCH /tenant/%s", h->f->tenant_id), 200);
}

static struct answer administer(const struct house *h, const char *body)
{
	return ask(h->f, h->f->admin, body, "PATCH /admin/tenants/%s", h->id);
}

static int64_t agents_left(const struct house *h)
{
	return fixture_count(h->f, "select count(*) from agents");
}

static void is_shut(const struct house *h)
{
	SHUT(ask(h->f, h->owner, NULL, "GET /tenant/%s", h->id));
	SHUT(ask(h->f, h->key, NULL, "GET /tenant/%s/agents", h->id));
	SHUT(ask(h->f, h->key, NULL, "GET /me/sessions"));
	STATUS(ask(h->f, h->stranger, NULL, "GET /tenant/%s", h->id), 404);
}

static void is_open(const struct house *h)
{
	STATUS(ask(h->f, h->owner, NULL, "GET /tenant/%s", h->id), 200);
	STATUS(ask(h->f, h->key, NULL, "GET /tenant/%s/agents", h->id), 200);
	CHECK_INT(agents_left(h), 1);
}

TEST(closing_closes_and_loses_nothing)
{
	for (int access = 0; access < 2; access++) {
		struct house h = furnished();
		struct answer r;

		test_step(access ? "open to super administrators" : "closed to them");
		STATUS(ask(h.f, h.owner,
			       access ? "{\"allow_superadmin_access\":true}"
				      : "{\"allow_superadmin_access\":false}",
			       "PATCH /tenant/%s", h.id),
			200);
		r = administer(&h, "{\"status\":\"closed\"}");
		STATUS(r, 200);
		is_shut(&h);
		STATUS(ask(h.f, h.f->admin, NULL, "GET /tenant/%s", h.id), access ? 200 : 403);
		look_for_what_to_erase(&h);
		CHECK_INT(agents_left(&h), 1);
		r = ask(h.f, h.f->admin, "", "POST /admin/tenants/%s/restore", h.id);
		STATUS(r, 409);
		CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:not_deleted");
		STATUS(administer(&h, "{\"status\":\"active\"}"), 200);
		is_open(&h);
		fixture_close(h.f);
	}
}

TEST(closing_by_deleting_can_be_taken_back_until_its_time_has_come)
{
	struct house h = furnished();
	struct answer r;

	h.f->app.settings.erase_delay_us = HOUR_US;
	STATUS(administer(&h, "{\"status\":\"trial\"}"), 200);
	STATUS(ask(h.f, h.owner, NULL, "DELETE /tenant/%s", h.id), 204);
	is_shut(&h);
	SHUT(ask(h.f, h.f->admin, NULL, "GET /tenant/%s", h.id));
	SHUT(ask(h.f, h.f->admin, NULL, "DELETE /tenant/%s", h.id));
	look_for_what_to_erase(&h);
	CHECK_INT(agents_left(&h), 1);
	test_step("what is shown, and what may still be changed");
	r = ask(h.f, h.f->admin, NULL, "GET /admin/tenants/%s", h.id);
	CHECK_STR(text_at(&r, "status"), "closed");
	r = ask(h.f, h.f->admin, NULL, "GET /admin/deleted-tenants");
	CHECK_STR(text_at(&r, "items.0.id"), h.id);
	CHECK(text_at(&r, "items.0.erase_at"));
	STATUS(administer(&h, "{\"paid\":true}"), 200);
	for (int i = 0; i < 2; i++) {
		r = administer(&h, i ? "{\"status\":\"active\"}" : "{\"is_suspended\":true}");
		STATUS(r, 409);
		CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:deleted");
	}
	STATUS(ask(h.f, h.f->admin, "{\"name\":\"H\",\"slug\":\"house\"}", "POST /tenants"), 409);
	test_step("restored as it was");
	r = ask(h.f, h.f->admin, "", "POST /admin/tenants/%s/restore", h.id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "trial");
	is_open(&h);
	CHECK_INT(fixture_count(
			  h.f, "select count(*) from audit_logs where action = 'tenant.restore'"),
		1);
	test_step("too late");
	STATUS(ask(h.f, h.owner, NULL, "DELETE /tenant/%s", h.id), 204);
	fixture_sql(h.f, "update tenants set erase_at = $2 where id = $1",
		ARGS(T(h.id), N(clock_now_us() - 1)));
	r = ask(h.f, h.f->admin, "", "POST /admin/tenants/%s/restore", h.id);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:erasing");
	r = ask(h.f, h.owner, NULL, "GET /tenant/%s", h.id);
	CHECK_STR(text_at(&r, "detail"), "This tenant is deleted and is being erased.");
	erase_submit(&h.f->app);
	for (int i = 0; i < 30000 && fixture_count(h.f, SHELLS); i++)
		STATUS(ask(h.f, h.f->admin, "{}", "PATCH /tenant/%s", h.f->tenant_id), 200);
	CHECK_INT(fixture_count(h.f, SHELLS), 0);
	CHECK_INT(agents_left(&h), 0);
	STATUS(ask(h.f, h.f->admin, "", "POST /admin/tenants/%s/restore", h.id), 404);
	STATUS(ask(h.f, h.f->admin, "{\"name\":\"H\",\"slug\":\"house\"}", "POST /tenants"), 201);
	fixture_close(h.f);
}

/* Straight in the store, and whoever runs jobs hears of it. */
struct tenant_status {
	const char *tenant_id, *status;
};

static int set_status(struct db *db, void *data)
{
	static const struct statement set = { "test", "update tenants set status = $1",
		.scan = "a test" };
	const struct tenant_status *in = data;
	int err = db_run(db, &set, NULL, ARGS(T(in->status)));

	return err ? err : jobs_tell(db, in->tenant_id, 0, 0);
}

/* What was at work stands still, and goes on when the tenant runs again. */
TEST(closing_has_the_work_of_the_tenant_wait)
{
	static const char *const states[] = { "suspended", "closed", "abandoned" };

	for (size_t i = 0; i < 3; i++) {
		struct tenant_status status;
		struct turn_fixture s;
		int asked;

		test_step("%s", states[i]);
		turn_open_mock(&s, (const char *const[]){ "later-400", NULL },
			(const char *const[]){ "calculator", NULL });
		CHECK_INT(turn_say(&s, "hi"), 0);
		turn_await_count(&s,
			"select case when count(*) > 0 then 1 else 0 end from messages "
			"where session_id = %s and role = 'tool'",
			1);
		status = (struct tenant_status){ s.f->tenant_id, states[i] };
		CHECK_INT(fixture_work(s.f, set_status, &status), 0);
		turn_await_count(&s, "select count(*) from jobs where state = 'waiting'", 1);
		asked = s.gateway.mock.asked;
		CHECK_STR(turn_text(&s, "select status as value from sessions where id = %s"),
			"running");
		CHECK_INT(turn_count(&s, "select attempts from jobs"), 0);
		status.status = "active";
		CHECK_INT(fixture_work(s.f, set_status, &status), 0);
		for (int n = 0; n < 20000 && s.gateway.mock.asked < asked + 2; n++)
			usleep(1000);
		CHECK(s.gateway.mock.asked >= asked + 2);
		CHECK_INT(turn_cancel(&s), 0);
		turn_await(&s, "cancelled");
		turn_close(&s);
	}
}
