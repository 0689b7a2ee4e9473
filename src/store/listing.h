/* listing.h - the statements of a list, written once.
 *
 * LIST_STATEMENTS gives three rows of a resource's statement table - the
 * count, a page by number, a page behind a key - and each SORT_STATEMENTS
 * two more.  They stand one behind the other; call/list.h walks them.
 *
 *   rows      schema of a row           columns   what to select
 *   from      tables and conditions     key       unique, newest first when descending
 *   counted   the same for the count, without what a row is only shown with
 *   n1, n2    the numbers of the two arguments behind those that `from` uses, as text
 *   ...       further members of the statements, such as .scan */
#pragma once
#include "store/store.h"

enum { LIST_COUNT, LIST_PAGE, LIST_AFTER, LIST_SORTS };

/* clang-format off */
#define LIST_STATEMENTS(id, rows, columns, from, key, n1, n2, ...) \
	COUNTED_LIST(id, rows, columns, from, from, key, n1, n2, ##__VA_ARGS__)

#define COUNTED_LIST(id, rows, columns, counted, from, key, n1, n2, ...) \
	{ id "_count", "select count(*) from " counted, ##__VA_ARGS__ }, \
	{ id "_page", "select " columns " from " from " order by " key " desc limit $" n1 " offset $" n2, \
	  .row = (rows), ##__VA_ARGS__ }, \
	{ id "_after", "select " columns " from " from " and " key " < $" n1 " order by " key " desc limit $" n2, \
	  .row = (rows), ##__VA_ARGS__ }

#define SORT_STATEMENTS(id, rows, columns, from, key, n1, n2, column) \
	{ id "_up", "select " columns " from " from " order by " column ", " key " limit $" n1 " offset $" n2, \
	  .row = (rows) }, \
	{ id "_down", "select " columns " from " from " order by " column " desc, " key " desc limit $" n1 \
	  " offset $" n2, .row = (rows) }
/* clang-format on */
