/* anthropic_read.c - replies of Anthropic's messages API; see anthropic.c.
 *
 * A stream is message_start, blocks (each started, grown, stopped),
 * message_delta with the reason and the figures, message_stop; pings between,
 * and an error at any point.  Only message_stop is an end.  Events of kinds
 * that are not known are passed over, as the provider asks of its clients.
 * Its input_tokens leave out what came from the cache or went into it. */
#include "broker/anthropic.h"

#include <string.h>

enum block_kind { BLOCK_OTHER, BLOCK_TEXT, BLOCK_THINKING, BLOCK_CALL };

static const struct {
	const char *word;
	enum finish finish;
	bool plain; /* it says no more than that */
} reasons[] = {
	{ "end_turn", FINISH_STOP, true },
	{ "max_tokens", FINISH_LENGTH, true },
	{ "stop_sequence", FINISH_STOP, false },
	{ "tool_use", FINISH_TOOL_CALLS, true },
	{ "pause_turn", FINISH_STOP, false },
	{ "refusal", FINISH_CONTENT_FILTER, true },
	{ "model_context_window_exceeded", FINISH_LENGTH, false },
};

static void anthropic_read_reason(struct reply *r, struct json_reader *j)
{
	enum finish finish = FINISH_STOP;
	bool plain = false;
	const char *word;

	if (!text_read_word(j, &word) || !*word)
		return;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(word, reasons[i].word) == 0) {
			finish = reasons[i].finish;
			plain = reasons[i].plain;
		}
	reply_reason(r, finish);
	reply_reason_word(r, plain ? "" : word);
}

static void anthropic_read_stop(struct reply *r, struct json_reader *j)
{
	struct slice text = { 0 };

	if (text_read(j, &text))
		reply_stop(r, text);
}

static const struct usage_member output_details[] = {
	USAGE_FIGURE("thinking_tokens", reasoning),
	{ 0 },
};

static const struct usage_member usage_members[] = {
	USAGE_FIGURE("input_tokens", input),
	USAGE_FIGURE("cache_read_input_tokens", cache_read),
	USAGE_FIGURE("cache_creation_input_tokens", cache_write),
	USAGE_FIGURE("output_tokens", output),
	USAGE_WITHIN("output_tokens_details", output_details),
	{ 0 },
};

/* A figure that was said takes the place of an earlier one; one that cannot be is as none. */
static void take_figure(int64_t figure, int64_t *ret, struct usage *u)
{
	u->estimated |= figure == FIGURE_ABSURD;
	if (figure != FIGURE_UNSAID)
		*ret = figure < 0 ? 0 : figure;
}

/* Figures that are null or missing leave what was said before.  Those of the output before the end are
 * not the last. */
static void anthropic_read_usage(struct reply *r, struct json_reader *j, bool last)
{
	struct usage_figures f = NO_FIGURES;
	struct usage u = r->usage;
	unsigned said = r->usage_said;

	if (!usage_read(j, usage_members, &f))
		return;
	take_figure(f.input, &u.input, &u);
	take_figure(f.cache_read, &u.cache_read, &u);
	take_figure(f.cache_write, &u.cache_write, &u);
	take_figure(f.output, &u.output, &u);
	take_figure(f.reasoning, &u.reasoning, &u);
	if (u.reasoning > u.output)
		u.reasoning = u.output;
	/* The three of the input are one sum: where one is wrong, all of it is counted. */
	if (f.input >= 0)
		said |= USAGE_INPUT;
	if (f.input == FIGURE_ABSURD || f.cache_read == FIGURE_ABSURD ||
		f.cache_write == FIGURE_ABSURD)
		said &= ~(unsigned)USAGE_INPUT;
	said &= ~(unsigned)USAGE_OUTPUT;
	if (last && f.output >= 0)
		said |= USAGE_OUTPUT;
	if (!j->fault)
		reply_usage(r, &u, said);
}

/* ---- blocks ---- */

/* The members of a block, or of what it grows by: their names do not collide. */
struct content_block {
	const char *type;
	struct slice id, name, text, thinking, signature, data, json, input, citations;
};

static void anthropic_read_block(struct json_reader *j, struct content_block *b)
{
	const char *key;
	size_t len;

	*b = (struct content_block){ .type = "" };
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "type") == 0)
			text_read_word(j, &b->type);
		else if (strcmp(key, "id") == 0)
			text_read(j, &b->id);
		else if (strcmp(key, "name") == 0)
			text_read(j, &b->name);
		else if (strcmp(key, "text") == 0)
			text_read(j, &b->text);
		else if (strcmp(key, "thinking") == 0)
			text_read(j, &b->thinking);
		else if (strcmp(key, "signature") == 0)
			text_read(j, &b->signature);
		else if (strcmp(key, "data") == 0)
			text_read(j, &b->data);
		else if (strcmp(key, "partial_json") == 0)
			text_read(j, &b->json);
		else if (strcmp(key, "input") == 0)
			text_read_raw(j, &b->input);
		else if (strcmp(key, "citations") == 0)
			text_read_raw(j, &b->citations);
		else
			json_skip(j, NULL, NULL);
	}
}

static void anthropic_end_block(struct reply *r, int64_t index)
{
	int call = reply_call_find(r, index);

	if (call >= 0 && r->block_kind == BLOCK_CALL)
		reply_call_end(r, call);
	else
		reply_piece(r, PIECE_END, (struct slice){ 0 });
	r->block = -1;
}

/* Those of a text that came whole, each as it would have been streamed. */
static void take_citations(struct reply *r, struct json_reader *j, struct slice citations)
{
	struct json_reader in;
	struct slice one;

	if (!citations.at || !r->pieces)
		return;
	json_open(&in, j->arena, citations.at, citations.len);
	if (json_peek(&in) != JSON_ARRAY)
		return;
	json_enter_array(&in);
	while (json_next_item(&in)) {
		if (text_read_raw(&in, &one) && one.at) {
			const char *delta = arena_printf(j->arena,
				"{\"type\":\"citations_delta\",\"citation\":%.*s}", (int)one.len,
				one.at);

			reply_piece(r, PIECE_DELTA, (struct slice){ delta, strlen(delta) });
		}
	}
}

/* The beginning of a block; in a whole reply that is all of it. */
static void take_block(struct reply *r, struct json_reader *j, int64_t index, bool whole)
{
	const struct slice none = { 0 };
	struct content_block b;
	struct slice raw;

	json_peek(j); /* passes the white space */
	raw.at = j->at;
	anthropic_read_block(j, &b);
	raw.len = (size_t)(j->at - raw.at);
	if (j->fault)
		return;
	r->block = index;
	r->block_kind = BLOCK_OTHER;
	if (strcmp(b.type, "text") == 0) {
		r->block_kind = BLOCK_TEXT;
		reply_text(r, b.text, none);
		take_citations(r, j, b.citations);
	} else if (strcmp(b.type, "thinking") == 0) {
		r->block_kind = BLOCK_THINKING;
		reply_thought(r, b.thinking);
		reply_signature(r, b.signature, none, false);
	} else if (strcmp(b.type, "redacted_thinking") == 0) {
		reply_signature(r, b.data, none, true);
	} else if (strcmp(b.type, "tool_use") == 0) {
		int call;

		if (!b.name.len) {
			reply_fail(r, FAULT_MALFORMED, "The model calls a tool without naming it.");
			return;
		}
		r->block_kind = BLOCK_CALL;
		call = reply_call(r, index, b.id, b.name);
		/* In a stream this is {}, and the arguments follow. */
		if (whole && b.input.at)
			reply_arguments(r, call, text_escape(j->arena, b.input.at, b.input.len));
	} else if (*b.type) {
		reply_piece(r, PIECE_BLOCK, raw);
	}
	if (whole)
		anthropic_end_block(r, index);
}

static void anthropic_take_delta(struct reply *r, struct json_reader *j, int64_t index)
{
	const struct slice none = { 0 };
	struct content_block b;
	struct slice raw;

	json_peek(j);
	raw.at = j->at;
	anthropic_read_block(j, &b);
	raw.len = (size_t)(j->at - raw.at);
	if (j->fault)
		return;
	if (index != r->block) {
		reply_fail(r, FAULT_MALFORMED,
			"The model's reply goes on with a block that was not begun.");
		return;
	}
	if (r->block_kind == BLOCK_TEXT && strcmp(b.type, "text_delta") == 0)
		reply_text(r, b.text, none);
	else if (r->block_kind == BLOCK_THINKING && strcmp(b.type, "thinking_delta") == 0)
		reply_thought(r, b.thinking);
	else if (r->block_kind == BLOCK_THINKING && strcmp(b.type, "signature_delta") == 0)
		reply_signature(r, b.signature, none, false);
	else if (r->block_kind == BLOCK_CALL && strcmp(b.type, "input_json_delta") == 0)
		reply_arguments(r, reply_call_find(r, index), b.json);
	else if (r->block_kind == BLOCK_OTHER || r->block_kind == BLOCK_TEXT)
		reply_piece(r, PIECE_DELTA, raw);
}

/* ---- messages ---- */

static void anthropic_read_content(struct reply *r, struct json_reader *j)
{
	int64_t index = 0;

	json_enter_array(j);
	while (json_next_item(j))
		take_block(r, j, index++, true);
}

/* A message: all of it, or (in message_start) its head, or (in message_delta) its end. */
static void anthropic_read_message(struct reply *r, struct json_reader *j, bool whole)
{
	struct slice id = { 0 }, model = { 0 }, content = { 0 };
	struct json_reader inner;
	const char *key;
	size_t len;

	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "id") == 0)
			text_read(j, &id);
		else if (strcmp(key, "model") == 0)
			text_read(j, &model);
		else if (strcmp(key, "content") == 0)
			text_read_raw(j, &content);
		else if (strcmp(key, "stop_reason") == 0)
			anthropic_read_reason(r, j);
		else if (strcmp(key, "stop_sequence") == 0)
			anthropic_read_stop(r, j);
		else if (strcmp(key, "usage") == 0)
			anthropic_read_usage(r, j, whole);
		else
			json_skip(j, NULL, NULL);
	}
	if (j->fault)
		return;
	if (id.at || content.at)
		reply_start(r, id, model);
	if (!whole || !content.at)
		return;
	json_open(&inner, j->arena, content.at, content.len);
	anthropic_read_content(r, &inner);
	if (inner.fault)
		text_refuse(j, inner.fault);
}

/* The members of an event, wherever they stand. */
struct anthropic_event {
	const char *type;
	struct slice message, block, delta, usage, error;
	int64_t index;
};

static void anthropic_read_members(struct json_reader *j, struct anthropic_event *e)
{
	const char *key;
	size_t len;

	*e = (struct anthropic_event){ .type = "", .index = -1 };
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "type") == 0)
			text_read_word(j, &e->type);
		else if (strcmp(key, "index") == 0)
			text_read_count(j, &e->index);
		else if (strcmp(key, "message") == 0)
			text_read_raw(j, &e->message);
		else if (strcmp(key, "content_block") == 0)
			text_read_raw(j, &e->block);
		else if (strcmp(key, "delta") == 0)
			text_read_raw(j, &e->delta);
		else if (strcmp(key, "usage") == 0)
			text_read_raw(j, &e->usage);
		else if (strcmp(key, "error") == 0)
			text_read_raw(j, &e->error);
		else
			json_skip(j, NULL, NULL);
	}
	json_end(j);
}

static void anthropic_fail_with(struct reply *r, struct json_reader *j)
{
	struct fault f;

	fault_read_value(&f, 0, j);
	if (!j->fault)
		reply_fail_with(r, &f);
}

static void anthropic_take_event(struct reply *r, const struct anthropic_event *e)
{
	struct slice what = e->message.at ? e->message
			    : e->block.at ? e->block
			    : e->delta.at ? e->delta
					  : e->error;
	struct json_reader j;

	json_open(&j, &r->scratch, what.at ? what.at : "", what.len);
	if (strcmp(e->type, "message_start") == 0) {
		anthropic_read_message(r, &j, false);
	} else if (strcmp(e->type, "content_block_start") == 0) {
		take_block(r, &j, e->index, false);
	} else if (strcmp(e->type, "content_block_delta") == 0) {
		anthropic_take_delta(r, &j, e->index);
	} else if (strcmp(e->type, "message_delta") == 0) {
		anthropic_read_message(r, &j, false);
		if (!j.fault && e->usage.at) {
			json_open(&j, &r->scratch, e->usage.at, e->usage.len);
			anthropic_read_usage(r, &j, true);
		}
	} else if (strcmp(e->type, "error") == 0) {
		anthropic_fail_with(r, &j);
	}
	if (j.fault)
		reply_unreadable(r, &j);
}

void anthropic_read_event(struct reply *r, const char *name, struct slice data)
{
	struct anthropic_event e;
	struct json_reader j;

	(void)name;
	json_open(&j, &r->scratch, data.at, data.len);
	anthropic_read_members(&j, &e);
	if (j.fault) {
		reply_unreadable(r, &j);
	} else if (strcmp(e.type, "content_block_stop") == 0) {
		anthropic_end_block(r, e.index);
	} else if (strcmp(e.type, "message_stop") == 0) {
		reply_finish(r);
	} else {
		anthropic_take_event(r, &e);
	}
}

void anthropic_read_whole(struct reply *r, struct slice body)
{
	struct anthropic_event e;
	struct json_reader j;

	json_open(&j, &r->scratch, body.at, body.len);
	anthropic_read_members(&j, &e);
	json_open(&j, &r->scratch, body.at, body.len);
	if (e.error.at)
		anthropic_fail_with(r, &j);
	else
		anthropic_read_message(r, &j, true);
	if (j.fault)
		reply_unreadable(r, &j);
	else if (!r->ended && !r->started)
		reply_fail(r, FAULT_MALFORMED, "The model provider's reply is not a message.");
	reply_finish(r);
}
