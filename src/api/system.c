/* system.c - what watches the service itself: health, readiness, metrics, version, the document. */
#include "api/api.h"
#include "call/steps.h"

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

OPERATION(metrics)
{
	c->x->reply.type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_write(c->app, &c->x->reply.body);
	return 0;
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
