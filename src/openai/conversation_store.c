/* conversation_store.c - conversations and their items as they are stored and found; see conversations.h. */
#include <string.h>

#include "base/utf8_cut.h"
#include "openai/conversations.h"
#include "openai/responses.h"
#include "openai/run_view.h"
#include "base/json.h"
#include "store/row.h"

enum { HISTORY_PAGE = 100, ITEMS_BYTES_MAX = 64 << 20 };

FIELDS(conversation) = {
	ROW_FIELDS(conversation, tenant_id, id, created_by_id, created_at, metadata, last_place,
		heard, unsettled),
	ROW_NULLABLE(conversation, session_id, agent_id, response_id, run_id, after_id),
};
static SCHEMA(conversation, .internal = true);

FIELDS(conversation_item) = { ROW_FIELDS(conversation_item, place, id, item) };
static SCHEMA(conversation_item, .internal = true);

struct new_conversation {
	const char *tenant_id, *id, *created_by_id, *metadata;
	int64_t created_at, last_place, heard, unsettled;
};

FIELDS(new_conversation) = { ROW_FIELDS(new_conversation, tenant_id, id, created_by_id, metadata,
	created_at, last_place, heard, unsettled) };
static SCHEMA(new_conversation, .internal = true);

struct new_item {
	const char *tenant_id, *conversation_id, *id, *session_id, *item;
	int64_t place, bytes;
};

FIELDS(new_item) = {
	ROW_FIELDS(new_item, tenant_id, conversation_id, id, item, place, bytes),
	ROW_NULLABLE(new_item, session_id),
};
static SCHEMA(new_item, .internal = true);

struct conversation_size {
	int64_t items, bytes;
};

FIELDS(conversation_size) = { ROW_FIELDS(conversation_size, items, bytes) };
static SCHEMA(conversation_size, .internal = true);

enum {
	CONVERSATION_READ,
	CONVERSATION_INSERT,
	CONVERSATION_KEEP,
	ITEM_ADD,
	ITEM_READ,
	ITEMS_UP,
	ITEMS_DOWN,
	ITEMS_NEWS,
	ITEMS_SIZE,
};

/* What was said in a session that is gone is gone too. */
#define ITEMS                                                                               \
	"conversation_items i where i.tenant_id = $1 and i.conversation_id = $2 and "       \
	"(i.session_id is null or exists (select 1 from sessions s where s.tenant_id = $1 " \
	"and s.id = i.session_id))"

static const struct statement sql[] = {
	[CONVERSATION_READ] = { "conversation_read",
		"select v.tenant_id, v.id, v.created_by_id, v.created_at, v.metadata, v.last_place, "
		"v.heard, v.unsettled, s.id as session_id, s.agent_id, v.response_id, v.run_id, "
		"v.after_id from conversations v left join sessions s on s.tenant_id = $1 "
		"and s.id = v.session_id where v.tenant_id = $1 and v.id = $2",
		.row = &conversation_schema },
	[CONVERSATION_INSERT] = { "conversation_insert",
		"insert into conversation_rows ({*}) values ({$})",
		.row = &new_conversation_schema },
	[CONVERSATION_KEEP] = { "conversation_keep",
		"update conversation_rows set last_place = :last_place, session_id = :session_id, "
		"heard = :heard, response_id = :response_id, run_id = :run_id, "
		"after_id = :after_id, unsettled = :unsettled "
		"where tenant_id = :tenant_id and id = :id",
		.row = &conversation_schema },
	[ITEM_ADD] = { "conversation_item_add", "insert into conversation_items ({*}) values ({$})",
		.row = &new_item_schema },
	[ITEM_READ] = { "conversation_item_read",
		"select i.place, i.id, i.item from " ITEMS " and i.id = $3",
		.row = &conversation_item_schema },
	[ITEMS_UP] = { "conversation_items_up",
		"select i.place, i.id, i.item from " ITEMS
		" and i.place > $3 order by i.place limit {limit}",
		.row = &conversation_item_schema },
	[ITEMS_DOWN] = { "conversation_items_down",
		"select i.place, i.id, i.item from " ITEMS
		" and i.place < $3 order by i.place desc limit {limit}",
		.row = &conversation_item_schema },
	[ITEMS_NEWS] = { "conversation_items_news",
		"select i.place, i.id, i.item from conversation_items i where i.tenant_id = $1 "
		"and i.conversation_id = $2 and i.session_id is null and i.place > $3 "
		"order by i.place limit {limit}",
		.row = &conversation_item_schema },
	[ITEMS_SIZE] = { "conversation_items_size",
		"select count(*) as items, cast(coalesce(sum(i.bytes), 0) as bigint) as bytes "
		"from conversation_items i where i.tenant_id = $1 and i.conversation_id = $2",
		.row = &conversation_size_schema },
};
STATEMENT_SET(conversation_sql, sql);

/* ---- the conversation ---- */

int conversation_read(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct conversation *ret)
{
	int err = db_one(db, a, &sql[CONVERSATION_READ], ret, ARGS(T(tenant_id), T(id)));

	if (!err && !ret->session_id) {
		ret->response_id = ret->run_id = ret->after_id = NULL;
		ret->heard = ret->unsettled = 0;
	}
	return err;
}

int conversation_find(struct call *c, const char *id, int permission, struct conversation *ret)
{
	struct caller *who = &c->caller;
	struct place place = { .tenant_id = who->tenant_id };
	int err = conversation_read(c->db, c->arena, who->tenant_id, id, ret);

	if (!err && ret->session_id) {
		place.session_id = ret->session_id;
		err = caller_permit(who, c->db, c->arena, permission, &place, false, &c->problem);
	} else if (!err && strcmp(ret->created_by_id, who->user_id) != 0 &&
		   !caller_holds_all(who)) {
		err = ERR_NOT_FOUND;
	} else if (!err && who->scoped && !(who->scopes & permission_given_by(permission))) {
		err = caller_lacks(c->arena, permission, &c->problem);
	}
	if (err != ERR_NOT_FOUND)
		return err;
	c->problem = (struct problem){ 0 };
	return call_fail(c, err, "Conversation with id '%.*s' not found.", UTF8_SHOWN(64, id));
}

int conversation_make(struct call *c, const char *metadata, struct conversation *ret)
{
	int64_t made;
	struct id id = id_new(&made);

	*ret = (struct conversation){ .tenant_id = c->caller.tenant_id,
		.id = arena_printf(c->arena, "conv_%s", id.text),
		.created_by_id = c->caller.user_id,
		.created_at = made,
		.metadata = metadata };
	return db_put(c->db, &sql[CONVERSATION_INSERT],
		&(struct new_conversation){ .tenant_id = ret->tenant_id,
			.id = ret->id,
			.created_by_id = ret->created_by_id,
			.metadata = metadata,
			.created_at = made });
}

/* ---- its items ---- */

static struct list split_items(struct arena *a, const char *items)
{
	struct conversation_item *out = NULL;
	struct json_reader r;
	const char *item;
	size_t len, n = 0, room = 0;

	json_open(&r, a, items, strlen(items));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		if (n == room) {
			struct conversation_item *more =
				arena_array(a, struct conversation_item, room = room * 2 + 8);

			if (n)
				memcpy(more, out, n * sizeof *more);
			out = more;
		}
		out[n] = (struct conversation_item){ .item = arena_strndup(a, item, len) };
		out[n].id = openai_text(a, out[n].item, "id");
		n++;
	}
	return (struct list){ out, n };
}

/* A message that somebody else wrote has no state of its own; here each has one. */
static const char *with_status(struct arena *a, const char *item)
{
	const char *type = openai_text(a, item, "type"), *key, *value;
	struct json_reader r;
	size_t key_len, len;
	struct buf b;

	if (!type || strcmp(type, "message") != 0 || openai_member(a, item, "status"))
		return item;
	buf_init(&b, ITEMS_BYTES_MAX);
	buf_lit(&b, "{\"status\":\"completed\"");
	json_open(&r, a, item, strlen(item));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len) && json_skip(&r, &value, &len)) {
		if (strcmp(key, "status") == 0) /* null */
			continue;
		buf_putc(&b, ',');
		json_write_string(&b, key, key_len);
		buf_putc(&b, ':');
		buf_put(&b, value, len);
	}
	buf_putc(&b, '}');
	return arena_take(a, &b);
}

int conversation_is_long(struct call *c, const struct conversation *v, bool *ret)
{
	struct conversation_size size;
	int err = db_one(c->db, c->arena, &sql[ITEMS_SIZE], &size, ARGS(T(v->tenant_id), T(v->id)));

	*ret = !err && size.bytes > HISTORY_SHORT;
	return err;
}

int conversation_room(struct call *c, const struct conversation *v, const char *items)
{
	struct conversation_size size;
	struct list more = split_items(c->arena, items);
	int err = db_one(c->db, c->arena, &sql[ITEMS_SIZE], &size, ARGS(T(v->tenant_id), T(v->id)));

	if (err)
		return err;
	if (size.items + (int64_t)more.count > CONVERSATION_ITEMS_MAX ||
		size.bytes + (int64_t)strlen(items) > CONVERSATION_BYTES_MAX)
		return call_fail(c, ERR_MALFORMED,
			"The conversation %s is full: it has at most %d items of %d MiB together.",
			v->id, CONVERSATION_ITEMS_MAX, CONVERSATION_BYTES_MAX >> 20);
	return 0;
}

static int keep_conversation(struct db *db, const struct conversation *v)
{
	return db_put(db, &sql[CONVERSATION_KEEP], v);
}

int conversation_add(struct db *db, struct arena *a, struct conversation *v, const char *session_id,
	const char *items)
{
	struct list list = split_items(a, items);
	const struct conversation_item *it = list.at;
	int64_t place = v->last_place;
	int err;

	/* The places are taken first: of two who add at once one waits, and is made again. */
	v->last_place += (int64_t)list.count;
	err = keep_conversation(db, v);
	for (size_t i = 0; !err && i < list.count; i++) {
		const char *item = with_status(a, it[i].item);

		err = db_put(db, &sql[ITEM_ADD],
			&(struct new_item){ .tenant_id = v->tenant_id,
				.conversation_id = v->id,
				.place = ++place,
				.id = it[i].id,
				.session_id = session_id,
				.bytes = (int64_t)strlen(item),
				.item = item });
	}
	return err;
}

int conversation_item(struct db *db, struct arena *a, const struct conversation *v, const char *id,
	struct conversation_item *ret)
{
	enum tail_state state;
	const struct conversation_item *it;
	struct list tail;
	int err = db_one(db, a, &sql[ITEM_READ], ret, ARGS(T(v->tenant_id), T(v->id), T(id)));

	if (err != ERR_NOT_FOUND)
		return err;
	err = conversation_tail(db, a, v, &tail, &state);
	it = tail.at;
	for (size_t i = 0; !err && i < tail.count; i++)
		if (strcmp(it[i].id, id) == 0) {
			*ret = it[i];
			return 0;
		}
	return err ? err : ERR_NOT_FOUND;
}

int conversation_items(struct db *db, struct arena *a, const struct conversation *v,
	const struct conversation_page *page, struct list *ret, bool *ret_more)
{
	struct db_page asked = { .rows = (size_t)page->limit + 1, .bytes = CALL_PAGE_BYTES };
	int64_t from = page->after || !page->down ? page->after : INT64_MAX;
	bool cut = false;
	int err = db_page(db, a, &sql[page->down ? ITEMS_DOWN : ITEMS_UP], ret, &asked, &cut,
		ARGS(T(v->tenant_id), T(v->id), N(from)));

	*ret_more = cut || ret->count > (size_t)page->limit;
	if (ret->count > (size_t)page->limit)
		ret->count--;
	return err;
}

int conversation_history(struct db *db, struct arena *a, const struct conversation *v, bool all,
	int64_t *place, const char **ret)
{
	struct db_page asked = { .rows = HISTORY_PAGE, .bytes = CALL_PAGE_BYTES };
	struct list rows = { 0 };
	const struct conversation_item *it;
	bool cut = false;
	struct buf b;
	int err = db_page(db, a, &sql[all ? ITEMS_UP : ITEMS_NEWS], &rows, &asked, &cut,
		ARGS(T(v->tenant_id), T(v->id), N(*place)));

	*ret = NULL;
	if (err || !rows.count)
		return err;
	it = rows.at;
	buf_init(&b, ITEMS_BYTES_MAX);
	for (size_t i = 0; i < rows.count; i++) {
		buf_putc(&b, i ? ',' : '[');
		buf_puts(&b, it[i].item);
		*place = it[i].place;
	}
	buf_putc(&b, ']');
	*ret = arena_take(a, &b);
	return 0;
}

/* ---- what the last answer says ---- */

/* As a JSON list; NULL: nothing, or nothing yet. */
static int read_tail(struct db *db, struct arena *a, const struct conversation *v, const char **ret,
	enum tail_state *ret_state)
{
	struct run_place at = { v->tenant_id, v->session_id, v->run_id };
	struct response_row row = { .tenant_id = v->tenant_id,
		.id = v->response_id,
		.session_id = v->session_id,
		.run_id = v->run_id,
		.after_id = v->after_id,
		.status = "in_progress" };
	struct RunObject run;
	int err;

	*ret = NULL;
	*ret_state = TAIL_NONE;
	if (!v->unsettled)
		return 0;
	err = run_view_read(db, a, &at, &run);
	if (!err && !run_rests(run.status)) {
		*ret_state = TAIL_BUSY;
		return 0;
	}
	if (!err)
		err = response_agent_fill(db, a, &row);
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	*ret_state = strcmp(run.status, "requires_action") == 0 ? TAIL_WAITS : TAIL_DONE;
	*ret = row.output;
	return 0;
}

int conversation_tail(struct db *db, struct arena *a, const struct conversation *v,
	struct list *ret, enum tail_state *ret_state)
{
	const char *items;
	int err = read_tail(db, a, v, &items, ret_state);

	*ret = !err && items ? split_items(a, items) : (struct list){ 0 };
	return err;
}

int conversation_settle(struct db *db, struct arena *a, struct conversation *v, bool goes_on,
	enum tail_state *ret_state)
{
	const char *items;
	int err = read_tail(db, a, v, &items, ret_state);

	if (err || !v->unsettled || *ret_state == TAIL_BUSY ||
		(*ret_state == TAIL_WAITS && !goes_on))
		return err;
	v->unsettled = 0;
	return conversation_add(db, a, v, v->session_id, items ? items : "[]");
}

int conversation_answer(
	struct db *db, struct arena *a, struct conversation *v, const struct response_row *row)
{
	v->session_id = row->session_id;
	v->response_id = row->id;
	v->run_id = row->run_id;
	v->after_id = row->after_id;
	v->unsettled = 1;
	v->heard = v->last_place + (int64_t)split_items(a, row->input).count;
	return conversation_add(db, a, v, row->session_id, row->input);
}

int conversation_unlocked(struct call *c, const struct conversation *v, enum tail_state state)
{
	if (state != TAIL_BUSY && state != TAIL_WAITS)
		return 0;
	c->problem.code = "conversation_locked";
	return call_fail(c, ERR_MALFORMED, "The conversation %s is locked: the response %s %s.",
		v->id, v->response_id,
		state == TAIL_BUSY ? "is still being made in it"
				   : "waits for the results of its calls");
}
