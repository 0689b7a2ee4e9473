/* test_admin_queue.c - the queue as the super administrator sees it, and its figures in the metrics. */
#include "fixture.h"

#include "base/clock.h"
#include "queue/jobs.h"
#include "queue/runner.h"

struct adding {
	struct fixture *f;
	const char *tenant_id, *kind;
	int64_t run_at;
	char id[26];
};

static int add(struct db *db, void *data)
{
	struct adding *a = data;

	return jobs_add(db, &a->f->arena,
		&(struct job_new){ .tenant_id = a->tenant_id,
			.kind = a->kind,
			.payload = "{\"private\":\"words\"}",
			.run_at = a->run_at },
		clock_now_us(), a->id);
}

static const char *job(
	struct fixture *f, const char *tenant_id, const char *kind, const char *state)
{
	struct adding a = { .f = f, .tenant_id = tenant_id, .kind = kind };

	if (strcmp(state, "delayed") == 0)
		a.run_at = clock_now_us() + 3600 * SECOND_US;
	CHECK_INT(fixture_work(f, add, &a), 0);
	if (strcmp(state, "waiting") != 0)
		fixture_sql(f,
			"update jobs set state = $2, attempts = 3, error = 'It broke' where id = $1",
			ARGS(T(a.id), T(state)));
	return arena_strdup(&f->arena, a.id);
}

TEST(admin_queue_is_counted_and_listed_without_what_jobs_hold)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id), *dead;
	struct answer r;

	runner_stop(f->service.runner, 1000); /* jobs stay as they are put */
	r = ask(f, f->admin, NULL, "GET /admin/queue");
	STATUS(r, 200);
	CHECK(at(&r, "oldest_seconds") && json_is_null(at(&r, "oldest_seconds")));
	CHECK_INT(json_array_size(at(&r, "items")), 0);
	job(f, f->tenant_id, "turn", "waiting");
	job(f, f->tenant_id, "turn", "waiting");
	job(f, other, "mail", "delayed");
	dead = job(f, other, "turn", "dead");
	r = ask(f, f->admin, NULL, "GET /admin/queue");
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items")), 4);
	CHECK_STR(text_at(&r, "items.0.id"), dead);
	CHECK_STR(text_at(&r, "items.0.error"), "It broke");
	CHECK(!strstr(r.body, "private"));
	CHECK_INT(json_array_size(at(&r, "counts")), 3);
	CHECK_STR(text_at(&r, "counts.2.state"), "waiting");
	CHECK_INT(json_integer_value(at(&r, "counts.2.jobs")), 2);
	CHECK(json_is_integer(at(&r, "oldest_seconds")));
	r = ask(f, f->admin, NULL, "GET /admin/queue?state=dead");
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	r = ask(f, f->admin, NULL, "GET /admin/queue?kind=turn&per_page=2");
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	r = ask(f, f->admin, NULL, "GET /admin/queue?kind=turn&after=%s",
		text_at(&r, "next_after"));
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	r = ask(f, f->admin, NULL, "GET /admin/queue?tenant_id=%s&state=delayed", other);
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	CHECK_STR(text_at(&r, "items.0.kind"), "mail");
	r = ask(f, f->admin, NULL, "GET /admin/queue?state=lost&per_page=0");
	STATUS(r, 422);
	CHECK(refuses(&r, "per_page", "range") || strstr(r.body, "per_page"));
	CHECK(strstr(r.body, "state"));
	fixture_close(f);
}

TEST(admin_queue_retries_the_dead_and_drops_what_does_not_run)
{
	struct fixture *f = fixture_open();
	const char *token, *dead = job(f, f->tenant_id, "turn", "dead"),
			   *waits = job(f, f->tenant_id, "turn", "waiting"),
			   *runs = job(f, f->tenant_id, "turn", "running");
	struct answer r;

	runner_stop(f->service.runner, 1000);
	fixture_user(f, "nobody@example.org", &token);
	STATUS(ask(f, token, NULL, "POST /admin/queue/%s/retry", dead), 403);
	STATUS(ask(f, token, NULL, "GET /admin/queue"), 403);
	r = ask(f, f->admin, NULL, "POST /admin/queue/%s/retry", dead);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "state"), "waiting");
	CHECK_INT(json_integer_value(at(&r, "attempts")), 0);
	STATUS(ask(f, f->admin, NULL, "POST /admin/queue/%s/retry", dead), 409);
	STATUS(ask(f, f->admin, NULL, "POST /admin/queue/%s/retry", f->tenant_id), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/queue/%s", runs), 409);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/queue/%s", waits), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/queue/%s", waits), 404);
	r = ask(f, f->admin, NULL, "GET /admin/audit-logs?tenant_id=%s", f->tenant_id);
	CHECK(strstr(r.body, "job.retry") && strstr(r.body, "job.drop"));
	fixture_close(f);
}

TEST(admin_queue_is_in_the_metrics)
{
	struct fixture *f = fixture_open();
	struct answer r;

	runner_stop(f->service.runner, 1000);
	job(f, f->tenant_id, "turn", "dead");
	job(f, f->tenant_id, "turn", "waiting");
	r = ask(f, f->admin, NULL, "GET /metrics");
	STATUS(r, 200);
	CHECK(strstr(r.body, "lodge_jobs{state=\"dead\"} 1\n"));
	CHECK(strstr(r.body, "lodge_jobs{state=\"waiting\"} 1\n"));
	CHECK(strstr(r.body, "\nlodge_jobs_oldest_seconds "));
	CHECK(strstr(r.body, "\nlodge_jobs_begun_total "));
	CHECK(strstr(r.body, "\nlodge_model_calls_begun_total 0\n"));
	CHECK(strstr(r.body, "\nlodge_model_failovers_total 0\n"));
	fixture_close(f);
}
