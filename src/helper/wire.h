/* wire.h - what the server and lodge-helper say to each other, on one socket: a task and its bytes there, records back.
 *
 * Both are built together and run on one machine, so that numbers are as the
 * machine has them; a helper of another build sees it by the first number and
 * refuses.  Neither believes the other: the helper holds a task against the
 * ceilings here, and the server an answer against what it asked for. */
#pragma once
#include <stdint.h>

enum {
	HELPER_MARK = 0x6c680001, /* to be raised when anything here changes */

	HELPER_PACKED_MAX = 64 << 20,
	HELPER_YAML_MAX = 10 * 1000 * 1000,
	HELPER_YAML_EVENTS_MAX = 200000,
	HELPER_YAML_DEPTH_MAX = 64,
	/* Of the JSON that a YAML text becomes; one of its bytes is at most six of these. */
	HELPER_JSON_MAX = 64 << 20,
	HELPER_FAULT_MAX = 2048,
	HELPER_PATH_MAX = 4096,
};

enum helper_kind {
	HELPER_UNPACK = 1,
	HELPER_YAML,
	/* In builds with faults only, for the tests: what a helper that is broken or taken over could do. */
	HELPER_ACT = 100,
};

struct helper_task {
	uint32_t mark;
	uint32_t kind;						    /* enum helper_kind */
	uint64_t len;						    /* bytes that follow */
	uint64_t one, all, entries, ratio, ratio_from, path, depth; /* of HELPER_UNPACK */
};

enum helper_record_kind {
	RECORD_FILE = 1, /* a name and bytes */
	RECORD_TREE,	 /* JSON */
	RECORD_LINES,	 /* a uint32_t for each node of the tree before it, in its order */
	RECORD_FAULT,	 /* a sentence; the last */
	RECORD_END,	 /* nothing went wrong; the last */
};

struct helper_record {
	uint32_t kind;	   /* enum helper_record_kind */
	uint32_t name_len; /* the name follows */
	uint64_t len;	   /* and then so many bytes */
	uint64_t line;	   /* of RECORD_FAULT: where, from 1; 0: nowhere in particular */
};
