/* log.h - what the program says while it runs: one line an event, as text or as JSON.
 *
 * The log is the one thing shared by the whole process.  A line has a level,
 * a sentence, and named values; values never hold secrets.  The text form
 * escapes whatever could forge a line. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_SILENT = -1, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

void log_setup(enum log_level level, enum log_format format);
bool log_wants(enum log_level level);

/* One named value.  A NULL name ends the list (which may itself be NULL);
 * a text of NULL leaves the pair out. */
struct log_pair {
	const char *name;
	const char *text;
	int64_t number;
	bool is_number;
};

/* The longest line, its end with it. */
enum { LOG_LINE_MAX = 8192 };
/* The line as it is written, with its end; returns its length. */
size_t log_compose(char out[LOG_LINE_MAX], enum log_level level, enum log_format format,
	const char *message, const struct log_pair *pairs);
/* Never waits: while nobody reads the log, lines are dropped, and the first that goes out again says how many. */
void log_line(enum log_level level, const char *message, const struct log_pair *pairs);
/* How many were dropped since the start. */
uint64_t log_dropped(void);

#define LOG_S(n, v)                      \
	{                                \
		.name = (n), .text = (v) \
	}
#define LOG_N(n, v)                                           \
	{                                                     \
		.name = (n), .number = (v), .is_number = true \
	}
/* Each takes one or more pairs; a line without any is log_line(level, message, NULL). */
#define log_error(msg, ...) log_line(LOG_ERROR, msg, (struct log_pair[]){ __VA_ARGS__, { 0 } })
#define log_warn(msg, ...) log_line(LOG_WARN, msg, (struct log_pair[]){ __VA_ARGS__, { 0 } })
#define log_info(msg, ...) log_line(LOG_INFO, msg, (struct log_pair[]){ __VA_ARGS__, { 0 } })
#define log_debug(msg, ...) log_line(LOG_DEBUG, msg, (struct log_pair[]){ __VA_ARGS__, { 0 } })
