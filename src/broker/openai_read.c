/* openai_read.c - replies in OpenAI's chat-completions shape, with the liberties others take.
 *
 * Known liberties: usage missing, in a chunk of its own or in the last, or
 * in every chunk, growing; finish_reason empty, of another name, or "stop"
 * with tool calls; tool calls without index, without id, whole in one chunk,
 * or with their arguments as an object; the thinking as reasoning_content or
 * reasoning; errors inside the stream.  A stream is whole when a
 * finish_reason and [DONE] have come, both: a go-between that lost its
 * provider may write [DONE] all the same. */
#include "broker/openai.h"

#include <string.h>

#include "base/utf8_cut.h"

static const struct {
	const char *word;
	enum finish finish;
} reasons[] = {
	{ "stop", FINISH_STOP },
	{ "length", FINISH_LENGTH },
	{ "tool_calls", FINISH_TOOL_CALLS },
	{ "function_call", FINISH_TOOL_CALLS },
	{ "content_filter", FINISH_CONTENT_FILTER },
	{ "max_tokens", FINISH_LENGTH },
	{ "model_length", FINISH_LENGTH },
	{ "tool_use", FINISH_TOOL_CALLS },
	{ "end_turn", FINISH_STOP },
	{ "eos", FINISH_STOP },
	{ "safety", FINISH_CONTENT_FILTER },
};

static void openai_read_reason(struct reply *r, struct json_reader *j)
{
	const char *word;

	if (!text_read_word(j, &word) || !*word)
		return;
	if (strcmp(word, "error") == 0 || strcmp(word, "insufficient_system_resource") == 0) {
		reply_fail(r, FAULT_SERVER,
			"The model provider broke off with the reason \"%.*s\".",
			UTF8_SHOWN(64, word));
		return;
	}
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(word, reasons[i].word) == 0) {
			reply_reason(r, reasons[i].finish);
			return;
		}
	reply_reason(r, FINISH_STOP);
}

/* ---- usage ---- */

/* Of the chat completions, of the responses, and of those who are like them. */
static const struct usage_member usage_details[] = {
	USAGE_FIGURE("cached_tokens", cache_read),
	USAGE_FIGURE("cache_write_tokens", cache_write),
	USAGE_FIGURE("cache_creation_tokens", cache_write),
	USAGE_FIGURE("reasoning_tokens", reasoning),
	{ 0 },
};

static const struct usage_member usage_members[] = {
	USAGE_FIGURE("prompt_tokens", input),
	USAGE_FIGURE("input_tokens", input),
	USAGE_FIGURE("completion_tokens", output),
	USAGE_FIGURE("output_tokens", output),
	USAGE_FIGURE("total_tokens", total),
	USAGE_FIGURE("prompt_cache_hit_tokens", cache_read),
	USAGE_WITHIN("prompt_tokens_details", usage_details),
	USAGE_WITHIN("input_tokens_details", usage_details),
	USAGE_WITHIN("completion_tokens_details", usage_details),
	USAGE_WITHIN("output_tokens_details", usage_details),
	{ 0 },
};

unsigned openai_read_usage(struct json_reader *j, struct usage *ret)
{
	struct usage_figures f = NO_FIGURES;

	*ret = (struct usage){ 0 };
	return usage_read(j, usage_members, &f) && !j->fault ? usage_inclusive(&f, ret) : 0;
}

static void openai_take_usage(struct reply *r, struct json_reader *j)
{
	struct usage u;
	unsigned said = openai_read_usage(j, &u);

	if (said)
		reply_usage(r, &u, said);
}

/* ---- tool calls ---- */

struct openai_call {
	struct slice id, name, arguments, extra;
	int64_t index; /* -1: not said */
};

static void openai_read_function(struct json_reader *j, struct openai_call *call)
{
	const char *key;
	size_t len;

	if (json_peek(j) != JSON_OBJECT) {
		json_skip(j, NULL, NULL);
		return;
	}
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "name") == 0) {
			text_read(j, &call->name);
		} else if (strcmp(key, "arguments") == 0 && json_peek(j) == JSON_OBJECT) {
			struct slice raw;

			if (text_read_raw(j, &raw))
				call->arguments = text_escape(j->arena, raw.at, raw.len);
		} else if (strcmp(key, "arguments") == 0) {
			text_read(j, &call->arguments);
		} else {
			json_skip(j, NULL, NULL);
		}
	}
}

/* Without an index, something that has a name begins a call, and the rest goes on with the last. */
static void take_call(struct reply *r, const struct openai_call *call)
{
	int64_t key = call->index >= 0 ? call->index
		      : call->name.len ? r->call_count
				       : r->call_count - 1;
	int index = reply_call_find(r, key);

	if (index < 0 && !call->name.len) {
		reply_fail(r, FAULT_MALFORMED, "The model calls a tool without naming it.");
		return;
	}
	if (index < 0)
		index = reply_call_extra(r, key, call->id, call->name, call->extra);
	reply_arguments(r, index, call->arguments);
}

static void openai_read_calls(struct reply *r, struct json_reader *j)
{
	const char *name;
	size_t len;

	if (json_peek(j) == JSON_NULL) {
		json_read_null(j);
		return;
	}
	json_enter_array(j);
	while (json_next_item(j)) {
		struct openai_call call = { .index = -1 };

		json_enter_object(j);
		while (json_next_key(j, &name, &len)) {
			if (strcmp(name, "index") == 0)
				text_read_count(j, &call.index);
			else if (strcmp(name, "id") == 0)
				text_read(j, &call.id);
			else if (strcmp(name, "function") == 0)
				openai_read_function(j, &call);
			else if (strcmp(name, "extra_content") == 0 && json_peek(j) == JSON_OBJECT)
				text_read_raw(j, &call.extra);
			else
				json_skip(j, NULL, NULL);
		}
		if (!j->fault)
			take_call(r, &call);
	}
}

/* ---- messages and their deltas, which have the same members ---- */

/* Content is text, or with some a list of parts of which those with text count. */
static void openai_read_content(struct reply *r, struct json_reader *j, struct slice logprobs)
{
	struct slice text;
	const char *key;
	size_t len;

	if (json_peek(j) != JSON_ARRAY) {
		if (text_read(j, &text))
			reply_text(r, text, logprobs);
		return;
	}
	json_enter_array(j);
	while (json_next_item(j)) {
		json_enter_object(j);
		while (json_next_key(j, &key, &len)) {
			if (strcmp(key, "text") == 0) {
				if (text_read(j, &text))
					reply_text(r, text, (struct slice){ 0 });
			} else {
				json_skip(j, NULL, NULL);
			}
		}
	}
}

static void openai_read_message(struct reply *r, struct json_reader *j, struct slice logprobs)
{
	bool thought = false;
	struct slice text;
	const char *key;
	size_t len;

	if (json_peek(j) == JSON_NULL) {
		json_read_null(j);
		return;
	}
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "content") == 0) {
			openai_read_content(r, j, logprobs);
		} else if (strcmp(key, "refusal") == 0) {
			if (text_read(j, &text))
				reply_refusal(r, text);
		} else if (strcmp(key, "reasoning_content") == 0 || strcmp(key, "reasoning") == 0) {
			/* Some send both, with the same text. */
			if (json_peek(j) == JSON_STRING && !thought) {
				thought = text_read(j, &text);
				reply_thought(r, text);
			} else {
				json_skip(j, NULL, NULL);
			}
		} else if (strcmp(key, "tool_calls") == 0) {
			openai_read_calls(r, j);
		} else {
			json_skip(j, NULL, NULL);
		}
	}
}

/* Members of a choice that must be read before its message, wherever they stand. */
struct choice {
	struct slice message, logprobs;
	int64_t index;
};

static void openai_read_choice(struct reply *r, struct json_reader *j)
{
	struct choice c = { 0 };
	struct json_reader inner;
	const char *key;
	size_t len;

	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "delta") == 0 || strcmp(key, "message") == 0)
			text_read_raw(j, &c.message);
		else if (strcmp(key, "logprobs") == 0)
			text_read_raw(j, &c.logprobs);
		else if (strcmp(key, "index") == 0)
			text_read_count(j, &c.index);
		else if (strcmp(key, "finish_reason") == 0)
			openai_read_reason(r, j);
		else
			json_skip(j, NULL, NULL);
	}
	if (j->fault || !c.message.at || c.index != 0)
		return;
	json_open(&inner, j->arena, c.message.at, c.message.len);
	openai_read_message(r, &inner, c.logprobs);
	if (inner.fault)
		text_refuse(j, inner.fault);
}

static void read_choices(struct reply *r, struct json_reader *j)
{
	if (json_peek(j) == JSON_NULL) {
		json_read_null(j);
		return;
	}
	json_enter_array(j);
	while (json_next_item(j))
		openai_read_choice(r, j);
}

static void openai_read_error(struct reply *r, struct json_reader *j)
{
	struct fault f;

	fault_read_value(&f, r->status >= 400 ? r->status : 0, j);
	if (!j->fault)
		reply_fail_with(r, &f);
}

/* A chunk or a whole completion: they differ in the name of one member. */
static void read_object(struct reply *r, struct slice text)
{
	struct slice id = { 0 }, model = { 0 }, choices = { 0 };
	struct json_reader j, inner;
	const char *key;
	size_t len;

	json_open(&j, &r->scratch, text.at, text.len);
	json_enter_object(&j);
	while (json_next_key(&j, &key, &len)) {
		if (strcmp(key, "id") == 0 && json_peek(&j) == JSON_STRING)
			text_read(&j, &id);
		else if (strcmp(key, "model") == 0 && json_peek(&j) == JSON_STRING)
			text_read(&j, &model);
		else if (strcmp(key, "choices") == 0)
			text_read_raw(&j, &choices);
		else if (strcmp(key, "usage") == 0)
			openai_take_usage(r, &j);
		else if (strcmp(key, "error") == 0 && json_peek(&j) != JSON_NULL)
			openai_read_error(r, &j);
		else
			json_skip(&j, NULL, NULL);
	}
	if (json_end(&j) && choices.at) {
		json_open(&inner, &r->scratch, choices.at, choices.len);
		reply_start(r, id, model);
		read_choices(r, &inner);
		if (inner.fault)
			text_refuse(&j, inner.fault);
	}
	if (j.fault)
		reply_unreadable(r, &j);
}

void openai_read_event(struct reply *r, const char *name, struct slice data)
{
	(void)name;
	if (text_is(data, "[DONE]"))
		reply_finish(r);
	else
		read_object(r, data);
}

void openai_read_whole(struct reply *r, struct slice body)
{
	read_object(r, body);
	if (!r->ended && !r->started)
		reply_fail(r, FAULT_MALFORMED, "The model provider's reply holds no choices.");
	reply_finish(r);
}
