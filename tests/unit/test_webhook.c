/* test_webhook.c - signatures of services that send events: the published examples, every mistake that is
 * often made, every bit; and what is read out of an event that holds. */
#include "t.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "outside/webhook.h"

enum { HEADERS_MAX = 8 };

struct sent {
	struct {
		const char *name, *value;
	} headers[HEADERS_MAX];
	const char *body;
	size_t len;
	bool form;
	int64_t now_s;
};

static const char *header(const void *ctx, const char *name, size_t *ret_count)
{
	const struct sent *s = ctx;
	const char *first = NULL;

	*ret_count = 0;
	for (int i = 0; i < HEADERS_MAX && s->headers[i].name; i++)
		if (strcmp(s->headers[i].name, name) == 0) {
			first = first ? first : s->headers[i].value;
			++*ret_count;
		}
	return first;
}

static struct webhook_in in_of(const struct sent *s)
{
	return (struct webhook_in){ .body = s->body,
		.len = s->len ? s->len : strlen(s->body),
		.form = s->form,
		.header = header,
		.ctx = s,
		.now_us = s->now_s * SECOND_US };
}

static bool holds_with(enum webhook_service p, const struct sent *s, const char *a, const char *b)
{
	struct arena arena = { 0 };
	const char *secrets[] = { a, b };
	struct webhook_in in = in_of(s);
	bool ok = webhook_verify(&webhook_providers[p], &arena, &in, secrets, b ? 2 : a ? 1 : 0);

	arena_free(&arena);
	return ok;
}

static bool holds(enum webhook_service p, const struct sent *s, const char *secret)
{
	return holds_with(p, s, secret, NULL);
}

#define GITHUB_SECRET "It's a Secret to Everybody"
#define GITHUB_CODE "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
#define STANDARD_SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define STANDARD_CODE "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define STANDARD_TIME 1614265330
#define SLACK_SECRET "8f742231b10e8888abcd99yyyzzz85a5"
#define SLACK_TIME 1531420618
#define SLACK_BODY                                                                               \
	"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&"              \
	"channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&"       \
	"command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands" \
	"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&"                                \
	"trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"

static struct sent github(const char *signature)
{
	return (struct sent){ .headers = { { "x-hub-signature-256", signature } },
		.body = "Hello, World!" };
}

static struct sent standard(void)
{
	return (struct sent){ .headers = { { "webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek" },
				      { "webhook-timestamp", "1614265330" },
				      { "webhook-signature", "v1," STANDARD_CODE } },
		.body = "{\"test\": 2432232314}",
		.now_s = STANDARD_TIME };
}

static struct sent slack(void)
{
	return (struct sent){
		.headers = { { "x-slack-request-timestamp", "1531420618" },
			{ "x-slack-signature",
				"v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503" } },
		.body = SLACK_BODY,
		.form = true,
		.now_s = SLACK_TIME
	};
}

/* Our own code of the text, for schemes without a published example. */
static const char *code_of(struct arena *a, const char *secret, const char *text)
{
	uint8_t mac[SHA256_LEN];
	char *hex = arena_alloc(a, 65);

	hmac_sha256(secret, strlen(secret), text, strlen(text), mac);
	hex_write(mac, sizeof mac, hex);
	return hex;
}

TEST(webhook_published_examples_hold)
{
	struct sent g = github("sha256=" GITHUB_CODE), s = standard(), k = slack();

	CHECK(holds(WEBHOOK_GITHUB, &g, GITHUB_SECRET));
	CHECK(holds(WEBHOOK_GENERIC, &g, GITHUB_SECRET));
	CHECK(holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
	CHECK(holds(WEBHOOK_GITLAB, &s, STANDARD_SECRET));
	CHECK(holds(WEBHOOK_SLACK, &k, SLACK_SECRET));
	CHECK(!holds(WEBHOOK_STANDARD, &g, GITHUB_SECRET));
	CHECK(!holds(WEBHOOK_GITHUB, &s, STANDARD_SECRET));
}

/* Under either name, or under both where they say the same; GitLab knows only the one. */
TEST(webhook_svix_is_another_name_for_the_standard)
{
	static const char *const svix[] = { "svix-id", "svix-timestamp", "svix-signature" };
	struct sent s;

	for (int renamed = 0; renamed < 8; renamed++) {
		s = standard();
		test_step("renamed %d", renamed);
		for (int i = 0; i < 3; i++)
			if (renamed & 1 << i)
				s.headers[i].name = svix[i];
		CHECK(holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
		CHECK_INT(holds(WEBHOOK_GITLAB, &s, STANDARD_SECRET), renamed == 0);
		CHECK(!holds(WEBHOOK_STANDARD, &s, GITHUB_SECRET));
	}
	for (int i = 0; i < 3; i++) {
		test_step("both of %s", svix[i]);
		s = standard();
		s.headers[3].name = svix[i];
		s.headers[3].value = s.headers[i].value;
		CHECK(holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
		s.headers[3].value = "msg_another";
		CHECK(!holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
		s = standard(); /* signed under the alias, and something else under the name */
		for (int k = 0; k < 3; k++)
			s.headers[k].name = svix[k];
		s.headers[3].name = standard().headers[i].name;
		s.headers[3].value = "msg_another";
		CHECK(!holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
		s.headers[3].value = "";
		CHECK(!holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
	}
}

TEST(webhook_codes_have_one_spelling)
{
	static const char *const wrong[] = { "", "sha256=", "sha256", GITHUB_CODE,
		"sha1=" GITHUB_CODE, "SHA256=" GITHUB_CODE, "sha256=" GITHUB_CODE "0",
		"sha256=" GITHUB_CODE " ", " sha256=" GITHUB_CODE, "sha256= " GITHUB_CODE,
		"sha256=757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17",
		"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1",
		"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e",
		"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1g",
		"sha256=dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=",
		"sha256=" GITHUB_CODE ",sha256=" GITHUB_CODE };
	struct sent twice = { .headers = { { "x-hub-signature-256", "sha256=" GITHUB_CODE },
				      { "x-hub-signature-256", "sha256=" GITHUB_CODE } },
		.body = "Hello, World!" };
	struct sent none = { .body = "Hello, World!" };

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct sent g = github(wrong[i]);

		test_step("%s", wrong[i]);
		CHECK(!holds(WEBHOOK_GITHUB, &g, GITHUB_SECRET));
	}
	CHECK(!holds(WEBHOOK_GITHUB, &twice, GITHUB_SECRET));
	CHECK(!holds(WEBHOOK_GITHUB, &none, GITHUB_SECRET));
}

TEST(webhook_without_a_secret_nothing_holds)
{
	struct arena a = { 0 };
	struct sent s = github(NULL);
	struct sent empty = github(arena_printf(&a, "sha256=%s", code_of(&a, "", "Hello, World!")));
	struct sent token = { .headers = { { "x-gitlab-token", "" } }, .body = "{}" };

	s.headers[0].name = NULL;
	CHECK(!holds(WEBHOOK_GITHUB, &empty, ""));
	CHECK(!holds(WEBHOOK_GITHUB, &empty, NULL));
	for (int p = 0; p < WEBHOOK_SERVICES; p++) {
		CHECK(!holds((enum webhook_service)p, &s, ""));
		CHECK(!holds((enum webhook_service)p, &s, NULL));
		CHECK(!holds((enum webhook_service)p, &token, ""));
	}
	arena_free(&a);
}

TEST(webhook_any_bit_counts)
{
	struct sent all[] = { github("sha256=" GITHUB_CODE), standard(), slack() };
	const enum webhook_service services[] = { WEBHOOK_GITHUB, WEBHOOK_STANDARD, WEBHOOK_SLACK };
	const char *const secrets[] = { GITHUB_SECRET, STANDARD_SECRET, SLACK_SECRET };

	for (int k = 0; k < 3; k++) {
		size_t len = strlen(all[k].body);
		char *copy = strdup(all[k].body), *longer = malloc(len + 2);

		for (size_t bit = 0; bit < len * 8; bit++) {
			struct sent s = all[k];

			copy[bit / 8] ^= (char)(1 << bit % 8);
			s.body = copy;
			s.len = len;
			CHECK(!holds(services[k], &s, secrets[k]));
			copy[bit / 8] ^= (char)(1 << bit % 8);
		}
		all[k].body = memcpy(longer, copy, len);
		longer[len] = ' ';
		all[k].len = len + 1;
		CHECK(!holds(services[k], &all[k], secrets[k]));
		all[k].len = len - 1;
		CHECK(!holds(services[k], &all[k], secrets[k]));
		all[k].len = len;
		CHECK(holds(services[k], &all[k], secrets[k]));
		for (int h = 0; h < HEADERS_MAX && all[k].headers[h].name; h++) {
			char *value = strdup(all[k].headers[h].value);
			struct sent s = all[k];

			s.headers[h].value = value;
			for (size_t bit = 0; bit < strlen(value) * 8; bit++) {
				value[bit / 8] ^= (char)(1 << bit % 8);
				if (value[bit / 8])
					CHECK(!holds(services[k], &s, secrets[k]));
				value[bit / 8] ^= (char)(1 << bit % 8);
			}
			free(value);
		}
		free(copy);
		free(longer);
	}
}

TEST(webhook_bytes_are_signed_as_they_came)
{
	struct arena a = { 0 };
	const char *body = "{ \"b\" : 1,\n\t\"a\":\"\\u00e9\" }";
	struct sent s = github(arena_printf(&a, "sha256=%s", code_of(&a, "secret-secret", body)));
	struct sent raw = s;
	static const char bytes[] = "\xff\xfe not UTF-8 \x80";

	s.body = body;
	CHECK(holds(WEBHOOK_GITHUB, &s, "secret-secret"));
	s.body = "{\"b\":1,\"a\":\"\xc3\xa9\"}"; /* the same, written anew */
	CHECK(!holds(WEBHOOK_GITHUB, &s, "secret-secret"));
	raw.headers[0].value = arena_printf(&a, "sha256=%s", code_of(&a, "secret-secret", bytes));
	raw.body = bytes;
	CHECK(holds(WEBHOOK_GITHUB, &raw, "secret-secret"));
	arena_free(&a);
}

TEST(webhook_times_are_kept_to)
{
	static const int64_t off[] = { 0, 299, 300, -299, -300, 301, -301, 86400, -86400 };
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
		bool want = off[i] <= 300 && off[i] >= -300;
		struct sent s = standard(), k = slack();

		test_step("%lld", (long long)off[i]);
		s.now_s += off[i];
		k.now_s += off[i];
		CHECK_INT(holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET), want);
		CHECK_INT(holds(WEBHOOK_GITLAB, &s, STANDARD_SECRET), want);
		CHECK_INT(holds(WEBHOOK_SLACK, &k, SLACK_SECRET), want);
	}
	/* milliseconds for seconds, signs, spaces, nothing: well signed, and refused all the same */
	for (const char *const *t = (const char *const[]){ "1531420618000", "-1531420618", "",
		     "+1531420618", " 1531420618", "1531420618.0", "0x5b47aa0a", "1e9", NULL };
		*t; t++) {
		struct sent k = slack();

		test_step("%s", *t);
		k.headers[0].value = *t;
		k.headers[1].value = arena_printf(&a, "v0=%s",
			code_of(&a, SLACK_SECRET, arena_printf(&a, "v0:%s:%s", *t, SLACK_BODY)));
		CHECK(!holds(WEBHOOK_SLACK, &k, SLACK_SECRET));
	}
	arena_free(&a);
}

TEST(webhook_stripe_takes_any_of_its_codes)
{
	struct arena a = { 0 };
	const char *secret = "whsec_stripe_is_text", *body = "{\"id\":\"evt_1\",\"type\":\"x\"}";
	const char *good = code_of(&a, secret, arena_printf(&a, "1700000000.%s", body));
	const char *bad = code_of(&a, "another secret", body);
	const struct {
		const char *header;
		bool want;
	} cases[] = {
		{ arena_printf(&a, "t=1700000000,v1=%s", good), true },
		{ arena_printf(&a, "t=1700000000,v1=%s,v1=%s", bad, good), true },
		{ arena_printf(&a, "v1=%s,t=1700000000,v0=%s", good, bad), true },
		{ arena_printf(&a, "t=1700000000,v0=%s", good), false },
		{ arena_printf(&a, "t=1700000000,v1=%s", bad), false },
		{ arena_printf(&a, "v1=%s", good), false },
		{ arena_printf(&a, "t=1700000001,v1=%s", good), false },
		{ arena_printf(&a, "t=1700000000,t=1700000000,v1=%s", good), false },
		{ "t=1700000000", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sent s = { .headers = { { "stripe-signature", cases[i].header } },
			.body = body,
			.now_s = 1700000100 };

		test_step("%s", cases[i].header);
		CHECK_INT(holds(WEBHOOK_STRIPE, &s, secret), cases[i].want);
		s.now_s += 400;
		CHECK(!holds(WEBHOOK_STRIPE, &s, secret));
	}
	arena_free(&a);
}

TEST(webhook_standard_takes_any_of_its_codes)
{
	struct arena a = { 0 };
	struct sent s = standard();

	s.headers[2].value = "v1,AAAA v1a,xyz v1," STANDARD_CODE " v2,foo";
	CHECK(holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
	for (const char *const *v = (const char *const[]){ STANDARD_CODE, "v1a," STANDARD_CODE,
		     "v1 " STANDARD_CODE, "v1," STANDARD_CODE ",", "v1,," STANDARD_CODE,
		     "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE", "v1=" STANDARD_CODE, NULL };
		*v; v++) {
		test_step("%s", *v);
		s.headers[2].value = *v;
		CHECK(!holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
	}
	/* more codes than anybody sends */
	s.headers[2].value = "v1," STANDARD_CODE;
	for (int i = 0; i < 20; i++)
		s.headers[2].value = arena_printf(&a, "%s v1,AAAA", s.headers[2].value);
	CHECK(!holds(WEBHOOK_STANDARD, &s, STANDARD_SECRET));
	/* a key that is too short is none */
	s = standard();
	CHECK(!holds(WEBHOOK_STANDARD, &s, "whsec_AAAA"));
	CHECK(!holds(WEBHOOK_STANDARD, &s, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
	arena_free(&a);
}

TEST(webhook_gitlab_takes_the_secret_itself_whatever_its_form)
{
	struct sent token = { .headers = { { "x-gitlab-token", "a-plain-token" } }, .body = "{}" };
	struct sent key = { .headers = { { "x-gitlab-token", STANDARD_SECRET } }, .body = "{}" };

	CHECK(holds(WEBHOOK_GITLAB, &token, "a-plain-token"));
	CHECK(!holds(WEBHOOK_GITLAB, &token, "a-plain-tokem"));
	CHECK(!holds(WEBHOOK_GITLAB, &token, "a-plain-token-and-more"));
	/* the secret that is made for an integration, given to a GitLab before 19.0 as its token */
	CHECK(holds(WEBHOOK_GITLAB, &key, STANDARD_SECRET));
	CHECK(!holds(WEBHOOK_GITLAB, &key, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));
	CHECK(!holds(WEBHOOK_STANDARD, &key, STANDARD_SECRET));
}

TEST(webhook_two_secrets_count_while_both_are_given)
{
	struct sent g = github("sha256=" GITHUB_CODE), s = standard();

	CHECK(holds_with(WEBHOOK_GITHUB, &g, "the new secret", GITHUB_SECRET));
	CHECK(holds_with(WEBHOOK_GITHUB, &g, GITHUB_SECRET, "the old secret"));
	CHECK(!holds_with(WEBHOOK_GITHUB, &g, "the new secret", "the old secret"));
	CHECK(holds_with(
		WEBHOOK_STANDARD, &s, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", STANDARD_SECRET));
}

TEST(webhook_secrets_have_a_form)
{
	struct arena a = { 0 };

	for (int p = 0; p < WEBHOOK_SERVICES; p++) {
		const struct webhook_provider *row = &webhook_providers[p];
		const char *one = webhook_secret_new(row, &a), *two = webhook_secret_new(row, &a);

		test_step("%s", row->name);
		CHECK(strcmp(one, two) != 0);
		CHECK(strlen(one) >= 32);
		CHECK(!webhook_secret_fault(row, one));
		CHECK(webhook_secret_fault(row, ""));
		CHECK(webhook_secret_fault(row, "short"));
		CHECK_INT(strncmp(one, "whsec_", 6) == 0,
			p == WEBHOOK_STANDARD || p == WEBHOOK_GITLAB);
	}
	CHECK(webhook_secret_fault(&webhook_providers[WEBHOOK_STANDARD], "some plain secret"));
	CHECK(!webhook_secret_fault(&webhook_providers[WEBHOOK_GITLAB], "some plain secret"));
	CHECK(!webhook_secret_fault(&webhook_providers[WEBHOOK_GITHUB], GITHUB_SECRET));
	arena_free(&a);
}

/* ---- what is read ---- */

static enum webhook_reading read_it(
	enum webhook_service p, struct arena *a, const struct sent *s, struct webhook_event *e)
{
	struct webhook_in in = in_of(s);

	return webhook_read(&webhook_providers[p], a, &in, NULL, e);
}

TEST(webhook_events_are_told_in_a_sentence)
{
	static const struct {
		enum webhook_service service;
		const char *event, *body, *summary, *part;
	} cases[] = {
		{ WEBHOOK_GITHUB, "push",
			"{\"ref\":\"refs/heads/main\",\"compare\":\"https://h/c\",\"commits\":[{\"id\":"
			"\"0123456789\",\"message\":\"Fix\\nvalve\",\"author\":{\"name\":\"Ann\"}}],"
			"\"repository\":{\"full_name\":\"acme/rocket\"},\"sender\":{\"login\":\"ann\"}}",
			"ann pushed 1 commits to refs/heads/main of acme/rocket",
			"- 0123456 Fix valve (Ann)" },
		{ WEBHOOK_GITHUB, "issues",
			"{\"action\":\"opened\",\"issue\":{\"number\":7,\"title\":\"It leaks\",\"html_url\":"
			"\"https://h/7\"},\"repository\":{\"full_name\":\"acme/rocket\"},\"sender\":"
			"{\"login\":\"ann\"}}",
			"ann opened issue #7 \"It leaks\" in acme/rocket", "Link: https://h/7" },
		{ WEBHOOK_GITHUB, "star", "{\"action\":\"created\",\"sender\":{\"login\":\"ann\"}}",
			"ann: star created", "ann" },
		{ WEBHOOK_GITLAB, NULL,
			"{\"object_kind\":\"merge_request\",\"user\":{\"username\":\"bob\"},\"project\":"
			"{\"path_with_namespace\":\"g/p\"},\"object_attributes\":{\"action\":\"open\","
			"\"iid\":3,\"title\":\"T\",\"url\":\"https://gl/3\"}}",
			"bob open merge request !3 \"T\" in g/p", "Link: https://gl/3" },
		{ WEBHOOK_STRIPE, NULL,
			"{\"id\":\"evt_1\",\"type\":\"invoice.paid\",\"data\":{\"object\":{\"object\":"
			"\"invoice\",\"id\":\"in_1\",\"amount_paid\":1200,\"currency\":\"eur\"}}}",
			"Stripe: invoice.paid", "Amount: 1200 eur" },
		{ WEBHOOK_LINEAR, NULL,
			"{\"type\":\"Issue\",\"action\":\"create\",\"webhookTimestamp\":1000000,"
			"\"actor\":{\"name\":\"Eve\"},\"data\":{\"identifier\":\"ENG-1\",\"title\":\"T\"},"
			"\"url\":\"https://l/1\"}",
			"Eve created issue ENG-1 \"T\"", "Link: https://l/1" },
		{ WEBHOOK_SENTRY, "issue",
			"{\"action\":\"created\",\"data\":{\"issue\":{\"shortId\":\"A-1\",\"title\":\"Boom\"}}}",
			"Sentry: issue A-1 created: Boom", "Boom" },
		{ WEBHOOK_STANDARD, NULL, "{\"type\":\"user.created\",\"data\":{\"name\":\"Zoe\"}}",
			"Standard Webhooks: user.created", "Zoe" },
		{ WEBHOOK_GENERIC, NULL, "{}", "Webhook: an event", "Webhook" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		struct webhook_event e;
		struct sent s = {
			.headers = { { "x-github-delivery", "d1" }, { "request-id", "d1" },
				{ "linear-delivery", "d1" }, { "webhook-id", "d1" },
				{ cases[i].event ? "x-github-event" : "x", cases[i].event },
				{ cases[i].event ? "sentry-hook-resource" : "x", cases[i].event } },
			.body = cases[i].body,
			.now_s = 1000
		};

		test_step("%s", cases[i].summary);
		CHECK_INT(read_it(cases[i].service, &a, &s, &e), WEBHOOK_READ);
		CHECK(webhook_reread(
			&webhook_providers[cases[i].service], &a, e.event, cases[i].body, &e));
		CHECK_STR(webhook_summary(&webhook_providers[cases[i].service], &a, &e),
			cases[i].summary);
		CHECK(strstr(webhook_digest(&webhook_providers[cases[i].service], &a, &e),
			cases[i].part));
		arena_free(&a);
	}
}

TEST(webhook_ids_are_where_each_service_has_them)
{
	struct arena a = { 0 };
	struct webhook_event e;
	struct sent s = { .headers = { { "idempotency-key", "k1" },
				  { "x-gitlab-event-uuid", "u1" } },
		.body = "{\"id\":\"evt_1\",\"event_id\":\"Ev1\"}" };

	CHECK_INT(read_it(WEBHOOK_GITLAB, &a, &s, &e), WEBHOOK_READ);
	CHECK_STR(e.delivery_id, "k1");
	s.headers[0].name = "x";
	CHECK_INT(read_it(WEBHOOK_GITLAB, &a, &s, &e), WEBHOOK_READ);
	CHECK_STR(e.delivery_id, "u1");
	CHECK_INT(read_it(WEBHOOK_STRIPE, &a, &s, &e), WEBHOOK_READ);
	CHECK_STR(e.delivery_id, "evt_1");
	CHECK_INT(read_it(WEBHOOK_SLACK, &a, &s, &e), WEBHOOK_READ);
	CHECK_STR(e.delivery_id, "Ev1");
	CHECK_INT(read_it(WEBHOOK_GITHUB, &a, &s, &e), WEBHOOK_NO_ID);
	CHECK_INT(read_it(WEBHOOK_GENERIC, &a, &s, &e), WEBHOOK_READ);
	CHECK(strncmp(e.delivery_id, "sha256:", 7) == 0);
	s.headers[1].name = "x-github-delivery";
	s.headers[1].value = "with \xc3\xa9";
	CHECK_INT(read_it(WEBHOOK_GITHUB, &a, &s, &e), WEBHOOK_NO_ID);
	s.headers[0] = s.headers[1];
	s.headers[0].value = s.headers[1].value = "d";
	CHECK_INT(read_it(WEBHOOK_GITHUB, &a, &s, &e), WEBHOOK_NO_ID); /* twice */
	arena_free(&a);
}

TEST(webhook_bodies_that_are_no_object_are_none)
{
	struct arena a = { 0 };
	struct webhook_event e;

	for (const char *const *b = (const char *const[]){ "", "[]", "1", "\"x\"", "{", "{}x",
		     "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", NULL };
		*b; b++) {
		struct sent s = { .body = *b };

		test_step("%s", *b);
		CHECK_INT(read_it(WEBHOOK_GENERIC, &a, &s, &e), WEBHOOK_NOT_JSON);
	}
	arena_free(&a);
}

TEST(webhook_forms_are_read)
{
	struct arena a = { 0 };
	struct webhook_event e;
	struct sent s = slack();
	struct sent p = { .headers = { { "x-github-delivery", "d" }, { "x-github-event", "ping" } },
		.body = "payload=%7B%22zen%22%3A%22Keep+it%22%7D",
		.form = true };

	CHECK_INT(read_it(WEBHOOK_SLACK, &a, &s, &e), WEBHOOK_READ);
	CHECK_STR(e.delivery_id, "398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c");
	CHECK_STR(e.event, "/webhook-collect");
	CHECK_STR(e.sender, "U2CERLKJA");
	CHECK_STR(e.place, "G8PSS9T3V");
	CHECK_INT(read_it(WEBHOOK_GITHUB, &a, &p, &e), WEBHOOK_READ);
	CHECK(webhook_reread(&webhook_providers[WEBHOOK_GITHUB], &a, e.event, e.payload, &e));
	CHECK_STR(webhook_text_at(&a, e.tree, "zen"), "Keep it");
	CHECK(strstr(e.payload, "Keep it"));
	for (const char *const *b =
			(const char *const[]){ "a=%", "a=%zz", "a=%ff", "payload=[]", NULL };
		*b; b++) {
		p.body = *b;
		test_step("%s", *b);
		CHECK_INT(read_it(WEBHOOK_GITHUB, &a, &p, &e), WEBHOOK_NOT_JSON);
	}
	arena_free(&a);
}

TEST(webhook_linear_times_are_in_the_body)
{
	static const struct {
		const char *body;
		enum webhook_reading want;
	} cases[] = {
		{ "{\"webhookTimestamp\":1000000000}", WEBHOOK_READ },
		{ "{\"webhookTimestamp\":1000060000}", WEBHOOK_READ },
		{ "{\"webhookTimestamp\":999940000}", WEBHOOK_READ },
		{ "{\"webhookTimestamp\":1000060001}", WEBHOOK_STALE },
		{ "{\"webhookTimestamp\":999939999}", WEBHOOK_STALE },
		{ "{\"webhookTimestamp\":1000000}", WEBHOOK_STALE },
		{ "{\"webhookTimestamp\":\"1000000000\"}", WEBHOOK_STALE },
		{ "{}", WEBHOOK_STALE },
	};
	struct arena a = { 0 };
	struct webhook_event e;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sent s = { .headers = { { "linear-delivery", "d" } },
			.body = cases[i].body,
			.now_s = 1000000 };

		test_step("%s", cases[i].body);
		CHECK_INT(read_it(WEBHOOK_LINEAR, &a, &s, &e), cases[i].want);
	}
	arena_free(&a);
}

TEST(webhook_slack_says_what_it_caused_itself)
{
	struct arena a = { 0 };
	struct webhook_event e;
	struct sent s = {
		.body = "{\"event_id\":\"E\",\"api_app_id\":\"A1\",\"authorizations\":[{\"user_id\":"
			"\"UB\",\"is_bot\":true}],\"event\":{\"type\":\"message\",\"user\":\"UB\"}}"
	};

	CHECK_INT(read_it(WEBHOOK_SLACK, &a, &s, &e), WEBHOOK_READ);
	CHECK(e.by_us);
	s.body =
		"{\"event_id\":\"E\",\"api_app_id\":\"A1\",\"event\":{\"bot_id\":\"B\",\"app_id\":\"A1\"}}";
	CHECK_INT(read_it(WEBHOOK_SLACK, &a, &s, &e), WEBHOOK_READ);
	CHECK(e.by_us && e.by_machine);
	s.body =
		"{\"event_id\":\"E\",\"api_app_id\":\"A1\",\"event\":{\"user\":\"U1\",\"app_id\":\"A2\"}}";
	CHECK_INT(read_it(WEBHOOK_SLACK, &a, &s, &e), WEBHOOK_READ);
	CHECK(!e.by_us && !e.by_machine);
	s.body = "{\"type\":\"url_verification\",\"challenge\":\"3eZb\"}";
	CHECK_INT(read_it(WEBHOOK_SLACK, &a, &s, &e), WEBHOOK_READ);
	CHECK_STR(e.challenge, "3eZb");
	arena_free(&a);
}

TEST(json_tree_picks_what_is_asked_for_and_checks_the_rest)
{
	static const char *const paths[] = { "a", "b.c", "b.c.d", "list.0.x", "gone.x" };
	static const char text[] =
		"{\"a\":{\"deep\":[1,{\"y\":2}]},\"b\":{\"c\":3,\"cc\":4},\"c\":5,"
		"\"list\":[{\"x\":6,\"y\":7},{\"x\":8}],\"aa\":9}";
	struct arena a = { 0 };
	const struct json_node *n = json_tree_pick(&a, text, sizeof text - 1, paths, 5, NULL);

	CHECK(n && n->count == 3);
	CHECK_STR(webhook_text_at(&a, n, "a.deep.1.y"), "2");
	CHECK_STR(webhook_text_at(&a, n, "b.c"), "3");
	CHECK_STR(webhook_text_at(&a, n, "list.0.x"), "6");
	CHECK(!webhook_text_at(&a, n, "b.cc") && !webhook_text_at(&a, n, "c"));
	CHECK(!webhook_text_at(&a, n, "list.1.x") && !webhook_text_at(&a, n, "list.0.y"));
	CHECK(!webhook_text_at(&a, n, "aa"));
	for (const char *const *bad = (const char *const[]){ "{\"c\":01}", "{\"c\":[1,]}",
		     "{\"c\":{\"x\":1,\"x\":2}}", "{\"c\":\"\xff\"}", "{\"c\":1", NULL };
		*bad; bad++) {
		test_step("%s", *bad);
		CHECK(!json_tree_pick(&a, *bad, strlen(*bad), paths, 5, NULL));
	}
	arena_free(&a);
}
