/* document.h - a value against a schema of the published document, read strictly: an object has no member that its schema does not
 * name, unless the schema says that others may be there. */
#pragma once
#include <jansson.h>
#include <stdbool.h>

/* The document of all resources; made once. */
json_t *document(void);
/* The thing itself, or what it refers to. */
json_t *document_resolved(json_t *v);
/* True while a test sends what the document does not ask for: an answer that repeats it is not held against it. */
extern bool document_unheld;
/* NULL, or where and how the value does not suit; good until the next call. */
const char *document_refuses(json_t *schema, json_t *value);
