/* fuzz_frontmatter.c - heads of Markdown files as a stranger could write them.  What is taken is written
 * by our own writer and read again: it must be the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/frontmatter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_items(struct buf *b, const struct front_entry *e)
{
	for (size_t i = 0; i < e->count; i++) {
		buf_puts(b, e->kind == FRONT_LIST ? "\n  - " : "\n  ");
		if (e->items[i].key) {
			front_write_text(b, e->items[i].key);
			buf_lit(b, ": ");
		}
		if (e->items[i].text)
			front_write_text(b, e->items[i].text);
	}
}

static void write_head(struct buf *b, const struct frontmatter *f)
{
	buf_lit(b, "---\n");
	for (size_t i = 0; i < f->count; i++) {
		const struct front_entry *e = &f->entries[i];

		front_write_text(b, e->key);
		buf_lit(b, ": ");
		if (e->kind == FRONT_TEXT)
			front_write_text(b, e->text);
		else if (e->kind != FRONT_NULL && !e->count)
			buf_puts(b, e->kind == FRONT_LIST ? "[]" : "{}");
		write_items(b, e);
		buf_putc(b, '\n');
	}
	buf_lit(b, "---\n");
}

static void same_text(const char *a, const char *b)
{
	if (!a != !b || (a && strcmp(a, b) != 0))
		abort();
}

static void same(const struct frontmatter *a, const struct frontmatter *b)
{
	if (a->count != b->count)
		abort();
	for (size_t i = 0; i < a->count; i++) {
		const struct front_entry *x = &a->entries[i], *y = &b->entries[i];

		same_text(x->key, y->key);
		same_text(x->text, y->text);
		if (x->kind != y->kind || x->count != y->count)
			abort();
		for (size_t k = 0; k < x->count; k++) {
			same_text(x->items[k].key, y->items[k].key);
			same_text(x->items[k].text, y->items[k].text);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct frontmatter *f = arena_new(&a, struct frontmatter),
			   *again = arena_new(&a, struct frontmatter);
	struct buf b;

	if (!front_read(&a, (const char *)data, size, f)) {
		if (!f->fault)
			abort();
		arena_free(&a);
		return 0;
	}
	if (f->body_len > size)
		abort();
	buf_init(&b, 1 << 22);
	write_head(&b, f);
	/* Our writer spends more bytes on odd characters than a stranger may have. */
	if (b.len <= FRONT_HEAD_MAX) {
		if (!front_read(&a, b.at, b.len, again))
			abort();
		same(f, again);
	}
	buf_free(&b);
	arena_free(&a);
	return 0;
}
