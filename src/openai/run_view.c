/* run_view.c - see run_view.h. */
#include "openai/run_view.h"

#include <stdio.h>
#include <string.h>

#include "openai/assistants.h"
#include "base/clock.h"
#include "base/json.h"
#include "store/row.h"

enum { WAITING_MAX = 1000, WORDS_PAGE = 500, CALLS_TEXT_MAX = 32 << 20 };

struct run_row_seen {
	const char *id, *session_id, *agent_id, *status, *error_code, *error, *metadata, *asked;
	int64_t created_at, started_at, ended_at, prompt_tokens, completion_tokens,
		cache_read_tokens, cache_write_tokens;
};

FIELDS(run_row_seen) = {
	FIELD(run_row_seen, id),
	FIELD(run_row_seen, session_id),
	FIELD(run_row_seen, agent_id),
	FIELD(run_row_seen, status),
	FIELD(run_row_seen, error_code, .nullable = true),
	FIELD(run_row_seen, error, .nullable = true),
	FIELD(run_row_seen, metadata, .nullable = true),
	FIELD(run_row_seen, asked, .nullable = true),
	FIELD(run_row_seen, created_at),
	FIELD(run_row_seen, started_at, .nullable = true),
	FIELD(run_row_seen, ended_at, .nullable = true),
	FIELD(run_row_seen, prompt_tokens),
	FIELD(run_row_seen, completion_tokens),
	FIELD(run_row_seen, cache_read_tokens),
	FIELD(run_row_seen, cache_write_tokens),
};
static SCHEMA(run_row_seen, .internal = true);

FIELDS(waiting_call) = {
	FIELD(waiting_call, call_id),
	FIELD(waiting_call, name),
	FIELD(waiting_call, arguments),
	FIELD(waiting_call, state),
	FIELD(waiting_call, approval_id, .nullable = true),
};
static SCHEMA(waiting_call, .internal = true);

FIELDS(run_word) = {
	FIELD(run_word, id),
	FIELD(run_word, role),
	FIELD(run_word, status),
	FIELD(run_word, content),
	FIELD(run_word, tool_calls),
	FIELD(run_word, tool_call_id, .nullable = true),
	FIELD(run_word, prompt_tokens),
	FIELD(run_word, completion_tokens),
	FIELD(run_word, created_at),
	FIELD(run_word, thoughts),
};
static SCHEMA(run_word, .internal = true);

enum { PAIR_OF(RUN_LIST), RUN_READ, RUN_WAITING, RUN_WORDS, RUN_NOTE, RUN_RETAG };

#define RUN_COLUMNS                                                                              \
	"r.id, r.session_id, s.agent_id, r.status, r.error_code, r.error, n.metadata, n.asked, " \
	"r.created_at, r.started_at, r.ended_at, r.prompt_tokens, r.completion_tokens, "         \
	"r.cache_read_tokens, r.cache_write_tokens"
#define RUN_FROM                                                                               \
	"session_runs r join sessions s on s.tenant_id = r.tenant_id and s.id = r.session_id " \
	"left join run_notes n on n.tenant_id = r.tenant_id and n.session_id = r.session_id "  \
	"and n.run_id = r.id where r.tenant_id = $1 and r.session_id = $2"

struct run_note_row {
	const char *tenant_id, *session_id, *run_id, *metadata, *asked;
};

FIELDS(run_note_row) = {
	ROW_FIELDS(run_note_row, tenant_id, session_id, run_id, metadata, asked),
};
static SCHEMA(run_note_row, .internal = true);

static const struct statement sql[] = {
	PAGE_STATEMENTS(RUN_LIST, "run_list", &run_row_seen_schema, RUN_COLUMNS, RUN_FROM, "r.id"),
	[RUN_READ] = { "run_read", "select " RUN_COLUMNS " from " RUN_FROM " and r.id = $3",
		.row = &run_row_seen_schema },
	[RUN_WAITING] = { "run_waiting",
		"select c.call_id, c.name, coalesce(c.sent, c.arguments) as arguments, c.state, p.id as approval_id "
		"from session_calls c left join approvals p on p.tenant_id = c.tenant_id "
		"and p.session_id = c.session_id and p.call_id = c.call_id and p.status = 'pending' "
		"where c.tenant_id = $1 and c.session_id = $2 and c.run_id = $3 "
		"and c.state in ('waiting_client', 'waiting_approval') "
		"order by c.message_id, c.position limit 1000",
		.row = &waiting_call_schema },
	[RUN_WORDS] = { "run_words",
		"select m.id, m.role, m.status, m.content, m.tool_calls, m.tool_call_id, "
		"m.prompt_tokens + m.cache_read_tokens + m.cache_write_tokens as prompt_tokens, "
		"m.completion_tokens, m.created_at, m.thoughts from messages m where m.tenant_id = $1 and m.session_id = $2 "
		"and m.id > $4 and m.run_id = $3 order by m.id limit $5",
		.row = &run_word_schema },
	[RUN_NOTE] = { "run_note", "insert into run_notes ({*}) values ({$})",
		.row = &run_note_row_schema },
	[RUN_RETAG] = { "run_retag",
		"insert into run_notes (tenant_id, session_id, run_id, metadata, asked) "
		"values ($1, $2, $3, $4, '') on conflict (tenant_id, session_id, run_id) "
		"do update set metadata = $4" },
};
STATEMENT_SET(run_view_sql, sql);

bool run_rests(const char *status)
{
	return strcmp(status, "queued") != 0 && strcmp(status, "in_progress") != 0;
}

/* ---- writing JSON ---- */

static void put_text_or_null(struct buf *b, const char *text)
{
	if (text)
		json_write_string(b, text, strlen(text));
	else
		buf_lit(b, "null");
}

static void put_function_call(
	struct buf *b, const char *id, const char *name, const char *arguments)
{
	buf_lit(b, "{\"id\":");
	put_text_or_null(b, id);
	buf_lit(b, ",\"type\":\"function\",\"function\":{\"name\":");
	put_text_or_null(b, name);
	buf_lit(b, ",\"arguments\":");
	put_text_or_null(b, arguments);
}

static const char *action_json(struct arena *a, const struct list *waiting)
{
	const struct waiting_call *w = waiting->at;
	struct buf b;

	buf_init(&b, CALLS_TEXT_MAX);
	buf_lit(&b, "{\"type\":\"submit_tool_outputs\",\"submit_tool_outputs\":{\"tool_calls\":[");
	for (size_t i = 0; i < waiting->count; i++) {
		buf_puts(&b, i ? "," : "");
		put_function_call(&b, w[i].call_id, w[i].name, w[i].arguments);
		buf_lit(&b, "}}");
	}
	buf_lit(&b, "]}}");
	return arena_take(a, &b);
}

static const char *error_json(struct arena *a, const struct run_row_seen *row)
{
	static const struct {
		const char *ours, *theirs;
	} codes[] = {
		{ "rate_limited", "rate_limit_exceeded" },
		{ "budget_exhausted", "rate_limit_exceeded" },
		{ "outside_working_hours", "rate_limit_exceeded" },
		{ "context_length", "invalid_prompt" },
		{ "content_filter", "invalid_prompt" },
		{ "refused", "invalid_prompt" },
	};
	const char *code = "server_error";
	struct buf b;

	for (size_t i = 0; row->error_code && i < sizeof codes / sizeof *codes; i++)
		if (strcmp(row->error_code, codes[i].ours) == 0)
			code = codes[i].theirs;
	buf_init(&b, CALLS_TEXT_MAX);
	buf_printf(&b, "{\"code\":\"%s\",\"message\":", code);
	put_text_or_null(&b, row->error ? row->error : "The run failed.");
	buf_putc(&b, '}');
	return arena_take(a, &b);
}

static const char *usage_json(struct arena *a, int64_t prompt, int64_t completion)
{
	long long in = prompt, out = completion;

	return arena_printf(a,
		"{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,\"total_tokens\":%lld}", in,
		out, in + out);
}

/* ---- a run ---- */

int run_view_waiting(struct db *db, struct arena *a, const struct run_place *at, struct list *ret)
{
	return db_all(db, a, &sql[RUN_WAITING], ret, WAITING_MAX,
		ARGS(T(at->tenant_id), T(at->session_id), T(at->run_id)));
}

static int64_t us_to_seconds(int64_t us)
{
	return us == NIL ? NIL : us / SECOND_US;
}

static void show_asked(struct arena *a, const char *asked, struct RunObject *out)
{
	const char *model = openai_text(a, asked, "model");
	const char *instructions = openai_text(a, asked, "instructions");
	const char *parallel = openai_member(a, asked, "parallel_tool_calls");
	const char *truncation = openai_member(a, asked, "truncation_strategy");
	const char *choice = openai_member(a, asked, "tool_choice");

	out->model = model ? model : ASSISTANT_MODEL;
	out->instructions = instructions ? instructions : "";
	out->tools.text = openai_member(a, asked, "tools");
	out->temperature.text = openai_member(a, asked, "temperature");
	out->top_p.text = openai_member(a, asked, "top_p");
	out->max_prompt_tokens.text = openai_member(a, asked, "max_prompt_tokens");
	out->max_completion_tokens.text = openai_member(a, asked, "max_completion_tokens");
	out->truncation_strategy.text =
		truncation ? truncation : "{\"type\":\"auto\",\"last_messages\":null}";
	out->tool_choice.text = choice ? choice : "\"auto\"";
	out->parallel_tool_calls = !parallel || strcmp(parallel, "false") != 0;
	out->response_format.text = "\"auto\"";
}

static int show_run(struct db *db, struct arena *a, const char *tenant_id,
	const struct run_row_seen *row, struct RunObject *out)
{
	struct run_place at = { tenant_id, row->session_id, row->id };
	struct list waiting = { 0 };
	bool may_wait = strcmp(row->status, "requires_action") == 0 ||
			strcmp(row->status, "in_progress") == 0;
	int64_t ended = us_to_seconds(row->ended_at);
	int err = may_wait ? run_view_waiting(db, a, &at, &waiting) : 0;

	if (err)
		return err;
	*out = (struct RunObject){ .id = row->id,
		.object = "thread.run",
		.created_at = us_to_seconds(row->created_at),
		.thread_id = row->session_id,
		.assistant_id = row->agent_id,
		.status = waiting.count ? "requires_action" : row->status,
		.expires_at = NIL,
		.started_at = us_to_seconds(row->started_at),
		.cancelled_at = strcmp(row->status, "cancelled") == 0 ? ended : NIL,
		.failed_at = strcmp(row->status, "failed") == 0 ? ended : NIL,
		.completed_at = strcmp(row->status, "completed") == 0 ? ended : NIL,
		.metadata = { row->metadata && *row->metadata ? row->metadata : NULL } };
	/* Its calls are about to be entered, or its results to be heard. */
	if (may_wait && !waiting.count)
		out->status = "in_progress";
	if (waiting.count)
		out->required_action.text = action_json(a, &waiting);
	if (strcmp(row->status, "failed") == 0)
		out->last_error.text = error_json(a, row);
	if (strcmp(row->status, "incomplete") == 0)
		out->incomplete_details.text = "{\"reason\":\"max_completion_tokens\"}";
	if (ended != NIL)
		out->usage.text = usage_json(a,
			row->prompt_tokens + row->cache_read_tokens + row->cache_write_tokens,
			row->completion_tokens);
	show_asked(a, row->asked && *row->asked ? row->asked : "{}", out);
	return 0;
}

int run_view_read(struct db *db, struct arena *a, const struct run_place *at, struct RunObject *ret)
{
	struct run_row_seen row;
	int err = db_one(db, a, &sql[RUN_READ], &row,
		ARGS(T(at->tenant_id), T(at->session_id), T(at->run_id)));

	return err ? err : show_run(db, a, at->tenant_id, &row, ret);
}

int run_view_page(
	struct call *c, const struct OpenAIPage *in, const struct thread *t, struct RunList *ret)
{
	struct openai_page page;
	struct RunObject *shown;
	int err = openai_page_read(
		c, in, &sql[RUN_LIST], ARGS(T(c->caller.tenant_id), T(t->id)), &page);

	if (err)
		return err;
	shown = arena_array(c->arena, struct RunObject, page.rows.count + 1);
	for (size_t i = 0; !err && i < page.rows.count; i++)
		err = show_run(c->db, c->arena, c->caller.tenant_id,
			(const struct run_row_seen *)page.rows.at + i, &shown[i]);
	*ret = (struct RunList){
		.object = "list", .data = { shown, page.rows.count }, .has_more = page.more
	};
	if (page.rows.count) {
		ret->first_id = shown[0].id;
		ret->last_id = shown[page.rows.count - 1].id;
	}
	return err;
}

static void put_note_member(struct buf *b, const char *name, const char *value, bool plain)
{
	if (!value)
		return;
	buf_printf(b, "%s\"%s\":", b->len > 1 ? "," : "", name);
	if (plain)
		put_text_or_null(b, value);
	else
		buf_puts(b, value);
}

int run_view_note(
	struct db *db, struct arena *a, const struct run_place *at, const struct run_asked_for *in)
{
	struct buf b;

	buf_init(&b, CALLS_TEXT_MAX);
	buf_putc(&b, '{');
	put_note_member(&b, "model", in->model, true);
	put_note_member(&b, "instructions", in->instructions, true);
	put_note_member(&b, "tools", in->tools, false);
	put_note_member(&b, "temperature", in->temperature, false);
	put_note_member(&b, "top_p", in->top_p, false);
	put_note_member(&b, "max_prompt_tokens", in->max_prompt_tokens, false);
	put_note_member(&b, "max_completion_tokens", in->max_completion_tokens, false);
	put_note_member(&b, "truncation_strategy", in->truncation_strategy, false);
	put_note_member(&b, "tool_choice", in->tool_choice, false);
	put_note_member(
		&b, "parallel_tool_calls", in->parallel_tool_calls ? "true" : "false", false);
	buf_putc(&b, '}');
	return db_put(db, &sql[RUN_NOTE],
		&(struct run_note_row){ .tenant_id = at->tenant_id,
			.session_id = at->session_id,
			.run_id = at->run_id,
			.metadata = in->metadata,
			.asked = arena_take(a, &b) });
}

int run_view_retag(struct db *db, const struct run_place *at, const char *metadata)
{
	return db_run(db, &sql[RUN_RETAG], NULL,
		ARGS(T(at->tenant_id), T(at->session_id), T(at->run_id), T(metadata)));
}

/* ---- steps ---- */

int run_view_words(struct db *db, struct arena *a, const struct run_place *at, const char *after_id,
	struct list *ret)
{
	struct run_word *all = NULL;
	struct list some = { .count = WORDS_PAGE };
	size_t n = 0;
	int err = 0;

	while (!err && some.count == WORDS_PAGE) {
		struct run_word *more;

		err = db_all(db, a, &sql[RUN_WORDS], &some, WORDS_PAGE,
			ARGS(T(at->tenant_id), T(at->session_id), T(at->run_id), T(after_id),
				N(WORDS_PAGE)));
		if (err || !some.count)
			break;
		more = arena_array(a, struct run_word, n + some.count);
		if (n)
			memcpy(more, all, n * sizeof *more);
		memcpy(more + n, some.at, some.count * sizeof *more);
		all = more;
		n += some.count;
		after_id = all[n - 1].id;
	}
	*ret = (struct list){ all, n };
	return err;
}

static const struct run_word *find_call_result(
	const struct run_word *results, size_t count, const char *call_id)
{
	for (size_t i = 0; call_id && i < count; i++)
		if (results[i].tool_call_id && strcmp(results[i].tool_call_id, call_id) == 0)
			return &results[i];
	return NULL;
}

/* Arguments are text; where they are kept as a value, the value's text. */
static const char *arguments_of(struct arena *a, const char *function)
{
	const char *text = openai_text(a, function, "arguments");

	if (!text)
		text = openai_member(a, function, "arguments");
	return text ? text : "{}";
}

const char *run_view_calls(struct arena *a, const char *tool_calls, const struct run_word *results,
	size_t result_count, bool index)
{
	struct json_reader r;
	const char *item;
	struct buf b;
	size_t len, n = 0;

	buf_init(&b, CALLS_TEXT_MAX);
	buf_putc(&b, '[');
	json_open(&r, a, tool_calls, strlen(tool_calls));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *call = arena_strndup(a, item, len);
		const char *nested = openai_member(a, call, "function");
		const char *function = nested ? nested : call, *id = openai_text(a, call, "id");
		const struct run_word *result = find_call_result(results, result_count, id);

		buf_puts(&b, n ? "," : "");
		put_function_call(
			&b, id, openai_text(a, function, "name"), arguments_of(a, function));
		buf_lit(&b, ",\"output\":");
		put_text_or_null(&b, result ? result->content : NULL);
		buf_putc(&b, '}');
		if (index)
			buf_printf(&b, ",\"index\":%zu", n);
		buf_putc(&b, '}');
		n++;
	}
	buf_putc(&b, ']');
	return arena_take(a, &b);
}

void run_view_step(struct arena *a, const struct step_view *in, struct RunStepObject *ret)
{
	bool done = strcmp(in->status, "completed") == 0;

	*ret = (struct RunStepObject){
		.id = arena_printf(a, "%s_%s", in->calls ? "calls" : "step", in->message_id),
		.object = "thread.run.step",
		.created_at = in->created_at,
		.run_id = in->run->id,
		.assistant_id = in->run->assistant_id,
		.thread_id = in->run->thread_id,
		.type = in->calls ? "tool_calls" : "message_creation",
		.status = in->status,
		.cancelled_at = strcmp(in->status, "cancelled") == 0 ? in->at : NIL,
		.completed_at = done ? in->at : NIL,
		.expired_at = NIL,
		.failed_at = strcmp(in->status, "failed") == 0 ? in->at : NIL,
		.last_error = { strcmp(in->status, "failed") == 0 ? in->run->last_error.text
								  : NULL },
	};
	if (in->calls)
		ret->step_details.text = arena_printf(a,
			"{\"type\":\"tool_calls\",\"tool_calls\":%s}",
			run_view_calls(a, in->tool_calls, in->results, in->result_count, false));
	else
		ret->step_details.text = arena_printf(a,
			"{\"type\":\"message_creation\",\"message_creation\":{\"message_id\":\"%s\"}}",
			in->message_id);
	if (done && in->prompt_tokens != NIL)
		ret->usage.text = usage_json(a, in->prompt_tokens, in->completion_tokens);
}
