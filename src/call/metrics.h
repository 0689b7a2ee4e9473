/* metrics.h - what is counted of calls, and how numbers are published. */
#pragma once
#include "call/call.h"

struct metrics *metrics_new(size_t routes);
void metrics_free(struct metrics *m);
/* From the loop's own thread. */
void metrics_count(struct metrics *m, int loop, size_t route, int status, int64_t us);
void metrics_write(const struct app *app, struct buf *out);
/* A number with its name, type and meaning. */
struct figure {
	const char *name, *type, *help;
	uint64_t value;
};
void metrics_figures(const struct figure *figures, size_t count, struct buf *out);
