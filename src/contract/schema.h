/* schema.h - the vocabulary in which objects are declared.
 *
 * A schema is a table of fields over a C struct.  JSON in and out, database
 * rows, validation, the published document, patches and audit diffs are all
 * computed by walking these tables: nothing else may know a field's name or
 * bounds.  A row takes its kind from the C member, so the two cannot disagree.
 *
 * Every kind has one way to be null inside a struct:
 *
 *   text, JSON, object   NULL             integer, time   NIL
 *   choice               -1               flag            -1 (the member is a `tri`)
 *   number               not a number     list            at == NULL
 *   money                NIL picodollars
 *
 * Money is a kind of its own: in JSON a number of dollars, in the struct and the
 * store whole picodollars, and nothing is rounded on the way (base/money.h).  A
 * NUMBER is for what is measured or guessed, and is never a column. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/money.h"

#define NIL INT64_MIN

typedef int8_t tri; /* 0, 1, or -1 for null */

struct moment {
	int64_t us; /* since 1970, UTC */
};

/* A free-form JSON value, kept as its validated text. */
struct json {
	const char *text;
};

/* A run of bytes, in rows that are only the store's: an OBJECT of no schema. */
struct bytes {
	const void *at;
	size_t len;
};

struct list {
	void *at; /* `count` items one after the other */
	size_t count;
};

enum kind { FLAG, INTEGER, NUMBER, MONEY, TEXT, CHOICE, MOMENT, JSON, OBJECT, LIST };

/* A closed list of words; with a title it is published as a type of its own. */
struct words {
	const char *title;
	const char *const *list; /* NULL-terminated; the index is the value */
	const char *doc;
};

struct schema;

/* What a JSON value that is kept as its text may be, for the document: any of these. */
struct shape {
	const char *title; /* published as a type of its own; NULL: written where it is used */
	const char *doc;
	bool text;			     /* a text */
	const struct words *words;	     /* one of these words */
	const struct shape *items;	     /* an array of these */
	const struct schema *const *objects; /* one of these, NULL-terminated */
	const char *by;			     /* the member whose constant tells them apart; NULL */
	bool other; /* or an object that is somebody else's, in which that member says something else */
	const char *json; /* what no table says: a JSON Schema */
};

struct field {
	const char *name;   /* in JSON, and of the column */
	const char *column; /* its name where it is another; NULL */
	uint16_t name_len;
	uint16_t at;   /* offset of the member */
	uint16_t size; /* of the member */
	enum kind kind;
	bool tri; /* FLAG: the member can be null */

	bool required; /* absent is an error */
	bool nullable; /* null is a value */
	bool secret;   /* taken, never shown: not in replies, logs or audit */
	bool computed; /* not a column of its table */
	bool derived;  /* a column that follows from others: not told of in the audit log */
	bool id;       /* TEXT: an id; implies the pattern */
	bool email;    /* TEXT: an address */
	bool prompt;   /* TEXT: may be as long as a prompt */
	bool distinct; /* LIST: no item twice */
	bool any;      /* JSON: any value, not only an object */
	bool array;    /* JSON: an array of objects instead of one */
	bool open;     /* JSON: whatever somebody puts there; published as x-any */
	bool event;    /* TEXT: the name of the event whose data this is */
	bool left_out; /* where it is null it is not written: null, or an empty list, would say
			* something else */

	/* Value for numbers, dollars for money, code points for text, items for lists.  A maximum of 0 means that
	 * the contract states none; text and lists then have the common ceiling (x-max). */
	bool has_min;
	double min, max, ceiling;
	const char *pattern; /* PCRE2, matched against the whole text */
	const char *rule;    /* the pattern in words, for whoever broke it: "may have ... only" */
	/* TEXT: what no pattern says; a sentence about what is wrong, or NULL. */
	const char *(*check)(const char *text);
	const struct words *words; /* CHOICE, or LIST of CHOICE; LIST of TEXT: for the document */
	/* OBJECT, or LIST of OBJECT; JSON: what it is, or the objects of its array, for the document. */
	const struct schema *of;
	const struct shape *shape; /* JSON: the same where it is not of one schema */
	enum kind item;		   /* LIST */
	bool item_id;		   /* LIST of TEXT: each is an id */
	const char *constant;	   /* TEXT: always this */
	const char *preset;	   /* JSON text of the contract's default, or NULL */
	const char *otherwise;	   /* JSON text used when absent where the contract is silent */
	const char *example;	   /* JSON text shown in the document */
	const char *doc;
	/* For forms: what it is called where its name says it badly, and what a number counts. */
	const char *label, *unit;
	bool unused; /* kept and given back, and nothing is done with it: forms leave it out */
};

struct schema {
	const char *name, *doc;
	size_t size;
	const struct field *fields;
	size_t count;
	bool partial;  /* the struct begins with `uint64_t got`, a bit for each field present */
	bool internal; /* rows of the store, not published */
	bool told;     /* no struct stands for it: what passes through as text, for the document */
};

/* What the contract leaves unbounded is bounded here, and published as x-max. */
enum {
	CEILING_PROMPT = 2 * 1024 * 1024, /* bytes */
	CEILING_TEXT = 64 * 1024,	  /* bytes */
	CEILING_LIST = 1000,		  /* items */
	CEILING_JSON = 256 * 1024,	  /* bytes */
};

#define ID_PATTERN "^c[a-z0-9]{24}$"

#define KIND_OF(x) \
	_Generic((x), bool \
		 : FLAG, tri \
		 : FLAG, int64_t \
		 : INTEGER, double \
		 : NUMBER, struct money \
		 : MONEY, const char * \
		 : TEXT, int \
		 : CHOICE, struct moment \
		 : MOMENT, struct json \
		 : JSON, struct list \
		 : LIST, default \
		 : OBJECT)
#define IS_TRI(x) _Generic((x), tri : true, default : false)
#define MEMBER(S, m) (((struct S *)0)->m)

/* One row.  A pointer to another struct is an OBJECT and names its schema with .of. */
#define FIELD(S, member, ...)                                                                     \
	{                                                                                         \
		.name = #member, .name_len = sizeof(#member) - 1,                                 \
		.at = offsetof(struct S, member), .size = sizeof(MEMBER(S, member)),              \
		.kind = KIND_OF(MEMBER(S, member)), .tri = IS_TRI(MEMBER(S, member)), __VA_ARGS__ \
	}

/* FIELDS(AgentCreate) = { FIELD(...), ... };  SCHEMA(AgentCreate, .doc = "...");
 * The struct, the table and the published type carry the same name. */
#define FIELDS(S) static const struct field S##_fields[]
#define SCHEMA(S, ...)                                           \
	const struct schema S##_schema = { .name = #S,           \
		.size = sizeof(struct S),                        \
		.fields = S##_fields,                            \
		.count = sizeof S##_fields / sizeof *S##_fields, \
		__VA_ARGS__ }
/* The rows and the schema of what is told only: TOLD(TEXT, name, ...). */
#define TOLD(kind_, name_, ...)                                                            \
	{                                                                                  \
		.name = #name_, .name_len = sizeof(#name_) - 1, .kind = kind_, __VA_ARGS__ \
	}
#define TOLD_SCHEMA(S, ...)                                      \
	const struct schema S##_schema = { .name = #S,           \
		.fields = S##_fields,                            \
		.count = sizeof S##_fields / sizeof *S##_fields, \
		.told = true,                                    \
		__VA_ARGS__ }
/* For headers. */
#define SCHEMA_DECLARED(S) extern const struct schema S##_schema

/* The bounds that occur most. */
#define BOUNDS(lo, hi) .has_min = true, .min = (lo), .max = (hi)
#define AT_LEAST(lo) .has_min = true, .min = (lo)

/* The word's place in its list, or -1; NULL is none of them. */
int words_find(const struct words *words, const char *text, size_t len);
int words_index(const struct words *words, const char *text);

const struct field *schema_field(const struct schema *s, const char *name, size_t len);
/* Sets every field to its preset (or `otherwise`), else to null, else to empty. */
struct arena;
void schema_init(const struct schema *s, struct arena *a, void *object);
bool field_is_null(const struct field *f, const void *object);
void field_set_null(const struct field *f, void *object);
bool field_same(const struct field *f, const void *a, const void *b);
/* The ceiling or maximum that holds for the field, in its own unit. */
double field_limit(const struct field *f);
/* The name of its column in the store. */
const char *field_column(const struct field *f);
/* Copies the fields that `patch` carries into the fields of the same name in `row`.  Null clears
 * a field that can be empty and leaves one that cannot as it is. */
void schema_patch(const struct schema *patch_schema, const void *patch,
	const struct schema *row_schema, void *row);
/* True if the patch, or another partial object, carries the field. */
bool schema_present(const struct schema *s, const void *patch, const char *name);
/* Copies fields of the same name and kind. */
void schema_copy(const struct schema *from_schema, const void *from, const struct schema *to_schema,
	void *to);
