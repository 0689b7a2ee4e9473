/* run_events.c - see run_events.h.
 *
 * At most one step is open at a time: the words of a message, or its calls.
 * A message that is broken off is told as incomplete, and what is written in
 * its place is another message. */
#include "openai/run_events.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "openai/openai_events.h"

enum open_step { STEP_NONE, STEP_WORDS, STEP_CALLS };

struct run_story {
	struct arena *arena; /* of the call: what must last */
	struct RunObject run;
	const struct ThreadObject *thread;
	bool going_on;
	enum open_step open;
	bool untold; /* nothing of it was told yet */
	char message_id[64];
	int64_t begun; /* seconds */
	struct buf said;
	const char *tool_calls;
	struct run_word *results;
	size_t result_count, result_room, wanted;
};

/* ---- writing ---- */

static void put_run(struct run_watch *w, enum openai_event event, const struct RunObject *run)
{
	OPENAI_EVENT(run_watch_out(w), event, RunObject, run);
}

static void put_step(struct run_story *y, struct run_watch *w, enum openai_event event,
	const char *status, const struct watched_message *m)
{
	struct step_view view = { .run = &y->run,
		.message_id = y->message_id,
		.calls = y->open == STEP_CALLS,
		.created_at = y->begun,
		.status = status,
		.at = clock_now_us() / SECOND_US,
		.tool_calls = y->tool_calls,
		.results = y->results,
		.result_count = y->result_count,
		.prompt_tokens = m ? m->prompt_tokens : NIL,
		.completion_tokens = m ? m->completion_tokens : NIL };
	struct RunStepObject step;

	/* Its calls are told by the first delta. */
	if (view.calls && y->untold)
		view.tool_calls = "[]";
	run_view_step(run_watch_scratch(w), &view, &step);
	OPENAI_EVENT(run_watch_out(w), event, RunStepObject, &step);
}

static void story_put_message(struct run_story *y, struct run_watch *w, enum openai_event event,
	const char *status, const char *content)
{
	struct thread_said said = { .id = y->message_id,
		.role = "assistant",
		.status = status,
		.run_id = y->run.id,
		.metadata = "",
		.content = content,
		.created_at = y->begun * SECOND_US };
	struct ThreadMessageObject message;

	thread_message_view(
		run_watch_scratch(w), y->run.thread_id, y->run.assistant_id, &said, &message);
	OPENAI_EVENT(run_watch_out(w), event, ThreadMessageObject, &message);
}

static void open_step(
	struct run_story *y, struct run_watch *w, enum open_step what, const char *message_id)
{
	y->open = what;
	y->untold = true;
	y->begun = clock_now_us() / SECOND_US;
	strncpy(y->message_id, message_id, sizeof y->message_id - 1);
	put_step(y, w, OPENAI_EVENT_STEP_CREATED, "in_progress", NULL);
	put_step(y, w, OPENAI_EVENT_STEP_IN_PROGRESS, "in_progress", NULL);
	y->untold = false;
}

/* ---- words ---- */

static void story_add_text(struct run_story *y, struct run_watch *w, const char *text)
{
	struct ThreadText added = { .value = text };
	struct ThreadTextDelta part = { .type = "text", .text = &added };
	struct ThreadContentDelta delta = { .content = { &part, 1 } };

	OPENAI_EVENT(run_watch_out(w), OPENAI_EVENT_THREAD_MESSAGE_DELTA, ThreadMessageDelta,
		(&(struct ThreadMessageDelta){
			.id = y->message_id, .object = "thread.message.delta", .delta = &delta }));
}

static void story_say(
	struct run_story *y, struct run_watch *w, const char *message_id, const char *text)
{
	if (!*text)
		return;
	if (y->open != STEP_WORDS) {
		y->said.len = 0;
		open_step(y, w, STEP_WORDS, message_id);
		story_put_message(y, w, OPENAI_EVENT_THREAD_MESSAGE_CREATED, "streaming", "");
		story_put_message(y, w, OPENAI_EVENT_THREAD_MESSAGE_IN_PROGRESS, "streaming", "");
	}
	buf_puts(&y->said, text);
	story_add_text(y, w, text);
}

static void break_off(struct run_story *y, struct run_watch *w, const char *status)
{
	const char *words =
		arena_strndup(run_watch_scratch(w), y->said.at ? y->said.at : "", y->said.len);

	story_put_message(y, w, OPENAI_EVENT_THREAD_MESSAGE_INCOMPLETE, "failed", words);
	put_step(y, w,
		strcmp(status, "cancelled") == 0 ? OPENAI_EVENT_STEP_CANCELLED
						 : OPENAI_EVENT_STEP_FAILED,
		strcmp(status, "cancelled") == 0 ? "cancelled" : "failed", NULL);
	y->open = STEP_NONE;
}

/* ---- calls ---- */

static size_t count_items(struct arena *a, const char *list)
{
	struct json_reader r;
	size_t n = 0;

	json_open(&r, a, list, strlen(list));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, NULL, NULL))
		n++;
	return n;
}

static void call_tools(struct run_story *y, struct run_watch *w, const struct watched_message *m)
{
	struct arena *scratch = run_watch_scratch(w);
	struct RunCallsDelta calls = { .type = "tool_calls" };
	struct RunDetailsDelta delta = { .step_details = &calls };

	y->tool_calls = arena_strdup(y->arena, m->tool_calls);
	y->wanted = count_items(scratch, m->tool_calls);
	y->result_count = 0;
	open_step(y, w, STEP_CALLS, m->id);
	calls.tool_calls.text = run_view_calls(scratch, m->tool_calls, NULL, 0, true);
	OPENAI_EVENT(run_watch_out(w), OPENAI_EVENT_STEP_DELTA, RunStepDelta,
		(&(struct RunStepDelta){ .id = arena_printf(scratch, "calls_%s", y->message_id),
			.object = "thread.run.step.delta",
			.delta = &delta }));
}

static void keep_result(struct run_story *y, const char *call_id, const char *content)
{
	if (y->result_count == y->result_room) {
		struct run_word *more = arena_array(
			y->arena, struct run_word, y->result_room = y->result_room * 2 + 8);

		if (y->result_count)
			memcpy(more, y->results, y->result_count * sizeof *more);
		y->results = more;
	}
	y->results[y->result_count++] =
		(struct run_word){ .tool_call_id = arena_strdup(y->arena, call_id),
			.content = arena_strdup(y->arena, content) };
}

static void hear_result(struct run_story *y, struct run_watch *w, const struct watched_message *m)
{
	if (y->open != STEP_CALLS)
		return;
	keep_result(y, m->tool_call_id, m->content);
	if (y->result_count < y->wanted)
		return;
	put_step(y, w, OPENAI_EVENT_STEP_COMPLETED, "completed", NULL);
	y->open = STEP_NONE;
}

/* ---- the listener ---- */

static void story_opened(void *ctx, struct run_watch *w)
{
	struct run_story *y = ctx;

	if (y->thread)
		OPENAI_EVENT(
			run_watch_out(w), OPENAI_EVENT_THREAD_CREATED, ThreadObject, y->thread);
	if (!y->going_on)
		put_run(w, OPENAI_EVENT_RUN_CREATED, &y->run);
	if (!y->going_on)
		put_run(w, OPENAI_EVENT_RUN_QUEUED, &y->run);
}

static void story_working(void *ctx, struct run_watch *w)
{
	struct run_story *y = ctx;

	y->run.status = "in_progress";
	y->run.required_action.text = NULL;
	if (y->run.started_at == NIL)
		y->run.started_at = clock_now_us() / SECOND_US;
	put_run(w, OPENAI_EVENT_RUN_IN_PROGRESS, &y->run);
}

static void story_delta(void *ctx, struct run_watch *w, const struct DeltaEvent *piece)
{
	story_say(ctx, w, piece->message_id, piece->text);
}

static void story_message(void *ctx, struct run_watch *w, const struct watched_message *m)
{
	struct run_story *y = ctx;
	size_t had = y->open == STEP_WORDS && strcmp(y->message_id, m->id) == 0 ? y->said.len : 0;

	if (strcmp(m->role, "tool") == 0) {
		hear_result(y, w, m);
		return;
	}
	if (y->open == STEP_WORDS && strcmp(m->status, "failed") == 0) {
		break_off(y, w, "failed");
		return;
	}
	/* What was not told piece by piece. */
	if (strlen(m->content) > had && (!had || strncmp(y->said.at, m->content, had) == 0))
		story_say(y, w, m->id, m->content + had);
	if (strcmp(m->status, "complete") != 0)
		return;
	if (y->open == STEP_WORDS) {
		story_put_message(
			y, w, OPENAI_EVENT_THREAD_MESSAGE_COMPLETED, "complete", m->content);
		put_step(y, w, OPENAI_EVENT_STEP_COMPLETED, "completed", m);
		y->open = STEP_NONE;
	}
	if (strcmp(m->tool_calls, "[]") != 0)
		call_tools(y, w, m);
}

/* Whatever a run rests in has its event. */
static enum openai_event run_end_event(const char *status)
{
	static const enum openai_event ends[] = { OPENAI_EVENT_RUN_REQUIRES_ACTION,
		OPENAI_EVENT_RUN_COMPLETED, OPENAI_EVENT_RUN_INCOMPLETE,
		OPENAI_EVENT_RUN_CANCELLED };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strcmp(openai_events[ends[i]].name + strlen("thread.run."), status) == 0)
			return ends[i];
	INVARIANT(strcmp(status, "failed") == 0);
	return OPENAI_EVENT_RUN_FAILED;
}

static void story_rested(
	void *ctx, struct run_watch *w, const struct RunObject *run, const struct list *words)
{
	struct run_story *y = ctx;
	bool waits = strcmp(run->status, "requires_action") == 0;

	(void)words;
	y->run.last_error = run->last_error;
	if (y->open == STEP_WORDS)
		break_off(y, w, run->status);
	if (y->open == STEP_CALLS && !waits)
		put_step(y, w, OPENAI_EVENT_STEP_CANCELLED, "cancelled", NULL);
	put_run(w, run_end_event(run->status), run);
	openai_event_write(run_watch_out(w), OPENAI_EVENT_DONE, NULL, NULL);
}

const struct run_listener run_story_listener = {
	.opened = story_opened,
	.working = story_working,
	.delta = story_delta,
	.message = story_message,
	.rested = story_rested,
};

static void free_said(void *said)
{
	buf_free(said);
}

/* The calls that were open when the run came to rest. */
static void story_recall_calls(struct run_story *y, const struct list *words)
{
	const struct run_word *word = words->at;

	for (size_t i = 0; i < words->count; i++) {
		if (strcmp(word[i].role, "tool") == 0 && y->open == STEP_CALLS) {
			keep_result(y, word[i].tool_call_id, word[i].content);
		} else if (strcmp(word[i].role, "assistant") == 0 &&
			   strcmp(word[i].tool_calls, "[]") != 0) {
			y->open = STEP_CALLS;
			y->begun = word[i].created_at / SECOND_US;
			y->result_count = 0;
			y->tool_calls = word[i].tool_calls;
			y->wanted = count_items(y->arena, word[i].tool_calls);
			strncpy(y->message_id, word[i].id, sizeof y->message_id - 1);
		}
	}
}

struct run_story *run_story_new(struct call *c, const struct RunObject *run,
	const struct ThreadObject *thread, bool going_on, const struct list *words)
{
	struct run_story *y = arena_new(c->arena, struct run_story);

	*y = (struct run_story){
		.arena = c->arena, .run = *run, .thread = thread, .going_on = going_on
	};
	buf_init(&y->said, (size_t)64 << 20);
	arena_defer(c->arena, free_said, &y->said);
	if (words)
		story_recall_calls(y, words);
	return y;
}
