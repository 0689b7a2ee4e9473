/* fuzz_broker_chat.c - chat-completions bodies as a stranger could write them.  What is refused is
 * refused with a sentence; what is taken can be written for every provider as well-formed JSON, goes
 * out spliced as a body that reads the same, and the demonstration model answers it. */
#include "setup.h"

#include "broker/provider.h"
#include "oracle.h"

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

static void ended(void *count, const struct event *e)
{
	*(int *)count += e->kind == EVENT_FINISH || e->kind == EVENT_ERROR;
}

static void answer(struct chat *c, const struct target *t)
{
	struct reply *r = calloc(1, sizeof *r);
	void *state = provider_demo.open(c->arena, c, t);
	int ends = 0;

	reply_open(
		r, &(struct reply_asked){ .provider = &provider_demo, .sink = { ended, &ends } });
	while (provider_demo.speak(state, r))
		;
	if (ends != 1)
		abort();
	reply_close(r);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct target t = {
		.model = "claude-x\"\n", .max_tokens = 50, .base_url = "http://x"
	};
	struct chat_error e;
	struct arena a = { 0 };
	struct chat c, again;
	struct buf b;

	if (chat_read(&c, &a, (const char *)data, size, &e) < 0) {
		if (!*e.message)
			abort();
		arena_free(&a);
		return 0;
	}
	if (chat_tokens(&c) <= 0)
		abort();
	answer(&c, &t);
	for (size_t i = 0; providers[i]; i++) {
		if (!providers[i]->write)
			continue;
		buf_init(&b, 64 << 20);
		providers[i]->write(&c, &t, &b);
		if (!ours(b.at, b.len) ||
			chat_tokens_written(&c, (struct slice){ b.at, b.len }) <= 0)
			abort();
		if (providers[i] == &provider_openai &&
			(chat_read(&again, &a, b.at, b.len, &e) < 0 ||
				chat_tokens(&again) != chat_tokens(&c) || again.max_tokens > 50 ||
				again.dropped || (c.stream && !again.include_usage)))
			abort();
		buf_free(&b);
	}
	/* And without the body it came from. */
	c.body = (struct slice){ 0 };
	buf_init(&b, 64 << 20);
	provider_openai.write(&c, &t, &b);
	if (!ours(b.at, b.len))
		abort();
	buf_free(&b);
	arena_free(&a);
	return 0;
}
