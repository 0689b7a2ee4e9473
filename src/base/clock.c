/* clock.c - clocks, and dates by arithmetic alone (no locale, no time zone database). */
#include "base/clock.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

static int64_t clock_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * SECOND_US + t.tv_nsec / 1000;
}

#ifdef LODGE_FAULTS
static _Atomic int64_t clock_ahead_us;

void clock_move_us(int64_t by)
{
	atomic_fetch_add(&clock_ahead_us, by);
}

int64_t clock_now_us(void)
{
	return clock_us(CLOCK_REALTIME) +
	       atomic_load_explicit(&clock_ahead_us, memory_order_relaxed);
}
#else
int64_t clock_now_us(void)
{
	return clock_us(CLOCK_REALTIME);
}
#endif

int64_t clock_mono_ms(void)
{
	return clock_us(CLOCK_MONOTONIC_COARSE) / 1000;
}

int64_t clock_mono_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March. */
static int64_t days_of(int64_t y, int m, int d)
{
	int64_t era, yoe, doy;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

struct date {
	int year, month, day;
};

static struct date date_of(int64_t days)
{
	int64_t era, doe, yoe, doy, mp;
	struct date d;

	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	doe = days - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	d.day = (int)(doy - (153 * mp + 2) / 5 + 1);
	d.month = (int)(mp < 10 ? mp + 3 : mp - 9);
	d.year = (int)(yoe + era * 400 + (d.month <= 2));
	return d;
}

static void put_digits(char *at, int n, int64_t v)
{
	while (n-- > 0) {
		at[n] = (char)('0' + v % 10);
		v /= 10;
	}
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

void time_write(int64_t us, char out[TIME_TEXT_LEN])
{
	int64_t ms = floor_div(us, 1000), secs = floor_div(ms, 1000), days = floor_div(secs, 86400);
	int64_t of_day = secs - days * 86400;
	struct date d = date_of(days);

	memcpy(out, "0000-00-00T00:00:00.000Z", TIME_TEXT_LEN);
	put_digits(out, 4, d.year);
	put_digits(out + 5, 2, d.month);
	put_digits(out + 8, 2, d.day);
	put_digits(out + 11, 2, of_day / 3600);
	put_digits(out + 14, 2, of_day / 60 % 60);
	put_digits(out + 17, 2, of_day % 60);
	put_digits(out + 20, 3, ms - secs * 1000);
}

void time_write_http(int64_t us, char out[29])
{
	static const char day_names[] = "ThuFriSatSunMonTueWed";
	static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int64_t secs = floor_div(us, SECOND_US), days = floor_div(secs, 86400);
	int64_t of_day = secs - days * 86400;
	struct date d = date_of(days);

	memcpy(out, "Thu, 01 Jan 1970 00:00:00 GMT", 29);
	memcpy(out, day_names + (days % 7 + 7) % 7 * 3, 3);
	memcpy(out + 8, month_names + (d.month - 1) * 3, 3);
	put_digits(out + 5, 2, d.day);
	put_digits(out + 12, 4, d.year);
	put_digits(out + 17, 2, of_day / 3600);
	put_digits(out + 20, 2, of_day / 60 % 60);
	put_digits(out + 23, 2, of_day % 60);
}

/* Reads exactly n digits and moves on; -1 if they are not there. */
static int take_date_digits(const char **at, const char *end, int n)
{
	int v = 0;

	if (end - *at < n)
		return -1;
	for (; n > 0; n--, (*at)++) {
		if (**at < '0' || **at > '9')
			return -1;
		v = v * 10 + (**at - '0');
	}
	return v;
}

static bool take_char(const char **at, const char *end, const char *any_of)
{
	if (*at == end || !**at || !strchr(any_of, **at))
		return false;
	(*at)++;
	return true;
}

static int days_in_month(int y, int m)
{
	static const char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return m == 2 && leap ? 29 : days[m - 1];
}

bool time_read(const char *text, size_t len, int64_t *ret_us)
{
	const char *at = text, *end = text + len;
	int y, mo, d, h, mi, s;
	int64_t us = 0, unit = SECOND_US / 10, offset = 0;

	if ((y = take_date_digits(&at, end, 4)) < 1 || !take_char(&at, end, "-") ||
		(mo = take_date_digits(&at, end, 2)) < 1 || mo > 12 || !take_char(&at, end, "-") ||
		(d = take_date_digits(&at, end, 2)) < 1 || d > days_in_month(y, mo) ||
		!take_char(&at, end, "Tt") || (h = take_date_digits(&at, end, 2)) < 0 || h > 23 ||
		!take_char(&at, end, ":") || (mi = take_date_digits(&at, end, 2)) < 0 || mi > 59 ||
		!take_char(&at, end, ":") || (s = take_date_digits(&at, end, 2)) < 0 || s > 59)
		return false;
	if (take_char(&at, end, ".")) {
		const char *first = at;

		for (; at < end && *at >= '0' && *at <= '9'; at++, unit /= 10)
			us += (*at - '0') * unit;
		if (at == first)
			return false;
	}
	if (!take_char(&at, end, "Zz")) {
		bool minus = at < end && *at == '-';
		int oh, om;

		if (!take_char(&at, end, "+-") || (oh = take_date_digits(&at, end, 2)) < 0 ||
			oh > 23 || !take_char(&at, end, ":") ||
			(om = take_date_digits(&at, end, 2)) < 0 || om > 59)
			return false;
		offset = (minus ? -1 : 1) * (oh * 3600 + om * 60);
	}
	if (at != end)
		return false;
	us += ((days_of(y, mo, d) * 86400 + h * 3600 + mi * 60 + s) - offset) * SECOND_US;
	*ret_us = us;
	return true;
}
