/* test_mail_address.c - addresses of mail: what is one, whose it is, lists of them. */
#include "fixture.h"
#include "base/id.h"
#include "mail/address.h"
#include "mail/token.h"
#include "t.h"

#define ID "c0123456789abcdefghijklmn"
#define TENANT "c1123456789abcdefghijklmn"
#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B63 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* Its text, or the sentence. */
static const char *parsed(const char *text, struct mail_address *m)
{
	const char *fault;

	return mail_address_parse(text, strlen(text), m, &fault) ? m->text : fault;
}

TEST(mail_address_is_plain_or_none)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "jo@example.org", "jo@example.org" },
		{ "Jo.Q+x@EXAMPLE.Org", "Jo.Q+x@example.org" },
		{ "\"jo\"@example.org", "jo@example.org" },
		{ "\"jo q\"@example.org", "\"jo q\"@example.org" },
		{ "\"a\\\"b\"@x.y", "\"a\\\"b\"@x.y" },
		{ "root@localhost", "root@localhost" },
		{ "j\xc3\xb6@ex\xc3\xa4mple.org", "j\xc3\xb6@ex\xc3\xa4mple.org" },
		{ A64 "@x.y", A64 "@x.y" },
		{ "a" A64 "@x.y",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "a@" B63 ".x", "a@" B63 ".x" },
		{ "a@b" B63 ".x", "What stands behind the @ is no domain." },
		{ "a@" B63 "." B63 "." B63 "." B63 ".xyz",
			"The address is longer than 254 bytes." },
		{ "", "What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "jo", "What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "@x.y", "The address has a source route." },
		{ "@a.b:jo@x.y", "The address has a source route." },
		{ "jo@", "What stands behind the @ is no domain." },
		{ "jo@x..y", "What stands behind the @ is no domain." },
		{ "jo@-x.y", "What stands behind the @ is no domain." },
		{ "jo@x.y.", "What stands behind the @ is no domain." },
		{ "jo@x y", "What stands behind the @ is no domain." },
		{ "jo@x_y.z", "What stands behind the @ is no domain." },
		{ "jo@[127.0.0.1]", "An address of a machine in brackets is not taken." },
		{ "jo..q@x.y",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ ".jo@x.y",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "jo q@x.y",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "\"\"@x.y",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "\"jo@x.y",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "jo@x.y\r\nRCPT TO:<a@b.c>",
			"The address has a control character, or is not UTF-8." },
		{ "jo\n@x.y", "The address has a control character, or is not UTF-8." },
		{ "\"jo\r\"@x.y", "The address has a control character, or is not UTF-8." },
		{ "jo@x.y\x7f", "The address has a control character, or is not UTF-8." },
		{ "j\xff@x.y", "The address has a control character, or is not UTF-8." },
	};
	struct mail_address m;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].text);
		CHECK_STR(parsed(cases[i].text, &m), cases[i].want);
	}
	CHECK(!mail_address_parse("a@b\0.c", 6, &m, &(const char *){ NULL }));
	parsed("\"jo q\"@example.org", &m);
	CHECK_STR(m.local, "jo q");
	CHECK(!m.wide);
	parsed("j\xc3\xb6@x.y", &m);
	CHECK(m.wide);
}

TEST(mail_address_has_paths)
{
	static const struct {
		const char *text;
		size_t used;
		const char *want;
	} cases[] = {
		{ "<jo@x.y>", 8, "jo@x.y" },
		{ "<jo@x.y> SIZE=1", 8, "jo@x.y" },
		{ "<>", 2, "" },
		{ "<\"a>b\"@x.y>", 11, "\"a>b\"@x.y" },
		{ "jo@x.y", 0, "" },
		{ "<jo@x.y", 0, "" },
		{ "<@a,@b:jo@x.y>", 0, "" },
		{ "< jo@x.y>", 0, "" },
		{ "<\"a\\", 0, "" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mail_address m;
		const char *fault;

		test_step("%s", cases[i].text);
		CHECK_INT((long long)mail_address_path(
				  cases[i].text, strlen(cases[i].text), &m, &fault),
			(long long)cases[i].used);
		CHECK_STR(m.text, cases[i].want);
		CHECK(!fault == (cases[i].used > 0));
	}
}

TEST(mail_address_of_agents)
{
	struct mail_address m, n;
	struct slice base, plus;
	char key[MAIL_ADDRESS_MAX + 1];

	CHECK(mail_address_internal("helper", ID, "acme", TENANT, &m));
	CHECK_STR(m.text, "helper@acme.lodge.internal");
	CHECK(mail_address_is_internal(&m));
	CHECK(mail_address_external("helper", ID, "acme", TENANT, "Mail.Example.org", &m));
	CHECK_STR(m.text, "helper@acme.mail.example.org");
	CHECK(!mail_address_is_internal(&m));
	test_step("27 bytes leave room for a plus part, 28 do not");
	CHECK(mail_address_external("aaaaaaaaaaaaaaaaaaaaaaaaaaa", ID, "acme", TENANT, "x.y", &m));
	CHECK_STR(m.text, "aaaaaaaaaaaaaaaaaaaaaaaaaaa@acme.x.y");
	CHECK(mail_address_external("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", ID, "acme", TENANT, "x.y", &m));
	CHECK_STR(m.text, ID "@acme.x.y");
	CHECK(mail_address_external("a-", ID, "acme-", TENANT, "x.y", &m));
	CHECK_STR(m.text, ID "@" TENANT ".x.y");
	CHECK(mail_address_external("a", ID, "a" B63, TENANT, "x.y", &m));
	CHECK_STR(m.text, "a@" TENANT ".x.y");
	CHECK(!mail_address_external("a", ID, "b", TENANT, "no domain", &m));
	CHECK(!mail_address_external("a", ID, "b", TENANT, B63 "." B63 "." B63 "." B63, &m));
	test_step("what only looks internal");
	parsed("a@evillodge.internal", &m);
	CHECK(!mail_address_is_internal(&m));
	parsed("a@LODGE.internal", &m);
	CHECK(mail_address_is_internal(&m));
	test_step("plus parts, and the one spelling");
	parsed("Jo+a+b@X.y", &m);
	mail_address_plus(&m, &base, &plus);
	CHECK(base.len == 2 && plus.len == 3 && memcmp(plus.at, "a+b", 3) == 0);
	mail_address_key(&m, key);
	CHECK_STR(key, "jo+a+b@x.y");
	parsed("jo+A+B@x.Y", &n);
	CHECK(mail_address_same(&m, &n));
	CHECK(mail_address_add_plus(&m, "c.d", &n));
	CHECK_STR(n.text, "Jo+c.d@x.y");
	CHECK(!mail_address_add_plus(&m, "c d", &n) && !mail_address_add_plus(&m, "", &n) &&
		!mail_address_add_plus(&m, A64, &n));
}

/* "name|address;…", or the sentence. */
static const char *listed(struct arena *a, const char *text, size_t most)
{
	struct mail_people p;
	const char *fault, *out = "";

	if (!mail_people_parse(a, text, strlen(text), most, &p, &fault))
		return fault;
	for (size_t i = 0; i < p.count; i++)
		out = arena_printf(a, "%s%s|%s;", out, p.at[i].name, p.at[i].address.text);
	return out;
}

TEST(mail_people_in_lists)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "a@b.c", "|a@b.c;" },
		{ " a@b.c , ,d@e.f,", "|a@b.c;|d@e.f;" },
		{ "Jo Q. <jo@x.y>, \"R, S\" <r@x.y>", "Jo Q.|jo@x.y;R, S|r@x.y;" },
		{ "\"a \\\"b\\\" c\" <jo@x.y>", "a \"b\" c|jo@x.y;" },
		{ "team: a@b.c, Jo <d@e.f>;, g@h.i", "|a@b.c;Jo|d@e.f;|g@h.i;" },
		{ "undisclosed-recipients:;", "" },
		{ "a@b.c (a (nested) comment)", "|a@b.c;" },
		{ "Jo (x)\r\n <jo@x.y>", "Jo|jo@x.y;" },
		{ "\"jo q\"@x.y", "|\"jo q\"@x.y;" },
		{ "j\xc3\xb6 <a@b.c>", "j\xc3\xb6|a@b.c;" },
		{ "g:g:a@b.c;;", "A colon stands where none can." },
		{ "g:a@b.c", "A group is not closed with a semicolon." },
		{ "a@b.c; d@e.f", "Addresses are parted by commas." },
		{ "Jo", "A name has no address." },
		{ "Jo a@b.c", "An address behind a name must stand in < and >." },
		{ "a@b.c d@e.f", "Something follows an address." },
		{ "<a@b.c> x", "Something follows an address." },
		{ "<a@b.c", "An address is not closed with >." },
		{ "\"Jo <a@b.c>", "A quoted text is not closed." },
		{ "(Jo <a@b.c>", "A bracket is not closed." },
		{ "a@b.c>", "A bracket is closed that was not open." },
		{ "a@b.c, d@e.f, g@h.i, j@k.l", "There are too many addresses." },
		{ "Jo <a b@c>",
			"What stands before the @ is no name of a mailbox of at most 64 bytes." },
		{ "\xff <a@b.c>", "The list of addresses is not UTF-8." },
	};
	struct arena a = { 0 };
	char *deep = arena_raw(&a, 60001, 1);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].text);
		CHECK_STR(listed(&a, cases[i].text, 3), cases[i].want);
	}
	test_step("no depth of brackets matters");
	memset(deep, '(', 60000);
	deep[60000] = '\0';
	CHECK_STR(listed(&a, deep, 3), "A bracket is not closed.");
	arena_free(&a);
}

TEST(mail_tokens_are_signed)
{
	static const uint8_t key[MAIL_KEY_LEN] = { 1, 2, 3 }, other[MAIL_KEY_LEN] = { 1, 2, 4 };
	struct mail_address to, box, second;
	struct id id = id_new(NULL), got;
	char text[MAIL_ADDRESS_MAX + 1];

	CHECK(mail_verp_make(key, id.text, "example.org", &to));
	CHECK_INT((long long)strlen(to.local), 38);
	CHECK(mail_verp_read(key, &to, "example.org", &got));
	CHECK_STR(got.text, id.text);
	CHECK(!mail_verp_read(other, &to, "example.org", &got));
	CHECK(!mail_verp_read(key, &to, "example.com", &got));
	test_step("each byte of it counts");
	for (size_t i = 0; i < 38; i++) {
		struct mail_address bad;

		snprintf(text, sizeof text, "%s", to.text);
		text[i] = text[i] == '1' ? '2' : '1';
		CHECK(*parsed(text, &bad) && !mail_verp_read(key, &bad, "example.org", &got));
	}
	test_step("relays that change the case");
	snprintf(text, sizeof text, "%s", to.text);
	for (char *p = text; *p; p++)
		*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
	parsed(text, &to);
	CHECK(mail_verp_read(key, &to, "example.org", &got));
	CHECK_STR(got.text, id.text);
	CHECK(!mail_verp_make(key, "x", "example.org", &to));
	CHECK(!mail_verp_make(key, id.text, "x y", &to));

	CHECK(mail_address_external(
		"aaaaaaaaaaaaaaaaaaaaaaaaaaa", ID, "acme", TENANT, "x.y", &box));
	CHECK(mail_thread_make(key, &box, id.text, &to));
	CHECK_INT((long long)strlen(to.local), 64);
	CHECK(mail_thread_read(key, &to, &got));
	CHECK_STR(got.text, id.text);
	test_step("one mailbox's is none of another's, and no bounce's");
	mail_address_external("b", ID, "acme", TENANT, "x.y", &second);
	CHECK(mail_address_add_plus(&second, to.local + 28, &second));
	CHECK(!mail_thread_read(key, &second, &got));
	CHECK(!mail_thread_read(key, &box, &got));
	mail_verp_make(key, id.text, "x.y", &to);
	CHECK(!mail_thread_read(key, &to, &got));
}

TEST(mail_names_that_speak_for_the_service_are_nobodys)
{
	static const char *const names[] = { "postmaster", "abuse", "mailer-daemon", "no-reply",
		"admin" };
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		test_step(names[i]);
		r = ask(f, f->admin,
			arena_printf(&f->arena, "{\"name\":\"N\",\"slug\":\"%s\"}", names[i]),
			"POST /tenant/%s/agents", f->tenant_id);
		STATUS(r, 422);
		CHECK(refuses(&r, "slug", "reserved"));
		STATUS(ask(f, f->admin,
			       arena_printf(
				       &f->arena, "{\"name\":\"N\",\"slug\":\"%s\"}", names[i]),
			       "POST /tenants"),
			422);
	}
	test_step("names of machines are no tenant's, and an agent's");
	r = ask(f, f->admin, "{\"name\":\"N\",\"slug\":\"mail\"}", "POST /tenants");
	STATUS(r, 422);
	CHECK(refuses(&r, "slug", "reserved"));
	STATUS(ask(f, f->admin, "{\"name\":\"N\",\"slug\":\"mail\"}", "POST /tenant/%s/agents",
		       f->tenant_id),
		201);
	test_step("who has one keeps it");
	fixture_sql(f, "update agent_rows set slug = 'abuse' where slug = 'mail'", NO_ARGS);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents?q=abuse", f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.slug"), "abuse");
	STATUS(ask(f, f->admin, "{\"description\":\"d\"}", "PATCH /agents/%s",
		       text_at(&r, "items.0.id")),
		200);
	fixture_close(f);
}
