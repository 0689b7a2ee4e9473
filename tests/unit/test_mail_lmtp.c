/* test_mail_lmtp.c - LMTP and SMTP as they are received: whole conversations, cut at every byte, and what must be refused. */
#include <stdlib.h>

#include "base/buf.h"
#include "mail/lmtp.h"
#include "t.h"

struct talk {
	struct lmtp machine;
	struct buf said, got; /* replies; what was handed on, in words */
	bool later;	      /* answers come by lmtp_decide() */
	bool in_bytes;
};

static void note(struct talk *t, const char *what, const char *text)
{
	if (t->in_bytes)
		buf_putc(&t->got, ']');
	t->in_bytes = false;
	buf_printf(&t->got, "%s%s ", what, text);
}

static struct lmtp_reply on_mail(void *owner, const struct lmtp_sender *from)
{
	struct talk *t = owner;

	note(t, "from:", from->address.text);
	if (from->size)
		buf_printf(&t->got, "(%llu) ", (unsigned long long)from->size);
	return t->later ? (struct lmtp_reply){ 0 } : (struct lmtp_reply){ 250, "2.1.0", "ok" };
}

static struct lmtp_reply on_rcpt(void *owner, const struct mail_address *to)
{
	struct talk *t = owner;

	note(t, "to:", to->text);
	if (t->later)
		return (struct lmtp_reply){ 0 };
	return strcmp(to->local, "nobody") == 0
		       ? (struct lmtp_reply){ 550, "5.1.1", "no such mailbox" }
		       : (struct lmtp_reply){ 250, "2.1.5", "ok" };
}

static void on_data(void *owner)
{
	note(owner, "data", "");
}

static void on_bytes(void *owner, const char *at, size_t len)
{
	struct talk *t = owner;

	if (!t->in_bytes)
		buf_putc(&t->got, '[');
	t->in_bytes = true;
	buf_put(&t->got, at, len);
}

static void on_end(void *owner)
{
	note(owner, "end", "");
}

static void on_dropped(void *owner)
{
	note(owner, "dropped", "");
}

static void on_forget(void *owner)
{
	(void)owner;
}

static void on_send(void *owner, const char *at, size_t len)
{
	struct talk *t = owner;

	CHECK(len > 5 && memcmp(at + len - 2, "\r\n", 2) == 0);
	buf_put(&t->said, at, len - 2);
	buf_putc(&t->said, '\n');
}

static const struct lmtp_calls calls = { on_mail, on_rcpt, on_data, on_bytes, on_end, on_dropped,
	on_forget, on_send };

static void talk_begin(struct talk *t, bool smtp)
{
	*t = (struct talk){ 0 };
	buf_init(&t->said, 1 << 20);
	buf_init(&t->got, 1 << 20);
	lmtp_begin(&t->machine, &calls, t, "mx.example.org", 1000, smtp);
}

static void talk_end(struct talk *t)
{
	lmtp_gone(&t->machine);
	buf_free(&t->said);
	buf_free(&t->got);
}

/* Says it in pieces of so many bytes; whatever waits is decided with 250. */
static void say(struct talk *t, const char *text, size_t len, size_t piece)
{
	while (len && t->machine.state != LMTP_CLOSED) {
		size_t n = lmtp_push(&t->machine, text, len < piece ? len : piece);

		text += n;
		len -= n;
		while (lmtp_waits(&t->machine))
			lmtp_decide(&t->machine, (struct lmtp_reply){ 250, "2.0.0", "decided" });
	}
}

static void says(struct talk *t, const char *text)
{
	say(t, text, strlen(text), strlen(text));
}

/* The replies since the last time. */
static const char *heard(struct talk *t)
{
	static char last[8192];

	snprintf(last, sizeof last, "%s", buf_text(&t->said));
	buf_clear(&t->said);
	return last;
}

static const char whole[] = "LHLO me\r\nMAIL FROM:<jo@x.y> SIZE=20 BODY=8BITMIME\r\n"
			    "RCPT TO:<a@b.c>\r\nRCPT TO:<nobody@b.c>\r\nrcpt to:<d@b.c>\r\nDATA\r\n"
			    "Subject: x\r\n\r\n..dot\r\n.x\r\n\r\n.\r\nMAIL FROM:<>\r\nQUIT\r\n";

TEST(mail_lmtp_takes_a_message_however_it_is_cut)
{
	for (size_t piece = 1; piece < sizeof whole; piece += piece < 20 ? 1 : 13) {
		struct talk t;

		test_step("pieces of %zu", piece);
		talk_begin(&t, false);
		say(&t, whole, strlen(whole), piece);
		CHECK_STR(heard(&t),
			"220 mx.example.org\n250-mx.example.org\n250-PIPELINING\n"
			"250-ENHANCEDSTATUSCODES\n250-8BITMIME\n250-SMTPUTF8\n250 SIZE 1000\n"
			"250 2.1.0 ok\n250 2.1.5 ok\n550 5.1.1 no such mailbox\n250 2.1.5 ok\n"
			"354 Go on; end with a dot on a line of its own\n"
			"250 2.0.0 decided\n250 2.0.0 decided\n250 2.1.0 ok\n221 2.0.0 Goodbye\n");
		CHECK_STR(buf_text(&t.got), "from:jo@x.y (20) to:a@b.c to:nobody@b.c to:d@b.c data "
					    "[Subject: x\r\n\r\n.dot\r\nx\r\n\r\n]end from: ");
		talk_end(&t);
	}
}

TEST(mail_lmtp_waits_for_decisions)
{
	static const char text[] = "LHLO me\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\n";
	struct talk t;
	size_t used;

	talk_begin(&t, false);
	t.later = true;
	used = lmtp_push(&t.machine, text, strlen(text));
	CHECK_INT((long long)used, (long long)strlen("LHLO me\r\nMAIL FROM:<a@b.c>\r\n"));
	CHECK(lmtp_waits(&t.machine));
	CHECK_INT((long long)lmtp_push(&t.machine, text + used, 5), 0);
	heard(&t);
	lmtp_decide(&t.machine, (struct lmtp_reply){ 451, "4.3.0", "not now" });
	CHECK_STR(heard(&t), "451 4.3.0 not now\n");
	lmtp_push(&t.machine, text + used, strlen(text) - used);
	CHECK_STR(heard(&t), "503 5.5.1 Say MAIL first\n");
	test_step("a text of ours never ends a line");
	lmtp_push(&t.machine, "MAIL FROM:<a@b.c>\r\n", 19);
	lmtp_decide(&t.machine, (struct lmtp_reply){ 250, "2.1.0", "a\r\n250 b\x80" });
	CHECK_STR(heard(&t), "250 2.1.0 a??250 b?\n");
	talk_end(&t);
}

TEST(mail_lmtp_ends_data_in_one_way)
{
	static const struct {
		const char *data, *want; /* the last reply, and what was handed on */
	} cases[] = {
		{ "a\r\n.\r\n", "250 2.0.0 decided" },
		{ ".\r\n", "250 2.0.0 decided" },
		{ "a\n.\n\r\n.\r\n", "550 5.6.11 The message has an LF without a CR before it" },
		{ "a\r\n.\n\r\n.\r\n", "550 5.6.11 The message has an LF without a CR before it" },
		{ "a\n.\r\n\r\n.\r\n", "550 5.6.11 The message has an LF without a CR before it" },
		{ "a\r.\r\n\r\n.\r\n", "550 5.6.11 The message has a CR without an LF behind it" },
		{ "a\r\n.\r\r\n\r\n.\r\n",
			"550 5.6.11 The message has a CR without an LF behind it" },
		{ "a\r\r\n.\r\n", "550 5.6.11 The message has a CR without an LF behind it" },
		{ "a\r\n.\rMAIL\r\n.\r\n",
			"550 5.6.11 The message has a CR without an LF behind it" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (size_t piece = 1; piece < 4; piece++) {
			struct talk t;
			bool good = cases[i].want[0] == '2';
			char want[128];

			test_step("%zu, pieces of %zu", i, piece);
			talk_begin(&t, false);
			says(&t, "LHLO me\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n");
			heard(&t);
			say(&t, cases[i].data, strlen(cases[i].data), piece);
			snprintf(want, sizeof want, "%s\n", cases[i].want);
			CHECK_STR(heard(&t), want);
			CHECK(!strstr(buf_text(&t.got), "dropped") == good);
			CHECK(!strstr(buf_text(&t.got), "end") == !good);
			CHECK_INT(t.machine.state, LMTP_READY);
			talk_end(&t);
		}
}

/* The same command until it is closed, which is the nth time and no earlier; a message in between begins the count anew. */
static void refused_to_the_end(const char *command, int most, const char *last)
{
	struct talk t;
	int times = 0;

	talk_begin(&t, false);
	says(&t, "LHLO me\r\n");
	for (int round = 0; round < 2; round++) {
		const char *said = "";

		if (strncmp(command, "RCPT", 4) == 0)
			says(&t, "MAIL FROM:<a@b.c>\r\n");
		heard(&t);
		for (times = 0;
			times < (round ? 2 * most : most - 1) && t.machine.state != LMTP_CLOSED;
			times++) {
			says(&t, command);
			said = heard(&t);
		}
		if (round) {
			CHECK_INT(times, most);
			CHECK(strncmp(said, last, strlen(last)) == 0);
			break;
		}
		CHECK(t.machine.state != LMTP_CLOSED);
		says(&t, "RSET\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n.\r\n");
		CHECK(strstr(heard(&t), "decided"));
	}
	talk_end(&t);
}

TEST(mail_lmtp_has_bounds)
{
	static const char *const controls[] = { "NOOP a\tb\r\n", "VRFY \x1b[2J\r\n",
		"NOOP \x7f\r\n", "LHLO a\x01\r\n", "RSET \b\r\n" };
	static const char hello[] = "LHLO me\r\n";
	struct talk t;
	char *long_line = malloc(5000);

	memset(long_line, 'x', 5000);
	talk_begin(&t, false);
	says(&t, hello);
	heard(&t);
	test_step("a line");
	memcpy(long_line + 4990, "\r\nNOOP\r\n", 8);
	say(&t, long_line, 4998, 7);
	CHECK_STR(heard(&t), "500 5.5.2 The line is too long\n250 2.0.0 Done\n");
	free(long_line);
	test_step("bare ends of lines in commands");
	says(&t, "NOOP\nNOOP\r\n");
	CHECK_STR(heard(&t), "500 5.5.2 A line ends with CR LF and has no control bytes\n");
	says(&t, "NOOP\rNOOP\r\n");
	CHECK_STR(heard(&t), "500 5.5.2 A line ends with CR LF and has no control bytes\n");
	say(&t, "NO\0OP\r\n", 7, 7);
	CHECK_STR(heard(&t), "500 5.5.2 A line ends with CR LF and has no control bytes\n");
	t.machine.bad = 0;
	for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
		says(&t, controls[i]);
		CHECK_STR(heard(&t), "500 5.5.2 A line ends with CR LF and has no control bytes\n");
	}
	test_step("recipients");
	says(&t, "MAIL FROM:<a@b.c>\r\n");
	for (int i = 0; i < LMTP_RECIPIENTS_MAX; i++)
		says(&t, "RCPT TO:<d@e.f>\r\n");
	heard(&t);
	says(&t, "RCPT TO:<d@e.f>\r\n");
	CHECK(strncmp(heard(&t), "452 4.5.3 ", 10) == 0);
	test_step("size, as announced");
	says(&t, "RSET\r\nMAIL FROM:<a@b.c> SIZE=1001\r\n");
	CHECK_STR(heard(&t), "250 2.0.0 Forgotten\n552 5.3.4 The message is too large\n");
	test_step("size, as it comes; one reply for each recipient");
	says(&t, "MAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nRCPT TO:<g@e.f>\r\nDATA\r\n");
	heard(&t);
	for (int i = 0; i < 51; i++)
		says(&t, "12345678901234567\r\n\r\n");
	says(&t, ".\r\n");
	CHECK_STR(heard(&t),
		"552 5.3.4 The message is too large\n552 5.3.4 The message is too large\n");
	CHECK(strstr(buf_text(&t.got), "dropped"));
	test_step("one that never ends");
	says(&t, "MAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n");
	heard(&t);
	for (int i = 0; i < 60000 && t.machine.state != LMTP_CLOSED; i++)
		says(&t, "12345678901234567890\r\n");
	CHECK_STR(heard(&t), "421 4.3.4 The message does not end\n");
	talk_end(&t);
	test_step("wrong commands, and idle ones");
	talk_begin(&t, false);
	for (int i = 0; i < LMTP_BAD_MAX; i++)
		says(&t, "WHAT\r\n");
	CHECK(strstr(heard(&t), "421 4.7.0 Too many commands were wrong"));
	CHECK_INT((long long)lmtp_push(&t.machine, "NOOP\r\n", 6), 0);
	talk_end(&t);
	talk_begin(&t, false);
	for (int i = 0; i < LMTP_IDLE_MAX; i++)
		says(&t, "NOOP\r\n");
	CHECK(strstr(heard(&t), "421 4.7.0 Too many commands without a message"));
	talk_end(&t);
	test_step("refusals without end");
	refused_to_the_end("MAIL FROM:<a@b.c> SIZE=1001\r\n", LMTP_DECLINED_MAX,
		"421 4.7.0 Too many senders and recipients were refused");
	refused_to_the_end("RCPT TO:<nobody@b.c>\r\n", LMTP_DECLINED_MAX,
		"421 4.7.0 Too many senders and recipients were refused");
	refused_to_the_end("RCPT TO:<d@e.f>\r\n", LMTP_RECIPIENTS_MAX + LMTP_BEYOND_MAX,
		"421 4.7.0 Far too many recipients");
	test_step("NUL");
	talk_begin(&t, false);
	says(&t, "LHLO me\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\n");
	heard(&t);
	say(&t, "a\0b\r\n.\r\n", 8, 8);
	CHECK_STR(heard(&t), "550 5.6.0 The message has a NUL\n");
	talk_end(&t);
}

TEST(mail_lmtp_refuses_by_the_letter)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "MAIL FROM:<a@b.c>", "503 5.5.1 Say who you are first" },
		{ "EHLO me", "500 5.5.1 This is LMTP: say LHLO" },
		{ "HELO me", "500 5.5.1 This is LMTP: say LHLO" },
		{ "LHLO", "501 5.5.4 Say who you are" },
		{ "DATA", "503 5.5.1 There is no recipient" },
		{ "STARTTLS", "502 5.5.1 This command is not offered" },
		{ "VRFY jo", "252 2.5.0 Try to send a message" },
		{ "LHLO me", "250 SIZE 1000" },
		{ "MAIL FROM:a@b.c", "501 5.1.7 The address must stand in < and >." },
		{ "MAIL TO:<a@b.c>", "501 5.5.4 The command is not complete" },
		{ "MAIL FROM:<a@b.c>x", "501 5.1.7 Something follows the address" },
		{ "MAIL FROM:<a@b.c> RET=HDRS", "555 5.5.4 A parameter is not known, or is wrong" },
		{ "MAIL FROM:<a@b.c> SIZE=1 SIZE=1",
			"555 5.5.4 A parameter is not known, or is wrong" },
		{ "MAIL FROM:<a@b.c> SIZE=x", "555 5.5.4 A parameter is not known, or is wrong" },
		{ "MAIL FROM:<j\xc3\xb6@b.c>", "553 5.6.7 This address needs SMTPUTF8" },
		{ "RSET", "250 2.0.0 Forgotten" },
	};
	struct talk t;

	talk_begin(&t, false);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *said, *last;

		test_step("%s", cases[i].text);
		t.machine.bad = 0;
		heard(&t);
		says(&t, cases[i].text);
		says(&t, "\r\n");
		said = heard(&t);
		last = strlen(said) > strlen(cases[i].want)
			       ? said + strlen(said) - strlen(cases[i].want) - 1
			       : said;
		CHECK(strncmp(last, cases[i].want, strlen(cases[i].want)) == 0);
	}
	says(&t, "MAIL FROM:<j\xc3\xb6@b.c> SMTPUTF8\r\n");
	CHECK_STR(heard(&t), "250 2.1.0 ok\n");
	says(&t, "RCPT TO:<>\r\n");
	CHECK_STR(heard(&t), "501 5.1.3 The null path receives nothing\n");
	says(&t, "RCPT TO:<a@b.c> NOTIFY=NEVER\r\n");
	CHECK_STR(heard(&t), "555 5.5.4 A parameter is not known\n");
	says(&t, "MAIL FROM:<a@b.c>\r\n");
	CHECK_STR(heard(&t), "503 5.5.1 A message is under way\n");
	says(&t, "DATA\r\n");
	CHECK_STR(heard(&t), "554 5.5.1 There is no recipient\n");
	talk_end(&t);
}

TEST(mail_smtp_answers_once)
{
	struct talk t;

	talk_begin(&t, true);
	says(&t, "LHLO me\r\n");
	CHECK(strstr(heard(&t), "500 5.5.1 This is SMTP: say EHLO"));
	says(&t, "HELO me\r\n");
	CHECK_STR(heard(&t), "250 mx.example.org\n");
	says(&t, "EHLO me\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nRCPT TO:<g@e.f>\r\nDATA\r\n");
	heard(&t);
	says(&t, "x\r\n.\r\n");
	CHECK_STR(heard(&t), "250 2.0.0 decided\n");
	says(&t, "MAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nRCPT TO:<g@e.f>\r\nDATA\r\n");
	heard(&t);
	says(&t, "x\ny\r\n.\r\n");
	CHECK_STR(heard(&t), "550 5.6.11 The message has an LF without a CR before it\n");
	says(&t, "MAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\nhalf");
	heard(&t);
	lmtp_leave(&t.machine, "4.4.2", "Nothing came for too long");
	CHECK_STR(heard(&t), "421 4.4.2 Nothing came for too long\n");
	CHECK(strstr(buf_text(&t.got), "[half]dropped"));
	talk_end(&t);
}
