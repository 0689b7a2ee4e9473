/* reload.c - see reload.h. */
#include "serve/reload.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/service.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "call/call.h"
#include "serve/files.h"
#include "serve/operator_secrets.h"
#include "sessions/sessions.h"

enum { SOON_S = 14 * 86400 };

struct reload {
	const struct settings *started;
	pthread_rwlock_t lock; /* over `now`, of which loops read the proxies */
	struct settings *now;
	struct arena arena; /* of `now`, if it is not `started` */
};

struct reload *reload_new(const struct settings *started)
{
	struct reload *r = calloc(1, sizeof *r);

	if (!r)
		abort();
	r->started = started;
	pthread_rwlock_init(&r->lock, NULL);
	return r;
}

void reload_free(struct reload *r)
{
	if (!r)
		return;
	pthread_rwlock_destroy(&r->lock);
	arena_free(&r->arena);
	free(r);
}

const struct settings *reload_current(const struct reload *r)
{
	return r->now ? r->now : r->started;
}

bool reload_trusts(const void *reload, const char *address)
{
	struct reload *r = (struct reload *)reload;
	bool held;

	pthread_rwlock_rdlock(&r->lock);
	held = settings_networks_hold(&reload_current(r)->trusted_proxies, address);
	pthread_rwlock_unlock(&r->lock);
	return held;
}

void reload_look_at_certificate(const struct settings *s)
{
	int64_t left;
	struct http_certificate cert;
	struct arena a = { 0 };
	struct problem p = { 0 };

	if (*s->tls_cert && !http_certificate_read(s->tls_cert, s->tls_key, &cert, &a, &p)) {
		left = cert.until_s - clock_now_us() / SECOND_US;
		if (left < SOON_S)
			log_warn(left > 0 ? "the certificate ends soon"
					  : "the certificate has ended",
				LOG_S("setting", "tls_cert"), LOG_S("file", s->tls_cert),
				LOG_N("days", left / 86400));
	}
	arena_free(&a);
}

/* Plain HTTP does not become HTTPS under open connections, nor the other way round. */
static bool waits_for_restart(
	const struct reload *r, const struct setting *row, const struct settings *next)
{
	bool tls = row->file == FILE_CERTIFICATE || row->file == FILE_TLS_KEY;

	return !row->reloads || (tls && !*r->started->tls_cert != !*next->tls_cert);
}

/* Names, with commas between; one that is there already is not added. */
static void add_name(struct arena *a, const char **list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = *list; at && (at = strstr(at, name)); at += n)
		if ((at == *list || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return;
	*list = arena_printf(a, "%s%s%s", *list ? *list : "", *list ? ", " : "", name);
}

/* The names of what has changed: those that come into force, and those that wait. */
static void compare_settings(const struct reload *r, const struct settings *next, struct arena *a,
	const char **ret_changed, const char **ret_waiting)
{
	*ret_changed = *ret_waiting = NULL;
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		bool waits = waits_for_restart(r, row, next);
		const struct settings *before = waits ? r->started : reload_current(r);
		const char **list = waits ? ret_waiting : ret_changed;

		if (settings_differ(row, before, next))
			add_name(a, list, row->name);
	}
}

static void apply_settings(struct app *app, const struct settings *s)
{
	log_setup((enum log_level)s->log_level, (enum log_format)s->log_format);
	app->settings.access_log = s->access_log;
	app->settings.open_tenants = s->open_tenants;
	app->settings.session_lifetime_us = s->session_lifetime.ms * 1000;
	app->settings.session_idle_us = s->session_idle.ms * 1000;
	app->settings.hook_retention_us = s->webhook_log.ms * 1000;
	app->settings.erase_delay_us = s->erase_delay.ms * 1000;
	sessions_hold(service_of(app)->sessions, s->hold_max.ms * 1000);
}

/* The contents of files change without the settings that name them. */
static void apply_secrets(struct app *app, const struct operator_secrets *fresh, struct arena *a,
	const char **changed)
{
	struct broker_renewed keys = broker_renew(service_of(app)->broker, &fresh->keys);

	if (keys.openai)
		add_name(a, changed, "openai_key_file");
	if (keys.anthropic)
		add_name(a, changed, "anthropic_key_file");
	if (oidc_renew(service_of(app)->oidc, fresh->providers, fresh->provider_count))
		add_name(a, changed, "oidc");
}

static int read_secrets(struct operator_secrets *fresh, const struct app *app,
	const struct settings *s, struct arena *a, struct problem *p)
{
	int err = operator_secrets_read(fresh, s, a, p);

	if (!err && !oidc_takes(service_of(app)->oidc, fresh->providers, fresh->provider_count))
		err = problem_set(p, a, ERR_USAGE,
			"oidc: too many other providers since the start; this change needs a restart");
	return err;
}

static int renew_certificate(const struct reload *r, struct app *app, const struct settings *s,
	struct arena *a, struct problem *p)
{
	struct files_report report;

	if (!*r->started->tls_cert || !*s->tls_cert)
		return 0;
	files_look_tls(s, a, &report); /* what check refuses is not brought into force */
	if (report.fault_count)
		return problem_set(p, a, ERR_USAGE, "%s", report.faults[0]);
	return http_server_renew(app->server, s->tls_cert, s->tls_key, a, p);
}

void reload_run(struct reload *r, struct app *app)
{
	struct arena arena = { 0 }, former;
	struct problem p = { 0 };
	struct settings *next = arena_new(&arena, struct settings);
	struct operator_secrets fresh = { 0 };
	const char *changed, *waiting;

	if (settings_load(next, &arena, r->started->source, &p) ||
		read_secrets(&fresh, app, next, &arena, &p) ||
		renew_certificate(r, app, next, &arena, &p)) {
		log_error("the new settings are not good; those in force stay",
			LOG_S("why", p.detail));
		operator_secrets_wipe(&fresh);
		arena_free(&arena);
		return;
	}
	compare_settings(r, next, &arena, &changed, &waiting);
	apply_secrets(app, &fresh, &arena, &changed);
	operator_secrets_wipe(&fresh);
	pthread_rwlock_wrlock(&r->lock);
	former = r->arena;
	r->arena = arena;
	r->now = next;
	pthread_rwlock_unlock(&r->lock);
	arena_free(&former);
	apply_settings(app, next);
	log_info("the settings were read again", LOG_S("changed", changed ? changed : "none"),
		LOG_S("certificate", *next->tls_cert && *r->started->tls_cert ? "read" : NULL));
	if (waiting)
		log_warn("these settings have changed and wait for a restart",
			LOG_S("which", waiting));
	reload_look_at_certificate(next);
}
