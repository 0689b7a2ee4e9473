/* chat_config.c - see chat_config.h.
 *
 * Whether a moment is inside the hours is asked of the clock on the wall at
 * that moment, and of nothing else.  When they begin is found by asking so
 * for the few moments at which they can begin: the start of each day by the
 * offsets that hold around it, and the moment at which the clock is changed,
 * for it may jump over the start. */
#include "broker/chat_config.h"

#include <string.h>

#include "base/clock.h"
#include "base/zone.h"

enum { DAY_S = 86400, EVERY_DAY = 0x7f, DAYS_AHEAD = 9 };

static const char *const Weekday_list[] = {
	[Weekday_Mon] = "Mon",
	[Weekday_Tue] = "Tue",
	[Weekday_Wed] = "Wed",
	[Weekday_Thu] = "Thu",
	[Weekday_Fri] = "Fri",
	[Weekday_Sat] = "Sat",
	[Weekday_Sun] = "Sun",
	NULL,
};
const struct words Weekday_words = {
	.list = Weekday_list,
	.doc = "Days of the week.",
};

FIELDS(chat_config) = {
	FIELD(chat_config, tenant_id),
	FIELD(chat_config, agent_id),
	FIELD(chat_config, chat_rph_limit, .nullable = true),
	FIELD(chat_config, chat_rpm_limit, .nullable = true),
	FIELD(chat_config, working_hours_days, .nullable = true, .item = CHOICE,
		.words = &Weekday_words),
	FIELD(chat_config, working_hours_enabled),
	FIELD(chat_config, working_hours_start, .nullable = true),
	FIELD(chat_config, working_hours_end, .nullable = true),
	FIELD(chat_config, working_hours_tz, .nullable = true),
	FIELD(chat_config, hourly_limit_pd, .nullable = true, .computed = true),
};
SCHEMA(chat_config, .internal = true);

enum { CHAT_READ, CHAT_WRITE };

static const struct statement sql[] = {
	[CHAT_READ] = { "chat_config_read",
		"select {c.*}, a.hourly_limit_pd from agents a left join chat_configs c "
		"on c.tenant_id = a.tenant_id and c.agent_id = a.id "
		"where a.tenant_id = $1 and a.id = $2",
		.row = &chat_config_schema },
	[CHAT_WRITE] = { "chat_config_write",
		"insert into chat_configs ({*}) values ({$}) "
		"on conflict (tenant_id, agent_id) do update set {=}",
		.row = &chat_config_schema },
};
STATEMENT_SET(chat_config_sql, sql);

int chat_config_read(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct chat_config *ret)
{
	int err = db_one(db, a, &sql[CHAT_READ], ret, ARGS(T(tenant_id), T(agent_id)));
	int64_t limit = ret->hourly_limit_pd;

	if (err || ret->tenant_id)
		return err;
	schema_init(&chat_config_schema, a, ret);
	ret->tenant_id = tenant_id;
	ret->agent_id = agent_id;
	ret->hourly_limit_pd = limit;
	return 0;
}

int chat_config_write(struct db *db, const struct chat_config *row)
{
	return db_put(db, &sql[CHAT_WRITE], row);
}

int chat_config_minute(const char *text)
{
	int hour, minute;

	if (!text || strlen(text) != 5 || strspn(text, "0123456789") != 2 || text[2] != ':' ||
		strspn(text + 3, "0123456789") != 2)
		return -1;
	hour = (text[0] - '0') * 10 + text[1] - '0';
	minute = (text[3] - '0') * 10 + text[4] - '0';
	return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

int chat_config_start(const struct chat_config *config)
{
	int minute = chat_config_minute(config->working_hours_start);

	return minute < 0 ? 0 : minute;
}

int chat_config_end(const struct chat_config *config)
{
	int minute = chat_config_minute(config->working_hours_end);

	return minute < 0 ? DAY_S / 60 : minute;
}

/* The hours, ready to be asked. */
struct hours {
	unsigned days; /* bit n for enum Weekday n */
	int start, end;
	const char *zone;
};

static struct hours hours_of(const struct chat_config *config)
{
	struct hours h = { .days = EVERY_DAY,
		.start = chat_config_start(config),
		.end = chat_config_end(config),
		.zone = config->working_hours_tz };
	const int *days = config->working_hours_days.at;

	if (days)
		h.days = 0;
	for (size_t i = 0; days && i < config->working_hours_days.count; i++)
		h.days |= days[i] >= 0 ? 1u << days[i] : 0;
	/* A zone that the system has forgotten since: its hours are taken as UTC. */
	if (!h.zone || !zone_known(h.zone))
		h.zone = "UTC";
	return h;
}

static bool is_inside_hours(const struct hours *h, int64_t utc_s)
{
	struct zone_time t = { 0 };

	zone_local(h->zone, utc_s * SECOND_US, &t);
	return h->days >> t.weekday & 1 && t.minute >= h->start && t.minute < h->end;
}

static int64_t offset_at(const struct hours *h, int64_t utc_s)
{
	int64_t offset = 0;

	zone_offset_s(h->zone, utc_s, &offset);
	return offset;
}

/* The first second with the later offset. */
static int64_t change_between(const struct hours *h, int64_t from, int64_t to)
{
	int64_t later = offset_at(h, to);

	while (to - from > 1) {
		int64_t middle = from + (to - from) / 2;

		if (offset_at(h, middle) == later)
			to = middle;
		else
			from = middle;
	}
	return to;
}

int64_t working_hours_wait_s(const struct chat_config *config, int64_t now_us)
{
	struct hours h = hours_of(config);
	int64_t now = now_us / SECOND_US, local, midnight, first = WAIT_FOR_EVER;

	if (!config->working_hours_enabled || is_inside_hours(&h, now))
		return 0;
	local = now + offset_at(&h, now);
	midnight = local - (local % DAY_S + DAY_S) % DAY_S;
	for (int day = -1; day < DAYS_AHEAD; day++) {
		int64_t start = midnight + (int64_t)day * DAY_S + (int64_t)h.start * 60;
		int64_t before = offset_at(&h, start - 2 * DAY_S),
			after = offset_at(&h, start + 2 * DAY_S);
		int64_t candidates[] = { start - before, start - after,
			before == after
				? now
				: change_between(&h, start - 2 * DAY_S, start + 2 * DAY_S) };

		for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
			if (candidates[i] > now && candidates[i] < first &&
				is_inside_hours(&h, candidates[i]))
				first = candidates[i];
	}
	return first == WAIT_FOR_EVER ? WAIT_FOR_EVER : first - now;
}
