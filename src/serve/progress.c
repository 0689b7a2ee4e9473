/* progress.c - see progress.h. */
#include "serve/progress.h"

#include <unistd.h>

#include "base/clock.h"

enum { BAR = 40 };

struct progress progress_begin(void)
{
	return (struct progress){ .out = isatty(STDERR_FILENO) ? stderr : NULL,
		.began = clock_mono_ms(),
		.filled = BAR + 1 };
}

void progress_tell(void *ctx, size_t done, size_t total)
{
	struct progress *p = ctx;
	size_t filled = total ? done * BAR / total : BAR;

	if (!p->out || (p->shown && filled == p->filled) ||
		clock_mono_ms() - p->began < PROGRESS_AFTER_MS)
		return;
	p->shown = true;
	p->filled = filled;
	fprintf(p->out, "\r[%.*s%*s] %zu of %zu", (int)filled,
		"########################################", (int)(BAR - filled), "", done, total);
	fflush(p->out);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", p->out);
	p->shown = false;
}
