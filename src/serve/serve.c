/* serve.c - `lodge serve`: puts the rooms together, runs until told to stop, takes them apart.
 *
 * It knows the order in which things must exist, and nothing of what they do. */
#include <errno.h>
#include <pthread.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "access/seal.h"
#include "api/api.h"
#include "api/bootstrap.h"
#include "api/hook_deliver.h"
#include "api/hook_log.h"
#include "api/search.h"
#include "api/erase.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "call/chores.h"
#include "call/feed_number.h"
#include "call/steps.h"
#include "broker/broker.h"
#include "outside/oidc.h"
#include "sessions/hub.h"
#include "sessions/retention.h"
#include "outside/secret_file.h"
#include "queue/runner.h"
#include "sessions/sessions.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"

enum { JOB_KINDS = 2 };
enum { SLOW_WAITING_MAX = 1000, CHORES_EVERY_S = 60, SEAL_EVERY_MS = 500, PASSWORD_LEN = 20 };

struct serving {
	const struct settings *settings;
	struct app app;
	struct sealer *sealer;
	struct tool_pool *tools;
	struct job_kind kinds[JOB_KINDS];
	struct arena *arena;
	struct problem problem;
};

static bool trusts(const void *ctx, const char *address)
{
	return settings_networks_hold(ctx, address);
}

static void configure(struct serving *v)
{
	const struct settings *s = v->settings;

	v->app.settings = (struct app_settings){
		.public_url = s->public_url,
		.secure_cookies = *s->tls_cert || strncmp(s->public_url, "https://", 8) == 0,
		.access_log = s->access_log,
		.open_tenants = s->open_tenants,
		.allow_private_addresses = s->allow_private_addresses,
		.session_lifetime_us = s->session_lifetime.ms * 1000,
		.session_idle_us = s->session_idle.ms * 1000,
		.hook_retention_us = s->webhook_log.ms * 1000,
		.trusts = s->trusted_proxies.count ? trusts : NULL,
		.trusts_ctx = &s->trusted_proxies,
	};
}

static struct http_settings http_settings_of(const struct settings *s)
{
	return (struct http_settings){
		.listen = s->listen,
		.tls_cert = *s->tls_cert ? s->tls_cert : NULL,
		.tls_key = *s->tls_key ? s->tls_key : NULL,
		.loops = (int)s->loops,
		.limits = {
			.max_head = (size_t)s->max_head.bytes,
			.max_headers = (size_t)s->max_headers,
			.max_body = (uint64_t)s->max_body.bytes,
			.max_connections = (size_t)s->max_connections,
			.header_ms = (int)s->header_timeout.ms,
			.body_ms = (int)s->body_timeout.ms,
			.idle_ms = (int)s->idle_timeout.ms,
			.reply_ms = (int)s->reply_timeout.ms,
			.parked_ms = (int)s->parked_timeout.ms,
			.patient_ms = (int)s->patient_timeout.ms,
		},
	};
}

/* A password nobody chose: shown once, on standard output, never in the log. */
static const char *random_password(struct arena *a)
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	char *text = arena_alloc(a, PASSWORD_LEN + 1);

	for (int i = 0; i < PASSWORD_LEN; i++) {
		uint32_t n;

		random_bytes(&n, sizeof n);
		text[i] = letters[n % (sizeof letters - 1)];
	}
	return text;
}

/* The first start of an empty store: the super administrator and the tenant `demo`. */
static int first_start(struct serving *v, struct db *db)
{
	const char *email = getenv("LODGE_ADMIN_EMAIL"), *password = getenv("LODGE_ADMIN_PASSWORD");
	const char *chosen = password && *password ? password : random_password(v->arena);
	char hash[PASSWORD_HASH_MAX];
	struct new_user admin = {
		.email = email && *email ? email : "admin@localhost",
		.name = "Administrator",
		.password_hash = hash,
		.is_super_admin = true,
	};
	bool empty;
	int tries = 10, err = store_is_empty(db, &empty);

	if (err || !empty)
		return err;
	if (!password_hash(chosen, strlen(chosen), hash))
		return problem_set(&v->problem, v->arena, ERR_INTERNAL,
			"not enough memory to hash a password");
	do { /* another process may have been first: look again inside the transaction */
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = store_is_empty(db, &empty);
		if (!err && empty)
			err = bootstrap(db, v->arena, &admin, TENANT_SEEDED);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while ((err == ERR_RETRY || err == ERR_DUPLICATE) && --tries);
	if (!err && empty) {
		printf("Made the super administrator %s", admin.email);
		if (chosen != password)
			printf(" with the password %s\n(shown only now)", chosen);
		printf("\n");
		fflush(stdout);
	}
	return err;
}

/* The index of words is made anew where this program makes it otherwise, or it was never made; and the
 * order of events goes on above all that it holds. */
static int prepare_index(struct serving *v, struct db *db)
{
	int tries = 10, err;

	do {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = search_ensure(db, v->arena);
		if (!err)
			err = feed_repair(db);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while ((err == ERR_RETRY || err == ERR_DUPLICATE) && --tries);
	return err;
}

static int prepare_store(struct serving *v)
{
	struct vault_keys keys;
	struct db *db;
	int from, to,
		err = open_store(&v->app.store, v->settings, STORE_SERVE, v->arena, &v->problem);

	if (!err)
		err = store_migrate(v->app.store, &from, &to, v->arena, &v->problem);
	if (!err && from != to)
		log_info("the store was migrated", LOG_N("from", from), LOG_N("to", to));
	if (!err)
		err = store_connect(v->app.store, &db, v->arena, &v->problem);
	if (err)
		return err;
	err = master_key_load(&keys, v->settings->master_key_file, db, v->arena, &v->problem);
	if (!err) {
		v->app.vault = vault_new(&keys, v->settings->master_key_file);
		err = audit_key_load(db, v->arena, v->app.vault, keys.key[0], v->app.chain_key);
	}
	wipe(&keys, sizeof keys);
	if (!err)
		err = prepare_index(v, db);
	if (!err)
		err = first_start(v, db);
	if (err)
		problem_set(&v->problem, v->arena, err, "the store: %s", db_error(db));
	db_close(db);
	return err;
}

/* The providers at which people may sign in besides here. */
static int prepare_providers(struct serving *v)
{
	struct oidc_config list[OIDC_PROVIDERS_MAX];
	size_t count = 0;
	int err = oidc_config_read(v->settings->oidc, v->arena, list, &count, &v->problem);

	if (!err && !fetch_init())
		return problem_set(&v->problem, v->arena, ERR_INTERNAL, "libcurl does not start");
	if (!err && count)
		v->app.oidc =
			oidc_new(list, count, v->settings->allow_private_addresses, fetch_run);
	for (size_t i = 0; i < count; i++)
		if (list[i].secret)
			wipe((char *)list[i].secret, strlen(list[i].secret));
	return err;
}

static int read_key(struct serving *v, const char *name, const char *path, const char **ret)
{
	const char *fault = NULL;

	if (!*path)
		return 0;
	*ret = secret_file_read(v->arena, path, &fault);
	return *ret ? 0
		    : problem_set(&v->problem, v->arena, ERR_USAGE, "%s: the file %s: %s", name,
			      path, fault);
}

static int prepare_broker(struct serving *v)
{
	const struct settings *s = v->settings;
	struct broker_settings in = { .store = v->app.store,
		.vault = v->app.vault,
		.slow = v->app.slow,
		.accounting = s->accounting,
		.allow_private_addresses = s->allow_private_addresses };
	int err = read_key(v, "openai_key_file", s->openai_key_file, &in.keys.openai);

	if (!err)
		err = read_key(v, "anthropic_key_file", s->anthropic_key_file, &in.keys.anthropic);
	if (err)
		return err;
	if (!in.accounting)
		log_line(LOG_WARN,
			"accounting is off: no budget holds, and no model call is entered", NULL);
	v->app.broker = broker_new(&in);
	return v->app.broker ? 0
			     : problem_set(&v->problem, v->arena, ERR_INTERNAL,
				       "no thread for calls to models can be had");
}

/* Before the store runs: both listen to it. */
static void prepare_queue(struct serving *v)
{
	const struct settings *s = v->settings;

	v->app.sessions = sessions_new(
		&(struct sessions_settings){ .store = v->app.store, .vault = v->app.vault });
	v->kinds[0] = sessions_job_kind(v->app.sessions);
	v->kinds[1] = hook_deliver_kind(&v->app);
	v->app.runner = runner_new(&(struct runner_settings){ .store = v->app.store,
		.kinds = v->kinds,
		.kind_count = JOB_KINDS,
		.most = (size_t)s->jobs,
		.lane_most = (size_t)s->agent_jobs,
		.lease_ms = s->job_lease.ms });
}

/* Last but the door: from here on agents work. */
static int start_queue(struct serving *v)
{
	v->tools = tool_pool_new(&(struct tool_pool_settings){ .vault = v->app.vault,
		.reach = v->settings->allow_private_addresses ? REACH_ANY : REACH_PUBLIC,
		.threads_most = (size_t)v->settings->tool_threads });
	sessions_join(v->app.sessions, v->app.broker, v->tools);
	return runner_start(v->app.runner);
}

static int start(struct serving *v)
{
	struct http_settings http = http_settings_of(v->settings);
	struct http_handler handler = call_handler(&v->app);
	int err = api_setup(&v->app, v->arena, &v->problem);

	if (!err)
		err = prepare_providers(v);
	/* The address first: a start that fails there must not have made an administrator. */
	if (!err)
		err = http_server_new(&v->app.server, &http, &handler, v->arena, &v->problem);
	if (!err)
		err = prepare_store(v);
	if (err)
		return err;
	if (!settings_given(v->settings, "public_url"))
		v->app.settings.public_url = arena_printf(v->arena, "%s://%s",
			http.tls_cert ? "https" : "http", http_server_address(v->app.server));
	v->app.slow = slow_pool_new((int)v->settings->slow_workers, SLOW_WAITING_MAX);
	prepare_queue(v);
	v->app.hub = hub_new(v->app.store);
	err = store_start(v->app.store);
	if (!err)
		err = hub_start(v->app.hub);
	if (!err)
		err = prepare_broker(v);
	if (!err)
		err = start_queue(v);
	v->sealer = sealer_new(v->app.store, v->app.chain_key);
	return err ? err : http_server_start(v->app.server);
}

static int left_until(int64_t end_ms)
{
	int64_t left = end_ms - clock_mono_ms();

	return left > 0 ? (int)left : 0;
}

/* What works asks models and tools, and all of it writes into the store: in this order. */
static void stop_queue(struct serving *v, int64_t end_ms)
{
	if (v->app.runner)
		runner_stop(v->app.runner, left_until(end_ms));
	broker_stop(v->app.broker, left_until(end_ms));
	tool_pool_free(v->tools);
	sessions_stop(v->app.sessions);
}

/* Leases last while the loops wait for their last replies. */
static void tick(void *broker)
{
	broker_tick(broker);
}

static void stop(struct serving *v)
{
	int64_t began = clock_mono_ms();

	hub_stop(v->app.hub); /* streams end at once; who listens goes on elsewhere, or later */
	if (v->app.server)
		http_server_drain(v->app.server, (int)v->settings->stop_grace.ms,
			v->app.broker ? tick : NULL, v->app.broker);
	stop_queue(v, began + v->settings->stop_grace.ms);
	slow_pool_free(v->app.slow);
	if (v->app.store && v->app.hook_log)
		hook_log_flush(&v->app, clock_now_us());
	if (v->sealer)
		sealer_wake(v->sealer); /* what was done last is sealed too */
	if (v->app.store)
		store_stop(v->app.store);
	hub_free(v->app.hub);
	sealer_free(v->sealer);
	runner_free(v->app.runner);
	sessions_free(v->app.sessions);
	broker_free(v->app.broker);
	http_server_free(v->app.server);
	store_close(v->app.store);
	api_teardown(&v->app);
	oidc_free(v->app.oidc);
	vault_free(v->app.vault);
	wipe(v->app.chain_key, sizeof v->app.chain_key);
}

static void do_chores(struct app *app)
{
	chores_submit(app);
	erase_submit(app);
	broker_chores(app->broker);
	hook_log_forget(app, clock_now_us());
	retention_submit(app->store, clock_now_us());
}

/* Waits for a signal that ends the service; has the audit log sealed and does the chores meanwhile. */
static int wait_for_signal(struct serving *v, const sigset_t *set)
{
	struct timespec turn = { .tv_nsec = SEAL_EVERY_MS * 1000000 };
	int got, turns = 0;

	while ((got = sigtimedwait(set, NULL, &turn)) < 0) {
		if (errno != EAGAIN)
			continue;
		sealer_wake(v->sealer);
		vault_refresh(v->app.vault);
		broker_tick(v->app.broker);
		hook_log_flush(&v->app, clock_now_us());
		if (++turns % (CHORES_EVERY_S * 1000 / SEAL_EVERY_MS) == 0)
			do_chores(&v->app);
	}
	return got;
}

/* What requests have given back is soon wanted again: kept for them, up to so much, instead of returned to the
 * system and faulted in anew. */
static void keep_memory(void)
{
	enum { KEPT = 4 << 20 };

	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_MMAP_THRESHOLD, KEPT);
}

int command_serve(const struct settings *s, struct arena *a)
{
	struct serving v = { .settings = s, .arena = a };
	sigset_t set;
	int err, got;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	keep_memory();
	signal(SIGPIPE, SIG_IGN);
	log_setup((enum log_level)s->log_level, (enum log_format)s->log_format);
	configure(&v);
	err = start(&v);
	if (err) {
		problem_set(&v.problem, a, err, "%s", error_row(err)->title);
		stop(&v);
		complain(&v.problem);
		return 1;
	}
	if (geteuid() == 0)
		log_line(LOG_WARN, "running as root; a user of its own is safer", NULL);
	printf("Lodge is at %s (the document is at %s/openapi.json)\n", v.app.settings.public_url,
		v.app.settings.public_url);
	fflush(stdout);
	log_info("serving", LOG_S("address", http_server_address(v.app.server)),
		LOG_S("version", LODGE_VERSION),
		LOG_S("store", store_is_sqlite(v.app.store) ? "sqlite" : "postgres"));
	got = wait_for_signal(&v, &set);
	log_info("stopping", LOG_S("signal", strsignal(got)));
	stop(&v);
	return 0;
}
