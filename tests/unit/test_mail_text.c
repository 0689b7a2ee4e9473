/* test_mail_text.c - what somebody wrote, without what they quote; and the time that takes. */
#include "base/clock.h"
#include "base/html_text.h"
#include "mail/quoted.h"
#include "mailboxes/mail_post.h"
#include "t.h"

static const char *reply_of(struct arena *a, const char *text)
{
	size_t len;

	return mail_extract_reply(a, text, strlen(text), &len);
}

TEST(mail_replies_without_what_they_quote)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "Yes.\n", "Yes." },
		{ "", "" },
		{ "Yes.\r\n\r\n\r\nBest\r\n", "Yes.\n\nBest" },
		{ "Yes.\n\nOn Tue, 1 Jan 2026 at 10:00, Jo <jo@x.y> wrote:\n> No?\n> Jo\n",
			"Yes." },
		{ "Yes.\n\nOn Tue, 1 Jan 2026 at 10:00, Jo\n<jo@x.y>\nwrote:\n\n> No?\n", "Yes." },
		{ "Yes.\n\nOn 1 Jan 2026, Jo wrote:\n\nNo?\nJo\n", "Yes." },
		{ "On 1 Jan 2026, Jo wrote:\n> No?\nYes.\n> Sure?\nSure.\n", "Yes.\n\nSure." },
		{ "Ja.\n\nAm 01.01.2026 um 10:00 schrieb Jo <jo@x.y>:\n> Nein?\n", "Ja." },
		{ "Oui.\n\nLe 1 janv. 2026 \xc3\xa0 10:00, Jo a \xc3\xa9"
		  "crit\xc2\xa0:\n> Non?\n",
			"Oui." },
		{ "S\xc3\xad.\n\nEl 1 ene 2026, Jo escribi\xc3\xb3:\n> No?\n", "S\xc3\xad." },
		{ "S\xc3\xac.\n\nIl giorno 1 gen 2026 Jo ha scritto:\n> No?\n", "S\xc3\xac." },
		{ "Sim.\n\nEm 1 de jan. de 2026, Jo escreveu:\n> N\xc3\xa3o?\n", "Sim." },
		{ "Ja.\n\nOp 1 jan. 2026 schreef Jo <jo@x.y>:\n> Nee?\n", "Ja." },
		{ "Ja.\n\nDen 1 jan. 2026 skrev Jo:\n> Nej?\n", "Ja." },
		{ "Kyll\xc3\xa4.\n\nma 1. tammik. 2026 klo 10.00 Jo (jo@x.y) kirjoitti:\n> Ei?\n",
			"Kyll\xc3\xa4." },
		{ "Tak.\n\nW dniu 1.01.2026 o 10:00, Jo napisa\xc5\x82:\n> Nie?\n", "Tak." },
		{ "Ano.\n\nDne 1. 1. 2026 v 10:00 Jo napsal(a):\n> Ne?\n", "Ano." },
		{ "Igen.\n\nJo <jo@x.y> ezt \xc3\xadrta (2026. jan. 1.):\n> Nem?\n", "Igen." },
		{ "\xd0\x94\xd0\xb0.\n\n1 2026 Jo \xd0\xbf\xd0\xb8\xd1\x88\xd0\xb5\xd1\x82:\n> ?\n",
			"\xd0\x94\xd0\xb0." },
		{ "Evet.\n\nJo, 1 Oca 2026 tarihinde \xc5\x9funu yazd\xc4\xb1:\n> ?\n", "Evet." },
		{ "\xe6\x98\xaf\n\nJo \xe4\xba\x8e 2026 \xe5\x86\x99\xe9\x81\x93\xef\xbc\x9a\n> ?\n",
			"\xe6\x98\xaf" },
		{ "Yes.\n\n-----Original Message-----\nFrom: Jo\nNo?\n", "Yes." },
		{ "Ja.\n\n-----Urspr\xc3\xbcngliche Nachricht-----\nVon: Jo\nNein?\n", "Ja." },
		{ "Yes.\n\nFrom: Jo <jo@x.y>\nSent: Tuesday\nTo: Q\nSubject: It\n\nNo?\n", "Yes." },
		{ "Ja.\n\n________________________________\nVon: Jo\nGesendet: heute\nAn: Q\nBetreff: X\n\nNein?",
			"Ja." },
		{ "Oui.\n\n*De :* Jo\n*Envoy\xc3\xa9 :* mardi\n*\xc3\x80 :* Q\n\nNon?", "Oui." },
		{ "Yes.\n-- \nJo\nHead of It\n", "Yes." },
		{ "Yes.\n\nSent from my iPhone\n\nOn 1 Jan 2026, Jo wrote:\n> No?\n", "Yes." },
		{ "Sent from my desk, with love.\nReally.\n",
			"Sent from my desk, with love.\nReally." },
		{ "Look:\n\n---------- Forwarded message ---------\nFrom: Jo\nDate: x\nSubject: y\nTo: z\n\n> No?\n-- \nJo",
			"Look:\n\n---------- Forwarded message ---------\nFrom: Jo\nDate: x\nSubject: y\nTo: z\n\n> No?\n--\nJo" },
		{ "> only quoted\n> text\n", "> only quoted\n> text" },
		{ "On the plan we wrote: nothing.\nAnd so on.\n",
			"On the plan we wrote: nothing.\nAnd so on." },
		{ "From: here on it is easy.\nSecond.\n", "From: here on it is easy.\nSecond." },
		{ "a -- b\n--- c\n", "a -- b\n--- c" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%zu: %s", i, cases[i].text);
		CHECK_STR(reply_of(&a, cases[i].text), cases[i].want);
	}
	arena_free(&a);
}

/* The time for eight times as much is not much more than eight times as long. */
static void grows_evenly(const char *piece)
{
	int64_t took[2];

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(piece), times = ((size_t)200000 << (3 * i)) / n, len;
		struct arena a = { 0 };
		char *text = arena_raw(&a, n * times + 1, 1);

		for (size_t k = 0; k < times; k++)
			memcpy(text + k * n, piece, n);
		text[n * times] = '\0';
		took[i] = clock_mono_us();
		mail_extract_reply(&a, text, n * times, &len);
		html_text(&a, text, n * times, &len);
		took[i] = clock_mono_us() - took[i];
		arena_free(&a);
	}
	if (took[1] > 40 * took[0] + 200000)
		test_fail(__FILE__, __LINE__, "%s: %lld us, then %lld us", piece,
			(long long)took[0], (long long)took[1]);
}

TEST(mail_texts_take_one_pass)
{
	grows_evenly("On 1 2 3\n");
	grows_evenly("From: x\n");
	grows_evenly("Sent from my x\n\n\n\n");
	grows_evenly("> \n");
	grows_evenly("________________________\n");
	grows_evenly("\n");
	grows_evenly("<div style=\"display:none\">");
	grows_evenly("<p hidden>x");
	grows_evenly("<div bgcolor=red style='color:red;color:blue'>");
	grows_evenly("<!-- ");
	grows_evenly("<a b='");
}

static struct list listed(struct arena *a, const char *const *from, size_t count)
{
	struct list l = { 0 };

	for (size_t i = 0; i < count; i++)
		mail_list_add(a, &l, from[i], MAIL_RECIPIENTS_MAX);
	return l;
}

TEST(mail_text_answers_to_all_leave_out_oneself)
{
	static const char *const to[] = { "desk@demo.mail.test", "Desk+c0token.ab@demo.mail.test",
		"ann@example.org", "desk@demo.mail.test.evil.org", "desk2@demo.mail.test" },
				 *const cc[] = { "ann@example.org", "DESK@DEMO.mail.test",
					 "cee@example.org" };
	struct arena a = { 0 };
	struct mail_message_row from = { .direction = MailDirection_in,
		.sender = "jo@example.org" },
				m = { .sender = "desk@demo.mail.test" };
	const char *const *got;

	from.recipients = listed(&a, to, sizeof to / sizeof *to);
	from.cc = listed(&a, cc, sizeof cc / sizeof *cc);
	mail_address_reply(&a, &m, &from, true);
	got = m.recipients.at;
	CHECK_INT((long long)m.recipients.count, 4);
	CHECK_STR(got[0], "jo@example.org");
	CHECK_STR(got[1], "ann@example.org");
	CHECK_STR(got[2], "desk@demo.mail.test.evil.org");
	CHECK_STR(got[3], "desk2@demo.mail.test");
	CHECK_INT((long long)m.cc.count, 1);
	CHECK_STR(((const char *const *)m.cc.at)[0], "cee@example.org");
	test_step("no more than a message may have, in both together");
	m = (struct mail_message_row){ .sender = "desk@demo.mail.test" };
	from.recipients = from.cc = (struct list){ 0 };
	for (int i = 0; i < 40; i++) {
		mail_list_add(&a, &from.recipients, arena_printf(&a, "t%d@x.org", i), 50);
		mail_list_add(&a, &from.cc, arena_printf(&a, "c%d@x.org", i), 50);
	}
	mail_address_reply(&a, &m, &from, true);
	CHECK_INT((long long)m.recipients.count, 41);
	CHECK_INT((long long)m.cc.count, 9);
	arena_free(&a);
}
