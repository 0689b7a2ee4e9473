/* conform.c - a reply against the schema that its route declares: every field there, none too many,
 * each of its kind.  And at the end: was every declared operation brought to success once? */
#include "fixture.h"

#include <stdlib.h>

#include "contract/anthropic_fault.h"
#include "serve/registry.h"
#include "base/clock.h"
#include "base/id.h"

static bool exercised[1024];

static void check_object(const struct schema *s, json_t *v, const char *where);

static bool word_known(const struct words *words, const char *text)
{
	for (int i = 0; words->list[i]; i++)
		if (strcmp(words->list[i], text) == 0)
			return true;
	return false;
}

static void check_item(const struct field *f, enum kind kind, json_t *v, const char *where)
{
	const char *text = json_string_value(v);
	int64_t us;

	switch (kind) {
	case FLAG:
		CHECK(json_is_boolean(v));
		break;
	case INTEGER:
		CHECK(json_is_integer(v));
		break;
	case NUMBER:
	case MONEY:
		CHECK(json_is_number(v));
		break;
	case TEXT:
		if (!text)
			test_fail(__FILE__, __LINE__, "%s is no string", where);
		else if (f->id && !id_valid(text, strlen(text)))
			test_fail(__FILE__, __LINE__, "%s is no id: %s", where, text);
		break;
	case CHOICE:
		if (!text || !word_known(f->words, text))
			test_fail(__FILE__, __LINE__, "%s is not one of its words", where);
		break;
	case MOMENT:
		if (!text || strlen(text) != TIME_TEXT_LEN || !time_read(text, strlen(text), &us))
			test_fail(__FILE__, __LINE__, "%s is no time", where);
		break;
	case JSON:
		CHECK(f->any || (f->array ? json_is_array(v) : json_is_object(v)));
		break;
	case OBJECT:
		check_object(f->of, v, where);
		break;
	case LIST:
		CHECK(json_is_array(v));
		break;
	}
}

static void check_field(const struct field *f, json_t *v, const char *schema)
{
	char where[256];
	size_t i;
	json_t *item;

	snprintf(where, sizeof where, "%s.%s", schema, f->name);
	if (f->secret) {
		if (v)
			test_fail(__FILE__, __LINE__, "%s is secret, and shown", where);
		return;
	}
	if (!v && f->left_out)
		return;
	if (!v) {
		test_fail(__FILE__, __LINE__, "%s is missing", where);
	} else if (json_is_null(v)) {
		if (!f->nullable)
			test_fail(__FILE__, __LINE__, "%s is null", where);
	} else {
		check_item(f, f->kind, v, where);
		if (f->kind == LIST)
			json_array_foreach(v, i, item) check_item(f, f->item, item, where);
	}
}

static void check_object(const struct schema *s, json_t *v, const char *where)
{
	size_t shown = 0;

	if (!json_is_object(v)) {
		test_fail(__FILE__, __LINE__, "%s is no object", where);
		return;
	}
	for (size_t i = 0; i < s->count; i++) {
		shown += !s->fields[i].secret &&
			 !(s->fields[i].left_out && !json_object_get(v, s->fields[i].name));
		check_field(&s->fields[i], json_object_get(v, s->fields[i].name), s->name);
	}
	if (json_object_size(v) != shown)
		test_fail(__FILE__, __LINE__, "%s has fields that %s has not", where, s->name);
}

/* What passes through as text: all that is needed is there, and what is there is known. */
static void check_raw(const struct schema *s, json_t *v)
{
	const char *key;
	json_t *one;

	for (size_t i = 0; i < s->count; i++)
		if (s->fields[i].required && !json_object_get(v, s->fields[i].name))
			test_fail(
				__FILE__, __LINE__, "%s.%s is missing", s->name, s->fields[i].name);
	json_object_foreach(v, key, one)
	{
		const struct field *f = schema_field(s, key, strlen(key));
		size_t i;
		json_t *item;

		if (!f)
			test_fail(__FILE__, __LINE__, "%s has no %s", s->name, key);
		else if (f->kind == OBJECT)
			check_raw(f->of, one);
		else if (f->kind != LIST)
			check_field(f, one, s->name);
		else
			json_array_foreach(one, i, item) check_raw(f->of, item);
	}
}

static void check_problem(int status, json_t *body)
{
	static const char *const texts[] = { "type", "title", "detail", "request_id" };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!json_is_string(json_object_get(body, texts[i])))
			test_fail(__FILE__, __LINE__, "a problem without %s", texts[i]);
	CHECK_INT(json_integer_value(json_object_get(body, "status")), status);
	if (status == 422)
		CHECK(json_array_size(json_object_get(body, "errors")) > 0 ||
			strstr(json_string_value(json_object_get(body, "type")), "idempotency"));
}

void conform(const struct route *route, int status, json_t *body)
{
	size_t i;
	json_t *item;

	if (status >= 400) {
		if (route->op->basic) /* in plain words */
			CHECK(!body);
		else if (route->anthropic)
			check_raw(&AnthropicProblem_schema, body);
		else if (route->openai || json_object_get(body, "jsonrpc"))
			CHECK(json_is_string(
				json_object_get(json_object_get(body, "error"), "message")));
		else
			check_problem(status, body);
		return;
	}
	for (size_t r = 0, n = 0; r < api_resource_count; r++)
		for (size_t k = 0; k < api_resources[r]->route_count; k++, n++)
			if (&api_resources[r]->routes[k] == route && status == route->status)
				exercised[n] = true;
	if (route->op->raw_reply && body)
		check_raw(route->op->raw_reply, body);
	if (status == 304 || (status == 204 && route->op->or_nothing) || !route->op->reply ||
		(route->op->gives && !body))
		return;
	if (!route->op->list) {
		check_object(route->op->reply, body, route->op->id);
		return;
	}
	json_array_foreach(json_object_get(body, "items"), i, item)
		check_object(route->op->reply, item, route->op->id);
	CHECK(json_is_integer(json_object_get(body, "page")));
	CHECK(json_is_integer(json_object_get(body, "per_page")));
	CHECK(json_object_get(body, "next_after") != NULL);
}

int conform_missing(void)
{
	int missing = 0;

	for (size_t r = 0, n = 0; r < api_resource_count; r++)
		for (size_t k = 0; k < api_resources[r]->route_count; k++, n++)
			if (!exercised[n] && !api_resources[r]->routes[k].op->awaits) {
				printf("FAILED coverage: no test brought %s to %d\n",
					api_resources[r]->routes[k].op->id,
					api_resources[r]->routes[k].status);
				missing++;
			}
	return missing;
}
