/* broker_fixture.c - see broker_fixture.h. */
#include "broker_fixture.h"

#include <stdlib.h>

void transcript_open(struct transcript *t)
{
	*t = (struct transcript){ 0 };
	buf_init(&t->text, 64 << 20);
}

void transcript_close(struct transcript *t)
{
	buf_free(&t->text);
}

const char *transcript_text(struct transcript *t)
{
	buf_putc(&t->text, '\0');
	t->text.len--;
	return t->text.at;
}

static void line(struct transcript *t, const char *word, const struct event *e, bool index)
{
	buf_puts(&t->text, word);
	if (index)
		buf_printf(&t->text, " %d", e->index);
	if (e->id.at) {
		buf_putc(&t->text, ' ');
		text_put(&t->text, e->id);
	}
	if (e->name.at) {
		buf_putc(&t->text, ' ');
		text_put(&t->text, e->name);
	}
	if (e->text.at) {
		buf_putc(&t->text, ' ');
		text_put(&t->text, e->text);
	}
	if (e->logprobs.at) {
		buf_lit(&t->text, " logprobs ");
		text_put(&t->text, e->logprobs);
	}
	buf_puts(&t->text, e->redacted ? " redacted\n" : "\n");
}

void transcript_take(void *transcript, const struct event *e)
{
	static const char *const words[] = { "start", "text", "thought", "seal", "call", "args",
		"end" };
	struct transcript *t = transcript;
	const struct usage *u = &e->usage;

	if (t->ends)
		test_fail(__FILE__, __LINE__, "an event after the end");
	switch (e->kind) {
	case EVENT_USAGE:
		buf_printf(&t->text, "usage %lld %lld %lld %lld %lld%s\n", (long long)u->input,
			(long long)u->cache_read, (long long)u->cache_write, (long long)u->output,
			(long long)u->reasoning, u->estimated ? " estimated" : "");
		break;
	case EVENT_BYTES:
	case EVENT_ITEM: /* has a test of its own, through responses */
		break;
	case EVENT_FINISH:
		t->ends++;
		buf_printf(&t->text, "finish %s\n", finish_names[e->finish]);
		break;
	case EVENT_ERROR:
		t->ends++;
		t->failed = true;
		t->fault = *e->fault;
		buf_printf(&t->text, "error %s\n", fault_rows[e->fault->class].word);
		break;
	default:
		line(t, words[e->kind], e,
			e->kind == EVENT_CALL || e->kind == EVENT_ARGUMENTS ||
				e->kind == EVENT_CALL_END);
	}
}

void broker_fixture_read(struct transcript *t, const struct provider *p, const char *type,
	const char *bytes, size_t len, size_t at)
{
	struct reply_asked asked = { .provider = p,
		.sink = { transcript_take, t },
		.tag = "t1",
		.prompt_tokens = BROKER_FIXTURE_PROMPT,
		.streamed = true };
	struct reply *r = calloc(1, sizeof *r);

	transcript_open(t);
	reply_open(r, &asked);
	reply_head(r, 200, type, NULL);
	reply_feed(r, bytes, at);
	reply_feed(r, bytes + at, len - at);
	reply_end(r);
	CHECK_INT(t->ends, 1);
	reply_close(r);
	free(r);
}

bool broker_fixture_agrees(const struct recording *rec)
{
	size_t len = strlen(rec->bytes);
	struct transcript t;
	bool same;

	broker_fixture_read(&t, rec->provider, rec->type, rec->bytes, len, len);
	CHECK_STR(transcript_text(&t), rec->events);
	same = strcmp(transcript_text(&t), rec->events) == 0;
	transcript_close(&t);
	return same;
}
