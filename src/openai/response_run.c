/* response_run.c - what an agent's run has come to, as a response: what it said, the calls of the caller's functions,
 * and what waits for approval. */
#include <string.h>

#include "openai/responses.h"
#include "openai/run_view.h"
#include "base/json.h"

int response_begun_find(const struct response_begun *b, const char *call_id)
{
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->ids[i], call_id) == 0)
			return (int)i;
	return -1;
}

int response_begun_add(struct response_begun *b, const char *call_id)
{
	if (b->count == RESPONSE_CALLS_MAX - 1 || strlen(call_id) >= sizeof b->ids[0])
		return -1;
	strncpy(b->ids[b->count], call_id, sizeof b->ids[0]);
	return (int)b->count++;
}

static void put_run_call(struct response_out *o, struct response_begun *begun, const char *id,
	const char *name, const char *arguments)
{
	const struct response_call call = { .call_id = id, .name = name, .arguments = arguments };
	int number = begun ? response_begun_find(begun, id) : -1;

	if (number < 0) {
		number = RESPONSE_CALLS_MAX - 1; /* the last number is of those that come whole */
		response_out_call_begin(o, number, &call);
		response_out_arguments(o, number, arguments);
	}
	response_out_call_end(o, number, &call);
}

void response_run_thoughts(struct response_out *o, struct arena *a, const char *thoughts)
{
	struct json_reader r;
	const char *item;
	size_t len;

	if (!*thoughts)
		return;
	json_open(&r, a, thoughts, strlen(thoughts));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *thought = arena_strndup(a, item, len);
		const char *text = openai_text(a, thought, "text"),
			   *sealed = openai_text(a, thought, "seal");
		const char *redacted = openai_member(a, thought, "redacted");

		response_out_thought(o, text ? text : "");
		response_out_thought_end(
			o, sealed ? response_seal(a, openai_text(a, thought, "maker"), sealed,
					    redacted && *redacted == 't')
				  : NULL);
	}
}

void response_run_calls(
	struct response_out *o, struct arena *a, const char *calls, struct response_begun *begun)
{
	struct json_reader r;
	const char *item;
	size_t len;

	json_open(&r, a, calls, strlen(calls));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *call = arena_strndup(a, item, len);
		const char *id = openai_text(a, call, "id"), *name = openai_text(a, call, "name");
		const char *arguments = openai_text(a, call, "arguments");

		if (!arguments)
			arguments = openai_member(a, call, "arguments");
		if (id && name && openai_member(a, call, "client"))
			put_run_call(o, begun, id, name, arguments ? arguments : "{}");
	}
	if (begun)
		begun->count = 0;
}

void response_run_approvals(struct response_out *o, const struct list *waiting)
{
	const struct waiting_call *w = waiting->at;

	for (size_t i = 0; i < waiting->count; i++)
		if (w[i].approval_id)
			response_out_approval(o, w[i].approval_id, w[i].name, w[i].arguments);
}

void response_run_conclude(struct arena *a, const struct RunObject *run, const struct list *words,
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
		err = run_view_words(db, a, &at, row->after_id, &words);
	if (!err)
		err = run_view_waiting(db, a, &at, &waiting);
	if (err)
		return err;
	word = words.at;
	response_out_open(&out, NULL, row->id);
	for (size_t i = 0; i < words.count; i++) {
		if (strcmp(word[i].role, "assistant") != 0)
			continue;
		response_run_thoughts(&out, a, word[i].thoughts);
		response_out_text(&out, word[i].content, false);
		response_out_text_end(&out, NULL, NULL, strcmp(word[i].status, "complete") == 0);
		response_run_calls(&out, a, word[i].tool_calls, NULL);
	}
	response_run_approvals(&out, &waiting);
	row->output = response_out_items(&out, a);
	response_out_close(&out);
	response_run_conclude(a, &run, &words, row);
	return 0;
}
