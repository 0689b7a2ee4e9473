/* chat_config.h - how much an agent chats, and when: the row as stored, and whether it is at work.
 *
 * Who asks and what they are told when it is not, others decide. */
#pragma once
#include "contract/schema.h"
#include "store/store.h"

enum Weekday {
	Weekday_Mon,
	Weekday_Tue,
	Weekday_Wed,
	Weekday_Thu,
	Weekday_Fri,
	Weekday_Sat,
	Weekday_Sun
};
extern const struct words Weekday_words;

struct chat_config {
	const char *tenant_id, *agent_id;
	int64_t chat_rph_limit,
		chat_rpm_limit;		/* messages in an hour, in a minute; NIL: no limit */
	struct list working_hours_days; /* of int, enum Weekday; null: every day */
	bool working_hours_enabled;
	/* HH:MM and an IANA name; all three are there while the hours are enabled */
	const char *working_hours_start, *working_hours_end, *working_hours_tz;
	int64_t hourly_limit_pd; /* of the agent's own row; NIL: none */
};
SCHEMA_DECLARED(chat_config);

extern const struct statement_set chat_config_sql;

/* The agent's row; one that was never set is empty.  ERR_NOT_FOUND if there is no such agent. */
int chat_config_read(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct chat_config *ret);
int chat_config_write(struct db *db, const struct chat_config *row);

/* The minute of the day that HH:MM means, or -1 if there is none such (24:00 is none). */
int chat_config_minute(const char *text);
/* The minutes between which the hours lie: where no start is set 00:00, where no end is 24:00. */
int chat_config_start(const struct chat_config *config);
int chat_config_end(const struct chat_config *config);

#define WAIT_FOR_EVER INT64_MAX

/* 0 inside the working hours (or if there are none to keep to), else the seconds until they begin;
 * WAIT_FOR_EVER if no day is one of work.  The start is inside, the end is not. */
int64_t working_hours_wait_s(const struct chat_config *config, int64_t now_us);
