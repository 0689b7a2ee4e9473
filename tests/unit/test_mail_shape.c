/* test_mail_shape.c - bodies that a signature covers, under headers that it leaves open. */
#include "base/buf.h"
#include "mail/shape.h"
#include "t.h"

#define TEXT "Hi.\r\n\r\nPay Eve.\r\n"
#define PART "--b\r\nContent-Type: text/plain\r\n\r\nPay Eve.\r\n"
#define QUOTING "I do not.\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nPay Eve.\r\n--b--\r\n"
#define OPEN "from:to"
#define TYPE OPEN ":content-type"
#define BOTH TYPE ":content-transfer-encoding"

static const char *doubt(struct arena *a, const char *names, const char *head, const char *body)
{
	const char *letter = arena_printf(a,
		"DKIM-Signature: v=1; a=rsa-sha256; d=x.y; s=s; h=%s; b=eA==;\r\n"
		" bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=\r\nFrom: a@x.y\r\n%s\r\n%s",
		names, head, body);
	struct dkim_check c;

	dkim_check_begin(a, letter, strlen(letter), 1795000000, &c);
	CHECK_INT((long long)c.count, 1);
	return shape_doubt(&c, 0);
}

TEST(mail_shape_of_a_body_shows_where_no_header_is_signed)
{
	static const struct {
		const char *names, *head, *body;
		const char *doubt; /* NULL: it counts */
	} cases[] = {
		/* As people write. */
		{ OPEN, "", TEXT, NULL },
		{ OPEN, "Content-Type: text/plain; charset=\"UTF-8\"\r\n", TEXT, NULL },
		{ OPEN, "content-type : Text/PLAIN;\r\n\tformat=flowed; charset=iso-8859-15;\r\n",
			TEXT, "no header" }, /* a blank before the colon */
		{ OPEN, "content-type: Text/PLAIN;\r\n\tformat=flowed; charset=iso-8859-15;\r\n",
			TEXT, NULL },
		{ OPEN, "Content-Type: multipart/alternative; boundary=\"b\"\r\n",
			"\r\n" PART PART "--b--  \r\n\r\n", NULL },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: 7bit\r\n",
			PART "--b--", NULL },
		{ OPEN, "Content-Type: text/plain\r\nContent-Transfer-Encoding: Quoted-Printable\r\n",
			"Gr=C3=BC=C3=9Fe, a=3Db=\r\n c=20\r\n", NULL },
		{ OPEN, "", "A table\r\n=======\r\n\r\n-- \r\nJo\r\n-----Original Message-----\r\n",
			NULL },
		/* What was quoted becomes a part, and what was said goes unread. */
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\n", QUOTING, "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\n",
			PART "--b--\r\nI do not.\r\n", "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\n",
			PART "--b--\r\n" PART "--b--\r\n", "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\n", PART, "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=c\r\n", PART "--b--\r\n",
			"Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed\r\n", PART "--b--\r\n", "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b; boundary=c\r\n",
			PART "--b--\r\n", "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary*=b; boundary=b\r\n",
			PART "--b--\r\n", "Content-Type" },
		{ OPEN, "Content-Type: multipart/digest; boundary=b\r\n", PART "--b--\r\n",
			"Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\n",
			"--b\r\n\r\nFrom: eve@x.y\r\n\r\nPay Eve.\r\n--b--\r\n", "Content-Type" },
		{ OPEN, "Content-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: base64\r\n",
			PART "--b--\r\n", "Content-Transfer-Encoding" },
		/* What was attached becomes text. */
		{ OPEN, "Content-Type: text/plain\r\n", PART "--b--\r\n", "Content-Type" },
		{ OPEN, "", QUOTING, "Content-Type" },
		{ OPEN, "", "<p>No.</p>\r\n<blockquote>Pay Eve.</blockquote>\r\n", "Content-Type" },
		{ OPEN, "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n",
			"UGF5IEV2ZS4=\r\n", "Content-Type" },
		/* What is quoted breaks out of its lines. */
		{ OPEN, "Content-Type: text/html\r\n", "No.\r\n> <p>Pay Eve.\r\n", "Content-Type" },
		{ OPEN, "Content-Type: text/plain; charset=utf-7\r\n", "No.\r\n> +AAo-Pay Eve.\r\n",
			"Content-Type" },
		{ OPEN, "Content-Transfer-Encoding: quoted-printable\r\n",
			"No.\r\n> =0APay Eve.\r\n", "Content-Transfer-Encoding" },
		{ OPEN, "Content-Transfer-Encoding: quoted-printable\r\n",
			"No.\r\n> =3CPay Eve.\r\n", "Content-Transfer-Encoding" },
		{ OPEN, "Content-Transfer-Encoding: quoted-printable\r\n", "a=b\r\n",
			"Content-Transfer-Encoding" },
		{ OPEN, "", "No.\r\n> and so on=\r\nPay Eve.\r\n", "Content-Transfer-Encoding" },
		{ OPEN, "Content-Transfer-Encoding: x-uuencode\r\n", TEXT,
			"Content-Transfer-Encoding" },
		{ OPEN, "Content-Type: application/pdf\r\n", TEXT, "Content-Type" },
		{ OPEN, "Content-Type: text/plain (x)\r\n", TEXT, "Content-Type" },
		{ OPEN, "Content-Type: text\r\n", TEXT, "Content-Type" },
		/* What is signed is the sender's to say. */
		{ TYPE, "Content-Type: multipart/mixed; boundary=b\r\n", QUOTING, NULL },
		{ TYPE, "", QUOTING, NULL }, /* that there was none, too */
		{ TYPE, "Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n",
			"UGF5IEV2ZS4=\r\n", NULL },
		{ TYPE, "Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n",
			"No.\r\n> UGF5IEV2ZS4=\r\n", "Content-Transfer-Encoding" },
		{ BOTH, "Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n",
			"=0A=3C\r\n", NULL },
		/* Twice, or another end of the head. */
		{ BOTH ":content-type", "Content-Type: text/plain\r\nContent-Type: text/html\r\n",
			TEXT, "twice" },
		{ OPEN, "Content-Transfer-Encoding: 7bit\r\nContent-Transfer-Encoding: base64\r\n",
			TEXT, "twice" },
		{ BOTH, "Subject: x\r\nPay Eve.\r\n", TEXT, "no header" },
		{ BOTH, "Subject: x\r\n \t\r\nX: Pay Eve.\r\n", TEXT, "no header" },
		{ BOTH, "Subject:\r\n x\r\nX-Empty:\r\n", TEXT, NULL },
		{ BOTH, ": x\r\n", TEXT, "no header" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *said = doubt(&a, cases[i].names, cases[i].head, cases[i].body);

		test_step("%s %s%s", cases[i].names, cases[i].head, cases[i].body);
		CHECK(!said == !cases[i].doubt);
		if (said && cases[i].doubt)
			CHECK(strstr(said, cases[i].doubt));
	}
	arena_free(&a);
}

/* What is looked through has an end, whatever a stranger signs. */
TEST(mail_shape_is_found_out_in_little_time)
{
	struct arena a = { 0 };
	struct buf many, large;

	buf_init(&many, 1 << 16);
	for (int i = 0; i < 150; i++)
		buf_printf(&many, "--%d\r\n", i);
	CHECK(doubt(&a, OPEN, "", buf_text(&many)) != NULL);
	CHECK(doubt(&a, BOTH, "", buf_text(&many)) == NULL);
	buf_init(&large, 1 << 21);
	while (large.len <= 1 << 20)
		buf_printf(&large, "a line\r\n");
	CHECK(doubt(&a, OPEN, "", buf_text(&large)) != NULL);
	buf_free(&many);
	buf_free(&large);
	arena_free(&a);
}
