/* prompt.c - what a long prompt costs on its way through the broker: prompt BYTES ROUNDS.
 * A chat-completions body with that much prose in it is copied (the floor), copied into a buffer that
 * grows, read, read and spliced, read and written for Anthropic, and counted; and a stream of 1,000
 * chunks is read and written out again.  Prints microseconds for each, the median of ROUNDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "broker/openai_out.h"
#include "broker/provider.h"

static const char line[] =
	"The quick brown fox jumps over the lazy dog, and \\\"so\\\" on; again.\\n";
static const struct target target = { .model = "a-model", .base_url = "http://x/v1" };

static char *make_body(size_t size, size_t *ret_len)
{
	struct buf b;

	buf_init(&b, size + 4096);
	buf_lit(&b,
		"{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"");
	while (b.len < size)
		buf_put(&b, line, sizeof line - 1);
	buf_lit(&b, "\"}]}");
	*ret_len = b.len;
	return b.at;
}

static void read_chat(struct chat *c, struct arena *a, const char *body, size_t len)
{
	struct chat_error e;

	if (chat_read(c, a, body, len, &e)) {
		fprintf(stderr, "%s\n", e.message);
		exit(1);
	}
}

enum work { COPY, GROW, READ, SPLICE, ANTHROPIC, COUNT, STREAM, WORKS };
static const char *const names[WORKS] = { "memcpy", "copy into a fresh buffer", "read",
	"read and splice", "read and write for Anthropic", "read and count tokens",
	"1,000 chunks in and out" };

static void relay(const char *bytes, size_t len)
{
	struct openai_out_asked asked = { .id = "i", .model = SLICE("m"), .stream = true };
	struct reply *r = calloc(1, sizeof *r);
	struct openai_out o;
	struct buf b;

	buf_init(&b, 64 << 20);
	openai_out_open(&o, &asked, &b);
	reply_open(r, &(struct reply_asked){
			      .provider = &provider_openai, .sink = { openai_out_take, &o } });
	reply_head(r, 200, "text/event-stream", NULL);
	reply_feed(r, bytes, len);
	reply_end(r);
	if (o.status != 200)
		exit(1);
	reply_close(r);
	openai_out_close(&o);
	buf_free(&b);
	free(r);
}

static void run(enum work w, const char *body, size_t len, char *copy, struct slice stream)
{
	struct arena a = { 0 };
	struct chat c;
	struct buf b;

	buf_init(&b, 2 * len + 4096);
	if (w == COPY)
		memcpy(copy, body, len);
	if (w == GROW)
		buf_put(&b, body, len);
	if (w >= READ && w <= COUNT)
		read_chat(&c, &a, body, len);
	if (w == SPLICE)
		provider_openai.write(&c, &target, &b);
	if (w == ANTHROPIC)
		provider_anthropic.write(&c, &target, &b);
	if (w == COUNT && chat_tokens(&c) < 1)
		exit(1);
	if (w == STREAM)
		relay(stream.at, stream.len);
	buf_free(&b);
	arena_free(&a);
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	size_t len, size = argc > 1 ? strtoul(argv[1], NULL, 10) : 1 << 20;
	int rounds = argc > 2 ? atoi(argv[2]) : 101;
	char *body = make_body(size, &len), *copy = malloc(len);
	int64_t *took = calloc((size_t)rounds, sizeof *took);
	struct buf s;

	buf_init(&s, 1 << 20);
	for (int i = 0; i < 1000; i++)
		buf_lit(&s,
			"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n");
	buf_lit(&s,
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
	memset(copy, 1, len);
	for (int w = 0; w < WORKS; w++) {
		for (int i = 0; i < rounds; i++) {
			int64_t began = clock_mono_us();

			run((enum work)w, body, len, copy, (struct slice){ s.at, s.len });
			took[i] = clock_mono_us() - began;
		}
		qsort(took, (size_t)rounds, sizeof *took, by_size);
		printf("%-30s %6lld us\n", names[w], (long long)took[rounds / 2]);
	}
	free(took);
	free(copy);
	free(body);
	buf_free(&s);
	return 0;
}
