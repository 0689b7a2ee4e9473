/* clock.h - time as integers, and its one written form.
 *
 * A moment is microseconds since 1970 in UTC; it is written as ISO 8601 with
 * milliseconds and Z.  Durations come from the monotonic clock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US (60 * MINUTE_US)
#define DAY_US (24 * HOUR_US)
#define TIME_TEXT_LEN 24 /* 2026-01-02T03:04:05.678Z */

int64_t clock_now_us(void); /* wall clock */
#ifdef LODGE_FAULTS
void clock_move_us(int64_t by); /* for tests: the wall clock goes ahead, or back, by so much more */
#endif
int64_t clock_mono_ms(void); /* monotonic, coarse: for deadlines */
int64_t clock_mono_us(void); /* monotonic, fine: for measuring */

/* Writes TIME_TEXT_LEN bytes, no terminator. */
void time_write(int64_t us, char out[TIME_TEXT_LEN]);
/* Reads an RFC 3339 date-time with any offset; false if it is not one, or not in 0001..9999. */
bool time_read(const char *text, size_t len, int64_t *ret_us);
/* Sun, 06 Nov 1994 08:49:37 GMT: 29 bytes, no terminator. */
void time_write_http(int64_t us, char out[29]);
