/* test_mail_dkim.c - signatures of domains: the published examples, our own both ways, and every one that must not count. */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/buf.h"
#include "mail/dkim.h"
#include "mail/replay.h"
#include "mailboxes/mail_dkim.h"
#include "t.h"

/* The message, signatures and keys of RFC 8463, appendix A. */
#define RFC_SIGNATURES                                                    \
	"DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;\r\n"   \
	" d=football.example.com; i=@football.example.com;\r\n"           \
	" q=dns/txt; s=brisbane; t=1528637909; h=from : to :\r\n"         \
	" subject : date : message-id : from : subject : date;\r\n"       \
	" bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;\r\n"           \
	" b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus\r\n" \
	" Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==\r\n"                           \
	"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\r\n"       \
	" d=football.example.com; i=@football.example.com;\r\n"           \
	" q=dns/txt; s=test; t=1528637909; h=from : to : subject :\r\n"   \
	" date : message-id : from : subject : date;\r\n"                 \
	" bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;\r\n"           \
	" b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3\r\n" \
	" DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz\r\n" \
	" dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=\r\n"
#define RFC_MESSAGE                                                        \
	"From: Joe SixPack <joe@football.example.com>\r\n"                 \
	"To: Suzie Q <suzie@shopping.example.net>\r\n"                     \
	"Subject: Is dinner ready?\r\n"                                    \
	"Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\n"                  \
	"Message-ID: <20030712040037.46341.5F8J@football.example.com>\r\n" \
	"\r\nHi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n"
static const char rfc_ed25519[] =
	"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
static const char rfc_rsa[] =
	"v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhd"
	"R6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5"
	"QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB";

enum { NOW = 1795000000 };

static void check(struct arena *a, const char *message, struct dkim_check *ret, const char *record)
{
	dkim_check_begin(a, message, strlen(message), NOW, ret);
	for (size_t i = 0; i < ret->count; i++)
		dkim_check_key(a, ret, i, record);
}

TEST(mail_dkim_checks_the_published_examples)
{
	static const char whole[] = RFC_SIGNATURES RFC_MESSAGE;
	struct arena a = { 0 };
	struct dkim_check c;

	dkim_check_begin(&a, whole, strlen(whole), NOW, &c);
	CHECK_INT((long long)c.count, 2);
	CHECK_STR(c.at[0].key_name, "brisbane._domainkey.football.example.com");
	CHECK_STR(c.at[1].key_name, "test._domainkey.football.example.com");
	dkim_check_key(&a, &c, 0, rfc_ed25519);
	dkim_check_key(&a, &c, 1, rfc_rsa);
	CHECK_INT(c.at[0].verdict, MAIL_PASS);
	CHECK_INT(c.at[1].verdict, MAIL_PASS);
	test_step("the keys changed places, no key, a key that was withdrawn");
	dkim_check_begin(&a, whole, strlen(whole), NOW, &c);
	dkim_check_key(&a, &c, 0, rfc_rsa);
	dkim_check_key(&a, &c, 1, NULL);
	CHECK_INT(c.at[0].verdict, MAIL_FAIL);
	CHECK_INT(c.at[1].verdict, MAIL_NONE);
	CHECK_STR(c.at[1].fault, "The key is not in the DNS.");
	check(&a, whole, &c, "v=DKIM1; p=");
	CHECK_STR(c.at[0].fault, "The key was withdrawn.");
	test_step("a key for tests proves nothing, and disproves nothing");
	for (int i = 0; i < 2; i++) {
		check(&a, whole, &c,
			arena_printf(&a, "%s; %s", rfc_ed25519, i ? "t = y" : "t=s:Y"));
		CHECK_INT(c.at[0].verdict, MAIL_NONE);
		CHECK_STR(c.at[0].fault, "The key is there for tests alone.");
	}
	check(&a, whole, &c, arena_printf(&a, "%s; t=s", rfc_ed25519));
	CHECK_INT(c.at[0].verdict, MAIL_PASS);
	arena_free(&a);
}

TEST(mail_dkim_proves_only_what_it_covers)
{
	static const struct mail_header read[] = { { "from", "" }, { "to", "" }, { "subject", "" },
		{ "date", "" }, { "message-id", "" }, { "cc", "" }, { "to", "" } };
	static const struct {
		const char *above;
		size_t headers; /* that the parser has found, of those above */
		int64_t now;
		const char *doubt;
	} cases[] = {
		{ "", 5, 1528637909, NULL },
		{ "Cc: desk@x.y\r\n", 6, 1528637909, "does not cover" },
		{ "Cc: desk@x.y\r\nTo: desk@x.y\r\n", 7, 1528637909, "does not cover" },
		{ "", 6, 1528637909, "does not cover" }, /* one that we do not see */
		{ "", 5, 1528637909 + 6 * 86400, "more than 5 days" },
		{ "", 5, 1528637909 - 2 * 86400, "future" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mail_read m = { .headers = read, .header_count = cases[i].headers };
		struct dkim_check c;
		const char *said;

		test_step("%zu", i);
		check(&a, arena_printf(&a, "%s" RFC_SIGNATURES RFC_MESSAGE, cases[i].above), &c,
			rfc_ed25519);
		CHECK_INT(c.at[0].verdict, MAIL_PASS);
		said = replay_doubt_signature(&c, 0, &m, cases[i].now);
		CHECK(cases[i].doubt ? said && strstr(said, cases[i].doubt) : !said);
	}
	arena_free(&a);
}

TEST(mail_dkim_sees_every_changed_byte)
{
	char whole[] = RFC_SIGNATURES RFC_MESSAGE;
	size_t from = strlen(RFC_SIGNATURES);
	struct arena a = { 0 };
	struct dkim_check c;

	for (size_t i = from; i < strlen(whole); i++) {
		char was = whole[i];

		if (strchr(" \r\n", was) || (was | 0x20) < 'a' || (was | 0x20) > 'z')
			continue;
		whole[i] = was == 'x' ? 'y' : 'x';
		/* names of headers, whose loss is one too */
		check(&a, whole, &c, rfc_ed25519);
		if (c.at[0].verdict != MAIL_FAIL)
			test_fail(__FILE__, __LINE__, "byte %zu", i);
		whole[i] = was;
	}
	check(&a, RFC_SIGNATURES "From: evil@x.y\r\n" RFC_MESSAGE, &c, rfc_ed25519);
	CHECK_INT(c.at[0].verdict, MAIL_FAIL); /* From is named once more than it was there */
	check(&a, RFC_SIGNATURES RFC_MESSAGE "\r\n\r\n", &c, rfc_ed25519);
	CHECK_INT(c.at[0].verdict, MAIL_PASS); /* empty lines at the end are nothing */
	check(&a, RFC_SIGNATURES RFC_MESSAGE "x\r\n", &c, rfc_ed25519);
	CHECK_STR(c.at[0].fault, "The body was changed after it was signed.");
	arena_free(&a);
}

TEST(mail_dkim_counts_only_what_proves_something)
{
	static const struct {
		const char *tags, *fault;
	} cases[] = {
		{ "v=1; a=rsa-sha1; d=x.y; s=s; h=from; bh=BH; b=eA==",
			"The signature is of a kind that does not count." },
		{ "v=1; a=rsa-sha256; d=x.y; s=s; h=from; l=0; bh=BH; b=eA==",
			"The signature covers only a part of the body." },
		{ "v=1; a=rsa-sha256; d=x.y; s=s; h=to:subject; bh=BH; b=eA==",
			"The signature does not cover From." },
		{ "v=1; a=rsa-sha256; d=x.y; s=s; h=from; x=1794999999; bh=BH; b=eA==",
			"The signature has ended." },
		{ "v=2; a=rsa-sha256; d=x.y; s=s; h=from; bh=BH; b=eA==",
			"The signature is not complete." },
		{ "v=1; a=rsa-sha256; s=s; h=from; bh=BH; b=eA==",
			"The signature is not complete." },
		{ "v=1; a=rsa-sha256; d=x y; s=s; h=from; bh=BH; b=eA==",
			"The signature is not complete." },
		{ "v=1; a=rsa-sha256; d=x.y; d=z.y; s=s; h=from; bh=BH; b=eA==",
			"The signature says something twice." },
		{ "v=1; a=rsa-sha256; d=x.y; i=jo@z.y; s=s; h=from; bh=BH; b=eA==",
			"The signature is not well formed." },
		{ "v=1; a=rsa-sha256; d=x.y; s=s; h=from; bh=BH; b=*",
			"The signature is not well formed." },
		{ "v=1; a=rsa-sha256; d=x.y; s=s; c=odd; h=from; bh=BH; b=eA==",
			"The signature is not well formed." },
		{ "v=1; a=rsa-sha256; d=x.y; s=s; c=relaxed/relaxed; h=from; "
		  "bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=; b=eA==",
			"The body was changed after it was signed." },
		{ "", "The signature is not complete." },
	};
	struct arena a = { 0 };
	struct dkim_check c;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *bh = strstr(cases[i].tags, "bh=BH"), *text = cases[i].tags;

		test_step("%s", cases[i].tags);
		if (bh)
			text = arena_printf(&a, "%.*sbh=%s%s", (int)(bh - text), text,
				"2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=", bh + 5);
		check(&a,
			arena_printf(&a, "DKIM-Signature: %s\r\nFrom: a@x.y\r\n\r\nbody\r\n", text),
			&c, rfc_rsa);
		CHECK_INT((long long)c.count, 1);
		CHECK(c.at[0].verdict != MAIL_PASS);
		CHECK_STR(c.at[0].fault, cases[i].fault);
	}
	arena_free(&a);
}

static struct dkim_key *make_key(struct arena *a, bool ed25519, int bits)
{
	EVP_PKEY *pkey =
		ed25519 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519") : EVP_RSA_gen((unsigned)bits);
	BIO *bio = BIO_new(BIO_s_mem());
	const char *fault;
	struct dkim_key *k;
	char *pem;
	long len;

	(void)a;
	PEM_write_bio_PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL);
	len = BIO_get_mem_data(bio, &pem);
	k = dkim_key_read(pem, (size_t)len, &fault);
	BIO_free(bio);
	EVP_PKEY_free(pkey);
	return k;
}

TEST(mail_dkim_signs_what_it_checks)
{
	static const char *const bodies[] = { "", "\r\n", "Hi.\r\n", "no end",
		" \t\r\n\r\nx  y \r\n\r\n" };
	struct arena a = { 0 };
	const char *fault;

	for (int ed25519 = 0; ed25519 < 2; ed25519++) {
		struct dkim_key *k = make_key(&a, ed25519, 2048);
		const char *record = dkim_key_record(&a, k);

		for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
			const char *head = "From: Jo <jo@x.y>\r\nTo: a@b.c,\r\n\td@e.f\r\n"
					   "Subject:   a  b \r\nDate: now\r\n\r\n";
			const char *message = arena_printf(&a, "%s%s", head, bodies[i]), *field;
			struct dkim_check c;

			test_step("%d %zu", ed25519, i);
			field = dkim_sign(&a, k, "x.y", "s1", NOW, message, strlen(message));
			CHECK(field != NULL);
			for (const char *p = field; p && *p; p = strstr(p, "\r\n") + 2)
				CHECK(strcspn(p, "\r") <= 160);
			check(&a, arena_printf(&a, "%s%s", field, message), &c, record);
			CHECK_INT((long long)c.count, 1);
			CHECK_INT(c.at[0].verdict, MAIL_PASS);
			CHECK_STR(c.at[0].key_name, "s1._domainkey.x.y");
			test_step("a header that is named and was not there");
			check(&a, arena_printf(&a, "%sReply-To: evil@x.y\r\n%s", field, message),
				&c, record);
			CHECK_INT(c.at[0].verdict, MAIL_FAIL);
		}
		dkim_key_free(k);
	}
	CHECK(!dkim_key_read("nonsense", 8, &fault));
	CHECK_STR(fault, "This is no private key in PEM.");
	CHECK(!make_key(&a, false, 512));
	arena_free(&a);
}

TEST(mail_dkim_records_are_the_same_by_their_key)
{
	static const struct {
		const char *text;
		bool same;
	} cases[] = {
		{ "v=DKIM1; k=rsa; p=QUJD", true },
		{ "v=DKIM1;p=QUJD", true },
		{ "p = QU JD ; t=s", true },
		{ "v=DKIM1; k=rsa; n=p=X; p=QUJD;", true },
		{ "v=DKIM1; k=rsa; p=QUJE", false },
		{ "v=DKIM1; k=rsa; p=QUJ", false },
		{ "v=DKIM1; k=rsa; p=QUJDA", false },
		{ "v=DKIM1; k=rsa; p=", false },
		{ "v=DKIM1; k=rsa", false },
		{ "QUJD", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].text);
		CHECK_INT(mail_dkim_same(cases[i].text, "v=DKIM1; k=rsa; p=QUJD"), cases[i].same);
	}
}
