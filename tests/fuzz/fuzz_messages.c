/* fuzz_messages.c - bodies of Anthropic's messages as a stranger could write them.  What is refused is refused with a
 * sentence; what is taken can be written for every provider as well-formed JSON, for Anthropic's own as a body that
 * reads the same, also with an agent's words before it, and the demonstration model answers it. */
#include "setup.h"

#include "anthropic/messages_out.h"
#include "anthropic/messages_read.h"
#include "broker/provider.h"

static bool ours(const char *text, size_t len)
{
	struct arena a = { 0 };
	struct json_reader r;
	bool good;

	json_open(&r, &a, text, len);
	good = json_skip(&r, NULL, NULL) && json_end(&r);
	arena_free(&a);
	return good;
}

static void answer(struct chat *c, const struct target *t)
{
	const struct messages_out_asked asked = { .id = "i", .request_id = "r", .model = c->model };
	struct reply *r = calloc(1, sizeof *r);
	void *state = provider_demo.open(c->arena, c, t);
	struct messages_out out;
	struct buf b;

	buf_init(&b, 64 << 20);
	messages_out_open(&out, &asked, &b);
	reply_open(r, &(struct reply_asked){
			      .provider = &provider_demo, .sink = { messages_out_take, &out } });
	while (provider_demo.speak(state, r))
		;
	if (!ours(b.at, b.len))
		abort();
	messages_out_close(&out);
	reply_close(r);
	buf_free(&b);
	free(r);
}

/* What goes out to who speaks this protocol is read as what came in. */
static void reread(const struct chat *c, const struct buf *b)
{
	struct messages_asked asked = { .counts = false };
	struct messages_read ret;
	struct arena a = { 0 };
	struct chat_error e;
	struct chat again;

	if (messages_read(&again, &a, (struct slice){ b->at, b->len }, &asked, &ret, &e) < 0)
		abort();
	if (again.max_tokens > 50 || again.dropped || again.stream != c->stream ||
		(again.tools == NULL) != (c->tools == NULL))
		abort();
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct target t = {
		.model = "claude-x\"\n", .max_tokens = 50, .base_url = "http://x"
	};
	struct messages_asked asked = { .counts = size % 2 };
	struct messages_read ret;
	struct chat_error e;
	struct arena a = { 0 };
	struct chat c;
	struct buf b;

	if (messages_read(&c, &a, (struct slice){ (const char *)data, size }, &asked, &ret, &e) <
		0) {
		if (!*e.message || !utf8_valid(e.message, strlen(e.message)))
			abort();
		arena_free(&a);
		return 0;
	}
	if (chat_tokens(&c) <= 0)
		abort();
	answer(&c, &t);
	for (int led = 0; led < 2; led++) {
		if (led)
			chat_put_prompt(&c, "You are \"A\".");
		for (size_t i = 0; providers[i]; i++) {
			if (!providers[i]->write)
				continue;
			buf_init(&b, 64 << 20);
			providers[i]->write(&c, &t, &b);
			if (!ours(b.at, b.len) ||
				chat_tokens_written(&c, (struct slice){ b.at, b.len }) <= 0)
				abort();
			if (providers[i] == &provider_anthropic)
				reread(&c, &b);
			buf_free(&b);
		}
	}
	arena_free(&a);
	return 0;
}
