/* test_mail_rules.c - what is looked at before the parser, what must not wake an agent, whose word about a sender counts. */
#include <stdlib.h>

#include "base/buf.h"
#include "mail/dmarc.h"
#include "mail/prescan.h"
#include "mail/wake.h"
#include "t.h"

/* ---- the look before the parser ---- */

enum { SMALL = 1 << 20 };

static void put_times(struct buf *b, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_puts(b, text);
}

/* Whole and in pieces of every small size, which must make no difference. */
static const char *scanned(const struct buf *b)
{
	const char *whole = prescan_fault(b->at, b->len, SMALL);

	for (size_t piece = 1; piece < 9; piece++) {
		struct prescan s;

		prescan_begin(&s, SMALL);
		for (size_t i = 0; i < b->len; i += piece)
			prescan_push(&s, b->at + i, b->len - i < piece ? b->len - i : piece);
		CHECK(s.fault == whole || (s.fault && whole && strcmp(s.fault, whole) == 0));
	}
	return whole ? whole : "";
}

TEST(mail_prescan_has_every_limit_from_both_sides)
{
	static const struct {
		const char *head, *piece;
		size_t most;
		const char *tail, *fault;
	} cases[] = {
		{ "Subject: x\r\n", "X: y\r\n", 998, "\r\nbody",
			"The head of the message has too many lines." },
		{ "Subject: ", "1234567890\r\n ", 998, "\r\n\r\nbody",
			"The head of the message has too many lines." },
		{ "Subject: ", "x", 256 * 1024 - 13, "\r\n\r\n",
			"The head of the message is too long." },
		{ "To: ", "x", 16 * 1024 - 1, "\r\n\r\n", "A header with addresses is too long." },
		{ "TO \t: ", "x", 16 * 1024 - 1, "\r\n\r\n",
			"A header with addresses is too long." },
		{ "From:", "g:", 64, "\r\n\r\n", "A header with addresses has too many groups." },
		{ "rePly-To:\n", " g:\n", 64, "\n\n",
			"A header with addresses has too many groups." },
		{ "Subject: x\r\nresent-to:", "g:", 64, "\r\n\r\n",
			"A header with addresses has too many groups." },
		{ "Subject: x\n\nto:", "g:", 4000, "\nx",
			"A header with addresses has too many groups." },
		{ "Subject: x\n\nbody\nTo: x", "\n g:", 4000, "\nx",
			"A header with addresses has too many groups." },
		{ "Subject: x\n\nCc:", "12345678", 8192, "\nx",
			"A header with addresses is too long." },
		{ "Subject: x\r\n\r\n", "--x\r\n", 2000, "", "The message has too many parts." },
		{ "Subject: x\r\n\r\n", "--\n", 2000, "", "The message has too many parts." },
		{ "Subject: x\n\n", "1", SMALL - 12, "", "The message is too large." },
	};
	struct buf b;

	buf_init(&b, 4 << 20);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int more = 0; more < 2; more++) {
			test_step("%zu%s", i, more ? ", one more" : "");
			buf_clear(&b);
			buf_puts(&b, cases[i].head);
			put_times(&b, cases[i].piece, cases[i].most + (size_t)more);
			buf_puts(&b, cases[i].tail);
			CHECK_STR(scanned(&b), more ? cases[i].fault : "");
		}
	test_step("colons elsewhere, and lines that only look so");
	buf_clear(&b);
	buf_puts(&b, "Subject: ");
	put_times(&b, "g:", 1000);
	buf_puts(&b, "\r\nX-To: ");
	put_times(&b, "g:", 1000);
	buf_puts(&b, "\r\n\r\n");
	put_times(&b, "- --x\r\n", 3000);
	CHECK_STR(scanned(&b), "");
	test_step("NUL");
	buf_clear(&b);
	buf_put(&b, "a: b\n\nlong line of text\0", 24);
	CHECK_STR(scanned(&b), "The message has a NUL.");
	buf_free(&b);
}

/* ---- what must not wake ---- */

TEST(mail_wakes_nobody_for_machines)
{
	static const struct {
		const char *name, *value;
		bool wakes;
	} cases[] = {
		{ "auto-submitted", "auto-replied", false },
		{ "auto-submitted", "auto-generated; x=y", false },
		{ "auto-submitted", "", false },
		{ "auto-submitted", "no", true },
		{ "auto-submitted", " No (really)", true },
		{ "auto-submitted", "nothing", false },
		{ "precedence", "bulk", false },
		{ "precedence", "Junk", false },
		{ "precedence", "list", false },
		{ "precedence", "first-class", true },
		{ "precedence", "listless", true },
		{ "list-id", "<x.y>", false },
		{ "list-unsubscribe", "<mailto:x@y.z>", false },
		{ "feedback-id", "1:2", false },
		{ "x-auto-response-suppress", "All", false },
		{ "x-auto-response-suppress", "OOF, AutoReply", false },
		{ "x-auto-response-suppress", "OOF,DR", false },
		{ "x-auto-response-suppress", "OOF, RN", true },
		{ "x-lodge-hops", "5", true },
		{ "x-lodge-hops", "6", false },
		{ "x-lodge-hops", "99999999999999999999", false },
		{ "x-lodge-hops", "-1", false },
		{ "x-lodge-hops", "1 2", false },
		{ "subject", "bulk", true },
	};
	struct mail_waking w = { .return_path = "jo@x.y", .from = "jo@x.y" };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mail_header h = { cases[i].name, cases[i].value };

		test_step("%s: %s", cases[i].name, cases[i].value);
		w.headers = &h;
		w.count = 1;
		CHECK(!mail_wake_bar(&w) == cases[i].wakes);
	}
	w.count = 0;
	CHECK(!mail_wake_bar(&w));
	test_step("who sent it");
	w.return_path = "";
	CHECK(mail_wake_bar(&w));
	w.return_path = NULL;
	CHECK(mail_wake_bar(&w));
	w.return_path = "MAILER-DAEMON@x.y";
	CHECK(mail_wake_bar(&w));
	w.return_path = "jo@x.y";
	for (size_t i = 0; i < 4; i++) {
		w.from = (const char *[]){ "mailer-daemon@x.y", "list-Request@x.y", "owner-x@x.y",
			NULL }[i];
		CHECK(mail_wake_bar(&w));
	}
	w.from = "request@x.y";
	CHECK(!mail_wake_bar(&w));
	w.own = true;
	CHECK(mail_wake_bar(&w));
}

/* ---- the server's word ---- */

TEST(mail_believes_one_server)
{
	static const struct {
		const char *value;
		bool found;
		enum mail_verdict dmarc, dkim, spf;
	} cases[] = {
		{ "mx.a; dmarc=pass header.from=x.y", true, MAIL_PASS, MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=pass", true, MAIL_NONE, MAIL_NONE, MAIL_NONE }, /* of whom? */
		{ "mx.a; dmarc=pass header.from=", true, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=pass header.from=x.y header.from=z.y", true, MAIL_NONE, MAIL_NONE,
			MAIL_NONE },
		{ "mx.a; dmarc=fail header.from=x.y header.from=z.y", true, MAIL_FAIL, MAIL_NONE,
			MAIL_NONE },
		{ "MX.A 1 ; dkim=fail (bad) header.d=x.y; dkim=pass; spf=softfail; dmarc = fail p=none",
			true, MAIL_FAIL, MAIL_PASS, MAIL_NONE },
		{ "\"mx.a\"; spf=pass smtp.mailfrom=\"dmarc=pass;\"", true, MAIL_NONE, MAIL_NONE,
			MAIL_PASS },
		{ "(mx.b) mx.a (x); dmarc/1=pass header.from=x.y", true, MAIL_PASS, MAIL_NONE,
			MAIL_NONE },
		{ "mx.a; none", true, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "mx.a; x=y dmarc=pass", true, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "mx.a; (dmarc=pass;) spf=none (; dmarc=pass)", true, MAIL_NONE, MAIL_NONE,
			MAIL_NONE },
		{ "mx.a; dmarc=pass header.from=x.y; dmarc=fail header.from=z.y", true, MAIL_FAIL,
			MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=fail header.from=x.y; dmarc=pass header.from=x.y", true, MAIL_FAIL,
			MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=none header.from=x.y; dmarc=pass header.from=x.y", true, MAIL_NONE,
			MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=pass header.from=x.y; dmarc=none; spf=pass", true, MAIL_NONE,
			MAIL_NONE, MAIL_PASS },
		{ "mx.a; dmarc=pass header.from=x.y; dmarc=pass header.from=z.y", true, MAIL_NONE,
			MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=pass header.from=x.y; dmarc=pass header.from=X.Y", true, MAIL_PASS,
			MAIL_NONE, MAIL_NONE },
		{ "mx.a; spf=pass header.from=x.y; dmarc=pass", true, MAIL_NONE, MAIL_NONE,
			MAIL_PASS },
		{ "mx.a; dmarc=permerror", true, MAIL_FAIL, MAIL_NONE, MAIL_NONE },
		{ "mx.a; dmarc=passed", true, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "mx.a; spf=pass smtp.mailfrom=x; dmarc=pass (@evil; dmarc=fail", true, MAIL_NONE,
			MAIL_NONE, MAIL_NONE }, /* a comment without an end hides what follows */
		{ "mx.a; dmarc=pass \"; dmarc=fail", true, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "mx.ab; dmarc=pass", false, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "x.mx.a; dmarc=pass", false, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "; dmarc=pass", false, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "\"", false, MAIL_NONE, MAIL_NONE, MAIL_NONE },
		{ "", false, MAIL_NONE, MAIL_NONE, MAIL_NONE },
	};
	struct mail_header two[] = { { "authentication-results", "mx.b; dmarc=pass" },
		{ "authentication-results", "mx.a; dmarc=fail" },
		{ "authentication-results", "mx.a; dmarc=pass" } };
	static char longest[17 * 1024];
	struct authres got;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mail_header h = { "authentication-results", cases[i].value };

		test_step("%s", cases[i].value);
		got = authres_read(&h, 1, "mx.a");
		CHECK_INT(got.found, cases[i].found);
		CHECK_INT(got.dmarc, cases[i].dmarc);
		CHECK_INT(got.dkim, cases[i].dkim);
		CHECK_INT(got.spf, cases[i].spf);
		CHECK(!authres_read(&h, 1, NULL).found && !authres_read(&h, 1, "").found);
	}
	test_step("the topmost of that name alone");
	got = authres_read(two, 3, "mx.a");
	CHECK_INT(got.dmarc, MAIL_FAIL);
	two[1].value = "mx.a; dmarc=pass header.from=x.y";
	two[2].value = "mx.a; dmarc=fail";
	got = authres_read(two, 3, "mx.a");
	CHECK_INT(got.dmarc, MAIL_PASS);
	test_step("one that is too long hides what is below it");
	memset(longest, 'x', sizeof longest - 1);
	memcpy(longest, "mx.a; ", 6);
	two[0].value = longest;
	got = authres_read(two, 3, "mx.a");
	CHECK_INT(got.dmarc, MAIL_NONE);
	test_step("whose policy it was");
	two[0].value = "mx.a; dmarc=pass (p=reject) header.from=evil.test; spf=pass";
	got = authres_read(two, 1, "mx.a");
	CHECK_STR(got.dmarc_from, "evil.test");
	CHECK_INT(dmarc_judge("good.test", NULL, &(struct dkim_check){ 0 }, &got), MAIL_NONE);
	CHECK_INT(dmarc_judge("evil.test", NULL, &(struct dkim_check){ 0 }, &got), MAIL_PASS);
	test_step("a signature that is good does not help against its word");
	two[0].value = "mx.a; dmarc=fail header.from=good.test";
	got = authres_read(two, 1, "mx.a");
	CHECK_INT(
		dmarc_judge("good.test", NULL,
			&(struct dkim_check){ .at = &(struct dkim_signature){ .domain = "good.test",
						      .verdict = MAIL_PASS },
				.count = 1 },
			&got),
		MAIL_FAIL);
}

/* ---- DMARC ---- */

TEST(mail_dmarc_records_and_alignment)
{
	static const struct {
		const char *text;
		bool good;
		struct dmarc_record want;
	} cases[] = {
		{ "v=DMARC1; p=reject", true, { DMARC_REJECT, DMARC_REJECT, false, false } },
		{ "v=DMARC1;p=none;sp=quarantine;adkim=s;aspf=r;rua=mailto:x@y.z", true,
			{ DMARC_NONE, DMARC_QUARANTINE, true, false } },
		{ " v = DMARC1 ; p = Reject ; aspf=S;", true,
			{ DMARC_REJECT, DMARC_REJECT, false, true } },
		{ "v=DMARC1", false, { 0 } },
		{ "v=DMARC1; p=maybe", false, { 0 } },
		{ "p=reject; v=DMARC1", false, { 0 } },
		{ "v=DMARC2; p=reject", false, { 0 } },
		{ "v=spf1 -all", false, { 0 } },
		{ "", false, { 0 } },
	};
	const char *names[2];
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dmarc_record r;

		test_step("%s", cases[i].text);
		CHECK_INT(dmarc_parse(cases[i].text, strlen(cases[i].text), &r), cases[i].good);
		if (cases[i].good)
			CHECK(r.policy == cases[i].want.policy &&
				r.subdomains == cases[i].want.subdomains &&
				r.strict_dkim == cases[i].want.strict_dkim &&
				r.strict_spf == cases[i].want.strict_spf);
	}
	CHECK(dmarc_aligned("a.example.org", "b.example.org", false));
	CHECK(dmarc_aligned("example.org", "mail.example.org", false));
	CHECK(!dmarc_aligned("example.org", "mail.example.org", true));
	CHECK(dmarc_aligned("Example.org", "example.ORG", true));
	CHECK(!dmarc_aligned("a.co.uk", "b.co.uk", false));
	CHECK(!dmarc_aligned("a.github.io", "b.github.io", false));
	CHECK(!dmarc_aligned("example.org", "example.com", false));
	CHECK(!dmarc_aligned("example.org", "evilexample.org", false));
	CHECK_INT((long long)dmarc_names(&a, "a.b.example.co.uk", names), 2);
	CHECK_STR(names[0], "_dmarc.a.b.example.co.uk");
	CHECK_STR(names[1], "_dmarc.example.co.uk");
	CHECK_INT((long long)dmarc_names(&a, "example.org", names), 1);
	arena_free(&a);
}

TEST(mail_dmarc_judges)
{
	struct dkim_signature sig[2] = { { .domain = "list.example.net", .verdict = MAIL_PASS },
		{ .domain = "mail.example.org", .verdict = MAIL_PASS } };
	struct dkim_check both = { .at = sig, .count = 2 }, one = { .at = sig, .count = 1 };
	struct authres silent = { 0 },
		       good = { .found = true, .dmarc = MAIL_PASS, .dmarc_from = "example.org" },
		       bad = { .found = true, .dmarc = MAIL_FAIL };
	struct dmarc_record relaxed = { .policy = DMARC_REJECT },
			    strict = { .policy = DMARC_REJECT, .strict_dkim = true };
	const char *from = "example.org";

	CHECK_INT(dmarc_judge(from, NULL, &both, &silent), MAIL_PASS);
	CHECK_INT(dmarc_judge(from, &relaxed, &both, &silent), MAIL_PASS);
	CHECK_INT(dmarc_judge(from, &strict, &both, &silent), MAIL_NONE);
	test_step("somebody else's good signature proves nothing");
	CHECK_INT(dmarc_judge(from, &relaxed, &one, &silent), MAIL_NONE);
	CHECK_INT(dmarc_judge(from, &relaxed, &one, &good), MAIL_PASS);
	CHECK_INT(dmarc_judge(from, &relaxed, &one, &bad), MAIL_FAIL);
	sig[1].verdict = MAIL_FAIL;
	CHECK_INT(dmarc_judge(from, &relaxed, &both, &silent), MAIL_FAIL);
	CHECK_INT(dmarc_judge(from, NULL, &both, &silent), MAIL_NONE);
	CHECK_INT(dmarc_judge(from, &relaxed, &both, &good), MAIL_PASS);
	CHECK_STR(mail_verdict_name(MAIL_PASS), "pass");
}
