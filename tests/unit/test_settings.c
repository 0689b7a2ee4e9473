/* test_settings.c - the settings: every row, place, bound and sentence, as the table has them; only texts with a form need examples. */
#include "t.h"
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "serve/manual.h"
#include "serve/settings.h"

enum { WORDS_MAX = 8 };

/* One reading of the settings, with what it was given and what came of it. */
struct reading {
	struct arena a;
	struct settings s;
	struct problem p;
	int err;
};

/* Splits text at bars into words; returns how many. */
static int split(struct arena *a, const char *text, char **words)
{
	char *save = NULL;
	int n = 0;

	for (char *w = strtok_r(arena_strdup(a, text), "|", &save); w && n < WORDS_MAX - 1;
		w = strtok_r(NULL, "|", &save))
		words[n++] = w;
	return n;
}

/* Reads flags and variables, each with bars between, and the text of a file (NULL: none). */
static void load(struct reading *r, const char *takes, const char *flags, const char *variables,
	const char *file)
{
	char path[] = "/tmp/lodge-settings-XXXXXX";
	char *argv[WORDS_MAX] = { 0 }, *envp[WORDS_MAX] = { 0 };
	const char *files[] = { path, NULL };
	struct settings_source from = {
		.command = "serve", .takes = takes, .argv = argv, .envp = envp, .files = files
	};
	int fd = mkstemp(path);

	*r = (struct reading){ 0 };
	from.argc = split(&r->a, flags, argv);
	split(&r->a, variables, envp);
	CHECK(fd >= 0);
	if (file)
		CHECK_INT(write(fd, file, strlen(file)), (long long)strlen(file));
	else
		unlink(path);
	close(fd);
	r->err = settings_load(&r->s, &r->a, &from, &r->p);
	unlink(path);
}

static void done(struct reading *r)
{
	arena_free(&r->a);
}

static const char *sentence(const struct reading *r)
{
	return r->p.detail ? r->p.detail : "";
}

/* Checks that the settings were refused in words that hold all of these. */
static void check_refused(struct reading *r, const char *one, const char *two, const char *three)
{
	const char *const parts[] = { one, two, three };

	CHECK_INT(r->err, ERR_USAGE);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(sentence(r), parts[i]))
			test_fail(
				__FILE__, __LINE__, "\"%s\" is not in: %s", parts[i], sentence(r));
	CHECK(!strchr(sentence(r), '\n'));
	CHECK(!strstr(sentence(r), "hunter2")); /* a password in what is refused */
	done(r);
}

/* A good value that is not the default, and a bad one, for texts with a form of their own. */
static const struct example {
	const char *name, *good, *bad;
} examples[] = {
	{ "config", NULL, NULL }, /* names a file: tested on its own */
	{ "listen", "[::1]:9090,0.0.0.0:80", "nowhere" },
	{ "public_url", "https://lodge.example.com/under", "lodge.example.com" },
	{ "tls_cert", NULL, NULL }, /* only together with tls_key */
	{ "tls_key", NULL, NULL },
	{ "trusted_proxies", "10.0.0.0/8, ::1", "10.0.0.0/33" },
	{ "store", "postgres://lodge@db/lodge", "mysql:lodge" },
	{ "bucket", "s3://abc/x y", "elsewhere" },
	{ "bucket_also", "dir:/former", "elsewhere" },
	{ "bucket_endpoint", "https://s3.example.com", "s3.example.com" },
	{ "store_direct", NULL, "sqlite:lodge.db" }, /* only together with a store on PostgreSQL */
	{ "store_replica", NULL, "db.example.com" },
	{ "allow_private_addresses", "127.0.0.1:11434, 10.0.0.0/8", "10.0.0.0/33" },
	{ "mail_domain", "mail.example.org", "nowhere" },
	{ "mail_from", "lodge@example.org", "example.org" },
	{ "lmtp_listen", NULL, "0.0.0.0:24" }, /* only together with mail_domain */
	{ "smtp_listen", NULL, "nowhere" },
	{ "smtp_relay", NULL, "smtp://me:hunter2@relay:587" }, /* needs a sender */
	{ "smtp_relay_user", NULL, NULL },
	{ "smtp_relay_password_file", NULL, NULL },
	{ "mail_resolver", "192.0.2.53:5353", "resolver" },
	{ "mail_authserv_id", "mx.example.org", "mx; dmarc=pass" },
	{ "image_base", NULL, "registry.example.org/base:1" }, /* test_setting_forms.c */
	{ "oidc", "sso=https://sso.example.com,lodge,/etc/sso.secret", "https://sso.example.com" },
};
static const struct example a_path = { "", "keys/elsewhere", NULL };

static const struct example *example_of(const struct setting *row)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		if (strcmp(examples[i].name, row->name) == 0)
			return &examples[i];
	return row->check && strncmp(row->name, "repo_host", 9) != 0 ? NULL : &a_path;
}

/* A good value that is not the default. */
static const char *good_value(const struct setting *row, struct arena *a)
{
	switch (row->kind) {
	case SETTING_FLAG:
		return strcmp(row->preset, "true") == 0 ? "false" : "true";
	case SETTING_WORD:
		return strcmp(row->preset, row->words[0]) == 0 ? row->words[1] : row->words[0];
	case SETTING_NUMBER:
	case SETTING_SIZE:
		return arena_printf(a, "%lld", (long long)row->max - 1);
	case SETTING_SPAN:
		/* The shortest keeps session_idle within session_lifetime, and the other way round
		 * it is the one that has to be long. */
		return strcmp(row->name, "session_lifetime") == 0
			       ? "3000d"
			       : arena_printf(a, "%lldms", (long long)row->min + 1);
	case SETTING_TEXT:
	case SETTING_NETWORKS:
		break;
	}
	return example_of(row) ? example_of(row)->good : NULL;
}

static bool same(const struct setting *row, const struct settings *s, const struct settings *t)
{
	const char *x = (const char *)s + row->at, *y = (const char *)t + row->at;

	switch (row->kind) {
	case SETTING_FLAG:
		return *(const bool *)x == *(const bool *)y;
	case SETTING_WORD:
		return *(const int *)x == *(const int *)y;
	case SETTING_NUMBER:
	case SETTING_SIZE:
	case SETTING_SPAN:
		return *(const int64_t *)x == *(const int64_t *)y;
	case SETTING_TEXT:
	case SETTING_NETWORKS: /* whose text is the first member */
		break;
	}
	return strcmp(*(const char *const *)x, *(const char *const *)y) == 0;
}

/* ---- the table ---- */

TEST(settings_table_is_whole)
{
	struct arena a = { 0 };
	char name[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		bool text = row->kind == SETTING_TEXT || row->kind == SETTING_NETWORKS;

		test_step("%s", row->name);
		CHECK(row->doc && strlen(row->doc) > 10);
		CHECK(row->group && *row->group);
		CHECK(row->preset != NULL);
		CHECK(row->kind == SETTING_FLAG || row->kind == SETTING_WORD ||
			row->max > row->min);
		CHECK((row->kind == SETTING_WORD) == (row->words != NULL));
		CHECK(!row->check || (row->what && row->wanted));
		CHECK(!text || example_of(row));
		CHECK(!text || *row->preset || row->derived);
		CHECK(strlen(row->name) + 8 < SETTING_NAME_MAX);
		CHECK(setting_named(row->name) == row);
		CHECK(*setting_wanted(row, &a) != '\0');
		setting_variable(row, name);
		CHECK(strncmp(name, "LODGE_ADMIN_", 12) != 0);
	}
	arena_free(&a);
}

TEST(settings_names_follow_from_the_row)
{
	char name[SETTING_NAME_MAX];

	setting_flag(setting_named("allow_private_addresses"), name);
	CHECK_STR(name, "--allow-private-addresses");
	setting_variable(setting_named("allow_private_addresses"), name);
	CHECK_STR(name, "LODGE_ALLOW_PRIVATE_ADDRESSES");
	CHECK(!setting_named("no_such"));
}

TEST(settings_defaults)
{
	struct reading r;

	load(&r, NULL, "", "", NULL);
	CHECK_INT(r.err, 0);
	CHECK_STR(r.s.config, "");
	CHECK_STR(r.s.listen, "127.0.0.1:8080");
	CHECK_STR(r.s.data, "./data");
	CHECK_STR(r.s.store, "sqlite:./data/lodge.db");
	CHECK_STR(r.s.master_key_file, "./data/master.key");
	CHECK_STR(r.s.public_url, "http://127.0.0.1:8080");
	CHECK_INT(r.s.max_body.bytes, 8 << 20);
	CHECK_INT(r.s.max_head.bytes, 32 << 10);
	CHECK_INT(r.s.header_timeout.ms, 10000);
	CHECK_INT(r.s.session_lifetime.ms, 30LL * 24 * 3600 * 1000);
	CHECK_INT(r.s.log_level, LOG_INFO);
	CHECK_INT(r.s.log_format, LOG_TEXT);
	CHECK(r.s.access_log);
	CHECK(!r.s.private_all);
	CHECK_INT(r.s.trusted_proxies.count, 0);
	CHECK_INT(r.s.argument_count, 0);
	CHECK(!settings_given(&r.s, "listen"));
	done(&r);
}

/* ---- each row through each place ---- */

TEST(settings_every_row_through_flag_variable_and_file)
{
	char flag[SETTING_NAME_MAX], variable[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		struct arena a = { 0 };
		struct reading by_default, by_flag, by_variable, by_file;
		const char *good =
			strncmp(row->name, "repo_host", 9) != 0 ? good_value(row, &a) : NULL;

		if (!good) {
			arena_free(&a);
			continue;
		}
		test_step("%s", row->name);
		setting_flag(row, flag);
		setting_variable(row, variable);
		load(&by_default, NULL, "", "", NULL);
		load(&by_variable, NULL, "", arena_printf(&a, "%s=%s", variable, good), NULL);
		load(&by_file, NULL, "", "", arena_printf(&a, "%s = %s\n", row->name, good));
		load(&by_flag, NULL, arena_printf(&a, "%s|%s", flag, good), "", NULL);
		if (row->or_flag) {
			/* What may be a flag alone has its value in the same word. */
			CHECK_INT(by_flag.err, ERR_USAGE);
			done(&by_flag);
			load(&by_flag, NULL, arena_printf(&a, "%s=%s", flag, good), "", NULL);
		}
		CHECK_INT(by_flag.err, 0);
		CHECK_INT(by_variable.err, 0);
		CHECK_INT(by_file.err, 0);
		CHECK(!same(row, &by_default.s, &by_flag.s));
		CHECK(same(row, &by_flag.s, &by_variable.s));
		CHECK(same(row, &by_flag.s, &by_file.s));
		CHECK(settings_given(&by_file.s, row->name));
		done(&by_default);
		done(&by_variable);
		done(&by_file);
		done(&by_flag);
		arena_free(&a);
	}
}

TEST(settings_flag_forms)
{
	struct reading r;

	load(&r, NULL, "--max-body|2m|--no-access-log|--open-tenants|--loops=3", "", NULL);
	CHECK_INT(r.err, 0);
	CHECK_INT(r.s.max_body.bytes, 2 << 20);
	CHECK(!r.s.access_log);
	CHECK(r.s.open_tenants);
	CHECK_INT(r.s.loops, 3);
	done(&r);

	load(&r, NULL, "--access-log|off|--open-tenants=Yes|--loops|1|--loops|2", "", NULL);
	CHECK_INT(r.err, 0);
	CHECK(!r.s.access_log);
	CHECK(r.s.open_tenants);
	CHECK_INT(r.s.loops, 2);
	done(&r);

	load(&r, NULL, "--no-access-log=true", "", NULL);
	check_refused(&r, "access_log", "--no-access-log", "takes no value");
	load(&r, NULL, "--no-loops", "", NULL);
	check_refused(&r, "--no-loops", "is not a flag", "");
	load(&r, NULL, "--loops", "", NULL);
	check_refused(&r, "loops from --loops", "missing", "from 0 to 256");
}

TEST(settings_help_outranks_faults)
{
	struct reading r;

	load(&r, NULL, "--loops=x|--help", "LODGE_LISTEN=x", "nonsense");
	CHECK_INT(r.err, 0);
	CHECK(r.s.help);
	done(&r);
	load(&r, "[FILE]", "--|--help", "", NULL);
	CHECK_INT(r.err, 0);
	CHECK(!r.s.help);
	CHECK_INT(r.s.argument_count, 1);
	CHECK_STR(r.s.arguments[0], "--help");
	done(&r);
}

TEST(settings_arguments_are_those_the_command_takes)
{
	struct reading r;

	load(&r, NULL, "more", "", NULL);
	check_refused(&r, "lodge serve", "\"more\"", "only flags");
	load(&r, "FILE", "", "", NULL);
	check_refused(&r, "lodge serve", "needs FILE", "");
	load(&r, "FILE", "one|two", "", NULL);
	check_refused(&r, "\"two\"", "FILE", "");
	load(&r, "FILE [OTHER]", "--loops|2|one", "", NULL);
	CHECK_INT(r.err, 0);
	CHECK_INT(r.s.argument_count, 1);
	CHECK_STR(r.s.arguments[0], "one");
	done(&r);
	load(&r, "[--man]", "--man", "", NULL);
	CHECK_INT(r.err, 0);
	CHECK_STR(r.s.arguments[0], "--man");
	done(&r);
	load(&r, "[--man]", "--ma", "", NULL);
	check_refused(&r, "\"--ma\"", "not a flag", "");
	load(&r, "[--man]", "one", "", NULL);
	check_refused(&r, "\"one\"", "", "");
}

/* ---- rank ---- */

TEST(settings_flag_outranks_variable_outranks_file)
{
	struct reading r;

	load(&r, NULL, "--loops|1", "LODGE_LOOPS=2", "loops = 3");
	CHECK_INT(r.s.loops, 1);
	done(&r);
	load(&r, NULL, "", "LODGE_LOOPS=2", "loops = 3");
	CHECK_INT(r.s.loops, 2);
	done(&r);
	load(&r, NULL, "", "", "loops = 3");
	CHECK_INT(r.s.loops, 3);
	done(&r);
	load(&r, NULL, "", "LODGE_LOOPS=", "loops = 3");
	CHECK_INT(r.s.loops, 3);
	done(&r);
	/* What is outranked must be right all the same. */
	load(&r, NULL, "--loops|1", "LODGE_LOOPS=two", "");
	check_refused(&r, "loops", "LODGE_LOOPS", "whole number");
	load(&r, NULL, "--loops|1", "", "loops = three");
	check_refused(&r, "loops", "line 1", "whole number");
}

/* ---- bounds ---- */

static void check_number(const struct setting *row, long long value, const char *fault)
{
	struct arena a = { 0 };
	struct reading r;
	char flag[SETTING_NAME_MAX];
	const char *unit = row->kind == SETTING_SPAN ? "ms" : "";
	/* The one other setting that a bound of session_* would offend is widened. */
	const char *also = strcmp(row->name, "session_idle") == 0 ? "|--session-lifetime=3650d"
			   : strcmp(row->name, "session_lifetime") == 0 ? "|--session-idle=1m"
									: "";

	setting_flag(row, flag);
	test_step("%s %lld%s", flag, value, unit);
	load(&r, NULL, arena_printf(&a, "%s|%lld%s%s", flag, value, unit, also), "", NULL);
	if (fault) {
		check_refused(&r, row->name, flag, fault);
	} else {
		CHECK_INT(r.err, 0);
		CHECK_INT(*(int64_t *)((char *)&r.s + row->at), value);
		done(&r);
	}
	arena_free(&a);
}

TEST(settings_every_bound)
{
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];

		if (row->kind != SETTING_NUMBER && row->kind != SETTING_SIZE &&
			row->kind != SETTING_SPAN)
			continue;
		check_number(row, row->min, NULL);
		check_number(row, row->max, NULL);
		check_number(row, row->max + 1, "is too large");
		check_number(row, row->min - 1,
			row->min > 0		    ? "is too small"
			: row->kind == SETTING_SPAN ? "is not a duration"
						    : "is not a whole number");
	}
}

TEST(settings_every_text_has_an_end)
{
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		struct arena a = { 0 };
		struct reading r;
		char name[SETTING_NAME_MAX];

		if (row->kind != SETTING_TEXT)
			continue;
		test_step("%s", row->name);
		setting_variable(row, name);
		load(&r, NULL, "", arena_printf(&a, "%s=%*s", name, (int)row->max + 1, "x"), NULL);
		check_refused(&r, row->name, name, "is too long");
		load(&r, NULL, "", arena_printf(&a, "%s=a\tb", name), NULL);
		check_refused(&r, row->name, name, "control character");
		arena_free(&a);
	}
}

/* ---- sentences ---- */

TEST(settings_bad_value_names_setting_place_and_what_is_right)
{
	char flag[SETTING_NAME_MAX], variable[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		bool text = row->kind == SETTING_TEXT || row->kind == SETTING_NETWORKS;
		const char *bad = text ? example_of(row)->bad : "12-apples";
		struct arena a = { 0 };
		struct reading r;
		const char *wanted = setting_wanted(row, &a);

		if (!bad) {
			arena_free(&a);
			continue;
		}
		test_step("%s", row->name);
		setting_flag(row, flag);
		setting_variable(row, variable);
		load(&r, NULL, arena_printf(&a, "%s=%s", flag, bad), "", NULL);
		check_refused(&r, row->name, flag, wanted);
		load(&r, NULL, "", arena_printf(&a, "%s=%s", variable, bad), NULL);
		check_refused(&r, row->name, variable, wanted);
		load(&r, NULL, "", "", arena_printf(&a, "# first\n\n%s = '%s'\n", row->name, bad));
		check_refused(&r, row->name, "line 3", wanted);
		arena_free(&a);
	}
}

TEST(settings_sentences_in_full)
{
	static const struct {
		const char *flags, *says;
	} cases[] = {
		{ "--max-body=12x",
			"max_body from --max-body: \"12x\" is not a size; give bytes, or "
			"a number with k, m or g, from 1k to 1g" },
		{ "--idle-timeout=5", "idle_timeout from --idle-timeout: \"5\" is not a duration; "
				      "give a number with ms, s, m, h or d, from 100ms to 1h" },
		{ "--max-headers=99999999999999999999",
			"max_headers from --max-headers: \"99999999999999999999\" is too large; give "
			"a whole number, from 8 to 1000" },
		{ "--max-body=9999999999999999999g",
			"max_body from --max-body: \"9999999999999999999g\" is too large; give bytes, "
			"or a number with k, m or g, from 1k to 1g" },
		{ "--log-level=loud", "log_level from --log-level: \"loud\" is not known; give "
				      "error, warn, info or debug" },
		{ "--log-format=xml",
			"log_format from --log-format: \"xml\" is not known; give text or json" },
		{ "--access-log=maybe", "access_log from --access-log: \"maybe\" is neither true "
					"nor false; give true or false" },
		{ "--data=", "data from --data: \"\" is empty; give a path of at most 4000 bytes" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct reading r;

		load(&r, NULL, cases[i].flags, "", NULL);
		CHECK_INT(r.err, ERR_USAGE);
		CHECK_STR(sentence(&r), cases[i].says);
		done(&r);
	}
}

TEST(settings_unknown_names_are_guessed)
{
	static const struct {
		const char *flags, *file, *says;
	} cases[] = {
		{ "--max-boddy=1m", NULL, "did you mean --max-body?" },
		{ "--max_body=1m", NULL, "did you mean --max-body?" },
		{ "--no-acess-log", NULL, "did you mean --no-access-log?" },
		{ "--turnips", NULL, "lodge help lists them" },
		{ "-x", NULL, "lodge help lists them" },
		{ "", "lisen = 127.0.0.1:1",
			"line 1: \"lisen\" is not a setting; did you mean listen?" },
		{ "", "\nmax-body = 1m",
			"line 2: \"max-body\" is not a setting; did you mean max_body?" },
		{ "", "turnips = 1", "lodge help lists them" },
		{ "", "config = other.conf", "\"config\" is not a setting" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct reading r;

		load(&r, NULL, cases[i].flags, "", cases[i].file);
		check_refused(&r, cases[i].says, "", "");
	}
}

/* ---- rules over more than one ---- */

TEST(settings_that_belong_together)
{
	static const struct {
		const char *flags, *variables, *says[3]; /* nothing: it is taken */
	} cases[] = {
		{ "--tls-cert=c.pem", "",
			{ "tls_cert from --tls-cert", "without tls_key", "both" } },
		{ "", "LODGE_TLS_KEY=k.pem",
			{ "tls_key from LODGE_TLS_KEY", "without tls_cert", "both" } },
		{ "--tls-cert=c.pem", "LODGE_TLS_KEY=k.pem", { NULL } },
		{ "--session-lifetime=1d", "",
			{ "session_lifetime from --session-lifetime", "session_idle", "1d" } },
		{ "--session-idle=31d", "",
			{ "session_idle from --session-idle", "session_lifetime", "30d" } },
		{ "--session-idle=1d|--session-lifetime=1d", "", { NULL } },
		{ "", "LODGE_STORE_DIRECT=postgres://lodge@db/lodge",
			{ "store_direct", "LODGE_STORE_DIRECT", "store names none" } },
		{ "--store|sqlite:x.db|--store-replica|postgres://lodge@db/lodge", "",
			{ "store_replica", "--store-replica", "store names none" } },
		{ "--store|postgres://lodge@pooler/lodge|--store-direct|postgres://lodge@db/lodge",
			"", { NULL } },
		{ "--smtp-relay-user=lodge", "",
			{ "smtp_relay_user from --smtp-relay-user", "smtp_relay_password_file",
				"both" } },
		{ "--smtp-relay=smtps://relay.example.org:465", "",
			{ "smtp_relay from --smtp-relay", "mail_from", "mail_domain" } },
		{ "--smtp-relay=smtps://relay.example.org:465|--mail-domain=example.org", "",
			{ NULL } },
		{ "--lmtp-listen=unix:lmtp.sock", "",
			{ "lmtp_listen from --lmtp-listen", "mail_domain", "address" } },
		{ "", "LODGE_SMTP_LISTEN=0.0.0.0:25",
			{ "smtp_listen from LODGE_SMTP_LISTEN", "mail_domain", "address" } },
		{ "--lmtp-listen=unix:lmtp.sock|--mail-domain=example.org", "", { NULL } },
		{ "--smtp-listen=[::1]:25,0.0.0.0:25|--mail-domain=example.org", "", { NULL } },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct reading r;

		test_step("%s %s", cases[i].flags, cases[i].variables);
		load(&r, NULL, cases[i].flags, cases[i].variables, NULL);
		if (cases[i].says[0]) {
			check_refused(&r, cases[i].says[0], cases[i].says[1], cases[i].says[2]);
		} else {
			CHECK_INT(r.err, 0);
			done(&r);
		}
	}
}

TEST(settings_derived_follow_the_others)
{
	struct reading r;

	load(&r, NULL, "--data=/srv/x|--listen=0.0.0.0:80,[::]:80", "", NULL);
	CHECK_STR(r.s.store, "sqlite:/srv/x/lodge.db");
	CHECK_STR(r.s.master_key_file, "/srv/x/master.key");
	CHECK_STR(r.s.public_url, "http://localhost:80");
	done(&r);
	load(&r, NULL, "--public-url=https://lodge.example.com/", "", NULL);
	CHECK_STR(r.s.public_url, "https://lodge.example.com");
	done(&r);
	load(&r, NULL, "--tls-cert=c.pem", "", "tls_key = k.pem");
	CHECK_STR(r.s.public_url, "https://127.0.0.1:8080");
	done(&r);
}

/* ---- forms of text ---- */

TEST(settings_forms)
{
	static const char *const good[] = { "listen = localhost:0",
		"listen = [::1]:65535 , 127.0.0.1:1", "store = sqlite:x.db",
		"store = postgresql://h/d", "store = ''", "public_url = http://h:8080/a/b",
		"trusted_proxies = 0.0.0.0/0, ::/0,10.1.2.3", "access_log = ON", "max_body = 16M",
		"idle_timeout = 1500ms" };
	static const char *const bad[] = { "listen = 127.0.0.1",
		"listen = 127.0.0.1:", "listen = :80", "listen = 127.0.0.1:65536",
		"listen = [::1:80", "listen = ::1:80", "listen = 127.0.0.1:80,,", "listen = a b:80",
		"store = sqlite:", "store = postgres://", "store = x.db", "public_url = http://",
		"public_url = https:///x", "public_url = ftp://h", "public_url = http://h?x",
		"public_url = http://u:p@h", "trusted_proxies = ::1/129",
		"trusted_proxies = 10.0.0.0/", "trusted_proxies = 10.0.0.0/x",
		"trusted_proxies = 10.0.0", "trusted_proxies = proxy.example.com",
		"trusted_proxies = 10.0.0.1 10.0.0.2", "access_log = 2", "max_body = 16 m",
		"max_body = -1", "max_body = 16mb", "max_body =", "idle_timeout = 1.5s",
		"idle_timeout = 2w" };
	struct reading r;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		test_step("%s", good[i]);
		load(&r, NULL, "", "", good[i]);
		CHECK_INT(r.err, 0);
		done(&r);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		load(&r, NULL, "", "", bad[i]);
		CHECK_INT(r.err, ERR_USAGE);
		done(&r);
	}
}

/* ---- the file ---- */

TEST(settings_file_forms)
{
	struct reading r;

	load(&r, NULL, "", "",
		"# a comment\r\n\t data=\"a # b\" # c\r\n\n  listen = '127.0.0.1:1'\n"
		"store = postgres://u:p#q@h/d # why\nloops=2");
	CHECK(!r.err && r.s.loops == 2);
	CHECK_STR(r.s.data, "a # b");
	CHECK_STR(r.s.store, "postgres://u:p#q@h/d");
	CHECK(strstr(r.s.config, "lodge-settings-"));
	done(&r);
	load(&r, NULL, "", "", "loops 2");
	check_refused(&r, "line 1", "equals sign", "key = value");
	load(&r, NULL, "", "", "data = \"a\" b");
	check_refused(&r, "data", "line 1", "quotes");
	load(&r, NULL, "", "", "loops = 1\n\nloops = 2");
	check_refused(&r, "loops", "line 3", "line 1 already");
}

TEST(settings_file_that_is_named_must_be_there)
{
	struct reading r;

	load(&r, NULL, "--config=/nonexistent/lodge.conf", "", "loops = 2");
	check_refused(&r, "config from --config", "/nonexistent/lodge.conf", "No such file");
	load(&r, NULL, "", "LODGE_CONFIG=/", NULL);
	check_refused(&r, "config from LODGE_CONFIG", "\"/\"", "directory");
	load(&r, NULL, "--config=/dev/null", "", "loops = 2");
	CHECK(!r.err && r.s.loops == 0 && strcmp(r.s.config, "/dev/null") == 0);
	done(&r);
	load(&r, NULL, "--config=/dev/zero", "", NULL);
	check_refused(&r, "config", "/dev/zero", "64k");
}

TEST(settings_printed_can_be_read_back)
{
	struct reading r, again;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	load(&r, NULL, "--max-body=1536k|--no-access-log", "LODGE_STORE=postgres://u:p@h/d", NULL);
	settings_print(f, &r.s);
	fclose(f);
	CHECK(strstr(text, "max_body = \"1536k\" # from --max-body"));
	CHECK(strstr(text, "access_log = \"false\" # from --no-access-log"));
	CHECK(!strstr(text, "u:p"));
	done(&r);
	free(text);
	load(&r, NULL, "--store=postgre://lodge:hunter2@db/lodge", "", NULL);
	check_refused(&r, "store", "--store", "postgres://");
	f = open_memstream(&text, &n);
	load(&r, NULL, "--max-body=1536k|--session-idle=90m|--trusted-proxies=::1", "", NULL);
	settings_print(f, &r.s);
	fclose(f);
	load(&again, NULL, "", "", text);
	CHECK_INT(again.err, 0);
	for (size_t i = 0; i < settings_count; i++) {
		test_step("%s", settings_table[i].name);
		CHECK(settings_table[i].no_key || same(&settings_table[i], &r.s, &again.s));
	}
	done(&r);
	done(&again);
	free(text);
}
