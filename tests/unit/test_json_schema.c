/* test_json_schema.c - what a schema is refused for, what an instance is told, and that it all ends. */
#include "base/json_schema.h"
#include "base/json_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "t.h"

/* The first fault of a schema as "path: sentence", or "". */
static const char *fault_of(struct arena *a, const char *schema)
{
	struct json_violations v;

	if (json_schema_compile(a, schema, strlen(schema), &v))
		return "";
	return arena_printf(a, "%s: %s", v.list[0].path, v.list[0].sentence);
}

/* All violations, one a line; "" if there are none. */
static const char *told(struct arena *a, const char *schema, const char *instance)
{
	struct json_violations v;
	struct json_schema *s = json_schema_compile(a, schema, strlen(schema), &v);
	const char *out = "";

	if (!s)
		return arena_printf(a, "refused: %s", v.list[0].sentence);
	json_schema_check(s, a, instance, strlen(instance), &v);
	for (size_t i = 0; i < v.count; i++)
		out = arena_printf(
			a, "%s%s%s: %s", out, i ? "\n" : "", v.list[i].path, v.list[i].sentence);
	return out;
}

TEST(json_schema_is_refused_with_its_place)
{
	static const struct {
		const char *schema, *fault;
	} rows[] = {
		{ "{\"properties\":{\"a/b\":{\"unevaluatedItems\":false}}}",
			"/properties/a~1b/unevaluatedItems: is not a keyword that is checked here; leave "
			"it out, or begin it with x-" },
		{ "{\"type\":\"text\"}",
			"/type: must be null, boolean, integer, number, string, array, object, or a list "
			"of these without repeats" },
		{ "{\"items\":[{}]}",
			"/items: must be one schema; a list of them is called prefixItems" },
		{ "{\"$ref\":\"https://example.org/x\"}",
			"/$ref: must be a place in this schema, such as #/$defs/name" },
		{ "{\"$ref\":\"#/$defs/x\"}",
			": refers to #/$defs/x, where this schema has no schema" },
		{ "{\"default\":{},\"$ref\":\"#/default\"}",
			": refers to #/default, where this schema has no schema" },
		{ "{\"$ref\":\"#\"}",
			": leads back to itself without going deeper into the value" },
		{ "{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},"
		  "\"b\":{\"not\":{\"$ref\":\"#/$defs/a\"}}}}",
			"/$defs/a: leads back to itself without going deeper into the value" },
		{ "{\"minLength\":-1}", "/minLength: must be a whole number of at least 0" },
		{ "{\"multipleOf\":0}", "/multipleOf: must be a number above 0" },
		{ "{\"required\":[\"a\",\"a\"]}",
			"/required: must be a list of names without repeats" },
		{ "{\"anyOf\":[]}", "/anyOf: must be a list of one or more schemas" },
		{ "{\"properties\":{\"a\":3}}",
			"/properties/a: must be a schema: an object, true or false" },
		{ "{\"a\":1,\"a\":2}",
			": is not JSON: at byte 7: this name comes twice in its object" },
		{ "{\"properties\":{\"a\":{\"$id\":\"x\"}}}",
			"/properties/a/$id: must be a string, and stand only at the top of the schema" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_STR(fault_of(&a, rows[i].schema), rows[i].fault);
	CHECK(strstr(fault_of(&a, "{\"pattern\":\"(\"}"),
		"/pattern: is no regular expression that is understood here"));
	CHECK_STR(fault_of(&a,
			  "{\"type\":\"object\",\"x-mcp-header\":\"Region\",\"format\":\"date\"}"),
		"");
	arena_free(&a);
}

TEST(json_schema_names_every_violation)
{
	struct arena a = { 0 };

	CHECK_STR(told(&a,
			  "{\"type\":\"object\",\"required\":[\"city\",\"days\"],\"properties\":{"
			  "\"city\":{\"type\":\"string\",\"minLength\":2},"
			  "\"days\":{\"type\":\"integer\",\"maximum\":7},"
			  "\"tags\":{\"items\":{\"enum\":[\"a\",\"b\"]}}},"
			  "\"additionalProperties\":false}",
			  "{\"city\":\"X\",\"tags\":[\"a\",\"c\"],\"more\":1}"),
		": must have the member \"days\"\n"
		"/city: must have at least 2 characters\n"
		"/tags/1: must be one of the 2 values in enum\n"
		": must not have the member \"more\"");
	CHECK_STR(told(&a, "{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":3}]}", "2"),
		": must satisfy one of the 2 schemas in anyOf");
	CHECK_STR(told(&a, "{\"multipleOf\":0.01}", "19.99"), "");
	CHECK_STR(told(&a, "{\"multipleOf\":0.01}", "19.995"), ": must be a multiple of 0.01");
	CHECK_STR(told(&a, "{\"const\":9007199254740993}", "9007199254740992"),
		": must be the one value in const");
	CHECK_STR(told(&a, "{\"minLength\":2}", "\"\\ud83d\\ude00\""),
		": must have at least 2 characters");
	CHECK_STR(told(&a, "true", "{\"a\":}"),
		": is not JSON: at byte 5: this is not the beginning of a value");
	arena_free(&a);
}

TEST(json_schema_lists_no_more_than_it_may)
{
	struct json_violations v;
	struct arena a = { 0 };
	const char *schema = "{\"items\":{\"type\":\"null\"}}";
	struct json_schema *s = json_schema_compile(&a, schema, strlen(schema), &v);
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_puts(&text, "[0");
	for (int i = 1; i < 100; i++)
		buf_puts(&text, ",0");
	buf_puts(&text, "]");
	CHECK(!json_schema_check(s, &a, text.at, text.len, &v));
	CHECK_INT(v.count, JSON_VIOLATIONS_MAX);
	CHECK_INT(v.unlisted, 100 - JSON_VIOLATIONS_MAX);
	buf_free(&text);
	arena_free(&a);
}

/* Each would take an age, or all of the stack, if nothing bounded it. */
TEST(json_schema_ends_whatever_it_is_given)
{
	struct arena a = { 0 };
	int64_t began = clock_mono_ms();
	struct buf text;

	buf_init(&text, 1 << 20);
	/* each level tries the next one twice */
	buf_puts(&text, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
	for (int i = 0; i < 60; i++)
		buf_printf(&text,
			"\"%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]},",
			i, i + 1, i + 1);
	buf_puts(&text, "\"60\":false}}");
	CHECK_STR(told(&a, arena_strndup(&a, text.at, text.len), "1"),
		": takes more steps to check than are allowed");
	text.len = 0;
	buf_puts(&text, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "\"%d\":{\"$ref\":\"#/$defs/%d\"},", i, i + 1);
	buf_puts(&text, "\"1000\":true}}");
	CHECK_STR(told(&a, arena_strndup(&a, text.at, text.len), "1"),
		": goes deeper into the schema than is allowed");
	CHECK_STR(told(&a, "{\"pattern\":\"^(a+)+$\"}",
			  "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\""),
		": takes a regular expression of the schema too long");
	CHECK_STR(told(&a, "{\"not\":{\"pattern\":\"^(a+)+$\"}}",
			  "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\""),
		": takes a regular expression of the schema too long");
	text.len = 0;
	buf_puts(&text, "[0");
	for (int i = 1; i < 40000; i++)
		buf_printf(&text, ",%d", i);
	buf_puts(&text, "]");
	CHECK_STR(told(&a, "{\"uniqueItems\":true}", arena_strndup(&a, text.at, text.len)), "");
	text.len = 0;
	for (int i = 0; i < JSON_SCHEMA_TEXT_MAX; i++)
		buf_puts(&text, " ");
	buf_puts(&text, "{}");
	CHECK_STR(fault_of(&a, arena_strndup(&a, text.at, text.len)),
		": is longer than the 65536 bytes a schema may have");
	CHECK(clock_mono_ms() - began < 20000);
	buf_free(&text);
	arena_free(&a);
}

/* ---- what it takes ---- */

/* The most memory that was held since peak_begin(), in KiB. */
static void peak_begin(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (f) {
		fputs("5", f);
		fclose(f);
	}
}

static long status_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtol(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

/* One match of it took 1.29 GB: every way that is tried keeps all of its groups. */
TEST(json_schema_patterns_take_little_memory)
{
	struct arena a = { 0 };
	struct buf schema, text;
	long before;

	buf_init(&schema, 1 << 20);
	buf_init(&text, 1 << 20);
	buf_lit(&schema, "{\"pattern\":\"");
	for (int i = 0; i < 330; i++)
		buf_lit(&schema, "()");
	buf_lit(&schema, "(a|b)*c\"}");
	buf_putc(&text, '"');
	for (int i = 0; i < 100 * 1000; i++)
		buf_lit(&text, "ab");
	buf_lit(&text, "dc\"");
	buf_putc(&schema, '\0');
	buf_putc(&text, '\0');
	peak_begin();
	before = status_kib("VmRSS:");
	CHECK_STR(told(&a, schema.at, text.at),
		": takes a regular expression of the schema too long");
	CHECK(status_kib("VmHWM:") - before < 64 * 1024);
	buf_free(&schema);
	buf_free(&text);
	arena_free(&a);
}

/* A long name above many places stands in the paths of all of them. */
TEST(json_schema_places_take_little_memory)
{
	struct arena a = { 0 };
	struct json_violations v;
	struct buf schema;
	long before;

	buf_init(&schema, 1 << 20);
	buf_lit(&schema, "{\"properties\":{\"");
	for (int i = 0; i < 30 * 1000; i++)
		buf_putc(&schema, 'n');
	buf_lit(&schema, "\":{\"properties\":{\"0\":{}");
	for (int i = 1; i < 1900; i++)
		buf_printf(&schema, ",\"%d\":{}", i);
	buf_lit(&schema, "}}}}");
	peak_begin();
	before = status_kib("VmRSS:");
	CHECK(json_schema_compile(&a, schema.at, schema.len, &v) != NULL);
	CHECK(status_kib("VmHWM:") - before < 32 * 1024);
	buf_free(&schema);
	arena_free(&a);
}

TEST(json_schema_tells_many_names_and_values_apart)
{
	struct arena a = { 0 };
	struct buf text;

	buf_init(&text, 1 << 20);
	for (int twice = 0; twice < 2; twice++) {
		text.len = 0;
		buf_lit(&text, "{\"required\":[\"0\"");
		for (int i = 1; i < 8000; i++)
			buf_printf(&text, ",\"%d\"", i);
		buf_puts(&text, twice ? ",\"4711\"]}" : "]}");
		CHECK_STR(fault_of(&a, arena_strndup(&a, text.at, text.len)),
			twice ? "/required: must be a list of names without repeats" : "");
	}
	text.len = 0;
	buf_lit(&text, "{\"enum\":[0");
	for (int i = 1; i < 4000; i++)
		buf_printf(&text, ",%d,\"%d\"", i, i);
	buf_lit(&text, "]}");
	CHECK_STR(told(&a, arena_strndup(&a, text.at, text.len), "\"2711\""), "");
	CHECK_STR(told(&a, arena_strndup(&a, text.at, text.len), "2711.0"), "");
	CHECK_STR(told(&a, arena_strndup(&a, text.at, text.len), "[2711]"),
		": must be one of the 7999 values in enum");
	buf_free(&text);
	arena_free(&a);
}

/* Small things, of which none is worth a look at the arena by itself. */
TEST(json_trees_end_with_their_arena)
{
	enum { MIB = 1 << 20 };
	static const char *const items[] = { "{}", "[]", "1", "\"a\"", "{\"a\":{\"b\":[0]}}" };

	for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
		struct arena made = { 0 }, a = { .max = MIB };
		struct buf b;

		test_step("%s", items[i]);
		buf_init(&b, 16 << 20);
		for (int n = 0; n < 60000; n++) {
			buf_putc(&b, n ? ',' : '[');
			buf_puts(&b, items[i]);
		}
		buf_putc(&b, ']');
		CHECK(json_tree(&made, b.at, b.len, NULL, NULL) != NULL);
		CHECK(made.total > 2 * MIB);
		CHECK(json_tree(&a, b.at, b.len, NULL, NULL) == NULL);
		CHECK(a.total < 2 * MIB);
		buf_free(&b);
		arena_free(&made);
		arena_free(&a);
	}
}
