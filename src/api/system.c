/* system.c - what watches the service itself: health, readiness, metrics, version, the document. */
#include "api/api.h"
#include "api/hook_log.h"
#include "base/clock.h"
#include "broker/broker.h"
#include "call/steps.h"
#include "queue/desk.h"
#include "queue/runner.h"
#include "sessions/hub.h"

struct Health {
	const char *status;
};

FIELDS(Health) = {
	FIELD(Health, status, .need = true, .example = "\"ok\"",
		.doc = "ok, as long as anything answers."),
};
static SCHEMA(Health, .doc = "A sign of life.");

struct Version {
	const char *version;
};

FIELDS(Version) = {
	FIELD(Version, version, .need = true, .example = "\"0.1.0\"",
		.doc = "Of the program that answers."),
};
static SCHEMA(Version, .doc = "Which program answers.");

static const struct statement sql[] = {
	{ "system_ready", "select count(*) from meta where key = 'schema_version'" },
};
STATEMENT_SET(system_sql, sql);

OPERATION(health, .reply = &Health_schema, .storeless = true)
{
	((struct Health *)c->reply)->status = "ok";
	return 0;
}

OPERATION(ready, .reply = &Health_schema)
{
	int64_t n;

	((struct Health *)c->reply)->status = "ready";
	return db_int(c->db, &sql[0], &n, NO_ARGS);
}

OPERATION(version, .reply = &Version_schema, .storeless = true)
{
	((struct Version *)c->reply)->version = LODGE_VERSION;
	return 0;
}

/* What the rooms behind the request's count: metrics.c may not know them. */
static void write_runs(const struct app *app, struct buf *out)
{
	struct broker_stats b =
		app->broker ? broker_stats(app->broker) : (struct broker_stats){ 0 };
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

static void write_events(const struct app *app, struct buf *out)
{
	struct hub_stats h = app->hub ? hub_stats(app->hub) : (struct hub_stats){ 0 };
	const struct figure figures[] = {
		{ "lodge_event_streams_open", "gauge", "Streams of a session's events open here.",
			h.watches },
		{ "lodge_events_sent_total", "counter", "Events sent to streams of sessions.",
			h.events },
		{ "lodge_event_reads_total", "counter",
			"Times the events of a session were read for its streams.", h.reads },
		{ "lodge_webhook_calls_unlogged_total", "counter",
			"Refused calls of webhooks beyond what the log of deliveries takes.",
			app->hook_log ? hook_log_dropped(app->hook_log) : 0 },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

static int write_queue(struct call *c, struct buf *out)
{
	struct runner_stats r =
		c->app->runner ? runner_stats(c->app->runner) : (struct runner_stats){ 0 };
	struct queue_depth d = { 0 };
	int err = queue_depth(c->db, c->arena, &d);
	const struct figure figures[] = {
		{ "lodge_jobs_begun_total", "counter", "Attempts at jobs begun here.", r.begun },
		{ "lodge_jobs_finished_total", "counter", "Jobs finished here.", r.finished },
		{ "lodge_jobs_failed_total", "counter", "Attempts at jobs that failed here.",
			r.failed },
		{ "lodge_jobs_lost_total", "counter",
			"Jobs given to others because this process gave no sign of life.", r.lost },
		{ "lodge_jobs_open", "gauge", "Jobs this process runs now.", r.open },
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

	if (err)
		return err;
	buf_lit(out, "# HELP lodge_jobs Jobs of the queue, by state.\n# TYPE lodge_jobs gauge\n");
	for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
		buf_printf(out, "lodge_jobs{state=\"%s\"} %lld\n", depths[i].state,
			(long long)depths[i].count);
	metrics_figures(figures, sizeof figures / sizeof *figures, out);
	return 0;
}

OPERATION(metrics)
{
	c->x->reply.type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_write(c->app, &c->x->reply.body);
	write_runs(c->app, &c->x->reply.body);
	write_events(c->app, &c->x->reply.body);
	return write_queue(c, &c->x->reply.body);
}

OPERATION(openapi, .storeless = true)
{
	c->x->reply.type = "application/json";
	api_openapi(&c->x->reply.body, c->app->settings.public_url);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/healthz", &health, PERM_PUBLIC, 200, .tag = "System", .as_printed = true,
		.doc = "Answers while the process lives." },
	{ METHOD_GET, "/readyz", &ready, PERM_PUBLIC, 200, .tag = "System", .as_printed = true,
		.doc = "Answers 200 when the store can be reached, else 503." },
	{ METHOD_GET, "/metrics", &metrics, PERM_METRICS, 200, .tag = "System", .as_printed = true,
		.doc = "Counts and durations in Prometheus' text form." },
	{ METHOD_GET, "/version", &version, PERM_PUBLIC, 200, .tag = "System", .as_printed = true,
		.doc = "The program's version." },
	{ METHOD_GET, "/openapi.json", &openapi, PERM_PUBLIC, 200, .tag = "System",
		.as_printed = true, .doc = "This document." },
};
RESOURCE(system, routes, NULL);
