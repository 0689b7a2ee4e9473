/* date.c - see date.h.  Read from left to right; what is not a date by the letter is none. */
#include "mail/date.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static void skip_blanks(const char **at)
{
	while (**at == ' ' || **at == '\t')
		++*at;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* So many digits at least and at most. */
static bool read_digits(const char **at, size_t least, size_t most, int *ret)
{
	size_t n = 0;

	*ret = 0;
	for (; n < most && **at >= '0' && **at <= '9'; n++, ++*at)
		*ret = *ret * 10 + (**at - '0');
	return n >= least && !(**at >= '0' && **at <= '9');
}

/* "Fri,", which says nothing that the rest does not. */
static bool skip_weekday(const char **at)
{
	skip_blanks(at);
	if (!is_letter(**at))
		return true;
	while (is_letter(**at))
		++*at;
	skip_blanks(at);
	return *(*at)++ == ',';
}

static bool read_month(const char **at, int *ret)
{
	static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

	skip_blanks(at);
	for (*ret = 0; *ret < 12; ++*ret)
		if (strncasecmp(*at, names + (size_t)*ret * 3, 3) == 0) {
			*at += 3;
			return !is_letter(**at);
		}
	return false;
}

static bool read_day(const char **at, struct tm *tm)
{
	int year;

	if (!skip_weekday(at))
		return false;
	skip_blanks(at);
	if (!read_digits(at, 1, 2, &tm->tm_mday) || !read_month(at, &tm->tm_mon))
		return false;
	skip_blanks(at);
	if (!read_digits(at, 4, 4, &year) || year < 1970)
		return false;
	tm->tm_year = year - 1900;
	return tm->tm_mday >= 1 && tm->tm_mday <= 31;
}

static bool read_time(const char **at, struct tm *tm)
{
	skip_blanks(at);
	if (!read_digits(at, 2, 2, &tm->tm_hour) || *(*at)++ != ':' ||
		!read_digits(at, 2, 2, &tm->tm_min))
		return false;
	if (**at == ':') {
		++*at;
		if (!read_digits(at, 2, 2, &tm->tm_sec))
			return false;
	}
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
}

/* How far ahead of UTC, in seconds. */
static bool read_zone(const char **at, int64_t *ret)
{
	int sign, digits;

	skip_blanks(at);
	*ret = 0;
	if (is_letter(**at)) {
		while (is_letter(**at))
			++*at;
		return true;
	}
	if (**at != '+' && **at != '-')
		return false;
	sign = *(*at)++ == '+' ? 1 : -1;
	if (!read_digits(at, 4, 4, &digits) || digits % 100 > 59)
		return false;
	*ret = (int64_t)sign * (digits / 100 * 3600 + digits % 100 * 60);
	return true;
}

bool mail_date_read(const char *text, int64_t *ret_s)
{
	struct tm tm = { 0 };
	int64_t ahead;

	if (!read_day(&text, &tm) || !read_time(&text, &tm) || !read_zone(&text, &ahead))
		return false;
	skip_blanks(&text);
	if (*text && *text != '(')
		return false;
	*ret_s = (int64_t)timegm(&tm) - ahead;
	return true;
}
