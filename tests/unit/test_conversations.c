/* test_conversations.c - OpenAI-style conversations: their items, and responses of models and agents that go on from
 * them, on the model inside the program. */
#include "gateway_fixture.h"
#include "openai_fixture.h"

#include <poll.h>

#include "store/pool.h"

#define V "/v1/conversations"
#define R "/v1/responses"
#define ADD \
	"\"tools\":[{\"type\":\"function\",\"name\":\"add\",\"parameters\":{\"type\":\"object\"}}]"

static const char *begin(struct openai_fixture *s, const char *body)
{
	struct answer r = openai_ask(s, body, "POST " V);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "conversation");
	CHECK(strncmp(text_at(&r, "id"), "conv_", 5) == 0);
	return text_at(&r, "id");
}

static struct answer respond_in(
	struct openai_fixture *s, const char *id, const char *model, const char *more)
{
	return openai_ask(s,
		arena_printf(&s->f->arena, "{\"model\":\"%s\",\"conversation\":\"%s\",%s}", model,
			id, more),
		"POST " R);
}

/* The first letters of the items' words, oldest first: "u:hi a:1 2". */
static const char *said(struct openai_fixture *s, const char *id)
{
	struct answer r = openai_ask(s, NULL, "GET " V "/%s/items?order=asc&limit=100", id);
	json_t *data = at(&r, "data"), *item;
	const char *out = "";
	size_t i;

	STATUS(r, 200);
	json_array_foreach(data, i, item)
	{
		const char *role = json_string_value(json_object_get(item, "role"));
		json_t *part = json_array_get(json_object_get(item, "content"), 0);

		CHECK(json_string_value(json_object_get(item, "id")) != NULL);
		if (role)
			CHECK_STR(json_string_value(json_object_get(item, "status")), "completed");
		out = arena_printf(&s->f->arena, "%s%s%s", out, i ? " | " : "",
			role ? arena_printf(&s->f->arena, "%c:%s", *role,
				       json_string_value(json_object_get(part, "text")))
			     : json_string_value(json_object_get(item, "type")));
	}
	return out;
}

TEST(conversations_are_made_read_changed_and_deleted)
{
	struct openai_fixture s;
	struct answer r;
	const char *id;

	openai_open(&s);
	STATUS(openai_ask(&s, NULL, "POST " V), 200);
	id = begin(&s,
		"{\"metadata\":{\"a\":\"b\"},\"items\":[{\"role\":\"user\",\"content\":"
		"\"hi\"},{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"yes\"}]}");
	r = openai_ask(&s, NULL, "GET " V "/%s", id);
	CHECK_STR(text_at(&r, "metadata.a"), "b");
	CHECK(json_integer_value(at(&r, "created_at")) > 1700000000);
	r = openai_ask(&s, "{\"metadata\":{\"c\":\"d\"}}", "POST " V "/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "metadata.c"), "d");
	r = openai_ask(&s, NULL, "GET " V "/%s", id);
	CHECK_STR(text_at(&r, "metadata.c"), "d");
	CHECK(at(&r, "metadata.a") == NULL);
	CHECK_STR(said(&s, id), "u:hi | a:yes");

	test_step("an item");
	r = openai_ask(&s, NULL, "GET " V "/%s/items?limit=1", id);
	CHECK_STR(text_at(&r, "data.0.content.0.type"), "output_text");
	CHECK(json_is_true(at(&r, "has_more")));
	r = openai_ask(&s, NULL, "GET " V "/%s/items/%s", id, text_at(&r, "last_id"));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "content.0.text"), "yes");
	r = openai_ask(&s, NULL, "DELETE " V "/%s/items/%s", id, text_at(&r, "id"));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "id"), id);
	CHECK_STR(said(&s, id), "u:hi");
	STATUS(openai_ask(&s, NULL, "GET " V "/%s/items/msg_x", id), 404);

	test_step("deleted, with its rows");
	r = openai_ask(&s, NULL, "DELETE " V "/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "conversation.deleted");
	CHECK(json_is_true(at(&r, "deleted")));
	STATUS(openai_ask(&s, NULL, "GET " V "/%s", id), 404);
	STATUS(openai_ask(&s, NULL, "GET " V "/%s/items", id), 404);
	STATUS(respond_in(&s, id, "demo", "\"input\":\"x\""), 404);
	fixture_sweep(s.f);
	CHECK_INT(fixture_count(s.f, "select count(*) from conversation_items"), 0);
	CHECK_INT(fixture_count(s.f, "select count(*) from conversation_rows"), 1);
	openai_close(&s);
}

TEST(conversations_list_their_items_by_cursor)
{
	struct openai_fixture s;
	struct answer r;
	const char *id, *after, *seen;

	openai_open(&s);
	id = begin(&s, "{}");
	for (int i = 0; i < 7; i++)
		STATUS(openai_ask(&s,
			       arena_printf(&s.f->arena,
				       "{\"items\":[{\"role\":\"user\",\"content\":\"%d\"}]}", i),
			       "POST " V "/%s/items?include[]=reasoning.encrypted_content", id),
			200);
	for (int down = 0; down < 2; down++) {
		seen = after = "";
		do {
			r = openai_ask(&s, NULL, "GET " V "/%s/items?limit=3&order=%s%s%s", id,
				down ? "desc" : "asc", *after ? "&after=" : "", after);
			STATUS(r, 200);
			for (size_t i = 0; i < json_array_size(at(&r, "data")); i++)
				seen = arena_printf(&s.f->arena, "%s%s", seen,
					text_at(&r, arena_printf(&s.f->arena,
							    "data.%zu.content.0.text", i)));
			after = text_at(&r, "last_id");
		} while (json_is_true(at(&r, "has_more")));
		CHECK_STR(seen, down ? "6543210" : "0123456");
	}
	r = openai_ask(&s, NULL, "GET " V "/%s/items?after=nobody", id);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "after");
	STATUS(openai_ask(&s, NULL, "GET " V "/%s/items?limit=101", id), 400);
	openai_close(&s);
}

TEST(conversations_refuse_in_openais_shape)
{
	static const struct {
		const char *body, *param;
	} cases[] = {
		{ "{\"items\":7}", "items" },
		{ "{\"items\":[7]}", "items[0]" },
		{ "{\"items\":[{\"role\":\"king\",\"content\":\"x\"}]}", "items[0].role" },
		{ "{\"items\":[{\"type\":\"item_reference\",\"id\":\"x\"}]}", "items[0].id" },
		{ "{\"items\":[{\"role\":\"user\",\"content\":\"a\\u0000b\"}]}", "items" },
	};
	struct openai_fixture s;
	struct answer r;
	struct buf b;
	const char *id;

	openai_open(&s);
	id = begin(&s, "{}");
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			test_step("%s", cases[i].body);
			r = k ? openai_ask(&s, cases[i].body, "POST " V)
			      : openai_ask(&s, cases[i].body, "POST " V "/%s/items", id);
			STATUS(r, 400);
			CHECK_STR(text_at(&r, "error.param"), cases[i].param);
		}
	STATUS(openai_ask(&s, "{\"items\":[]}", "POST " V "/%s/items", id), 400);
	test_step("at most 20 at a time");
	buf_init(&b, 1 << 20);
	for (int i = 0; i < 21; i++)
		buf_printf(&b, "%s{\"role\":\"user\",\"content\":\"x\"}", i ? "," : "{\"items\":[");
	buf_puts(&b, "]}");
	buf_putc(&b, 0);
	r = openai_ask(&s, b.at, "POST " V "/%s/items", id);
	buf_free(&b);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "items");
	CHECK_STR(said(&s, id), "");

	test_step("metadata");
	r = openai_ask(&s, "{\"metadata\":{\"a\":1}}", "POST " V);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "metadata");
	STATUS(openai_ask(&s, "{\"metadata\":{\"a\":1}}", "POST " V "/%s", id), 400);

	test_step("a response goes on from one thing");
	for (int k = 0; k < 2; k++) {
		r = respond_in(&s, id, k ? s.agent_id : "demo",
			"\"input\":\"x\",\"previous_response_id\":\"cabcdefghijklmnopqrstuvwx\"");
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.code"), "mutually_exclusive_parameters");
		STATUS(respond_in(&s, "conv_nobody", k ? s.agent_id : "demo", "\"input\":\"x\""),
			404);
		r = openai_ask(&s,
			arena_printf(&s.f->arena,
				"{\"model\":\"%s\",\"input\":\"x\",\"conversation\":7}",
				k ? s.agent_id : "demo"),
			"POST " R);
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), "conversation");
	}
	openai_close(&s);
}

TEST(conversations_are_full_at_their_bounds)
{
	struct openai_fixture s;
	struct answer r;
	const char *id;

	openai_open(&s);
	id = begin(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
	fixture_sql(s.f, "update conversation_items set bytes = $1", ARGS(N((4 << 20) - 50)));
	r = openai_ask(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
		"POST " V "/%s/items", id);
	STATUS(r, 400);
	CHECK(strstr(text_at(&r, "error.message"), "full") != NULL);
	STATUS(respond_in(&s, id, "demo", "\"input\":\"x\""), 400);
	STATUS(respond_in(&s, id, s.agent_id, "\"input\":\"x\""), 400);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 0);
	openai_close(&s);
}

/* What is told of an item that says null is what is told of one that says nothing. */
TEST(conversations_lose_nothing_after_an_item_without_a_status)
{
	struct openai_fixture s;
	struct answer with, without;

	openai_open(&s);
#define ITEMS_OF(status)                                                           \
	"{\"items\":[{\"role\":\"user\"," status "\"content\":\"one two three\"}," \
	"{\"role\":\"user\",\"content\":\"four five six seven\"}]}"
	without = respond_in(&s, begin(&s, ITEMS_OF("")), "demo", "\"input\":\"count to 3\"");
	with = respond_in(
		&s, begin(&s, ITEMS_OF("\"status\":null,")), "demo", "\"input\":\"count to 3\"");
	STATUS(with, 200);
	CHECK_INT(json_integer_value(at(&with, "usage.input_tokens")),
		json_integer_value(at(&without, "usage.input_tokens")));
	openai_close(&s);
}

TEST(conversations_of_models_are_their_history)
{
	struct openai_fixture s;
	struct answer r, alone;
	const char *id, *response, *before;

	openai_open(&s);
	id = begin(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"one two three four\"}]}");
	alone = openai_ask(&s, "{\"model\":\"demo\",\"input\":\"count to 3\"}", "POST " R);
	r = respond_in(&s, id, "demo", "\"input\":\"count to 3\"");
	STATUS(r, 200);
	response = text_at(&r, "id");
	CHECK_STR(text_at(&r, "conversation.id"), id);
	CHECK_STR(text_at(&r, "output.0.content.0.text"), "1 2 3");
	CHECK(json_integer_value(at(&r, "usage.input_tokens")) >
		json_integer_value(at(&alone, "usage.input_tokens")));
	CHECK_STR(said(&s, id), "u:one two three four | u:count to 3 | a:1 2 3");
	r = openai_ask(&s, NULL, "GET " R "/%s", response);
	CHECK_STR(text_at(&r, "conversation.id"), id);

	test_step("streamed, named by an object, and not stored");
	r = openai_ask(&s,
		arena_printf(&s.f->arena,
			"{\"model\":\"demo\",\"conversation\":{\"id\":\"%s\"},\"stream\":true,"
			"\"store\":false,\"input\":\"count to 2\"}",
			id),
		"POST " R);
	STATUS(r, 200);
	CHECK(openai_event(&s, &r, "response.completed") != NULL);
	CHECK_STR(said(&s, id),
		"u:one two three four | u:count to 3 | a:1 2 3 | u:count to 2 | a:1 2");
	CHECK_INT(fixture_count(s.f, "select count(*) from responses"), 2);

	test_step("a call of the caller's function, and its result");
	r = respond_in(&s, id, "demo", "\"input\":\"use tool add with {\\\"a\\\":1}\"," ADD);
	STATUS(r, 200);
	r = respond_in(&s, id, "demo",
		arena_printf(&s.f->arena,
			"\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"%s\","
			"\"output\":\"42\"}]," ADD,
			text_at(&r, "output.0.call_id")));
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "42") != NULL);
	CHECK(strstr(said(&s, id), "| function_call | function_call_output | a:") != NULL);

	test_step("an item of it that is named");
	r = openai_ask(&s, NULL, "GET " V "/%s/items?order=asc&limit=1", id);
	r = respond_in(&s, id, "demo",
		arena_printf(&s.f->arena, "\"input\":[{\"type\":\"item_reference\",\"id\":\"%s\"}]",
			text_at(&r, "data.0.id")));
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "one two three four") != NULL);

	test_step("a repeat with the same key is told what was answered, and nothing is added");
	before = said(&s, id);
	for (int i = 0; i < 2; i++) {
		r = ask(s.f, s.f->admin,
			arena_printf(&s.f->arena,
				"{\"model\":\"demo\",\"conversation\":\"%s\",\"input\":"
				"\"count to 4\"}",
				id),
			"POST " R "\nIdempotency-Key: again");
		STATUS(r, 200);
		CHECK_STR(text_at(&r, "output.0.content.0.text"), "1 2 3 4");
		CHECK_STR(said(&s, id),
			arena_printf(&s.f->arena, "%s | u:count to 4 | a:1 2 3 4", before));
	}
	STATUS(openai_ask(&s, NULL, "GET " R "/%s", text_at(&r, "id")), 200);
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena,
			"{\"model\":\"demo\",\"conversation\":\"%s\",\"input\":\"other\"}", id),
		"POST " R "\nIdempotency-Key: again");
	STATUS(r, 422);

	test_step("the response may go, and the items stay");
	STATUS(openai_ask(&s, NULL, "DELETE " R "/%s", response), 200);
	CHECK(strstr(said(&s, id), "a:1 2 3") != NULL);
	openai_close(&s);
}

/* What a model is told of a long conversation is read where no loop waits for it. */
TEST(conversations_that_are_long_are_read_off_the_loop)
{
	struct openai_fixture s;
	uint64_t before;
	struct answer r;
	const char *id;

	openai_open(&s);
	id = begin(&s, "{}");
	for (int i = 0; i < 4; i++) {
		before = pool_stats(s.f->app.reading).begun;
		STATUS(respond_in(&s, id, "demo", "\"input\":\"count to 3\""), 200);
		CHECK_INT((int)(pool_stats(s.f->app.reading).begun - before),
			fixture_is_sqlite() && i > 1);
		/* of 30,000 bytes, so that from the third on it is long */
		r = openai_ask(&s,
			arena_printf(&s.f->arena,
				"{\"items\":[{\"role\":\"user\",\"content\":\"%030000d\"}]}", 0),
			"POST " V "/%s/items", id);
		STATUS(r, 200);
		r = openai_ask(&s,
			arena_printf(&s.f->arena,
				"{\"items\":[{\"role\":\"user\",\"content\":\"%05000d\"}]}", 0),
			"POST " V "/%s/items", id);
		STATUS(r, 200);
	}
	test_step("and so is a long chain of responses");
	for (int i = 0; i < 5; i++) {
		before = pool_stats(s.f->app.reading).begun;
		r = openai_ask(&s,
			arena_printf(&s.f->arena,
				"{\"model\":\"demo\",\"input\":\"%030000d\"%s%s%s}", 0,
				i ? ",\"previous_response_id\":\"" : "", i ? text_at(&r, "id") : "",
				i ? "\"" : ""),
			"POST " R);
		STATUS(r, 200);
		CHECK_INT((int)(pool_stats(s.f->app.reading).begun - before),
			fixture_is_sqlite() && i > 2);
	}
	test_step("as a stream, and what is wrong with it is told");
	r = respond_in(&s, id, "demo", "\"stream\":true,\"input\":\"count to 3\"");
	STATUS(r, 200);
	CHECK(strstr(answer_unchunked(s.f, &r), "response.completed"));
	STATUS(respond_in(&s, id, "demo",
		       "\"input\":[{\"type\":\"item_reference\",\"id\":\"nobodys\"}]"),
		400);
	openai_close(&s);
}

TEST(conversations_of_agents_are_one_session)
{
	struct openai_fixture s;
	struct answer r;
	const char *id, *call, *before;

	openai_open(&s);
	id = begin(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"my name is Ann\"},"
		       "{\"role\":\"assistant\",\"content\":\"noted\"}]}");
	r = respond_in(&s, id, s.agent_id, "\"input\":\"count to 3\"");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "conversation.id"), id);
	CHECK_STR(said(&s, id), "u:my name is Ann | a:noted | u:count to 3 | a:1 2 3");
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 1);
	CHECK_INT(fixture_count(s.f, "select count(*) from messages"), 4);

	test_step("it goes on, streamed and not stored");
	r = respond_in(
		&s, id, s.agent_id, "\"input\":\"count to 2\",\"stream\":true,\"store\":false");
	STATUS(r, 200);
	CHECK(openai_event(&s, &r, "response.completed") != NULL);
	CHECK_STR(said(&s, id), "u:my name is Ann | a:noted | u:count to 3 | a:1 2 3 | "
				"u:count to 2 | a:1 2");
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 1);
	CHECK_INT(fixture_count(s.f, "select count(*) from messages"), 6);

	test_step("the last answer is read by its id before it is settled, and by cursor");
	r = openai_ask(&s, NULL, "GET " V "/%s/items?limit=1", id);
	CHECK_STR(text_at(&r, "data.0.content.0.text"), "1 2");
	CHECK(json_is_true(at(&r, "has_more")));
	STATUS(openai_ask(&s, NULL, "GET " V "/%s/items/%s", id, text_at(&r, "last_id")), 200);
	r = openai_ask(&s, NULL, "GET " V "/%s/items?limit=1&after=%s", id, text_at(&r, "last_id"));
	CHECK_STR(text_at(&r, "data.0.content.0.text"), "count to 2");
	r = openai_ask(
		&s, NULL, "GET " V "/%s/items?order=asc&after=%s", id, text_at(&r, "last_id"));
	CHECK_INT(json_array_size(at(&r, "data")), 1);
	CHECK(json_is_false(at(&r, "has_more")));

	test_step("what is said without it is heard with the next");
	STATUS(openai_ask(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"I am from Rome\"}]}",
		       "POST " V "/%s/items", id),
		200);
	STATUS(respond_in(&s, id, "demo", "\"input\":\"count to 4\""), 200);
	before = said(&s, id);
	STATUS(respond_in(&s, id, s.agent_id, "\"input\":\"count to 5\""), 200);
	CHECK_STR(
		said(&s, id), arena_printf(&s.f->arena, "%s | u:count to 5 | a:1 2 3 4 5", before));
	CHECK_INT(fixture_count(s.f, "select count(*) from messages"), 11);
	CHECK_INT(fixture_count(s.f, "select count(*) from messages where content = '1 2 3 4' or "
				     "content = 'I am from Rome'"),
		2);

	test_step("a call of the caller's function holds it until the result");
	r = respond_in(&s, id, s.agent_id, "\"input\":\"use tool add with {\\\"a\\\":1}\"," ADD);
	STATUS(r, 200);
	call = text_at(&r, "output.0.call_id");
	before = said(&s, id);
	CHECK(strstr(before, "| function_call") != NULL);
	r = openai_ask(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"x\"}]}",
		"POST " V "/%s/items", id);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.code"), "conversation_locked");
	STATUS(respond_in(&s, id, "demo", "\"input\":\"x\""), 400);
	r = respond_in(&s, id, s.agent_id, "\"input\":\"x\"");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input");
	CHECK_STR(said(&s, id), before);
	r = respond_in(&s, id, s.agent_id,
		arena_printf(&s.f->arena,
			"\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"%s\","
			"\"output\":\"42\"}]," ADD,
			call));
	STATUS(r, 200);
	CHECK(strstr(text_at(&r, "output.0.content.0.text"), "42") != NULL);
	CHECK(strncmp(said(&s, id), before, strlen(before)) == 0);
	CHECK(strstr(said(&s, id), "| function_call | function_call_output | a:") != NULL);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 1);

	test_step("images are refused where they stand");
	r = respond_in(&s, id, s.agent_id,
		"\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
		"\"data:image/png;base64,AA==\"}]}]");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].content[0]");

	test_step("the session goes, and what was said in it; the conversation begins another");
	r = openai_ask(&s, NULL, "GET /agents/%s/sessions", s.agent_id);
	STATUS(openai_ask(&s, NULL, "DELETE /v1/threads/%s", text_at(&r, "items.0.id")), 200);
	CHECK_STR(said(&s, id), "u:my name is Ann | a:noted | u:I am from Rome | u:count to 4 | "
				"a:1 2 3 4");
	fixture_sweep(s.f);
	CHECK_INT(fixture_count(s.f, "select count(*) from conversation_items"), 5);
	STATUS(respond_in(&s, id, s.agent_id, "\"input\":\"count to 1\""), 200);
	CHECK_INT(fixture_count(s.f, "select count(*) from sessions"), 1);
	CHECK_INT(fixture_count(s.f, "select count(*) from messages"), 7);

	test_step("a repeat with the same key begins no other run");
	before = said(&s, id);
	for (int i = 0; i < 2; i++)
		STATUS(ask(s.f, s.f->admin,
			       arena_printf(&s.f->arena,
				       "{\"model\":\"%s\",\"conversation\":\"%s\",\"input\":"
				       "\"count to 4\"}",
				       s.agent_id, id),
			       "POST " R "\nIdempotency-Key: again"),
			200);
	CHECK_STR(said(&s, id), arena_printf(&s.f->arena, "%s | u:count to 4 | a:1 2 3 4", before));
	openai_close(&s);
}

TEST(conversations_are_locked_while_an_agent_works)
{
	struct gateway_fixture s;
	struct answer r;
	const char *id, *response;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "slow-20000", NULL });
	r = ask(s.f, s.f->admin, "{}", "POST " V);
	id = text_at(&r, "id");
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena,
			"{\"model\":\"%s\",\"conversation\":\"%s\",\"input\":\"x\","
			"\"background\":true}",
			s.agent_id, id),
		"POST " R);
	STATUS(r, 200);
	response = text_at(&r, "id");
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena,
			"{\"model\":\"%s\",\"conversation\":\"%s\",\"input\":\"y\"}", s.agent_id,
			id),
		"POST " R);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.code"), "conversation_locked");
	r = ask(s.f, s.f->admin, NULL, "GET " V "/%s/items", id);
	CHECK_INT(json_array_size(at(&r, "data")), 1);
	test_step("what is cancelled holds nobody up");
	STATUS(ask(s.f, s.f->admin, NULL, "POST " R "/%s/cancel", response), 200);
	STATUS(ask(s.f, s.f->admin, "{\"items\":[{\"role\":\"user\",\"content\":\"z\"}]}",
		       "POST " V "/%s/items", id),
		200);
	gateway_close(&s);
}

TEST(conversations_are_for_who_made_them)
{
	struct openai_fixture s;
	const char *member, *user, *id, *body;
	struct answer r;

	openai_open(&s);
	user = fixture_user(s.f, "m@example.org", &member);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	id = begin(&s, "{\"items\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
	r = openai_ask(&s, NULL, "GET " V "/%s/items", id);
	body = text_at(&r, "last_id");
	for (int k = 0; k < 2; k++) {
		test_step("%s an agent answers in it", k ? "after" : "before");
		STATUS(ask(s.f, member, NULL, "GET " V "/%s", id), 404);
		STATUS(ask(s.f, member, "{}", "POST " V "/%s", id), 404);
		STATUS(ask(s.f, member, NULL, "DELETE " V "/%s", id), 404);
		STATUS(ask(s.f, member, NULL, "GET " V "/%s/items", id), 404);
		STATUS(ask(s.f, member, NULL, "GET " V "/%s/items/%s", id, body), 404);
		STATUS(ask(s.f, member, NULL, "DELETE " V "/%s/items/%s", id, body), 404);
		STATUS(ask(s.f, member, "{\"items\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
			       "POST " V "/%s/items", id),
			404);
		r = ask(s.f, member,
			arena_printf(&s.f->arena,
				"{\"model\":\"demo\",\"conversation\":\"%s\",\"input\":\"x\"}", id),
			"POST " R);
		STATUS(r, 404);
		if (!k)
			STATUS(respond_in(&s, id, s.agent_id, "\"input\":\"x\""), 200);
	}
	test_step("what is left by who left is not out of reach");
	r = ask(s.f, member, "{}", "POST " V);
	STATUS(r, 200);
	STATUS(openai_ask(&s, NULL, "DELETE " V "/%s", text_at(&r, "id")), 200);
	test_step("one conversation, one agent");
	r = openai_ask(&s, "{\"model\":\"demo\",\"name\":\"Other\"}", "POST /v1/assistants");
	STATUS(r, 200);
	r = respond_in(&s, id, text_at(&r, "id"), "\"input\":\"x\"");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "conversation");
	openai_close(&s);
}
