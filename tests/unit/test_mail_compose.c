/* test_mail_compose.c - messages that go out: their bytes, what no field can do to them, and that our own reader reads them. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "mail/compose.h"
#include "mail/prescan.h"
#include "mail/reading.h"
#include "t.h"

struct sink {
	struct compose_sink sink;
	struct buf bytes;
};

static bool put(struct compose_sink *s, const void *bytes, size_t len)
{
	struct sink *to = (struct sink *)(void *)s;

	buf_put(&to->bytes, bytes, len);
	return !to->bytes.overflow;
}

/* Bytes in odd pieces. */
struct source {
	struct compose_source source;
	const char *at;
	size_t len;
	bool broken;
};

static long pull(struct compose_source *s, void *into, size_t room)
{
	struct source *from = (struct source *)(void *)s;
	size_t n = from->len < 777 ? from->len : 777;

	if (from->broken && from->len < 2000)
		return -1;
	n = n < room ? n : room;
	memcpy(into, from->at, n);
	from->at += n;
	from->len -= n;
	return (long)n;
}

static struct mail_person person(const char *name, const char *address)
{
	struct mail_person p = { .name = name };
	const char *fault;

	CHECK(mail_address_parse(address, strlen(address), &p.address, &fault));
	return p;
}

static struct compose_message plain(struct mail_person *to)
{
	*to = person("", "q@example.com");
	return (struct compose_message){ .from = person("Jo", "jo@example.org"),
		.to = { to, 1 },
		.subject = "Hello",
		.text = "Hi.\n",
		.message_id = "c1@example.org",
		.date_us = INT64_C(1795000000) * 1000000,
		.boundary = "c1" };
}

/* CR LF at every line's end and nowhere else, seven bits, at most 998 bytes a line. */
static void check_wire(const struct buf *b)
{
	size_t line = 0;

	CHECK(b->len > 2 && memcmp(b->at + b->len - 2, "\r\n", 2) == 0);
	for (size_t i = 0; i < b->len; i++) {
		char c = b->at[i];

		if ((c == '\n') != (i && b->at[i - 1] == '\r'))
			test_fail(__FILE__, __LINE__, "a bare end of a line at %zu", i);
		if ((unsigned char)c >= 0x7f || ((unsigned char)c < ' ' && !strchr("\r\n\t", c)))
			test_fail(__FILE__, __LINE__, "byte %d at %zu", c, i);
		line = c == '\n' ? 0 : line + 1;
		if (line > 999)
			test_fail(__FILE__, __LINE__, "a line of more than 998 bytes");
	}
}

/* Written, looked at, and read by the helper. */
static void read_back(
	struct arena *a, struct sink *s, const struct compose_message *m, struct mail_read *ret)
{
	struct helper *h = helper_new(NULL);
	const char *fault;

	buf_clear(&s->bytes);
	CHECK_INT(mail_compose(m, &s->sink, &fault), 0);
	check_wire(&s->bytes);
	CHECK_INT(mail_read(h, a, s->bytes.at, s->bytes.len, PRESCAN_BYTES_MAX, ret), 0);
	helper_free(h);
}

TEST(mail_composes_what_it_can_read)
{
	static const char *const subjects[] = { "Hello", "",
		"Gr\xc3\xbc\xc3\x9f"
		"e aus K\xc3\xb6ln",
		"x\r\nBcc: evil@x.y", "=?utf-8?B?x?=", "  two  blanks  ", "a\tb",
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
		"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
		"a long one of many plain words that must be folded somewhere because it has far "
		"more than seventy-eight bytes in all" };
	static const char *const want[] = { "Hello", "",
		"Gr\xc3\xbc\xc3\x9f"
		"e aus K\xc3\xb6ln",
		"x Bcc: evil@x.y", "=?utf-8?B?x?=", "two  blanks", "a b", NULL, NULL };
	static const char *const names[] = { "Jo", "Jo Q.", "Q, R \"S\" \\", "J\xc3\xb6",
		"a\r\nBcc: evil@x.y", "=?x?=", "a <b@c.d>,", "" };
	struct sink s = { .sink.put = put };
	struct mail_person to;
	struct compose_message m = plain(&to);
	struct arena a = { 0 };
	struct mail_read r;

	buf_init(&s.bytes, 8 << 20);
	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
		test_step("subject %zu", i);
		m.subject = subjects[i];
		read_back(&a, &s, &m, &r);
		CHECK_STR(r.subject, want[i] ? want[i] : subjects[i]);
		CHECK(!strstr(buf_text(&s.bytes), "\r\nBcc:"));
	}
	m.subject = "x";
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		test_step("name %zu", i);
		to.name = names[i];
		read_back(&a, &s, &m, &r);
		CHECK_INT((long long)r.to.count, 1);
		CHECK_STR(r.to.at[0].address.text, "q@example.com");
		CHECK_STR(r.to.at[0].name, strchr(names[i], '\r') ? "a Bcc: evil@x.y" : names[i]);
		CHECK(!strstr(buf_text(&s.bytes), "\r\nBcc:"));
	}
	CHECK_STR(r.from->name, "Jo");
	CHECK_STR(r.message_id, "c1@example.org");
	CHECK(strstr(buf_text(&s.bytes), "\r\nDate: Wed, 18 Nov 2026 11:06:40 +0000\r\n"));
	buf_free(&s.bytes);
	arena_free(&a);
}

TEST(mail_composes_bodies_and_attachments)
{
	static const char *const texts[] = { "", "Hi.\n", "From me\n.dot\nblank \n=3D\n",
		"Gr\xc3\xbc\xc3\x9f"
		"e\r\nzwei\rdrei",
		"\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82\n",
		"a line that is far longer than seventy-six bytes and so must be broken softly, "
		"somewhere, without anybody who reads it seeing that\n" };
	static const char *const want[] = { "", "Hi.\n", "From me\n.dot\nblank \n=3D\n",
		"Gr\xc3\xbc\xc3\x9f"
		"e\nzwei\ndrei",
		"\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82\n", NULL };
	char *big = malloc(100000);
	struct source one = { { pull }, big, 100000, false }, none = { { pull }, big, 0, false },
		      cut = { { pull }, big, 100000, true };
	struct compose_attachment files[] = {
		{ "r\xc3\xa9sum\xc3\xa9 with a name that is far longer than any line of a header may be.pdf",
			"application/pdf", &one.source },
		{ "empty.txt\"; x=\"y", "no type\r\nX: y", &none.source }
	};
	static const char *const refs[] = { "a@b", "c@d" };
	struct sink s = { .sink.put = put };
	struct mail_person to;
	struct compose_message m = plain(&to);
	struct arena a = { 0 };
	struct mail_read r;
	const char *fault;

	for (size_t i = 0; i < 100000; i++)
		big[i] = (char)(i * 7 + i / 256);
	buf_init(&s.bytes, 8 << 20);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		test_step("text %zu", i);
		m.text = texts[i];
		m.html = i % 2 ? "<p>x</p>" : NULL;
		read_back(&a, &s, &m, &r);
		CHECK_STR(r.text, want[i] ? want[i] : texts[i]);
		CHECK(!m.html == !r.html_text);
	}
	test_step("attachments");
	m.text = "See.";
	m.attachments = files;
	m.attachment_count = 2;
	m.in_reply_to = "a@b";
	m.references = refs;
	m.reference_count = 2;
	m.origin = COMPOSE_AUTO_REPLIED;
	m.hops = 3;
	read_back(&a, &s, &m, &r);
	CHECK_INT((long long)r.attachment_count, 2);
	CHECK_STR(r.attachments[0].name, files[0].filename);
	CHECK_STR(r.attachments[0].type, "application/pdf");
	CHECK_INT((long long)r.attachments[0].len, 100000);
	CHECK(memcmp(r.attachments[0].bytes, big, 100000) == 0);
	CHECK_STR(r.attachments[1].name, "empty.txt_; x=_y");
	CHECK_STR(r.attachments[1].type, "application/octet-stream");
	CHECK_INT((long long)r.attachments[1].len, 0);
	CHECK_STR(r.in_reply_to, "a@b");
	CHECK_INT((long long)r.reference_count, 2);
	CHECK_STR(r.references[1], "c@d");
	CHECK_INT(mail_hops(r.headers, r.header_count), 3);
	CHECK(mail_wake_bar(&(struct mail_waking){ .headers = r.headers,
		.count = r.header_count,
		.return_path = "a@b.c",
		.from = "a@b.c" }));
	test_step("an attachment that cannot be had, a sink that is full");
	files[0].bytes = &cut.source;
	buf_clear(&s.bytes);
	CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_UPSTREAM);
	m.attachment_count = 0;
	buf_free(&s.bytes);
	buf_init(&s.bytes, 100);
	CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_UPSTREAM);
	buf_free(&s.bytes);
	free(big);
	arena_free(&a);
}

TEST(mail_composes_nothing_that_is_wrong)
{
	static const char *const ids[] = { "a", "a@", "@b", "a@b>", "a b@c", "a@b\r\nX: y", "<a@b>",
		"a@b@c", "" };
	struct sink s = { .sink.put = put };
	struct mail_person to;
	struct compose_message m = plain(&to);
	const char *fault, *bad[] = { "a@b\r\n" };

	buf_init(&s.bytes, 1 << 20);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		test_step("%s", ids[i]);
		m = plain(&to);
		m.message_id = ids[i];
		CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_INVALID);
		m = plain(&to);
		m.in_reply_to = ids[i];
		CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_INVALID);
	}
	m = plain(&to);
	m.references = bad;
	m.reference_count = 1;
	CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_INVALID);
	m = plain(&to);
	m.boundary = "x\"y";
	CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_INVALID);
	m = plain(&to);
	m.to.count = 0;
	CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_INVALID);
	m = plain(&to);
	m.subject = "\xff";
	CHECK_INT(mail_compose(&m, &s.sink, &fault), ERR_INVALID);
	CHECK_INT((long long)s.bytes.len, 0);
	buf_free(&s.bytes);
}
