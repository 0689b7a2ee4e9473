/* responses_read.c - replies of OpenAI's responses API; see openai_responses.c.
 *
 * A stream announces items, grows them, and ends with response.completed,
 * .incomplete or .failed, which repeat the whole response: the figures and
 * the reason are read there, the text is not read twice.  What was announced
 * as done but had not been streamed (some servers send no deltas) is taken
 * from the item.  Kinds of events that are not known are passed over. */
#include "broker/openai.h"
#include "broker/responses.h"

#include <string.h>

#include "base/utf8_cut.h"

static const struct slice none = { 0 };

/* ---- items ---- */

struct item {
	const char *type;
	struct slice id, call_id, name, arguments, signature, content, summary;
};

static void responses_read_item(struct json_reader *j, struct item *i)
{
	const char *key;
	size_t len;

	*i = (struct item){ .type = "" };
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "type") == 0)
			text_read_word(j, &i->type);
		else if (strcmp(key, "id") == 0)
			text_read(j, &i->id);
		else if (strcmp(key, "call_id") == 0)
			text_read(j, &i->call_id);
		else if (strcmp(key, "name") == 0)
			text_read(j, &i->name);
		else if (strcmp(key, "arguments") == 0)
			text_read(j, &i->arguments);
		else if (strcmp(key, "encrypted_content") == 0)
			text_read(j, &i->signature);
		else if (strcmp(key, "content") == 0)
			text_read_raw(j, &i->content);
		else if (strcmp(key, "summary") == 0)
			text_read_raw(j, &i->summary);
		else
			json_skip(j, NULL, NULL);
	}
}

/* Parts with a text or a refusal. */
static void take_parts(struct reply *r, struct json_reader *j, struct slice parts, bool thought)
{
	struct json_reader in;
	struct slice text;
	const char *key;
	size_t len;

	if (!parts.at)
		return;
	json_open(&in, j->arena, parts.at, parts.len);
	json_enter_array(&in);
	while (json_next_item(&in)) {
		json_enter_object(&in);
		while (json_next_key(&in, &key, &len)) {
			bool refuses = strcmp(key, "refusal") == 0;

			if (strcmp(key, "text") != 0 && !refuses)
				json_skip(&in, NULL, NULL);
			else if (text_read(&in, &text) && thought)
				reply_thought(r, text);
			else if (!in.fault && refuses)
				reply_refusal(r, text);
			else if (!in.fault)
				reply_text(r, text, none);
		}
	}
	if (in.fault)
		text_refuse(j, in.fault);
}

static int begin_call(struct reply *r, const struct item *i, int64_t key)
{
	if (i->name.len)
		return reply_call(r, key, i->call_id.len ? i->call_id : i->id, i->name);
	reply_fail(r, FAULT_MALFORMED, "The model calls a tool without naming it.");
	return -1;
}

/* An item that is complete.  `heard`: its text was streamed already. */
static void take_item(struct reply *r, struct json_reader *j, int64_t key, bool heard)
{
	struct slice raw = { 0 };
	struct json_reader in;
	struct item i;

	text_read_raw(j, &raw);
	if (j->fault)
		return;
	json_open(&in, j->arena, raw.at, raw.len);
	responses_read_item(&in, &i);
	if (in.fault)
		text_refuse(j, in.fault);
	if (j->fault)
		return;
	if (strcmp(i.type, "function_call") == 0) {
		int call = reply_call_find(r, key);

		if (call < 0)
			call = begin_call(r, &i, key);
		if (call >= 0 && !r->calls[call].spoken)
			reply_arguments(r, call, i.arguments);
		reply_call_item(r, call, raw);
	} else if (strcmp(i.type, "reasoning") == 0) {
		if (!heard)
			take_parts(r, j, i.summary, true);
		reply_signature(r, i.signature, i.id, false);
	} else {
		if (strcmp(i.type, "message") == 0 && !heard)
			take_parts(r, j, i.content, false);
		reply_item(r, raw);
	}
}

static void take_added(struct reply *r, struct json_reader *j, int64_t key)
{
	struct item i;

	responses_read_item(j, &i);
	if (!j->fault && strcmp(i.type, "function_call") == 0)
		reply_arguments(r, begin_call(r, &i, key), i.arguments);
}

/* ---- the response itself ---- */

struct response {
	struct slice id, model, output, error;
	const char *status, *why;
};

static void read_why(struct json_reader *j, const char **ret)
{
	const char *key;
	size_t len;

	if (json_peek(j) != JSON_OBJECT) {
		json_skip(j, NULL, NULL);
		return;
	}
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "reason") == 0)
			text_read_word(j, ret);
		else
			json_skip(j, NULL, NULL);
	}
}

static void read_response(struct reply *r, struct json_reader *j, struct response *out)
{
	struct usage u;
	const char *key;
	unsigned said;
	size_t len;

	*out = (struct response){ .status = "", .why = "" };
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "id") == 0)
			text_read(j, &out->id);
		else if (strcmp(key, "model") == 0)
			text_read(j, &out->model);
		else if (strcmp(key, "status") == 0)
			text_read_word(j, &out->status);
		else if (strcmp(key, "output") == 0)
			text_read_raw(j, &out->output);
		else if (strcmp(key, "error") == 0)
			text_read_raw(j, &out->error);
		else if (strcmp(key, "incomplete_details") == 0)
			read_why(j, &out->why);
		else if (strcmp(key, "usage") != 0)
			json_skip(j, NULL, NULL);
		else if ((said = openai_read_usage(j, &u)) != 0)
			reply_usage(r, &u, said);
	}
}

static void responses_fail_with(struct reply *r, struct slice error)
{
	struct json_reader j;
	struct fault f;

	json_open(&j, &r->scratch, error.at ? error.at : "{}", error.at ? error.len : 2);
	fault_read_value(&f, 0, &j);
	reply_fail_with(r, &f);
}

static void end_with(struct reply *r, const struct response *in)
{
	if (in->error.at || strcmp(in->status, "failed") == 0) {
		responses_fail_with(r, in->error);
	} else if (strcmp(in->status, "incomplete") == 0) {
		reply_reason(r, strcmp(in->why, "content_filter") == 0 ? FINISH_CONTENT_FILTER
								       : FINISH_LENGTH);
		reply_finish(r);
	} else if (strcmp(in->status, "completed") == 0) {
		reply_reason(r, FINISH_STOP);
		reply_finish(r);
	} else {
		reply_fail(r, FAULT_MALFORMED,
			"The model provider's reply ended with the status \"%.*s\".",
			UTF8_SHOWN(64, in->status));
	}
}

void responses_read_whole(struct reply *r, struct slice body)
{
	struct json_reader j, in;
	struct response res;
	int64_t key = 0;

	json_open(&j, &r->scratch, body.at, body.len);
	read_response(r, &j, &res);
	if (!j.fault && !res.output.at && !res.error.at) {
		reply_fail(r, FAULT_MALFORMED, "The model provider's reply holds no output.");
		return;
	}
	if (!j.fault && res.output.at && !res.error.at) {
		reply_start(r, res.id, res.model);
		json_open(&in, &r->scratch, res.output.at, res.output.len);
		json_enter_array(&in);
		while (json_next_item(&in))
			take_item(r, &in, key++, false);
		if (in.fault)
			text_refuse(&j, in.fault);
	}
	if (j.fault)
		reply_unreadable(r, &j);
	else
		end_with(r, &res);
}

/* ---- the stream ---- */

struct responses_event {
	const char *type;
	struct slice response, item, delta;
	int64_t output;
};

static void responses_read_members(struct json_reader *j, struct responses_event *e)
{
	const char *key;
	size_t len;

	*e = (struct responses_event){ .type = "", .output = -1 };
	json_enter_object(j);
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "type") == 0)
			text_read_word(j, &e->type);
		else if (strcmp(key, "response") == 0)
			text_read_raw(j, &e->response);
		else if (strcmp(key, "item") == 0)
			text_read_raw(j, &e->item);
		else if (strcmp(key, "delta") == 0 && json_peek(j) == JSON_STRING)
			text_read(j, &e->delta);
		else if (strcmp(key, "output_index") == 0)
			text_read_count(j, &e->output);
		else
			json_skip(j, NULL, NULL);
	}
	json_end(j);
}

static bool responses_event_is(const struct responses_event *e, const char *type)
{
	return strcmp(e->type, type) == 0;
}

static void take_response(struct reply *r, struct json_reader *j, const struct responses_event *e)
{
	struct response res;

	read_response(r, j, &res);
	if (j->fault)
		return;
	reply_start(r, res.id, res.model);
	if (responses_event_is(e, "response.completed") ||
		responses_event_is(e, "response.incomplete") ||
		responses_event_is(e, "response.failed"))
		end_with(r, &res);
}

/* The bit of an item in r->heard. */
static uint64_t bit_of(int64_t output)
{
	return UINT64_C(1) << (output < 0 || output > 62 ? 63 : output);
}

static void responses_take_delta(struct reply *r, const struct responses_event *e)
{
	if (responses_event_is(e, "response.output_text.delta"))
		reply_text(r, e->delta, none);
	else if (responses_event_is(e, "response.refusal.delta"))
		reply_refusal(r, e->delta);
	else if (responses_event_is(e, "response.reasoning_summary_text.delta") ||
		 responses_event_is(e, "response.reasoning_text.delta"))
		reply_thought(r, e->delta);
	else if (responses_event_is(e, "response.function_call_arguments.delta"))
		reply_arguments(r, reply_call_find(r, e->output), e->delta);
	else
		return;
	r->heard |= bit_of(e->output);
}

void responses_read_event(struct reply *r, const char *name, struct slice data)
{
	struct responses_event e;
	struct json_reader j, in;
	struct slice what;

	(void)name;
	/* Some that only imitate it end with this as well; the response was over before it. */
	if (text_is(data, "[DONE]"))
		return;
	json_open(&j, &r->scratch, data.at, data.len);
	responses_read_members(&j, &e);
	if (j.fault) {
		reply_unreadable(r, &j);
		return;
	}
	if (responses_event_is(&e, "error")) {
		responses_fail_with(r, data);
		return;
	}
	if (e.delta.at) {
		responses_take_delta(r, &e);
		return;
	}
	what = e.response.at ? e.response : e.item;
	if (!what.at)
		return;
	json_open(&in, &r->scratch, what.at, what.len);
	if (e.response.at)
		take_response(r, &in, &e);
	else if (responses_event_is(&e, "response.output_item.added"))
		take_added(r, &in, e.output);
	else if (responses_event_is(&e, "response.output_item.done"))
		take_item(r, &in, e.output, (r->heard & bit_of(e.output)) != 0);
	if (in.fault)
		reply_unreadable(r, &in);
}
