/* row.h - the tables of rows that only the store sees.
 *
 * Nobody reads bounds or words about such a row, so that its members are all there is to say:
 *
 *   FIELDS(reset_row) = { ROW_FIELDS(reset_row, hash, user_id, created_at, expires_at),
 *           ROW_NULLABLE(reset_row, created_by_id) };
 *   static SCHEMA(reset_row, .internal = true);
 *
 * A member of ROW_FIELDS is never null: a statement that is given none is refused. */
#pragma once
#include "store/store.h"

/* clang-format off */
#define ROW_FIELDS(S, ...) ROW_ALL(ROW_EACH(ROW_FIELD, S, __VA_ARGS__))
#define ROW_NULLABLE(S, ...) ROW_ALL(ROW_EACH(ROW_NULL, S, __VA_ARGS__))

#define ROW_FIELD(S, member) FIELD(S, member)
#define ROW_NULL(S, member) FIELD(S, member, .nullable = true)

/* One, and the rest in the next pass of the preprocessor, of which ROW_ALL makes 85. */
#define ROW_EACH(field, S, member, ...) \
	field(S, member) __VA_OPT__(, ROW_AGAIN ROW_LATER (field, S, __VA_ARGS__))
#define ROW_AGAIN() ROW_EACH
#define ROW_LATER ()
#define ROW_ALL(...) ROW_4(ROW_4(ROW_4(__VA_ARGS__)))
#define ROW_4(...) ROW_3(ROW_3(ROW_3(__VA_ARGS__)))
#define ROW_3(...) ROW_2(ROW_2(ROW_2(__VA_ARGS__)))
#define ROW_2(...) ROW_1(ROW_1(ROW_1(__VA_ARGS__)))
#define ROW_1(...) __VA_ARGS__
/* clang-format on */
