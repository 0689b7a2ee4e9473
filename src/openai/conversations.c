/* conversations.c - OpenAI-style conversations and their items; see conversations.h. */
#include "openai/conversations.h"

#include <string.h>

#include "api/erasure/gone.h"
#include "base/utf8_cut.h"
#include "call/operation.h"
#include "openai/gateway.h"
#include "openai/openai_events.h"
#include "openai/openai_shapes.h"
#include "openai/responses.h"
#include "base/clock.h"
#include "base/json.h"

struct ConversationCreate {
	struct json items, metadata;
};

FIELDS(ConversationCreate) = {
	FIELD(ConversationCreate, items, .shape = &response_input_item_shape,
		.ceiling = CONVERSATION_BYTES_MAX, .nullable = true, .array = true,
		.doc = "Up to 20 items that it begins with."),
	FIELD(ConversationCreate, metadata, .shape = &pairs_shape, .nullable = true,
		.doc = "Up to 16 pairs of text."),
};
static SCHEMA(ConversationCreate, .doc = "A conversation to be made.");

struct ConversationItemsCreate {
	struct json items;
};

FIELDS(ConversationItemsCreate) = {
	FIELD(ConversationItemsCreate, items, .shape = &response_input_item_shape,
		.ceiling = CONVERSATION_BYTES_MAX, .required = true, .array = true,
		.doc = "Up to 20 items: messages, calls and their outputs, what a model thought."),
};
static SCHEMA(ConversationItemsCreate, .doc = "Items to be added to a conversation.");

FIELDS(ConversationObject) = {
	FIELD(ConversationObject, id, .required = true, .doc = "Its id."),
	FIELD(ConversationObject, object, .constant = "conversation",
		.doc = "Always conversation."),
	FIELD(ConversationObject, created_at, .required = true, .doc = "In seconds since 1970."),
	FIELD(ConversationObject, metadata, .shape = &pairs_shape, .doc = "Free pairs of text."),
};
SCHEMA(ConversationObject, .doc = "Items that responses go on from.");

/* An item is shown as it came. */
FIELDS(ConversationItem) = {
	TOLD(TEXT, id, .required = true, .doc = "Its id."),
	TOLD(TEXT, type, .required = true,
		.doc = "message, function_call, function_call_output, reasoning, or another."),
	TOLD(TEXT, status, .nullable = true, .doc = "in_progress, completed or incomplete."),
	TOLD(TEXT, role, .nullable = true, .doc = "Of a message: who said it."),
	TOLD(JSON, content, .nullable = true, .any = true, .shape = &response_content_shape,
		.doc = "Of a message: its parts."),
	TOLD(TEXT, call_id, .nullable = true, .doc = "Of a call and its output."),
	TOLD(TEXT, name, .nullable = true, .doc = "Of a call: what is called."),
	TOLD(TEXT, arguments, .nullable = true, .doc = "Of a call, as JSON text."),
	TOLD(JSON, output, .nullable = true, .any = true, .shape = &response_content_shape,
		.doc = "Of the output of a call."),
	TOLD(LIST, summary, .nullable = true, .item = OBJECT, .of = &ResponseSummaryText_schema,
		.doc = "Of what a model thought."),
	TOLD(TEXT, encrypted_content, .nullable = true,
		.doc = "Of what a model thought: what it wants back."),
};
static TOLD_SCHEMA(
	ConversationItem, .doc = "An item of a conversation, with the members of its type.");

struct conversation_items_query {
	int64_t limit;
	int order;
	const char *after;
};

enum { ITEMS_ASC, ITEMS_DESC };
static const struct words order_words = { .list = (const char *const[]){ "asc", "desc", NULL } };

FIELDS(conversation_items_query) = {
	FIELD(conversation_items_query, limit, .preset = "20", BOUNDS(1, OPENAI_PAGE_MAX),
		.doc = "How many at most."),
	FIELD(conversation_items_query, order, .preset = "\"desc\"", .words = &order_words,
		.doc = "asc, oldest first, or desc."),
	FIELD(conversation_items_query, after, .nullable = true, BOUNDS(1, 128),
		.doc = "Those after the one with this id."),
};
static SCHEMA(conversation_items_query, .doc = "What the list of items takes.");

enum { CONVERSATION_UPDATE, CONVERSATION_REMOVE, ITEM_REMOVE };

static const struct statement sql[] = {
	[CONVERSATION_UPDATE] = { "conversation_update",
		"update conversation_rows set metadata = $3 where tenant_id = $1 and id = $2" },
	[CONVERSATION_REMOVE] = { "conversation_remove",
		"update conversation_rows set gone_at = $3 where tenant_id = $1 and id = $2" },
	[ITEM_REMOVE] = { "conversation_item_remove",
		"delete from conversation_items where tenant_id = $1 and conversation_id = $2 "
		"and place = $3" },
};
STATEMENT_SET(conversations_sql, sql);

static int find_conversation(struct call *c, int permission, struct conversation *ret)
{
	int err = gateway_tenant(c);

	return err ? err : conversation_find(c, call_param(c, "conversation"), permission, ret);
}

static void show_conversation(const struct conversation *v, struct ConversationObject *out)
{
	*out = (struct ConversationObject){ .id = v->id,
		.object = "conversation",
		.created_at = v->created_at / SECOND_US,
		.metadata = { v->metadata } };
}

/* Reads items as a body brings them; *ret is a JSON list of them with ids. */
static int read_new_items(struct call *c, const struct conversation *v, const char *json,
	size_t *ret_count, const char **ret)
{
	const char *tag = arena_strdup(c->arena, id_new(NULL).text);
	struct list items = { 0 };
	int err = response_refer(c, v, json, &json);

	if (!err)
		err = response_items_read(c, "items", json, tag, &items, ret);
	*ret_count = items.count;
	if (!err && items.count > CONVERSATION_ADD_MAX)
		err = call_field(
			c, "items", "too_long", "must have at most %d items", CONVERSATION_ADD_MAX);
	return err;
}

/* ---- the conversation ---- */

OPERATION(createConversation, ConversationCreate, ConversationObject, .body_optional = true,
	.open_query = true)
{
	const char *metadata, *items = NULL;
	struct conversation v = { 0 };
	size_t count = 0;
	int err = gateway_tenant_read(c);

	if (!err && c->caller.scoped && !(c->caller.scopes & PERM(SESSION_WRITE)))
		err = caller_lacks(c->arena, PERM_SESSION_WRITE, &c->problem);
	if (!err)
		err = openai_metadata(c, "metadata", in->metadata.text, &metadata);
	if (!err && in->items.text)
		err = read_new_items(c, NULL, in->items.text, &count, &items);
	if (!err)
		err = conversation_make(c, metadata, &v);
	if (!err && count)
		err = conversation_room(c, &v, items);
	if (!err && count)
		err = conversation_add(c->db, c->arena, &v, NULL, items);
	if (err)
		return err;
	c->audit.resource_id = v.id;
	c->audit.meta = arena_printf(c->arena, "{\"items\":%zu}", count);
	show_conversation(&v, out);
	return 0;
}

OPERATION(readConversation, NONE, ConversationObject, .open_query = true)
{
	struct conversation v = { 0 };
	int err = find_conversation(c, PERM_SESSION_READ, &v);

	if (!err)
		show_conversation(&v, out);
	return err;
}

OPERATION(updateConversation, OpenAIMetadataUpdate, ConversationObject, .open_query = true)
{
	struct conversation v = { 0 };
	int err = find_conversation(c, PERM_SESSION_WRITE, &v);

	c->audit.resource_id = v.id;
	if (!err && in->metadata.text)
		err = openai_metadata(c, "metadata", in->metadata.text, &v.metadata);
	if (!err && in->metadata.text)
		err = db_run(c->db, &sql[CONVERSATION_UPDATE], NULL,
			ARGS(T(v.tenant_id), T(v.id), T(v.metadata)));
	if (!err)
		show_conversation(&v, out);
	return err;
}

OPERATION(deleteConversation, NONE, OpenAIDeleted, .open_query = true)
{
	struct conversation v = { 0 };
	int err = find_conversation(c, PERM_SESSION_WRITE, &v);

	if (!err)
		err = db_run(c->db, &sql[CONVERSATION_REMOVE], NULL,
			ARGS(T(v.tenant_id), T(v.id), N(c->now)));
	if (err)
		return err;
	c->audit.resource_id = v.id;
	c->afterwards = gone_submit;
	*out = (struct OpenAIDeleted){ v.id, "conversation.deleted", true };
	return 0;
}

/* ---- its items ---- */

struct item_lister {
	struct buf b;
	struct ResponseItemList *out;
	size_t count, limit;
};

/* False when the page is full. */
static bool list_item(struct item_lister *l, const struct conversation_item *it)
{
	if (l->count == l->limit) {
		l->out->has_more = true;
		return false;
	}
	buf_putc(&l->b, l->count++ ? ',' : '[');
	buf_puts(&l->b, it->item);
	l->out->first_id = l->out->first_id ? l->out->first_id : it->id;
	l->out->last_id = it->id;
	return true;
}

/* The answer that is not settled yet stands after all others.  `from` is the first of it to be shown in the order that
 * is asked for. */
static void list_tail(struct item_lister *l, const struct list *tail, size_t from, bool down)
{
	const struct conversation_item *it = tail->at;

	for (size_t i = from; i < tail->count; i++)
		if (!list_item(l, &it[down ? tail->count - 1 - i : i]))
			return;
}

static int list_settled(struct call *c, struct item_lister *l, const struct conversation *v,
	const struct conversation_page *page)
{
	struct list rows = { 0 };
	const struct conversation_item *it;
	bool more = false;
	int err = conversation_items(c->db, c->arena, v, page, &rows, &more);

	it = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		if (!list_item(l, &it[i]))
			return 0;
	l->out->has_more |= more;
	return err;
}

/* Where the item of this id stands: *ret_place among the settled, or *ret_tail of the tail in the order asked for. */
static int find_after(struct call *c, const struct conversation *v, const char *id,
	const struct list *tail, bool down, int64_t *ret_place, size_t *ret_tail)
{
	const struct conversation_item *it = tail->at;
	struct conversation_item found;
	int err;

	for (size_t i = 0; i < tail->count; i++)
		if (strcmp(it[i].id, id) == 0) {
			*ret_tail = down ? tail->count - i : i + 1;
			*ret_place = down ? 0 : v->last_place;
			return 0;
		}
	err = conversation_item(c->db, c->arena, v, id, &found);
	if (err == ERR_NOT_FOUND)
		return call_field(c, "after", "unknown", "is not the id of an item here");
	*ret_place = err ? 0 : found.place;
	*ret_tail = down ? tail->count : 0;
	return err;
}

QUERY_OPERATION(listConversationItems, conversation_items_query, ResponseItemList,
	.long_read = true, .open_query = true)
{
	struct conversation v = { 0 };
	struct item_lister l = { .out = out, .limit = (size_t)in->limit };
	struct conversation_page page = { .limit = in->limit, .down = in->order == ITEMS_DESC };
	enum tail_state state;
	struct list tail = { 0 };
	size_t from = 0;
	int err = find_conversation(c, PERM_SESSION_READ, &v);

	*out = (struct ResponseItemList){ .object = "list" };
	if (!err)
		err = conversation_tail(c->db, c->arena, &v, &tail, &state);
	if (!err && in->after)
		err = find_after(c, &v, in->after, &tail, page.down, &page.after, &from);
	if (err)
		return err;
	buf_init(&l.b, (size_t)64 << 20);
	if (page.down)
		list_tail(&l, &tail, from, true);
	if (l.count < l.limit || !page.down)
		err = list_settled(c, &l, &v, &page);
	else if (v.last_place)
		out->has_more = true;
	if (!page.down && !out->has_more)
		list_tail(&l, &tail, from, false);
	buf_puts(&l.b, l.count ? "]" : "[]");
	out->data.text = arena_take(c->arena, &l.b);
	return err;
}

OPERATION(createConversationItems, ConversationItemsCreate, ResponseItemList, .open_query = true)
{
	struct conversation v = { 0 };
	struct item_lister l = { .out = out, .limit = CONVERSATION_ADD_MAX };
	struct conversation_page page = { .limit = CONVERSATION_ADD_MAX };
	enum tail_state state;
	const char *items = NULL;
	size_t count = 0;
	int err = find_conversation(c, PERM_SESSION_WRITE, &v);

	*out = (struct ResponseItemList){ .object = "list" };
	if (!err)
		err = read_new_items(c, &v, in->items.text, &count, &items);
	if (!err && !count)
		err = call_field(c, "items", "too_short", "must have an item");
	if (!err)
		err = conversation_settle(c->db, c->arena, &v, false, &state);
	if (!err)
		err = conversation_unlocked(c, &v, state);
	if (!err)
		err = conversation_room(c, &v, items);
	page.after = v.last_place;
	if (!err)
		err = conversation_add(c->db, c->arena, &v, NULL, items);
	if (err)
		return err;
	buf_init(&l.b, (size_t)64 << 20);
	err = list_settled(c, &l, &v, &page);
	buf_puts(&l.b, "]");
	out->data.text = arena_take(c->arena, &l.b);
	out->has_more = false;
	c->audit.resource_id = v.id;
	c->audit.meta = arena_printf(c->arena, "{\"items\":%zu}", count);
	return err;
}

static int find_conversation_item(
	struct call *c, int permission, struct conversation *v, struct conversation_item *ret)
{
	const char *id = call_param(c, "item");
	int err = find_conversation(c, permission, v);

	if (err)
		return err;
	err = conversation_item(c->db, c->arena, v, id, ret);
	return err == ERR_NOT_FOUND
		       ? call_fail(c, err, "Item with id '%.*s' not found in conversation '%s'.",
				 UTF8_SHOWN(128, id), v->id)
		       : err;
}

OPERATION(readConversationItem, NONE, NONE, .gives = "application/json",
	.raw_reply = &ConversationItem_schema, .open_query = true)
{
	struct conversation v = { 0 };
	struct conversation_item it = { 0 };
	int err = find_conversation_item(c, PERM_SESSION_READ, &v, &it);

	if (err)
		return err;
	buf_puts(&c->x->reply.body, it.item);
	buf_putc(&c->x->reply.body, '\n');
	return 0;
}

OPERATION(deleteConversationItem, NONE, ConversationObject, .open_query = true)
{
	struct conversation v = { 0 };
	struct conversation_item it = { 0 };
	enum tail_state state;
	int err = find_conversation_item(c, PERM_SESSION_WRITE, &v, &it);

	if (!err)
		err = conversation_settle(c->db, c->arena, &v, false, &state);
	if (!err && !it.place) /* of the answer that was settled just now, or cannot be yet */
		err = conversation_unlocked(c, &v, state);
	if (!err && !it.place)
		err = conversation_item(c->db, c->arena, &v, it.id, &it);
	if (!err)
		err = db_run(
			c->db, &sql[ITEM_REMOVE], NULL, ARGS(T(v.tenant_id), T(v.id), N(it.place)));
	if (err)
		return err;
	c->audit.resource_id = v.id;
	c->audit.meta = arena_printf(c->arena, "{\"item_id\":\"%s\"}", it.id);
	show_conversation(&v, out);
	return 0;
}

#define OPENAI .tag = "OpenAI", .as_printed = true, .openai = true
#define V "/v1/conversations"
#define I V "/{conversation}/items"

static const struct route routes[] = {
	{ METHOD_POST, V, &createConversation, PERM_LOGIN, 200, "conversation.create", OPENAI,
		.max_body = CONVERSATION_BYTES_MAX + ((size_t)1 << 20),
		.doc = "Make a conversation that responses go on from, with or without items." },
	{ METHOD_GET, V "/{conversation}", &readConversation, PERM_LOGIN, 200, OPENAI,
		.doc = "Read a conversation." },
	{ METHOD_POST, V "/{conversation}", &updateConversation, PERM_LOGIN, 200,
		"conversation.update", OPENAI, .doc = "Change the metadata of a conversation." },
	{ METHOD_DELETE, V "/{conversation}", &deleteConversation, PERM_LOGIN, 200,
		"conversation.delete", OPENAI,
		.doc = "Delete a conversation with its items; an agent's session stays." },
	{ METHOD_GET, I, &listConversationItems, PERM_LOGIN, 200, OPENAI,
		.doc = "List the items of a conversation, by cursor." },
	{ METHOD_POST, I, &createConversationItems, PERM_LOGIN, 200, "conversation.add", OPENAI,
		.max_body = CONVERSATION_BYTES_MAX + ((size_t)1 << 20),
		.doc = "Add up to 20 items to a conversation." },
	{ METHOD_GET, I "/{item}", &readConversationItem, PERM_LOGIN, 200, OPENAI,
		.doc = "Read an item of a conversation." },
	{ METHOD_DELETE, I "/{item}", &deleteConversationItem, PERM_LOGIN, 200,
		"conversation.remove", OPENAI,
		.doc = "Delete an item; what an agent has heard stays in its session." },
};
RESOURCE(conversations, routes, NULL, &conversations_sql, &conversation_sql);
