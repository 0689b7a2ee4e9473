/* openapi_parts.h - what the files that write the document share.
 * For them alone; whoever wants the document asks openapi.h. */
#pragma once
#include "base/buf.h"
#include "contract/types.h"

/* A comma if one is due, then the key and its colon. */
void doc_key(struct buf *o, const char *key);
void doc_text(struct buf *o, const char *key, const char *text);
void doc_json(struct buf *o, const char *key, const char *json);
/* A comma if one is due, before an item of an array. */
void doc_item(struct buf *o);

/* {"$ref": ...} to a component, as an item or after a key. */
void doc_reference(struct buf *o, const char *kind, const char *name);

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

/* openapi_events.c: the content of a stream. */
struct event_stream;
void doc_events(struct buf *o, const struct event_stream *s);

/* openapi_shared.c: what all operations have in common. */

/* An answer that many operations can give, and the header that goes with it. */
struct shared {
	int err;
	const char *name, *header;
};
extern const struct shared doc_shared_errors[]; /* the last has no name */

/* What an error looks like. */
SCHEMA_DECLARED(Problem);
/* The members parameters, headers and responses of components. */
void doc_shared(struct buf *o);
