/* test_progress.c - the bar of a command: not for what is done in a moment, and gone when it is done. */
#include <stdlib.h>

#include "base/clock.h"
#include "serve/progress.h"
#include "t.h"

TEST(progress_is_shown_of_what_takes_long_alone)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct progress p = { .out = out, .began = clock_mono_ms() };

	progress_tell(&p, 5, 10);
	progress_end(&p);
	fflush(out);
	CHECK_INT((int64_t)len, 0);
	p.began -= PROGRESS_AFTER_MS;
	progress_tell(&p, 5, 10);
	progress_tell(&p, 5, 10);
	progress_end(&p);
	fflush(out);
	CHECK_STR(text, "\r[####################                    ] 5 of 10\r\033[K");
	test_step("nothing where there is no terminal");
	p = (struct progress){ .began = 0 };
	progress_tell(&p, 1, 1);
	progress_end(&p);
	CHECK(!p.shown);
	fclose(out);
	free(text);
}
