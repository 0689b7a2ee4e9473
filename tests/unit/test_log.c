/* test_log.c - lines of the log and what stands in them: no value, whatever its bytes, breaks a line, and
 * no header reaches the log, the audit or the store as anything but text. */
#include "t.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/log.h"
#include "call/forwarded.h"
#include "fixture.h"
#include "oracle.h"

static void check_line(const char *line, size_t len, enum log_format format)
{
	CHECK(len <= LOG_LINE_MAX && line[len - 1] == '\n' && !memchr(line, '\n', len - 1));
	CHECK(utf8_valid(line, len));
	if (format == LOG_JSON)
		CHECK(oracle_accepts(line, len - 1));
}

/* Each byte, alone and as all that comes, at lengths around every limit, in one value and in many. */
TEST(log_lines_hold_whatever_the_values_are)
{
	static char line[LOG_LINE_MAX], value[9001];
	static const size_t lengths[] = { 0, 1, 2, 3, 170, 171, 1020, 1021, 1022, 1023, 1024, 1025,
		1026, 8191, 8192, 9000 };

	for (int byte = 1; byte < 256; byte++) {
		for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
			struct log_pair pairs[11] = { 0 };
			static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h",
				"i", "j" };

			memset(value, byte, lengths[i]);
			value[lengths[i]] = '\0';
			for (int k = 0; k < 10; k++)
				pairs[k] = (struct log_pair)LOG_S(names[k], value);
			test_step("byte %d, %zu times", byte, lengths[i]);
			for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
				size_t len = log_compose(
					line, LOG_WARN, (enum log_format)format, value, pairs);

				check_line(line, len, (enum log_format)format);
			}
		}
	}
}

TEST(log_cuts_long_values_between_characters)
{
	static char line[LOG_LINE_MAX], value[4096];
	static const char *const signs[] = { "a", "\u00e9", "\u20ac", "\U0001f600" };

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		for (size_t shift = 0; shift < 5; shift++) {
			struct log_pair pair[] = { LOG_S("v", value), { 0 } };
			size_t len = 0, n = strlen(signs[i]);

			memset(value, 'x', shift);
			for (len = shift; len + n < sizeof value; len += n)
				memcpy(value + len, signs[i], n);
			value[len] = '\0';
			len = log_compose(line, LOG_INFO, LOG_JSON, "m", pair);
			check_line(line, len, LOG_JSON);
			CHECK(memmem(line, len, "...\"", 4) && !memmem(line, len, "fffd", 4));
		}
	}
}

static const struct {
	const char *text, *address; /* NULL: it is none */
} addresses[] = {
	{ "192.0.2.1", "192.0.2.1" },
	{ "192.0.2.1:443", "192.0.2.1" },
	{ "2001:DB8::1", "2001:db8::1" },
	{ "[2001:db8::1]", "2001:db8::1" },
	{ "[2001:db8::1]:65535", "2001:db8::1" },
	{ "::ffff:192.0.2.7", "192.0.2.7" },
	{ "", NULL },
	{ "unknown", NULL },
	{ "_hidden", NULL },
	{ "192.0.2", NULL },
	{ "192.0.2.1:", NULL },
	{ "192.0.2.1:x", NULL },
	{ "192.0.2.1 x", NULL },
	{ "192.0.2.1:123456", NULL },
	{ "[192.0.2.1]", NULL },
	{ "[2001:db8::1", NULL },
	{ "[2001:db8::1]x", NULL },
	{ "fe80::1%eth0", NULL },
	{ "\x80\x80\x80", NULL },
	{ "1.2.3.4' or 1=1", NULL },
};

TEST(forwarded_addresses_are_parsed)
{
	char out[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
		bool ok = address_read(addresses[i].text, strlen(addresses[i].text), out);

		test_step("%s", addresses[i].text);
		CHECK_INT(ok, addresses[i].address != NULL);
		if (ok)
			CHECK_STR(out, addresses[i].address);
	}
}

static bool trusts_all(const void *ctx, const char *address)
{
	(void)ctx;
	return strcmp(address, "203.0.113.9") != 0;
}

static const char *last_ip(struct fixture *f)
{
	struct answer r = ask(f, f->admin, NULL, "GET /admin/audit-logs?per_page=1");

	return text_at(&r, "items.0.ip");
}

/* What is no address leaves the last one that was; the audit row is written on both engines. */
TEST(forwarded_headers_that_are_no_text_are_survived)
{
	struct fixture *f = fixture_open();
	static const struct {
		const char *said, *ip;
	} rows[] = {
		{ "203.0.113.9", "203.0.113.9" },
		{ "6.6.6.6, 203.0.113.9", "203.0.113.9" },
		{ "\x80\xff", "127.0.0.1" },
		{ "6.6.6.6, \xff\xfe, 10.0.0.7:80", "10.0.0.7" },
		{ "nonsense, [2001:db8::7]:4", "2001:db8::7" },
		{ ",", "127.0.0.1" },
	};

	f->app.settings.trusts = trusts_all;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t before = fixture_count(f, "select count(*) from audit_logs");

		test_step("%zu", i);
		STATUS(ask(f, NULL, "{\"email\":\"who@example.com\",\"password\":\"wrong wrong\"}",
			       "POST /auth/login\nX-Forwarded-For: %s\r\nUser-Agent: caf\xe9 \x80\xc3",
			       rows[i].said),
			401);
		CHECK_INT(fixture_count(f, "select count(*) from audit_logs"), before + 1);
		CHECK_STR(last_ip(f), rows[i].ip);
	}
	fixture_close(f);
}

/* Every header that is looked at, with bytes that are not UTF-8 and at a length that is: nothing answers
 * with a fault of ours. */
TEST(headers_of_any_bytes_are_no_fault_of_ours)
{
	static const char *const names[] = { "User-Agent", "Accept", "Accept-Encoding",
		"Authorization", "Cookie", "Origin", "If-Match", "If-None-Match", "Idempotency-Key",
		"Last-Event-ID", "OpenAI-Organization", "Forwarded", "X-Forwarded-For",
		"Content-Type", "X-Odd" };
	struct fixture *f = fixture_open();
	char *value = arena_alloc(&f->arena, 4001);

	memset(value, 0xe9, 4000);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		for (int form = 0; form < 3; form++) {
			const char *text = form == 0 ? "\x80" : form == 1 ? "a\xc3(\xff" : value;
			bool ours = strcmp(names[i], "Authorization") == 0 ||
				    strcmp(names[i], "Content-Type") == 0;
			const char *token = ours ? NULL : f->admin;

			test_step("%s, form %d", names[i], form);
			CHECK(ask(f, token, "{\"name\":\"A\"}", "POST /tenant/%s/agents\n%s: %s",
				      f->tenant_id, names[i], text)
					.status < 500);
			CHECK(ask(f, token, NULL, "GET /v1/models\n%s: %s", names[i], text).status <
				500);
			CHECK(ask(f, token, NULL, "GET /me\n%s: %s", names[i], text).status < 500);
		}
	}
	fixture_close(f);
}

/* What a pipe holds, after which it is empty. */
static char *drain(int fd, size_t *ret_len)
{
	char *text = malloc(1 << 20);
	size_t len = 0;

	for (ssize_t n; text && (n = read(fd, text + len, (1 << 20) - len - 1)) > 0;)
		len += (size_t)n;
	text[len] = '\0';
	*ret_len = len;
	return text;
}

static void say_lines(int count, const char *value)
{
	for (int i = 0; i < count; i++)
		log_info("said", LOG_N("i", i), LOG_S("a", value), LOG_S("b", value),
			LOG_S("c", value), LOG_S("d", value), LOG_S("e", value));
}

/* A reader that stands still stops nobody, and what it reads later are whole lines. */
TEST(log_never_waits_for_its_reader)
{
	int ends[2], before = dup(STDERR_FILENO);
	char value[1025], *first, *second;
	size_t first_len, second_len;
	uint64_t missed = log_dropped();

	memset(value, 'v', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	CHECK_INT(pipe(ends), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	dup2(ends[1], STDERR_FILENO);
	log_setup(LOG_INFO, LOG_JSON);
	say_lines(1000, value);
	missed = log_dropped() - missed;
	first = drain(ends[0], &first_len);
	say_lines(1, "x");
	second = drain(ends[0], &second_len);
	log_setup(LOG_SILENT, LOG_TEXT);
	dup2(before, STDERR_FILENO);
	close(before);
	close(ends[0]);
	close(ends[1]);
	CHECK(missed > 900 && missed < 1000);
	CHECK(first_len > 40000 && strstr(second, "the log was not read"));
	snprintf(value, sizeof value, "\"lines\":%llu}", (unsigned long long)missed);
	CHECK(strstr(second, value));
	first = realloc(first, first_len + second_len + 1);
	memcpy(first + first_len, second, second_len + 1);
	for (char *at = first; *at;) {
		size_t len = strcspn(at, "\n") + 1;

		check_line(at, len, LOG_JSON);
		at += len;
	}
	free(first);
	free(second);
}
