/* document.c - see document.h.  The keywords are those that the document uses for values; bounds and patterns are what other
 * tests try. */
#include "document.h"

#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "serve/registry.h"

bool document_unheld;

json_t *document(void)
{
	static json_t *doc;
	struct buf text;

	if (doc)
		return doc;
	buf_init(&text, 64 << 20);
	operations_document(&text, api_resources, api_resource_count, "http://lodge.test");
	doc = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, NULL);
	buf_free(&text);
	return doc;
}

json_t *document_resolved(json_t *v)
{
	const char *ref = json_string_value(json_object_get(v, "$ref"));
	char word[128];

	if (!ref)
		return v;
	v = document();
	for (ref += strlen("#/"); *ref; ref += *ref == '/') {
		size_t len = strcspn(ref, "/");

		CHECK(len < sizeof word);
		memcpy(word, ref, len);
		word[len] = '\0';
		v = json_object_get(v, word);
		ref += len;
	}
	return v;
}

/* Where we are, and the refusal that was met deepest inside: of several alternatives it is the one that was meant. */
struct place_in {
	const struct place_in *above;
	const char *name;
	int depth;
};

static struct {
	char text[512];
	int depth;
} refusal;

static void write_place(const struct place_in *at, char *text, size_t size)
{
	if (at->above) {
		write_place(at->above, text, size);
		snprintf(text + strlen(text), size - strlen(text), ".%s", at->name);
	}
}

static bool refuse(const struct place_in *at, const char *why, const char *what)
{
	if (at->depth < refusal.depth)
		return false;
	refusal.depth = at->depth;
	refusal.text[0] = '\0';
	write_place(at, refusal.text, sizeof refusal.text);
	snprintf(refusal.text + strlen(refusal.text), sizeof refusal.text - strlen(refusal.text),
		" %s %s", why, what);
	return false;
}

static bool is_of(json_t *v, const char *type)
{
	static const struct {
		const char *name;
		json_type type;
	} types[] = { { "object", JSON_OBJECT }, { "array", JSON_ARRAY }, { "string", JSON_STRING },
		{ "integer", JSON_INTEGER }, { "number", JSON_REAL }, { "null", JSON_NULL } };

	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(v);
	if (strcmp(type, "number") == 0 && json_is_integer(v))
		return true;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, type) == 0)
			return json_typeof(v) == types[i].type;
	return false;
}

static bool type_suits(const struct place_in *at, json_t *type, json_t *v)
{
	size_t i;
	json_t *one;

	if (!type || (json_is_string(type) && is_of(v, json_string_value(type))))
		return true;
	json_array_foreach(type, i, one)
	{
		if (is_of(v, json_string_value(one)))
			return true;
	}
	return refuse(
		at, "is not of type", json_is_string(type) ? json_string_value(type) : "(several)");
}

static bool in_enum(json_t *list, json_t *v)
{
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one)
	{
		if (json_equal(one, v))
			return true;
	}
	return false;
}

static bool suits(const struct place_in *at, json_t *schema, json_t *v, bool closed);

/* `closed`: not for a part of an allOf, which names only what it adds. */
static bool members_suit(const struct place_in *at, json_t *schema, json_t *v, bool closed)
{
	json_t *properties = json_object_get(schema, "properties"), *one;
	json_t *more = json_object_get(schema, "additionalProperties");
	const char *key;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, one)
	{
		if (!json_object_get(v, json_string_value(one)))
			return refuse(at, "lacks", json_string_value(one));
	}
	json_object_foreach(v, key, one)
	{
		struct place_in inside = { at, key, at->depth + 1 };
		json_t *said = json_object_get(properties, key);

		if (said ? !suits(&inside, said, one, true)
			 : json_is_object(more) && !suits(&inside, more, one, true))
			return false;
		if (!said && (json_is_false(more) || (!more && properties && closed)))
			return refuse(at, "has what is not published:", key);
	}
	return true;
}

static size_t count_of(const struct place_in *at, json_t *list, json_t *v)
{
	size_t i, n = 0;
	json_t *one;

	json_array_foreach(list, i, one) n += suits(at, one, v, true);
	return n;
}

static bool alternatives_suit(const struct place_in *at, json_t *schema, json_t *v)
{
	json_t *any = json_object_get(schema, "anyOf"), *one = json_object_get(schema, "oneOf");
	json_t *all = json_object_get(schema, "allOf"), *not = json_object_get(schema, "not"),
	       *part;
	size_t i;

	if (any && !count_of(at, any, v))
		return refuse(at, "is none of", "anyOf");
	if (one && count_of(at, one, v) != 1)
		return refuse(at, "is not one of", "oneOf");
	json_array_foreach(all, i, part)
	{
		if (!suits(at, part, v, false))
			return false;
	}
	return !not || !suits(at, not, v, true) || refuse(at, "is what it must not be", "");
}

static bool suits(const struct place_in *at, json_t *schema, json_t *v, bool closed)
{
	json_t *words = json_object_get(schema, "enum"), *fixed = json_object_get(schema, "const");
	json_t *items = json_object_get(schema, "items"), *one;
	size_t i;

	if (json_object_get(schema, "$ref") && !suits(at, document_resolved(schema), v, true))
		return false;
	if (!type_suits(at, json_object_get(schema, "type"), v))
		return false;
	if ((words && !in_enum(words, v)) || (fixed && !json_equal(fixed, v)))
		return refuse(at, "is not the word that is published",
			json_is_string(v) ? json_string_value(v) : "");
	if (json_is_object(v) && !members_suit(at, schema, v, closed))
		return false;
	if (items && json_is_array(v))
		json_array_foreach(v, i, one)
		{
			struct place_in inside = { at, "[]", at->depth + 1 };

			if (!suits(&inside, items, one, true))
				return false;
		}
	return alternatives_suit(at, schema, v);
}

const char *document_refuses(json_t *schema, json_t *value)
{
	refusal.depth = -1;
	return document_unheld || suits(&(struct place_in){ 0 }, schema, value, true)
		       ? NULL
		       : refusal.text;
}
