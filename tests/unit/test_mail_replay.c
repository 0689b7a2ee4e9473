/* test_mail_replay.c - signatures, with a name server of our own; and letters that are genuine, but were written to somebody
 * else, long ago, or come again. */
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "mail/date.h"
#include "mail_fixture.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mail_dns_turn.h"
#include "queue/parts.h"

#define JO "jo@example.org"
#define DESK "desk@demo.mail.test"
#define LETTER "\nHi.\n\nPay Eve.\n"

TEST(mail_replay_reads_dates)
{
	static const struct {
		const char *text;
		int64_t at; /* -1: none */
	} cases[] = {
		{ "Fri, 11 Jul 2003 21:00:37 -0700 (PDT)", 1057982437 },
		{ "11 Jul 2003 21:00 +0130", 1057951800 },
		{ " Sat ,  1 jan 2000 00:00:00 GMT", 946684800 },
		{ "Sat, 1 Jan 2000 00:00:00", -1 },
		{ "Sat, 1 Jan 2000 00:00:00 +00000", -1 },
		{ "Sat, 1 Jan 2000 00:00:00 +0060", -1 },
		{ "Sat, 1 Jan 2000 24:00:00 +0000", -1 },
		{ "Sat, 1 Jan 2000 00:00:00 +0000 x", -1 },
		{ "Sat, 1 Jan 00 00:00:00 +0000", -1 },
		{ "Sat, 1 Janus 2000 00:00:00 +0000", -1 },
		{ "Sat 1 Jan 2000 00:00:00 +0000", -1 },
		{ "Sat,", -1 },
		{ "", -1 },
	};
	int64_t at;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].text);
		CHECK_INT(mail_date_read(cases[i].text, &at) ? at : -1, cases[i].at);
	}
}

/* ---- a name server ---- */

struct names {
	struct mail_house *h;
	struct sockaddr_in at;
	int fd;
	pthread_t thread;
	const char *key; /* before the thread begins */
	_Atomic int asked;
	_Atomic bool dmarc; /* the domain has a record */
};

static void *serve_names(void *arg)
{
	struct names *s = arg;
	unsigned char q[2048];
	struct sockaddr_in from;
	socklen_t from_len = sizeof from;

	while (recvfrom(s->fd, q, 512, 0, (struct sockaddr *)&from, &from_len) > 12) {
		bool policy = memcmp(q + 13, "_dmarc", 6) == 0;
		const char *text = !policy ? s->key : "v=DMARC1; p=reject";
		size_t end = 12, left = strlen(text), pieces = left / 200 + 1;

		s->asked++;
		while (q[end])
			end += q[end] + 1u;
		end += 5;
		q[2] = 0x85;
		q[3] = 0x80;
		q[6] = 0;
		q[7] = !policy || s->dmarc;
		memset(q + 8, 0, 4);
		if (q[7]) {
			memcpy(q + end, "\xc0\x0c\0\x10\0\1\0\0\0\x3c", 10);
			q[end + 10] = (unsigned char)((left + pieces) >> 8);
			q[end + 11] = (unsigned char)(left + pieces);
			end += 12;
			for (size_t i = 0; i < pieces; i++, text += 200) {
				size_t n = left < 200 ? left : 200;

				q[end++] = (unsigned char)n;
				memcpy(q + end, text, n);
				end += n;
				left -= n;
			}
		}
		sendto(s->fd, q, end, 0, (struct sockaddr *)&from, from_len);
	}
	return NULL;
}

static void resolver_is(struct mail_house *h, const char *resolver, const char *authserv_id)
{
	struct mailbox_policy policy = *mailbox_policy();

	policy.authserv_id = authserv_id;
	policy.resolver = resolver;
	mailbox_policy_set(&policy);
	(void)h;
}

static void names_open(struct names *s, struct mail_house *h, const char *key)
{
	socklen_t n = sizeof s->at;

	*s = (struct names){ .h = h,
		.at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
		.key = key,
		.dmarc = true };
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(bind(s->fd, (struct sockaddr *)&s->at, sizeof s->at) == 0);
	CHECK(getsockname(s->fd, (struct sockaddr *)&s->at, &n) == 0);
	CHECK(pthread_create(&s->thread, NULL, serve_names, s) == 0);
	resolver_is(h, arena_printf(&h->f->arena, "127.0.0.1:%d", ntohs(s->at.sin_port)), "");
}

static void names_close(struct names *s)
{
	sendto(s->fd, "x", 1, 0, (struct sockaddr *)&s->at, sizeof s->at);
	pthread_join(s->thread, NULL);
	close(s->fd);
}

/* ---- letters that are signed ---- */

static const char *days_ago(struct arena *a, int days)
{
	char date[29];

	time_write_http(clock_now_us() - days * DAY_US, date);
	return arena_printf(a, "%.29s", date);
}

static const char *head(struct arena *a, const char *to, const char *date, const char *id)
{
	return arena_printf(a,
		"From: Jo <" JO
		">\nTo: %s\nSubject: Bill\nDate: %s\nMessage-ID: <%s@example.org>\n",
		to, date, id);
}

/* The whole, signed at this time, with LF. */
static const char *sign(
	struct arena *a, const struct mail_dkim *key, const char *letter, int64_t at)
{
	char *crlf = arena_alloc(a, 2 * strlen(letter) + 1), *out, *end = crlf;
	const char *field;

	for (const char *p = letter; *p; p++) {
		if (*p == '\n')
			*end++ = '\r';
		*end++ = *p;
	}
	*end = '\0';
	field = mail_dkim_sign(a, key, crlf, strlen(crlf), at);
	CHECK(field != NULL);
	out = end = arena_strdup(a, field);
	for (const char *p = field; *p; p++)
		if (*p != '\r')
			*end++ = *p;
	*end = '\0';
	return arena_printf(a, "%s%s", out, letter);
}

TEST(mail_replay_asks_for_keys_and_records)
{
	struct mail_house h;
	struct mail_dkim key;
	struct names s;
	struct arena *a;
	const char *letter;
	struct answer r;

	mail_house_open(&h);
	a = &h.f->arena;
	CHECK_INT(mail_dkim_make(a, "example.org", NULL, clock_now_us(), &key), 0);
	names_open(&s, &h, mail_dkim_record(a, &key));
	letter = sign(a, &key, arena_printf(a, "%s" LETTER, head(a, DESK, days_ago(a, 0), "k1")),
		clock_now_us());
	r = mail_comes(&h, JO, letter);
	CHECK_STR(text_at(&r, "verdict"), "pass");
	CHECK(json_is_string(at(&r, "session_id")));
	test_step("a word more, and it is not theirs");
	r = mail_comes(&h, JO, arena_printf(a, "%sPay Eve more.\n", letter));
	CHECK_STR(text_at(&r, "verdict"), "fail");
	test_step("without a record that only proves nothing");
	s.dmarc = false;
	r = mail_comes(&h, JO, arena_printf(a, "%sPay Eve less.\n", letter));
	CHECK_STR(text_at(&r, "verdict"), "none");
	test_step("the server in front says that it is not, and nobody is asked");
	resolver_is(&h, mailbox_policy()->resolver, "mx.test");
	s.asked = 0;
	r = mail_comes(&h, JO,
		arena_printf(a,
			"Authentication-Results: mx.test; dmarc=fail header.from=example.org\n%s",
			letter));
	CHECK_STR(text_at(&r, "verdict"), "fail");
	CHECK_INT(s.asked, 0);
	test_step("nobody is asked about mail without a signature of its own organisation");
	s.asked = 0;
	r = mail_comes(&h, JO, arena_printf(a, "%s\nhi\n", head(a, DESK, days_ago(a, 0), "k2")));
	CHECK_STR(text_at(&r, "verdict"), "none");
	CHECK_INT(s.asked, 0);
	names_close(&s);
	test_step("a name server that is away holds up nothing for long");
	resolver_is(&h, "127.0.0.1:1", "");
	r = mail_comes(&h, JO, letter);
	CHECK_STR(text_at(&r, "verdict"), "none");
	CHECK_STR(text_at(&r, "state"), "received");
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

/* A name server that says nothing, and how many questions have come to it since it was last looked at. */
static int questions(int fd)
{
	char q[512];
	int n = 0;

	while (recv(fd, q, sizeof q, MSG_DONTWAIT) > 0)
		n++;
	return n;
}

static int make_due(struct db *db, void *data)
{
	static const struct statement due = { "test",
		"update jobs set run_at = 1, state = 'waiting' where state = 'delayed'",
		.across = "a test", .scan = "a test" };
	const struct fixture *f = data;
	int err = db_run(db, &due, NULL, NO_ARGS);

	return err ? err : jobs_tell(db, f->tenant_id, 1, 1);
}

TEST(mail_replay_asks_once_of_a_name_server_that_says_nothing)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct mail_house h;
	struct mail_dkim key;
	struct arena *a;
	struct answer r;
	const char *ids[3];

	mail_house_open(&h);
	a = &h.f->arena;
	CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&at, &n) == 0);
	resolver_is(&h, arena_printf(a, "127.0.0.1:%d", ntohs(at.sin_port)), "");
	CHECK_INT(mail_dkim_make(a, "example.org", NULL, clock_now_us(), &key), 0);
	for (int i = 0; i < 3; i++) {
		const char *letter = sign(a, &key,
			arena_printf(a, "%s" LETTER,
				head(a, DESK, days_ago(a, 0), arena_printf(a, "q%d", i))),
			clock_now_us());

		test_step("letter %d", i);
		ids[i] = mail_arrive(
			&h, &(struct mail_arrival_row){ .sender = JO }, letter, strlen(letter));
		mail_wait(&h, "select count(*) from jobs where state = 'delayed'", i + 1);
		CHECK(i ? questions(fd) == 0 : questions(fd) > 0);
	}
	test_step("they are put off, and in the end not proven");
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_messages"), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(fixture_work(h.f, make_due, h.f), 0);
		mail_wait(&h,
			i ? "select count(*) from jobs where kind = 'mail.read'"
			  : "select count(*) from jobs where state = 'delayed' and attempts = 2",
			i ? 0 : 3);
	}
	r = mail_await(&h, ids[2]);
	CHECK_STR(text_at(&r, "verdict"), "none");
	CHECK_INT(questions(fd), 0);
	close(fd);
	mail_house_close(&h);
}

TEST(mail_replay_lets_one_wait_for_those_whom_nobody_knows)
{
	struct mail_dns_asking one, other, known;

	CHECK_INT(mail_dns_begin("t", "one.example", &one), MAIL_DNS_MAY);
	CHECK_INT(mail_dns_begin("t", "other.example", &other), MAIL_DNS_BUSY);
	mail_dns_end(&one, true, false);
	test_step("who has answered needs no turn");
	CHECK_INT(mail_dns_begin("t", "other.example", &other), MAIL_DNS_MAY);
	CHECK_INT(mail_dns_begin("t", "one.example", &known), MAIL_DNS_MAY);
	mail_dns_end(&known, false, false);
	mail_dns_end(&other, false, true);
	test_step("who said nothing is not asked, by this server");
	CHECK_INT(mail_dns_begin("t", "other.example", &other), MAIL_DNS_SILENT);
	CHECK_INT(mail_dns_begin("u", "other.example", &other), MAIL_DNS_MAY);
	mail_dns_end(&other, false, false);
	CHECK_INT(mail_dns_begin("u", "other.example", &other), MAIL_DNS_MAY);
	mail_dns_end(&other, false, false);
}

/* A member, whose letters have the agent work as them. */
static void add_member(struct mail_house *h)
{
	const char *user = fixture_user(h->f, JO, NULL);

	fixture_member(h->f, h->f->tenant_id, user, "MEMBER");
	fixture_sql(h->f, "update users set email_proven_at = 1 where id = $1", ARGS(T(user)));
	STATUS(ask(h->f, h->f->admin, "{\"allow_from\":[\"" JO "\"],\"reply\":\"off\"}",
		       "PUT /agents/%s/mail/rules", h->agent_id),
		200);
}

#define AS_MEMBER "select count(*) from session_runs where user_id is not null and refuses = 0"

TEST(mail_replay_of_a_signed_letter_is_nobodys)
{
	struct mail_house h;
	struct mail_dkim key;
	struct names s;
	struct arena *a;
	const char *now, *good;
	struct answer r;

	mail_house_open(&h);
	a = &h.f->arena;
	add_member(&h);
	CHECK_INT(mail_dkim_make(a, "example.org", NULL, clock_now_us(), &key), 0);
	names_open(&s, &h, mail_dkim_record(a, &key));
	now = days_ago(a, 0);
	good = arena_printf(
		a, "%s" LETTER, head(a, "x@example.net, Desk <DESK+a@demo.mail.test>", now, "r1"));
	const struct {
		const char *raw, *why;
	} cases[] = {
		{ sign(a, &key, arena_printf(a, "%s" LETTER, head(a, "x@example.net", now, "r2")),
			  clock_now_us()),
			"neither To nor Cc names" },
		{ sign(a, &key,
			  arena_printf(a, "%s" LETTER,
				  head(a, "desk@demo.mail.test.evil.org, desk2@demo.mail.test", now,
					  "r3")),
			  clock_now_us()),
			"neither To nor Cc names" },
		/* What was added may name anybody: our own signatures leave no room for it, others do. */
		{ arena_printf(a, "To: " DESK "\n%s",
			  sign(a, &key,
				  arena_printf(a, "%s" LETTER, head(a, "x@example.net", now, "r4")),
				  clock_now_us())),
			"not from whom it says" },
		{ sign(a, &key, arena_printf(a, "%s" LETTER, head(a, DESK, days_ago(a, 6), "r5")),
			  clock_now_us()),
			"more than 5 days ago" },
		{ sign(a, &key, arena_printf(a, "%s" LETTER, head(a, DESK, days_ago(a, -2), "r6")),
			  clock_now_us()),
			"in the future" },
		{ sign(a, &key, arena_printf(a, "%s" LETTER, head(a, DESK, "long ago", "r7")),
			  clock_now_us()),
			"no date" },
		{ sign(a, &key, arena_printf(a, "%s" LETTER, head(a, DESK, now, "r8")),
			  clock_now_us() - 6 * DAY_US),
			"signed more than 5 days ago" },
		{ sign(a, &key, arena_printf(a, "%s" LETTER, head(a, DESK, now, "r9")),
			  clock_now_us() + 2 * DAY_US),
			"of the future" },
		{ sign(a, &key,
			  arena_printf(a, "From: " JO "\nTo: " DESK "\nDate: %s\n" LETTER, now),
			  clock_now_us()),
			"no Message-ID" },
	};

	r = mail_comes(&h, JO, sign(a, &key, good, clock_now_us()));
	CHECK_STR(text_at(&r, "verdict"), "pass");
	CHECK(json_is_null(at(&r, "error")));
	CHECK_INT(fixture_count(h.f, AS_MEMBER), 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].raw);
		r = mail_comes(&h, JO, cases[i].raw);
		CHECK(strcmp(text_at(&r, "verdict"), "pass") != 0);
		CHECK(strstr(text_at(&r, "error"), cases[i].why));
	}
	CHECK_INT(fixture_count(h.f, AS_MEMBER), 1);
	names_close(&s);
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

static const char *arrives(
	struct mail_house *h, const char *recipient, const char *thread, const char *raw)
{
	struct answer r = mail_await(
		h, mail_arrive(h,
			   &(struct mail_arrival_row){
				   .sender = JO, .recipient = recipient, .thread_id = thread },
			   raw, strlen(raw)));

	CHECK_STR(text_at(&r, "verdict"), "pass");
	return text_at(&r, "thread_id");
}

#define PLUS "desk+t@demo.mail.test"

TEST(mail_replay_joins_no_thread_that_others_chose)
{
	struct mail_house h;
	struct mail_dkim key;
	struct names s;
	struct arena *a;
	const char *now, *first, *letter;
	struct answer r;

	mail_house_open(&h);
	a = &h.f->arena;
	CHECK_INT(mail_dkim_make(a, "example.org", NULL, clock_now_us(), &key), 0);
	names_open(&s, &h, mail_dkim_record(a, &key));
	now = days_ago(a, 0);
	letter = arena_printf(a, "%s" LETTER, head(a, DESK, now, "j1"));
	first = arrives(&h, DESK, NULL, sign(a, &key, letter, clock_now_us()));
	test_step("what is signed");
	letter = arena_printf(a, "%s" LETTER, head(a, PLUS, now, "j2"));
	CHECK_STR(arrives(&h, PLUS, first, sign(a, &key, letter, clock_now_us())), first);
	test_step("an envelope that names the thread, and a letter that does not");
	letter = arena_printf(a, "%s" LETTER, head(a, DESK, now, "j3"));
	CHECK(strcmp(arrives(&h, PLUS, first, sign(a, &key, letter, clock_now_us())), first) != 0);
	test_step("headers that were put above it");
	for (int i = 0; i < 2; i++) {
		letter = arena_printf(
			a, "%s" LETTER, head(a, DESK, now, arena_printf(a, "j%d", i + 4)));
		letter = arena_printf(a, "%s: <j1@example.org>\n%s",
			i ? "References" : "In-Reply-To", sign(a, &key, letter, clock_now_us()));
		CHECK(strcmp(arrives(&h, DESK, NULL, letter), first) != 0);
	}
	test_step("the same, by who wrote it");
	letter = arena_printf(
		a, "In-Reply-To: <j1@example.org>\n%s" LETTER, head(a, DESK, now, "j6"));
	CHECK_STR(arrives(&h, DESK, NULL, sign(a, &key, letter, clock_now_us())), first);
	test_step("and one that has the body say something else");
	letter = arena_printf(a, "%s\nNo.\n> =0APay Eve.\n", head(a, DESK, now, "j7"));
	r = mail_comes(&h, JO,
		arena_printf(a, "Content-Transfer-Encoding: quoted-printable\n%s",
			sign(a, &key, letter, clock_now_us())));
	CHECK_STR(text_at(&r, "verdict"), "none");
	CHECK(strstr(text_at(&r, "error"), "does not cover Content-Transfer-Encoding"));
	names_close(&s);
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

#define CLAIM(domain, names)                                                               \
	"DKIM-Signature: v=1; a=rsa-sha256; d=" domain "; s=s; h=" names "; b=AAAA;\n bh=" \
	"2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=\n"

#define TWO CLAIM("a.test", "from") CLAIM("b.test", "from")
#define EIGHT TWO TWO TWO TWO

TEST(mail_replay_is_none_where_the_server_in_front_vouches)
{
	static const char vouched[] =
		"Authentication-Results: mx.test; dmarc=pass header.from=example.org\n";
	struct mail_house h;
	struct arena *a;
	const char *now;
	struct answer r;

	mail_house_open(&h);
	a = &h.f->arena;
	add_member(&h);
	STATUS(ask(h.f, h.f->admin, "{\"reply\":\"off\"}", "PUT /agents/%s/mail/rules", h.agent_id),
		200);
	now = days_ago(a, 0);
	const struct {
		const char *raw, *why; /* NULL: it is the member's */
	} cases[] = {
		{ head(a, DESK, now, "f1"), NULL },
		{ arena_printf(a, "%sCc: " DESK "\n", head(a, "x@example.net", now, "f2")), NULL },
		{ head(a, "x@example.net", now, "f3"), "neither To nor Cc" },
		{ arena_printf(a, "To: " DESK "\n%s", head(a, "x@example.net", now, "f4")),
			"there twice" },
		{ arena_printf(a, "Date: %s\n%s", now, head(a, DESK, days_ago(a, 6), "f5")),
			"there twice" },
		{ head(a, DESK, days_ago(a, 6), "f6"), "more than 5 days ago" },
		/* Whichever of its signatures was good, none leaves room for what was added. */
		{ arena_printf(a, CLAIM("example.org", "from:to:subject:date:message-id") "%s",
			  head(a, DESK, now, "f7")),
			NULL },
		{ arena_printf(a,
			  CLAIM("example.org", "from:to:subject:date:message-id") "Cc: " DESK
										  "\n%s",
			  head(a, "x@example.net", now, "f8")),
			"does not cover" },
		{ arena_printf(a, CLAIM("example.org", "from:to:subject:date:message-id; l=5") "%s",
			  head(a, DESK, now, "f9")),
			"only a part of the body" },
		{ arena_printf(
			  a, EIGHT CLAIM("example.org", "from") "%s", head(a, DESK, now, "f11")),
			"more signatures" },
		{ arena_printf(a, CLAIM("example.net", "from") "%s", head(a, DESK, now, "f10")),
			NULL },
	};
	int64_t theirs = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].raw);
		r = mail_comes(&h, JO, arena_printf(a, "%s%s" LETTER, vouched, cases[i].raw));
		CHECK_STR(text_at(&r, "verdict"), cases[i].why ? "none" : "pass");
		CHECK(!cases[i].why || strstr(text_at(&r, "error"), cases[i].why));
		theirs += !cases[i].why;
		CHECK_INT(fixture_count(h.f, AS_MEMBER), theirs);
	}
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

TEST(mail_replay_believes_a_server_in_front_by_lmtp_alone)
{
	static const char *const words[] = { "pass", "fail" };
	struct mail_house h;
	struct arena *a;
	struct answer r;

	mail_house_open(&h);
	a = &h.f->arena;
	add_member(&h);
	for (size_t i = 0; i < 4; i++) {
		const char *
			word = words[i % 2],
		       *letter = arena_printf(a,
			       "Authentication-Results: mx.test; dmarc=%s header.from=example.org\n%s" LETTER,
			       word, head(a, DESK, days_ago(a, 0), arena_printf(a, "w%zu", i)));

		test_step("%s", letter);
		r = mail_await(
			&h, mail_arrive(&h,
				    &(struct mail_arrival_row){ .sender = JO, .by_lmtp = i >= 2 },
				    letter, strlen(letter)));
		CHECK_STR(text_at(&r, "verdict"), i >= 2 ? word : "none");
		CHECK_INT(fixture_count(h.f, AS_MEMBER), i >= 2);
	}
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

TEST(mail_replay_has_an_agent_work_once)
{
	static const char vouched[] =
		"Authentication-Results: mx.test; dmarc=pass header.from=example.org\n";
	struct mail_house h;
	struct arena *a;
	const char *letter;
	struct answer r;

	mail_house_open(&h);
	a = &h.f->arena;
	add_member(&h);
	letter = arena_printf(a, "%s" LETTER, head(a, DESK, days_ago(a, 0), "o1"));
	test_step("copies that are not believed, or wake nobody, came ahead");
	r = mail_comes(&h, JO, letter);
	CHECK_STR(text_at(&r, "verdict"), "none");
	CHECK(json_is_string(at(&r, "session_id"))); /* as anybody whom the rules name */
	r = mail_comes(&h, "", arena_printf(a, "%s%s", vouched, letter));
	CHECK(json_is_null(at(&r, "session_id")));
	CHECK_INT(fixture_count(h.f, AS_MEMBER), 0);
	test_step("the letter");
	r = mail_comes(&h, JO, arena_printf(a, "%s%s", vouched, letter));
	CHECK(json_is_null(at(&r, "error")));
	CHECK_INT(fixture_count(h.f, AS_MEMBER), 1);
	test_step("and copies of it");
	r = mail_comes(&h, JO, arena_printf(a, "%sX-Junk: 1\n%s", vouched, letter));
	CHECK_STR(text_at(&r, "error"), "It came before, and had the agent work then.");
	CHECK_INT(fixture_count(h.f, AS_MEMBER), 1);
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}
