/* system.c - what watches the service itself: health, readiness, metrics, version, the document. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "call/operation.h"
#include "api/admin/mail_figures.h"
#include "api/service.h"
#include "webhooks/hook_log.h"
#include "base/clock.h"
#include "broker/broker.h"
#include "bucket/bucket.h"
#include "call/metrics.h"
#include "queue/queue_admin.h"
#include "queue/runner.h"
#include "git/bare.h"
#include "repos/repo_keep.h"
#include "events/hub.h"

struct Health {
	const char *status;
};

FIELDS(Health) = {
	FIELD(Health, status, .required = true, .example = "\"ok\"",
		.doc = "ok, as long as anything answers."),
};
static SCHEMA(Health, .doc = "A sign of life.");

struct Version {
	const char *version;
};

FIELDS(Version) = {
	FIELD(Version, version, .required = true, .example = "\"0.1.0\"",
		.doc = "Of the program that answers."),
};
static SCHEMA(Version, .doc = "Which program answers.");

static const struct statement sql[] = {
	{ "system_ready", "select count(*) from meta where key = 'schema_version'" },
};
STATEMENT_SET(system_sql, sql);

OPERATION(health, NONE, Health, .storeless = true)
{
	out->status = "ok";
	return 0;
}

OPERATION(ready, NONE, Health, .unstored = true)
{
	char unfollowed[VAULT_FAULT_LEN];
	const char *closed = store_closed(c->app->store);
	int64_t n;
	int err, fault;

	if (!c->db)
		return call_fail(
			c, ERR_STORE, "%s", closed ? closed : "The store cannot be reached.");
	err = db_int(c->db, &sql[0], &n, NO_ARGS);
	fault = store_trouble(c->app->store);
	out->status = "ready";
	/* A server that was away and has just answered is back. */
	if (fault == ERR_STORE && !store_is_sqlite(c->app->store))
		fault = 0;
	if (!err && !fault && c->app->vault && vault_fault(c->app->vault, unfollowed))
		return call_fail(
			c, ERR_KEY, "No secret can be stored by this process: %s.", unfollowed);
	if (err || !fault)
		return err;
	/* It reads, but the last write failed: whether it still would is found out for the next who asks. */
	store_probe(c->app->store);
	return call_fail(c, fault,
		fault == ERR_STORE_FULL ? "The store has no room left: nothing can be written."
					: "The store does not take what is written.");
}

OPERATION(version, NONE, Version, .storeless = true)
{
	out->version = LODGE_VERSION;
	return 0;
}

/* What the rooms behind the request's count: metrics.c may not know them. */
static void write_runs(const struct service *service, struct buf *out)
{
	struct broker_stats b =
		service->broker ? broker_stats(service->broker) : (struct broker_stats){ 0 };
	const struct figure figures[] = {
		{ "lodge_model_calls_begun_total", "counter", "Calls to models begun.", b.begun },
		{ "lodge_model_calls_finished_total", "counter", "Calls to models that ended well.",
			b.finished },
		{ "lodge_model_calls_failed_total", "counter", "Calls to models that failed.",
			b.failed },
		{ "lodge_model_calls_cancelled_total", "counter",
			"Calls to models that nobody waited for any more.", b.cancelled },
		{ "lodge_model_calls_refused_total", "counter",
			"Calls to models refused by a budget, a limit or for want of room.",
			b.refused },
		{ "lodge_model_failovers_total", "counter",
			"Times the next model of a chain took over.", b.failovers },
		{ "lodge_model_calls_open", "gauge", "Calls to models under way.", b.open },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

static void write_events(const struct service *service, struct buf *out)
{
	struct hub_stats h =
		service->app.hub ? hub_stats(service->app.hub) : (struct hub_stats){ 0 };
	const struct figure figures[] = {
		{ "lodge_event_streams_open", "gauge", "Streams of a session's events open here.",
			h.watches },
		{ "lodge_events_sent_total", "counter", "Events sent to streams of sessions.",
			h.events },
		{ "lodge_event_reads_total", "counter",
			"Times the events of a session were read for its streams.", h.reads },
		{ "lodge_webhook_calls_unlogged_total", "counter",
			"Refused calls of webhooks beyond what the log of deliveries takes.",
			service->hook_log ? hook_log_dropped(service->hook_log) : 0 },
		{ "lodge_webhook_calls_unknown_total", "counter",
			"Calls of webhooks to addresses that are not there.",
			service->hook_log ? hook_log_unknown_calls(service->hook_log) : 0 },
		{ "lodge_bucket_up", "gauge",
			"1 if the bucket of all tenants could be reached when it was last looked at.",
			service->bucket && bucket_is_well(service->bucket) },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

static void write_repositories(const struct service *service, struct buf *out)
{
	struct repo_keep_figures k = service->repos ? repo_keep_figures(service->repos)
						    : (struct repo_keep_figures){ 0 };
	struct bare_cache_figures h = bare_cache_figures();
	const struct figure figures[] = {
		{ "lodge_repositories_kept_total", "counter",
			"Repositories whose files were put in order.", k.kept },
		{ "lodge_repositories_unkept_total", "counter",
			"Repositories that git could not put in order.", k.failed },
		{ "lodge_repositories_put_off_total", "counter",
			"Repositories that were left for the next night, because somebody pushed.",
			k.put_off },
		{ "lodge_repository_histories_hit_total", "counter",
			"Histories of files that were there already.", h.hits },
		{ "lodge_repository_histories_missed_total", "counter",
			"Histories of files that had to be read.", h.misses },
		{ "lodge_repository_histories_bytes", "gauge",
			"Bytes of histories that are kept in memory.", h.bytes },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

/* Bytes of memory that the process has in use, or 0. */
static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	char line[128], *end = line;

	if (!f)
		return 0;
	if (!fgets(line, sizeof line, f))
		*line = '\0';
	fclose(f);
	strtoull(line, &end, 10); /* the address space; what is resident comes second */
	return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint64_t count = 0;

	if (!folder)
		return 0;
	for (const struct dirent *entry; (entry = readdir(folder));)
		count += *entry->d_name != '.';
	closedir(folder);
	return count - 1; /* this one */
}

static int64_t process_began;

/* Under the names that are usual for any process. */
static void write_process(struct buf *out)
{
	const struct figure figures[] = {
		{ "process_start_time_seconds", "gauge", "When the process began, since 1970.",
			(uint64_t)(process_began / SECOND_US) },
		{ "process_resident_memory_bytes", "gauge", "Memory that the process has in use.",
			resident_bytes() },
		{ "process_open_fds", "gauge", "Files and connections that are open.",
			open_files() },
	};

	buf_printf(out,
		"# HELP lodge_build_info The program, and the version of the store that it is made for.\n"
		"# TYPE lodge_build_info gauge\n"
		"lodge_build_info{version=\"%s\",store_version=\"%d\"} 1\n",
		LODGE_VERSION, store_version_wanted());
	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

__attribute__((constructor)) static void note_beginning(void)
{
	process_began = clock_now_us();
}

/* What only the store knows is left out while it is away. */
static int write_queue(struct call *c, struct buf *out)
{
	struct runner_stats r = service_of(c->app)->runner
					? runner_stats(service_of(c->app)->runner)
					: (struct runner_stats){ 0 };
	struct queue_depth d = { 0 };
	int err = c->db ? queue_depth(c->db, c->arena, &d) : ERR_STORE;
	bool known = !err;
	const int fault = store_trouble(c->app->store);
	const struct figure figures[] = {
		{ "lodge_jobs_begun_total", "counter", "Attempts at jobs begun here.", r.begun },
		{ "lodge_jobs_finished_total", "counter", "Jobs finished here.", r.finished },
		{ "lodge_jobs_failed_total", "counter", "Attempts at jobs that failed here.",
			r.failed },
		{ "lodge_jobs_lost_total", "counter",
			"Jobs given to others because this process gave no sign of life.", r.lost },
		{ "lodge_jobs_open", "gauge", "Jobs this process runs now.", r.open },
		{ "lodge_jobs_tenants", "gauge",
			"Tenants that this process will ask for jobs next.", r.tenants },
		{ "lodge_jobs_oldest_seconds", "gauge",
			"How long the oldest job that may run has waited.",
			d.oldest && c->now > d.oldest ? (uint64_t)((c->now - d.oldest) / SECOND_US)
						      : 0 },
	};
	const struct {
		const char *state;
		int64_t count;
	} depths[] = { { "waiting", d.waiting }, { "delayed", d.delayed }, { "held", d.held },
		{ "running", d.running }, { "dead", d.dead } };

	const struct figure store[] = {
		{ "lodge_store_up", "gauge", "1 while the store can be reached.",
			known && fault != ERR_STORE },
		{ "lodge_store_version", "gauge",
			"The version of the store's tables, which may be newer than the program.",
			(uint64_t)store_version_seen(c->app->store) },
		{ "lodge_store_full", "gauge", "1 while the store has no room left.",
			fault == ERR_STORE_FULL },
	};

	if (err && err != ERR_STORE)
		return err;
	metrics_figures(store, sizeof store / sizeof *store, out);
	metrics_figures(figures, sizeof figures / sizeof *figures - !known, out);
	if (!known)
		return 0;
	buf_lit(out, "# HELP lodge_jobs Jobs of the queue, by state.\n# TYPE lodge_jobs gauge\n");
	for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
		buf_printf(out, "lodge_jobs{state=\"%s\"} %lld\n", depths[i].state,
			(long long)depths[i].count);
	return 0;
}

OPERATION(metrics, NONE, NONE, .gives = "text/plain", .untagged = true, .unstored = true)
{
	int err;

	c->x->reply.type = "text/plain; version=0.0.4; charset=utf-8";
	write_process(&c->x->reply.body);
	metrics_write(c->app, &c->x->reply.body);
	write_runs(service_of(c->app), &c->x->reply.body);
	write_events(service_of(c->app), &c->x->reply.body);
	write_repositories(service_of(c->app), &c->x->reply.body);
	err = mail_figures(c, &c->x->reply.body);
	return err ? err : write_queue(c, &c->x->reply.body);
}

OPERATION(openapi, NONE, NONE, .gives = "application/json", .storeless = true)
{
	c->x->reply.type = "application/json";
	operations_document(&c->x->reply.body, c->app->resources, c->app->resource_count,
		c->app->settings.public_url);
	buf_putc(&c->x->reply.body, '\n');
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/healthz", &health, PERM_PUBLIC, 200, .tag = "System", .as_printed = true,
		.doc = "Answers while the process lives." },
	{ METHOD_GET, "/readyz", &ready, PERM_PUBLIC, 200, .tag = "System", .as_printed = true,
		.doc = "Answers 200 when the store can be read and written and the master key is followed, else 503 with the "
		       "reason." },
	{ METHOD_GET, "/metrics", &metrics, PERM_METRICS, 200, .tag = "System", .as_printed = true,
		.doc = "Counts and durations in Prometheus' text form. While the store is away it tells "
		       "what the process knows, with lodge_store_up 0, to callers on the same machine." },
	{ METHOD_GET, "/version", &version, PERM_PUBLIC, 200, .tag = "System", .as_printed = true,
		.doc = "The program's version." },
	{ METHOD_GET, "/openapi.json", &openapi, PERM_PUBLIC, 200, .tag = "System",
		.as_printed = true, .doc = "This document." },
};
RESOURCE(system, routes, NULL, &system_sql);
