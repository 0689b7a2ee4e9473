/* test_zone.c - time zones, held against the C library's own reading of the same files; and when
 * working hours begin, held against a walk over every minute. */
#include "fixture.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/zone.h"
#include "broker/chat_config.h"

enum { MINUTE_S = 60, DAY_S = 86400 };

static int64_t at_utc(const char *text)
{
	int64_t us = 0;

	if (!time_read(text, strlen(text), &us))
		test_fail(__FILE__, __LINE__, "%s is no time", text);
	return us;
}

TEST(zone_names_are_names_and_nothing_else)
{
	static const char *const good[] = { "UTC", "Europe/Berlin", "America/New_York",
		"America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5", "EST5EDT",
		"NZ-CHAT", "Asia/Kolkata" };
	static const char *const bad[] = { "", "/", ".", "..", "../zoneinfo/UTC", "/etc/localtime",
		"/usr/share/zoneinfo/UTC", "Europe", "Europe/", "Europe//Berlin", "Europe/../UTC",
		"europe/berlin", "Europe/Berlin ", "posix/UTC", "right/UTC", "localtime",
		"posixrules", "Factory", "tzdata.zi", "zone.tab", "leapseconds", "AAA3BBB",
		"+05:30", "GMT+5", "<+03>-3", "Mars/Olympus", "EST5EDT,M3.2.0,M11.1.0", "Z",
		"Europe/Berlin\n", "Europe\\Berlin",
		"America/Argentina/Buenos_Aires/America/Argentina/Buenos_Aires/Ame" };

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		test_step("%s", good[i]);
		CHECK(zone_known(good[i]));
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK(!zone_known(bad[i]));
	}
}

static void hold_against_library(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
	for (int i = 0; i < 40; i++) {
		/* 1900 to 2117, to the second */
		time_t t = -2208988800 + (time_t)(random() % 6850000) * 1000 + random() % 1000;
		struct zone_time got = { -1, -1 };
		struct tm want;

		localtime_r(&t, &want);
		CHECK(zone_local(name, t * SECOND_US + random() % SECOND_US, &got));
		if (got.weekday != (want.tm_wday + 6) % 7 ||
			got.minute != want.tm_hour * 60 + want.tm_min)
			test_fail(__FILE__, __LINE__,
				"%s at %lld: day %d minute %d, not day %d %d:%02d", name,
				(long long)t, got.weekday, got.minute, (want.tm_wday + 6) % 7,
				want.tm_hour, want.tm_min);
	}
}

/* More zones than are kept at a time, so that they also come and go. */
TEST(zone_clocks_agree_with_the_c_library)
{
	FILE *table = fopen("/usr/share/zoneinfo/zone1970.tab", "r");
	const char *before = getenv("TZ");
	char line[512], name[128];
	int zones = 0;

	CHECK(table != NULL);
	srandom(7);
	while (table && fgets(line, sizeof line, table))
		if (line[0] != '#' && sscanf(line, "%*s %*s %127s", name) == 1) {
			hold_against_library(name);
			zones++;
		}
	if (table)
		fclose(table);
	hold_against_library("EST5EDT");
	hold_against_library("Etc/GMT+5");
	CHECK(zones > 200);
	if (before)
		setenv("TZ", before, 1);
	else
		unsetenv("TZ");
	tzset();
}

static struct chat_config hours(
	const char *start, const char *end, const char *tz, int *days, size_t count)
{
	return (struct chat_config){ .working_hours_enabled = true,
		.working_hours_start = start,
		.working_hours_end = end,
		.working_hours_tz = tz,
		.working_hours_days = { days, count } };
}

TEST(hours_minutes_are_those_of_a_day)
{
	static const char *const bad[] = { "24:00", "99:99", "09:60", "9:00", "09:0", "0900",
		"09:000", "-1:00", "+9:00", "", "09-00", " 9:00" };

	CHECK_INT(chat_config_minute("00:00"), 0);
	CHECK_INT(chat_config_minute("09:30"), 570);
	CHECK_INT(chat_config_minute("23:59"), 1439);
	CHECK_INT(chat_config_minute(NULL), -1);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_INT(chat_config_minute(bad[i]), -1);
}

/* Moments that are easy to get wrong, worked out by hand. */
TEST(hours_begin_when_the_clock_on_the_wall_says_so)
{
	int week[] = { Weekday_Mon, Weekday_Tue, Weekday_Wed, Weekday_Thu, Weekday_Fri };
	int sunday[] = { Weekday_Sun };
	static int none;
	const struct {
		const char *what;
		struct chat_config config;
		const char *now;
		int64_t wait_s;
	} cases[] = {
		{ "inside", hours("09:00", "17:30", "Europe/Berlin", week, 5),
			"2026-01-30T08:00:00Z", 0 },
		{ "a second before", hours("09:00", "17:30", "Europe/Berlin", week, 5),
			"2026-01-30T07:59:59Z", 1 },
		{ "the last second", hours("09:00", "17:30", "Europe/Berlin", week, 5),
			"2026-01-30T16:29:59Z", 0 },
		{ "Friday evening to Monday", hours("09:00", "17:30", "Europe/Berlin", week, 5),
			"2026-01-30T16:30:00Z", 63 * 3600 + 1800 },
		{ "over the spring change, an hour less",
			hours("09:00", "17:30", "Europe/Berlin", week, 5), "2026-03-27T16:30:00Z",
			63 * 3600 + 1800 - 3600 },
		{ "over the autumn change, an hour more",
			hours("09:00", "17:30", "Europe/Berlin", week, 5), "2026-10-23T15:30:00Z",
			63 * 3600 + 1800 + 3600 },
		{ "a start that the clock jumps over",
			hours("02:30", "04:00", "Europe/Berlin", sunday, 1), "2026-03-29T00:59:00Z",
			60 },
		{ "hours that the clock jumps over wholly",
			hours("02:10", "02:50", "Europe/Berlin", sunday, 1), "2026-03-29T00:59:00Z",
			7 * DAY_S - 49 * MINUTE_S },
		{ "hours that come twice, first time",
			hours("02:00", "02:30", "Europe/Berlin", sunday, 1), "2026-10-24T23:59:00Z",
			60 },
		{ "hours that come twice, between",
			hours("02:00", "02:30", "Europe/Berlin", sunday, 1), "2026-10-25T00:45:00Z",
			15 * MINUTE_S },
		{ "half an hour of change", hours("09:00", "10:00", "Australia/Lord_Howe", NULL, 0),
			"2026-04-04T22:00:00Z", 1800 },
		{ "far ahead of UTC", hours("09:00", "10:00", "Pacific/Kiritimati", NULL, 0),
			"2026-06-01T18:59:00Z", 60 },
		{ "a day that never was", hours("09:00", "10:00", "Pacific/Apia", NULL, 0),
			"2011-12-29T20:00:00Z", 23 * 3600 },
		{ "no day at all", hours("09:00", "10:00", "UTC", &none, 0), "2026-06-01T09:30:00Z",
			WAIT_FOR_EVER },
		{ "a zone that is gone is UTC", hours("09:00", "10:00", "Mars/Olympus", NULL, 0),
			"2026-06-01T08:59:00Z", 60 },
		{ "no start is midnight", hours(NULL, "10:00", "UTC", NULL, 0),
			"2026-06-01T10:00:00Z", 14 * 3600 },
		{ "no end is midnight", hours("09:00", NULL, "UTC", NULL, 0),
			"2026-06-01T23:59:59Z", 0 },
		{ "no end, before the start", hours("09:00", NULL, "UTC", NULL, 0),
			"2026-06-01T00:00:00Z", 9 * 3600 },
		{ "no zone is UTC", hours("09:00", "10:00", NULL, NULL, 0), "2026-06-01T08:59:00Z",
			60 },
		{ "nothing set is always", hours(NULL, NULL, NULL, NULL, 0), "2026-06-01T23:59:59Z",
			0 },
		{ "not enabled", { .working_hours_enabled = false }, "2026-06-01T08:59:00Z", 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].what);
		CHECK_INT(working_hours_wait_s(&cases[i].config, at_utc(cases[i].now)),
			cases[i].wait_s);
	}
}

static bool open_at(const struct chat_config *config, int64_t utc_s)
{
	struct zone_time t;
	int start = chat_config_minute(config->working_hours_start);
	int end = chat_config_minute(config->working_hours_end);
	bool day = !config->working_hours_days.at;

	CHECK(zone_local(config->working_hours_tz, utc_s * SECOND_US, &t));
	for (size_t i = 0; i < config->working_hours_days.count; i++)
		day |= ((int *)config->working_hours_days.at)[i] == t.weekday;
	return day && t.minute >= start && t.minute < end;
}

/* Any hours in any zone, around changes of the clock as well as anywhere. */
TEST(hours_begin_as_a_walk_over_the_minutes_finds)
{
	static const char *const zones[] = { "Europe/Berlin", "America/New_York",
		"Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "Africa/Casablanca",
		"America/St_Johns", "Asia/Kathmandu", "Pacific/Chatham", "UTC", "Africa/Cairo",
		"America/Asuncion", "Antarctica/Troll" };
	static const char *const changes[] = { "2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z",
		"2026-03-08T06:00:00Z", "2026-11-01T05:00:00Z", "2026-04-04T14:00:00Z",
		"2026-10-03T15:00:00Z", "2011-12-30T09:00:00Z", "2026-02-15T02:00:00Z" };

	srandom(11);
	for (int i = 0; i < 400; i++) {
		int days[7], start = (int)(random() % 1439), end;
		char from[8], to[8];
		size_t count = 0;
		struct chat_config config;
		int64_t now = at_utc(changes[random() % 8]) / SECOND_US, wait = 0;

		end = start + 1 + (int)(random() % (1439 - start));
		snprintf(from, sizeof from, "%02d:%02d", start / 60 % 24, start % 60);
		snprintf(to, sizeof to, "%02d:%02d", end / 60 % 24, end % 60);
		for (int d = 0; d < 7; d++)
			if (random() % 3)
				days[count++] = d;
		config = hours(from, to, zones[random() % 13], random() % 4 ? days : NULL, count);
		if (!config.working_hours_days.at)
			config.working_hours_days.count = 0;
		now += (random() % (6 * 1440) - 3 * 1440) * MINUTE_S;
		while (wait < 10 * DAY_S && !open_at(&config, now + wait))
			wait += MINUTE_S;
		test_step("%s %s-%s at %lld", config.working_hours_tz, from, to, (long long)now);
		if (wait >= 10 * DAY_S)
			CHECK(config.working_hours_days.count < 7 &&
				working_hours_wait_s(&config, now * SECOND_US) >= 7 * DAY_S);
		else
			CHECK_INT(working_hours_wait_s(&config, now * SECOND_US), wait);
	}
}
