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

#include "access/holders.h"
#include "access/audit_chain.h"
#include "api/tenants/bootstrap.h"
#include "api/people/accounts.h"
#include "api/people/approval_letters.h"
#include "api/people/letter_fill.h"
#include "api/service.h"
#include "serve/registry.h"
#include "api/erasure/gone.h"
#include "webhooks/hook_deliver.h"
#include "webhooks/hook_log.h"
#include "api/tenants/erase.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/memory.h"
#include "call/maintenance.h"
#include "call/held.h"
#include "broker/broker.h"
#include "bucket/bucket.h"
#include "letterbox/letterbox.h"
#include "mailboxes/mail_domains.h"
#include "mailboxes/mail_arrival.h"
#include "mailboxes/mail_reading.h"
#include "mailboxes/mail_secret.h"
#include "mailboxes/mail_send_job.h"
#include "mailboxes/mailbox_job.h"
#include "console/console.h"
#include "repos/converge.h"
#include "repos/host_sync.h"
#include "repos/mirrors.h"
#include "repos/repo_keep.h"
#include "events/hub.h"
#include "sessions/retention.h"
#include "queue/crash.h"
#include "queue/runner.h"
#include "sessions/session_file_move.h"
#include "sessions/sessions.h"
#include "serve/first_start.h"
#include "serve/host_place.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"
#include "serve/operator_secrets.h"
#include "serve/relay.h"
#include "serve/reload.h"
#include "serve/supervisor.h"
#include "store/pool.h"

enum { JOB_KINDS = 8 };
enum {
	READING_LEAST = 3, /* a tenant has all but one */
	READING_MOST = 16,
	DISK_THREADS = 8,
	DISK_IDLE_S = 10,
	DISK_WAITING = 4096,
	IMPORT_THREADS = 4, /* a tenant has one */
	IMPORT_WAITING = 256,
	PROGRAM_THREADS = 4, /* a tenant has all but one */
	PROGRAM_WAITING = 32,
	PROGRAM_WAIT_MS = 10000, /* for a thread; then it is told to come later */
	REMOTE_THREADS = 4,	 /* a tenant has one */
	REMOTE_WAITING = 32,
	SLOW_WAITING_MAX = 1000,
	MAINTENANCE_EVERY_S = 60,
	CHAIN_EVERY_MS = 500,
	MIRRORS_EVERY_TURNS = 4
};

struct serving {
	const struct settings *settings;
	struct service service;
	struct chain_writer *chain_writer;
	struct holder holder; /* which master key this process seals with */
	struct keeper *keeper;
	struct tool_pool *tools;
	struct mail_reader *mail_reader;
	struct mail_sender *mail;
	struct repo_converger converger;
	struct host_syncer host_syncer;
	struct job_kind kinds[JOB_KINDS];
	struct reload *reload;
	struct smtp_relay relay;
	struct operator_secrets secrets; /* until whoever uses them has begun */
	bool on_terminal;
	struct arena *arena;
	struct problem problem;
};

/* Refusing requests is of no use to a process that is killed for its size before it does so.  The other half is
 * the store's, the threads' and what is made between two counts. */
static uint64_t house_memory(const struct settings *s)
{
	uint64_t wanted = (uint64_t)s->house_memory.bytes, limit = memory_limit();

	if (!limit || wanted <= limit / 2)
		return wanted;
	log_warn("requests hold less than house_memory says: the process is given too little",
		LOG_N("house_memory", (int64_t)wanted), LOG_N("given", (int64_t)limit),
		LOG_N("used", (int64_t)(limit / 2)));
	return limit / 2;
}

static void configure_app(struct serving *v)
{
	const struct settings *s = v->settings;

	v->service.app.settings = (struct app_settings){
		.public_url = s->public_url,
		.secure_cookies = *s->tls_cert || strncmp(s->public_url, "https://", 8) == 0,
		.access_log = s->access_log,
		.open_tenants = s->open_tenants,
		.allow_private_addresses = s->private_all,
		.session_lifetime_us = s->session_lifetime.ms * 1000,
		.session_idle_us = s->session_idle.ms * 1000,
		.hook_retention_us = s->webhook_log.ms * 1000,
		.erase_delay_us = s->erase_delay.ms * 1000,
		.tenant_memory = (uint64_t)s->tenant_memory.bytes,
		.address_memory = (uint64_t)s->address_memory.bytes,
		.house_memory = house_memory(s),
		.person_streams = (uint64_t)s->person_streams,
		.tenant_streams = (uint64_t)s->tenant_streams,
		.trusts = reload_trusts,
		.trusts_ctx = v->reload,
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
			.max_arena = (size_t)s->request_memory.bytes,
			.max_connections = (size_t)s->max_connections,
			.max_address = (size_t)s->address_connections,
			.max_address_head = (size_t)s->address_memory.bytes,
			.header_ms = (int)s->header_timeout.ms,
			.body_ms = (int)s->body_timeout.ms,
			.idle_ms = (int)s->idle_timeout.ms,
			.reply_ms = (int)s->reply_timeout.ms,
			.deferred_ms = (int)s->parked_timeout.ms,
			.patient_ms = (int)s->patient_timeout.ms,
		},
	};
}

/* Another mail_domain takes mail from nobody who has an address of the former one. */
static int warn_of_mail(struct serving *v, struct db *db)
{
	const char *left = NULL, *reserved = NULL, *bare = NULL;
	int err = db_begin(db, READ_ONLY);

	if (!err)
		err = mail_domain_left(db, v->arena, &left);
	if (!err)
		err = mail_domain_reserved(db, v->arena, &reserved);
	if (!err)
		err = mail_domain_unsigned(db, v->arena, &bare);
	db_rollback(db);
	if (left)
		log_line(LOG_WARN, left, NULL);
	if (reserved)
		log_line(LOG_WARN, reserved, NULL);
	if (bare)
		log_line(LOG_WARN, bare, NULL);
	return err;
}

/* One that was lost is missed before anybody is served, and not object by object. */
static int prepare_bucket(struct serving *v, struct db *db)
{
	return open_bucket(
		&v->service.bucket, v->settings, db, BUCKET_SERVES, v->arena, &v->problem);
}

static int prepare_store(struct serving *v)
{
	struct vault_keys keys;
	struct db *db;
	int from, to,
		err = open_to_serve(
			&v->service.app.store, v->settings, false, v->arena, &v->problem);

	if (!err)
		err = store_migrate(v->service.app.store, &from, &to, v->arena, &v->problem);
	if (!err && from != to)
		log_info("the store was migrated", LOG_N("from", from), LOG_N("to", to));
	if (!err)
		err = store_connect(v->service.app.store, &db, v->arena, &v->problem);
	if (err)
		return err;
	err = master_key_load(&keys, v->settings->master_key_file, db, v->arena, &v->problem);
	if (!err) {
		v->service.app.vault = vault_new(&keys, v->settings->master_key_file);
		err = holder_join(db, v->arena, &v->holder, v->service.app.vault);
	}
	if (!err)
		err = audit_key_load(
			db, v->arena, v->service.app.vault, keys.key[0], v->service.app.chain_key);
	wipe(&keys, sizeof keys);
	if (!err)
		err = mail_token_key_load(db, v->arena, v->service.app.vault, clock_now_us());
	if (!err)
		err = open_derived(db, v->arena);
	if (!err)
		err = prepare_bucket(v, db);
	if (!err)
		err = warn_of_mail(v, db);
	if (!err)
		err = open_repos(&v->service.repos, v->settings, db, v->arena, &v->problem);
	if (!err)
		err = first_start(db, v->arena, &v->problem);
	if (err)
		problem_set(&v->problem, v->arena, err, "the store: %s", db_error(db));
	db_close(db);
	return err;
}

/* The providers at which people may sign in besides here. */
static int prepare_providers(struct serving *v)
{
	int err = operator_secrets_read(&v->secrets, v->settings, v->arena, &v->problem);

	if (!err)
		err = relay_of(&v->relay, v->settings, v->arena, &v->problem);
	if (!err)
		err = host_of(&v->service.host, v->settings, v->arena, &v->problem);
	v->service.relay = &v->relay;
	settings_open_places(v->settings);
	if (!err && !fetch_init())
		return problem_set(&v->problem, v->arena, ERR_INTERNAL, "libcurl does not start");
	if (!err)
		v->service.oidc = oidc_new(v->secrets.providers, v->secrets.provider_count,
			v->settings->private_all, fetch_run);
	return err;
}

static int prepare_broker(struct serving *v)
{
	const struct settings *s = v->settings;
	struct broker_settings in = { .store = v->service.app.store,
		.vault = v->service.app.vault,
		.slow = v->service.app.slow,
		.held = v->service.app.held,
		.accounting = s->accounting,
		.allow_private_addresses = s->private_all,
		.keys = v->secrets.keys };

	if (!in.accounting)
		log_line(LOG_WARN,
			"accounting is off: no budget holds, and no model call is entered", NULL);
	v->service.broker = broker_new(&in);
	return v->service.broker ? 0
				 : problem_set(&v->problem, v->arena, ERR_INTERNAL,
					   "no thread for calls to models can be had");
}

/* Its places are taken before a store is made, as the listener's are. */
static int prepare_letterbox(struct serving *v)
{
	const struct settings *s = v->settings;

	return letterbox_new(&v->service.letterbox,
		&(struct letterbox_settings){ .lmtp = s->lmtp_listen,
			.smtp = s->smtp_listen,
			.host = s->mail_domain,
			.bytes_max = s->mail_max_bytes.bytes },
		v->arena, &v->problem);
}

/* Before the store runs: both listen to it. */
static void prepare_queue(struct serving *v)
{
	const struct settings *s = v->settings;

	v->service.sessions =
		sessions_new(&(struct sessions_settings){ .store = v->service.app.store,
			.vault = v->service.app.vault,
			.hold_max_us = s->hold_max.ms * 1000 });
	v->kinds[0] = sessions_job_kind(v->service.sessions);
	v->kinds[1] = hook_deliver_kind(
		v->service.hook_post, v->service.app.store, v->service.app.patterns);
	v->kinds[2] = mailbox_job_kind(&v->service.app.store);
	v->mail_reader = mail_reader_new(v->service.app.store);
	v->kinds[3] = mail_reader_job_kind(v->mail_reader);
	v->mail = mail_sender_new(&(struct mail_sender_settings){ .store = v->service.app.store,
		.vault = v->service.app.vault,
		.bucket = &v->service.bucket,
		.relay = &v->service.relay });
	v->kinds[4] = mail_sender_kind(v->mail);
	v->converger = (struct repo_converger){ .store = &v->service.app.store,
		.repos = &v->service.repos,
		.disk = &v->service.app.disk };
	v->kinds[5] = repo_converge_kind(&v->converger);
	v->service.mirrors = mirrors_new(&(struct mirrors_settings){ .store = &v->service.app.store,
		.repos = &v->service.repos,
		.vault = &v->service.app.vault,
		.host = &v->service.host,
		.egress = s->private_all ? EGRESS_ANY : EGRESS_PUBLIC });
	v->kinds[6] = mirrors_job_kind(v->service.mirrors);
	v->host_syncer.store = &v->service.app.store;
	v->host_syncer.host = &v->service.host;
	v->host_syncer.pool = &v->service.app.tools;
	v->kinds[7] = host_sync_kind(&v->host_syncer);
	v->service.letters =
		letter_post_new(&(struct letter_post_settings){ .store = v->service.app.store,
			.vault = v->service.app.vault,
			.relay = &v->relay,
			.fill = letter_fill,
			.ctx = &v->service.app });
	v->service.runner = runner_new(&(struct runner_settings){ .store = v->service.app.store,
		.kinds = v->kinds,
		.kind_count = JOB_KINDS,
		.most = (size_t)s->jobs,
		.lane_most = (size_t)s->agent_jobs,
		.lease_ms = s->job_lease.ms,
		.crashed = crash_watch(v->arena, arena_printf(v->arena, "%s/crashed", s->data),
			queue_process()) });
}

/* Last but the listener: from here on agents work. */
static int start_queue(struct serving *v)
{
	v->tools = tool_pool_new(&(struct tool_pool_settings){ .vault = v->service.app.vault,
		.egress = v->settings->private_all ? EGRESS_ANY : EGRESS_PUBLIC,
		.threads_most = (size_t)v->settings->tool_threads });
	v->service.app.tools = tool_pool_threads(v->tools);
	sessions_join(v->service.sessions, v->service.broker, v->tools);
	sessions_keep_files(v->service.sessions, v->service.bucket, v->service.app.disk);
	v->service.mover =
		file_mover_new(v->service.bucket, v->service.app.store, v->service.app.disk);
	mail_reader_join(v->mail_reader, v->service.bucket, v->service.helper, v->service.app.disk);
	return runner_start(v->service.runner);
}

/* Those who read large bodies are as many as those who take them in. */
static size_t reading_threads(const struct settings *s)
{
	long loops = s->loops ? (long)s->loops : sysconf(_SC_NPROCESSORS_ONLN);

	return loops < READING_LEAST  ? READING_LEAST
	       : loops > READING_MOST ? READING_MOST
				      : (size_t)loops;
}

static int start_serving(struct serving *v)
{
	struct http_settings http = http_settings_of(v->settings);
	struct http_handler handler;
	int err = api_setup(&v->service, v->arena, &v->problem);

	if (!err)
		err = prepare_providers(v);
	if (err)
		return err;
	v->service.app.unrouted = v->settings->console ? console_answer : console_absent;
	handler = call_handler(&v->service.app);
	/* The address first: a start that fails there must not have made an administrator. */
	err = http_server_new(&v->service.app.server, &http, &handler, v->arena, &v->problem);
	if (!err)
		err = prepare_letterbox(v);
	if (!err)
		err = prepare_store(v);
	if (err)
		return err;
	if (!settings_given(v->settings, "public_url"))
		v->service.app.settings.public_url =
			arena_printf(v->arena, "%s://%s", http.tls_cert ? "https" : "http",
				http_server_address(v->service.app.server));
	v->service.app.slow = pool_new_shared((size_t)v->settings->slow_workers, SLOW_WAITING_MAX);
	v->service.app.disk = pool_new(&(struct pool_settings){ .threads = DISK_THREADS,
		.idle_s = DISK_IDLE_S,
		.threads_left = 1,
		.waiting = DISK_WAITING,
		.waiting_each = DISK_WAITING / POOL_SHARE });
	v->service.app.imports = pool_new(&(struct pool_settings){ .threads = IMPORT_THREADS,
		.idle_s = DISK_IDLE_S,
		.threads_left = IMPORT_THREADS - 1,
		.waiting = IMPORT_WAITING,
		.waiting_each = IMPORT_WAITING / POOL_SHARE });
	v->service.app.programs = pool_new(&(struct pool_settings){ .threads = PROGRAM_THREADS,
		.idle_s = DISK_IDLE_S,
		.threads_left = 1,
		.waiting = PROGRAM_WAITING,
		.waiting_each = PROGRAM_WAITING / POOL_SHARE,
		.withdraws = true });
	v->service.app.remotes = pool_new(&(struct pool_settings){ .threads = REMOTE_THREADS,
		.idle_s = DISK_IDLE_S,
		.threads_left = REMOTE_THREADS - 1,
		.waiting = REMOTE_WAITING,
		.waiting_each = REMOTE_WAITING / POOL_SHARE,
		.withdraws = true });
	v->service.app.reading = pool_new_shared(reading_threads(v->settings), SLOW_WAITING_MAX);
	prepare_queue(v);
	v->service.app.hub = hub_new(v->service.app.store);
	err = open_repo_urls(&v->service.app, v->arena, &v->problem);
	if (!err)
		err = store_start(v->service.app.store);
	if (!err)
		err = hub_start(v->service.app.hub);
	if (!err)
		err = prepare_broker(v);
	operator_secrets_wipe(&v->secrets);
	if (!err)
		err = start_queue(v);
	v->chain_writer = chain_writer_new(v->service.app.store, v->service.app.chain_key);
	v->keeper = keeper_new(v->service.app.store, &v->holder);
	if (!err)
		err = letterbox_start(v->service.letterbox, v->service.app.store, v->service.bucket,
			v->service.app.disk);
	return err ? err : http_server_start(v->service.app.server);
}

static int left_until(int64_t end_ms)
{
	int64_t left = end_ms - clock_mono_ms();

	return left > 0 ? (int)left : 0;
}

/* What works asks models and tools, and all of it writes into the store: in this order. */
static void stop_queue(struct serving *v, int64_t end_ms)
{
	if (v->service.runner)
		runner_stop(v->service.runner, left_until(end_ms));
	mirrors_stop(v->service.mirrors);
	mail_reader_stop(v->mail_reader);
	broker_stop(v->service.broker, left_until(end_ms));
	mail_sender_free(v->mail);
	tool_pool_free(v->tools);
	sessions_stop(v->service.sessions);
}

/* Leases last while the loops wait for their last replies. */
static void tick_serving(void *serving)
{
	struct serving *v = serving;

	if (v->service.broker)
		broker_tick(v->service.broker);
	if (v->keeper)
		keeper_wake(v->keeper);
}

/* Nothing is sealed here any more, and nobody has to wait for this process. */
static void leave_holders(struct serving *v)
{
	struct problem ignored = { 0 };
	struct db *db = NULL;

	if (!v->service.app.store || !*v->holder.id ||
		store_connect(v->service.app.store, &db, v->arena, &ignored))
		return; /* it is taken for dead after a while */
	holder_leave(db, &v->holder);
	db_close(db);
}

static void stop_serving(struct serving *v)
{
	int64_t began = clock_mono_ms(), grace = reload_current(v->reload)->stop_grace.ms;

	runner_leave(
		v->service
			.runner); /* sessions go on elsewhere while requests come to their end here */
	hub_stop(v->service.app
			 .hub); /* streams end at once; who listens goes on elsewhere, or later */
	letterbox_quiet(v->service.letterbox); /* who brings no message now is told to come later */
	if (v->service.app.server)
		http_server_drain(v->service.app.server, (int)grace, tick_serving, v);
	letterbox_drain(v->service.letterbox, left_until(began + grace));
	stop_queue(v, began + grace);
	letter_post_stop(v->service.letters);
	pool_free(v->service.app.reading);
	pool_free(v->service.app.imports);
	pool_free(v->service.app.programs);
	pool_free(v->service.app.remotes);
	bucket_stop(v->service.bucket);
	repos_stop(v->service.repos);
	pool_free(v->service.app.disk);
	v->service.app.disk =
		NULL; /* what is given back from here on waits for the disk by itself */
	pool_free(v->service.app.slow);
	if (v->service.app.store && v->service.hook_log)
		hook_log_flush(v->service.hook_log, v->service.app.store, clock_now_us());
	if (v->chain_writer)
		chain_writer_wake(v->chain_writer); /* what was done last is sealed too */
	if (v->service.app.store)
		store_stop(v->service.app.store);
	leave_holders(v);
	hub_free(v->service.app.hub);
	chain_writer_free(v->chain_writer);
	keeper_free(v->keeper);
	runner_free(v->service.runner);
	letter_post_free(v->service.letters);
	sessions_free(v->service.sessions);
	mail_reader_free(v->mail_reader);
	broker_free(v->service.broker);
	letterbox_free(v->service.letterbox);
	http_server_free(v->service.app.server);
	store_close(v->service.app.store);
	file_mover_free(v->service.mover);
	bucket_free(v->service.bucket);
	mirrors_free(v->service.mirrors);
	repos_free(v->service.repos);
	api_teardown(&v->service);
	oidc_free(v->service.oidc);
	vault_free(v->service.app.vault);
	wipe(v->service.app.chain_key, sizeof v->service.app.chain_key);
	reload_free(v->reload);
}

/* The rows of what was deleted; from the start on, since the process before may have died over it. */
static void go_on_removing(struct app *app)
{
	erase_submit(app);
	gone_submit(app);
	accounts_erase_submit(app);
}

static void maintain_service(struct app *app)
{
	maintenance_submit(app);
	store_probe(app->store);
	go_on_removing(app);
	broker_maintain(service_of(app)->broker);
	hook_log_forget(service_of(app)->hook_log, app->store, app->settings.hook_retention_us,
		clock_now_us());
	hook_bodies_forget(app->store, clock_now_us());
	bucket_claim_submit(service_of(app)->bucket, app->store, app->disk);
	bucket_sweep_submit(service_of(app)->bucket, app->store, app->disk, clock_now_us());
	repo_sweep_submit(service_of(app)->repos, app->store, app->disk, clock_now_us());
	repo_keep_submit(service_of(app)->repos, app->store, clock_now_us());
	host_sweep_submit(service_of(app)->host, app->store, clock_now_us());
	bucket_collect_submit(service_of(app)->bucket, app->store, app->disk, clock_now_us());
	file_mover_start(service_of(app)->mover);
	retention_submit(app->store, clock_now_us());
	mail_arrival_forget(app->store, clock_now_us());
	approval_letters_submit(app);
	letter_post_wake(service_of(app)->letters);
}

/* What a signal asks for.  Those that others send to have files opened anew ask for nothing here: the log
 * is standard error. */
static const struct signal_row {
	int number;
	enum { ENDS, RELOADS, IGNORED } asks;
} signals[] = {
	{ SIGTERM, ENDS },
	{ SIGINT, ENDS },
	{ SIGHUP, RELOADS },
	{ SIGUSR1, IGNORED },
	{ SIGUSR2, IGNORED },
};

static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(set, signals[i].number);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* True if the service is to end. */
static bool obey_signal(struct serving *v, int number)
{
	size_t i = 0;

	while (signals[i].number != number)
		i++;
	switch (signals[i].asks) {
	case ENDS:
		return true;
	case IGNORED:
		log_info("a signal that asks for nothing here", LOG_S("signal", strsignal(number)));
		return false;
	case RELOADS:
		break;
	}
	/* A terminal that is closed says the same, and whoever sat at it expects an end. */
	if (v->on_terminal && !isatty(STDIN_FILENO))
		return true;
	supervisor_tell(SUPERVISOR_RELOADING);
	reload_run(v->reload, &v->service.app);
	supervisor_tell(SUPERVISOR_READY);
	return false;
}

/* After a peak: what was held then and is free now goes back to the system. */
static void give_back_memory(struct serving *v)
{
	enum { PEAK = 64 << 20 };
	struct memory_account *house = held_house(v->service.app.held);
	uint64_t held = house->held, peak = house->peak;

	if (peak < PEAK || held > peak / 4)
		return;
	malloc_trim(0);
	house->peak = held;
}

/* Waits for a signal that ends the service; has the audit log sealed and does the maintenance meanwhile. */
static int wait_for_signal(struct serving *v, const sigset_t *set)
{
	struct timespec turn = { .tv_nsec = CHAIN_EVERY_MS * 1000000 };
	int got, turns = 0;

	go_on_removing(&v->service.app);
	host_sweep_submit(v->service.host, v->service.app.store, clock_now_us());
	file_mover_start(v->service.mover);
	letter_post_wake(v->service.letters);
	while ((got = sigtimedwait(set, NULL, &turn)) < 0 || !obey_signal(v, got)) {
		if (got > 0 || errno != EAGAIN)
			continue;
		store_watch(v->service.app.store);
		chain_writer_wake(v->chain_writer);
		vault_refresh(v->service.app.vault);
		keeper_wake(v->keeper);
		broker_tick(v->service.broker);
		hook_log_flush(v->service.hook_log, v->service.app.store, clock_now_us());
		pool_withdraw_late(v->service.app.programs, PROGRAM_WAIT_MS);
		pool_withdraw_late(v->service.app.remotes, PROGRAM_WAIT_MS);
		give_back_memory(v);
		if (turns % MIRRORS_EVERY_TURNS == 0)
			mirrors_sweep(v->service.mirrors, clock_now_us());
		if (++turns % (MAINTENANCE_EVERY_S * 1000 / CHAIN_EVERY_MS) == 0)
			maintain_service(&v->service.app);
	}
	return got;
}

/* What requests have given back is soon wanted again: kept for them, up to so much, instead of returned to the
 * system and faulted in anew. */
static void keep_memory(void)
{
	enum { KEPT = 4 << 20, RESERVE = 8 << 20 };

	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_MMAP_THRESHOLD, KEPT);
	memory_reserve(RESERVE);
}

int command_serve(const struct settings *s, struct arena *a)
{
	struct serving v = { .settings = s,
		.arena = a,
		.reload = reload_new(s),
		.on_terminal = isatty(STDIN_FILENO) };
	sigset_t set;
	int err, got;

	block_signals(&set);
	keep_memory();
	log_setup((enum log_level)s->log_level, (enum log_format)s->log_format);
	for (const char *const *u = s->unknown_variables; *u; u++)
		log_warn("an unknown variable", LOG_S("which", *u));
	configure_app(&v);
	err = start_serving(&v);
	if (err) {
		problem_set(&v.problem, a, err, "%s", error_row(err)->title);
		stop_serving(&v);
		complain(&v.problem);
		return 1;
	}
	if (geteuid() == 0)
		log_line(LOG_WARN, "running as root; a user of its own is safer", NULL);
	printf("Lodge is at %s (the document is at %s/openapi.json)\n",
		v.service.app.settings.public_url, v.service.app.settings.public_url);
	fflush(stdout);
	log_info("serving", LOG_S("address", http_server_address(v.service.app.server)),
		LOG_S("version", LODGE_VERSION),
		LOG_S("store", store_is_sqlite(v.service.app.store) ? "sqlite" : "postgres"));
	reload_look_at_certificate(s);
	supervisor_tell(SUPERVISOR_READY);
	got = wait_for_signal(&v, &set);
	supervisor_tell(SUPERVISOR_STOPPING);
	log_info("stopping", LOG_S("signal", strsignal(got)));
	stop_serving(&v);
	return 0;
}
