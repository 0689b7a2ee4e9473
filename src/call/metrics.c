/* metrics.c - counts and durations by operation, in Prometheus' text form.
 *
 * Each loop counts into cells of its own, so that counting is a load and a
 * store and never a locked instruction; whoever asks adds them up. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "call/held.h"
#include "call/metrics.h"
#include "store/pool.h"

enum { LOOPS_MAX = 64, CLASSES = 5 };

static const int64_t bounds_us[] = { 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 500000,
	2500000 };
enum { BOUNDS_COUNT = sizeof bounds_us / sizeof *bounds_us };

struct metric_cell {
	_Atomic uint64_t by_class[CLASSES]; /* 1xx..5xx */
	_Atomic uint64_t under[BOUNDS_COUNT + 1];
	_Atomic uint64_t sum_us;
};

struct metrics {
	size_t routes; /* and one more for what matched none */
	struct metric_cell *loops[LOOPS_MAX];
};

struct metrics *metrics_new(size_t routes)
{
	struct metrics *m = calloc(1, sizeof *m);

	if (!m)
		abort();
	m->routes = routes;
	for (int i = 0; i < LOOPS_MAX; i++)
		m->loops[i] = NULL;
	return m;
}

void metrics_free(struct metrics *m)
{
	for (int i = 0; m && i < LOOPS_MAX; i++)
		free(m->loops[i]);
	free(m);
}

static void metric_add(_Atomic uint64_t *n, uint64_t by)
{
	atomic_store_explicit(
		n, atomic_load_explicit(n, memory_order_relaxed) + by, memory_order_relaxed);
}

static struct metric_cell *metric_cells_of(const struct metrics *m, int loop)
{
	return __atomic_load_n(&m->loops[loop], __ATOMIC_ACQUIRE);
}

/* Beyond LOOPS_MAX two loops share their cells, and may come here at the same moment. */
static struct metric_cell *cells_make(struct metrics *m, int loop)
{
	struct metric_cell *cells = calloc(m->routes + 1, sizeof *cells), *there = NULL;

	if (!cells || __atomic_compare_exchange_n(&m->loops[loop], &there, cells, false,
			      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return cells;
	free(cells);
	return there;
}

void metrics_count(struct metrics *m, int loop, size_t route, int status, int64_t us)
{
	struct metric_cell *cells = metric_cells_of(m, loop % LOOPS_MAX), *cell;
	size_t at = 0;

	if (!cells && !(cells = cells_make(m, loop % LOOPS_MAX)))
		return;
	cell = &cells[route];
	if (status >= 100 && status < 600)
		metric_add(&cell->by_class[status / 100 - 1], 1);
	while (at < BOUNDS_COUNT && us > bounds_us[at])
		at++;
	metric_add(&cell->under[at], 1);
	metric_add(&cell->sum_us, (uint64_t)us);
}

struct totals {
	uint64_t by_class[CLASSES], under[BOUNDS_COUNT + 1], sum_us, count;
};

static struct totals total_of(const struct metrics *m, size_t route)
{
	struct totals t = { 0 };

	for (int i = 0; i < LOOPS_MAX; i++) {
		const struct metric_cell *cells = metric_cells_of(m, i);

		if (!cells)
			continue;
		for (int k = 0; k < CLASSES; k++) {
			uint64_t n = atomic_load_explicit(
				&cells[route].by_class[k], memory_order_relaxed);

			t.by_class[k] += n;
			t.count += n;
		}
		for (int k = 0; k <= BOUNDS_COUNT; k++)
			t.under[k] +=
				atomic_load_explicit(&cells[route].under[k], memory_order_relaxed);
		t.sum_us += atomic_load_explicit(&cells[route].sum_us, memory_order_relaxed);
	}
	return t;
}

static const char *route_label(const struct app *app, size_t route)
{
	return route < app->metrics->routes ? router_route(app->router, route)->op->id : "none";
}

static void write_requests(const struct app *app, struct buf *out)
{
	buf_lit(out,
		"# HELP lodge_requests_total Requests answered, by operation and status class.\n"
		"# TYPE lodge_requests_total counter\n");
	for (size_t i = 0; i <= app->metrics->routes; i++) {
		struct totals t = total_of(app->metrics, i);

		for (int k = 0; k < CLASSES; k++)
			if (t.by_class[k])
				buf_printf(out,
					"lodge_requests_total{operation=\"%s\",status=\"%dxx\"} %llu\n",
					route_label(app, i), k + 1,
					(unsigned long long)t.by_class[k]);
	}
}

static void write_durations(const struct app *app, struct buf *out)
{
	buf_lit(out,
		"# HELP lodge_request_seconds Time from a request's first byte to its reply's last.\n"
		"# TYPE lodge_request_seconds histogram\n");
	for (size_t i = 0; i <= app->metrics->routes; i++) {
		struct totals t = total_of(app->metrics, i);
		uint64_t sum = 0;

		if (!t.count)
			continue;
		for (int k = 0; k < BOUNDS_COUNT; k++) {
			sum += t.under[k];
			buf_printf(out,
				"lodge_request_seconds_bucket{operation=\"%s\",le=\"%g\"} %llu\n",
				route_label(app, i), (double)bounds_us[k] / 1e6,
				(unsigned long long)sum);
		}
		sum += t.under[BOUNDS_COUNT];
		buf_printf(out,
			"lodge_request_seconds_bucket{operation=\"%s\",le=\"+Inf\"} %llu\n"
			"lodge_request_seconds_sum{operation=\"%s\"} %g\n"
			"lodge_request_seconds_count{operation=\"%s\"} %llu\n",
			route_label(app, i), (unsigned long long)sum, route_label(app, i),
			(double)t.sum_us / 1e6, route_label(app, i), (unsigned long long)sum);
	}
}

void metrics_figures(const struct figure *figures, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", figures[i].name,
			figures[i].help, figures[i].name, figures[i].type, figures[i].name,
			(unsigned long long)figures[i].value);
}

void metrics_write(const struct app *app, struct buf *out)
{
	struct store_stats s = store_stats(app->store);
	struct http_stats h =
		app->server ? http_server_stats(app->server) : (struct http_stats){ 0 };
	struct pool_stats reading =
		app->reading ? pool_stats(app->reading) : (struct pool_stats){ 0 };
	const struct figure figures[] = {
		{ "lodge_connections_open", "gauge", "Connections open now.", h.open },
		{ "lodge_connections_accepted_total", "counter", "Connections accepted.",
			h.accepted },
		{ "lodge_connections_refused_total", "counter", "Connections over the limit.",
			h.refused },
		{ "lodge_connections_replaced_total", "counter",
			"Connections closed to make room for others.", h.replaced },
		{ "lodge_timeouts_total", "counter", "Connections closed by a deadline.",
			h.timeouts },
		{ "lodge_http_faults_total", "counter", "Requests refused as malformed HTTP.",
			h.faults },
		{ "lodge_memory_held_bytes", "gauge",
			"Bytes of bodies, of what was made of them and of answers being sent.",
			app->held ? held_house(app->held)->held : 0 },
		{ "lodge_reading_total", "counter",
			"Large bodies, long reads and pages of exports that had their turn off the loops.",
			reading.begun },
		{ "lodge_reading_waiting", "gauge", "The same, waiting for their turn.",
			reading.waiting },
		{ "lodge_log_dropped_total", "counter", "Lines of the log that nobody took.",
			log_dropped() },
		{ "lodge_store_commits_total", "counter", "Commits; one may hold many changes.",
			s.commits },
		{ "lodge_store_work_total", "counter", "Pieces of work committed.", s.work_done },
		{ "lodge_store_refused_total", "counter", "Pieces of work that ended in an error.",
			s.work_failed },
		{ "lodge_store_retries_total", "counter", "Transactions run again.", s.retries },
		{ "lodge_store_reconnects_total", "counter", "Connections made anew.",
			s.reconnects },
		{ "lodge_store_replica_reads_total", "counter",
			"Reports that were read from the replica.",
			store_replica_reads(app->store) },
		{ "lodge_store_queued", "gauge", "Work waiting for the store.", s.queued },
	};

	write_requests(app, out);
	write_durations(app, out);
	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}
