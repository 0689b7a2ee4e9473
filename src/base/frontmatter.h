/* frontmatter.h - the head of a Markdown file, in the part of YAML that such heads really use.
 *
 * Between two lines of `---` stand keys with texts, lists of texts or one
 * level of further keys.  Texts are plain, quoted, folded (>) or literal (|);
 * lists and maps are written in lines or in brackets; every plain text is a
 * text, also 1.0 and true.  Anchors, aliases, tags, deeper nesting and a key
 * that comes twice are refused, each with its line and a sentence.  Nothing
 * here knows what a key means. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

enum {
	FRONT_HEAD_MAX = 128 * 1024, /* bytes between the two lines */
	FRONT_ENTRIES_MAX = 64,
	FRONT_ITEMS_MAX = 1000, /* of one list or map */
};

enum front_kind { FRONT_NULL, FRONT_TEXT, FRONT_LIST, FRONT_MAP };

/* An item of a list (without a key) or of a map; a text of NULL is null. */
struct front_item {
	const char *key, *text;
};

struct front_entry {
	const char *key;
	int line; /* from 1 */
	enum front_kind kind;
	const char *text;		/* FRONT_TEXT */
	const struct front_item *items; /* FRONT_LIST, FRONT_MAP */
	size_t count;
};

struct frontmatter {
	struct front_entry entries[FRONT_ENTRIES_MAX];
	size_t count;
	const char
		*body; /* after the head and the blank line that may follow it, in the text given */
	size_t body_len;
	int fault_line; /* 0: none can be named */
	const char *fault;
};

/* False with a fault.  The text need not be terminated; what is handed back lives in the arena. */
bool front_read(struct arena *a, const char *text, size_t len, struct frontmatter *ret);
/* The entry with this key, or NULL. */
const struct front_entry *front_find(const struct frontmatter *f, const char *key);

/* Writes a text so that front_read(), and any YAML reader, gives it back as it is. */
void front_write_text(struct buf *out, const char *text);
