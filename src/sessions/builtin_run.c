/* builtin_run.c - the table of built-in tools that run in a transaction, what they share, and the clock. */
#include "sessions/builtin_run.h"

#include <string.h>

#include "base/clock.h"
#include "base/utf8_cut.h"
#include "base/zone.h"
#include "sessions/tool_text.h"

static const struct builtin_row *more_rows;
static size_t more_count;

void builtin_run_more(const struct builtin_row *rows, size_t count)
{
	more_rows = rows;
	more_count = count;
}

builtin_fn *builtin_run_of(const char *name)
{
	static const struct builtin_row rows[] = {
		{ "time", builtin_time },
		{ "calculator", builtin_calculator },
		{ "session_search", builtin_session_search },
		{ "memory_write", builtin_memory_write },
		{ "memory_search", builtin_memory_search },
		{ "skill_read", builtin_skill_read },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].run;
	for (size_t i = 0; i < more_count; i++)
		if (strcmp(more_rows[i].name, name) == 0)
			return more_rows[i].run;
	return NULL;
}

/* ---- the clock ---- */

int builtin_time(struct builtin_call *c)
{
	static const char *const days[] = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
		"Saturday", "Sunday" };
	const char *zone = tool_argument_text_maybe(&c->in, "time_zone", BUILTIN_NAME_MAX);
	int64_t now = c->asked->now, offset = 0;
	struct zone_time local = { 0 };
	char text[TIME_TEXT_LEN], utc[TIME_TEXT_LEN];

	if (!builtin_arguments_read(c))
		return 0;
	if (!zone)
		zone = "UTC";
	if (!zone_local(zone, now, &local) || !zone_offset_s(zone, now / SECOND_US, &offset)) {
		tool_answer_fail(c->arena, c->answer,
			"There is no time zone named %.*s. Use a name such as Europe/Paris or UTC.",
			UTF8_SHOWN(100, zone));
		return 0;
	}
	time_write(now, utc);
	time_write(now + offset * SECOND_US, text);
	tool_answer_text(c->arena,
		arena_printf(c->arena, "%s, %.19s, UTC%c%02d:%02d, in %s\nUTC: %.19sZ",
			days[local.weekday], text, offset < 0 ? '-' : '+',
			(int)((offset < 0 ? -offset : offset) / 3600),
			(int)((offset < 0 ? -offset : offset) / 60 % 60), zone, utc),
		c->answer);
	return 0;
}
