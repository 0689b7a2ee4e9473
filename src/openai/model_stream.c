/* model_stream.c - see model_stream.h. */
#include "openai/model_stream.h"

#include "api/service.h"
#include "broker/openai_out.h"

void model_stream_hold(void *state)
{
	struct model_stream *m = state;

	completion_hold(m->run);
}

void model_stream_resume(void *state)
{
	struct model_stream *m = state;

	completion_resume(m->run);
}

void model_stream_cancel(void *state)
{
	struct model_stream *m = state;

	completion_cancel(m->run);
}

static bool model_stream_on_tick(void *state)
{
	struct model_stream *m = state;

	return call_stream_tick(m->stream);
}

static void on_over(void *state, const struct completion_end *end)
{
	struct model_stream *m = state;

	m->end = end;
	call_stream_over(m->stream);
}

int model_stream_start(struct model_stream *m, struct completion_asked *asked)
{
	asked->tick = model_stream_on_tick;
	asked->over = on_over;
	asked->data = asked->sink.data = m;
	asked->request_id = m->c->x->request_id;
	return completion_start(service_of(m->c->app)->broker, asked, &m->run);
}

void model_fault_reply(struct call *c, const struct fault *f)
{
	const struct fault_row *row = &fault_rows[f->class];
	struct http_reply *reply = &c->x->reply;

	reply->status = row->status;
	reply->type = "application/json";
	if (row->status == 429)
		buf_printf(&reply->extra, "Retry-After: %d\r\n",
			f->retry_after_s ? f->retry_after_s : 1);
	openai_write_error(row->status, f->sentence, NULL,
		f->class == FAULT_CONTEXT_LENGTH ? "context_length_exceeded" : row->word,
		&reply->body);
	buf_putc(&reply->body, '\n');
}

void model_say_dropped(struct call *c, const struct chat *chat, const char *maker)
{
	const struct provider *p = maker ? provider_find(maker) : NULL;
	const char *tools = p ? chat_left_out(chat, c->arena, maker) : NULL;
	const char *lost = p ? provider_loses(c->arena, p, chat) : NULL;
	const char *const parts[] = { chat->dropped, lost, tools };
	struct buf *extra = &c->x->reply.extra;
	bool any = false;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!parts[i])
			continue;
		buf_printf(extra, "%s%s", any ? ", " : "Lodge-Dropped: ", parts[i]);
		any = true;
	}
	if (any)
		buf_lit(extra, "\r\n");
}
