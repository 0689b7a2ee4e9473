/* response_agent.c - a response of an agent: a session is begun or gone on with, the agent is set to work, and
 * what it wrote is the output.  Calls of the agent's own tools are its business and no part of it; calls of
 * the caller's functions and requests for approval are, and end the response. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "api/openai_tools.h"
#include "api/responses.h"
#include "api/run_watch.h"
#include "api/search.h"
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

/* ---- what the run has come to ---- */

static bool offers(struct arena *a, const char *asked, const char *name)
{
	const char *tools = openai_member(a, asked, "tools"), *item;
	struct json_reader r;
	size_t len;

	if (!tools || *tools != '[')
		return false;
	json_open(&r, a, tools, strlen(tools));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *known = openai_text(a, arena_strndup(a, item, len), "name");

		if (known && strcmp(known, name) == 0)
			return true;
	}
	return false;
}

/* The caller's functions among the calls of a message. */
static void put_calls(struct response_out *o, struct arena *a, const char *asked, const char *calls)
{
	struct json_reader r;
	const char *item, *list = run_view_calls(a, calls, NULL, 0, false);
	size_t len;

	json_open(&r, a, list, strlen(list));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *call = arena_strndup(a, item, len);
		const char *function = openai_member(a, call, "function");
		const char *id = openai_text(a, call, "id");
		const char *name = openai_text(a, function, "name");

		if (id && name && offers(a, asked, name))
			response_out_call(o, id, name, openai_text(a, function, "arguments"));
	}
}

static void put_approvals(struct response_out *o, const struct list *waiting)
{
	const struct waiting_call *w = waiting->at;

	for (size_t i = 0; i < waiting->count; i++)
		if (w[i].approval_id)
			response_out_approval(o, w[i].approval_id, w[i].name, w[i].arguments);
}

/* The run's state as the response's. */
static void conclude(struct arena *a, const struct RunObject *run, const struct list *words,
	struct response_row *row)
{
	const struct run_word *word = words->at;
	int64_t input = 0, output = 0;

	row->status = strcmp(run->status, "requires_action") == 0 ? "completed" : run->status;
	if (!run_rests(run->status))
		return;
	row->completed_at = words->count ? word[words->count - 1].created_at : row->created_at;
	if (strcmp(run->status, "failed") == 0)
		row->error = run->last_error.text;
	if (strcmp(run->status, "incomplete") == 0)
		row->error = "{\"reason\":\"max_output_tokens\"}";
	for (size_t i = 0; i < words->count; i++) {
		input += word[i].prompt_tokens;
		output += word[i].completion_tokens;
	}
	row->usage = response_usage(a, input, 0, output, 0);
}

int response_agent_fill(struct db *db, struct arena *a, struct response_row *row)
{
	struct run_place at = { row->tenant_id, row->session_id, row->run_id };
	struct list words = { 0 }, waiting = { 0 };
	const struct run_word *word;
	struct response_out out;
	struct RunObject run;
	int err;

	if (strcmp(row->status, "in_progress") != 0) /* settled */
		return 0;
	err = run_view_read(db, a, &at, &run);
	if (!err)
		err = run_view_words(db, a, &at, row->behind, &words);
	if (!err)
		err = run_view_waiting(db, a, &at, &waiting);
	if (err)
		return err;
	word = words.at;
	response_out_open(&out, NULL);
	for (size_t i = 0; i < words.count; i++) {
		if (strcmp(word[i].role, "assistant") != 0)
			continue;
		response_out_text(&out, word[i].id, word[i].content);
		response_out_text_end(&out, NULL, strcmp(word[i].status, "complete") == 0);
		put_calls(&out, a, row->asked, word[i].tool_calls);
	}
	put_approvals(&out, &waiting);
	row->output = response_out_items(&out, a);
	response_out_close(&out);
	conclude(a, &run, &words, row);
	return 0;
}

/* ---- what it is told ---- */

/* Words, results and decisions into the session; what is said as the system joins the instructions. */
static int hear(struct call *c, const struct response_row *row, const struct list *items,
	const char **instructions)
{
	const struct response_item *item = items->at;
	const char *id;
	int err = 0;

	for (size_t i = 0; !err && i < items->count; i++) {
		const struct response_item *it = &item[i];
		struct session_words words = { .tenant_id = row->tenant_id,
			.session_id = row->session_id,
			.role = it->role,
			.content = it->text,
			.now = c->now };

		if (it->content)
			return call_field(c, arena_printf(c->arena, "input[%zu].content", i),
				"format", "must be text: an agent's session holds no images");
		if (it->kind == ITEM_OUTPUT) {
			err = session_answer(c->db, c->arena, row->tenant_id, row->session_id,
				it->call_id, it->text, c->now, &c->problem);
		} else if (it->kind == ITEM_APPROVAL) {
			err = session_decide(c->db, c->arena, row->tenant_id, row->session_id,
				it->call_id, c->caller.user_id, it->approves, c->now, &c->problem);
		} else if (it->kind == ITEM_MESSAGE && strcmp(it->role, "system") == 0) {
			*instructions =
				arena_printf(c->arena, "%s%s%s", *instructions ? *instructions : "",
					*instructions ? "\n\n" : "", it->text);
		} else if (it->kind == ITEM_MESSAGE && *it->text) {
			words.author_id = strcmp(it->role, "user") == 0 ? c->caller.user_id : NULL;
			err = session_say(c->db, c->arena, &words, &id, &c->problem);
		}
	}
	/* Their clients repeat a conflict, which would not help. */
	if (err == ERR_CONFLICT || err == ERR_NOT_FOUND)
		c->problem.err = err = ERR_MALFORMED;
	return err;
}

static bool answers(const struct list *items)
{
	const struct response_item *item = items->at;

	for (size_t i = 0; i < items->count; i++)
		if (item[i].kind == ITEM_OUTPUT || item[i].kind == ITEM_APPROVAL)
			return true;
	return false;
}

/* ---- the session ---- */

static int begin_session(struct call *c, const struct list *items, struct response_row *row)
{
	struct session_new session = { .tenant_id = row->tenant_id,
		.agent_id = row->agent_id,
		.created_by_id = c->caller.user_id,
		.origin = "api",
		.now = c->now };
	int err;

	if (answers(items))
		return call_field(c, "previous_response_id", "required",
			"must name the response whose calls are answered");
	err = session_open(c->db, c->arena, &session, &row->session_id, &c->problem);
	return err ? err
		   : search_refresh(
			     c->db, c->arena, row->tenant_id, MentionType_session, row->session_id);
}

/* The session of the response that is gone on from; *ret_run its run, if that rests with something owed. */
static int go_on(
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
	if (!answers(items))
		return call_field(c, "input", "required",
			"must answer the calls that the response %s waits for", previous.id);
	*ret_run = previous.run_id;
	return response_row_settle(c->db, &previous);
}

/* ---- the answer ---- */

struct telling {
	struct response_row row;
	struct response_out out;
	bool streams;
};

static void finish_text(struct telling *t, const struct watched_message *m)
{
	size_t had = t->out.open ? t->out.text.len : 0;

	if (strlen(m->content) > had && (!had || strncmp(t->out.text.at, m->content, had) == 0))
		response_out_text(&t->out, m->id, m->content + had);
	if (strcmp(m->status, "streaming") != 0)
		response_out_text_end(&t->out,
			strcmp(m->status, "complete") == 0 ? m->content : NULL,
			strcmp(m->status, "complete") == 0);
}

static void opened(void *ctx, struct run_watch *w)
{
	struct telling *t = ctx;
	struct ResponseObject shown;

	if (!t->streams)
		return;
	t->out.events = run_watch_out(w);
	response_show(run_watch_scratch(w), &t->row, &shown);
	response_out_begin(&t->out, &shown);
}

static void delta(void *ctx, struct run_watch *w, const char *message_id, const char *text)
{
	struct telling *t = ctx;

	(void)w;
	response_out_text(&t->out, message_id, text);
}

static void message(void *ctx, struct run_watch *w, const struct watched_message *m)
{
	struct telling *t = ctx;

	if (strcmp(m->role, "assistant") != 0)
		return;
	finish_text(t, m);
	if (strcmp(m->status, "complete") == 0)
		put_calls(&t->out, run_watch_scratch(w), t->row.asked, m->tool_calls);
}

static void rested(
	void *ctx, struct run_watch *w, const struct RunObject *run, const struct list *words)
{
	struct telling *t = ctx;
	struct arena *a = run_watch_scratch(w);
	struct call *c = run_watch_call(w);
	struct ResponseObject shown;
	struct list waiting = run_watch_waiting(w);

	response_out_text_end(&t->out, NULL, false);
	put_approvals(&t->out, &waiting);
	conclude(a, run, words, &t->row);
	t->row.output = response_out_items(&t->out, a);
	response_show(a, &t->row, &shown);
	if (t->streams) {
		response_out_end(&t->out, &shown);
		return;
	}
	c->x->reply.status = 200;
	c->x->reply.type = "application/json";
	encode_object(run_watch_out(w), &ResponseObject_schema, &shown);
}

static const struct run_listener listener = {
	.opened = opened,
	.delta = delta,
	.message = message,
	.rested = rested,
};

static void close_out(void *out)
{
	response_out_close(out);
}

static void answer(struct call *c, const struct response_row *row, int64_t after, bool streams)
{
	struct telling *t = arena_new(c->arena, struct telling);

	t->row = *row;
	t->streams = streams;
	response_out_open(&t->out, NULL);
	arena_defer(c->arena, close_out, &t->out);
	run_watch(c,
		&(struct run_watch_asked){ .at = { row->tenant_id, row->session_id, row->run_id },
			.after = after,
			.behind = row->behind,
			.streams = streams,
			.on = &listener,
			.ctx = t });
}

/* ---- the beginning ---- */

static int work(struct call *c, const struct ResponseCreate *in, struct response_row *row,
	const struct list *items, int64_t *ret_after)
{
	struct run_options options = { .additional_instructions = in->instructions,
		.tool_choice = in->tool_choice.text,
		.max_tokens = in->max_output_tokens == NIL ? 0 : in->max_output_tokens,
		.temperature = in->temperature,
		.top_p = in->top_p,
		.metadata = row->metadata };
	const char *run_id = NULL;
	struct place_row place;
	int err = openai_tools(c, "tools", in->tools.text, TOOL_FLAT, &options.tools);

	if (!err)
		err = row->previous_id ? go_on(c, items, row, &run_id)
				       : begin_session(c, items, row);
	if (!err)
		err = hear(c, row, items, &options.additional_instructions);
	if (!err)
		err = db_one(c->db, c->arena, &sql[SESSION_PLACE], &place,
			ARGS(T(row->tenant_id), T(row->session_id)));
	if (err)
		return err;
	*ret_after = place.last_event_id;
	row->behind = place.last_message_id;
	row->run_id = run_id;
	if (!err && !run_id)
		err = session_start(c->db, c->arena, row->tenant_id, row->session_id,
			c->caller.user_id, &options, false, c->now, &row->run_id, &c->problem);
	return err;
}

int response_agent_start(struct call *c, const struct gateway_named *named)
{
	const struct ResponseCreate *in = c->body;
	const char *format = openai_member(c->arena, in->text.text, "format");
	struct response_row row;
	struct list items;
	int64_t after = 0;
	int err = response_row_new(c, in, &row);

	row.agent_id = named->agent_id;
	if (!err)
		err = response_items_read(c, in->input.text, row.id, &items, &row.input);
	if (!err && !items.count)
		err = call_field(c, "input", "required", "must say something");
	if (!err)
		err = openai_format(c, "text.format", format);
	if (!err)
		err = work(c, in, &row, &items, &after);
	if (!err && in->store != 0)
		err = response_row_add(c->db, c->arena, &row);
	if (err)
		return err;
	if (in->background == 1 && in->stream != 1) {
		row.status = "queued";
		response_show(c->arena, &row, c->reply);
	} else {
		answer(c, &row, after, in->stream == 1);
	}
	return 0;
}
