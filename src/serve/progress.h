/* progress.h - how far a command is, as a bar on the terminal: only where standard error is one, and only of what takes longer
 * than a moment. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out;     /* NULL: nothing is shown */
	int64_t began; /* by clock_mono_ms() */
	size_t filled;
	bool shown;
};

enum { PROGRESS_AFTER_MS = 400 };

/* On standard error, if that is a terminal. */
struct progress progress_begin(void);
/* So much of so much is done; `ctx` is a struct progress, so that it can be handed to what counts. */
void progress_tell(void *ctx, size_t done, size_t total);
/* Takes the bar away. */
void progress_end(struct progress *p);
