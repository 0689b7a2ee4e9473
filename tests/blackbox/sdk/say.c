/* say.c - the broker's formats on standard output, for clients that are not ours:
 *
 *   broker-say chat            a chat-completions body on standard input; the demonstration model's
 *                              reply in OpenAI's shape, streamed or whole as the body asks
 *   broker-say cut             the same, but the stream breaks in the middle
 *   broker-say recordings      for every recorded reply of the unit tests one line of JSON: name, kind,
 *                              stream, bytes, and what we make of it, streamed and whole */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker_fixture.h"
#include "broker/openai_out.h"

enum { OUT_MAX = 64 << 20, IN_MAX = 1 << 20, CUT_AFTER = 5 };

void test_fail(const char *file, int line, const char *fmt, ...)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, fmt);
	exit(1);
}

static const struct openai_out_asked asked_of = {
	.id = "chatcmpl-1", .model = SLICE("demo"), .created_s = 1731600000, .include_usage = true
};

static int chat(bool cut)
{
	const struct target target = { .model = "demo" };
	struct openai_out_asked asked = asked_of;
	static char body[IN_MAX];
	size_t len = fread(body, 1, sizeof body, stdin);
	struct reply *r = calloc(1, sizeof *r);
	struct arena a = { 0 };
	struct openai_out o;
	struct chat_error e;
	struct chat c;
	struct buf b;
	void *state;

	buf_init(&b, OUT_MAX);
	if (chat_read(&c, &a, body, len, &e) < 0) {
		openai_write_error(400, e.message, e.param, NULL, &b);
	} else {
		asked.stream = c.stream;
		asked.include_usage = c.include_usage;
		openai_out_open(&o, &asked, &b);
		reply_open(r, &(struct reply_asked){ .provider = &provider_demo,
				      .sink = { openai_out_take, &o },
				      .tag = "t1",
				      .prompt_tokens = chat_tokens(&c) });
		state = provider_demo.open(&a, &c, &target);
		for (int i = 0; provider_demo.speak(state, r); i++)
			if (cut && i == CUT_AFTER)
				reply_fail(r, FAULT_CUT, NULL);
		reply_close(r);
		openai_out_close(&o);
	}
	fwrite(b.at, 1, b.len, stdout);
	free(r);
	buf_free(&b);
	arena_free(&a);
	return 0;
}

/* What we make of the recording, as a JSON string. */
static void relay(const struct recording *rec, bool stream, struct buf *line)
{
	struct openai_out_asked asked = asked_of;
	struct reply *r = calloc(1, sizeof *r);
	struct openai_out o;
	struct buf b;

	asked.stream = stream;
	buf_init(&b, OUT_MAX);
	openai_out_open(&o, &asked, &b);
	reply_open(r, &(struct reply_asked){ .provider = rec->provider,
			      .sink = { openai_out_take, &o },
			      .tag = "t1",
			      .prompt_tokens = BROKER_FIXTURE_PROMPT });
	reply_head(r, 200, rec->type, NULL);
	reply_feed(r, rec->bytes, strlen(rec->bytes));
	reply_end(r);
	json_write_string(line, b.at, b.len);
	reply_close(r);
	openai_out_close(&o);
	free(r);
	buf_free(&b);
}

static int list(void)
{
	struct buf b;

	buf_init(&b, OUT_MAX);
	for (size_t i = 0; i < recording_count; i++) {
		const struct recording *rec = &recordings[i];

		buf_lit(&b, "{\"name\":");
		json_write_string(&b, rec->name, strlen(rec->name));
		buf_printf(&b, ",\"kind\":\"%s\",\"stream\":%s,\"good\":%s,\"bytes\":",
			rec->provider->name, rec->type[0] == 't' ? "true" : "false",
			strstr(rec->events, "finish ") ? "true" : "false");
		json_write_string(&b, rec->bytes, strlen(rec->bytes));
		buf_lit(&b, ",\"streamed\":");
		relay(rec, true, &b);
		buf_lit(&b, ",\"whole\":");
		relay(rec, false, &b);
		buf_lit(&b, "}\n");
	}
	fwrite(b.at, 1, b.len, stdout);
	buf_free(&b);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "recordings") == 0)
		return list();
	if (argc == 2 && (strcmp(argv[1], "chat") == 0 || strcmp(argv[1], "cut") == 0))
		return chat(argv[1][1] == 'u');
	fprintf(stderr, "broker-say chat|cut|recordings\n");
	return 2;
}
