/* import.c - what an import costs: import STORE MESSAGES ROUNDS.
 * On a fresh store, in turn and each durable:
 *   raw     rows of so many messages into their own table, in one transaction
 *   import  a bundle with one session of the same messages: read, checked and entered as an agent
 * Prints messages a second for both, medians of the rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/agents/agent_import.h"
#include "api/service.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "helper/helper.h"
#include "serve/registry.h"

enum { ROUNDS_MAX = 99 };

static const char text[] =
	"Where is my order? It was to come on Monday, and it is Thursday now; the number is 1042.";
static struct service service;
static struct helper *helper;
static const char *tenant;

static void run_sql(struct db *db, const char *sql)
{
	/* A connection knows a statement by its address, for as long as it is open. */
	struct statement *st = calloc(1, sizeof *st);

	*st = (struct statement){ "bench", sql, .scan = "a bench", .across = "a bench" };
	if (db_begin(db, READ_WRITE) || db_run(db, st, NULL, NO_ARGS) || db_commit(db)) {
		fprintf(stderr, "%s: %s\n", sql, db_error(db));
		exit(1);
	}
}

static void prepare(struct db *db, struct arena *a)
{
	tenant = arena_strdup(a, id_new(NULL).text);
	run_sql(db, "insert into plans (id, name, slug, monthly_price_pd, created_at) "
		    "values ('p', 'P', 'p', 0, 1)");
	run_sql(db,
		arena_printf(a,
			"insert into tenants (id, name, slug, plan_id, plan_status, status, paid, "
			"allow_superadmin_access, default_skill_visibility_scope, "
			"external_mail_enabled, voicebox_enabled, require_user_model_grants, "
			"created_at, updated_at) values ('%s', 'T', 't', 'p', 'active', 'active', "
			"0, 0, 'private_only', 0, 0, 0, 1, 1)",
			tenant));
	run_sql(db, "create table bench_raw as select * from messages");
	run_sql(db, "create unique index bench_raw_key on bench_raw (tenant_id, session_id, id)");
}

static double raw_inserts(struct db *db, int count)
{
	static const struct statement raw = { "raw",
		"insert into bench_raw (tenant_id, session_id, id, role, status, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, metadata, "
		"tool_calls, thoughts, content) values ($1, 's', $2, 'user', 'complete', 0, 0, 0, 0, 0, "
		"$3, '', '[]', '', $4)" };
	int64_t began = clock_mono_us();

	if (db_begin(db, READ_WRITE))
		exit(1);
	for (int i = 0; i < count; i++)
		if (db_run(db, &raw, NULL,
			    ARGS(T(tenant), T(id_new(NULL).text), N(began), T(text))))
			exit(1);
	if (db_commit(db))
		exit(1);
	return count * 1e6 / (double)(clock_mono_us() - began);
}

static void make_bundle(struct arena *a, int count, int round, struct buf *out)
{
	struct agent_bundle b = { .platform = "lodge",
		.settings = arena_printf(a, "{\"name\":\"A\",\"slug\":\"a%d\"}", round) };
	struct bundle_session *s = BUNDLE_ADD(a, &b.sessions, struct bundle_session);
	struct problem p = { 0 };

	s->head.title = "Order";
	for (int i = 0; i < count; i++) {
		struct BundleMessage *m = BUNDLE_ADD(a, &s->messages, struct BundleMessage);

		*m = (struct BundleMessage){ i % 2, text, { a, 0 }, NULL, { i } };
	}
	if (bundle_write(out, a, &b, &p))
		exit(1);
}

static double import_once(struct db *db, int count, int round)
{
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct agent_importer who = { .db = db,
		.a = &a,
		.tenant_id = tenant,
		.agent = ~(permissions)0,
		.tenant = ~(permissions)0,
		.origin = "api",
		.now = clock_now_us(),
		.p = &p };
	struct AgentImportResult result;
	struct agent_import what;
	struct buf zip;
	int64_t began;

	buf_init(&zip, BUNDLE_PACKED_MAX);
	make_bundle(&a, count, round, &zip);
	began = clock_mono_us();
	if (agent_import_read(&a, service.app.patterns, helper,
		    &(struct bundle_file){ "", zip.at, zip.len }, NULL, &what, &p) ||
		db_begin(db, READ_WRITE) || agent_import_run(&who, &what, &result) ||
		db_commit(db) || result.messages_imported != count) {
		fprintf(stderr, "the import failed: %s\n",
			p.detail  ? p.detail
			: p.first ? p.first->message
				  : db_error(db));
		exit(1);
	}
	began = clock_mono_us() - began;
	buf_free(&zip);
	arena_free(&a);
	return count * 1e6 / (double)began;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double middle(double *all, int count)
{
	qsort(all, (size_t)count, sizeof *all, by_size);
	return all[count / 2];
}

int main(int argc, char **argv)
{
	struct store_settings settings = { .workers = 1, .queue_max = 1 };
	double raw[ROUNDS_MAX], import[ROUNDS_MAX];
	struct arena a = { 0 };
	struct problem p = { 0 };
	int count, rounds, from, to;
	struct store *store;
	struct db *db;

	if (argc != 4 || !crypto_init())
		return 2;
	count = atoi(argv[2]);
	rounds = atoi(argv[3]);
	settings.where = argv[1];
	if (count < 1 || count > BUNDLE_MESSAGES_MAX || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	if (api_setup(&service, &a, &p) || store_open(&store, &settings, STORE_NEW, &a, &p) ||
		store_migrate(store, &from, &to, &a, &p) || store_connect(store, &db, &a, &p)) {
		fprintf(stderr, "%s\n", p.detail);
		return 1;
	}
	helper = helper_new(NULL);
	prepare(db, &a);
	for (int i = 0; i < rounds; i++) {
		raw[i] = raw_inserts(db, count);
		import[i] = import_once(db, count, i);
	}
	printf("%.0f %.0f\n", middle(raw, rounds), middle(import, rounds));
	db_close(db);
	store_close(store);
	helper_free(helper);
	api_teardown(&service);
	arena_free(&a);
	return 0;
}
