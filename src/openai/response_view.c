/* response_view.c - responses as they are stored, found and shown; see responses.h. */
#include <math.h>
#include <string.h>

#include "base/utf8_cut.h"
#include "openai/openai_tools.h"
#include "openai/responses.h"
#include "base/clock.h"
#include "base/json.h"
#include "broker/chat_terms.h"

enum { ASKED_MAX = 8 << 20 };

FIELDS(response_row) = {
	FIELD(response_row, tenant_id),
	FIELD(response_row, id),
	FIELD(response_row, created_by_id),
	FIELD(response_row, agent_id, .nullable = true),
	FIELD(response_row, session_id, .nullable = true),
	FIELD(response_row, run_id, .nullable = true),
	FIELD(response_row, previous_id, .nullable = true),
	FIELD(response_row, after_id),
	FIELD(response_row, status),
	FIELD(response_row, created_at),
	FIELD(response_row, completed_at, .nullable = true),
	FIELD(response_row, model),
	FIELD(response_row, metadata),
	FIELD(response_row, asked),
	FIELD(response_row, usage, .nullable = true),
	FIELD(response_row, error, .nullable = true),
	FIELD(response_row, input),
	FIELD(response_row, output),
};
SCHEMA(response_row, .internal = true);

enum { ROW_ADD, ROW_READ, ROW_SETTLE, ROW_NEWEST };

static const struct statement sql[] = {
	[ROW_ADD] = { "response_add", "insert into responses ({*}) values ({$})",
		.row = &response_row_schema },
	[ROW_READ] = { "response_read",
		"select {*} from responses r where tenant_id = $1 and id = $2 and (session_id is null "
		"or exists (select 1 from sessions s where s.tenant_id = $1 and s.id = r.session_id)) "
		"and (agent_id is null or exists (select 1 from agents a where a.tenant_id = $1 "
		"and a.id = r.agent_id))",
		.row = &response_row_schema },
	[ROW_SETTLE] = { "response_settle",
		"update responses set status = :status, completed_at = :completed_at, "
		"usage = :usage, error = :error, output = :output "
		"where tenant_id = :tenant_id and id = :id",
		.row = &response_row_schema },
	[ROW_NEWEST] = { "response_newest",
		"select id as value from responses where tenant_id = $1 and session_id = $2 "
		"order by id desc limit 1",
		.row = &one_text_schema },
};
STATEMENT_SET(response_sql, sql);

/* ---- what was asked, to be shown again ---- */

struct note_writer {
	struct buf b;
};

static void note_name(struct note_writer *n, const char *member)
{
	buf_printf(&n->b, "%s\"%s\":", n->b.len > 1 ? "," : "", member);
}

static void note_text(struct note_writer *n, const char *member, const char *text)
{
	if (!text)
		return;
	note_name(n, member);
	json_write_string(&n->b, text, strlen(text));
}

static void note_json(struct note_writer *n, const char *member, const char *json)
{
	if (!json)
		return;
	note_name(n, member);
	buf_puts(&n->b, json);
}

static void note_number(struct note_writer *n, const char *member, double v)
{
	if (isnan(v))
		return;
	note_name(n, member);
	json_write_number(&n->b, v);
}

const char *response_conversation(struct arena *a, const struct ResponseCreate *in)
{
	const char *json = in->conversation.text;

	if (json && *json == '"')
		json = arena_printf(a, "{\"id\":%s}", json);
	return openai_text(a, json, "id");
}

static const char *asked_json(struct arena *a, const struct ResponseCreate *in)
{
	struct note_writer n;
	const char *text;

	buf_init(&n.b, ASKED_MAX);
	buf_putc(&n.b, '{');
	note_text(&n, "instructions", in->instructions);
	note_json(&n, "tools", in->tools.text);
	note_json(&n, "tool_choice", in->tool_choice.text);
	note_json(&n, "background", in->background == 1 ? "true" : NULL);
	note_json(&n, "parallel_tool_calls", in->parallel_tool_calls == 0 ? "false" : NULL);
	note_number(&n, "max_output_tokens",
		in->max_output_tokens == NIL ? NAN : (double)in->max_output_tokens);
	note_number(&n, "temperature", in->temperature);
	note_number(&n, "top_p", in->top_p);
	note_text(&n, "conversation", response_conversation(a, in));
	note_json(&n, "text", in->text.text);
	note_json(&n, "reasoning", in->reasoning.text);
	note_text(&n, "user", in->user);
	note_text(&n, "truncation", in->truncation);
	note_json(&n, "prompt_cache_key", in->prompt_cache_key.text);
	note_json(&n, "safety_identifier", in->safety_identifier.text);
	if (!chat_term_of("service_tier",
		    (struct slice){ in->service_tier.text ? in->service_tier.text : "null",
			    in->service_tier.text ? strlen(in->service_tier.text) : 4 }))
		note_json(&n, "service_tier", in->service_tier.text);
	note_json(&n, "top_logprobs", in->top_logprobs.text);
	note_json(&n, "max_tool_calls", in->max_tool_calls.text);
	note_json(&n, "store", in->store == 0 ? "false" : NULL);
	buf_putc(&n.b, '}');
	text = arena_strndup(a, n.b.at, n.b.len);
	buf_free(&n.b);
	return text;
}

int response_row_new(struct call *c, const struct ResponseCreate *in, struct response_row *ret)
{
	struct id id = id_new(NULL);

	*ret = (struct response_row){ .tenant_id = c->caller.tenant_id,
		.id = arena_strdup(c->arena, id.text),
		.created_by_id = c->caller.user_id,
		.previous_id = in->previous_response_id,
		.after_id = "",
		.status = "in_progress",
		.created_at = c->now,
		.completed_at = NIL,
		.model = in->model,
		.asked = asked_json(c->arena, in),
		.input = "[]",
		.output = "[]" };
	if (in->conversation.text && strcmp(in->conversation.text, "null") != 0 &&
		!response_conversation(c->arena, in))
		return call_field(
			c, "conversation", "type", "must be the id of a conversation, or {id}");
	if (in->previous_response_id && response_conversation(c->arena, in)) {
		c->problem.code = "mutually_exclusive_parameters";
		return call_field(c, "previous_response_id", "conflict",
			"must be null where conversation is given: a response goes on from one of them");
	}
	if (in->prompt.text && strcmp(in->prompt.text, "null") != 0)
		return call_field(c, "prompt", "format",
			"must be null: a prompt that is stored at a provider cannot be reckoned");
	if (in->moderation.text && strcmp(in->moderation.text, "null") != 0)
		return call_field(
			c, "moderation", "format", "must be null: it has a price of its own");
	return openai_metadata(c, "metadata", in->metadata.text, &ret->metadata);
}

int response_row_add(struct db *db, const struct response_row *row)
{
	return db_put(db, &sql[ROW_ADD], row);
}

int response_row_settle(struct db *db, const struct response_row *row)
{
	return db_put(db, &sql[ROW_SETTLE], row);
}

int response_row_read(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct response_row *ret)
{
	return db_one(db, a, &sql[ROW_READ], ret, ARGS(T(tenant_id), T(id)));
}

int response_newest(struct call *c, const char *session_id, const char **ret_id)
{
	struct one_text row = { 0 };
	int err = db_one(c->db, c->arena, &sql[ROW_NEWEST], &row,
		ARGS(T(c->caller.tenant_id), T(session_id)));

	*ret_id = row.value;
	return err;
}

/* An agent's is for whoever may see its session; a model's for who asked. */
int response_find(struct call *c, const char *id, int permission, struct response_row *ret)
{
	struct place place = { .tenant_id = c->caller.tenant_id };
	struct caller *who = &c->caller;
	int err = response_row_read(c->db, c->arena, c->caller.tenant_id, id, ret);

	if (!err && ret->session_id) {
		place.session_id = ret->session_id;
		err = caller_permit(who, c->db, c->arena, permission, &place, false, &c->problem);
	} else if (!err && strcmp(ret->created_by_id, who->user_id) != 0) {
		err = ERR_NOT_FOUND;
	} else if (!err && who->scoped && !(who->scopes & permission_given_by(permission))) {
		err = caller_lacks(c->arena, permission, &c->problem);
	}
	if (err != ERR_NOT_FOUND)
		return err;
	c->problem = (struct problem){ 0 };
	return call_fail(c, err, "Response with id '%.*s' not found.", UTF8_SHOWN(64, id));
}

void response_show(struct arena *a, const struct response_row *row, struct ResponseObject *out)
{
	const char *parallel = openai_member(a, row->asked, "parallel_tool_calls");
	const char *choice = openai_member(a, row->asked, "tool_choice");
	const char *text = openai_member(a, row->asked, "text");
	const char *truncation = openai_text(a, row->asked, "truncation");
	const char *conversation = openai_member(a, row->asked, "conversation");
	bool partial = strcmp(row->status, "incomplete") == 0;

	*out = (struct ResponseObject){ .id = row->id,
		.object = "response",
		.created_at = row->created_at / SECOND_US,
		.status = row->status,
		.background = openai_member(a, row->asked, "background") != NULL,
		.completed_at = row->completed_at == NIL ? NIL : row->completed_at / SECOND_US,
		.error = { partial ? NULL : row->error },
		.incomplete_details = { partial ? row->error : NULL },
		.instructions = { openai_member(a, row->asked, "instructions") },
		.max_output_tokens = { openai_member(a, row->asked, "max_output_tokens") },
		.metadata = { row->metadata },
		.model = row->model,
		.output = { row->output },
		.parallel_tool_calls = !parallel,
		.previous_response_id = row->previous_id,
		.conversation = { conversation ? arena_printf(a, "{\"id\":%s}", conversation)
					       : NULL },
		.reasoning = { openai_member(a, row->asked, "reasoning") },
		.store = !openai_member(a, row->asked, "store"),
		.temperature = { openai_member(a, row->asked, "temperature") },
		.text = { text ? text : "{\"format\":{\"type\":\"text\"}}" },
		.tool_choice = { choice ? choice : "\"auto\"" },
		.tools = { openai_member(a, row->asked, "tools") },
		.top_p = { openai_member(a, row->asked, "top_p") },
		.truncation = truncation ? truncation : "disabled",
		.usage = { row->usage },
		.user = openai_text(a, row->asked, "user"),
		.prompt_cache_key = { openai_member(a, row->asked, "prompt_cache_key") },
		.safety_identifier = { openai_member(a, row->asked, "safety_identifier") },
		.service_tier = { openai_member(a, row->asked, "service_tier") },
		.top_logprobs = { openai_member(a, row->asked, "top_logprobs") },
		.max_tool_calls = { openai_member(a, row->asked, "max_tool_calls") } };
}
