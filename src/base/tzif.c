/* tzif.c - see tzif.h.
 *
 * A file holds everything twice: first in 32 bits, which is skipped, then in
 * 64.  After that stands, as a line of text, the rule for all time after the
 * last change that is listed. */
#include "base/tzif.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEAD = 44,
	TYPE = 6, /* bytes of a local time type */
	OFFSET_MAX_S = 26 * 3600,
	RULE_TIME_MAX_H = 167,
	DAY_S = 86400,
};

/* A day of the year and a second on it at which clocks are changed. */
struct zone_change {
	enum { BY_WEEK, BY_DAY, BY_DAY_WITHOUT_LEAP } kind;
	int month, week, day;
	int64_t second; /* of the day; may lie in another */
};

/* What holds after the last listed change. */
struct tzif_rule {
	bool there, saves; /* saves: it has two offsets, and changes between them */
	int64_t standard, saving;
	struct zone_change begin, end;
};

struct tzif {
	struct tzif_rule rule;
	int64_t first; /* the offset before every change */
	size_t count;
	struct {
		int64_t at, offset;
	} changes[];
};

/* ---- the rule at the end ---- */

struct text {
	const char *at, *end;
};

static char peek_rule_char(const struct text *t)
{
	return (char)(t->at < t->end ? *t->at : '\0');
}

static bool take_rule_char(struct text *t, char c)
{
	if (peek_rule_char(t) != c)
		return false;
	t->at++;
	return true;
}

static bool is_rule_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_int(struct text *t, int least, int most, int *ret)
{
	int n = 0;

	if (!is_rule_digit(peek_rule_char(t)))
		return false;
	while (is_rule_digit(peek_rule_char(t)) && n <= most)
		n = n * 10 + (*t->at++ - '0');
	*ret = n;
	return n >= least && n <= most;
}

/* CET, or <+0530>. */
static bool take_name(struct text *t)
{
	const char *start;
	bool quoted = take_rule_char(t, '<');

	start = t->at;
	while (t->at < t->end &&
		((*t->at >= 'A' && *t->at <= 'Z') || (*t->at >= 'a' && *t->at <= 'z') ||
			(quoted && (is_rule_digit(*t->at) || *t->at == '+' || *t->at == '-'))))
		t->at++;
	return t->at - start >= 3 && (!quoted || take_rule_char(t, '>'));
}

/* [+-]h[h][:mm[:ss]] */
static bool take_time(struct text *t, int most_hours, int64_t *ret)
{
	bool minus = take_rule_char(t, '-');
	int hours, minutes = 0, seconds = 0;

	if (!minus)
		take_rule_char(t, '+');
	if (!take_int(t, 0, most_hours, &hours))
		return false;
	if (take_rule_char(t, ':') &&
		(!take_int(t, 0, 59, &minutes) ||
			(take_rule_char(t, ':') && !take_int(t, 0, 59, &seconds))))
		return false;
	*ret = (hours * 60 + minutes) * 60 + seconds;
	*ret = minus ? -*ret : *ret;
	return true;
}

/* M10.5.0, J300 or 299, and /time if it is not two o'clock. */
static bool take_change(struct text *t, struct zone_change *ret)
{
	ret->second = 2 * 3600;
	if (take_rule_char(t, 'M')) {
		ret->kind = BY_WEEK;
		if (!take_int(t, 1, 12, &ret->month) || !take_rule_char(t, '.') ||
			!take_int(t, 1, 5, &ret->week) || !take_rule_char(t, '.') ||
			!take_int(t, 0, 6, &ret->day))
			return false;
	} else if (take_rule_char(t, 'J')) {
		ret->kind = BY_DAY_WITHOUT_LEAP;
		if (!take_int(t, 1, 365, &ret->day))
			return false;
	} else {
		ret->kind = BY_DAY;
		if (!take_int(t, 0, 365, &ret->day))
			return false;
	}
	return !take_rule_char(t, '/') || take_time(t, RULE_TIME_MAX_H, &ret->second);
}

/* CET-1CEST,M3.5.0,M10.5.0/3: offsets are written as what is to be added to reach UTC. */
static bool read_rule(struct text t, struct tzif_rule *ret)
{
	if (t.at == t.end)
		return true;
	if (!take_name(&t) || !take_time(&t, 24, &ret->standard))
		return false;
	ret->standard = -ret->standard;
	ret->there = true;
	if (t.at == t.end)
		return true;
	ret->saves = true;
	ret->saving = ret->standard + 3600;
	if (!take_name(&t))
		return false;
	if (peek_rule_char(&t) != ',') {
		if (!take_time(&t, 24, &ret->saving))
			return false;
		ret->saving = -ret->saving;
	}
	return take_rule_char(&t, ',') && take_change(&t, &ret->begin) && take_rule_char(&t, ',') &&
	       take_change(&t, &ret->end) && t.at == t.end;
}

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970 to the first of the month. */
static int64_t days_before(int64_t year, int month)
{
	static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 };
	int64_t y = year - 1;

	return (year - 1970) * 365 + (y / 4 - 492) - (y / 100 - 19) + (y / 400 - 4) +
	       before[month - 1] + (month > 2 && is_leap(year));
}

static int64_t year_of(int64_t local_s)
{
	int64_t days = local_s / DAY_S - (local_s % DAY_S < 0);
	int64_t year = 1969 + days / (days < 0 ? 365 : 366); /* not behind it */

	while (days_before(year + 1, 1) <= days)
		year++;
	return year;
}

/* The local second, counted from 1970, at which it happens in a year. */
static int64_t change_second(const struct zone_change *c, int64_t year)
{
	int64_t day = days_before(year, 1) + c->day;

	if (c->kind == BY_DAY_WITHOUT_LEAP) {
		day += is_leap(year) && c->day >= 60 ? 0 : -1;
	} else if (c->kind == BY_WEEK) {
		int64_t first = days_before(year, c->month), next;

		/* 1970 began on a Thursday; 0 is Sunday */
		day = first + ((c->day - (first + 4)) % 7 + 7) % 7 + (c->week - 1) * 7;
		next = c->month == 12 ? days_before(year + 1, 1) : days_before(year, c->month + 1);
		day -= day >= next ? 7 : 0;
	}
	return day * DAY_S + c->second;
}

static int64_t rule_offset(const struct tzif_rule *r, int64_t utc_s)
{
	int64_t year, begin, end;
	bool saving;

	if (!r->saves)
		return r->standard;
	year = year_of(utc_s + r->standard);
	begin = change_second(&r->begin, year) - r->standard;
	end = change_second(&r->end, year) - r->saving;
	saving = begin < end ? utc_s >= begin && utc_s < end : utc_s >= begin || utc_s < end;
	return saving ? r->saving : r->standard;
}

/* ---- the file ---- */

static uint64_t tzif_big_endian(const uint8_t *p, size_t bytes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n = n << 8 | p[i];
	return n;
}

struct head {
	size_t utc, standard, leaps, changes, types, letters;
};

/* The length of the block after the head; 0 if the head is none, or the block is longer than the rest. */
static size_t read_tzif_head(const uint8_t *p, size_t len, size_t time_bytes, struct head *ret)
{
	size_t *const counts[] = { &ret->utc, &ret->standard, &ret->leaps, &ret->changes,
		&ret->types, &ret->letters };
	size_t block;

	if (len < HEAD || memcmp(p, "TZif", 4) != 0)
		return 0;
	for (size_t i = 0; i < 6; i++) {
		*counts[i] = (size_t)tzif_big_endian(p + 20 + 4 * i, 4);
		if (*counts[i] > TZIF_FILE_MAX)
			return 0;
	}
	block = ret->changes * (time_bytes + 1) + ret->types * TYPE + ret->letters +
		ret->leaps * (time_bytes + 4) + ret->standard + ret->utc;
	return block && block <= len - HEAD ? block : 0;
}

/* The offset of a local time type; false if there is none such. */
static bool type_offset(const uint8_t *types, size_t count, size_t index, int64_t *ret)
{
	if (index >= count)
		return false;
	*ret = (int32_t)tzif_big_endian(types + index * TYPE, 4);
	return *ret > -OFFSET_MAX_S && *ret < OFFSET_MAX_S;
}

static bool read_changes(struct tzif *z, const uint8_t *block, const struct head *h)
{
	const uint8_t *index = block + h->changes * 8, *types = index + h->changes;

	if (!type_offset(types, h->types, 0, &z->first))
		return false;
	for (z->count = 0; z->count < h->changes; z->count++) {
		z->changes[z->count].at = (int64_t)tzif_big_endian(block + z->count * 8, 8);
		if (!type_offset(types, h->types, index[z->count], &z->changes[z->count].offset))
			return false;
		if (z->count && z->changes[z->count].at <= z->changes[z->count - 1].at)
			return false;
	}
	return true;
}

static bool read_footer(struct tzif *z, const uint8_t *p, size_t len)
{
	const uint8_t *end = len > 1 ? memchr(p + 1, '\n', len - 1) : NULL;

	return end && *p == '\n' &&
	       read_rule((struct text){ (const char *)p + 1, (const char *)end }, &z->rule);
}

struct tzif *tzif_new(const uint8_t *bytes, size_t len)
{
	struct head h;
	struct tzif *z;
	size_t block = len <= TZIF_FILE_MAX ? read_tzif_head(bytes, len, 4, &h) : 0;

	if (!block || bytes[4] < '2')
		return NULL;
	bytes += HEAD + block;
	len -= HEAD + block;
	block = read_tzif_head(bytes, len, 8, &h);
	if (!block || h.leaps) /* our clock counts no leap seconds */
		return NULL;
	z = calloc(1, sizeof *z + h.changes * sizeof *z->changes);
	if (!z)
		abort();
	if (read_changes(z, bytes + HEAD, &h) &&
		read_footer(z, bytes + HEAD + block, len - HEAD - block))
		return z;
	free(z);
	return NULL;
}

void tzif_free(struct tzif *z)
{
	free(z);
}

int64_t tzif_offset_s(const struct tzif *z, int64_t utc_s)
{
	size_t low = 0, high = z->count;

	/* How many changes have happened by then. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (z->changes[middle].at <= utc_s)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == z->count && z->rule.there)
		return rule_offset(&z->rule, utc_s);
	return low ? z->changes[low - 1].offset : z->first;
}
