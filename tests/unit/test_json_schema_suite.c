/* test_json_schema_suite.c - the official cases for JSON Schema 2020-12, all of those that are not optional.
 *
 * They come with the Debian package libtest-json-schema-acceptance-perl;
 * LODGE_JSON_SCHEMA_SUITE names another folder of the same layout.  A case
 * whose schema is of the subset must agree; a schema outside of it, listed
 * below, must be refused when it is compiled, and none other may be. */
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/json_schema.h"
#include "t.h"

#define SUITE "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12"

/* Outside of the subset: a file, and a part of the group's description ("" for all of the file). */
static const struct outside {
	const char *file, *group;
} outside[] = {
	/* keywords that are not checked */
	{ "unevaluatedItems.json", "" },
	{ "unevaluatedProperties.json", "" },
	{ "dynamicRef.json", "" },
	{ "anchor.json", "Location-independent identifier" },
	{ "anchor.json", "$anchor inside an enum" },
	{ "anchor.json", "same $anchor" },
	{ "anchor.json", "invalid anchors" },
	{ "vocabulary.json", "" },
	{ "unknownKeyword.json", "" },
	{ "content.json", "with schema" },
	{ "not.json", "collect annotations inside" },
	{ "ref.json", "ref creates new scope" },
	/* references that leave the text, or need a base of their own */
	{ "refRemote.json", "" },
	{ "id.json", "in location-independent $id" },
	{ "id.json", "Unnormalized $ids" },
	{ "id.json", "$id inside an enum" },
	{ "defs.json", "against metaschema" },
	{ "ref.json", "remote ref, containing refs" },
	{ "ref.json", "Recursive references between schemas" },
	{ "ref.json", "uris and defs" },
	{ "ref.json", "nearest parent" },
	{ "ref.json", "order of evaluation" },
	{ "ref.json", "simple URN base URI with $ref via the URN" },
	{ "ref.json", "URN base URI with f-component" },
	{ "ref.json", "URN base URI with URN" },
	{ "ref.json", "URN ref with nested pointer ref" },
	{ "ref.json", "ref to if" },
	{ "ref.json", "ref to then" },
	{ "ref.json", "ref to else" },
	{ "ref.json", "absolute-path-reference" },
};

struct tally {
	int groups, cases, refused, wrong;
};

/* As the file has it: 0.0075, and not the digits after it that a double has too. */
static char *dump(const char *file, json_t *value)
{
	size_t digits = strcmp(file, "multipleOf.json") == 0 ? 15 : 17;

	return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
}

static bool is_outside(const char *file, const char *group)
{
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (strcmp(outside[i].file, file) == 0 && strstr(group, outside[i].group))
			return true;
	return false;
}

static void wrong(struct tally *t, const char *file, const char *group, const char *what)
{
	t->wrong++;
	test_fail(__FILE__, __LINE__, "%s: %s: %s", file, group, what);
}

static void run_case(struct tally *t, const char *file, const char *group,
	const struct json_schema *s, json_t *one)
{
	char *text = dump(file, json_object_get(one, "data"));
	bool valid = json_is_true(json_object_get(one, "valid"));
	const char *said = json_string_value(json_object_get(one, "description"));
	struct json_violations v;
	struct arena a = { 0 };

	t->cases++;
	if (json_schema_check(s, &a, text, strlen(text), &v) != valid)
		wrong(t, file, group,
			arena_printf(&a, "%s: %s should be %s: %s", said, text,
				valid ? "valid" : "refused", v.count ? v.list[0].sentence : ""));
	arena_free(&a);
	free(text);
}

static void run_group(struct tally *t, const char *file, json_t *group)
{
	char *text = dump(file, json_object_get(group, "schema"));
	const char *said = json_string_value(json_object_get(group, "description"));
	struct arena a = { 0 };
	struct json_violations faults;
	struct json_schema *s = json_schema_compile(&a, text, strlen(text), &faults);
	size_t i;
	json_t *one;

	if (!s != is_outside(file, said)) {
		wrong(t, file, said,
			s ? "is outside of the subset, and was not refused"
			  : arena_printf(&a, "refused: %s %s", faults.list[0].path,
				    faults.list[0].sentence));
	} else if (!s) {
		t->refused += (int)json_array_size(json_object_get(group, "tests"));
	} else {
		t->groups++;
		json_array_foreach(json_object_get(group, "tests"), i, one)
			run_case(t, file, said, s, one);
	}
	arena_free(&a);
	free(text);
}

TEST(json_schema_agrees_with_the_official_cases)
{
	const char *chosen = getenv("LODGE_JSON_SCHEMA_SUITE"), *where = chosen ? chosen : SUITE;
	struct tally t = { 0 };
	DIR *folder = opendir(where);
	struct dirent *entry;

	if (!folder) {
		test_fail(__FILE__, __LINE__,
			"%s is not there: install libtest-json-schema-acceptance-perl", where);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		char path[4096];
		json_t *groups, *group;
		size_t i;

		if (!strstr(entry->d_name, ".json"))
			continue;
		snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
		groups = json_load_file(path, JSON_ALLOW_NUL, NULL);
		CHECK(json_array_size(groups) > 0);
		json_array_foreach(groups, i, group) run_group(&t, entry->d_name, group);
		json_decref(groups);
	}
	closedir(folder);
	printf("note: json schema: %d official cases agree (%d schemas), %d outside of the subset are "
	       "refused\n",
		t.cases - t.wrong, t.groups, t.refused);
	CHECK(t.cases > 700);
}
