/* fuzz_broker_reply.c - replies of model providers as a broken or hostile one could send them.
 * The first byte picks the provider and whether it is a stream, the second where the bytes are split.
 * Each reply ends exactly once, the same however it is split; all text that comes out is valid; and
 * what is written out in OpenAI's shape is well-formed. */
#include "setup.h"

#include "broker/openai_out.h"
#include "broker/provider.h"
#include "oracle.h"

struct seen {
	struct openai_out streamed, whole;
	int starts, ends, usages, calls;
};

static void check_text(struct slice s)
{
	struct arena a = { 0 };
	struct json_reader r;
	const char *at;
	size_t len;
	struct buf b;

	if (!s.at)
		return;
	buf_init(&b, s.len + 2);
	text_put_quoted(&b, s);
	json_open(&r, &a, b.at, b.len);
	if (!json_read_escaped(&r, &at, &len) || len != s.len)
		abort();
	buf_free(&b);
	arena_free(&a);
}

static void take(void *to, const struct event *e)
{
	struct seen *s = to;

	if (s->ends)
		abort();
	s->starts += e->kind == EVENT_START;
	s->usages += e->kind == EVENT_USAGE;
	s->ends += e->kind == EVENT_FINISH || e->kind == EVENT_ERROR;
	if (e->kind == EVENT_CALL && e->index != s->calls++)
		abort();
	if ((e->kind == EVENT_ARGUMENTS || e->kind == EVENT_CALL_END) && e->index >= s->calls)
		abort();
	if (e->kind == EVENT_FINISH && (s->starts != 1 || s->usages != 1))
		abort();
	if (s->starts > 1 || (e->kind != EVENT_START && e->kind != EVENT_ERROR && !s->starts))
		abort();
	if (e->kind == EVENT_USAGE &&
		(e->usage.input < 0 || e->usage.output < 0 || e->usage.cache_read < 0 ||
			e->usage.cache_write < 0 || e->usage.reasoning > e->usage.output))
		abort();
	if (e->kind != EVENT_ITEM && e->kind != EVENT_BYTES) /* whose text is JSON, or anything */
		check_text(e->text);
	check_text(e->id);
	check_text(e->name);
	openai_out_take(&s->streamed, e);
	openai_out_take(&s->whole, e);
}

static void run(const struct provider *p, bool stream, const char *bytes, size_t len, size_t at,
	struct buf *streamed, struct buf *whole)
{
	struct openai_out_asked asked = { .id = "i", .model = SLICE("m"), .include_usage = true };
	struct reply *r = calloc(1, sizeof *r);
	struct seen s = { 0 };

	buf_init(streamed, 64 << 20);
	buf_init(whole, 64 << 20);
	openai_out_open(&s.whole, &asked, whole);
	asked.stream = true;
	openai_out_open(&s.streamed, &asked, streamed);
	reply_open(r, &(struct reply_asked){ .provider = p, .sink = { take, &s }, .tag = "t" });
	reply_head(r, 200, stream ? "text/event-stream" : "application/json", NULL);
	reply_feed(r, bytes, at);
	reply_feed(r, bytes + at, len - at);
	reply_end(r);
	if (s.ends != 1 || !oracle_accepts(whole->at, whole->len))
		abort();
	openai_out_close(&s.whole);
	openai_out_close(&s.streamed);
	reply_close(r);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct provider *const kinds[] = { &provider_openai, &provider_anthropic,
		&provider_openai_responses };
	struct buf a, b, c, d;
	struct fault f;
	size_t at;

	if (size < 2)
		return 0;
	at = size > 2 ? data[1] * (size - 2) / 255 : 0;
	run(kinds[data[0] / 2 % 3], data[0] % 2, (const char *)data + 2, size - 2, size - 2, &a,
		&b);
	run(kinds[data[0] / 2 % 3], data[0] % 2, (const char *)data + 2, size - 2, at, &c, &d);
	if (a.len != c.len || memcmp(a.at, c.at, a.len) != 0 || b.len != d.len ||
		memcmp(b.at, d.at, b.len) != 0)
		abort();
	buf_free(&a);
	buf_free(&b);
	buf_free(&c);
	buf_free(&d);
	fault_read(&f, 400 + data[0], NULL, (const char *)data + 2, size - 2, 0);
	if (!*f.sentence || !utf8_valid(f.sentence, strlen(f.sentence)))
		abort();
	return 0;
}
