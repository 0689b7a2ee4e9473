/* response_join.c - an agent's answer in a conversation: its session goes on, and hears first what was said there without
 * it. */
#include <string.h>

#include "openai/conversations.h"
#include "openai/responses.h"

static struct list joined(struct arena *a, const struct list *one, const struct list *other)
{
	struct response_item *out =
		arena_array(a, struct response_item, one->count + other->count + 1);

	if (one->count)
		memcpy(out, one->at, one->count * sizeof *out);
	if (other->count)
		memcpy(out + one->count, other->at, other->count * sizeof *out);
	return (struct list){ out, one->count + other->count };
}

/* What was said in the conversation since the session heard of it. */
static int read_news(struct call *c, const struct conversation *v, struct list *ret)
{
	int64_t place = v->heard;
	struct list more;
	const char *items;
	int err;

	*ret = (struct list){ 0 };
	while (!(err = conversation_history(c->db, c->arena, v, false, &place, &items)) && items) {
		err = response_items_read(c, "conversation.items", items, "", &more, NULL);
		if (err)
			return err;
		*ret = joined(c->arena, ret, &more);
	}
	return err;
}

int response_join(struct call *c, struct response_row *row, struct conversation *v,
	const struct list *items, const char **ret_run, struct list *said)
{
	enum tail_state state;
	struct list news;
	int err;

	if (v->agent_id && strcmp(v->agent_id, row->agent_id) != 0)
		return call_field(c, "conversation", "conflict",
			"is one with another agent; make another for this one");
	err = conversation_settle(c->db, c->arena, v, true, &state);
	if (!err && state == TAIL_BUSY)
		err = conversation_unlocked(c, v, state);
	if (!err)
		err = conversation_room(c, v, row->input);
	if (!err)
		err = read_news(c, v, &news);
	if (err)
		return err;
	*said = joined(c->arena, &news, items);
	row->session_id = v->session_id;
	if (state != TAIL_WAITS)
		return 0;
	if (!response_answers_calls(said))
		return call_field(c, "input", "required",
			"must answer the calls that the response %s waits for", v->response_id);
	*said = response_without_calls(c->arena, said);
	*ret_run = v->run_id;
	return response_settle_last(c, v->session_id, v->run_id);
}
