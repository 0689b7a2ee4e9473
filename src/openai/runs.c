/* runs.c - OpenAI-style runs: an agent is set to work in a thread, watched, answered and stopped.
 *
 * A call that waits for approval is shown among those that need the caller's
 * action: its output is approve or deny.  Whoever decides it elsewhere
 * decides it as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8_cut.h"
#include "call/operation.h"
#include "openai/assistants.h"
#include "openai/gateway.h"
#include "openai/openai_events.h"
#include "openai/openai_tools.h"
#include "openai/run_events.h"
#include "api/sessions/session_rows.h"
#include "base/json.h"
#include "sessions/session.h"

enum { POLL_MS = 250 };

/* ---- what is asked for ---- */

static const char *run_number_text(struct arena *a, double v)
{
	return isnan(v) ? NULL : arena_printf(a, "%.6g", v);
}

static const char *run_count_text(struct arena *a, int64_t n)
{
	return n == NIL ? NULL : arena_printf(a, "%lld", (long long)n);
}

/* {type: auto} or {type: last_messages, last_messages: N}. */
static int read_truncation(struct call *c, const char *json, int64_t *ret)
{
	const char *type = openai_text(c->arena, json, "type");
	const char *last = openai_member(c->arena, json, "last_messages");
	int64_t count = last ? strtoll(last, NULL, 10) : 0;

	*ret = 0;
	if (!json || (type && strcmp(type, "auto") == 0))
		return 0;
	if (!type || strcmp(type, "last_messages") != 0 || count < 1)
		return call_field(c, "truncation_strategy", "choice",
			"must be auto, or last_messages with how many they are, 1 or more");
	*ret = count;
	return 0;
}

/* What the run asks for, and what the assistant asks for in every run, checked. */
static int read_options(struct call *c, const struct RunCreate *in, struct run_asked_for *asked,
	struct run_options *options)
{
	struct assistant_notes notes;
	const char *chosen;
	int err = assistant_notes_read(
		c->db, c->arena, c->caller.tenant_id, in->assistant_id, &notes);

	if (err)
		return err;
	*asked = (struct run_asked_for){ .model = in->model,
		.instructions = in->instructions,
		.tools = in->tools.text ? in->tools.text : notes.tools,
		.temperature = run_number_text(c->arena, in->temperature),
		.top_p = run_number_text(c->arena, in->top_p),
		.max_prompt_tokens = run_count_text(c->arena, in->max_prompt_tokens),
		.max_completion_tokens = run_count_text(c->arena, in->max_completion_tokens),
		.truncation_strategy = in->truncation_strategy.text,
		.tool_choice = in->tool_choice.text,
		.parallel_tool_calls = in->parallel_tool_calls != 0 };
	if (!asked->temperature)
		asked->temperature = notes.temperature;
	if (!asked->top_p)
		asked->top_p = notes.top_p;
	*options = (struct run_options){ .instructions = in->instructions,
		.additional_instructions = in->additional_instructions,
		.tool_choice = in->tool_choice.text,
		.max_tokens = in->max_completion_tokens == NIL ? 0 : in->max_completion_tokens,
		.temperature = asked->temperature ? strtod(asked->temperature, NULL) : NAN,
		.top_p = asked->top_p ? strtod(asked->top_p, NULL) : NAN,
		.one_call = in->parallel_tool_calls == 0,
		.max_prompt_tokens = in->max_prompt_tokens == NIL ? 0 : in->max_prompt_tokens };
	err = read_truncation(c, in->truncation_strategy.text, &options->last_messages);
	if (err)
		return err;
	if (in->model && strcmp(in->model, ASSISTANT_MODEL) != 0)
		err = assistant_model(c, in->model, &options->model_id);
	if (!err)
		err = openai_tools(c, "tools", asked->tools, TOOL_NESTED, &options->tools);
	if (!err)
		err = openai_metadata(c, "metadata", in->metadata.text, &asked->metadata);
	options->metadata = asked->metadata;
	if (!err)
		err = openai_choice(c, in->tool_choice.text, TOOL_NESTED, &chosen);
	return err ? err : openai_format(c, "response_format", in->response_format.text);
}

/* ---- starting ---- */

static int permit_run_agent(struct call *c, const char *agent_id)
{
	struct place place = { .tenant_id = c->caller.tenant_id, .agent_id = agent_id };
	int err = caller_permit(
		&c->caller, c->db, c->arena, PERM_SESSION_WRITE, &place, false, &c->problem);

	if (err != ERR_NOT_FOUND)
		return err;
	c->problem = (struct problem){ 0 };
	return call_fail(c, err, "No assistant found with id '%.*s'.", UTF8_SHOWN(64, agent_id));
}

/* The thread is the agent's, or becomes it. */
static int enter_thread(struct call *c, struct thread *t, const struct RunCreate *in)
{
	if (t->agent_id && strcmp(t->agent_id, in->assistant_id) != 0)
		return call_field(c, "assistant_id", "conflict",
			"must be %s, who works in this thread: a thread has one assistant",
			t->agent_id);
	return t->agent_id ? 0 : thread_begin(c, t, in->assistant_id);
}

static int say_more(struct call *c, struct thread *t, const struct list *messages)
{
	const struct ThreadMessageCreate *m = messages->at;
	const char *id;
	int err = 0;

	for (size_t i = 0; !err && i < messages->count; i++)
		err = thread_say(
			c, t, &m[i], arena_printf(c->arena, "additional_messages[%zu].", i), &id);
	return err;
}

static void answer_run_stream(struct call *c, const struct thread *t, const struct RunObject *run,
	const struct ThreadObject *made, bool going_on, const struct list *words)
{
	struct run_watch_asked watch = { .at = { c->caller.tenant_id, t->id, run->id },
		.after = t->last_event_id,
		.after_id = "",
		.streams = true,
		.on = &run_story_listener };

	watch.ctx = run_story_new(c, run, made, going_on, words);
	run_watch(c, &watch);
}

/* The audit row is about the run; where it is, and what more is said of it, stands beside. */
static void note_run(
	struct call *c, const struct run_place *at, const char *agent_id, const char *more)
{
	c->audit.resource_id = at->run_id;
	c->audit.agent_id = agent_id;
	c->audit.meta = arena_printf(c->arena, "{\"thread_id\":\"%s\"%s}", at->session_id, more);
}

static int start_thread_run(struct call *c, const struct RunCreate *in, struct thread *t,
	const struct ThreadObject *made, struct RunObject *run)
{
	struct run_place at = { .tenant_id = c->caller.tenant_id, .session_id = t->id };
	struct run_asked_for asked;
	struct run_options options;
	const struct session_actor as = session_actor_of(c);
	int64_t brings = 0;
	int err = permit_run_agent(c, in->assistant_id);

	if (!err)
		err = thread_at_rest(c, t, "No run can be started");
	if (!err)
		err = read_options(c, in, &asked, &options);
	if (!err)
		err = thread_brings(c, t, &in->additional_messages, &brings);
	if (!err)
		err = session_room(c, in->assistant_id, options.model_id, brings);
	if (!err)
		err = enter_thread(c, t, in);
	if (!err)
		err = say_more(c, t, &in->additional_messages);
	if (!err)
		err = thread_refresh(c, t);
	if (!err)
		err = session_start(c->db, c->arena, at.tenant_id, t->id, &as, &options, false,
			c->now, &at.run_id, &c->problem);
	if (!err)
		err = run_view_note(c->db, c->arena, &at, &asked);
	if (!err)
		err = run_view_read(c->db, c->arena, &at, run);
	if (!err)
		note_run(c, &at, in->assistant_id,
			arena_printf(
				c->arena, ",%s", thread_words_noted(c, &in->additional_messages)));
	if (!err && in->stream == 1)
		answer_run_stream(c, t, run, made, false, NULL);
	return err;
}

OPERATION(createRun, RunCreate, RunObject, .brings_files = true, .gives = "text/event-stream",
	.events = &run_event_stream, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_WRITE, &t);

	return err ? err : start_thread_run(c, in, &t, NULL, out);
}

OPERATION(createThreadAndRun, RunCreate, RunObject, .brings_files = true,
	.gives = "text/event-stream", .events = &run_event_stream, .open_query = true)
{
	struct ThreadObject *made = arena_new(c->arena, struct ThreadObject);
	struct thread t = { 0 };
	int err = gateway_tenant(c);

	if (!err)
		err = permit_run_agent(c, in->assistant_id);
	if (!err)
		err = thread_make(c, in->thread, "thread.", &t);
	if (err)
		return err;
	thread_show(&t, made);
	return start_thread_run(c, in, &t, made, out);
}

/* ---- reading ---- */

static int find_run(struct call *c, int permission, struct thread *t, struct run_place *at,
	struct RunObject *run)
{
	int err = thread_find(c, permission, t);

	*at = (struct run_place){ c->caller.tenant_id, t->id, call_param(c, "run_id") };
	if (!err)
		err = run_view_read(c->db, c->arena, at, run);
	if (err == ERR_NOT_FOUND)
		return call_fail(
			c, err, "No run found with id '%.*s'.", UTF8_SHOWN(64, at->run_id));
	return err;
}

/* How soon it is worth asking again. */
static void say_when(struct call *c, const struct RunObject *run)
{
	if (!run_rests(run->status))
		buf_printf(&c->x->reply.extra, "openai-poll-after-ms: %d\r\n", POLL_MS);
}

QUERY_OPERATION(listRuns, OpenAIPage, RunList, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_READ, &t);

	return err ? err : run_view_page(c, in, &t, out);
}

OPERATION(readRun, NONE, RunObject, .header = "openai-poll-after-ms", .open_query = true)
{
	struct run_place at = { 0 };
	struct thread t = { 0 };
	int err = find_run(c, PERM_SESSION_READ, &t, &at, out);

	if (!err)
		say_when(c, out);
	return err;
}

OPERATION(updateRun, OpenAIMetadataUpdate, RunObject, .open_query = true)
{
	const char *metadata;
	struct run_place at = { 0 };
	struct thread t = { 0 };
	int err = find_run(c, PERM_SESSION_WRITE, &t, &at, out);

	if (!err)
		note_run(c, &at, t.agent_id, "");
	if (err || !in->metadata.text)
		return err;
	err = openai_metadata(c, "metadata", in->metadata.text, &metadata);
	out->metadata.text = metadata;
	return err ? err : run_view_retag(c->db, &at, metadata);
}

/* ---- acting on one that is under way ---- */

OPERATION(cancelRun, NONE, RunObject, .open_query = true)
{
	struct run_place at = { 0 };
	struct thread t = { 0 };
	int err = find_run(c, PERM_SESSION_WRITE, &t, &at, out);

	if (!err)
		note_run(c, &at, t.agent_id, "");
	if (!err && run_rests(out->status) && strcmp(out->status, "requires_action") != 0)
		return call_fail(
			c, ERR_MALFORMED, "Cannot cancel a run with status '%s'.", out->status);
	if (!err) {
		struct session_ender by = session_ender_of(c);

		err = session_cancel_run(
			c->db, c->arena, at.tenant_id, t.id, at.run_id, &by, c->now, &c->problem);
	}
	return err ? err : run_view_read(c->db, c->arena, &at, out);
}

static const struct waiting_call *waiting_for(const struct list *waiting, const char *call_id)
{
	const struct waiting_call *w = waiting->at;

	for (size_t i = 0; i < waiting->count; i++)
		if (strcmp(w[i].call_id, call_id) == 0)
			return &w[i];
	return NULL;
}

static int take_output(struct call *c, const struct run_place *at, const struct list *waiting,
	const struct RunToolOutput *in, size_t i)
{
	const struct waiting_call *w = waiting_for(waiting, in->tool_call_id);
	bool approves = strcmp(in->output, "approve") == 0;
	struct ApprovalRead decided;

	if (!w)
		return call_field(c, arena_printf(c->arena, "tool_outputs[%zu].tool_call_id", i),
			"unknown", "is not the id of a call that waits in this run");
	if (!w->approval_id)
		return session_answer(c->db, c->arena, at->tenant_id, at->session_id,
			c->caller.user_id, w->call_id, in->output, NULL, c->now, &c->problem);
	if (!approves && strcmp(in->output, "deny") != 0)
		return call_field(c, arena_printf(c->arena, "tool_outputs[%zu].output", i),
			"choice", "must be approve or deny: %s waits for approval", w->name);
	return approval_decide(
		c, at->tenant_id, at->session_id, w->approval_id, approves, &decided);
}

OPERATION(submitToolOutputs, RunToolOutputs, RunObject, .gives = "text/event-stream",
	.events = &run_event_stream, .open_query = true)
{
	const struct RunToolOutput *output = in->tool_outputs.at;
	struct list waiting = { 0 }, words = { 0 };
	struct run_place at = { 0 };
	struct thread t = { 0 };
	int err = find_run(c, PERM_SESSION_WRITE, &t, &at, out);

	if (!err)
		note_run(c, &at, t.agent_id,
			arena_printf(c->arena, ",\"outputs\":%zu", in->tool_outputs.count));
	if (!err && strcmp(out->status, "requires_action") != 0)
		return call_fail(c, ERR_MALFORMED,
			"Runs in status \"%s\" do not accept tool outputs.", out->status);
	if (!err)
		err = run_view_waiting(c->db, c->arena, &at, &waiting);
	if (!err && in->stream == 1)
		err = run_view_words(c->db, c->arena, &at, "", &words);
	for (size_t i = 0; !err && i < in->tool_outputs.count; i++)
		err = take_output(c, &at, &waiting, &output[i], i);
	if (!err)
		err = run_view_read(c->db, c->arena, &at, out);
	if (!err && in->stream == 1)
		answer_run_stream(c, &t, out, NULL, true, &words);
	return err;
}

/* ---- steps ---- */

struct steps {
	struct RunStepObject *at;
	size_t count;
};

static void add_step(struct call *c, struct steps *s, const struct RunObject *run,
	const struct list *words, size_t i, bool calls)
{
	const struct run_word *word = (const struct run_word *)words->at + i;
	size_t n = 0, results = 0;
	struct json_reader r;
	struct step_view view = { .run = run,
		.message_id = word->id,
		.calls = calls,
		.created_at = word->created_at / 1000000,
		.status = strcmp(word->status, "complete") == 0 ? "completed"
			  : strcmp(word->status, "failed") == 0 ? "failed"
								: "in_progress",
		.at = word->created_at / 1000000,
		.tool_calls = word->tool_calls,
		.results = word + 1,
		.prompt_tokens = word->prompt_tokens,
		.completion_tokens = word->completion_tokens };
	bool over = run_rests(run->status) && strcmp(run->status, "requires_action") != 0;

	while (i + 1 + results < words->count && strcmp(word[1 + results].role, "tool") == 0)
		results++;
	view.result_count = results;
	json_open(&r, c->arena, word->tool_calls, strlen(word->tool_calls));
	json_enter_array(&r);
	while (calls && json_next_item(&r) && json_skip(&r, NULL, NULL))
		n++;
	if (calls && results)
		view.at = word[results].created_at / 1000000;
	if (calls && results < n)
		view.status = over ? "cancelled" : "in_progress";
	run_view_step(c->arena, &view, &s->at[s->count++]);
}

static int read_steps(struct call *c, struct steps *ret)
{
	struct RunObject run = { .status = "" };
	struct run_place at = { 0 };
	struct list words = { 0 };
	struct thread t = { 0 };
	const struct run_word *word;
	int err = find_run(c, PERM_SESSION_READ, &t, &at, &run);

	if (!err)
		err = run_view_words(c->db, c->arena, &at, "", &words);
	if (err)
		return err;
	word = words.at;
	ret->at = arena_array(c->arena, struct RunStepObject, words.count * 2 + 1);
	ret->count = 0;
	for (size_t i = 0; i < words.count; i++) {
		if (strcmp(word[i].role, "assistant") != 0)
			continue;
		if (*word[i].content)
			add_step(c, ret, &run, &words, i, false);
		if (strcmp(word[i].tool_calls, "[]") != 0)
			add_step(c, ret, &run, &words, i, true);
	}
	return 0;
}

static size_t step_place(const struct steps *s, const char *id, size_t otherwise)
{
	for (size_t i = 0; id && i < s->count; i++)
		if (strcmp(s->at[i].id, id) == 0)
			return i;
	return otherwise;
}

/* From..to of the steps in their order of creation, at most `limit` of them from the end asked for. */
QUERY_OPERATION(listRunSteps, OpenAIPage, RunStepList, .open_query = true)
{
	bool down = in->order == 1, backwards = in->before && !in->after;
	const char *low = down ? in->before : in->after, *high = down ? in->after : in->before;
	struct RunStepObject *shown;
	struct steps s = { 0 };
	size_t from, to, n;
	int err = read_steps(c, &s);

	if (err)
		return err;
	from = low ? step_place(&s, low, s.count) + 1 : 0;
	to = high ? step_place(&s, high, 0) : s.count;
	from = from > to ? to : from;
	n = to - from;
	*out = (struct RunStepList){ .object = "list", .has_more = n > (size_t)in->limit };
	if (out->has_more) {
		n = (size_t)in->limit;
		from = down != backwards ? to - n : from;
	}
	shown = arena_array(c->arena, struct RunStepObject, n + 1);
	for (size_t i = 0; i < n; i++)
		shown[i] = s.at[down ? from + n - 1 - i : from + i];
	out->data = (struct list){ shown, n };
	if (n) {
		out->first_id = shown[0].id;
		out->last_id = shown[n - 1].id;
	}
	return 0;
}

OPERATION(readRunStep, NONE, RunStepObject, .open_query = true)
{
	const char *id = call_param(c, "step");
	struct steps s = { 0 };
	size_t i;
	int err = read_steps(c, &s);

	if (err)
		return err;
	i = step_place(&s, id, s.count);
	if (i == s.count)
		return call_fail(
			c, ERR_NOT_FOUND, "No run step found with id '%.*s'.", UTF8_SHOWN(64, id));
	*out = s.at[i];
	return 0;
}

#define OPENAI .tag = "OpenAI", .as_printed = true, .openai = true
#define R "/v1/threads/{thread_id}/runs"

static const struct route routes[] = {
	{ METHOD_POST, "/v1/threads/runs", &createThreadAndRun, PERM_LOGIN, 200, "run.create",
		OPENAI, .patient = true, .doc = "Make a thread and set an agent to work in it." },
	{ METHOD_POST, R, &createRun, PERM_LOGIN, 200, "run.create", OPENAI, .patient = true,
		.doc = "Set an agent to work in a thread; with stream, the answer is a stream of "
		       "events until the run rests." },
	{ METHOD_GET, R, &listRuns, PERM_LOGIN, 200, OPENAI, .doc = "List the runs of a thread." },
	{ METHOD_GET, R "/{run_id}", &readRun, PERM_LOGIN, 200, OPENAI, .doc = "Read a run." },
	{ METHOD_POST, R "/{run_id}", &updateRun, PERM_LOGIN, 200, "run.update", OPENAI,
		.doc = "Change the metadata of a run." },
	{ METHOD_POST, R "/{run_id}/cancel", &cancelRun, PERM_LOGIN, 200, "run.cancel", OPENAI,
		.doc = "End a run that is under way." },
	{ METHOD_POST, R "/{run_id}/submit_tool_outputs", &submitToolOutputs, PERM_LOGIN, 200,
		"run.answer", OPENAI, .patient = true,
		.doc = "Give the results of the caller's functions, or approve and deny calls of the "
		       "agent's tools; the run goes on once none is missing." },
	{ METHOD_GET, R "/{run_id}/steps", &listRunSteps, PERM_LOGIN, 200, OPENAI,
		.doc = "List the steps of a run: messages, and calls of tools." },
	{ METHOD_GET, R "/{run_id}/steps/{step}", &readRunStep, PERM_LOGIN, 200, OPENAI,
		.doc = "Read a step." },
};
RESOURCE(runs, routes, NULL);
