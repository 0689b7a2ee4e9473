/* turn_answer.c - an answer is stored: the message, its calls, what it cost, and what follows, in one commit.
 *
 * Before that it is weighed without the store: which tools it wants, and
 * whether they can be called so.  A model that calls what is not there, calls the
 * same again and again, says nothing, or wants everything at once is told so a
 * bounded number of times, and then the session ends with the cause. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_schema.h"
#include "base/utf8_cut.h"
#include "broker/ledger.h"
#include "contract/encode.h"
#include "sessions/turn.h"
#include "store/row.h"

struct new_summary {
	const char *tenant_id, *session_id, *last_message_id, *content;
	int64_t created_at;
};

FIELDS(new_summary) = { ROW_FIELDS(
	new_summary, tenant_id, session_id, last_message_id, content, created_at) };
static SCHEMA(new_summary, .internal = true);

enum { SAME_CALLS, SUMMARY_ADD, ATTENTION };

static const struct statement sql[] = {
	[SAME_CALLS] = { "turn_same_calls",
		"select count(*) from session_calls where tenant_id = $1 and session_id = $2 "
		"and run_id = $3 and name = $4 and arguments = $5" },
	[SUMMARY_ADD] = { "turn_summary_add",
		"insert into session_summaries ({*}) values ({$}) "
		"on conflict (tenant_id, session_id, last_message_id) do nothing",
		.row = &new_summary_schema },
	[ATTENTION] = { "turn_attention",
		"update session_rows set attention_at = $3 where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(turn_answer_sql, sql);

/* ---- weighing ---- */

/* Unique within the message, whatever the model says. */
static const char *call_id_of(struct turn *t, size_t i, struct slice given)
{
	const char *id = text_plain(&t->mind, given);
	bool taken = !*id || strlen(id) > 200;

	for (size_t j = 0; j < i && !taken; j++)
		taken = strcmp(t->wanted[j].call_id, id) == 0;
	return taken ? arena_printf(&t->mind, "call_%s_%zu", t->answer_id, i + 1) : id;
}

static void weigh_call(struct turn *t, size_t i, const struct collected_call *c, size_t *left)
{
	struct wanted *w = &t->wanted[i];
	const char *said = text_plain(&t->mind, c->name);

	w->call_id = call_id_of(t, i, c->id);
	w->extra = c->extra.at ? arena_strndup(&t->mind, c->extra.at, c->extra.len) : NULL;
	w->arguments = text_plain(&t->mind, (struct slice){ c->arguments.at, c->arguments.len });
	if (!*w->arguments)
		w->arguments = "{}";
	w->offer = prompt_offer(t, said);
	w->name = w->offer ? w->offer->name : said;
	if (!w->offer)
		w->fault = arena_printf(&t->mind,
			"There is no tool named %.*s. Use only the tools you were given.",
			UTF8_SHOWN(100, said));
	else if (w->offer->held)
		w->fault = tool_check_within(&t->mind, w->offer->held, w->arguments, left);
}

static bool is_unwanted(struct turn *t)
{
	bool unwanted;

	pthread_mutex_lock(&t->lock);
	unwanted = t->cancelled;
	pthread_mutex_unlock(&t->lock);
	return unwanted;
}

int turn_act_weigh(struct turn *t, struct db *db)
{
	const struct collected_call *c = t->heard.calls;
	/* All calls of an answer together take no longer than one may. */
	size_t count = 0, left = JSON_SCHEMA_STEPS_MAX;

	(void)db;
	t->content = text_plain(&t->mind, (struct slice){ t->heard.text.at, t->heard.text.len });
	for (; c; c = c->next)
		count++;
	t->wanted = arena_array(&t->mind, struct wanted, count + 1);
	count = 0;
	for (c = t->heard.calls; c && !is_unwanted(t); c = c->next, count++)
		weigh_call(t, count, c, &left);
	t->wanted_count = count;
	t->then = TURN_ANSWER;
	return 0;
}

/* ---- what is stored ---- */

static void put_call(struct buf *b, struct arena *a, const struct wanted *w)
{
	const struct offer *o = w->offer;
	const char *arguments = call_arguments(a, w->arguments);
	const struct MessageCall call = { .id = w->call_id,
		.name = w->name,
		.client = o && !o->held ? 1 : -1,
		/* The model finds its own words again. */
		.alias = o && strcmp(o->alias, prompt_alias(a, w->name)) != 0 ? o->alias : NULL,
		.arguments = { arguments ? arguments : "null" },
		.extra_content = { w->extra } };

	encode_object(b, &MessageCall_schema, &call);
}

static const char *calls_json(struct turn *t, struct arena *a)
{
	struct buf b;

	if (!t->wanted_count)
		return "[]";
	buf_init(&b, (size_t)64 << 20);
	for (size_t i = 0; i < t->wanted_count; i++) {
		buf_putc(&b, i ? ',' : '[');
		put_call(&b, a, &t->wanted[i]);
	}
	buf_putc(&b, ']');
	return arena_take(a, &b);
}

/* For the same kind of provider to be given back; "" for none. */
static const char *thoughts_json(struct turn *t, struct arena *a)
{
	const char *maker = t->end.candidate ? t->end.candidate->provider->name : "";
	struct buf b;
	const char *text;

	if (!t->heard.thoughts)
		return "";
	buf_init(&b, (size_t)64 << 20);
	for (const struct collected_thought *c = t->heard.thoughts; c; c = c->next) {
		buf_puts(&b, b.len ? ",{\"maker\":\"" : "[{\"maker\":\"");
		buf_puts(&b, maker);
		buf_lit(&b, "\",\"text\":");
		text_put_quoted(&b, (struct slice){ c->text.at ? c->text.at : "", c->text.len });
		if (c->signature.at) {
			buf_lit(&b, ",\"seal\":");
			text_put_quoted(&b, c->signature);
		}
		if (c->id.at) {
			buf_lit(&b, ",\"id\":");
			text_put_quoted(&b, c->id);
		}
		buf_printf(&b, ",\"redacted\":%s}", c->redacted ? "true" : "false");
	}
	buf_putc(&b, ']');
	text = arena_take(a, &b);
	return text;
}

static int count_usage(struct turn *t, struct session_tx *p)
{
	const struct usage *u = &t->end.usage;
	const char *model = t->end.candidate ? t->end.candidate->model_id : "";
	const struct UsageEvent event = { .run_id = t->run_id,
		.model_id = model,
		.prompt_tokens = u->input,
		.completion_tokens = u->output,
		.cache_read_tokens = u->cache_read,
		.cache_write_tokens = u->cache_write,
		.cost_usd = { t->end.cost_pd } };

	p->run.model_id = model;
	p->run.prompt_tokens += u->input;
	p->run.completion_tokens += u->output;
	p->run.cache_read_tokens += u->cache_read;
	p->run.cache_write_tokens += u->cache_write;
	p->run.cost_pd += t->end.cost_pd;
	return tx_tell(p, USAGE, &event);
}

/* What no delta has told yet: of an answer that comes whole only what the model thought, for the message has the rest. */
static int tell_rest(struct turn *t, struct session_tx *p)
{
	struct flow_marks marks = t->flow.sent;
	struct DeltaEvent *pieces;
	size_t count = turn_pieces(t, p->a, &marks, &pieces);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		if (t->flow.begun || pieces[i].thought)
			err = tx_tell(p, DELTA, &pieces[i]);
	return err;
}

static int store_message(struct turn *t, struct session_tx *p, bool with_calls)
{
	struct message_row m = { .id = t->answer_id,
		.run_id = t->run_id,
		.role = "assistant",
		.status = "complete",
		.model_id = t->end.candidate ? t->end.candidate->model_id : NULL,
		.prompt_tokens = t->end.usage.input,
		.completion_tokens = t->end.usage.output,
		.cache_read_tokens = t->end.usage.cache_read,
		.cache_write_tokens = t->end.usage.cache_write,
		.cost_pd = t->end.cost_pd,
		.tool_calls = with_calls ? calls_json(t, p->a) : "[]",
		.thoughts = with_calls ? thoughts_json(t, p->a) : "",
		.content = t->content };
	struct message_row begun;
	int err = tell_rest(t, p);

	if (err || !t->flow.begun)
		return err ? err : tx_message_add(p, &m);
	p->row.writing_id = NULL;
	err = tx_message_read(p, t->answer_id, &begun);
	m.created_at = begun.created_at;
	return err ? err : tx_message_save(p, &m);
}

/* ---- what a model should not do ---- */

static int same_calls(struct turn *t, struct session_tx *p, const struct wanted *w, int64_t *ret)
{
	int err = 0;

	*ret = 0;
	/* So many of them need at least so many turns, or stand in this one. */
	if (p->run.iteration_count >= SESSION_SAME_CALLS_MAX / 2)
		err = db_int(p->db, &sql[SAME_CALLS], ret,
			ARGS(T(p->tenant_id), T(p->session_id), T(t->run_id), T(w->name),
				T(w->arguments)));
	for (size_t i = 0; i < t->wanted_count; i++)
		*ret += strcmp(t->wanted[i].name, w->name) == 0 &&
			strcmp(t->wanted[i].arguments, w->arguments) == 0;
	return err;
}

/* A sentence about what makes it pointless to go on, or NULL. */
static int find_fault(struct turn *t, struct session_tx *p, const char **ret_code, const char **ret)
{
	int64_t same = 0;
	int err = 0;

	*ret = NULL;
	if (t->wanted_count > SESSION_CALLS_MAX) {
		*ret_code = "too_many_calls";
		*ret = arena_printf(p->a,
			"The model wanted %zu calls of tools at once; %d are the most.",
			t->wanted_count, SESSION_CALLS_MAX);
	} else if (p->run.bad_calls >= SESSION_BAD_CALLS_MAX) {
		*ret_code = "bad_calls";
		*ret = arena_printf(p->a,
			"The model made %d impossible calls in a row; the last one: %.*s",
			SESSION_BAD_CALLS_MAX, UTF8_SHOWN(300, t->wanted[0].fault));
	} else if (p->run.empty_answers > 1) {
		*ret_code = "empty_answer";
		*ret = t->heard.finish == FINISH_CONTENT_FILTER
			       ? "The provider's filter stopped the answer, twice."
		       : t->heard.finish == FINISH_LENGTH
			       ? "The model used up its limit of tokens without an answer, twice."
			       : "The model answered nothing, twice.";
	}
	for (size_t i = 0; !err && !*ret && i < t->wanted_count; i++) {
		err = same_calls(t, p, &t->wanted[i], &same);
		if (!err && same > SESSION_SAME_CALLS_MAX) {
			*ret_code = "loop";
			*ret = arena_printf(p->a,
				"The model goes in circles: it called %.*s with the same arguments more than %d times.",
				UTF8_SHOWN(100, t->wanted[i].name), SESSION_SAME_CALLS_MAX);
		}
	}
	return err;
}

static void count_oddities(struct turn *t, struct session_tx *p)
{
	bool bad = t->wanted_count > 0;

	for (size_t i = 0; i < t->wanted_count; i++)
		bad &= t->wanted[i].fault != NULL;
	p->run.bad_calls = bad ? p->run.bad_calls + 1 : 0;
	p->run.empty_answers = !t->wanted_count && !*t->content ? p->run.empty_answers + 1 : 0;
}

/* ---- the steps ---- */

static struct list new_calls(struct turn *t, struct session_tx *p)
{
	struct call_row *c = arena_array(p->a, struct call_row, t->wanted_count + 1);

	for (size_t i = 0; i < t->wanted_count; i++) {
		const struct wanted *w = &t->wanted[i];
		struct id id = id_new(NULL);

		c[i] = (struct call_row){ .message_id = t->answer_id,
			.position = (int64_t)i,
			.id = arena_strdup(p->a, id.text),
			.run_id = t->run_id,
			.call_id = w->call_id,
			.tool_id = w->offer && w->offer->held ? w->offer->held->id : NULL,
			.name = w->name,
			.state = CALL_STATE_NEW,
			.created_at = p->now,
			.started_at = NIL,
			.ended_at = NIL,
			.arguments = w->arguments };
	}
	return (struct list){ c, t->wanted_count };
}

/* Marked once, whatever becomes of the threshold and of the session. */
static int mark_for_attention(struct turn *t, struct session_tx *p)
{
	int err;

	if (t->kit.warn_at == NIL || p->row.iteration_count < t->kit.warn_at ||
		p->row.attention_at != NIL)
		return 0;
	p->row.attention_at = p->now;
	err = db_run(
		p->db, &sql[ATTENTION], NULL, ARGS(T(p->tenant_id), T(p->session_id), N(p->now)));
	return err ? err
		   : tx_notice(p, "iterations",
			     "The agent has taken %lld turns in this session, at which it is marked for "
			     "attention.",
			     (long long)p->row.iteration_count);
}

static int store_answer(struct turn *t, struct session_tx *p)
{
	const char *code = NULL, *fault;
	struct list calls;
	int err;

	p->run.iteration_count++;
	p->row.iteration_count++;
	t->first = 0;
	t->summaries = 0;
	t->cut = t->heard.finish == FINISH_LENGTH && !t->wanted_count;
	count_oddities(t, p);
	err = find_fault(t, p, &code, &fault);
	if (!err && p->run.empty_answers)
		err = t->flow.begun ? tx_message_discard(p, t->answer_id) : 0;
	else if (!err)
		err = store_message(t, p, !fault);
	if (!err)
		err = count_usage(t, p);
	p->run_changed = true;
	if (!err)
		err = mark_for_attention(t, p);
	if (!err && fault)
		return turn_fail(t, p, code, "%s", fault);
	if (!err && p->run.empty_answers)
		err = tx_notice(
			p, "empty_answer", "The model answered nothing; it is asked once more.");
	calls = fault ? (struct list){ 0 } : new_calls(t, p);
	if (!err && p->run.empty_answers)
		p->results = 1; /* what was said is still unanswered */
	return err ? err : turn_advance(t, p, &calls);
}

static int store_summary(struct turn *t, struct session_tx *p)
{
	int err = db_put(p->db, &sql[SUMMARY_ADD],
		&(struct new_summary){ .tenant_id = p->tenant_id,
			.session_id = p->session_id,
			.last_message_id = t->summary_up_to,
			.content = t->content,
			.created_at = p->now });

	t->summaries++;
	if (!err)
		err = tx_notice(p, "summarised",
			"The session has grown too long for the model; what is oldest was summed up.");
	if (!err)
		err = count_usage(t, p);
	p->run_changed = true;
	t->then = TURN_LOAD;
	return err ? err : tx_close(p);
}

/* It broke off, or never began. */
static int store_fault(struct turn *t, struct session_tx *p)
{
	const struct fault *f = &t->end.fault;
	int err = 0;

	if (t->flow.begun)
		err = tx_message_discard(p, t->answer_id);
	p->row.writing_id = NULL;
	if (!err && t->end.begun && t->end.usage.output)
		err = count_usage(t, p);
	p->run_changed = true;
	if (err)
		return err;
	if (!t->end.begun || !fault_rows[f->class].fails_over ||
		t->end.index + 1 >= t->candidates.count)
		return turn_fail(t, p, fault_rows[f->class].word, "%s", f->sentence);
	err = tx_notice(p, "answer_restarted",
		"The answer broke off (%s); it begins again with the next model.", f->sentence);
	t->first = t->end.index + 1;
	/* Another message, for what was shown of this one is gone. */
	memcpy(t->answer_id, tx_next_id(p), ID_LEN + 1);
	t->then = TURN_LOAD;
	return err ? err : tx_close(p);
}

/* Who did not answer is told before what came of it. */
static int tell_failed(struct turn *t, struct session_tx *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->end.failed_count; i++)
		err = tx_notice(p, NOTICE_FAILOVER, "%s: %s. The next model was asked.",
			t->end.failed[i].candidate->slug, fault_rows[t->end.failed[i].class].title);
	if (!err && t->end.candidate && t->end.candidate->without_parts && !p->run.iteration_count)
		err = tx_notice(p, "parts_left_out",
			"%s does not take the images, files or sounds of this session; it was told which "
			"there are.",
			t->end.candidate->slug);
	return err;
}

int turn_act_answer(struct turn *t, struct db *db)
{
	struct session_tx p;
	bool mine;
	int err = turn_tx(t, db, &p, &mine);

	if (!mine)
		return err;
	if (t->end.how == ANSWER_CANCELLED) {
		err = t->flow.begun ? tx_message_discard(&p, t->answer_id) : 0;
		p.row.writing_id = NULL;
		return err ? err : turn_requeue(t, &p);
	}
	err = turn_waited(t, &p);
	if (!err)
		err = tell_failed(t, &p);
	if (err)
		return err;
	if (t->end.how == ANSWER_FAILED)
		return store_fault(t, &p);
	if (t->summary_up_to && *t->content)
		return store_summary(t, &p);
	if (t->summary_up_to)
		return turn_fail(t, &p, "context_length",
			"The session is too long for the model, and its summary came back empty.");
	atomic_fetch_add_explicit(&t->s->answers, 1, memory_order_relaxed);
	return store_answer(t, &p);
}
