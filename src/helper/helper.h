/* helper.h - formats of strangers, read by lodge-helper, a process that dies alone.
 *
 * Each task has a process of its own, which is started for it, locked in
 * (helper/inside), and ended with it: some two may run at a time, of which one
 * owner (a tenant) has one at most, others wait for them in turns, and while
 * there is nothing to read there is none.  A process that
 * is kept would save a millisecond and let one tenant's file wait inside it
 * for another's.  These calls block: they are for a thread of a pool, or a
 * command, never for a loop.
 *
 * What comes back is believed no more than what was sent: every length,
 * name and count is held against the limits once more.  Nothing here knows
 * what the files are for. */
#pragma once
#include "base/arena.h"
#include "base/json_tree.h"

/* What members of 0 stand for is in brackets. */
struct helper_setup {
	const char *program; /* [lodge-helper beside the running program, or a folder above it] */
	const char *mime_program; /* [lodge-mime, likewise] */
	unsigned cpu_s;		  /* [30] of one task */
	int wall_ms;		  /* [60000] of one task */
	size_t memory;		  /* [256 MiB] of one process, all it maps */
	size_t processes;	  /* [2] at a time */
};

struct helper;

/* Starts nothing.  NULL stands for a setup of zeros. */
struct helper *helper_new(const struct helper_setup *setup);
/* Nobody may be using it. */
void helper_free(struct helper *h);
/* The same processes, for what this owner asks: each has all of them but one at most, and they take turns.  What is asked of
 * `h` itself has one owner, too.  Never freed: it is the arena's. */
struct helper *helper_for(const struct helper *h, struct arena *a, const char *whose);

struct helper_limits {
	size_t packed;	   /* bytes of the archive, at most 64 MiB */
	size_t one, all;   /* unpacked bytes of one file, and of all */
	size_t entries;	   /* folders count too */
	size_t ratio;	   /* unpacked bytes for each packed one */
	size_t path;	   /* bytes of a name */
	size_t depth;	   /* parts of a name; 0: any number */
	size_t ratio_from; /* what unpacks to no more may be packed as well as it can; 0: 1 MiB */
};
/* Those of an agent's bundle. */
extern const struct helper_limits helper_bundle_limits;

struct helper_file {
	const char *name;  /* "references/a.md"; never a folder */
	const void *bytes; /* with a NUL after them */
	size_t len;
};

struct helper_files {
	struct helper_file *at;
	size_t count;
	const char *fault; /* a sentence, which names the entry if it is one's; or NULL */
};

/* A ZIP archive, or a tar archive packed with gzip.  0; ERR_INVALID with a fault that is the archive's; ERR_BUSY,
 * ERR_INTERNAL with one that is ours. */
int helper_unpack(struct helper *h, struct arena *a, const void *bytes, size_t len,
	const struct helper_limits *limits, struct helper_files *ret);

struct helper_tree {
	struct json_node *root;
	const uint32_t
		*lines; /* by the index of a node: where it, or the key before it, stands, from 1 */
	const char *fault;
	size_t fault_line; /* 0: nowhere in particular */
};

/* One YAML document as a tree: mappings, sequences, texts; a plain text that JSON would take for a number, true,
 * false or null is that, and ~ or nothing is null.  Errors as above. */
int helper_yaml_lines(
	struct helper *h, struct arena *a, const char *text, size_t len, struct helper_tree *ret);
/* The same without lines; the fault names its own. */
int helper_yaml(struct helper *h, struct arena *a, const char *text, size_t len,
	struct json_node **ret, const char **ret_fault);

/* What a message says, as the parser of MIME in lodge-mime understood it.  All texts are UTF-8 without control characters,
 * but for line ends and tabs in `plain` and `html`.  None of it is true because it stands here. */
struct helper_mail_field {
	const char *name, *value;
	size_t group; /* of a delivery status: 0 about the message, then one for each recipient */
};

struct helper_mail_person {
	const char *field;   /* "from", "to", "cc", "reply-to" */
	const char *address; /* perhaps none that could be written to */
	const char *name;
};

struct helper_mail_part {
	const char *name; /* a plain file name, of no folder */
	const char *type; /* as it was declared: "image/png" */
	const char *content_id;
	const void *bytes;
	size_t len;
};

struct helper_mail {
	struct helper_mail_field *fields; /* the headers that somebody asks for, from the top */
	size_t field_count;
	struct helper_mail_person *people;
	size_t person_count;
	const char *plain, *html; /* NULL: there is none */
	size_t plain_len, html_len;
	struct helper_mail_part *parts;
	size_t part_count;
	struct helper_mail_field *status; /* of message/delivery-status */
	size_t status_count;
	const char *fault;
};

/* At most 5 s of processor.  Errors as above. */
int helper_mime(
	struct helper *h, struct arena *a, const void *bytes, size_t len, struct helper_mail *ret);

#ifdef LODGE_FAULTS
/* For tests: the process does this misdeed (helper/inside/misdeeds.c), and its answer is read as that of an archive. */
int helper_misdeed(struct helper *h, struct arena *a, const char *what, struct helper_files *ret);
#endif
