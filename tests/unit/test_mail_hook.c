/* test_mail_hook.c - raw mail by HTTP: signed by who has the domain's secret, for mailboxes of that domain, and taken once. */
#include <sodium.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "fixture.h"
#include "mailboxes/mail_secret.h"
#include "mailboxes/mailbox.h"

#define DOMAIN "mail.example.org"
#define DESK "desk@demo." DOMAIN
#define LETTER "From: jo@example.net\r\nMessage-ID: <1@x>\r\n\r\nHello\r\n"

struct hooked {
	struct fixture *f;
	const char *secret; /* of DOMAIN */
};

static int write_secret(struct db *db, void *data)
{
	struct hooked *h = data;

	return mail_secret_write(db, &h->f->arena, h->f->app.vault, "intake:" DOMAIN, h->secret,
		strlen(h->secret), 1);
}

static void policy(const char *domain)
{
	struct mailbox_policy policy = *mailbox_policy();

	policy.domain = domain;
	policy.bytes_max = 100 * 1024;
	mailbox_policy_set(&policy);
}

static struct hooked open_hooked(void)
{
	struct hooked h = { .f = fixture_open() };
	struct fixture *f = h.f;
	const char *agent;

	runner_leave(f->service.runner); /* what came is looked at before it is read */
	policy(DOMAIN);
	h.secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
	CHECK_INT(fixture_work(f, write_secret, &h), 0);
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /admin/tenants/%s",
		       f->tenant_id),
		200);
	agent = fixture_agent(f, "desk");
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", agent),
		200);
	return h;
}

static void close_hooked(struct hooked *h)
{
	policy("");
	fixture_close(h->f);
}

static struct answer post(const struct hooked *h, const char *domain, const char *envelope,
	const void *body, size_t len, int64_t off_s, bool forged)
{
	struct arena *a = &h->f->arena;
	const char *head =
		arena_printf(a, "msg_1.%lld.", (long long)(clock_now_us() / SECOND_US + off_s));
	size_t head_len = strlen(head), n;
	uint8_t key[64], mac[SHA256_LEN];
	char *all = arena_alloc(a, head_len + len + 1), code[64];

	memcpy(all, head, head_len);
	memcpy(all + head_len, body, len);
	sodium_base642bin(key, sizeof key, h->secret + 6, strlen(h->secret) - 6, NULL, &n, NULL,
		sodium_base64_VARIANT_ORIGINAL);
	hmac_sha256(key, n, all, head_len + len, mac);
	mac[0] ^= forged;
	sodium_bin2base64(code, sizeof code, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
	return ask_bytes(h->f, NULL, body, len,
		"POST /hooks/mail/%s\nContent-Type: message/rfc822\r\nwebhook-id: msg_1\r\nwebhook-timestamp: "
		"%lld\r\nwebhook-signature: v1,%s%s",
		domain, (long long)(clock_now_us() / SECOND_US + off_s), code, envelope);
}

#define TO(list) "\r\nX-Lodge-Sender: jo@example.net\r\nX-Lodge-Recipient: " list

static int64_t arrivals(const struct hooked *h)
{
	return fixture_count(h->f, "select count(*) from mail_arrivals");
}

TEST(mail_hook_takes_what_is_signed_once)
{
	struct hooked h = open_hooked();
	struct answer r = post(
		&h, DOMAIN, TO(DESK ", nobody@demo." DOMAIN), LETTER, strlen(LETTER), 0, false);

	STATUS(r, 202);
	CHECK_STR(text_at(&r, "results.0.status"), "accepted");
	CHECK_STR(text_at(&r, "results.0.recipient"), DESK);
	CHECK_STR(text_at(&r, "results.1.status"), "unknown");
	CHECK(json_is_null(at(&r, "results.1.id")));
	CHECK_INT(
		fixture_count(h.f,
			arena_printf(&h.f->arena,
				"select count(*) from mail_arrivals a join jobs j on j.subject = a.id "
				"where a.id = '%s' and a.sender = 'jo@example.net'",
				text_at(&r, "results.0.id"))),
		1);
	test_step("again");
	r = post(&h, DOMAIN, TO(DESK), LETTER, strlen(LETTER), 0, false);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "results.0.status"), "duplicate");
	test_step("from nobody");
	r = post(&h, DOMAIN, "\r\nX-Lodge-Recipient: " DESK, "x", 1, 0, false);
	STATUS(r, 202);
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_arrivals where sender = ''"), 1);
	test_step("paused");
	fixture_sql(h.f, "update mailboxes set paused = 1", NO_ARGS);
	r = post(&h, DOMAIN, TO(DESK), LETTER "y", strlen(LETTER "y"), 0, false);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "results.0.status"), "inactive");
	CHECK_INT(arrivals(&h), 2);
	test_step("whoever holds the secret is no server in front");
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_arrivals where by_lmtp = 0"), 2);
	CHECK_INT(fixture_count(h.f, "select count(*) from bucket_objects"), 2);
	close_hooked(&h);
}

TEST(mail_hook_refuses_the_rest)
{
	struct hooked h = open_hooked();
	enum { LARGE = 100 * 1024 };
	char *large = calloc(1, LARGE + 1);

	memset(large, 'x', LARGE + 1);
	STATUS(post(&h, DOMAIN, TO(DESK), LETTER, strlen(LETTER), 0, true), 401);
	STATUS(post(&h, DOMAIN, TO(DESK), LETTER, strlen(LETTER), -301, false), 401);
	STATUS(post(&h, DOMAIN, TO(DESK), LETTER, strlen(LETTER), 302, false), 401);
	STATUS(ask_bytes(
		       h.f, NULL, "x", 1, "POST /hooks/mail/" DOMAIN "\nX-Lodge-Recipient: " DESK),
		401);
	STATUS(post(&h, "demo." DOMAIN, TO(DESK), LETTER, strlen(LETTER), 0, false), 404);
	STATUS(post(&h, "example.com", TO("a@example.com"), LETTER, strlen(LETTER), 0, false), 404);
	STATUS(post(&h, DOMAIN, "", LETTER, strlen(LETTER), 0, false), 422);
	STATUS(post(&h, DOMAIN, TO("desk"), LETTER, strlen(LETTER), 0, false), 422);
	STATUS(post(&h, DOMAIN, TO("desk@demo.example.com"), LETTER, strlen(LETTER), 0, false),
		422);
	STATUS(post(&h, DOMAIN, "\r\nX-Lodge-Sender: jo\r\nX-Lodge-Recipient: " DESK, LETTER,
		       strlen(LETTER), 0, false),
		422);
	STATUS(post(&h, DOMAIN, TO(DESK), large, LARGE + 1, 0, false), 413);
	CHECK_INT(arrivals(&h), 0);
	test_step("a full bucket");
	fixture_sql(h.f,
		"insert into bucket_usage (tenant_id, size_bytes, trash_bytes) values ($1, $2, 0)",
		ARGS(T(h.f->tenant_id), N((1 << 20) - 100)));
	STATUS(post(&h, DOMAIN, TO(DESK), large, LARGE, 0, false), 507);
	CHECK_INT(arrivals(&h), 0);
	fixture_sql(h.f, "update bucket_usage set size_bytes = 0", NO_ARGS);
	STATUS(post(&h, DOMAIN, TO(DESK), large, LARGE, 0, false), 202);
	CHECK_INT(fixture_count(h.f, "select size_bytes from mail_arrivals"), LARGE);
	free(large);
	close_hooked(&h);
}
