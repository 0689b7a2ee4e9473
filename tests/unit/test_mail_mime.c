/* test_mail_mime.c - messages of strangers through lodge-helper: what comes of them, every limit from both sides, and the
 * messages that are known to kill or to fatten parsers. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "helper/answer.h"
#include "mail/prescan.h"
#include "mail/reading.h"
#include "t.h"

enum { MAX = 25 << 20 };

static int reads(struct helper *h, struct arena *a, const char *text, struct mail_read *ret)
{
	return mail_read(h, a, text, strlen(text), MAX, ret);
}

TEST(mail_reads_a_letter)
{
	static const char text[] =
		"Return-Path: <jo@example.org>\r\nAuthentication-Results: mx.a; dmarc=pass\r\n"
		"From: =?utf-8?Q?J=C3=B6?= <jo@example.org>\r\n"
		"To: \"Q, R\" <q@example.com>, team: s@example.com, t@example.com;\r\n"
		"Cc: not an address, u@example.com\r\nReply-To: <v@example.org>\r\n"
		"Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n =?utf-8?B?IQ==?=\r\n"
		"Message-ID: <1@example.org>\r\nIn-Reply-To: <0@example.com> (x)\r\n"
		"References: <a@b> junk <c@d>\r\nX-Lodge-Hops: 2\r\nX-Other: unasked\r\n"
		"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n"
		"--m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n"
		"--a\r\nContent-Type: text/plain; charset=windows-1252\r\n"
		"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
		"Ja=80.\r\n\r\n> Nein?\r\n--a\r\nContent-Type: text/html\r\n\r\n"
		"<p>Ja<i hidden>HIDDEN</i></p>\r\n--a--\r\n"
		"--m\r\nContent-Type: image/png; name=\"../../etc/x.png\"\r\nContent-ID: <p@q>\r\n"
		"Content-Transfer-Encoding: base64\r\n\r\nAAEC\r\n"
		"--m\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nInner.\r\n"
		"--m\r\nContent-Type: text/plain\r\nContent-Disposition: attachment;\r\n"
		" filename*0*=utf-8''%e2%80%aegpj.; filename*1=exe\r\n\r\nx\r\n--m--\r\n";
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct mail_read r;

	CHECK_INT(reads(h, &a, text, &r), 0);
	CHECK_STR(r.from->name, "J\xc3\xb6");
	CHECK_STR(r.from->address.text, "jo@example.org");
	CHECK_INT((long long)r.to.count, 3);
	CHECK_STR(r.to.at[0].name, "Q, R");
	CHECK_STR(r.to.at[2].address.text, "t@example.com");
	CHECK_INT((long long)r.cc.count, 1);
	CHECK_STR(r.reply_to.at[0].address.text, "v@example.org");
	CHECK_STR(r.subject, "Gr\xc3\xbc\xc3\x9f"
			     "e!");
	CHECK_STR(r.message_id, "1@example.org");
	CHECK_STR(r.in_reply_to, "0@example.com");
	CHECK_INT((long long)r.reference_count, 2);
	CHECK_STR(r.references[1], "c@d");
	CHECK_STR(r.text, "Ja\xe2\x82\xac.\n\n> Nein?");
	CHECK_STR(r.extracted_text, "Ja\xe2\x82\xac.");
	CHECK_STR(r.preview, "Ja\xe2\x82\xac.");
	CHECK_STR(r.html_text, "Ja");
	CHECK_INT((long long)r.attachment_count, 3);
	CHECK_STR(r.attachments[0].name, "x.png");
	CHECK_STR(r.attachments[0].type, "image/png");
	CHECK_STR(r.attachments[0].content_id, "p@q");
	CHECK(r.attachments[0].len == 3 && memcmp(r.attachments[0].bytes, "\0\1\2", 3) == 0);
	CHECK_STR(r.attachments[1].name, "attachment-2.eml");
	CHECK(strstr(r.attachments[1].bytes, "Subject: inner"));
	CHECK_STR(r.attachments[2].name, "gpj.exe");
	CHECK_INT(mail_hops(r.headers, r.header_count), 2);
	for (size_t i = 0; i < r.header_count; i++)
		CHECK(strcmp(r.headers[i].name, "x-other") != 0);
	arena_free(&a);
	helper_free(h);
}

TEST(mail_reads_what_is_wrong)
{
	static const struct {
		const char *text, *want; /* the text, or the sentence after ! */
	} cases[] = {
		{ "Subject: x\n\nbare lines\n", "bare lines\n" },
		{ "Subject: x\r\n\r\n\xff\xfe caf\xe9\r\n", "\xc3\xbf\xc3\xbe caf\xc3\xa9\n" },
		{ "Content-Type: text/plain; charset=no-such\r\n\r\ncaf\xc3\xa9\r\n",
			"caf\xc3\xa9\n" },
		{ "Content-Type: text/plain; charset=utf-8\r\n\r\ncaf\xe9\r\n", "caf\xc3\xa9\n" },
		{ "Content-Type: text/plain; charset=koi8-r\r\n\r\n\xf0\r\n", "\xd0\x9f\n" },
		{ "Content-Type: text/plain; charset=shift_jis\r\n\r\n\x82\xa0\r\n",
			"\xe3\x81\x82\n" },
		{ "Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n\x1b$B$\"\x1b(B\r\n",
			"\xe3\x81\x82\n" },
		{ "Content-Type: text/plain; charset=gb18030\r\n\r\n\xc4\xe3\r\n",
			"\xe4\xbd\xa0\n" },
		{ "Content-Type: text/plain; charset=euc-kr\r\n\r\n\xb0\xa1\r\n",
			"\xea\xb0\x80\n" },
		{ "Content-Type: text/plain; charset=utf-7\r\n\r\n+AOk-\r\n", "\xc3\xa9\n" },
		{ "Content-Type: multipart/mixed\r\n\r\nno boundary\r\n", "" },
		{ "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nnever closed",
			"never closed" },
		{ "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!eA==\r\n",
			"x" },
		{ "Content-Type: text/html; charset=utf-8\r\n\r\n<b>x</b><p>y\r\n", "x\n\ny" },
		{ "Content-Type: nonsense\r\n\r\nx\r\n", "" },
		{ "Subject: a\x1b[2Jb\r\n\r\na\x1b[2J\x08\tb\r\n", "a[2J\tb\n" },
		{ "\r\n\r\n", "\n" },
	};
	struct helper *h = helper_new(NULL);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		struct mail_read r;
		int err;

		test_step("%zu: %s", i, cases[i].text);
		err = reads(h, &a, cases[i].text, &r);
		CHECK(err == 0 || (err == ERR_INVALID && r.fault));
		if (!err)
			CHECK_STR(r.text, cases[i].want);
		else
			test_fail(__FILE__, __LINE__, "%s", r.fault);
		arena_free(&a);
	}
	helper_free(h);
}

TEST(mail_mime_reads_encoded_words_that_follow_each_other)
{
	static const struct {
		const char *head, *subject;
	} cases[] = {
		{ "=?UTF-8?B?cXVvdGVk?= =?UTF-8?B?4oCd?=", "quoted\u201d" },
		{ "=?UTF-8?B?4oCccQ==?=\r\n =?utf-8?b?dQ==?=\r\n\t=?UTF-8?B?b3Rl?= d",
			"\u201cquote d" },
		{ "=?UTF-8?B?cQ==?= plain =?UTF-8?B?dQ==?=", "q plain u" },
		{ "=?ISO-8859-1?B?6Q==?= =?UTF-8?B?w6k=?=", "\u00e9\u00e9" },
		/* cut within a character, without padding */
		{ "=?UTF-8?B?YWLi?= =?UTF-8?B?gJ1j?=", "ab\u201dc" },
		{ "=?UTF-8?B?!!?= =?UTF-8?B?=", NULL },
		{ "=?UTF-8?B?cQ==", NULL },
	};
	struct helper *h = helper_new(NULL);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		struct mail_read r;

		test_step("%s", cases[i].head);
		CHECK_INT(reads(h, &a,
				  arena_printf(&a,
					  "Subject: %s\r\nFrom: %s <a@example.org>\r\n\r\n%s\r\n",
					  cases[i].head, cases[i].head, cases[i].head),
				  &r),
			0);
		if (cases[i].subject) {
			CHECK_STR(r.subject, cases[i].subject);
			CHECK(r.from && strcmp(r.from->name, cases[i].subject) == 0);
		}
		CHECK(strstr(r.text, "=?UTF-8?B?") || strstr(r.text, "=?ISO"));
		arena_free(&a);
	}
	helper_free(h);
}

TEST(mail_mime_reads_names_of_files_like_subjects)
{
	static const char words[] =
		"=?UTF-8?B?4oCccQ==?=\r\n =?utf-8?b?dQ==?= =?UTF-8?B?b3RlLnBkZg==?=";
	static const struct {
		const char *head, *name;
	} cases[] = {
		{ "Content-Type: a/b\r\nContent-Disposition: attachment; filename=\"%s\"",
			"\u201cquote.pdf" },
		{ "Content-Disposition: attachment\r\nContent-Type: a/b;\r\n name=\"%s\"",
			"\u201cquote.pdf" },
		{ "Content-Type: message/rfc822;\r\n name=\"%s\"", "\u201cquote.pdf" },
		{ "Content-Type: a/b; name=\"%s\"\r\nContent-Disposition: attachment; filename=x.y",
			"x.y" },
		{ "Content-Type: a/b; x=\"%s\"\r\nContent-Disposition: attachment;\r\n"
		  " filename*=UTF-8''%%e2%%82%%ac.y",
			"\u20ac.y" },
	};
	struct helper *h = helper_new(NULL);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		struct mail_read r;

		test_step("%s", cases[i].head);
		CHECK_INT(
			reads(h, &a,
				arena_printf(&a,
					"From: a@b.c\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
					"--b\r\n%s\r\n\r\nSubject: %s\r\n\r\n--b--\r\n",
					arena_printf(&a, cases[i].head, words), words),
				&r),
			0);
		CHECK_INT((long long)r.attachment_count, 1);
		CHECK_STR(r.attachments[0].name, cases[i].name);
		test_step("and what it holds is as it was");
		CHECK(memmem(r.attachments[0].bytes, r.attachments[0].len, "4oCccQ==", 8));
		arena_free(&a);
	}
	helper_free(h);
}

TEST(mail_trusts_no_two_senders)
{
	static const struct {
		const char *text;
		bool known;
	} cases[] = {
		{ "From: a@b.c\r\n\r\nx", true },
		{ "From: a@b.c, d@e.f\r\n\r\nx", false },
		{ "From: a@b.c\r\nFrom: d@e.f\r\n\r\nx", false },
		{ "From: nobody\r\n\r\nx", false },
		{ "Subject: x\r\n\r\nx", false },
		{ "From: a@b.c@d.e\r\n\r\nx", false },
		{ "From: a@b.c; d@e.f\r\n\r\nx", false },
		{ "From: a@b.c;\r\n\r\nx", false },
		{ "From: a@b.c d@e.f\r\n\r\nx", false },
		{ "From: a@b.c <d@e.f>\r\n\r\nx", false },
		{ "From: <a@b.c> d@e.f\r\n\r\nx", false },
		{ "From: <a@b.c> <d@e.f>\r\n\r\nx", false },
		{ "From: team: a@b.c;\r\n\r\nx", false },
		{ "From: a@b.c (d@e.f)\r\n\r\nx", false },
		{ "From: a(x)@b.c\r\n\r\nx", false },
		{ "From: a@b.c,\r\n\r\nx", false },
		{ "From: \"a@b.c\" <d@e.f>\r\n\r\nx", false },
		{ "From: =?utf-8?q?a=40b.c?= <d@e.f>\r\n\r\nx", false },
		{ "From: \"Jo, via a@b.c\" <d@e.f>\r\n\r\nx", false },
		{ "From: \"'D@e.f'\" <d@e.f>\r\n\r\nx", true },
		{ "From: \"Jo (a: b) @ work\" <d@e.f>\r\n\r\nx", true },
		{ "From: =?utf-8?q?J=C3=B6?=\r\n <d@e.f>\r\n\r\nx", true },
	};
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct mail_read r;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].text);
		CHECK_INT(reads(h, &a, cases[i].text, &r), 0);
		CHECK(!r.from == !cases[i].known);
	}
	CHECK_STR(r.from->address.text, "d@e.f");
	arena_free(&a);
	helper_free(h);
}

TEST(mail_reads_delivery_status)
{
	static const char text[] =
		"From: MAILER-DAEMON@x.y\r\nContent-Type: multipart/report; boundary=r;\r\n"
		" report-type=delivery-status\r\n\r\n--r\r\n\r\nSorry.\r\n--r\r\n"
		"Content-Type: message/delivery-status\r\n\r\n"
		"Reporting-MTA: dns; mx.x.y\r\nArrival-Date: now\r\n\r\n"
		"Final-Recipient: rfc822; a@b.c\r\nAction: failed\r\nStatus: 5.1.1\r\n"
		"Diagnostic-Code: smtp; 550 no\r\n such user\r\n\r\n"
		"Original-Recipient: rfc822;d@e.f\r\nAction: delayed\r\nStatus: 4.2.2\r\n"
		"--r\r\nContent-Type: message/rfc822\r\n\r\nSubject: mine\r\n\r\n--r--\r\n";
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct mail_read r;

	CHECK_INT(reads(h, &a, text, &r), 0);
	CHECK_STR(r.text, "Sorry.");
	CHECK_INT((long long)r.delivery_count, 2);
	CHECK_STR(r.deliveries[0].recipient, "a@b.c");
	CHECK_STR(r.deliveries[0].action, "failed");
	CHECK_STR(r.deliveries[0].status, "5.1.1");
	CHECK_STR(r.deliveries[0].diagnostic, "550 no such user");
	CHECK_STR(r.deliveries[1].recipient, "d@e.f");
	CHECK_INT((long long)r.attachment_count, 1);
	arena_free(&a);
	helper_free(h);
}

/* ---- answers of a helper that somebody has taken over ---- */

struct written {
	struct answer_source source;
	struct buf bytes;
	size_t read;
};

static bool pull_written(struct answer_source *s, void *into, size_t len)
{
	struct written *w = (struct written *)(void *)s;

	if (len > w->bytes.len - w->read)
		return false;
	if (len)
		memcpy(into, w->bytes.at + w->read, len);
	w->read += len;
	return true;
}

static void put_record(struct buf *b, uint32_t kind, const char *name, size_t name_len,
	const char *bytes, size_t len)
{
	struct helper_record r = { .kind = kind, .name_len = (uint32_t)name_len, .len = len };

	buf_put(b, &r, sizeof r);
	buf_put(b, name, name_len);
	buf_put(b, bytes, len);
}

#define TEXT(literal) (literal), sizeof(literal) - 1

TEST(mail_answers_are_not_believed)
{
	static const struct {
		uint32_t kind;
		const char *name;
		size_t name_len;
		const char *bytes;
		size_t len;
		enum answer want;
	} cases[] = {
		{ RECORD_FIELD, TEXT("subject"), TEXT("x"), ANSWER_WHOLE },
		{ RECORD_FIELD, TEXT("Subject"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_FIELD, TEXT(""), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_FIELD, TEXT("a\0b"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_FIELD, TEXT("subject"), TEXT("x\r\ny"), ANSWER_NONSENSE },
		{ RECORD_FIELD, TEXT("subject"), TEXT("\xff"), ANSWER_NONSENSE },
		{ RECORD_FIELD, TEXT("subject"), TEXT("x\0y"), ANSWER_NONSENSE },
		{ RECORD_PERSON, TEXT("from"), TEXT("a@b\0Jo"), ANSWER_WHOLE },
		{ RECORD_PERSON, TEXT("from"), TEXT("a@b"), ANSWER_NONSENSE },
		{ RECORD_PERSON, TEXT("bcc"), TEXT("a@b\0Jo"), ANSWER_NONSENSE },
		{ RECORD_PERSON, TEXT("from"), TEXT("a@b\0J\no"), ANSWER_NONSENSE },
		{ RECORD_PERSON, TEXT("from"), TEXT("a@b\0J\0o"), ANSWER_NONSENSE },
		{ RECORD_TEXT, TEXT("plain"), TEXT("a\n\tb"), ANSWER_WHOLE },
		{ RECORD_TEXT, TEXT("rich"), TEXT("a"), ANSWER_NONSENSE },
		{ RECORD_TEXT, TEXT("html"), TEXT("a\r"), ANSWER_NONSENSE },
		{ RECORD_ATTACHED, TEXT("a.txt\0text/plain\0id"), TEXT("\0\xff"), ANSWER_WHOLE },
		{ RECORD_ATTACHED, TEXT("../a\0text/plain\0"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_ATTACHED, TEXT("a/b\0text/plain\0"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_ATTACHED, TEXT("a\0text/plain"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_ATTACHED, TEXT("a"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_ATTACHED, TEXT("a\0b\0c\0d"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_ATTACHED, TEXT("a\0b\nc\0"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_STATUS, TEXT("action"), TEXT("failed"), ANSWER_WHOLE },
		{ RECORD_FILE, TEXT("a"), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_TREE, TEXT(""), TEXT("{}"), ANSWER_NONSENSE },
		{ RECORD_END, TEXT(""), TEXT("x"), ANSWER_NONSENSE },
		{ RECORD_FAULT, TEXT(""), TEXT("A sentence."), ANSWER_FAULT },
	};
	struct written w = { .source.pull = pull_written };
	struct helper_mail m;

	buf_init(&w.bytes, 1 << 20);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };

		test_step("%zu", i);
		w.read = 0;
		buf_clear(&w.bytes);
		put_record(&w.bytes, cases[i].kind, cases[i].name, cases[i].name_len,
			cases[i].bytes, cases[i].len);
		put_record(&w.bytes, RECORD_END, TEXT(""), TEXT(""));
		CHECK_INT(answer_mail(&w.source, &a, &m), cases[i].want);
		arena_free(&a);
	}
	test_step("a text twice, too many of a thing, lengths that are none, no end");
	for (int what = 0; what < 4; what++) {
		struct helper_record r = {
			.kind = RECORD_ATTACHED, .name_len = 4, .len = UINT64_MAX
		};
		struct arena a = { 0 };

		w.read = 0;
		buf_clear(&w.bytes);
		for (int i = 0; i < 51 && what < 2; i++)
			put_record(&w.bytes, what ? RECORD_TEXT : RECORD_ATTACHED,
				what ? "html" : "a\0b\0", 4, "x", 1);
		if (what == 2)
			buf_put(&w.bytes, &r, sizeof r);
		if (what < 3)
			put_record(&w.bytes, RECORD_END, TEXT(""), TEXT(""));
		CHECK_INT(answer_mail(&w.source, &a, &m), what < 3 ? ANSWER_NONSENSE : ANSWER_CUT);
		arena_free(&a);
	}
	buf_free(&w.bytes);
}

/* ---- limits and bombs ---- */

static void put_times(struct buf *b, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_puts(b, text);
}

static void put_nested(struct buf *b, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		buf_printf(
			b, "Content-Type: multipart/mixed; boundary=b%zu\r\n\r\n--b%zu\r\n", i, i);
	buf_puts(b, "\r\nx\r\n");
}

/* What the helper says without the look before it: a sentence, "" for nothing; the next message is read all the same. */
static const char *helped(struct helper *h, struct arena *a, const struct buf *b)
{
	struct helper_mail m;
	int err = helper_mime(h, a, b->at, b->len, &m);
	const char *fault = err ? m.fault : "";

	CHECK(err == 0 || (err == ERR_INVALID && fault && *fault));
	CHECK_INT(helper_mime(h, a, "a: b\n\nx", 7, &m), 0);
	return fault;
}

TEST(mail_helper_has_bounds)
{
	static const struct {
		const char *head, *piece;
		size_t most;
		const char *tail, *fault;
	} cases[] = {
		{ "Content-Type: multipart/mixed; boundary=b\n\n", "--b\n\nx\n", 499, "--b--\n",
			"The message has too many parts." },
		{ "Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Type: a/b\n\nx\n",
			50, "--b--\n", "The message has too many attachments." },
		{ "To: ", "a@b.c,", 1000, "\n\nx", "The message has too many addresses." },
		{ "", "Subject: x\n", 1000, "\nx", "The message has too many headers." },
		{ "References: ", "<a@b> ", 10922, "\n\nx", "The header references is too long." },
	};
	struct helper *h = helper_new(NULL);
	struct buf b;

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t more = 0; more < 2; more++) {
			struct arena a = { 0 };

			test_step("%zu %s", i, more ? "and one more" : "");
			buf_clear(&b);
			buf_puts(&b, cases[i].head);
			put_times(&b, cases[i].piece, cases[i].most + more);
			buf_puts(&b, cases[i].tail);
			CHECK_STR(helped(h, &a, &b), more ? cases[i].fault : "");
			arena_free(&a);
		}
	for (size_t more = 0; more < 2; more++) {
		struct arena a = { 0 };

		test_step("depth %s", more ? "and one more" : "");
		buf_clear(&b);
		put_nested(&b, 31 + more);
		CHECK_STR(
			helped(h, &a, &b), more ? "The parts of the message nest too deeply." : "");
		arena_free(&a);
	}
	buf_free(&b);
	helper_free(h);
}

/* A text that is longer than is read is an attachment; nothing of it is lost. */
TEST(mail_helper_attaches_long_texts)
{
	struct helper *h = helper_new(NULL);
	struct arena a = { 0 };
	struct helper_mail m;
	struct buf b;

	buf_init(&b, 4 << 20);
	buf_puts(&b, "Subject: x\n\n");
	put_times(&b, "12345678\n", (2 << 20) / 9 + 1);
	CHECK_INT(helper_mime(h, &a, b.at, b.len, &m), 0);
	CHECK(!m.plain);
	CHECK_INT((long long)m.part_count, 1);
	CHECK_STR(m.parts[0].name, "attachment-1.txt");
	CHECK_INT((long long)m.parts[0].len, (long long)b.len - 12);
	buf_free(&b);
	arena_free(&a);
	helper_free(h);
}

static const struct {
	const char *name, *head, *piece;
	size_t times;
} bombs[] = {
	{ "brackets in To", "To: ", "(", 200000 },
	{ "groups in To", "To: ", "g:", 100000 },
	{ "quotes in To", "To: ", "\"a", 100000 },
	{ "200,000 parts", "Content-Type: multipart/mixed; boundary=b\n\n", "--b\n\nx\n", 200000 },
	{ "500,000 headers", "", "X: yyyyyyyy\n", 500000 },
	{ "nested messages", "", "Content-Type: message/rfc822\n\n", 100000 },
	{ "groups inside", "Content-Type: message/rfc822\n\nTo: ", "g:", 200000 },
	{ "parameters", "Content-Type: text/plain", "; a*0=b", 30000 },
	{ "encoded words", "Subject: ", "=?utf-8?Q?=41?= ", 16000 },
	{ "one line", "Subject: x\n\n", "0123456789", 1000000 },
	{ "uuencoded", "Content-Transfer-Encoding: x-uuencode\n\n", "begin 644 x\n", 200000 },
};

/* Through the look before it, as mail comes: refused in words or read. */
TEST(mail_bombs_are_refused)
{
	struct helper *h = helper_new(NULL);
	struct buf b;

	buf_init(&b, 32 << 20);
	for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
		struct arena a = { 0 };
		struct mail_read r;
		int err;

		test_step("%s", bombs[i].name);
		buf_clear(&b);
		buf_puts(&b, bombs[i].head);
		put_times(&b, bombs[i].piece, bombs[i].times);
		buf_puts(&b, "\n\nx\n");
		err = mail_read(h, &a, b.at, b.len, MAX, &r);
		CHECK(err == 0 || (err == ERR_INVALID && r.fault));
		if (err && strstr(r.fault, "broke down"))
			test_fail(__FILE__, __LINE__, "the look before let it through");
		arena_free(&a);
	}
	buf_free(&b);
	helper_free(h);
}

/* Past it: the helper may die, and nobody else does. */
TEST(mail_bombs_kill_nobody_else)
{
	struct helper *h = helper_new(NULL);
	struct buf b;

	buf_init(&b, 32 << 20);
	for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
		struct arena a = { 0 };

		test_step("%s", bombs[i].name);
		buf_clear(&b);
		buf_puts(&b, bombs[i].head);
		put_times(&b, bombs[i].piece, bombs[i].times);
		buf_puts(&b, "\n\nx\n");
		helped(h, &a, &b);
		arena_free(&a);
	}
	test_step("10,000 nested multiparts");
	buf_clear(&b);
	put_nested(&b, 10000);
	{
		struct arena a = { 0 };

		helped(h, &a, &b);
		arena_free(&a);
	}
	buf_free(&b);
	helper_free(h);
}
