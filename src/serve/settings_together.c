/* settings_together.c - what settings mean for each other: which cannot be without another, and which follow from others. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "repos/image_files.h"
#include "serve/setting_value.h"

/* Settings of which one is of no use without the other. */
static const struct {
	const char *one, *other, *why;
} pairs[] = {
	{ "tls_cert", "tls_key", "give both for HTTPS or neither for HTTP" },
	{ "smtp_relay_user", "smtp_relay_password_file",
		"give both for a relay that asks for a password, or neither" },
};

static int check_pairs(const struct settings *s, struct arena *a, struct problem *p)
{
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		bool one = settings_given(s, pairs[i].one),
		     other = settings_given(s, pairs[i].other);
		const char *have = one ? pairs[i].one : pairs[i].other;

		if (one != other)
			return problem_set(p, a, ERR_USAGE, "%s %s: it is given without %s; %s",
				have, settings_origin(s, have)->words,
				one ? pairs[i].other : pairs[i].one, pairs[i].why);
	}
	return 0;
}

/* A host of repositories is reached by its address and a token; this service needs neither. */
static int check_repo_host(const struct settings *s, struct arena *a, struct problem *p)
{
	const struct {
		const char *name, *value;
		bool needed;
	} rows[] = { { "repo_host_url", s->repo_host_url, true },
		{ "repo_host_token_file", s->repo_host_token_file, true },
		{ "repo_host_namespace", s->repo_host_namespace, false } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (s->repo_host && rows[i].needed && !*rows[i].value)
			return problem_set(p, a, ERR_USAGE,
				"repo_host %s: it is given without %s; a host that is not this service needs "
				"both repo_host_url and repo_host_token_file",
				settings_origin(s, "repo_host")->words, rows[i].name);
		if (!s->repo_host && *rows[i].value)
			return problem_set(p, a, ERR_USAGE,
				"%s %s: it is given without repo_host; give gitlab or gitea for that",
				rows[i].name, settings_origin(s, rows[i].name)->words);
	}
	return 0;
}

int settings_check_together(const struct settings *s, struct arena *a, struct problem *p)
{
	int err = check_pairs(s, a, p);

	if (!err)
		err = check_repo_host(s, a, p);
	if (err)
		return err;
	if ((*s->store_direct || *s->store_replica) && strncmp(s->store, "postgres", 8) != 0) {
		const char *which = *s->store_direct ? "store_direct" : "store_replica";

		return problem_set(p, a, ERR_USAGE,
			"%s %s: it is of a PostgreSQL database, and store names none", which,
			settings_origin(s, which)->words);
	}
	if (*s->smtp_relay && !*s->mail_from && !*s->mail_domain)
		return problem_set(p, a, ERR_USAGE,
			"smtp_relay %s: it is given without mail_from or mail_domain, and the service has "
			"no address to write from",
			settings_origin(s, "smtp_relay")->words);
	if ((*s->lmtp_listen || *s->smtp_listen) && !*s->mail_domain) {
		const char *which = *s->lmtp_listen ? "lmtp_listen" : "smtp_listen";

		return problem_set(p, a, ERR_USAGE,
			"%s %s: it is given without mail_domain, and nobody here has an address that mail could "
			"come to",
			which, settings_origin(s, which)->words);
	}
	if (s->session_idle.ms > s->session_lifetime.ms) {
		const char *which =
			settings_given(s, "session_idle") ? "session_idle" : "session_lifetime";

		return problem_set(p, a, ERR_USAGE,
			"%s %s: session_idle is longer than session_lifetime; give at most %s for it",
			which, settings_origin(s, which)->words,
			setting_text(setting_named("session_lifetime"), a, s));
	}
	return 0;
}

void settings_derive(struct settings *s, struct arena *a)
{
	size_t n;

	if (!setting_is_flag(s->allow_private_addresses, &s->private_all))
		s->private_all = false;
	if (!*s->store)
		s->store = arena_printf(a, "sqlite:%s/lodge.db", s->data);
	if (!*s->master_key_file)
		s->master_key_file = arena_printf(a, "%s/master.key", s->data);
	if (!*s->bucket)
		s->bucket = arena_printf(a, "dir:%s/bucket", s->data);
	if (!*s->image_base)
		s->image_base = IMAGE_BASE;
	if (!*s->repo_folder)
		s->repo_folder = arena_printf(a, "%s/repositories", s->data);
	for (n = strlen(s->repo_folder); n > 1 && s->repo_folder[n - 1] == '/';)
		n--;
	s->repo_folder = arena_strndup(a, s->repo_folder, n);
	n = strlen(s->public_url);
	if (!*s->bucket_endpoint)
		s->bucket_endpoint =
			arena_printf(a, "https://s3.%s.amazonaws.com", s->bucket_region);
	if (!*s->mail_from && *s->mail_domain && *s->smtp_relay)
		s->mail_from = arena_printf(a, "lodge@%s", s->mail_domain);
	while (n && s->public_url[n - 1] == '/')
		n--;
	s->public_url = arena_strndup(a, s->public_url, n);
	if (!n) {
		size_t first = strcspn(s->listen, ", "), port = first;

		while (port && s->listen[port] != ':')
			port--;
		/* "Any address" is no address to call. */
		if (strncmp(s->listen, "0.0.0.0:", 8) == 0 || strncmp(s->listen, "[::]:", 5) == 0)
			s->public_url = arena_printf(a, "http%s://localhost%.*s",
				*s->tls_cert ? "s" : "", (int)(first - port), s->listen + port);
		else
			s->public_url = arena_printf(
				a, "http%s://%.*s", *s->tls_cert ? "s" : "", (int)first, s->listen);
	}
}
