/* wire.h - what the server and lodge-helper say to each other, on one socket: a task and its bytes there, records back.
 *
 * Both are built together and run on one machine, so that numbers are as the
 * machine has them; a helper of another build sees it by the first number and
 * refuses.  Neither believes the other: the helper holds a task against the
 * ceilings here, and the server an answer against what it asked for. */
#pragma once
#include <stdint.h>

enum {
	HELPER_MARK = 0x6c680002, /* to be raised when anything here changes */

	HELPER_PACKED_MAX = 64 << 20,
	HELPER_YAML_MAX = 10 * 1000 * 1000,
	HELPER_YAML_EVENTS_MAX = 200000,
	HELPER_YAML_DEPTH_MAX = 64,
	/* Of the JSON that a YAML text becomes; one of its bytes is at most six of these. */
	HELPER_JSON_MAX = 64 << 20,
	HELPER_FAULT_MAX = 2048,
	HELPER_PATH_MAX = 4096,

	/* Of HELPER_MIME: the message, what it is decoded to, and how much there is of each thing in it. */
	HELPER_MIME_MAX = 64 << 20,
	HELPER_MIME_CPU_S = 5,
	HELPER_MIME_DECODED_MAX = 50 << 20,
	HELPER_MIME_TEXT_MAX = 2 << 20, /* longer texts are attachments */
	HELPER_MIME_DEPTH_MAX = 32,
	HELPER_MIME_PARTS_MAX = 500,
	HELPER_MIME_ATTACHED_MAX = 50,
	HELPER_MIME_FIELDS_MAX = 1000,
	HELPER_MIME_VALUE_MAX = 64 * 1024,
	HELPER_MIME_PEOPLE_MAX = 1000,
	HELPER_MIME_ADDRESS_MAX = 320,
	HELPER_MIME_NAME_MAX = 255, /* of a display name, a file, a type, a Content-ID */
	HELPER_MIME_STATUS_MAX = 2000,
};

enum helper_kind {
	HELPER_UNPACK = 1,
	HELPER_YAML,
	HELPER_MIME,
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
	/* Of a message: */
	RECORD_FIELD, /* a header: its name with small letters; what it says, as UTF-8 on one line */
	RECORD_PERSON, /* an address of the header that it is named after: the address, NUL, a name */
	RECORD_TEXT,   /* "plain" or "html": all of it that is to be read */
	RECORD_ATTACHED, /* file name, NUL, declared type, NUL, Content-ID; its bytes */
	RECORD_STATUS, /* a field of a delivery status: its name, what it says; `line` is the number of its group */
};

struct helper_record {
	uint32_t kind;	   /* enum helper_record_kind */
	uint32_t name_len; /* the name follows */
	uint64_t len;	   /* and then so many bytes */
	uint64_t line;	   /* of RECORD_FAULT: where, from 1; 0: nowhere in particular */
};
