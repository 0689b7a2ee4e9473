/* test_setting_forms.c - what single settings take: networks, and the places and addresses of mail. */
#include "t.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/setting_value.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(setting_networks_hold_addresses)
{
	static const char *const in[] = { "10.1.2.3", "::ffff:10.1.2.3", "192.168.7.255", "::1",
		"2001:db8:ffff::1" };
	static const char *const out[] = { "11.0.0.0", "192.168.8.0", "::2", "2001:db9::1",
		"10.0.0.0/8", "", "nonsense" };
	struct arena a = { 0 };
	struct settings s = { 0 };

	CHECK(!setting_read(setting_named("trusted_proxies"), &a,
		"10.0.0.0/8, 192.168.4.0/22, ::1, 2001:db8::/32", &s));
	CHECK_INT(s.trusted_proxies.count, 4);
	for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
		test_step("%s", in[i]);
		CHECK(settings_networks_hold(&s.trusted_proxies, in[i]));
	}
	for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
		test_step("%s", out[i]);
		CHECK(!settings_networks_hold(&s.trusted_proxies, out[i]));
	}
	arena_free(&a);
}

/* Words with bars between, of a command that takes "[--from ADDRESS] [--to URL] WORD...". */
static int words_of(struct arena *a, struct settings *ret, struct problem *p, const char *words)
{
	char *argv[12], *save = NULL, *envp[] = { NULL };
	const char *files[] = { NULL };
	struct settings_source from = { .command = "mail deliver",
		.takes = "[--from ADDRESS] [--to URL] [--quiet] WORD...",
		.argv = argv,
		.envp = envp,
		.files = files };

	*p = (struct problem){ 0 };
	for (char *w = strtok_r(arena_strdup(a, words), "|", &save); w;
		w = strtok_r(NULL, "|", &save))
		argv[from.argc++] = w;
	return settings_load(ret, a, &from, p);
}

TEST(setting_forms_a_flag_of_a_command_takes_the_next_word)
{
	static const char *const senders[] = { "-a@example.org", "--a=b@example.org", "-h",
		"--help", "--no-such@example.org", "--" };
	struct arena a = { 0 };
	struct settings s;
	struct problem p;

	for (size_t i = 0; i < sizeof senders / sizeof *senders; i++) {
		test_step("%s", senders[i]);
		CHECK_INT(
			words_of(&a, &s, &p, arena_printf(&a, "--from|%s|--|b@x", senders[i])), 0);
		CHECK(!s.help);
		CHECK_INT((int64_t)s.argument_count, 3);
		CHECK_STR(s.arguments[1], senders[i]);
		CHECK_INT(words_of(&a, &s, &p, arena_printf(&a, "--from=%s|b@x", senders[i])), 0);
		CHECK_STR(s.arguments[1], senders[i]);
	}
	test_step("a value that was forgotten");
	CHECK_INT(words_of(&a, &s, &p, "b@x|--from"), ERR_USAGE);
	CHECK(strstr(p.detail, "the value of --from is missing"));
	CHECK_INT(words_of(&a, &s, &p, "b@x|--from|--to|c"), ERR_USAGE);
	test_step("one without a value takes none");
	CHECK_INT(words_of(&a, &s, &p, "--quiet|b@x"), 0);
	CHECK_INT((int64_t)s.argument_count, 2);
	CHECK_INT(words_of(&a, &s, &p, "--quiet|-h"), 0);
	CHECK(s.help);
	arena_free(&a);
}

TEST(setting_forms_of_mail)
{
	static const struct {
		const char *name, *text;
		bool good;
	} cases[] = {
		{ "lmtp_listen", "", true },
		{ "lmtp_listen", "unix:/run/lodge/lmtp", true },
		{ "lmtp_listen", "127.0.0.1:2424", true },
		{ "lmtp_listen", "[::1]:2424", true },
		{ "lmtp_listen", "unix:", false },
		{ "lmtp_listen", "127.0.0.1", false },
		{ "lmtp_listen", "127.0.0.1:24,0.0.0.0:24", false },
		{ "lmtp_listen", "192.0.2.1:24", false },
		{ "lmtp_listen", "[::]:24", false },
		{ "lmtp_listen", "localhost:24", false },
		{ "smtp_relay", "smtps://relay.example.org:465", true },
		{ "smtp_relay", "smtp://relay.example.org:587", true },
		{ "smtp_relay", "http://relay.example.org", false },
		{ "mail_from", "lodge@example.org", true },
		{ "mail_from", "Lodge <lodge@example.org>", false },
		{ "mail_from", "lodge@example.org\r\nX: y", false },
		{ "mail_resolver", "192.0.2.53", true },
		{ "mail_resolver", "ns.example.org", false },
		{ "mail_authserv_id", "mx.example.org", true },
		{ "mail_authserv_id", "mx.example.org; dmarc=pass", false },
		{ "mail_authserv_id", "\"mx\"", false },
		{ "mail_authserv_id", "m\xc3\xbcx", false },
		{ "image_base", "registry.example.org:5000/a/b_c/d:1.0@sha256:" DIGEST, true },
		{ "image_base", "docker.io/library/python:3@sha256:" DIGEST, true },
		{ "image_base", "docker.io/library/python@sha256:" DIGEST, false },
		{ "image_base", "docker.io/library/python:3", false },
		{ "image_base", "python:3@sha256:" DIGEST, false },
		{ "image_base", "library/python:3@sha256:" DIGEST, false },
		{ "image_base", "docker.io/Python:3@sha256:" DIGEST, false },
		{ "image_base", "docker.io/python:3@sha256:0123456789abcdef", false },
		{ "image_base", "docker.io/python:3@sha256:" DIGEST "0", false },
		{ "image_base", "docker.io/python:-3@sha256:" DIGEST, false },
		{ "image_base", "docker.io/a:1@sha256:" DIGEST "\nRUN id", false },
		{ "image_base", "docker.io/a//b:1@sha256:" DIGEST, false },
		{ "image_base", "docker.io/a__b:1@sha256:" DIGEST, true },
		{ "image_base", "docker.io/a..b:1@sha256:" DIGEST, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		struct settings s = { 0 };
		const char *fault =
			setting_read(setting_named(cases[i].name), &a, cases[i].text, &s);

		test_step("%s = %s", cases[i].name, cases[i].text);
		CHECK(!fault == cases[i].good);
		arena_free(&a);
	}
}
