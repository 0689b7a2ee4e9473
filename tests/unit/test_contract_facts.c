/* test_contract_facts.c - the published document against the facts of the contract, field by
 * field and both ways; and the lint against tables that are each wrong in one thing. */
#include "t.h"

#include <jansson.h>
#include <stdlib.h>

#include "serve/registry.h"
#include "base/arena.h"
#include "base/buf.h"
#include "contract/event.h"
#include "contract/lint.h"

#define URL "https://lodge.example.org"

enum { DOCUMENT_MAX = 16 << 20, CONTRACT_SCHEMAS = 81 };

/* ---- the document ----
 * Values are made with json_pack() alone: base/json.h has json_enter_object() and others of its own. */

static json_t *document(void)
{
	struct buf b;
	json_error_t error;
	json_t *doc;

	buf_init(&b, DOCUMENT_MAX);
	operations_document(&b, api_resources, api_resource_count, URL);
	CHECK(!b.overflow);
	doc = json_loadb(b.at, b.len, JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		test_fail(__FILE__, __LINE__, "%s at byte %d", error.text, error.position);
	buf_free(&b);
	return doc;
}

/* The tests run from the root of the repository or from a folder in it. */
static json_t *facts(void)
{
	json_error_t error;
	json_t *all = json_load_file("tests/facts/contract.json", 0, &error);

	if (!all)
		all = json_load_file("../tests/facts/contract.json", 0, &error);
	if (!all)
		test_fail(__FILE__, __LINE__, "%s", error.text);
	return all;
}

static json_t *components(json_t *doc, const char *kind)
{
	return json_object_get(json_object_get(doc, "components"), kind);
}

/* ---- a fact as the schema that states it ---- */

static json_t *reference(const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", name));
}

static json_t *stated(const json_t *fact)
{
	static const char *const same[] = { "default", "pattern", "format", "const", "minLength",
		"maxLength", "minimum", "maximum", "minItems", "maxItems", "enum" };
	const char *ref = json_string_value(json_object_get(fact, "ref"));
	const char *type = json_string_value(json_object_get(fact, "type"));
	bool nullable = json_is_true(json_object_get(fact, "nullable"));
	json_t *items = json_object_get(fact, "items"), *schema = json_pack("{}");

	if (ref && nullable)
		json_object_set_new(
			schema, "anyOf", json_pack("[o{s:s}]", reference(ref), "type", "null"));
	else if (ref)
		json_object_set_new(schema, "$ref", json_sprintf("#/components/schemas/%s", ref));
	else
		json_object_set_new(schema, "type",
			nullable ? json_pack("[ss]", type, "null") : json_pack("s", type));
	if (items)
		json_object_set_new(schema, "items", stated(items));
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (json_object_get(fact, same[i]))
			json_object_set_new(
				schema, same[i], json_deep_copy(json_object_get(fact, same[i])));
	if (nullable && json_object_get(schema, "enum"))
		json_array_append_new(json_object_get(schema, "enum"), json_pack("n"));
	return schema;
}

/* What the document says beyond the contract: words for people, and our own rules. */
static json_t *bare(const json_t *published)
{
	static const char *const ours[] = { "description", "x-max", "x-default", "uniqueItems",
		"writeOnly", "x-label", "x-unit", "x-long", "x-unused", "x-any",
		"additionalProperties" };
	json_t *copy = json_deep_copy(published);

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		json_object_del(copy, ours[i]);
	if (json_object_get(copy, "items")) {
		json_object_del(json_object_get(copy, "items"), "x-max");
		json_object_del(json_object_get(copy, "items"), "x-enum");
	}
	return copy;
}

/* Where the contract says only that it is an object, the document may say which. */
static void forget_which_object(const json_t *fact, json_t *published)
{
	const char *type = json_string_value(json_object_get(fact, "type"));

	if (!type || strcmp(type, "object") != 0)
		return;
	if (json_object_del(published, "anyOf") == 0)
		json_object_set_new(published, "type", json_pack("[ss]", "object", "null"));
	else if (json_object_del(published, "$ref") == 0)
		json_object_set_new(published, "type", json_string("object"));
}

static void compare_field(const json_t *fact, const json_t *published)
{
	json_t *want = stated(fact), *got = bare(published);

	forget_which_object(fact, got);
	if (!json_equal(want, got)) {
		char *w = json_dumps(want, JSON_COMPACT), *g = json_dumps(got, JSON_COMPACT);

		test_fail(__FILE__, __LINE__, "published as %s, stated as %s", g, w);
		free(w);
		free(g);
	}
	if (!json_string_length(json_object_get(published, "description")))
		test_fail(__FILE__, __LINE__, "has no description");
	json_decref(want);
	json_decref(got);
}

static void compare_required(json_t *fields, const json_t *required)
{
	const char *name;
	json_t *fact;
	size_t count = 0;

	json_object_foreach(fields, name, fact)
	{
		bool stated_so = json_is_true(json_object_get(fact, "required")), listed = false;

		for (size_t i = 0; i < json_array_size(required); i++)
			listed |= strcmp(json_string_value(json_array_get(required, i)), name) == 0;
		if (stated_so != listed)
			test_fail(
				__FILE__, __LINE__, "%s is %srequired", name, listed ? "" : "not ");
		count += stated_so;
	}
	CHECK_INT(json_array_size(required), count);
}

static void compare_schema(const char *name, const json_t *stated_schema, json_t *published)
{
	json_t *fields = json_object_get(stated_schema, "fields"), *fact, *property;
	json_t *properties = json_object_get(published, "properties");
	const char *field;

	test_step("%s", name);
	if (!published) {
		test_fail(__FILE__, __LINE__, "is not published");
		return;
	}
	CHECK_STR(json_string_value(json_object_get(published, "type")), "object");
	CHECK(json_string_length(json_object_get(published, "description")) > 0);
	compare_required(fields, json_object_get(published, "required"));
	if (json_is_false(json_object_get(published, "additionalProperties")))
		CHECK_STR(json_string_value(json_object_get(stated_schema, "use")), "request");
	json_object_foreach(fields, field, fact)
	{
		test_step("%s.%s", name, field);
		property = json_object_get(properties, field);
		if (property)
			compare_field(fact, property);
		else
			test_fail(__FILE__, __LINE__, "is not published");
	}
	json_object_foreach(properties, field, property)
	{
		test_step("%s.%s", name, field);
		if (!json_object_get(fields, field))
			test_fail(__FILE__, __LINE__, "is published but not in the contract");
	}
}

TEST(contract_facts_are_published)
{
	json_t *doc = document(), *all = facts(), *stated_schema;
	json_t *stated_schemas = json_object_get(all, "schemas"),
	       *schemas = components(doc, "schemas");
	const char *name;

	CHECK_INT(json_object_size(stated_schemas), CONTRACT_SCHEMAS);
	json_object_foreach(stated_schemas, name, stated_schema)
		compare_schema(name, stated_schema, json_object_get(schemas, name));
	json_decref(doc);
	json_decref(all);
}

static void check_refs(json_t *doc, json_t *at)
{
	const char *key, *ref = json_string_value(json_object_get(at, "$ref"));
	json_t *value, *target = doc;
	size_t i;

	if (ref && strncmp(ref, "#/", 2) == 0) {
		char *path = strdup(ref + 2), *rest = NULL;

		for (char *part = strtok_r(path, "/", &rest); part;
			part = strtok_r(NULL, "/", &rest))
			target = json_object_get(target, part);
		if (!target)
			test_fail(__FILE__, __LINE__, "%s leads nowhere", ref);
		free(path);
	}
	json_object_foreach(at, key, value) check_refs(doc, value);
	json_array_foreach(at, i, value) check_refs(doc, value);
}

TEST(contract_document_holds_together)
{
	struct buf once, twice;
	json_t *doc = document(), *servers = json_object_get(doc, "servers");

	CHECK_STR(json_string_value(json_object_get(doc, "openapi")), "3.1.0");
	CHECK_INT(json_array_size(servers), 3);
	CHECK(json_object_get(components(doc, "schemas"), "Problem"));
	check_refs(doc, doc);
	json_decref(doc);

	test_step("the same tables give the same bytes");
	buf_init(&once, DOCUMENT_MAX);
	buf_init(&twice, DOCUMENT_MAX);
	operations_document(&once, api_resources, api_resource_count, URL);
	operations_document(&twice, api_resources, api_resource_count, URL);
	CHECK(once.len == twice.len && memcmp(once.at, twice.at, once.len) == 0);
	buf_free(&once);
	buf_free(&twice);
}

/* ---- a good table, to be broken ---- */

struct Part {
	const char *label;
};

FIELDS(Part) = { FIELD(Part, label, .doc = "A label.") };
static SCHEMA(Part, .doc = "A part.");

static const char *const colours[] = { "red", "blue", NULL };
static const struct words colour_words = { .list = colours, .doc = "Colours." };

struct Thing {
	const char *id, *name;
	bool big;
	tri maybe;
	int colour;
	int64_t count;
	double weight;
	struct moment since;
	struct json extra;
	struct Part *part;
	struct list ids, parts;
};

FIELDS(Thing) = {
	FIELD(Thing, id, .required = true, .id = true, .doc = "Its id."),
	FIELD(Thing, name, .pattern = "^[a-z]+$", .preset = "\"abc\"", BOUNDS(1, 9),
		.doc = "Its name."),
	FIELD(Thing, big, .preset = "false", .doc = "Whether it is big."),
	FIELD(Thing, maybe, .nullable = true, .doc = "Perhaps."),
	FIELD(Thing, colour, .words = &colour_words, .otherwise = "\"red\"", .doc = "Its colour."),
	FIELD(Thing, count, .preset = "1", BOUNDS(0, 4), .doc = "How many."),
	FIELD(Thing, weight, .nullable = true, .doc = "How heavy."),
	FIELD(Thing, since, .doc = "Since when."),
	FIELD(Thing, extra, .otherwise = "{}", .open = true, .doc = "Whatever else."),
	FIELD(Thing, part, .of = &Part_schema, .doc = "Its part."),
	FIELD(Thing, ids, .item = TEXT, .item_id = true, .preset = "[]", .doc = "Others."),
	FIELD(Thing, parts, .item = OBJECT, .of = &Part_schema, .doc = "More parts."),
};

struct ThingQuery {
	const char *q;
};

FIELDS(ThingQuery) = { FIELD(ThingQuery, q, .doc = "Words to look for.") };
static SCHEMA(ThingQuery, .doc = "Filters.");

enum { FIELDS_MAX = 64 };
enum {
	ROWS = sizeof Thing_fields / sizeof *Thing_fields,
	GET_ROW = 0,
	PATCH_ROW,
	READ_ROW,
	ROUTES
};

struct bench {
	struct field fields[FIELDS_MAX + 1];
	struct field query_field;
	struct schema schema, query;
	struct words words;
	struct operation ops[ROUTES];
	struct route routes[ROUTES];
	struct resource resource;
};

static int nothing(struct call *c)
{
	(void)c;
	return 0;
}

static const char *permission_one(int permission)
{
	return permission == 1 ? "thing:all" : NULL;
}

static void bench_make(struct bench *b)
{
	memset(b, 0, sizeof *b);
	memcpy(b->fields, Thing_fields, sizeof Thing_fields);
	b->schema = (struct schema){ .name = "Thing",
		.doc = "A thing.",
		.size = sizeof(struct Thing),
		.fields = b->fields,
		.count = ROWS };
	b->query_field = ThingQuery_fields[0];
	b->query = ThingQuery_schema;
	b->query.fields = &b->query_field;
	b->words = colour_words;
	b->ops[GET_ROW] = (struct operation){ .id = "things_list",
		.query = &b->query,
		.reply = &b->schema,
		.list = true,
		.apply = nothing };
	b->ops[PATCH_ROW] = (struct operation){
		.id = "thing_update", .body = &b->schema, .reply = &b->schema, .apply = nothing
	};
	b->routes[GET_ROW] = (struct route){ .method = METHOD_GET,
		.path = "/tenant/{tenant_id}/agents/{agent_id}/things",
		.op = &b->ops[GET_ROW],
		.permission = 1,
		.status = 200,
		.tag = "things",
		.doc = "Lists things." };
	b->routes[PATCH_ROW] = (struct route){ .method = METHOD_PATCH,
		.path = "/tenant/{tenant_id}/agents/{agent_id}/things/{thing_id}",
		.op = &b->ops[PATCH_ROW],
		.permission = 1,
		.status = 200,
		.audit = "thing.update",
		.tag = "things",
		.doc = "Changes a thing." };
	b->ops[READ_ROW] =
		(struct operation){ .id = "thing_read", .reply = &b->schema, .apply = nothing };
	b->routes[READ_ROW] = (struct route){ .method = METHOD_GET,
		.path = b->routes[PATCH_ROW].path,
		.op = &b->ops[READ_ROW],
		.permission = 1,
		.status = 200,
		.tag = "things",
		.doc = "Reads a thing." };
	b->resource =
		(struct resource){ .name = "things", .routes = b->routes, .route_count = ROUTES };
}

static struct field *row(struct bench *b, const char *name)
{
	return &b->fields[schema_field(&b->schema, name, strlen(name)) - b->fields];
}

static void check_lint(const struct bench *b, const char *want, int line)
{
	const struct resource *list[] = { &b->resource };
	struct arena a = { 0 };
	const char *sentence = "";
	int err = contract_lint(list, 1, permission_one, &a, &sentence);

	if (!want && err)
		test_fail(__FILE__, line, "a good table is refused: %s", sentence);
	else if (want && !err)
		test_fail(__FILE__, line, "is let through: %s", want);
	else if (want && !strstr(sentence, want))
		test_fail(__FILE__, line, "\"%s\" does not say \"%s\"", sentence, want);
	arena_free(&a);
}

/* Breaks one thing of a good table and looks for the sentence that names it. */
#define REFUSED(want, ...)                      \
	do {                                    \
		struct bench b;                 \
		bench_make(&b);                 \
		__VA_ARGS__;                    \
		check_lint(&b, want, __LINE__); \
	} while (0)

TEST(contract_lint_takes_a_good_table)
{
	struct bench b;

	bench_make(&b);
	check_lint(&b, NULL, __LINE__);

	test_step("a change that nobody needs to know of says why");
	b.routes[PATCH_ROW].audit = NULL;
	b.routes[PATCH_ROW].unaudited = "a heartbeat";
	check_lint(&b, NULL, __LINE__);

	test_step("a patch begins with its bits");
	bench_make(&b);
	b.schema.partial = true;
	b.schema.size += sizeof(uint64_t);
	for (size_t i = 0; i < ROWS; i++)
		b.fields[i].at += sizeof(uint64_t);
	check_lint(&b, NULL, __LINE__);

	test_step("an id and a word in the same place are two paths");
	bench_make(&b);
	b.routes[GET_ROW].method = METHOD_PUT;
	b.routes[GET_ROW].audit = "thing.all";
	b.routes[GET_ROW].path = "/tenant/{tenant_id}/agents/{agent_id}/things/{name}";
	check_lint(&b, NULL, __LINE__);
}

TEST(contract_lint_names_a_bad_route)
{
	REFUSED("things has no permission", b.routes[GET_ROW].permission = 0);
	REFUSED("permission 2, which has no name", b.routes[GET_ROW].permission = 2);
	REFUSED("GET /tenant/{tenant_id}/agents/{agent_id}/things has no doc",
		b.routes[GET_ROW].doc = "");
	REFUSED("has no tag", b.routes[GET_ROW].tag = NULL);
	REFUSED("has no operation", b.routes[GET_ROW].op = NULL);
	REFUSED("has no operation", b.ops[GET_ROW].id = "");
	REFUSED("Operation things_list has no apply", b.ops[GET_ROW].apply = NULL);
	REFUSED("The operation id things_list stands at GET", b.ops[PATCH_ROW].id = "things_list");
	REFUSED("takes a body", b.ops[GET_ROW].body = &b.schema);
	REFUSED("has no agent_id in its body", b.routes[PATCH_ROW].agent_in_body = true);
	REFUSED("reads but names the audit verb thing.read",
		b.routes[GET_ROW].audit = "thing.read");
	REFUSED("names no audit verb", b.routes[PATCH_ROW].audit = NULL);
	REFUSED("both audited and unaudited", b.routes[PATCH_ROW].unaudited = "because");
	REFUSED("succeeds with status 0", b.routes[PATCH_ROW].status = 0);
	REFUSED("answers 204 but names a reply", b.routes[PATCH_ROW].status = 204);
	REFUSED("is a list of nothing", b.ops[GET_ROW].reply = NULL);
	REFUSED("also needs permission 2, which has no name", b.routes[GET_ROW].also = 2);
	REFUSED("has no parameter source_id to name its agent",
		b.routes[GET_ROW].agent = "source_id");
	REFUSED("has sorts but is no list", b.ops[PATCH_ROW].sorts = &colour_words);
	REFUSED("things/{thing_id} changes cannot be read at its path",
		b.routes[READ_ROW].path = "/tenant/{tenant_id}/agents/{agent_id}/other/{thing_id}");
}

TEST(contract_lint_names_a_bad_path)
{
	REFUSED("does not begin with a slash", b.routes[GET_ROW].path = "things");
	REFUSED("a parameter that is not closed", b.routes[GET_ROW].path = "/things/{thing_id");
	REFUSED("a parameter that is not closed", b.routes[GET_ROW].path = "/things/{thing_id/x");
	REFUSED("a parameter that is not closed", b.routes[GET_ROW].path = "/things/{thing_id}s");
	REFUSED("or an empty part", b.routes[GET_ROW].path = "/things//x");
	REFUSED("has the parameter {id} twice", b.routes[GET_ROW].path = "/things/{id}/x/{id}");
	REFUSED("has too many parts", b.routes[GET_ROW].path = "/{a}/{b}/{c}/{d}/{e}/{f}/{g}");
	REFUSED("collide", b.routes[PATCH_ROW].method = METHOD_GET,
		b.routes[PATCH_ROW].audit = NULL, b.ops[PATCH_ROW].body = NULL,
		b.routes[PATCH_ROW].path = b.routes[GET_ROW].path);

	test_step("in another spelling");
	REFUSED("collide", b.routes[GET_ROW] = b.routes[PATCH_ROW],
		b.routes[GET_ROW].op = &b.ops[GET_ROW],
		b.routes[GET_ROW].path = "/agents/{any_id}/things/{other_id}");
	REFUSED("collide", b.routes[GET_ROW].path = "/api/v1/tenants/{id}/x",
		b.routes[PATCH_ROW] = b.routes[GET_ROW], b.routes[PATCH_ROW].op = &b.ops[PATCH_ROW],
		b.ops[PATCH_ROW].body = NULL, b.routes[PATCH_ROW].path = "/tenant/{tenant_id}/x");
	REFUSED("collide", b.routes[GET_ROW].path = "/v1/models",
		b.routes[GET_ROW].as_printed = true, b.routes[PATCH_ROW] = b.routes[GET_ROW],
		b.routes[PATCH_ROW].op = &b.ops[PATCH_ROW], b.ops[PATCH_ROW].body = NULL,
		b.routes[PATCH_ROW].as_printed = false, b.routes[PATCH_ROW].path = "/models");
}

TEST(contract_lint_names_a_bad_schema)
{
	static const struct schema twin = { .name = "Thing",
		.doc = "Another.",
		.size = sizeof(struct Part),
		.fields = Part_fields,
		.count = 1 };
	static const struct words titled = { .title = "Part", .list = colours, .doc = "Colours." };

	REFUSED("Schema Thing has no doc", b.schema.doc = NULL);
	REFUSED("it may have 1 to 64", b.schema.count = FIELDS_MAX + 1);
	REFUSED("it may have 1 to 64", b.schema.count = 0);
	REFUSED("Two schemas are called Thing", b.ops[GET_ROW].reply = &twin);
	REFUSED("A schema and a list of words are called Part", row(&b, "colour")->words = &titled);
	REFUSED("contains itself", row(&b, "part")->of = &b.schema);

	test_step("a member without a row");
	REFUSED("Before Thing.name a member of the struct has no row", b.schema.fields++,
		b.schema.count--);
	REFUSED("Before Thing.weight a member",
		memmove(&b.fields[5], &b.fields[6], (ROWS - 6) * sizeof *b.fields),
		b.schema.count--);
	REFUSED("The last members of the struct Thing", b.schema.count--);
	REFUSED("out of order", b.fields[0] = Thing_fields[1], b.fields[1] = Thing_fields[0]);
	REFUSED("Before Thing.id a member", b.schema.partial = true);
}

TEST(contract_lint_names_a_bad_field)
{
	static const char *const none[] = { NULL };

	REFUSED("Field Thing.name has no doc", row(&b, "name")->doc = "");
	REFUSED("has the field id twice", row(&b, "name")->name = "id", b.fields[1].name_len = 2);
	REFUSED("Thing.big is nullable but its member is not a tri",
		row(&b, "big")->nullable = true);
	REFUSED("Thing.maybe is a tri but not nullable", row(&b, "maybe")->nullable = false);
	REFUSED("Thing.name has a pattern that does not compile",
		row(&b, "name")->pattern = "^[a-z+$");
	REFUSED("Thing.name has a pattern but no example", row(&b, "name")->preset = NULL);
	REFUSED("List Thing.parts does not say what its items are", row(&b, "parts")->item = FLAG);
	REFUSED("Thing.part is an object without .of", row(&b, "part")->of = NULL);
	REFUSED("Thing.parts is an object without .of", row(&b, "parts")->of = NULL);
	REFUSED("Thing.name has .of but is no object", row(&b, "name")->of = &Part_schema);
	REFUSED("Thing.colour is a choice without words", row(&b, "colour")->words = NULL);
	REFUSED("Thing.name has words but is no choice", row(&b, "name")->words = &colour_words);
	REFUSED("Thing.colour has words without entries", b.words.list = none,
		row(&b, "colour")->words = &b.words);
	REFUSED("Thing.count is marked as text", row(&b, "count")->id = true);
	REFUSED("Thing.name is marked as a list", row(&b, "name")->distinct = true);
	REFUSED("Thing.extra is unbounded", row(&b, "extra")->ceiling = -1);
	REFUSED("Thing.extra does not say what its JSON is", row(&b, "extra")->open = false);
	REFUSED("Thing.extra says twice what it is", row(&b, "extra")->of = &Part_schema);
	REFUSED("Thing.name is marked as JSON", row(&b, "name")->open = true);
	REFUSED("Thing.ids is unbounded", row(&b, "ids")->ceiling = 1e308 * 10);
	REFUSED("Thing.name has a minimum above its maximum", row(&b, "name")->min = 10);
	REFUSED("ThingQuery.q cannot be part of a query", b.query_field.kind = JSON,
		b.query_field.open = true);
}

TEST(contract_lint_names_a_bad_value)
{
	REFUSED("Thing.big does not take its own preset 0", row(&b, "big")->preset = "0");
	REFUSED("Thing.big does not take its own preset null", row(&b, "big")->preset = "null");
	REFUSED("Thing.big does not take its own preset", row(&b, "big")->preset = "false,");
	REFUSED("Thing.count does not take its own preset 5", row(&b, "count")->preset = "5");
	REFUSED("Thing.count does not take its own preset 1.5", row(&b, "count")->preset = "1.5");
	REFUSED("Thing.name does not take its own preset \"ABC\"",
		row(&b, "name")->preset = "\"ABC\"");
	REFUSED("Thing.colour does not take its own otherwise \"green\"",
		row(&b, "colour")->otherwise = "\"green\"");
	REFUSED("Thing.extra does not take its own otherwise []",
		row(&b, "extra")->otherwise = "[]");
	REFUSED("Thing.since does not take its own example",
		row(&b, "since")->example = "\"today\"");
	REFUSED("Thing.ids cannot be preset to [\"x\"]", row(&b, "ids")->preset = "[\"x\"]");
	REFUSED("Thing.part cannot be preset", row(&b, "part")->preset = "{}");
	REFUSED("has both a preset and an otherwise", row(&b, "big")->otherwise = "true");
}

static const struct stream_event good_events[] = {
	{ "thing", &Part_schema, 1, .doc = "A thing." },
	{ "end", NULL, 1, .bare = true, .doc = "The end." },
};

struct event_bench {
	struct bench b;
	struct stream_event events[2];
	struct event_stream stream;
};

static void event_bench_make(struct event_bench *e)
{
	bench_make(&e->b);
	memcpy(e->events, good_events, sizeof good_events);
	e->stream = (struct event_stream){
		.title = "ThingStreamEvent", .table = e->events, .count = 2, .bit = 1
	};
	e->b.ops[GET_ROW].gives = "text/event-stream";
	e->b.ops[GET_ROW].events = &e->stream;
}

#define EVENT_REFUSED(want, ...)                  \
	do {                                      \
		struct event_bench e;             \
		event_bench_make(&e);             \
		__VA_ARGS__;                      \
		check_lint(&e.b, want, __LINE__); \
	} while (0)

TEST(contract_lint_names_a_bad_event)
{
	static const struct schema hidden = { .name = "Hidden", .internal = true };

	EVENT_REFUSED(NULL, e.stream.bit = 1);
	EVENT_REFUSED(
		"things_list gives events and does not say which", e.b.ops[GET_ROW].events = NULL);
	EVENT_REFUSED("things_list names events and gives none", e.b.ops[GET_ROW].gives = NULL);
	EVENT_REFUSED("has no name of small letters", e.events[0].name = NULL);
	EVENT_REFUSED("has no name of small letters", e.events[0].name = "a\nb");
	EVENT_REFUSED("Event thing has no doc", e.events[0].doc = "");
	EVENT_REFUSED("Event thing is carried by no stream", e.events[0].streams = 0);
	EVENT_REFUSED("Two events are called end", e.events[0].name = "end");
	EVENT_REFUSED("Event thing tells a row of the store", e.events[0].data = &hidden);
	EVENT_REFUSED("The stream of things_list has no title", e.stream.title = NULL);
	EVENT_REFUSED("The stream of things_list carries no event", e.stream.bit = 2);
	EVENT_REFUSED("The envelope Part has no JSON data", e.stream.envelope = &Part_schema);
	EVENT_REFUSED("Event end has an envelope and nothing in it",
		e.stream.envelope = &Part_schema, e.events[1].bare = false);
}
