/* main.c - runs the registered tests, or those whose name contains an argument, in name order; not those
 * whose name or file contains an argument that stands after a minus sign.
 * One line a failure; the last line is "N passed, N failed", and how many the engine made skip.  With LODGE_TEST_TIMES set, a line for each
 * test says how long it took. */
#include "fixture.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"

/* The program's threads bring a second stack of their own (base/thread.h), which is to be tested and not
 * the sanitizer's. */
const char *__asan_default_options(void); /* NOLINT */
const char *__asan_default_options(void)  /* NOLINT */
{
	return "use_sigaltstack=0";
}

static struct test *all;
static struct test *current;
static char step[512];
static int failures_here;
static bool skips_here;

void test_register(struct test *t)
{
	struct test **at = &all;

	while (*at && strcmp((*at)->name, t->name) < 0)
		at = &(*at)->next;
	t->next = *at;
	*at = t;
}

void test_step(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(step, sizeof step, fmt, ap);
	va_end(ap);
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	enum { SHOWN = 20 };
	va_list ap;

	if (++failures_here > SHOWN)
		return;
	printf("%s:%d: %s%s%s: ", file, line, current->name, *step ? ": " : "", step);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

void test_skip(void)
{
	skips_here = true;
}

static bool named(const struct test *t, const char *part)
{
	return strstr(t->name, part) || strstr(t->file, part);
}

/* True if tests are named that are to run. */
static bool is_choice(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (*argv[i] != '-')
			return true;
	return false;
}

static bool wanted(const struct test *t, int argc, char **argv)
{
	bool chosen = !is_choice(argc, argv);

	for (int i = 1; i < argc; i++) {
		if (*argv[i] == '-' && named(t, argv[i] + 1))
			return false;
		chosen |= *argv[i] != '-' && named(t, argv[i]);
	}
	return chosen;
}

int main(int argc, char **argv)
{
	bool times = getenv("LODGE_TEST_TIMES") != NULL;
	int passed = 0, failed = 0, skipped = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strncmp(argv[1], "--", 2) == 0) {
		printf("unit-tests [PART | -PART]...: runs the tests whose file or name has a part, or lacks it\n");
		return 2;
	}
	if (!crypto_init())
		return 2;
	log_setup(getenv("LODGE_TEST_LOG") ? LOG_DEBUG : LOG_SILENT, LOG_TEXT);
	for (struct test *t = all; t; t = t->next) {
		int64_t began = clock_mono_ms();

		if (!wanted(t, argc, argv))
			continue;
		current = t;
		failures_here = 0;
		skips_here = false;
		*step = '\0';
		t->run();
		if (failures_here) {
			printf("FAILED %s\n", t->name);
			failed++;
		} else if (skips_here) {
			skipped++;
		} else {
			passed++;
		}
		if (times)
			printf("%6lld ms %s\n", (long long)(clock_mono_ms() - began), t->name);
	}
	if (argc < 2)
		failed += conform_missing();
	printf("%d passed, %d failed", passed, failed);
	if (skipped)
		printf(", %d skipped (for the other engine)", skipped);
	printf("\n");
	return failed ? 1 : 0;
}
