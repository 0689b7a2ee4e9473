/* test_frontmatter.c - heads of Markdown files: what is read, what is refused and where, and that what
 * is written comes back. */
#include <stdint.h>
#include <stdlib.h>

#include "base/frontmatter.h"
#include "base/json.h"
#include "t.h"

static void show_text(struct buf *b, const char *text)
{
	if (text)
		json_write_string(b, text, strlen(text));
	else
		buf_lit(b, "null");
}

/* As JSON, or "LINE: sentence". */
static const char *show(struct arena *a, const struct frontmatter *f)
{
	const char *out;
	struct buf b;

	if (f->fault)
		return arena_printf(a, "%d: %s", f->fault_line, f->fault);
	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < f->count; i++) {
		const struct front_entry *e = &f->entries[i];

		buf_puts(&b, i ? "," : "");
		show_text(&b, e->key);
		buf_putc(&b, ':');
		if (e->kind == FRONT_TEXT || e->kind == FRONT_NULL)
			show_text(&b, e->text);
		else
			buf_putc(&b, e->kind == FRONT_LIST ? '[' : '{');
		for (size_t k = 0; k < e->count; k++) {
			buf_puts(&b, k ? "," : "");
			if (e->items[k].key) {
				show_text(&b, e->items[k].key);
				buf_putc(&b, ':');
			}
			show_text(&b, e->items[k].text);
		}
		if (e->kind == FRONT_LIST || e->kind == FRONT_MAP)
			buf_putc(&b, e->kind == FRONT_LIST ? ']' : '}');
	}
	out = arena_strndup(a, b.len ? b.at : "", b.len);
	buf_free(&b);
	return out;
}

TEST(frontmatter_is_read_as_yaml_reads_it)
{
	static const struct {
		const char *head, *want;
	} cases[] = {
		{ "", "" },
		{ "# nothing\n\n", "" },
		{ "name: pdf-forms\n", "\"name\":\"pdf-forms\"" },
		{ "a: 1.0\nb: true\nc: 2026-01-01\n",
			"\"a\":\"1.0\",\"b\":\"true\",\"c\":\"2026-01-01\"" },
		{ "a:\nb: ~\nc: null # none\nd: ''\n",
			"\"a\":null,\"b\":null,\"c\":null,\"d\":\"\"" },
		{ "a: x # y\nb: x#y\nc: x:y\nd: http://x/#y\n",
			"\"a\":\"x\",\"b\":\"x#y\",\"c\":\"x:y\",\"d\":\"http://x/#y\"" },
		{ "a: one\n  two\n\n  three\nb: c\n", "\"a\":\"one two\\nthree\",\"b\":\"c\"" },
		{ "a:\n  one\n  two\n", "\"a\":\"one two\"" },
		{ "a: 'it''s # \"x\": y'\n", "\"a\":\"it's # \\\"x\\\": y\"" },
		{ "a: \"b\\n\\t\\x41\\u00e9\\U0001f600\\\\ \\\"\"\n",
			"\"a\":\"b\\n\\tA\xc3\xa9\xf0\x9f\x98\x80\\\\ \\\"\"" },
		{ "a: \"one  \n  two\n\n  three \\\n  four\"\n", "\"a\":\"one two\\nthree four\"" },
		{ "a: 'one\n  two'\n", "\"a\":\"one two\"" },
		{ "a: |\n  x\n   y\n\n  z\n", "\"a\":\"x\\n y\\n\\nz\\n\"" },
		{ "a: |-\n  x\n  y\n\nb: c\n", "\"a\":\"x\\ny\",\"b\":\"c\"" },
		{ "a: |+\n  x\n\n\nb: c\n", "\"a\":\"x\\n\\n\\n\",\"b\":\"c\"" },
		{ "a: |2\n   x\n  y\n", "\"a\":\" x\\ny\\n\"" },
		{ "a: >\n  x\n  y\n\n  z\n    more\n  w\n", "\"a\":\"x y\\nz\\n  more\\nw\\n\"" },
		{ "a: >-\n  x\n  y\n", "\"a\":\"x y\"" },
		{ "a: | # why\n  # text\n", "\"a\":\"# text\\n\"" },
		{ "a: [x, \"y, z\", 'w', Bash(git:*)]\n",
			"\"a\":[\"x\",\"y, z\",\"w\",\"Bash(git:*)\"]" },
		{ "a: [ ]\nb: {}\n", "\"a\":[],\"b\":{}" },
		{ "a: [x, # one\n  y,\n  ]\n", "\"a\":[\"x\",\"y\"]" },
		{ "a:\n  - x\n  - 'y'\n  # between\n  - >-\n    z\n    w\n",
			"\"a\":[\"x\",\"y\",\"z w\"]" },
		{ "a:\n- x\n- y z\nb: c\n", "\"a\":[\"x\",\"y z\"],\"b\":\"c\"" },
		{ "m:\n  author: o\n  version: \"1.0\"\n  \"odd: key\": |\n    t\n  n:\nb: c\n",
			"\"m\":{\"author\":\"o\",\"version\":\"1.0\",\"odd: key\":\"t\\n\",\"n\":null},"
			"\"b\":\"c\"" },
		{ "m: {a: b, \"c\":d, e: 'f', g: }\n",
			"\"m\":{\"a\":\"b\",\"c\":\"d\",\"e\":\"f\",\"g\":null}" },
		{ "\"quoted key\" : x\r\nb: y\r\n", "\"quoted key\":\"x\",\"b\":\"y\"" },

		{ "a: x\na: y\n", "3: this key is there already" },
		{ "m:\n  a: x\n  b: y\n  a: z\n", "5: this key is there already" },
		{ "m: {a: x, a: y}\n", "2: this key is there already" },
		{ "a: &x y\n", "2: anchors and aliases are not taken: put the text in quotes" },
		{ "a: x\nb: *x\n", "3: anchors and aliases are not taken: put the text in quotes" },
		{ "a: !!str x\n", "2: tags are not taken: put the text in quotes" },
		{ "a: when: now\n",
			"2: a plain text has a colon with a blank after it: put the text in quotes" },
		{ "m:\n  a:\n    b: c\n",
			"4: this nests too deeply: a list or map holds texts only" },
		{ "m:\n  a: [b]\n", "3: this nests too deeply: a list or map holds texts only" },
		{ "a:\n  - [b]\n", "3: this nests too deeply: a list or map holds texts only" },
		{ "a: [[b]]\n", "2: this nests too deeply: a list or map holds texts only" },
		{ "a:\n  -\n", "3: an item of a list is empty" },
		{ "a\n", "2: a key is followed by a colon and a blank" },
		{ "- a\n", "2: a key with its value is wanted here" },
		{ "a: x\n  b: y\n",
			"3: a plain text has a colon with a blank after it: put the text in quotes" },
		{ "a: 'x'\n  b: y\n", "3: this line is indented and belongs to no key" },
		{ "a: x\n\tb: y\n", "3: indent with blanks, not with a tab" },
		{ "a: \"x\n", "2: a quoted text is not closed" },
		{ "a: \"x\nb: y\"\n", "3: the lines of a quoted text must be indented" },
		{ "a: \"\\0\"\n", "2: a quoted text has an escape that is not known" },
		{ "a: \"\\ud83d\"\n", "2: an escape stands for no character" },
		{ "a: 'x' y\n", "2: there is something after the end of the value" },
		{ "a: [x\n", "2: a bracket is not closed" },
		{ "a: [x y: z]\n",
			"2: a plain text has a colon with a blank after it: put the text in quotes" },
		{ "a: |x\n  y\n", "2: after | or > stand only a digit, a sign and a comment" },
		{ "a: @x\n",
			"2: a plain text cannot begin with this character: put the text in quotes" },
		{ "a: \x01\n", "2: a control character stands in the head" },
		{ "? a\n: b\n", "2: a key with its value is wanted here" },
		{ "<<: *x\n", "2: anchors and aliases are not taken: put the text in quotes" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		const char *text = arena_printf(&a, "---\n%s---\nbody", cases[i].head);
		struct frontmatter *f = arena_new(&a, struct frontmatter);

		test_step("%s", cases[i].head);
		front_read(&a, text, strlen(text), f);
		CHECK_STR(show(&a, f), cases[i].want);
		if (!f->fault)
			CHECK_STR(arena_strndup(&a, f->body, f->body_len), "body");
		arena_free(&a);
	}
}

TEST(frontmatter_ends_where_the_body_begins)
{
	static const struct {
		const char *text, *body; /* NULL: refused */
	} cases[] = {
		{ "---\na: b\n---\n", "" },
		{ "---\na: b\n---", "" },
		{ "---\na: b\n---\n\n# T\n", "# T\n" },
		{ "---\na: b\n---\n\n\n# T", "\n# T" },
		{ "---\r\na: b\r\n---\r\n\r\n# T\r\n", "# T\r\n" },
		{ "\xef\xbb\xbf---\na: b\n---\nx", "x" },
		{ "--- \na: |\n  ---\n--- \n---\nx", "---\nx" },
		{ "", NULL },
		{ "a: b\n---\n", NULL },
		{ "---\na: b\n", NULL },
		{ "----\na: b\n---\n", NULL },
		{ "---\na: \xff\n---\n", NULL },
		{ "---\na: b\n---\n\xc0\x80", NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		struct frontmatter *f = arena_new(&a, struct frontmatter);
		bool ok = front_read(&a, cases[i].text, strlen(cases[i].text), f);

		test_step("%s", cases[i].text);
		CHECK(ok == (cases[i].body != NULL));
		CHECK(ok == !f->fault);
		if (ok && cases[i].body)
			CHECK_STR(arena_strndup(&a, f->body, f->body_len), cases[i].body);
		arena_free(&a);
	}
}

TEST(frontmatter_has_bounds)
{
	struct arena a = { 0 };
	struct frontmatter *f = arena_new(&a, struct frontmatter);
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_lit(&b, "---\n");
	for (int i = 0; i < 65; i++)
		buf_printf(&b, "k%d: v\n", i);
	buf_lit(&b, "---\n");
	CHECK(!front_read(&a, b.at, b.len, f));
	CHECK_STR(f->fault, "there are more than 64 keys");
	CHECK_INT(f->fault_line, 66);
	b.len = 0;
	buf_lit(&b, "---\nk: [");
	for (int i = 0; i < 1001; i++)
		buf_lit(&b, "x,");
	buf_lit(&b, "]\n---\n");
	CHECK(!front_read(&a, b.at, b.len, f));
	CHECK_STR(f->fault, "a list or map has at most 1,000 items");
	b.len = 0;
	buf_lit(&b, "---\nk: ");
	for (int i = 0; i < FRONT_HEAD_MAX; i++)
		buf_lit(&b, "x");
	buf_lit(&b, "\n---\n");
	CHECK(!front_read(&a, b.at, b.len, f));
	CHECK_STR(f->fault, "the head has more than 128 KiB");
	buf_free(&b);
	arena_free(&a);
}

/* Texts of pieces that mean something to YAML. */
static const char *odd_text(struct arena *a, unsigned *seed)
{
	static const char *const pieces[] = { "a", "B", " ", "  ", ":", ": ", "#", " #", "'", "\"",
		"\\", "\n", "\t", "\r", "-", "- ", "[", "]", "{", "}", ",", "&", "*", "!", "|", ">",
		"%", "@", "`", "~", "null", "true", "1.0", "---", "\x01", "\x7f", "\xc2\x85",
		"\xe2\x80\xa8", "\xef\xbb\xbf", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xef\xbf\xbf" };
	const char *out = "";

	for (int n = rand_r(seed) % 8; n > 0; n--)
		out = arena_printf(a, "%s%s", out,
			pieces[(size_t)rand_r(seed) % (sizeof pieces / sizeof *pieces)]);
	return out;
}

TEST(frontmatter_gives_back_what_was_written)
{
	unsigned seed = 7;

	for (int round = 0; round < 3000; round++) {
		struct arena a = { 0 };
		struct frontmatter *f = arena_new(&a, struct frontmatter);
		const char *text = odd_text(&a, &seed), *item = odd_text(&a, &seed);
		struct buf b;

		buf_init(&b, 1 << 16);
		buf_lit(&b, "---\nt: ");
		front_write_text(&b, text);
		buf_lit(&b, "\nl:\n  - ");
		front_write_text(&b, item);
		buf_lit(&b, "\nm:\n  k");
		buf_lit(&b, ": ");
		front_write_text(&b, item);
		buf_lit(&b, "\n---\n");
		if (!front_read(&a, b.at, b.len, f) || f->count != 3 ||
			f->entries[0].kind != FRONT_TEXT || strcmp(f->entries[0].text, text) != 0 ||
			strcmp(f->entries[1].items[0].text, item) != 0 ||
			strcmp(f->entries[2].items[0].text, item) != 0)
			test_fail(__FILE__, __LINE__, "%.*s: %s", (int)b.len, b.at, show(&a, f));
		buf_free(&b);
		arena_free(&a);
	}
}
