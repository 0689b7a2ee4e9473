/* test_events.c - every event of the table: written as it always was, read back as it was written, and published. */
#include "document.h"
#include "fixture.h"

#include <stdlib.h>

#include "contract/decode.h"
#include "contract/encode.h"
#include "serve/registry.h"
#include "sessions/session_events.h"

#define ID_A "caaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "cbbbbbbbbbbbbbbbbbbbbbbbb"

/* ---- the bytes ---- */

TEST(events_are_written_as_they_always_were)
{
	const struct MessageEvent message = { .id = ID_A,
		.session_id = ID_B,
		.role = MessageRole_assistant,
		.status = MessageStatus_complete,
		.content = "Say \"hi\"\n",
		.tool_calls = { "[{\"id\":\"call_1\",\"name\":\"x\",\"client\":true,\"arguments\":{}}]" },
		.model_id = ID_A,
		.prompt_tokens = 12,
		.completion_tokens = 3,
		.cost_usd = { INT64_C(210000000) },
		.created_at = { INT64_C(1767225600000000) } };
	const struct MessageCall call = {
		.id = "call_1", .name = "x", .client = -1, .alias = "x_2", .arguments = { "[1]" }
	};
	const struct DeltaEvent delta = {
		.message_id = ID_A, .text = "a\\b\t\xc3\xa9", .redacted = -1, .call = NIL
	};
	const struct ToolCallEvent tool = { .id = ID_A,
		.message_id = ID_B,
		.call_id = "call_1",
		.name = "web.search",
		.state = CALL_STATE_WAITING_CLIENT,
		.arguments = { "\"no JSON\"" } };
	const char *names[] = { "order" };
	const struct ApprovalRead approval = { .id = ID_A,
		.session_id = ID_B,
		.agent_id = ID_A,
		.tool_call_id = "call_1",
		.tool_name = "refund",
		.arguments = { "{\"order\":1}" },
		.pinned = { names, 1 },
		.status = ApprovalStatus_pending,
		.created_at = { INT64_C(1767225600000000) },
		.decided_at = { NIL } };
	const struct StatusEvent status = { .status = SESSION_STATE_PENDING,
		.run_id = ID_A,
		.waiting_for = words_index(&WaitingFor_words, "rate"),
		.waiting_until = { INT64_C(1767225600000000) } };
	const struct UsageEvent usage = { .run_id = ID_A,
		.model_id = "",
		.prompt_tokens = 1,
		.completion_tokens = 2,
		.cache_read_tokens = 3,
		.cache_write_tokens = 4,
		.cost_usd = { PICODOLLARS * 3 / 2 } };
	const struct NoticeEvent notice = { .code = "c", .text = "t", .at = { NIL } };
	const struct NoticeEvent waits = {
		.code = "c", .text = "t", .run_id = ID_A, .at = { NIL }
	};
	const struct AgentEvent agent = { .agent_id = ID_A, .action = "agent.update" };
	const struct FeedEvent in_session = {
		.tenant_id = ID_A, .session_id = ID_B, .seq = 7, .data = { "{\"a\":1}" }
	};
	const struct FeedEvent of_agent = { .tenant_id = ID_A, .seq = NIL, .data = { "{}" } };
	struct arena a = { 0 };

	CHECK_STR(session_event_text(&a, MESSAGE, &message),
		"{\"id\":\"" ID_A "\",\"session_id\":\"" ID_B "\",\"role\":\"assistant\","
		"\"status\":\"complete\",\"content\":\"Say \\\"hi\\\"\\n\",\"tool_calls\":"
		"[{\"id\":\"call_1\",\"name\":\"x\",\"client\":true,\"arguments\":{}}],"
		"\"tool_call_id\":null,\"model_id\":\"" ID_A "\",\"prompt_tokens\":12,"
		"\"completion_tokens\":3,\"cache_read_tokens\":0,\"cache_write_tokens\":0,"
		"\"cost_usd\":0.00021,\"created_at\":\"2026-01-01T00:00:00.000Z\",\"author_id\":null}");
	CHECK_STR(event_text(&a, &MessageCall_schema, &call),
		"{\"id\":\"call_1\",\"name\":\"x\",\"alias\":\"x_2\",\"arguments\":[1]}");
	CHECK_STR(session_event_text(&a, DELTA, &delta),
		"{\"message_id\":\"" ID_A "\",\"text\":\"a\\\\b\\t\xc3\xa9\"}");
	CHECK_STR(session_event_text(&a, TOOL_CALL, &tool),
		"{\"id\":\"" ID_A "\",\"message_id\":\"" ID_B "\",\"call_id\":\"call_1\","
		"\"name\":\"web.search\",\"state\":\"waiting_client\",\"arguments\":\"no JSON\"}");
	CHECK_STR(session_event_text(&a, APPROVAL, &approval),
		"{\"id\":\"" ID_A "\",\"session_id\":\"" ID_B "\",\"agent_id\":\"" ID_A "\","
		"\"tool_call_id\":\"call_1\",\"tool_name\":\"refund\",\"arguments\":{\"order\":1},"
		"\"pinned\":[\"order\"],\"status\":\"pending\",\"decided_by_id\":null,"
		"\"created_at\":\"2026-01-01T00:00:00.000Z\",\"decided_at\":null}");
	CHECK_STR(session_event_text(&a, STATUS, &status),
		"{\"status\":\"pending\",\"run_id\":\"" ID_A "\",\"error\":null,"
		"\"waiting_for\":\"rate\",\"waiting_until\":\"2026-01-01T00:00:00.000Z\"}");
	CHECK_STR(session_event_text(&a, USAGE, &usage),
		"{\"run_id\":\"" ID_A "\",\"model_id\":\"\",\"prompt_tokens\":1,"
		"\"completion_tokens\":2,\"cache_read_tokens\":3,\"cache_write_tokens\":4,"
		"\"cost_usd\":1.5}");
	CHECK_STR(session_event_text(&a, NOTICE, &notice), "{\"code\":\"c\",\"text\":\"t\"}");
	CHECK_STR(session_event_text(&a, NOTICE, &waits),
		"{\"code\":\"c\",\"text\":\"t\",\"run_id\":\"" ID_A "\"}");
	CHECK_STR(event_text(&a, &AgentEvent_schema, &agent),
		"{\"agent_id\":\"" ID_A "\",\"action\":\"agent.update\"}");
	CHECK_STR(event_text(&a, &FeedEvent_schema, &in_session),
		"{\"tenant_id\":\"" ID_A "\",\"session_id\":\"" ID_B
		"\",\"seq\":7,\"data\":{\"a\":1}}");
	CHECK_STR(event_text(&a, &FeedEvent_schema, &of_agent),
		"{\"tenant_id\":\"" ID_A "\",\"data\":{}}");
	arena_free(&a);
}

/* ---- there and back ---- */

static uint32_t seed;

static uint32_t chance(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* A text of all sorts of characters, or an id. */
static const char *some_text(struct arena *a, const struct field *f)
{
	static const char *const parts[] = { "a", "\"", "\\", "\n", "\x01", "\xc3\xa9", "/",
		"\xf0\x9f\x98\x80", "</script>", "\x7f", " ", "{}" };
	const char *text = "";

	if (f->id)
		return chance(2) ? ID_A : ID_B;
	for (uint32_t n = chance(12); n; n--)
		text = arena_printf(a, "%s%s", text, parts[chance(sizeof parts / sizeof *parts)]);
	return text;
}

static int some_word(const struct words *words)
{
	uint32_t n = 0;

	while (words->list[n])
		n++;
	return (int)chance(n);
}

static void fill_field(struct arena *a, const struct field *f, void *object);

static void fill_objects(struct arena *a, const struct schema *s, struct list *list)
{
	list->count = chance(4);
	list->at = arena_alloc(a, (list->count + 1) * s->size);
	for (size_t i = 0; i < list->count; i++)
		for (size_t j = 0; j < s->count; j++)
			fill_field(a, &s->fields[j], (char *)list->at + i * s->size);
}

static void fill_list(struct arena *a, const struct field *f, struct list *list)
{
	struct field item = { .id = f->item_id };
	const char **at;

	if (f->item == OBJECT) {
		fill_objects(a, f->of, list);
		return;
	}
	CHECK_INT(f->item, TEXT); /* no event has another */
	list->count = chance(4);
	list->at = at = arena_array(a, const char *, list->count + 1);
	for (size_t i = 0; i < list->count; i++)
		at[i] = some_text(a, &item);
}

static void fill_field(struct arena *a, const struct field *f, void *object)
{
	void *at = (char *)object + f->at;

	field_set_null(f, object);
	if (f->nullable && chance(3) == 0)
		return;
	switch (f->kind) {
	case FLAG:
		*(tri *)at = (tri)chance(2);
		break;
	case INTEGER:
		*(int64_t *)at = chance(1000000);
		break;
	case NUMBER:
		*(double *)at = (double)chance(1000000) / 1e6;
		break;
	case MONEY:
		((struct money *)at)->pd = (__int128)chance(1000000) * chance(1000000);
		break;
	case TEXT:
		*(const char **)at = some_text(a, f);
		break;
	case CHOICE:
		*(int *)at = some_word(f->words);
		break;
	case MOMENT:
		((struct moment *)at)->us = (int64_t)chance(1 << 24) * 1000000000;
		break;
	case JSON:
		((struct json *)at)->text = f->array ? chance(2) ? "[{\"a\":[1,null]}]" : "[]"
					    : f->any && chance(2) ? "\"words\""
								  : "{\"b\":{\"c\":\"d\"}}";
		break;
	case LIST:
		fill_list(a, f, at);
		break;
	case OBJECT:
		test_fail(__FILE__, __LINE__, "%s is an object; say how to fill it", f->name);
		break;
	}
}

static void there_and_back(struct arena *a, const struct schema *s)
{
	void *object = arena_alloc(a, s->size), *again = arena_alloc(a, s->size);
	struct problem p = { 0 };
	const char *text;

	for (size_t i = 0; i < s->count; i++)
		fill_field(a, &s->fields[i], object);
	text = event_text(a, s, object);
	if (!text) {
		test_fail(__FILE__, __LINE__, "%s is not written", s->name);
		return;
	}
	CHECK(event_read(a, s, text, strlen(text), again));
	for (size_t i = 0; i < s->count; i++)
		if (!field_same(&s->fields[i], object, again))
			test_fail(__FILE__, __LINE__, "%s.%s is another one in %s", s->name,
				s->fields[i].name, text);
	CHECK_STR(event_text(a, s, again), text);
	/* And nothing in it is outside its table. */
	if (decode_body(NULL, a, s, UNKNOWN_REFUSED, text, strlen(text), again, &p))
		test_fail(__FILE__, __LINE__, "%s is refused: %s %s", text,
			p.first ? p.first->field : "", p.first ? p.first->message : "");
}

TEST(events_are_read_as_they_are_written)
{
	seed = 13;
	for (size_t i = 0; i < stream_event_count; i++) {
		const struct schema *s = stream_events[i].data;

		test_step("%s", stream_events[i].name);
		for (int n = 0; s && n < 200; n++) {
			struct arena a = { 0 };

			there_and_back(&a, s);
			arena_free(&a);
		}
	}
}

TEST(events_of_others_are_read_as_far_as_they_go)
{
	static const char newer[] = "{\"status\":\"paused\",\"run_id\":\"" ID_A "\",\"more\":[1]}";
	struct arena a = { 0 };
	struct StatusEvent status;

	test_step("with members and words that are not known, and without some that are");
	CHECK(session_event_read(&a, STATUS, newer, strlen(newer), &status));
	CHECK_INT(status.status, -1);
	CHECK_STR(status.run_id, ID_A);
	CHECK(!status.error);
	CHECK_INT(status.waiting_until.us, NIL);

	test_step("what is no object is none");
	CHECK(!session_event_read(&a, STATUS, "{", 1, &status));
	CHECK(!session_event_read(&a, STATUS, "", 0, &status));
	arena_free(&a);
}

/* ---- the table and the document ---- */

TEST(events_have_their_names_in_the_table)
{
	for (int i = 0; i < SESSION_EVENT_COUNT; i++)
		CHECK_STR(stream_events[i].name, session_event_names[i]);
	CHECK_INT(stream_event_count, SESSION_EVENT_COUNT + 3);
}

/* x-events of the one content of the operation that is a stream. */
static json_t *published_events(json_t *doc, const struct route *r)
{
	json_t *path = json_object_get(json_object_get(doc, "paths"), r->path);
	json_t *op = json_object_get(path, r->method == METHOD_GET ? "get" : "post");
	json_t *ok = json_object_get(json_object_get(op, "responses"), "200");

	return json_object_get(
		json_object_get(json_object_get(ok, "content"), "text/event-stream"), "x-events");
}

static void check_stream(json_t *doc, const struct route *r)
{
	const struct event_stream *s = r->op->events;
	json_t *events = published_events(doc, r), *schemas;
	size_t carried = 0;
	bool unnamed = false;

	test_step("%s", r->op->id);
	schemas = json_object_get(json_object_get(doc, "components"), "schemas");
	for (size_t i = 0; i < s->count; i++) {
		const struct stream_event *e = &s->table[i];
		json_t *one = json_object_get(events, e->name);

		if (!(e->streams & s->bit))
			continue;
		carried += !(e->unnamed && unnamed); /* which are one to a reader */
		unnamed |= e->unnamed;
		if (!json_is_object(json_object_get(one, "schema")))
			test_fail(__FILE__, __LINE__, "%s is not published", e->name);
		if (e->data)
			CHECK(json_object_get(schemas, e->data->name));
	}
	CHECK_INT(json_object_size(events), carried);
}

TEST(events_are_published)
{
	json_t *doc = document();
	size_t streams = 0;

	for (size_t i = 0; i < api_resource_count; i++) {
		for (size_t j = 0; j < api_resources[i]->route_count; j++) {
			const struct route *r = &api_resources[i]->routes[j];

			if (!r->op->events)
				continue;
			check_stream(doc, r);
			streams++;
		}
	}
	CHECK(streams >= 8);
}
