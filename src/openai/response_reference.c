/* response_reference.c - items that are named and not sent: an item_reference stands for what a response was given or
 * gave, or an item of the conversation.  Our ids of items name the response, so that no index is needed. */
#include <string.h>

#include "openai/conversations.h"
#include "openai/responses.h"
#include "base/id.h"
#include "base/json.h"

enum { REFERRED_MAX = 8 << 20 };

/* The item of that id in a list, or NULL. */
static const char *find_in(struct arena *a, const char *list, const char *id)
{
	struct json_reader r;
	const char *item;
	size_t len;

	json_open(&r, a, list, strlen(list));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		const char *object = arena_strndup(a, item, len);
		const char *name = openai_text(a, object, "id");

		if (name && strcmp(name, id) == 0)
			return object;
	}
	return NULL;
}

/* The response that the id of an item names, or NULL: PREFIX_RESPONSE_NUMBER. */
static const char *response_of(struct arena *a, const char *id)
{
	const char *from = strchr(id, '_'), *to = strrchr(id, '_');

	if (!from || to <= from + 1 || to - from - 1 != ID_LEN)
		return NULL;
	return arena_strndup(a, from + 1, (size_t)(to - from) - 1);
}

struct referring {
	struct call *c;
	const struct conversation *conversation; /* or NULL */
	struct response_row row;		 /* the last that was looked at */
	struct buf out;
};

static int find_in_conversation(struct referring *f, const char *id, const char **ret)
{
	struct conversation_item it = { 0 };
	int err = f->conversation
			  ? conversation_item(f->c->db, f->c->arena, f->conversation, id, &it)
			  : ERR_NOT_FOUND;

	*ret = it.item;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int find_in_response(struct referring *f, const char *id, const char **ret)
{
	const char *response_id = response_of(f->c->arena, id);
	int err = 0;

	*ret = NULL;
	if (!response_id)
		return 0;
	if (!f->row.id || strcmp(f->row.id, response_id) != 0) {
		err = response_find(f->c, response_id, PERM_SESSION_READ, &f->row);
		if (!err && f->row.session_id)
			err = response_agent_fill(f->c->db, f->c->arena, &f->row);
	}
	if (err == ERR_NOT_FOUND) {
		f->c->problem = (struct problem){ 0 };
		f->row = (struct response_row){ 0 };
		return 0;
	}
	if (err)
		return err;
	*ret = find_in(f->c->arena, f->row.output, id);
	if (!*ret)
		*ret = find_in(f->c->arena, f->row.input, id);
	return 0;
}

/* *ret is NULL if there is none: whoever reads the items refuses the reference. */
static int find_referred(struct referring *f, const char *id, const char **ret)
{
	int err = find_in_conversation(f, id, ret);

	return err || *ret ? err : find_in_response(f, id, ret);
}

static int put_referred(struct referring *f, const char *object)
{
	struct arena *a = f->c->arena;
	const char *type = openai_text(a, object, "type"), *id = openai_text(a, object, "id");
	const char *item = NULL;
	bool refers = type && strcmp(type, "item_reference") == 0;
	int err = refers && id ? find_referred(f, id, &item) : 0;

	buf_puts(&f->out, f->out.len > 1 ? "," : "");
	buf_puts(&f->out, item ? item : object);
	return err;
}

int response_refer(struct call *c, const struct conversation *v, const char *json, const char **ret)
{
	struct referring f = { .c = c, .conversation = v };
	struct json_reader r;
	const char *item;
	size_t len;
	int err = 0;

	*ret = json;
	if (!json || *json != '[' || !strstr(json, "item_reference"))
		return 0;
	buf_init(&f.out, REFERRED_MAX);
	buf_putc(&f.out, '[');
	json_open(&r, c->arena, json, strlen(json));
	json_enter_array(&r);
	while (!err && !f.out.overflow && json_next_item(&r)) {
		bool object = json_peek(&r) == JSON_OBJECT;

		if (!json_skip(&r, &item, &len))
			break;
		if (object) {
			err = put_referred(&f, arena_strndup(c->arena, item, len));
		} else {
			buf_puts(&f.out, f.out.len > 1 ? "," : "");
			buf_put(&f.out, item, len);
		}
	}
	buf_putc(&f.out, ']');
	if (!err && f.out.overflow)
		err = call_fail(c, ERR_MALFORMED,
			"The items that are referred to hold more than %d MiB together.",
			REFERRED_MAX >> 20);
	if (!err)
		*ret = arena_strndup(c->arena, f.out.at, f.out.len);
	buf_free(&f.out);
	return err;
}
