/* openapi_text.c - how the document is written: keys, items, references, lists of words.  What the other files that write it
 * have in common. */
#include <string.h>

#include "base/json.h"
#include "contract/openapi_parts.h"

/* What was written last tells whether a comma is due, so no state is carried. */
void doc_item(struct buf *o)
{
	if (o->len && !strchr("{[:,", o->at[o->len - 1]))
		buf_putc(o, ',');
}

void doc_key(struct buf *o, const char *key)
{
	doc_item(o);
	json_write_string(o, key, strlen(key));
	buf_putc(o, ':');
}

void doc_text(struct buf *o, const char *key, const char *text)
{
	doc_key(o, key);
	json_write_string(o, text, strlen(text));
}

void doc_json(struct buf *o, const char *key, const char *json)
{
	doc_key(o, key);
	buf_puts(o, json);
}

void doc_reference(struct buf *o, const char *kind, const char *name)
{
	doc_item(o);
	buf_printf(o, "{\"$ref\":\"#/components/%s/%s\"}", kind, name);
}

void doc_schema_ref(struct buf *o, const char *name)
{
	doc_key(o, "$ref");
	buf_printf(o, "\"" REF_SCHEMA "%s\"", name);
}

void doc_word_list(struct buf *o, const char *key, const struct words *w, bool nullable)
{
	doc_json(o, key, "[");
	for (size_t i = 0; w->list[i]; i++) {
		doc_item(o);
		json_write_string(o, w->list[i], strlen(w->list[i]));
	}
	if (nullable) {
		doc_item(o);
		buf_lit(o, "null");
	}
	buf_putc(o, ']');
}

void doc_words(struct buf *o, const struct words *w)
{
	if (w->title) {
		doc_schema_ref(o, w->title);
	} else {
		doc_text(o, "type", "string");
		doc_word_list(o, "enum", w, false);
	}
}
