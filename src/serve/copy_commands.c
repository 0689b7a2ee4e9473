/* copy_commands.c - `lodge copy`, and `lodge restore` into PostgreSQL: the same rows on another engine, and how far it is.
 *
 * On a terminal a bar that is drawn again and again, elsewhere a line every few seconds; both on standard error. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/manual.h"
#include "serve/open.h"

enum { DRAW_MS = 100, LINE_MS = 5000, BAR = 20, LINE_MAX_LEN = 256 };

struct copy_show {
	bool terminal, quiet, drawn;
	enum copy_doing doing;
	int64_t began, shown; /* monotonic milliseconds: the stage, and what was last said of it */
};

static const char *const doing_words[] = {
	[COPY_CHECKS] = "checking the source",
	[COPY_COUNTS] = "counting",
	[COPY_RESUMES] = "comparing",
	[COPY_WRITES] = "copying",
	[COPY_PROVES] = "proving",
};

/* "0:07", "1:02:03" */
static void write_span(char *out, size_t size, int64_t seconds)
{
	long long h = seconds / 3600, m = seconds / 60 % 60, s = seconds % 60;

	if (h)
		snprintf(out, size, "%lld:%02lld:%02lld", h, m, s);
	else
		snprintf(out, size, "%lld:%02lld", m, s);
}

/* What is left of a line after the cursor. */
static int line_room(void)
{
	struct winsize size = { 0 };
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;

	return known && size.ws_col < LINE_MAX_LEN ? size.ws_col - 1 : LINE_MAX_LEN - 1;
}

static void draw_stage(const struct copy_show *show, const struct copy_stage *st, int64_t now)
{
	const char *what = st->doing == COPY_COUNTS ? "tables" : "rows";
	int64_t took = now - show->began, rate = took > 0 ? st->rows * 1000 / took : 0;
	int percent = st->total > 0 ? (int)(st->rows * 100 / st->total) : 100;
	int full = percent * BAR / 100;
	char left[32] = "?", line[LINE_MAX_LEN] = "";

	if (rate > 0)
		write_span(left, sizeof left, (st->total - st->rows + rate - 1) / rate);
	if (st->doing == COPY_CHECKS)
		snprintf(line, sizeof line, "%s", doing_words[st->doing]);
	else if (show->terminal)
		snprintf(line, sizeof line,
			"%s [%.*s%.*s] %d %%, %lld of %lld %s, %lld/s, %s left, %.40s",
			doing_words[st->doing], full, "####################", BAR - full,
			"....................", percent, (long long)st->rows, (long long)st->total,
			what, (long long)rate, left, st->table);
	else
		snprintf(line, sizeof line, "%s %s: %d %%, %lld of %lld %s, %lld/s, %s left",
			doing_words[st->doing], st->table, percent, (long long)st->rows,
			(long long)st->total, what, (long long)rate, left);
	if (show->terminal)
		fprintf(stderr, "\r\033[K%.*s", line_room(), line);
	else
		fprintf(stderr, "%s\n", line);
}

static void show_stage(void *ctx, const struct copy_stage *st)
{
	struct copy_show *show = ctx;
	int64_t now = clock_mono_us() / 1000;
	bool fresh = !show->began || show->doing != st->doing;

	if (show->quiet)
		return;
	if (fresh) {
		show->doing = st->doing;
		show->began = now;
		show->shown = show->terminal ? 0 : now;
	}
	/* The end of a stage is shown; what goes before the rows is not worth a line of its own. */
	if (now - show->shown < (show->terminal ? DRAW_MS : LINE_MS) &&
		(st->rows < st->total || st->doing <= COPY_COUNTS))
		return;
	show->shown = now;
	show->drawn = show->terminal;
	draw_stage(show, st, now);
}

static int run_copy(struct copy_order *order, bool quiet, struct arena *a)
{
	struct copy_show show = { .terminal = isatty(STDERR_FILENO), .quiet = quiet };
	struct copy_result result;
	struct problem p = { 0 };
	int64_t began = clock_mono_us();
	double took;
	int err;

	order->told = show_stage;
	order->ctx = &show;
	err = store_copy(order, &result, a, &p);
	if (show.drawn)
		fputc('\n', stderr);
	if (err)
		return complain(&p);
	took = (double)(clock_mono_us() - began) / 1e6;
	printf("Copied %s to %s: %lld rows of %zu tables in %.1f s", store_said(order->from, a),
		store_said(order->to, a), (long long)result.rows, result.tables, took);
	if (result.kept)
		printf(", of which an earlier run had brought %lld", (long long)result.kept);
	printf(". Every row was read again on both sides and is the same. The master key is that of the source.\n");
	return 0;
}

/* The word after a flag, or NULL. */
static const char *after_flag(const struct settings *s, const char *flag)
{
	for (size_t i = 0; i + 1 < s->argument_count; i++)
		if (strcmp(s->arguments[i], flag) == 0)
			return s->arguments[i + 1];
	return NULL;
}

static bool has_flag(const struct settings *s, const char *flag)
{
	for (size_t i = 0; i < s->argument_count; i++)
		if (strcmp(s->arguments[i], flag) == 0)
			return true;
	return false;
}

int command_copy(const struct settings *s, struct arena *a)
{
	struct copy_order order = { .from = after_flag(s, "--from"),
		.to = after_flag(s, "--to"),
		.anew = has_flag(s, "--anew") };
	struct problem p = { 0 };

	if (!order.from || !order.to) {
		problem_set(&p, a, ERR_USAGE,
			"lodge copy needs --from and --to, each with sqlite:PATH or postgres://...");
		return complain(&p);
	}
	return run_copy(&order, has_flag(s, "--quiet"), a);
}

int command_restore_rows(const struct settings *s, const char *file, struct arena *a)
{
	struct copy_order order = { .from = arena_printf(a, "sqlite:%s", file),
		.to = *s->store_direct ? s->store_direct : s->store };

	return run_copy(&order, false, a);
}
