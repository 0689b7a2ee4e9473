/* zone.h - time zones by their IANA names, and what the clocks there show.
 *
 * A zone is a name; nothing is held or freed by the caller.  Every function
 * may be called from any thread.  A zone is read from the system's files the
 * first time it is named, and then kept. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { ZONE_NAME_MAX = 64 };

/* What a clock on the wall shows. */
struct zone_time {
	int weekday; /* 0 is Monday */
	int minute;  /* of the day */
};

/* Is it the name of a zone?  Names of files elsewhere, rules and bare offsets are none. */
bool zone_known(const char *name);
/* How many seconds clocks there are ahead of UTC at a moment (seconds since 1970); false if the zone
 * is not known. */
bool zone_offset_s(const char *name, int64_t utc_s, int64_t *ret);
/* The local time at a moment in microseconds; false if the zone is not known. */
bool zone_local(const char *name, int64_t us, struct zone_time *ret);
