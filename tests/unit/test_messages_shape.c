/* test_messages_shape.c - bodies of Anthropic's messages as each kind of provider is sent them, and its events as they
 * come back. */
#include "anthropic/messages_out.h"
#include "anthropic/messages_read.h"
#include "broker/provider.h"
#include "broker_fixture.h"
#include "oracle.h"

#include <stdlib.h>

#define HI "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

/* ---- what is sent ---- */

static const char *sent(struct arena *a, const char *body, const struct provider *p,
	const char *prompt, int64_t limit)
{
	const struct messages_asked asked = { .counts = false };
	const struct target t = { .model = "m", .max_tokens = limit };
	struct messages_read ret;
	struct chat_error e;
	struct chat c;
	struct buf b;
	const char *text;

	if (messages_read(&c, a, (struct slice){ body, strlen(body) }, &asked, &ret, &e)) {
		test_fail(__FILE__, __LINE__, "%s", e.message);
		return "";
	}
	chat_put_prompt(&c, prompt);
	buf_init(&b, 1 << 20);
	p->write(&c, &t, &b);
	text = arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return text;
}

#define HEAD "{\"model\":\"m\",\"max_tokens\":"

TEST(messages_go_to_anthropic_as_they_came)
{
	static const struct {
		const char *body, *prompt;
		int64_t limit;
		const char *wanted;
	} rows[] = {
		{ "{\"x\": [1, {}], \"max_tokens\":9, " HI ",\"model\":\"a\"}", NULL, 0,
			HEAD "9,\"x\":[1, {}]," HI "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9," HI "}", NULL, 5, HEAD "5," HI "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9," HI "}", "You.", 0,
			HEAD "9," HI ",\"system\":[{\"type\":\"text\",\"text\":\"You.\"}]}" },
		{ "{\"model\":\"a\",\"max_tokens\":9,\"system\":\"s\"," HI "}", "You.", 0,
			HEAD "9,\"system\":[{\"type\":\"text\",\"text\":\"You.\"},"
			     "{\"type\":\"text\",\"text\":\"s\"}]," HI "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9,\"system\":[ ]," HI "}", "You.", 0,
			HEAD "9,\"system\":[{\"type\":\"text\",\"text\":\"You.\"}]," HI "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9,\"system\":null," HI "}", "You.", 0,
			HEAD "9,\"system\":[{\"type\":\"text\",\"text\":\"You.\"}]," HI "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"s\","
		  "\"cache_control\":{\"ttl\":\"1h\",\"type\":\"ephemeral\"}}]," HI "}",
			"You.", 0,
			HEAD
			"9,\"system\":[{\"type\":\"text\",\"text\":\"You.\"},{\"type\":\"text\","
			"\"text\":\"s\",\"cache_control\":{\"ttl\":\"5m\","
			"\"type\":\"ephemeral\"}}]," HI "}" },
		/* A limit that is lowered lowers what may be thought. */
		{ "{\"model\":\"a\",\"max_tokens\":9000,\"thinking\":{\"type\":\"enabled\","
		  "\"budget_tokens\":5000}," HI "}",
			NULL, 3000,
			HEAD "3000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2999}," HI
			     "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9000,\"thinking\":{\"type\":\"enabled\","
		  "\"budget_tokens\":5000}," HI "}",
			NULL, 100, HEAD "100,\"thinking\":{\"type\":\"disabled\"}," HI "}" },
		{ "{\"model\":\"a\",\"max_tokens\":9000,\"thinking\":{\"type\":\"enabled\","
		  "\"budget_tokens\":1024}," HI "}",
			NULL, 3000,
			HEAD "3000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}," HI
			     "}" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].body);
		CHECK_STR(
			sent(&a, rows[i].body, &provider_anthropic, rows[i].prompt, rows[i].limit),
			rows[i].wanted);
	}
	arena_free(&a);
}

#define THEIRS "{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"lodge:openai::\"}"
#define UNSIGNED "{\"type\":\"thinking\",\"thinking\":\"b\",\"signature\":\"\"}"
#define SIGNED "{\"type\":\"thinking\",\"thinking\":\"c\",\"signature\":\"c2ln\"}"
#define SAID "{\"type\":\"text\",\"text\":\"t\"}"

TEST(messages_give_no_thought_to_another_than_who_had_it)
{
	static const struct {
		const char *content, *wanted;
	} rows[] = {
		{ SAID, SAID },
		{ SIGNED "," SAID, SIGNED "," SAID },
		{ THEIRS "," SAID, SAID },
		{ THEIRS " , " UNSIGNED " , " SAID, SAID },
		{ SAID "," THEIRS, SAID },
		{ SAID "," THEIRS "," UNSIGNED, SAID },
		{ SAID "," THEIRS "," SIGNED, SAID "," SIGNED },
		{ THEIRS "," SAID "," UNSIGNED "," SIGNED "," THEIRS, SAID "," SIGNED },
		{ THEIRS, "{\"type\":\"text\",\"text\":\"(no message)\"}" },
		{ THEIRS "," UNSIGNED, "{\"type\":\"text\",\"text\":\"(no message)\"}" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].content);
		CHECK_STR(sent(&a,
				  arena_printf(&a,
					  "{\"model\":\"a\",\"max_tokens\":9,\"messages\":[{"
					  "\"role\":\"assistant\",\"content\":[%s]}]}",
					  rows[i].content),
				  &provider_anthropic, NULL, 0),
			arena_printf(&a,
				HEAD "9,\"messages\":[{\"role\":\"assistant\",\"content\":[%s]}]}",
				rows[i].wanted));
	}
	test_step("to its maker");
	CHECK(strstr(sent(&a,
			     "{\"model\":\"a\",\"max_tokens\":9,\"messages\":[{\"content\":[{\"type\":"
			     "\"thinking\",\"signature\":\"lodge:openai_responses:rs_1:ZW5j\","
			     "\"thinking\":\"h\"}],\"role\":\"assistant\"}]}",
			     &provider_openai_responses, NULL, 0),
		      "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\","
		      "\"text\":\"h\"}],\"encrypted_content\":\"ZW5j\"}") != NULL);
	arena_free(&a);
}

/* ---- what comes back ---- */

/* Each event has its name as its type, and after the last there is nothing. */
static void check_events(struct arena *a, const char *text, bool good)
{
	bool ended = false;

	for (const char *line = text; *line;) {
		const char *end = strstr(line, "\n\n"), *name, *data;

		CHECK(end && !ended && strncmp(line, "event: ", 7) == 0);
		if (!end)
			return;
		name = arena_strndup(a, line + 7, strcspn(line + 7, "\n"));
		data = line + 7 + strlen(name) + strlen("\ndata: ");
		ended = strcmp(name, good ? "message_stop" : "error") == 0;
		CHECK(oracle_accepts(data, (size_t)(end - data)));
		name = arena_printf(a, "{\"type\":\"%s\"", name);
		CHECK(strncmp(data, name, strlen(name)) == 0);
		line = end + 2;
	}
	CHECK(ended);
}

/* Whatever a provider says, whole or as a stream, and cut where it may be. */
TEST(messages_out_is_well_formed_whatever_came)
{
	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];

		for (int stream = 0; stream < 2; stream++) {
			const struct messages_out_asked asked = { .id = "msg_1",
				.request_id = "r",
				.model = SLICE("m"),
				.stream = stream,
				.thinks = true };
			bool good = strstr(rec->events, "finish ") != NULL;
			struct messages_out out;
			struct arena a = { 0 };
			struct reply *r = calloc(1, sizeof *r);
			struct buf b;

			test_step("%s, %s", rec->name, stream ? "stream" : "whole");
			buf_init(&b, 64 << 20);
			messages_out_open(&out, &asked, &b);
			reply_open(r, &(struct reply_asked){ .provider = rec->provider,
					      .sink = { messages_out_take, &out },
					      .tag = "t",
					      .streamed = true,
					      .pieces = true });
			reply_head(r, 200, rec->type, NULL);
			reply_feed(r, rec->bytes, strlen(rec->bytes));
			reply_end(r);
			if (stream)
				check_events(&a, buf_text(&b), good);
			else
				CHECK_INT(oracle_accepts(buf_text(&b), b.len), good);
			reply_close(r);
			free(r);
			messages_out_close(&out);
			buf_free(&b);
			arena_free(&a);
		}
	}
}
