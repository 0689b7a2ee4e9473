/* openai_page.h - what the lists and objects of OpenAI's clients have in common: pages by cursor, metadata,
 * the answer to a deletion. */
#pragma once
#include "call/call.h"

/* What their lists take. */
struct OpenAIPage {
	int64_t limit;
	int order;
	const char *after, *before;
};
SCHEMA_DECLARED(OpenAIPage);

/* What is said of a thing that is gone. */
struct OpenAIDeleted {
	const char *id, *object;
	bool deleted;
};
SCHEMA_DECLARED(OpenAIDeleted);

/* A change of the metadata alone. */
struct OpenAIMetadataUpdate {
	struct json metadata;
};
SCHEMA_DECLARED(OpenAIMetadataUpdate);

enum { OPENAI_PAGE_MAX = 100 };

/* One page: its rows in the order asked for, and whether more follow in that direction. */
struct openai_page {
	struct list rows;
	bool more;
};

/* Two statements, upwards and downwards by id, of the rows after one id and before another. */
int openai_page_read(struct call *c, const struct OpenAIPage *in, const struct statement *pair,
	const struct value *args, size_t count, struct openai_page *ret);

/* clang-format off */
#define PAGE_STATEMENTS(at, id, rows, columns, from, key, ...) \
	[at] = { id "_up", "select " columns " from " from " and " key " > {after} and " key " < {before} " \
	  "order by " key " limit {limit}", .row = (rows), ##__VA_ARGS__ }, \
	[at##_DOWN] = { id "_down", "select " columns " from " from " and " key " > {after} and " key " < {before} " \
	  "order by " key " desc limit {limit}", .row = (rows), ##__VA_ARGS__ }
/* clang-format on */
enum { PAGE_UP, PAGE_DOWN };
/* The same two in the enum of their table. */
#define PAIR_OF(at) at, at##_DOWN

/* Metadata is at most 16 pairs of text, keys up to 64 and values up to 512 characters; "{}" for NULL.
 * Otherwise the field is refused. */
int openai_metadata(struct call *c, const char *field, const char *json, const char **ret);

/* A member of a JSON object as JSON text, or NULL; for objects that were checked before. */
const char *openai_member(struct arena *a, const char *object, const char *name);
/* A text as a JSON string. */
const char *openai_quoted(struct arena *a, const char *text);
/* A word that may stand in a header: what may not is _. */
const char *openai_header_word(struct arena *a, const char *word);
/* A member that is a string, decoded; NULL if it is absent or no string. */
const char *openai_text(struct arena *a, const char *object, const char *name);
