/* responses.c - POST /v1/responses and what can be done with a response afterwards; see responses.h. */
#include "openai/responses.h"

#include <string.h>

#include "call/operation.h"
#include "openai/openai_events.h"
#include "openai/run_view.h"
#include "api/sessions/session_rows.h"
#include "base/json.h"
#include "sessions/session.h"

enum { RESPONSE_REMOVE };

static const struct statement sql[] = {
	[RESPONSE_REMOVE] = { "response_remove",
		"delete from responses where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(responses_sql, sql);

/* ---- making one ---- */

static int find_response_model(
	struct call *c, const struct ResponseCreate *in, struct gateway_named *ret)
{
	int err = gateway_tenant(c);

	return err ? err : gateway_find(c, in->model, PERM_SESSION_WRITE, ret);
}

/* A model is called from here; an agent is set to work in a change. */
BODY_STEP(createResponse, look, ResponseCreate)
{
	struct gateway_named what;
	int err = find_response_model(c, in, &what);

	return err || what.agent_id ? err : response_model_start(c, in, &what);
}

OPERATION(createResponse, ResponseCreate, ResponseObject, .brings_files = true,
	.gives = "text/event-stream", .header = "Lodge-Dropped", .events = &response_event_stream,
	.open_query = true, .look = createResponse_look)
{
	struct gateway_named what;
	int err = find_response_model(c, in, &what);

	if (!err && !what.agent_id)
		err = gateway_unknown(c, in->model);
	return err ? err : response_agent_start(c, in, &what, out);
}

/* ---- afterwards ---- */

static int load_response(struct call *c, int permission, struct response_row *ret)
{
	int err = gateway_tenant(c);

	if (!err)
		err = response_find(c, call_param(c, "response_id"), permission, ret);
	if (!err && ret->session_id)
		err = response_agent_fill(c->db, c->arena, ret);
	return err;
}

OPERATION(readResponse, NONE, ResponseObject, .open_query = true)
{
	struct response_row row = { 0 };
	int err = load_response(c, PERM_SESSION_READ, &row);

	if (!err)
		response_show(c->arena, &row, out);
	return err;
}

OPERATION(deleteResponse, NONE, OpenAIDeleted, .open_query = true)
{
	struct response_row row = { 0 };
	int err = load_response(c, PERM_SESSION_WRITE, &row);

	if (err)
		return err;
	*out = (struct OpenAIDeleted){ row.id, "response", true };
	return db_run(c->db, &sql[RESPONSE_REMOVE], NULL, ARGS(T(row.tenant_id), T(row.id)));
}

OPERATION(cancelResponse, NONE, ResponseObject, .open_query = true)
{
	struct response_row row = { 0 };
	int err = load_response(c, PERM_SESSION_WRITE, &row);
	bool under_way = !err && (strcmp(row.status, "queued") == 0 ||
					 strcmp(row.status, "in_progress") == 0);

	if (!err && !under_way)
		return call_fail(
			c, ERR_MALFORMED, "Cannot cancel a response with status '%s'.", row.status);
	if (!err) {
		struct session_ender by = session_ender_of(c);

		err = session_cancel_run(c->db, c->arena, row.tenant_id, row.session_id, row.run_id,
			&by, c->now, &c->problem);
	}
	if (!err) {
		row.status = "in_progress"; /* as it stands in its row */
		err = response_agent_fill(c->db, c->arena, &row);
	}
	if (!err)
		response_show(c->arena, &row, out);
	return err;
}

/* ---- what it was given ---- */

struct seen_item {
	const char *json, *id;
};

static size_t split_response_items(struct call *c, const char *list, struct seen_item **ret)
{
	struct json_reader r;
	const char *item;
	size_t len, n = 0, room = 0;

	*ret = NULL;
	json_open(&r, c->arena, list, strlen(list));
	json_enter_array(&r);
	while (json_next_item(&r) && json_skip(&r, &item, &len)) {
		if (n == room) {
			struct seen_item *more =
				arena_array(c->arena, struct seen_item, room = room * 2 + 8);

			if (n)
				memcpy(more, *ret, n * sizeof *more);
			*ret = more;
		}
		(*ret)[n].json = arena_strndup(c->arena, item, len);
		(*ret)[n].id = openai_text(c->arena, (*ret)[n].json, "id");
		n++;
	}
	return n;
}

QUERY_OPERATION(listResponseItems, OpenAIPage, ResponseItemList, .open_query = true)
{
	struct seen_item *items;
	struct response_row row = { 0 };
	size_t n, first = 0, shown = 0;
	struct buf b;
	int err = load_response(c, PERM_SESSION_READ, &row);

	if (err)
		return err;
	n = split_response_items(c, row.input, &items);
	*out = (struct ResponseItemList){ .object = "list" };
	buf_init(&b, (size_t)64 << 20);
	buf_putc(&b, '[');
	for (size_t i = 0; i < n; i++) {
		const struct seen_item *it = &items[in->order == 1 ? n - 1 - i : i];

		if (in->after && it->id && strcmp(it->id, in->after) == 0) {
			first = i + 1;
			shown = 0;
			b.len = 1;
			out->first_id = NULL;
			continue;
		}
		if (i < first || shown == (size_t)in->limit)
			continue;
		buf_printf(&b, "%s%s", shown++ ? "," : "", it->json);
		out->first_id = out->first_id ? out->first_id : it->id;
		out->last_id = it->id;
	}
	buf_putc(&b, ']');
	out->has_more = n - first > shown;
	out->data.text = arena_take(c->arena, &b);
	return 0;
}

#define OPENAI .tag = "OpenAI", .as_printed = true, .openai = true
#define R "/v1/responses"

static const struct route routes[] = {
	{ METHOD_POST, R, &createResponse, PERM_LOGIN, 200, "response.create", OPENAI,
		.patient = true, .max_body = (size_t)32 << 20,
		.doc = "Have an agent or a model answer, as OpenAI's responses do: whole, or as a "
		       "stream of events." },
	{ METHOD_GET, R "/{response_id}", &readResponse, PERM_LOGIN, 200, OPENAI,
		.doc = "Read a response, as far as it has come." },
	{ METHOD_DELETE, R "/{response_id}", &deleteResponse, PERM_LOGIN, 200, "response.delete",
		OPENAI, .doc = "Forget a response; an agent's session stays." },
	{ METHOD_POST, R "/{response_id}/cancel", &cancelResponse, PERM_LOGIN, 200,
		"response.cancel", OPENAI, .doc = "Stop the agent that works on a response." },
	{ METHOD_GET, R "/{response_id}/input_items", &listResponseItems, PERM_LOGIN, 200, OPENAI,
		.doc = "List what a response was given." },
};
RESOURCE(responses, routes, NULL, &responses_sql);
