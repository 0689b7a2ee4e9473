/* openapi_parts.h - what the files that write the document share.
 * For them alone; whoever wants the document asks openapi.h. */
#pragma once
#include "base/buf.h"
#include "contract/types.h"

/* openapi_text.c: the writing itself. */

/* A comma if one is due, then the key and its colon. */
void doc_key(struct buf *o, const char *key);
void doc_text(struct buf *o, const char *key, const char *text);
void doc_json(struct buf *o, const char *key, const char *json);
/* A comma if one is due, before an item of an array. */
void doc_item(struct buf *o);

/* {"$ref": ...} to a component, as an item or after a key. */
void doc_reference(struct buf *o, const char *kind, const char *name);
/* The same as a member of the object that is open, to a schema. */
#define REF_SCHEMA "#/components/schemas/"
void doc_schema_ref(struct buf *o, const char *name);
/* A list of words under a key, and the members of a schema that takes them. */
void doc_word_list(struct buf *o, const char *key, const struct words *w, bool nullable);
void doc_words(struct buf *o, const struct words *w);

/* openapi_schema.c: types. */

/* The members of a field's schema, all but its description; `taken` says that the field is part
 * of what callers send, so that our ceilings bind it. */
void doc_facts(struct buf *o, const struct field *f, bool taken);
/* An example of the field's value. */
void doc_sample(struct buf *o, const struct field *f);

/* True if the type stands in the document. */
bool doc_published(const struct type *t);
/* The members of components/schemas and of components/examples. */
void doc_schemas(struct buf *o, const struct types *t);
void doc_examples(struct buf *o, const struct types *t);

/* openapi_shape.c: the members of a value's schema, and those of components/schemas that shapes give. */
void doc_shape(struct buf *o, const struct shape *s, bool nullable);
void doc_shapes(struct buf *o, const struct types *t);

/* openapi_events.c: the content of a stream, and the types of all streams. */
struct event_stream;
void doc_events(struct buf *o, const struct event_stream *s);
void doc_streams(struct buf *o, const struct types *t);
/* The names of the events whose data is of this schema, as its enum or const. */
void doc_event_names(struct buf *o, const struct types *t, const struct schema *s);

/* openapi_shared.c: what all operations have in common. */

/* An answer that many operations can give, and the header that goes with it. */
struct shared {
	int err;
	const char *name, *header;
};
extern const struct shared doc_shared_errors[]; /* the last has no name */

/* What an error looks like. */
SCHEMA_DECLARED(Problem);
/* The members parameters, headers and responses of components; `used` says which answers any operation gives, by
 * its shape and the place of its row in doc_shared_errors. */
enum answer_shape { SHAPE_OWN, SHAPE_OPENAI, SHAPE_ANTHROPIC, SHAPE_COUNT };
enum { SHARED_ERRORS_MAX = 32 };
struct answers_used {
	bool at[SHAPE_COUNT][SHARED_ERRORS_MAX];
};
void doc_shared(struct buf *o, const struct answers_used *used);
/* "", "OpenAI" or "Anthropic": what the names of such answers begin with. */
const char *doc_answer_prefix(enum answer_shape shape);
