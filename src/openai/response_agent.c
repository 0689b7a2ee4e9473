/* response_agent.c - a response of an agent: a session is begun or gone on with, the agent is set to work, and
 * what it wrote is the output.  Calls of the agent's own tools are its business and no part of it; calls of
 * the caller's functions and requests for approval are, and end the response. */
#include <math.h>
#include <string.h>

#include "call/operation.h"
#include "openai/conversations.h"
#include "openai/openai_tools.h"
#include "openai/responses.h"
#include "openai/run_watch.h"
#include "search/search.h"
#include "api/sessions/session_rows.h"
#include "base/clock.h"
#include "base/json.h"
#include "contract/encode.h"
#include "sessions/session.h"

enum { SESSION_PLACE };

struct place_row {
	const char *last_message_id;
	int64_t last_event_id;
};

FIELDS(place_row) = {
	FIELD(place_row, last_message_id),
	FIELD(place_row, last_event_id),
};
static SCHEMA(place_row, .internal = true);

static const struct statement sql[] = {
	[SESSION_PLACE] = { "response_session_place",
		"select last_message_id, last_event_id from sessions where tenant_id = $1 and id = $2",
		.row = &place_row_schema },
};
STATEMENT_SET(response_agent_sql, sql);

/* ---- the session ---- */

static int begin_response_session(
	struct call *c, const struct list *items, struct response_row *row)
{
	struct session_new session = { .tenant_id = row->tenant_id,
		.agent_id = row->agent_id,
		.created_by_id = c->caller.user_id,
		.origin = "api",
		.now = c->now };
	int err;

	err = response_answers_known(c, items);
	if (err)
		return err;
	err = session_open(c->db, c->arena, &session, &row->session_id, &c->problem);
	if (!err)
		err = search_refresh(
			c->db, c->arena, row->tenant_id, MentionType_session, row->session_id);
	return err ? err : session_noted(c, row->session_id, row->agent_id);
}

/* The session of the response that is gone on from; *ret_run its run, if that rests with something owed. */
static int continue_response_session(
	struct call *c, const struct list *items, struct response_row *row, const char **ret_run)
{
	struct response_row previous;
	struct RunObject run;
	const char *newest = NULL;
	int err = response_find(c, row->previous_id, PERM_SESSION_WRITE, &previous);

	if (err)
		return err;
	if (!previous.agent_id || strcmp(previous.agent_id, row->agent_id) != 0)
		return call_field(c, "previous_response_id", "conflict",
			"must be a response of the same agent");
	row->session_id = previous.session_id;
	err = response_newest(c, row->session_id, &newest);
	if (!err && strcmp(newest, previous.id) != 0)
		return call_field(c, "previous_response_id", "conflict",
			"must be the last response of its session, %s", newest);
	if (!err)
		err = response_agent_fill(c->db, c->arena, &previous);
	if (!err)
		err = run_view_read(c->db, c->arena,
			&(struct run_place){ row->tenant_id, previous.session_id, previous.run_id },
			&run);
	if (err)
		return err;
	if (!run_rests(run.status))
		return call_fail(
			c, ERR_MALFORMED, "The response %s is still being made.", previous.id);
	if (strcmp(run.status, "requires_action") != 0)
		return 0;
	if (!response_answers_calls(items))
		return call_field(c, "input", "required",
			"must answer the calls that the response %s waits for", previous.id);
	*ret_run = previous.run_id;
	return response_row_settle(c->db, &previous);
}

/* Where the agent works: where it was left off, where it waits for what is brought, or in a session that begins with
 * all that came.  *said is what it has not heard yet. */
static int find_response_session(struct call *c, const struct list *items, struct response_row *row,
	struct conversation *v, const char **ret_run, struct list *said)
{
	int err;

	if (v) {
		err = response_join(c, row, v, items, ret_run, said);
		return err || row->session_id ? err : begin_response_session(c, said, row);
	}
	if (row->previous_id) {
		err = continue_response_session(c, items, row, ret_run);
		if (!err && *ret_run)
			*said = response_without_calls(c->arena, items);
		return err;
	}
	err = response_waiting(c, row, items, ret_run, said);
	return err || *ret_run ? err : begin_response_session(c, items, row);
}

/* ---- the answer ---- */

struct response_watch {
	struct response_row row;
	struct response_out out;
	bool streams;
	/* Of the message that is being written: bytes of its text, and the calls of functions that have begun. */
	size_t told;
	struct response_begun begun;
};

static void finish_text(struct response_watch *t, const struct watched_message *m)
{
	bool complete = strcmp(m->status, "complete") == 0;

	if (strlen(m->content) > t->told) {
		response_out_text(&t->out, m->content + t->told, false);
		t->told = strlen(m->content);
	}
	if (strcmp(m->status, "streaming") == 0)
		return;
	response_out_thought_end(&t->out, NULL);
	response_out_text_end(&t->out, NULL, NULL, complete);
	t->told = 0;
	if (!complete)
		t->begun.count = 0;
}

static void response_opened(void *ctx, struct run_watch *w)
{
	struct response_watch *t = ctx;
	struct ResponseObject shown;

	if (!t->streams)
		return;
	t->out.events = run_watch_out(w);
	response_show(run_watch_scratch(w), &t->row, &shown);
	response_out_begin(&t->out, &shown);
}

static void hear_call(struct response_watch *t, const struct DeltaEvent *piece)
{
	const struct response_call call = { .call_id = piece->call_id, .name = piece->name };
	int number = response_begun_find(&t->begun, piece->call_id);

	if (number < 0) {
		number = response_begun_add(&t->begun, piece->call_id);
		if (number < 0) /* it is told when it is whole */
			return;
		response_out_call_begin(&t->out, number, &call);
	}
	if (piece->arguments && *piece->arguments)
		response_out_arguments(&t->out, number, piece->arguments);
}

static void response_delta(void *ctx, struct run_watch *w, const struct DeltaEvent *piece)
{
	struct response_watch *t = ctx;

	if (piece->thought)
		response_out_thought(&t->out, piece->thought);
	if (piece->sealed)
		response_out_thought_end(&t->out, response_seal(run_watch_scratch(w), piece->maker,
							  piece->sealed, piece->redacted == 1));
	response_out_text(&t->out, piece->text, false);
	t->told += strlen(piece->text);
	if (piece->call_id && piece->name)
		hear_call(t, piece);
}

static void response_message(void *ctx, struct run_watch *w, const struct watched_message *m)
{
	struct response_watch *t = ctx;

	if (strcmp(m->role, "assistant") != 0)
		return;
	finish_text(t, m);
	if (strcmp(m->status, "complete") == 0)
		response_run_calls(&t->out, run_watch_scratch(w), m->tool_calls, &t->begun);
}

static void response_rested(
	void *ctx, struct run_watch *w, const struct RunObject *run, const struct list *words)
{
	struct response_watch *t = ctx;
	struct arena *a = run_watch_scratch(w);
	struct call *c = run_watch_call(w);
	struct ResponseObject shown;
	struct list waiting = run_watch_waiting(w);

	response_out_thought_end(&t->out, NULL);
	response_out_text_end(&t->out, NULL, NULL, false);
	response_run_approvals(&t->out, &waiting);
	response_run_conclude(a, run, words, &t->row);
	t->row.output = response_out_items(&t->out, a);
	response_show(a, &t->row, &shown);
	if (t->streams) {
		response_out_end(&t->out, &shown);
		return;
	}
	c->x->reply.status = 200;
	c->x->reply.type = "application/json";
	encode_object(run_watch_out(w), &ResponseObject_schema, &shown);
	buf_putc(run_watch_out(w), '\n');
}

static const struct run_listener listener = {
	.opened = response_opened,
	.delta = response_delta,
	.message = response_message,
	.rested = response_rested,
};

static void close_out(void *out)
{
	response_out_close(out);
}

static void answer_response(
	struct call *c, const struct response_row *row, int64_t after, bool streams)
{
	struct response_watch *t = arena_new(c->arena, struct response_watch);

	t->row = *row;
	t->streams = streams;
	response_out_open(&t->out, NULL, t->row.id);
	arena_defer(c->arena, close_out, &t->out);
	run_watch(c,
		&(struct run_watch_asked){ .at = { row->tenant_id, row->session_id, row->run_id },
			.after = after,
			.after_id = row->after_id,
			.streams = streams,
			.on = &listener,
			.ctx = t });
}

/* ---- the beginning ---- */

static int begin_response_run(struct call *c, const struct ResponseCreate *in,
	struct response_row *row, const struct list *items, struct conversation *v,
	int64_t *ret_after)
{
	struct run_options options = { .additional_instructions = in->instructions,
		.tool_choice = in->tool_choice.text,
		.max_tokens = in->max_output_tokens == NIL ? 0 : in->max_output_tokens,
		.temperature = in->temperature,
		.top_p = in->top_p,
		.one_call = in->parallel_tool_calls == 0,
		.effort = openai_text(c->arena, in->reasoning.text, "effort"),
		.forward = response_forwarded(c, in),
		.metadata = row->metadata };
	const struct session_actor as = session_actor_of(c);
	const char *run_id = NULL, *chosen;
	struct list said = *items;
	struct place_row place;
	int64_t brings;
	int err = openai_tools(c, "tools", in->tools.text, TOOL_FLAT, &options.tools);

	if (!err)
		err = openai_choice(c, in->tool_choice.text, TOOL_FLAT, &chosen);

	if (in->background != 1) /* somebody waits on the line */
		options.refuses = RUN_REFUSES_HOURS | RUN_REFUSES_BUDGET;
	if (!err)
		err = find_response_session(c, items, row, v, &run_id, &said);
	brings = response_words_brought(&said);
	row->run_id = run_id;
	if (!err && (!run_id || brings))
		err = session_room(c, row->agent_id, NULL, brings);
	if (!err)
		err = response_hear(c, row, &said, &options.additional_instructions);
	if (!err)
		err = db_one(c->db, c->arena, &sql[SESSION_PLACE], &place,
			ARGS(T(row->tenant_id), T(row->session_id)));
	if (err)
		return err;
	*ret_after = place.last_event_id;
	row->after_id = place.last_message_id;
	if (!err && !run_id)
		err = session_start(c->db, c->arena, row->tenant_id, row->session_id, &as, &options,
			false, c->now, &row->run_id, &c->problem);
	return err || !v ? err : conversation_answer(c->db, c->arena, v, row);
}

/* For the audit log: where the agent works, and how much of what it was told; never the words. */
static void note_response(
	struct call *c, const struct response_row *row, const struct list *items, bool background)
{
	const struct response_item *item = items->at;
	size_t user = 0, assistant = 0, outputs = 0;

	for (size_t i = 0; i < items->count; i++) {
		bool said = item[i].kind == ITEM_MESSAGE && (*item[i].text || item[i].content);

		user += said && strcmp(item[i].role, "user") == 0;
		assistant += said && strcmp(item[i].role, "assistant") == 0;
		outputs += item[i].kind == ITEM_OUTPUT;
	}
	c->audit.resource_id = row->id;
	c->audit.agent_id = row->agent_id;
	c->audit.meta = arena_printf(c->arena,
		"{\"session_id\":\"%s\",\"run_id\":\"%s\",\"background\":%s,"
		"\"messages\":{\"user\":%zu,\"assistant\":%zu},\"outputs\":%zu}",
		row->session_id, row->run_id, background ? "true" : "false", user, assistant,
		outputs);
}

int response_agent_start(struct call *c, const struct ResponseCreate *in,
	const struct gateway_named *named, struct ResponseObject *out)
{
	const char *format = openai_member(c->arena, in->text.text, "format"), *left_out, *input;
	const char *conversation = response_conversation(c->arena, in);
	struct conversation v = { 0 };
	struct response_row row;
	struct list items;
	int64_t after = 0;
	int err = response_row_new(c, in, &row);

	row.agent_id = named->agent_id;
	if (!err && conversation)
		err = conversation_find(c, conversation, PERM_SESSION_WRITE, &v);
	if (!err)
		err = response_refer(c, conversation ? &v : NULL, in->input.text, &input);
	if (!err)
		err = response_items_read(c, "input", input, row.id, &items, &row.input);
	if (!err && !items.count)
		err = call_field(c, "input", "required", "must say something");
	if (!err)
		err = openai_format(c, "text.format", format);
	if (!err)
		err = begin_response_run(c, in, &row, &items, conversation ? &v : NULL, &after);
	if (!err && in->store != 0)
		err = response_row_add(c->db, &row);
	if (err)
		return err;
	note_response(c, &row, &items, in->background == 1);
	left_out = openai_tools_passed_over(c->arena, in->tools.text);
	if (left_out)
		buf_printf(&c->x->reply.extra, "Lodge-Dropped: %s\r\n", left_out);
	if (in->background != 1 || in->stream == 1)
		answer_response(c, &row, after, in->stream == 1);
	/* What is answered at once, and to a repeat with the same Idempotency-Key. */
	row.status = "queued";
	response_show(c->arena, &row, out);
	return 0;
}
