/* test_frontmatter.c - heads of Markdown files: what is read, what is refused and where, and that what
 * is written comes back. */
#include <stdint.h>
#include <stdlib.h>

#include "base/frontmatter.h"
#include "helper/helper.h"
#include "t.h"

/* What a head holds, as JSON with its members by name; or "LINE: sentence". */
static const char *shown(
	struct helper *h, struct arena *a, const char *text, size_t len, struct frontmatter *f)
{
	struct helper_tree tree;
	struct buf b;

	if (!front_split(text, len, f))
		return arena_printf(a, "%d: %s", f->fault_line, f->fault);
	if (helper_yaml_lines(h, a, f->head, f->head_len, &tree))
		return arena_printf(a, "%zu: %s", tree.fault_line + 1, tree.fault);
	buf_init(&b, 1 << 20);
	json_tree_write(&b, tree.root);
	return arena_take(a, &b);
}

TEST(frontmatter_is_read_as_yaml_reads_it)
{
	static const struct {
		const char *head, *want;
	} cases[] = {
		{ "", "null" },
		{ "# nothing\n\n", "null" },
		{ "name: pdf-forms\n", "{\"name\":\"pdf-forms\"}" },
		{ "a: 1.0\nb: true\nc: 2026-01-01\n",
			"{\"a\":1.0,\"b\":true,\"c\":\"2026-01-01\"}" },
		{ "a:\nb: ~\nc: null # none\nd: ''\n",
			"{\"a\":null,\"b\":null,\"c\":null,\"d\":\"\"}" },
		{ "a: x # y\nb: x#y\nc: x:y\nd: http://x/#y\n",
			"{\"a\":\"x\",\"b\":\"x#y\",\"c\":\"x:y\",\"d\":\"http://x/#y\"}" },
		{ "a: one\n  two\n\n  three\nb: c\n", "{\"a\":\"one two\\nthree\",\"b\":\"c\"}" },
		{ "a:\n  one\n  two\n", "{\"a\":\"one two\"}" },
		{ "a: 'it''s # \"x\": y'\n", "{\"a\":\"it's # \\\"x\\\": y\"}" },
		{ "a: \"b\\n\\t\\x41\\u00e9\\U0001f600\\\\ \\\"\"\n",
			"{\"a\":\"b\\n\\tA\xc3\xa9\xf0\x9f\x98\x80\\\\ \\\"\"}" },
		{ "a: \"one  \n  two\n\n  three \\\n  four\"\n",
			"{\"a\":\"one two\\nthree four\"}" },
		{ "a: 'one\n  two'\n", "{\"a\":\"one two\"}" },
		{ "a: |\n  x\n   y\n\n  z\n", "{\"a\":\"x\\n y\\n\\nz\\n\"}" },
		{ "a: |-\n  x\n  y\n\nb: c\n", "{\"a\":\"x\\ny\",\"b\":\"c\"}" },
		{ "a: |+\n  x\n\n\nb: c\n", "{\"a\":\"x\\n\\n\\n\",\"b\":\"c\"}" },
		{ "a: |2\n   x\n  y\n", "{\"a\":\" x\\ny\\n\"}" },
		{ "a: >\n  x\n  y\n\n  z\n    more\n  w\n", "{\"a\":\"x y\\nz\\n  more\\nw\\n\"}" },
		{ "a: >-\n  x\n  y\n", "{\"a\":\"x y\"}" },
		{ "a: | # why\n  # text\n", "{\"a\":\"# text\\n\"}" },
		{ "a: [x, \"y, z\", 'w', Bash(git:*)]\n",
			"{\"a\":[\"x\",\"y, z\",\"w\",\"Bash(git:*)\"]}" },
		{ "a: [ ]\nb: {}\n", "{\"a\":[],\"b\":{}}" },
		{ "a: [x, # one\n  y,\n  ]\n", "{\"a\":[\"x\",\"y\"]}" },
		{ "a:\n  - x\n  - 'y'\n  # between\n  - >-\n    z\n    w\n",
			"{\"a\":[\"x\",\"y\",\"z w\"]}" },
		{ "a:\n- x\n- y z\nb: c\n", "{\"a\":[\"x\",\"y z\"],\"b\":\"c\"}" },
		{ "m:\n  author: o\n  version: \"1.0\"\n  \"odd: key\": |\n    t\n  n:\nb: c\n",
			"{\"b\":\"c\",\"m\":{\"author\":\"o\",\"n\":null,\"odd: key\":\"t\\n\","
			"\"version\":\"1.0\"}}" },
		{ "m: {a: b, \"c\":d, e: 'f', g: }\n",
			"{\"m\":{\"a\":\"b\",\"c\":\"d\",\"e\":\"f\",\"g\":null}}" },
		{ "\"quoted key\" : x\r\nb: y\r\n", "{\"b\":\"y\",\"quoted key\":\"x\"}" },

		{ "a: x\na: y\n", "3: this key is there already" },
		{ "m:\n  a: x\n  b: y\n  a: z\n", "5: this key is there already" },
		{ "m: {a: x, a: y}\n", "2: this key is there already" },
		{ "a: &x y\n", "2: anchors and aliases are not taken: put the text in quotes" },
		{ "a: x\nb: *x\n", "3: anchors and aliases are not taken: put the text in quotes" },
		{ "a: !x y\n", "2: tags are not taken: put the text in quotes" },
		{ "a: when: now\n",
			"2: a plain text has a colon with a blank after it: put the text in quotes" },
		{ "a: x\n  b: y\n",
			"3: a plain text has a colon with a blank after it: put the text in quotes" },
		{ "a: 'x'\n  b: y\n",
			"3: a key with its value is wanted here, indented like those before it" },
		{ "a: x\n\tb: y\n", "3: indent with blanks, not with a tab" },
		{ "a: \"x\n", "2: a quoted text is not closed" },
		{ "a: \"\\0\"\n", "2: an escape stands for no character" },
		{ "a: \"\\ud83d\"\n", "2: an escape stands for no character" },
		{ "a: 'x' y\n",
			"2: a key with its value is wanted here, indented like those before it" },
		{ "a: [x\n", "2: a bracket is not closed, or a comma is missing in it" },
		{ "a: |x\n  y\n", "2: after | or > stand only a digit, a sign and a comment" },
		{ "a: @x\n",
			"2: a plain text cannot begin with this character: put the text in quotes" },
		{ "a: \x01\n", "2: a control character stands in the text" },
		{ "? a\n: b\n", "{\"a\":\"b\"}" },
		{ "<<: *x\n", "2: anchors and aliases are not taken: put the text in quotes" },
	};

	struct helper *h = helper_new(NULL);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = { 0 };
		const char *text = arena_printf(&a, "---\n%s---\nbody", cases[i].head);
		struct frontmatter f;

		test_step("%s", cases[i].head);
		CHECK_STR(shown(h, &a, text, strlen(text), &f), cases[i].want);
		CHECK_STR(arena_strndup(&a, f.body, f.body_len), "body");
		arena_free(&a);
	}
	helper_free(h);
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
		struct frontmatter f;
		bool ok = front_split(cases[i].text, strlen(cases[i].text), &f);

		test_step("%s", cases[i].text);
		CHECK(ok == (cases[i].body != NULL));
		CHECK(ok == !f.fault);
		if (ok && cases[i].body)
			CHECK_STR(arena_strndup(&a, f.body, f.body_len), cases[i].body);
		arena_free(&a);
	}
}

TEST(frontmatter_has_bounds)
{
	struct frontmatter f;
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int more = 0; more < 2; more++) {
		b.len = 0;
		buf_lit(&b, "---\nk: ");
		for (int i = 0; i < FRONT_HEAD_MAX - 4 + more; i++)
			buf_lit(&b, "x");
		buf_lit(&b, "\n---\n");
		CHECK(front_split(b.at, b.len, &f) == !more);
	}
	CHECK_STR(f.fault, "the head has more than 128 KiB");
	buf_free(&b);
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

/* Many at a time: a process reads them. */
enum { TEXTS = 1500 };

TEST(frontmatter_gives_back_what_was_written)
{
	const char *texts[TEXTS];
	struct helper *h = helper_new(NULL);
	struct json_node *root, *list, *map;
	struct arena a = { 0 };
	const char *fault;
	unsigned seed = 7;
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int i = 0; i < TEXTS; i++) {
		texts[i] = odd_text(&a, &seed);
		buf_printf(&b, "t%d: ", i);
		front_write_text(&b, texts[i]);
		buf_lit(&b, "\n");
	}
	buf_lit(&b, "l:\n");
	for (int i = 0; i < TEXTS; i++) {
		buf_lit(&b, "  - ");
		front_write_text(&b, texts[i]);
		buf_lit(&b, "\n");
	}
	buf_lit(&b, "m:\n");
	for (int i = 0; i < TEXTS; i++) {
		buf_lit(&b, "  ");
		front_write_text(&b, arena_printf(&a, "%s %d", texts[i], i));
		buf_lit(&b, ": ");
		front_write_text(&b, texts[i]);
		buf_lit(&b, "\n");
	}
	if (helper_yaml(h, &a, b.at, b.len, &root, &fault)) {
		test_fail(__FILE__, __LINE__, "%s", fault);
		abort();
	}
	list = json_tree_member(root, "l", 1);
	map = json_tree_member(root, "m", 1);
	for (int i = 0; i < TEXTS; i++) {
		const char *key = arena_printf(&a, "%s %d", texts[i], i);

		test_step("%s", texts[i]);
		CHECK_STR(json_tree_text(root, arena_printf(&a, "t%d", i)), texts[i]);
		CHECK_STR(list->items[i]->text, texts[i]);
		CHECK_STR(json_tree_text(map, key), texts[i]);
	}
	buf_free(&b);
	arena_free(&a);
	helper_free(h);
}
