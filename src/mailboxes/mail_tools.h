/* mail_tools.h - the built-in tools with which an agent finds, reads and writes its own mail.
 *
 * They act as the agent, for the person whom the run acts for and with what that
 * one may do now, and use the same rows and the same rules as people do. */
#pragma once
#include "sessions/builtin_run.h"

extern const struct builtin_row mail_tools[];
extern const size_t mail_tool_count;

extern const struct statement_set mail_tool_sql;
