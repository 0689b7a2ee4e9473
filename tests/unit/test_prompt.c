/* test_prompt.c - the conversation as models read it, whatever order things were said in. */
#include "sessions/turn.h"
#include "t.h"

static const char *told(const struct chat *chat, struct arena *a)
{
	static const char *const roles[] = { "system", "user", "assistant", "tool" };
	const char *out = "";

	for (const struct chat_message *m = chat->messages; m; m = m->next) {
		out = arena_printf(a, "%s%s%s:", out, *out ? " | " : "", roles[m->role]);
		if (m->call_id.len)
			out = arena_printf(a, "%s(%.*s)%s", out, (int)m->call_id.len, m->call_id.at,
				m->failed ? "!" : "");
		for (const struct chat_part *p = m->parts; p; p = p->next)
			out = arena_printf(a, "%s %.*s", out, (int)p->text.len, p->text.at);
		for (const struct chat_call *c = m->calls; c; c = c->next)
			out = arena_printf(a, "%s [%.*s %.*s %.*s]", out, (int)c->id.len, c->id.at,
				(int)c->name.len, c->name.at, (int)c->arguments.len,
				c->arguments.at);
		for (const struct chat_thought *t = m->thoughts; t; t = t->next)
			out = arena_printf(a, "%s <%s %.*s %.*s%s>", out, t->maker,
				(int)t->text.len, t->text.at, (int)t->signature.len,
				t->signature.at, t->redacted ? " redacted" : "");
	}
	return out;
}

static void reads_failed(
	struct message_row *rows, size_t count, const struct list *failures, const char *wanted)
{
	const struct list failed = failures ? *failures : (struct list){ 0 };
	struct arena a = { 0 };
	struct chat chat;
	struct list list = { rows, count };

	for (size_t i = 0; i < count; i++) {
		rows[i].tool_calls = rows[i].tool_calls ? rows[i].tool_calls : "[]";
		rows[i].thoughts = rows[i].thoughts ? rows[i].thoughts : "";
	}
	chat_open(&chat, &a);
	prompt_messages(&list, &failed, NULL, &chat);
	CHECK_STR(told(&chat, &a), wanted);
	arena_free(&a);
}

static void reads(struct message_row *rows, size_t count, const char *wanted)
{
	reads_failed(rows, count, NULL, wanted);
}

/* By message and id: a model may call its calls the same again. */
TEST(prompt_results_of_calls_that_failed_are_marked)
{
	struct failed_call failed[] = { { "m0", "a" }, { "m2", "b" }, { "m7", "a" },
		{ "m7", "c" } };
	struct message_row rows[] = {
		{ .id = "m1",
			.role = "assistant",
			.content = "",
			.tool_calls = "[{\"id\":\"a\",\"name\":\"n\",\"arguments\":{}}]" },
		{ .id = "m1b", .role = "tool", .tool_call_id = "a", .content = "A" },
		{ .id = "m2",
			.role = "assistant",
			.content = "",
			.tool_calls = "[{\"id\":\"a\",\"name\":\"n\",\"arguments\":{}},"
				      "{\"id\":\"b\",\"name\":\"n\",\"arguments\":{}}]" },
		{ .id = "m3", .role = "tool", .tool_call_id = "a", .content = "A" },
		{ .id = "m4", .role = "tool", .tool_call_id = "b", .content = "B" },
		{ .id = "m7",
			.role = "assistant",
			.content = "",
			.tool_calls = "[{\"id\":\"a\",\"name\":\"n\",\"arguments\":{}},"
				      "{\"id\":\"b\",\"name\":\"n\",\"arguments\":{}}]" },
		{ .id = "m8", .role = "tool", .tool_call_id = "a", .content = "A" },
	};

	reads_failed(rows, sizeof rows / sizeof *rows, &(struct list){ failed, 4 },
		"assistant: [a n {}] | tool:(a) A | assistant: [a n {}] [b n {}] | tool:(a) A | "
		"tool:(b)! B | assistant: [a n {}] [b n {}] | tool:(a)! A | "
		"tool:(b)! There is no result.");
}

TEST(prompt_results_stand_behind_their_calls_and_other_words_behind_those)
{
	struct message_row rows[] = {
		{ .role = "user", .content = "both" },
		{ .role = "assistant",
			.content = "",
			.tool_calls =
				"[{\"id\":\"a\",\"name\":\"web.one\",\"arguments\":{\"x\":1}},"
				"{\"id\":\"b\",\"name\":\"two\",\"arguments\":\"broken\"}]" },
		{ .role = "tool", .tool_call_id = "b", .content = "B" },
		{ .role = "user", .content = "hurry" },
		{ .role = "tool", .tool_call_id = "a", .content = "A" },
		{ .role = "assistant", .content = "done" },
		{ .role = "user", .content = "thanks" },
	};

	reads(rows, 7,
		"user: both | assistant: [a web_one {\\\"x\\\":1}] [b two {}] | tool:(a) A | tool:(b) B | "
		"user: hurry | assistant: done | user: thanks");
}

TEST(prompt_thoughts_go_back_with_their_seals)
{
	struct message_row rows[] = {
		{ .role = "assistant",
			.content = "so",
			.thoughts =
				"[{\"maker\":\"anthropic\",\"text\":\"hm\\n\",\"seal\":\"s1\",\"redacted\":false},"
				"{\"maker\":\"anthropic\",\"text\":\"\",\"seal\":\"s2\",\"id\":\"r\",\"redacted\":true}]" },
	};

	reads(rows, 1, "assistant: so <anthropic hm\\n s1> <anthropic  s2 redacted>");
}

/* A result whose call was summed up, and a call whose result is missing, break nothing. */
TEST(prompt_orphans_do_no_harm)
{
	struct message_row rows[] = {
		{ .role = "tool", .tool_call_id = "z", .content = "Z" },
		{ .role = "assistant",
			.content = "x",
			.tool_calls = "[{\"id\":\"a\",\"name\":\"one\",\"arguments\":{}}]" },
	};

	reads(rows, 2, "assistant: x [a one {}] | tool:(a)! There is no result.");
}

TEST(prompt_parts_stand_where_they_stood)
{
	struct MessagePart parts[] = {
		{ .type = MessagePartType_image,
			.place = 5,
			.file_id = "f1",
			.name = "a.png",
			.content_type = "image/png",
			.size_bytes = 3 },
		{ .type = MessagePartType_file,
			.place = 5,
			.url = "https://x/y",
			.size_bytes = NIL },
		{ .type = MessagePartType_audio,
			.place = 9000,
			.file_id = "f2",
			.name = "b.wav",
			.content_type = "audio/wav",
			.size_bytes = 4 },
	};
	struct media media[] = { { "f1", SLICE("QUJD") }, { .file_id = "f2" } };
	struct message_row rows[] = { { .id = "m1",
		.role = "user",
		.content = "first\nsecond",
		.tool_calls = "[]",
		.thoughts = "",
		.parts = { parts, 3 } } };
	struct list list = { rows, 1 }, failed = { 0 }, shown = { media, 2 };
	struct arena a = { 0 };
	struct chat chat;

	reads(rows, 1,
		"user: first [image \\\"a.png\\\", image/png, 3 bytes: not shown] [file at https://x/y: not "
		"shown] second [audio \\\"b.wav\\\", audio/wav, 4 bytes: not shown]");
	chat_open(&chat, &a);
	prompt_messages(&list, &failed, &shown, &chat);
	CHECK_STR(told(&chat, &a),
		"user: first QUJD https://x/y second [audio \\\"b.wav\\\", audio/wav, 4 "
		"bytes: not shown]");
	CHECK(chat_tokens(&chat) > 2200); /* an image, and a file of which nothing is known */
	arena_free(&a);
}
