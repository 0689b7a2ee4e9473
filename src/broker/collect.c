/* collect.c - the sink of collect.h. */
#include "broker/collect.h"

#include <string.h>

void collect_open(struct collected *c)
{
	*c = (struct collected){ 0 };
	buf_init(&c->text, COLLECT_MAX);
	buf_init(&c->refusal, COLLECT_MAX);
	c->last_call = &c->calls;
}

void collect_close(struct collected *c)
{
	for (struct collected_call *call = c->calls; call; call = call->next)
		buf_free(&call->arguments);
	for (struct collected_thought *t = c->thoughts; t; t = t->next)
		buf_free(&t->text);
	buf_free(&c->text);
	buf_free(&c->refusal);
	arena_free(&c->arena);
}

static struct slice collect_keep(struct collected *c, struct slice s)
{
	if (!s.at)
		return s;
	return (struct slice){ arena_strndup(&c->arena, s.at, s.len), s.len };
}

/* The thought under way: a sealed one is over. */
static struct collected_thought *collect_thought(struct collected *c)
{
	struct collected_thought *t = c->last_thought;

	if (t && !t->sealed)
		return t;
	t = arena_new(&c->arena, struct collected_thought);
	buf_init(&t->text, COLLECT_MAX);
	if (c->last_thought)
		c->last_thought->next = t;
	else
		c->thoughts = t;
	c->last_thought = t;
	return t;
}

static void collect_signature(struct collected *c, const struct event *e)
{
	struct collected_thought *t = collect_thought(c);

	t->signature = collect_keep(c, e->text);
	t->id = collect_keep(c, e->id);
	t->redacted = e->redacted;
	t->sealed = true;
}

static void call_begin(struct collected *c, const struct event *e)
{
	struct collected_call *call = arena_new(&c->arena, struct collected_call);

	call->id = collect_keep(c, e->id);
	call->name = collect_keep(c, e->name);
	call->extra = collect_keep(c, e->extra);
	buf_init(&call->arguments, COLLECT_MAX);
	*c->last_call = call;
	c->last_call = &call->next;
}

static void collect_put(struct collected *c, struct buf *b, struct slice text)
{
	text_put(b, text);
	c->overflowed |= b->overflow;
}

static void collect_arguments(struct collected *c, const struct event *e)
{
	struct collected_call *call = c->calls;

	for (int i = 0; call && i < e->index; i++)
		call = call->next;
	if (call)
		collect_put(c, &call->arguments, e->text);
}

void collect_take(void *collected, const struct event *e)
{
	struct collected *c = collected;

	switch (e->kind) {
	case EVENT_START:
		c->id = collect_keep(c, e->id);
		c->model = collect_keep(c, e->name);
		break;
	case EVENT_TEXT:
		collect_put(c, e->refusal && c->apart ? &c->refusal : &c->text, e->text);
		c->logprobs = collect_keep(c, e->logprobs);
		break;
	case EVENT_THOUGHT:
		collect_put(c, &collect_thought(c)->text, e->text);
		break;
	case EVENT_SIGNATURE:
		collect_signature(c, e);
		break;
	case EVENT_CALL:
		call_begin(c, e);
		break;
	case EVENT_ARGUMENTS:
		collect_arguments(c, e);
		break;
	case EVENT_CALL_END:
	case EVENT_ITEM:
	case EVENT_PIECE:
	case EVENT_BYTES:
		break;
	case EVENT_USAGE:
		c->usage = e->usage;
		c->used = true;
		break;
	case EVENT_FINISH:
		c->finish = e->finish;
		c->finished = !c->overflowed;
		if (c->overflowed) {
			c->failed = true;
			fault_set(&c->fault, FAULT_MALFORMED, "The model's reply is too large.");
		}
		break;
	case EVENT_ERROR:
		c->failed = true;
		c->fault = *e->fault;
		break;
	}
}
