/* test_operating.c - what whoever runs the service meets: variables, files, signals to the supervisor. */
#include "certificate.h"
#include "t.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/files.h"
#include "serve/open.h"
#include "serve/settings.h"

/* A variable that nobody reads is named, with what it may have meant; never its value. */
TEST(settings_names_unknown_variables)
{
	char *some[] = { "LODGE_LISTN=127.0.0.1:1", "LODGE_TOKEN_OF_MINE=hush", "HOME=/",
		"LODGE_MAX_BODY=9m", NULL };
	char *known[] = { "LODGE_ADMIN_EMAIL=a@b.c", "LODGE_ADMIN_PASSWORD=x", "LODGE_DATA=/x",
		NULL };
	static const char *const no_files[] = { NULL };
	struct settings_source from = { .command = "serve", .envp = some, .files = no_files };
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct settings s;

	CHECK_INT(settings_load(&s, &a, &from, &p), 0);
	CHECK_STR(s.unknown_variables[0],
		"\"LODGE_LISTN\" is no variable of this program; did you mean LODGE_LISTEN?");
	CHECK_STR(s.unknown_variables[1], "\"LODGE_TOKEN_OF_MINE\" is no variable of this program");
	CHECK(!s.unknown_variables[2]);
	from.envp = known;
	CHECK_INT(settings_load(&s, &a, &from, &p), 0);
	CHECK(!s.unknown_variables[0]);
	arena_free(&a);
}

/* A host of repositories that is another program is of no use without its address and a token. */
TEST(settings_of_a_host_of_repositories_belong_together)
{
	static const char *const no_files[] = { NULL };
	static const struct {
		const char *flags[4], *says;
	} rows[] = {
		{ { "--repo-host=gitlab" }, "without repo_host_url" },
		{ { "--repo-host=gitea", "--repo-host-url=https://git.example.org" },
			"without repo_host_token_file" },
		{ { "--repo-host-namespace=agents" },
			"repo_host_namespace from --repo-host-namespace" },
		{ { "--repo-host-url=git.example.org" }, "is not the address of a site" },
		{ { "--repo-host-namespace=a//b" }, "is not a group or an organisation" },
		{ { "--repo-host=gitea", "--repo-host-url=https://git.example.org",
			  "--repo-host-token-file=/t", "--repo-host-namespace=a/b" },
			NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct settings_source from = { .command = "serve", .files = no_files };
		struct arena a = { 0 };
		struct problem p = { 0 };
		struct settings s;
		int err;

		test_step("row %zu", i);
		from.argv = (char **)rows[i].flags;
		while (from.argc < 4 && rows[i].flags[from.argc])
			from.argc++;
		err = settings_load(&s, &a, &from, &p);
		CHECK_INT(err, rows[i].says ? ERR_USAGE : 0);
		CHECK(!rows[i].says || (p.detail && strstr(p.detail, rows[i].says)));
		arena_free(&a);
	}
}

/* A value for a setting that names a file, which is not there. */
static const char *missing(const struct setting *row)
{
	return row->file == FILE_PROVIDERS ? "sso=https://sso.example.com,lodge,/nowhere/at/all"
	       : row->file == FILE_SOCKET  ? "unix:/nowhere/at/all"
					   : "/nowhere/at/all";
}

/* Every setting that names a file is looked at, and named if the file is not there.  Two kinds are made
 * by the service itself. */
TEST(files_that_are_missing_are_named_by_their_setting)
{
	static const char *const no_files[] = { NULL };
	struct arena a = { 0 };
	struct files_report report;
	struct settings s;
	struct problem p = { 0 };
	int looked = 0;

	CHECK_INT(settings_load(&s, &a,
			  &(struct settings_source){ .command = "check", .files = no_files }, &p),
		0);
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		struct settings one = s;
		bool made = row->file == FILE_FOLDER || row->file == FILE_MASTER_KEY;

		CHECK((row->shows && strcmp(row->shows, "PATH") == 0 &&
			      strcmp(row->name, "config") != 0) <= (row->file != FILE_NONE));
		if (!row->file)
			continue;
		looked++;
		*(const char **)(void *)((char *)&one + row->at) = missing(row);
		files_look(&one, &a, &report);
		CHECK_INT(report.fault_count, made ? 0 : 1);
		if (!made)
			CHECK(strncmp(report.faults[0], row->name, strlen(row->name)) == 0);
	}
	CHECK_INT(looked, 13);
	arena_free(&a);
}

/* Settings of which none names a file but the data folder, which is not there. */
static void no_files_named(struct settings *s)
{
	for (size_t i = 0; i < settings_count; i++)
		if (settings_table[i].file)
			*(const char **)(void *)((char *)s + settings_table[i].at) = "";
	s->config = s->store = "";
	s->data = "/nowhere/at/all";
}

TEST(files_a_certificate_is_held_against_the_clock)
{
	enum { DAY_S = 86400 };
	static const struct {
		long from, until;
		const char *fault, *warning;
	} cases[] = {
		{ -DAY_S, 60 * DAY_S, NULL, NULL },
		{ -2 * DAY_S, -DAY_S, "has ended", NULL },
		{ DAY_S, 2 * DAY_S, "does not hold yet", NULL },
		{ -DAY_S, 3 * DAY_S + 60, NULL, "ends in 3 days" },
	};
	struct settings s = { 0 };
	struct files_report report;
	struct arena a = { 0 };

	no_files_named(&s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char cert[] = "/tmp/lodge-cert-XXXXXX", key[] = "/tmp/lodge-key-XXXXXX";

		certificate_make(cert, key, cases[i].from, cases[i].until);
		s.tls_cert = cert;
		s.tls_key = key;
		files_look(&s, &a, &report);
		CHECK_INT(report.fault_count, cases[i].fault != NULL);
		CHECK_INT(report.warning_count, cases[i].warning != NULL);
		if (cases[i].fault && report.fault_count)
			CHECK(strstr(report.faults[0], cases[i].fault) != NULL);
		if (cases[i].warning && report.warning_count)
			CHECK(strstr(report.warnings[0], cases[i].warning) != NULL);
		unlink(cert);
		unlink(key);
	}
	arena_free(&a);
}

/* What mail is taken at, and who vouches for the relay. */
TEST(files_of_mail_are_looked_at)
{
	char cert[] = "/tmp/lodge-cert-XXXXXX", key[] = "/tmp/lodge-key-XXXXXX";
	char old[] = "/tmp/lodge-cert-XXXXXX", old_key[] = "/tmp/lodge-key-XXXXXX";
	struct arena a = { 0 };
	struct settings s = { 0 };
	struct files_report report;

	certificate_make(cert, key, -86400, 86400);
	certificate_make(old, old_key, -86400, -3600);
	no_files_named(&s);
	{
		const struct {
			const char *ca, *lmtp, *fault;
		} cases[] = {
			{ cert, "unix:/tmp/lodge-no-such-socket", NULL },
			{ cert, "127.0.0.1:2424", NULL },
			{ "", "unix:here", NULL },
			{ key, "", "no certificate in PEM" },
			{ old, "", "have ended" },
			{ "/dev/null", "", "no certificate in PEM" },
			{ "", "unix:/nowhere/at/all/lmtp",
				"its folder /nowhere/at/all: No such file" },
			{ "", arena_printf(&a, "unix:%s", cert), "no socket" },
		};

		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			test_step("%zu", i);
			s.smtp_relay_ca = cases[i].ca;
			s.lmtp_listen = cases[i].lmtp;
			files_look(&s, &a, &report);
			CHECK_INT(report.fault_count, cases[i].fault != NULL);
			if (cases[i].fault && report.fault_count)
				CHECK(strstr(report.faults[0], cases[i].fault));
		}
	}
	unlink(cert);
	unlink(key);
	unlink(old);
	unlink(old_key);
	arena_free(&a);
}

/* Of a text that somebody else wrote. */
TEST(terminal_is_steered_by_nobody)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	print_plain(f, "a\x1b[2J\r\x7f\xc2\x9b"
		       "1m \xc3\xa9\xc2\xa0\n");
	fclose(f);
	CHECK_STR(out, "a?[2J???1m \xc3\xa9\xc2\xa0\n");
	free(out);
}
