/* response_history.c - what an agent is told by the items of a response.
 *
 * A client that keeps its conversation itself sends all of it each time, and
 * names neither response nor session.  If the agent waits for results, the
 * ids of the calls say where; they come from models and are not unique, and
 * so all that waits there must be answered, the calls must be the same, and
 * the words before them too.  Otherwise all of it is the history of a session
 * that begins. */
#include <string.h>

#include "openai/openai_media.h"
#include "openai/responses.h"
#include "openai/run_view.h"
#include "api/sessions/session_rows.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "contract/encode.h"
#include "sessions/session.h"
#include "sessions/session_events.h"
#include "store/row.h"

enum { WAITING_SEEN_MAX = 20, CALLS_MAX_BYTES = 32 << 20, SYSTEM_MAX_BYTES = 64 << 20 };

struct waiting_place {
	const char *session_id, *run_id;
};

FIELDS(waiting_place) = { ROW_FIELDS(waiting_place, session_id, run_id) };
static SCHEMA(waiting_place, .internal = true);

enum { WAITING_CALL, WAITING_APPROVAL, LAST_WORDS };

#define AT_WORK                                                                            \
	"join sessions s on s.tenant_id = $1 and s.id = w.session_id and s.agent_id = $3 " \
	"join session_runs r on r.tenant_id = $1 and r.session_id = w.session_id "         \
	"and r.id = s.run_id and r.user_id = $4 "

static const struct statement sql[] = {
	/* $1 tenant, $2 the call, $3 agent, $4 who began the run */
	[WAITING_CALL] = { "response_waiting_call",
		"select w.session_id, w.run_id from session_calls w " AT_WORK
		"where w.tenant_id = $1 and w.call_id = $2 and w.state = 'waiting_client' "
		"and w.run_id = s.run_id order by w.message_id desc limit 20",
		.row = &waiting_place_schema },
	[WAITING_APPROVAL] = { "response_waiting_approval",
		"select w.session_id, r.id as run_id from approvals w " AT_WORK
		"where w.tenant_id = $1 and w.id = $2 and w.status = 'pending'",
		.row = &waiting_place_schema },
	[LAST_WORDS] = { "response_last_words",
		"select content as value from messages where tenant_id = $1 and session_id = $2 "
		"and role = 'user' and status = 'complete' order by id desc limit 1",
		.row = &one_text_schema },
};
STATEMENT_SET(response_history_sql, sql);

/* ---- looking at items ---- */

bool response_answers_calls(const struct list *items)
{
	const struct response_item *item = items->at;

	for (size_t i = 0; i < items->count; i++)
		if (item[i].kind == ITEM_OUTPUT || item[i].kind == ITEM_APPROVAL)
			return true;
	return false;
}

static const struct response_item *find_item(
	const struct list *items, size_t before, enum item_kind kind, const char *call_id)
{
	const struct response_item *item = items->at;

	for (size_t i = before; i-- > 0;)
		if (item[i].kind == kind && strcmp(item[i].call_id, call_id) == 0)
			return &item[i];
	return NULL;
}

struct list response_without_calls(struct arena *a, const struct list *items)
{
	const struct response_item *item = items->at;
	struct response_item *out = arena_array(a, struct response_item, items->count + 1);
	size_t count = 0;

	for (size_t i = 0; i < items->count; i++)
		if (item[i].kind != ITEM_CALL)
			out[count++] = item[i];
	return (struct list){ out, count };
}

int response_answers_known(struct call *c, const struct list *items)
{
	const struct response_item *item = items->at;
	size_t last = items->count - 1;

	if (items->count && item[last].kind == ITEM_APPROVAL)
		return call_field(c, arena_printf(c->arena, "input[%zu].approval_request_id", last),
			"unknown", "is of no call of yours that waits for a decision");
	for (size_t i = 0; i < items->count; i++)
		if (item[i].kind == ITEM_OUTPUT && !find_item(items, i, ITEM_CALL, item[i].call_id))
			return call_field(c, arena_printf(c->arena, "input[%zu].call_id", i),
				"unknown",
				"is of no call that stands before it, nor of one that waits for you");
	return 0;
}

int64_t response_words_brought(const struct list *items)
{
	const struct response_item *item = items->at;
	int64_t count = 0;

	for (size_t i = 0; i < items->count; i++) {
		bool said = item[i].kind == ITEM_MESSAGE;

		if (item[i].kind == ITEM_CALL || (said && strcmp(item[i].role, "assistant") == 0))
			count = 0;
		else if (said && strcmp(item[i].role, "user") == 0)
			count++;
	}
	return count;
}

/* ---- who waits for them ---- */

static bool same_arguments(struct arena *a, const char *one, const char *other)
{
	const struct json_node *x = json_tree(a, one, strlen(one), NULL, NULL);
	const struct json_node *y = json_tree(a, other, strlen(other), NULL, NULL);

	return x && y ? json_tree_same(x, y) : strcmp(one, other) == 0;
}

/* Is every call that waits answered, and is it the call that the client remembers? */
static bool answers_all(struct arena *a, const struct list *items, const struct list *waiting)
{
	const struct waiting_call *w = waiting->at;
	const struct response_item *call;

	for (size_t i = 0; i < waiting->count; i++) {
		if (w[i].approval_id)
			continue;
		if (!find_item(items, items->count, ITEM_OUTPUT, w[i].call_id))
			return false;
		call = find_item(items, items->count, ITEM_CALL, w[i].call_id);
		if (call && (strcmp(call->name, w[i].name) != 0 ||
				    !same_arguments(a, call->arguments, w[i].arguments)))
			return false;
	}
	return waiting->count > 0;
}

static bool is_awaited(const struct response_item *it, const struct list *waiting)
{
	const struct waiting_call *w = waiting->at;

	for (size_t i = 0; i < waiting->count; i++) {
		const char *id = it->kind == ITEM_OUTPUT     ? w[i].call_id
				 : it->kind == ITEM_APPROVAL ? w[i].approval_id
							     : NULL;

		if (id && strcmp(id, it->call_id) == 0)
			return true;
	}
	return false;
}

/* What was not heard yet: the last answers to what waits, and the words after them.  *ret_asked is what the user said
 * last before them. */
static struct list new_items(struct arena *a, const struct list *items, const struct list *waiting,
	const char **ret_asked)
{
	const struct response_item *item = items->at;
	struct response_item *out = arena_array(a, struct response_item, items->count + 1);
	size_t count = 0, first = items->count;

	*ret_asked = NULL;
	for (size_t i = 0; i < items->count; i++)
		if (is_awaited(&item[i], waiting) &&
			(item[i].kind != ITEM_OUTPUT || find_item(items, items->count, ITEM_OUTPUT,
								item[i].call_id) == &item[i])) {
			out[count++] = item[i];
			first = first < i ? first : i;
		} else if (first < i && item[i].kind == ITEM_MESSAGE) {
			out[count++] = item[i];
		} else if (item[i].kind == ITEM_MESSAGE && strcmp(item[i].role, "user") == 0) {
			*ret_asked = item[i].text;
		}
	return (struct list){ out, count };
}

static int same_words(
	struct call *c, const struct waiting_place *at, const char *asked, bool *ret_same)
{
	struct one_text row = { 0 };
	int err = db_one(c->db, c->arena, &sql[LAST_WORDS], &row,
		ARGS(T(c->caller.tenant_id), T(at->session_id)));

	*ret_same = !asked || !row.value || strcmp(asked, row.value) == 0;
	return err == ERR_NOT_FOUND ? 0 : err;
}

int response_settle_last(struct call *c, const char *session_id, const char *run_id)
{
	struct response_row last;
	const char *id = NULL;
	int err = response_newest(c, session_id, &id);

	if (!err)
		err = response_row_read(c->db, c->arena, c->caller.tenant_id, id, &last);
	if (!err && last.run_id && strcmp(last.run_id, run_id) == 0 &&
		strcmp(last.status, "in_progress") == 0) {
		err = response_agent_fill(c->db, c->arena, &last);
		if (!err)
			err = response_row_settle(c->db, &last);
	}
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int try_waiting(struct call *c, struct response_row *row, const struct list *items,
	const struct waiting_place *at, const char **ret_run, struct list *said)
{
	struct run_place run = { c->caller.tenant_id, at->session_id, at->run_id };
	struct list waiting = { 0 }, fresh;
	const char *asked;
	bool same = false;
	int err = run_view_waiting(c->db, c->arena, &run, &waiting);

	if (err || !answers_all(c->arena, items, &waiting))
		return err;
	fresh = new_items(c->arena, items, &waiting, &asked);
	err = same_words(c, at, asked, &same);
	if (err || !same)
		return err;
	*said = fresh;
	*ret_run = at->run_id;
	row->session_id = at->session_id;
	return response_settle_last(c, at->session_id, at->run_id);
}

int response_waiting(struct call *c, struct response_row *row, const struct list *items,
	const char **ret_run, struct list *said)
{
	const struct response_item *item = items->at;
	const struct waiting_place *place;
	struct list places;
	int err = 0;

	/* The last answers are those to what waits now. */
	for (size_t i = items->count; !err && !*ret_run && i-- > 0;) {
		if (item[i].kind != ITEM_OUTPUT && item[i].kind != ITEM_APPROVAL)
			continue;
		err = db_all(c->db, c->arena,
			&sql[item[i].kind == ITEM_OUTPUT ? WAITING_CALL : WAITING_APPROVAL],
			&places, WAITING_SEEN_MAX,
			ARGS(T(row->tenant_id), T(item[i].call_id), T(row->agent_id),
				T(c->caller.user_id)));
		place = places.at;
		for (size_t j = 0; !err && !*ret_run && j < places.count; j++)
			err = try_waiting(c, row, items, &place[j], ret_run, said);
	}
	return err;
}

/* ---- into the session ---- */

/* What stands between words and calls and is neither. */
static bool is_aside(const struct response_item *it)
{
	return it->kind == ITEM_OTHER || it->kind == ITEM_THOUGHT;
}

static void put_recalled_call(struct buf *b, struct arena *a, const struct response_item *it)
{
	const char *arguments = call_arguments(a, it->arguments);
	const struct MessageCall call = { .id = it->call_id,
		.name = it->name,
		.client = 1,
		.arguments = { arguments ? arguments : "null" },
		.extra_content = { it->extra } };

	buf_putc(b, b->len ? ',' : '[');
	encode_object(b, &MessageCall_schema, &call);
}

/* What was thought, until the words or calls come that it led to. */
struct pile {
	struct buf json; /* as messages keep it, without the bracket at its end */
	size_t named;
	const char *dropped; /* the items that led to nothing, as in "input[1]"; NULL: none */
	const char *first;
	struct buf system; /* what the system said, joined once all is heard */
};

static void put_recalled_thought(struct pile *pile, const struct response_item *it)
{
	const char *maker = "openai", *seal = NULL;
	struct buf *b = &pile->json;
	bool redacted = false;

	if (!b->len)
		pile->first = it->field;
	if (it->sealed)
		seal = response_unseal(it->sealed, &maker, &redacted);
	buf_printf(b, "%s{\"maker\":\"%s\",\"text\":", b->len ? "," : "[", maker);
	json_write_string(b, it->text, strlen(it->text));
	if (seal) {
		buf_lit(b, ",\"seal\":");
		json_write_string(b, seal, strlen(seal));
	}
	buf_printf(b, ",\"redacted\":%s}", redacted ? "true" : "false");
}

/* All of it, for what it led to; NULL: nothing was. */
static const char *take_pile(struct call *c, struct pile *pile)
{
	const char *all = NULL;

	if (pile->json.len)
		all = arena_printf(c->arena, "%.*s]", (int)pile->json.len, pile->json.at);
	pile->json.len = 0;
	return all;
}

/* The first of those that go nowhere. */
static void name_dropped(struct call *c, struct pile *pile, const char *field)
{
	enum { NAMED_MAX = 20 };

	if (pile->named++ < NAMED_MAX)
		pile->dropped = arena_printf(c->arena, "%s%s%s", pile->dropped ? pile->dropped : "",
			pile->dropped ? ", " : "", field);
}

/* It led to nothing that is here, and no provider takes it alone. */
static void drop_pile(struct call *c, struct pile *pile)
{
	if (pile->json.len)
		name_dropped(c, pile, pile->first);
	pile->json.len = 0;
}

/* Calls that stand together, with what was said before them; how many items they are. */
static int recall_calls(struct call *c, struct session_step *step, const struct list *items,
	size_t i, struct pile *pile, size_t *ret)
{
	const struct response_item *item = items->at;
	struct buf b;
	size_t n = i;

	step->content = "";
	buf_init(&b, CALLS_MAX_BYTES);
	if (item[n].kind == ITEM_MESSAGE)
		step->content = item[n++].text;
	for (; n < items->count && (item[n].kind == ITEM_CALL || is_aside(&item[n])); n++)
		if (item[n].kind == ITEM_CALL)
			put_recalled_call(&b, c->arena, &item[n]);
		else if (item[n].kind == ITEM_THOUGHT)
			put_recalled_thought(pile, &item[n]);
		else
			name_dropped(c, pile, item[n].field);
	step->thoughts = take_pile(c, pile);
	buf_putc(&b, ']');
	step->calls = arena_take(c->arena, &b);
	*ret = n - i;
	return session_recall(c->db, c->arena, step, &c->problem);
}

/* Does a call follow what the assistant said? */
static bool leads_to_call(const struct list *items, size_t i)
{
	const struct response_item *item = items->at;

	if (item[i].kind == ITEM_MESSAGE && strcmp(item[i].role, "assistant") == 0)
		i++;
	while (i < items->count && is_aside(&item[i]))
		i++;
	return i < items->count && item[i].kind == ITEM_CALL;
}

/* Of a call that stands among the items, and not one that waits in the session. */
static bool is_history(const struct list *items, size_t i)
{
	const struct response_item *item = items->at;

	return find_item(items, i, ITEM_CALL, item[i].call_id) != NULL;
}

/* What the items hold besides text, one struct session_parts each.  Users and results of calls bring such. */
static int read_item_media(
	struct call *c, const char *agent_id, const struct list *items, struct session_parts **ret)
{
	const struct response_item *item = items->at;
	struct session_parts *parts = arena_array(c->arena, struct session_parts, items->count + 1);
	int err = 0;

	*ret = parts;
	for (size_t i = 0; !err && i < items->count; i++) {
		const char *field = arena_printf(c->arena, "%s.%s", item[i].field,
			item[i].kind == ITEM_OUTPUT ? "output" : "content");

		if (!item[i].content)
			continue;
		if (item[i].kind == ITEM_MESSAGE && strcmp(item[i].role, "user") != 0)
			return call_field(c, field, "format",
				"must be text: only what the user says and what calls give holds images, files or sounds");
		err = openai_media(c, field, item[i].content, MEDIA_RESPONSES, &parts[i]);
	}
	return err ? err : session_parts_taken(c, agent_id, parts, items->count);
}

static int hear_item(struct call *c, const struct response_row *row, const struct list *items,
	size_t i, const struct session_parts *parts, struct pile *pile)
{
	const struct response_item *it = (const struct response_item *)items->at + i;
	struct session_words words = { .tenant_id = row->tenant_id,
		.session_id = row->session_id,
		.by = session_actor_of(c),
		.author_id = c->caller.user_id,
		.role = it->role,
		.content = it->text,
		.parts = parts,
		.now = c->now };
	struct session_step step = { .tenant_id = row->tenant_id,
		.session_id = row->session_id,
		.author_id = c->caller.user_id,
		.call_id = it->call_id,
		.content = it->text,
		.parts = parts,
		.now = c->now };
	struct ApprovalRead decided;
	const char *id;

	switch (it->kind) {
	case ITEM_OUTPUT:
		return is_history(items, i)
			       ? session_recall(c->db, c->arena, &step, &c->problem)
			       : session_answer(c->db, c->arena, row->tenant_id, row->session_id,
					 c->caller.user_id, it->call_id, it->text, parts, c->now,
					 &c->problem);
	case ITEM_APPROVAL:
		return row->run_id ? approval_decide(c, row->tenant_id, row->session_id,
					     it->call_id, it->approves, &decided)
				   : 0;
	case ITEM_MESSAGE:
		if (strcmp(it->role, "assistant") == 0)
			words.thoughts = take_pile(c, pile);
		else
			drop_pile(c, pile);
		if (strcmp(it->role, "system") != 0)
			return *it->text || parts->count
				       ? session_say(c->db, c->arena, &words, &id, &c->problem)
				       : 0;
		if (pile->system.len)
			buf_lit(&pile->system, "\n\n");
		buf_puts(&pile->system, it->text);
		return 0;
	case ITEM_THOUGHT:
		put_recalled_thought(pile, it);
		break;
	case ITEM_OTHER: /* of a provider's own */
		name_dropped(c, pile, it->field);
		break;
	case ITEM_CALL:
		break;
	}
	return 0;
}

int response_hear(struct call *c, const struct response_row *row, const struct list *items,
	const char **instructions)
{
	struct session_parts *parts;
	struct pile pile = { 0 };
	size_t taken = 1;
	int err = read_item_media(c, row->agent_id, items, &parts);

	buf_init(&pile.json, CALLS_MAX_BYTES);
	buf_init(&pile.system, SYSTEM_MAX_BYTES);
	if (*instructions)
		buf_puts(&pile.system, *instructions);
	for (size_t i = 0; !err && i < items->count; i += taken) {
		struct session_step step = { .tenant_id = row->tenant_id,
			.session_id = row->session_id,
			.author_id = c->caller.user_id,
			.now = c->now };

		taken = 1;
		if (leads_to_call(items, i))
			err = recall_calls(c, &step, items, i, &pile, &taken);
		else
			err = hear_item(c, row, items, i, &parts[i], &pile);
	}
	drop_pile(c, &pile);
	buf_free(&pile.json);
	if (!err && pile.system.overflow)
		err = ERR_BUSY;
	if (pile.system.len)
		*instructions = arena_take(c->arena, &pile.system);
	buf_free(&pile.system);
	/* A run that waits has what it thought itself. */
	if (!err && pile.dropped && !row->run_id)
		buf_printf(&c->x->reply.extra, "Lodge-Dropped: %s\r\n", pile.dropped);
	/* Their clients repeat a conflict, which would not help. */
	if (err == ERR_CONFLICT || err == ERR_NOT_FOUND)
		c->problem.err = err = ERR_MALFORMED;
	return err;
}
