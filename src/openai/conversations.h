/* conversations.h - conversations as OpenAI's clients keep them: items in the order in which they came.
 *
 * For a model the items are what it is told; when its answer is complete, what
 * was asked and answered joins them in one transaction.  An agent answers in a
 * session of its own that goes on from one response to the next: what it was
 * asked joins the items as its run begins, and what it says is read from the
 * session until something else is written here, which settles it among them.  So
 * a run that outlives its request, or the process, is told once and whole. */
#pragma once
#include "openai/openai_page.h"

struct ConversationObject {
	const char *id, *object;
	int64_t created_at;
	struct json metadata;
};
SCHEMA_DECLARED(ConversationObject);

/* The most items at a time, and in all; and the most bytes in all before an answer is added. */
enum { CONVERSATION_ADD_MAX = 20, CONVERSATION_ITEMS_MAX = 5000, CONVERSATION_BYTES_MAX = 4 << 20 };

struct conversation {
	const char *tenant_id, *id, *created_by_id;
	int64_t created_at;
	const char *metadata;
	int64_t last_place; /* of the items */
	/* Where an agent answers; NULL: none has, or its session is gone. */
	const char *session_id, *agent_id;
	int64_t heard; /* the last place of an item that the session knows */
	/* The last answer there. */
	const char *response_id, *run_id, *after_id;
	int64_t unsettled; /* 1: what it says is not among the items yet */
};

struct conversation_item {
	int64_t place; /* 0: not settled */
	const char *id, *item;
};

/* The one of the caller's tenant with this id: for who made it and those who hold OWNER on every agent, and once an agent answers in it for who holds the
 * permission on its session.  404 in one form for all that is not for them. */
int conversation_find(struct call *c, const char *id, int permission, struct conversation *ret);
/* The same as it stands now, for who was permitted before; ERR_NOT_FOUND if it is gone. */
int conversation_read(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct conversation *ret);
int conversation_make(struct call *c, const char *metadata, struct conversation *ret);

/* What the last answer says that is not among the items: whether there is any, is being made, waits for the results of
 * its calls or a decision, or is at its end. */
enum tail_state { TAIL_NONE, TAIL_BUSY, TAIL_WAITS, TAIL_DONE };
/* struct conversation_item, none of them while it is being made. */
int conversation_tail(struct db *db, struct arena *a, const struct conversation *v,
	struct list *ret, enum tail_state *ret_state);
/* Puts it among the items, for whoever adds others after it, if it is at its end; `goes_on`: also if it waits, for who
 * brings what it waits for. */
int conversation_settle(struct db *db, struct arena *a, struct conversation *v, bool goes_on,
	enum tail_state *ret_state);
/* What an agent was asked joins the items, and its answer is what the session will say. */
struct response_row;
int conversation_answer(
	struct db *db, struct arena *a, struct conversation *v, const struct response_row *row);
/* 400 `conversation_locked` unless others may be added. */
int conversation_unlocked(struct call *c, const struct conversation *v, enum tail_state state);

/* Bytes of what came before that a loop still reads: less than 1 ms. */
enum { HISTORY_SHORT = 64 << 10 };
/* Whether it has more. */
int conversation_is_long(struct call *c, const struct conversation *v, bool *ret);
/* Refused if it has no room for these items, a JSON list. */
int conversation_room(struct call *c, const struct conversation *v, const char *items);
/* Adds a JSON list of items, as response_items_read() and response_out_items() write them, and keeps the
 * conversation's row; `session_id` is where they came about, or NULL. */
int conversation_add(struct db *db, struct arena *a, struct conversation *v, const char *session_id,
	const char *items);
/* One by its id, settled or not; ERR_NOT_FOUND. */
int conversation_item(struct db *db, struct arena *a, const struct conversation *v, const char *id,
	struct conversation_item *ret);
/* What is asked of a list of items. */
struct conversation_page {
	int64_t limit, after; /* the place, 0: from the beginning or the end */
	bool down;
};
/* struct conversation_item, those that are settled. */
int conversation_items(struct db *db, struct arena *a, const struct conversation *v,
	const struct conversation_page *page, struct list *ret, bool *ret_more);
/* The items that are no answer of the conversation's session, from after a place on, as a JSON list of at most some
 * hundred; *place moves on.  `all`: those of the session too.  NULL: no more. */
int conversation_history(struct db *db, struct arena *a, const struct conversation *v, bool all,
	int64_t *place, const char **ret);

extern const struct statement_set conversation_sql;
