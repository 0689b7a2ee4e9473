/* listing.h - the statements of a list, written once.
 *
 * LISTING gives three rows of a resource's statement table - the count, a
 * page by number, a page after a key - and each SORTING two more; in the
 * enum of the table LIST_OF and SORT_OF stand for the same rows.  The sorts of a
 * list follow it in the order of its operation's words; call/list.c walks them.
 *
 *   enum { LIST_OF(AGENT_LIST), SORT_OF(AGENT_LIST, NAME), AGENT_READ };
 *
 *   at        where they stand          name      of the statements
 *   rows      schema of a row           columns   what to select
 *   from      tables and conditions, with their own arguments: numbers, or names of .args
 *   counted   the same for the count, without what a row is only shown with
 *   key       unique, newest first when descending
 *   ...       further members of the statements, such as .args and .scan
 *
 * The page's own places have no numbers here: see {limit} in store.h. */
#pragma once
#include "store/store.h"

enum { LIST_COUNT, LIST_PAGE, LIST_AFTER, LIST_SORTS };

#define LIST_OF(at) at, at##_PAGE, at##_AFTER
#define SORT_OF(at, by) at##_BY_##by, at##_BY_##by##_DOWN

/* clang-format off */
#define LISTING(at, name, rows, columns, from, key, ...) \
	COUNTED_LISTING(at, name, rows, columns, from, from, key, ##__VA_ARGS__)

#define COUNTED_LISTING(at, name, rows, columns, counted, from, key, ...) \
	[at] = { name "_count", "select count(*) from " counted, ##__VA_ARGS__ }, \
	[at##_PAGE] = { name "_page", \
	  "select " columns " from " from " order by " key " desc limit {limit} offset {offset}", \
	  .row = (rows), ##__VA_ARGS__ }, \
	[at##_AFTER] = { name "_after", \
	  "select " columns " from " from " and " key " < {after} order by " key " desc limit {limit}", \
	  .row = (rows), ##__VA_ARGS__ }

#define SORTING(at, by, name, rows, columns, from, key, column, ...) \
	[at##_BY_##by] = { name "_up", \
	  "select " columns " from " from " order by " column ", " key " limit {limit} offset {offset}", \
	  .row = (rows), ##__VA_ARGS__ }, \
	[at##_BY_##by##_DOWN] = { name "_down", \
	  "select " columns " from " from " order by " column " desc, " key " desc limit {limit} offset {offset}", \
	  .row = (rows), ##__VA_ARGS__ }
/* clang-format on */
