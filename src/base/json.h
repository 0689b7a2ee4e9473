/* json.h - reading and writing JSON text, strictly (RFC 8259) and without a tree.
 *
 * The reader is a cursor: the caller asks for what it expects next, and the
 * first fault sticks, with its place.  Text is checked as UTF-8, nesting is
 * bounded, a key that comes twice is a fault.  Memory is that of the strings
 * asked for and a small multiple of the names open at once; what is skipped
 * costs none.  Nothing here knows schemas. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"

/* How deep a text may be nested, and how many names the objects that are open at one place may have
 * together; more is a fault. */
enum { JSON_DEPTH_MAX = 64, JSON_NAMES_MAX = 65536 };

enum json_type {
	JSON_FAULT,
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* The fault of a text for which the arena has no room. */
#define JSON_TOO_MUCH "this takes more memory than there is for it"

struct json_names;

struct json_reader {
	const char *text, *at, *end;
	struct arena *arena; /* strings are decoded into it */
	int depth;
	bool first;		  /* just entered an array or object */
	struct json_names *names; /* of the objects being read, or NULL before the first */
	const char *fault;	  /* what is wrong, or NULL */
	size_t fault_at;	  /* byte offset of the fault */
};

struct json_number {
	const char *text;
	size_t len;
	double value;	 /* finite */
	int64_t integer; /* meaningful if is_integer */
	bool is_integer; /* a whole number within +-(2^53 - 1) */
};

void json_open(struct json_reader *r, struct arena *a, const char *text, size_t len);
/* The type of the value that comes next. */
enum json_type json_peek(struct json_reader *r);
bool json_read_null(struct json_reader *r);
bool json_read_bool(struct json_reader *r, bool *ret);
bool json_read_number(struct json_reader *r, struct json_number *ret);
/* The decoded text, NUL-terminated; it may hold NULs of its own, so look at the length. */
bool json_read_string(struct json_reader *r, const char **ret, size_t *ret_len);
/* The text between the quotes as it stands, escapes and all, checked but not copied. */
bool json_read_escaped(struct json_reader *r, const char **ret, size_t *ret_len);
/* Enters an object; then json_key answers true once for each member, and the value must be read. */
bool json_enter_object(struct json_reader *r);
bool json_next_key(struct json_reader *r, const char **ret, size_t *ret_len);
/* Enters an array; then json_item answers true before each item. */
bool json_enter_array(struct json_reader *r);
bool json_next_item(struct json_reader *r);
/* Reads any value and throws it away, checking all of it; ret may be NULL. */
bool json_skip(struct json_reader *r, const char **ret_text, size_t *ret_len);
/* True if nothing but white space is left and no fault was found. */
bool json_end(struct json_reader *r);

void json_write_string(struct buf *b, const char *text, size_t len);
void json_write_number(struct buf *b, double v);
/* Picodollars as a number of dollars, to the last digit; see money.h. */
void json_write_money(struct buf *b, __int128 pd);
void json_write_time(struct buf *b, int64_t us);
/* Writes a compact copy of JSON text that is known to be valid: no white space between tokens. */
void json_write_compact(struct buf *b, const char *text, size_t len);
