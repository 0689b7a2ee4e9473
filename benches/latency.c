/* latency.c - how long requests take inside the service, without sockets: latency STORE LINES ROUNDS.
 * STORE is an address as in the setting; each line "PATH TOKEN" of LINES is asked ROUNDS times.
 * Prints for each line the median and the 99th percentile in microseconds, by the clock and by the time the
 * processor gave to it; the latter leaves out what else the machine does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/registry.h"
#include "base/clock.h"
#include "base/crypto.h"

enum { REPLY_MAX = 16 << 20, WARM_UP = 20 };

static const struct http_limits limits = {
	.max_head = 32 * 1024,
	.max_headers = 100,
	.max_body = 1 << 20,
	.max_connections = 10,
	.header_ms = 10000,
	.body_ms = 10000,
	.idle_ms = 10000,
	.reply_ms = 10000,
	.deferred_ms = 60000,
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void measure(struct http_inproc *server, const char *path, const char *token, int rounds)
{
	double *took = calloc((size_t)rounds, sizeof *took);
	double *cpu = calloc((size_t)rounds, sizeof *cpu);
	struct buf request, reply;

	buf_init(&request, 1 << 20);
	buf_init(&reply, REPLY_MAX);
	buf_printf(&request, "GET %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n",
		path, token);
	for (int i = -WARM_UP; i < rounds; i++) {
		double began = now_us(CLOCK_MONOTONIC), used = now_us(CLOCK_THREAD_CPUTIME_ID);

		reply.len = 0;
		http_inproc_send(server, request.at, request.len, &reply);
		if (i >= 0) {
			cpu[i] = now_us(CLOCK_THREAD_CPUTIME_ID) - used;
			took[i] = now_us(CLOCK_MONOTONIC) - began;
		}
		if (reply.len < 12 || memcmp(reply.at, "HTTP/1.1 200", 12) != 0) {
			fprintf(stderr, "%s: %.*s\n", path, (int)reply.len, reply.at);
			exit(1);
		}
	}
	qsort(took, (size_t)rounds, sizeof *took, compare);
	qsort(cpu, (size_t)rounds, sizeof *cpu, compare);
	printf("%.0f %.0f %.0f %.0f %s\n", took[rounds / 2], took[rounds * 99 / 100],
		cpu[rounds / 2], cpu[rounds * 99 / 100], path);
	buf_free(&request);
	buf_free(&reply);
	free(took);
	free(cpu);
}

int main(int argc, char **argv)
{
	struct store_settings settings = { .workers = 1, .queue_max = 100 };
	struct service service = { .app.settings = { .public_url = "http://bench",
					   .session_lifetime_us = INT64_MAX / 4,
					   .session_idle_us = INT64_MAX / 4 } };
	struct app *app = &service.app;
	struct http_handler handler;
	struct http_inproc *server;
	struct arena a = { 0 };
	struct problem p = { 0 };
	char path[512], token[128];
	FILE *lines = argc == 4 ? fopen(argv[2], "r") : NULL;

	if (!lines || !crypto_init())
		return fprintf(stderr, "latency STORE LINES ROUNDS\n"), 2;
	settings.where = argv[1];
	if (api_setup(&service, &a, &p) ||
		store_open(&app->store, &settings, STORE_BESIDE, &a, &p) || store_start(app->store))
		return fprintf(stderr, "%s\n", p.detail), 1;
	handler = call_handler(app);
	server = http_inproc_new(&limits, &handler);
	while (fscanf(lines, "%511s %127s\n", path, token) == 2)
		measure(server, path, token, atoi(argv[3]));
	fclose(lines);
	http_inproc_free(server);
	store_stop(app->store);
	store_close(app->store);
	api_teardown(&service);
	arena_free(&a);
	return 0;
}
