/* prescan.h - whether a message may be given to the parser at all: a look at its raw bytes, as they come.
 *
 * The parser of MIME runs in a process that may die.  These limits keep out
 * what is known to kill it or to make it eat, and what no letter has: so that
 * it dies over bugs that nobody knows yet, and not over each message of
 * somebody who read about one.  Lines end with LF, with or without a CR. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PRESCAN_BYTES_MAX = 64 << 20, /* the ceiling of what may be set */
	PRESCAN_HEAD_MAX = 256 * 1024,
	PRESCAN_HEAD_LINES_MAX = 1000,
	PRESCAN_ADDRESS_MAX = 16 * 1024, /* bytes of a header with addresses */
	PRESCAN_ADDRESS_COLONS_MAX = 64,
	/* The same where it may be the head of a message inside, or just text. */
	PRESCAN_INNER_MAX = 64 * 1024,
	PRESCAN_INNER_COLONS_MAX = 4000,
	PRESCAN_BOUNDARIES_MAX = 2000, /* lines that begin with -- */
	PRESCAN_NAME_MAX = 32,
};

struct prescan {
	size_t bytes_max;
	size_t bytes, head_lines, boundaries;
	bool in_body;
	/* Of the line. */
	size_t line_len; /* without its end */
	bool dash, cr;	 /* it began with one; the last byte was one */
	/* Of the header field, or of what could be one. */
	char name[PRESCAN_NAME_MAX]; /* letters small */
	size_t name_len;
	bool in_name, in_addresses;
	size_t field_bytes, field_colons;
	const char *fault;
};

void prescan_begin(struct prescan *s, size_t bytes_max);
/* False once something is wrong; the fault is a sentence then. */
bool prescan_push(struct prescan *s, const char *bytes, size_t len);
/* All at once. */
const char *prescan_fault(const char *bytes, size_t len, size_t bytes_max);
