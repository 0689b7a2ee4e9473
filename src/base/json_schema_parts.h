/* json_schema_parts.h - what compiling and checking share; see json_schema.h.  No further. */
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/json_schema.h"
#include "base/json_tree.h"

struct rule;

/* A place in the instance or the schema, as the way to it: its text is made where somebody asks. */
struct spot {
	const struct spot *up;
	const char *name; /* NULL: an item */
	size_t at;	  /* the name's length, or the item's number */
};

/* A value and its hash, so that many can be told apart without holding each against each. */
struct hashed {
	uint64_t hash;
	const struct json_node *node;
};

/* A schema below another: a member of properties, an item of allOf, the one of items. */
struct below {
	const char *name; /* of the member, or NULL */
	size_t len;
	struct rule *rule;
	pcre2_code *pattern;	       /* patternProperties */
	const struct json_node *value; /* dependentRequired */
};

/* One keyword of a schema. */
struct clause {
	const struct keyword *keyword;
	const struct json_node *value;
	unsigned types; /* type: a bit for each json_type; JSON_FAULT stands for integer */
	pcre2_code *pattern;
	struct hashed *sorted; /* enum: its values by their hashes */
	struct below *below;
	size_t count; /* of below */
};

/* A schema as it is checked: its clauses in the order of the table. */
struct rule {
	const struct spot *at;
	bool never; /* the schema false */
	struct clause *clauses;
	size_t count;
	enum { UNSEEN, UNDER_WAY, SEEN } walk; /* for cycles */
};

struct json_schema {
	struct rule *root;
};

/* How the value of a keyword must look. */
enum form {
	FORM_NOTE, /* anything: without effect */
	FORM_TEXT,
	FORM_DIALECT,
	FORM_TOP_TEXT, /* a string, and only at the top */
	FORM_TYPES,
	FORM_VALUE,
	FORM_VALUES,
	FORM_FLAG,
	FORM_NUMBER,
	FORM_POSITIVE,
	FORM_COUNT,
	FORM_PATTERN,
	FORM_NAMES,
	FORM_NAMES_BY_NAME,
	FORM_SCHEMA,
	FORM_SCHEMAS,
	FORM_SCHEMA_BY_NAME,
	FORM_SCHEMA_BY_PATTERN,
	FORM_REF,
};

struct checking {
	struct arena *arena;
	struct json_violations *out; /* NULL: nobody asks why */
	pcre2_match_context *limits;
	size_t steps, most;
	int64_t regex_us;
	int depth;
	const char *spent; /* what ran out, or NULL */
};

struct keyword {
	const char *name;
	enum form form;
	enum json_type of; /* instances of other types satisfy it; JSON_FAULT: it is for all */
	bool in_place;	   /* its schemas look at the same instance */
	bool (*check)(struct checking *k, const struct rule *rule, const struct clause *clause,
		const struct json_node *n, const struct spot *at);
};

/* The table; NULL if there is none such. */
const struct keyword *json_keyword(const char *name, size_t len);
/* The clause of a schema for a keyword, or NULL. */
const struct clause *rule_clause(const struct rule *rule, const char *keyword);

void json_violate(struct json_violations *v, struct arena *a, const char *path, const char *keyword,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The way as a JSON pointer. */
const char *json_spot_path(struct arena *a, const struct spot *at);
/* Items by their hashes; equal ones stand together. */
struct hashed *json_hashed(struct arena *a, const struct json_node *list);
/* The first of two that are the same, or NULL.  Of equal hashes at most `most` pairs are compared. */
const struct json_node *json_hashed_twice(const struct hashed *list, size_t count, size_t *most);

/* Of the one that checks, for the keywords. */
bool check_rule(struct checking *k, const struct rule *rule, const struct json_node *n,
	const struct spot *at);
/* The same while nobody asks why. */
bool check_silently(struct checking *k, const struct rule *rule, const struct json_node *n,
	const struct spot *at);
/* False when too much has been spent. */
bool check_spend(struct checking *k, size_t steps);
bool check_match(struct checking *k, const pcre2_code *code, const char *text, size_t len);
/* A part of a text, in quotes, for a sentence. */
const char *check_quoted(struct checking *k, const char *text, size_t len);
