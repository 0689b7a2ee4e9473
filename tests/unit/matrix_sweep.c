/* matrix_sweep.c - ids of another tenant, one at a time, in every path and body: the reply is the one
 * for an id that is nowhere. */
#include <stdlib.h>

#include "serve/registry.h"
#include "base/id.h"
#include "matrix.h"

enum { SLOTS_MAX = 16 };

/* Offsets into struct target of what a request names. */
struct slots {
	size_t at[SLOTS_MAX];
	size_t count;
};

static const char **slot_at(struct target *t, size_t offset)
{
	return (const char **)(void *)((char *)t + offset);
}

static void note_slot(struct slots *list, size_t offset)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->at[i] == offset)
			return;
	if (list->count < SLOTS_MAX)
		list->at[list->count++] = offset;
}

static struct slots slots_of(const char *path, const char *body)
{
	static const struct {
		const char *mark;
		size_t offset;
	} marks[] = {
		{ "$user", offsetof(struct target, user_id) },
		{ "$agent", offsetof(struct target, agent_id) },
		{ "$group", offsetof(struct target, group_id) },
		{ "$plan", offsetof(struct target, plan_id) },
		{ "$model", offsetof(struct target, model_id) },
		{ "$skill", offsetof(struct target, skill_id) },
		{ "$tool", offsetof(struct target, tool_id) },
		{ "$bundle", offsetof(struct target, bundle_id) },
	};
	struct slots list = { .count = 0 };
	struct target t;

	for (const char *p = strchr(path, '{'); p; p = strchr(p + 1, '{')) {
		const char **slot = target_slot(&t, path, p);

		if (slot && slot != &t.provider) /* a word, the same for all */
			note_slot(&list, (size_t)((char *)slot - (char *)&t));
	}
	for (size_t i = 0; body && i < sizeof marks / sizeof *marks; i++)
		if (strstr(body, marks[i].mark))
			note_slot(&list, marks[i].offset);
	return list;
}

struct sweep {
	struct fixture *f;
	const char *token, *who;
	struct world *own, *other;
	const struct route *route;
	const struct row *row;
	int tried, wrong;
};

/* Status and body as text, without the request's id and without the ids that were sent. */
static const char *essence(
	struct sweep *s, const struct answer *r, struct target *sent, const struct slots *replaced)
{
	json_t *copy = json_deep_copy(r->json);
	char *text;
	const char *out, *p;

	json_object_del(copy, "request_id");
	text = json_dumps(copy, JSON_SORT_KEYS | JSON_ENCODE_ANY);
	out = arena_printf(&s->f->arena, "%d %s", r->status, text ? text : r->body);
	free(text);
	json_decref(copy);
	for (size_t i = 0; i < replaced->count; i++) {
		const char *id = *slot_at(sent, replaced->at[i]);

		while ((p = strstr(out, id)) != NULL)
			out = arena_printf(
				&s->f->arena, "%.*sID%s", (int)(p - out), out, p + strlen(id));
	}
	return out;
}

static struct answer send_with(struct sweep *s, const char *path, struct target *t)
{
	const char *filled = path_fill(s->f, path, t);

	return ask(s->f, s->token, body_fill(s->f, s->row->body, t), "%s %s",
		method_name(s->route->method), filled ? filled : "/nowhere");
}

static void compare(struct sweep *s, const char *path, const struct slots *replaced)
{
	struct target there = target_of(s->own, AGENT_OPEN), nowhere = there;
	struct target theirs = target_of(s->other, AGENT_OPEN);
	const struct slots in_path = slots_of(path, NULL);
	const char *got, *want;
	struct answer r, none;
	bool refused, named = false;

	for (size_t i = 0; i < replaced->count; i++) {
		const struct id id = id_new(NULL);

		*slot_at(&there, replaced->at[i]) = *slot_at(&theirs, replaced->at[i]);
		*slot_at(&nowhere, replaced->at[i]) = arena_strdup(&s->f->arena, id.text);
		for (size_t j = 0; j < in_path.count; j++)
			named |= in_path.at[j] == replaced->at[i];
	}
	none = send_with(s, path, &nowhere);
	r = send_with(s, path, &there);
	got = essence(s, &r, &there, replaced);
	want = essence(s, &none, &nowhere, replaced);
	/* What the path names is missing, whatever else is; a field of this request may be wrong, or left out. */
	refused = r.status == 404 ||
		  (r.status == 422 && (!named || strstr(got, "\"code\": \"required\""))) ||
		  (r.status == 403 && strcmp(s->row->needs, NEED_SUPER) == 0) ||
		  (r.status == 401 && strcmp(s->row->needs, NEED_SIGNED) == 0);
	s->tried++;
	if (refused && strcmp(got, want) == 0)
		return;
	s->wrong++;
	printf("sweep: %s (%s), as %s, another tenant's %s: got %s, wanted as for an id that is "
	       "nowhere: %s\n",
		s->route->op->id, path, s->who,
		replaced->count > 1					 ? "ids"
		: replaced->at[0] == offsetof(struct target, tenant_id)	 ? "tenant"
		: replaced->at[0] == offsetof(struct target, agent_id)	 ? "agent"
		: replaced->at[0] == offsetof(struct target, user_id)	 ? "user"
		: replaced->at[0] == offsetof(struct target, session_id) ? "session"
		: replaced->at[0] == offsetof(struct target, model_id)	 ? "model"
		: replaced->at[0] == offsetof(struct target, group_id)	 ? "group"
									 : "object",
		got, want);
}

static void sweep_path(struct sweep *s, const char *path)
{
	struct slots all = slots_of(path, s->row->body);

	for (size_t i = 0; i < all.count; i++)
		compare(s, path, &(struct slots){ { all.at[i] }, 1 });
	if (all.count > 1)
		compare(s, path, &all);
}

static void sweep_route(struct sweep *s)
{
	static const char *const shorter[] = { "/tenant/{tenant_id}/agents/{agent_id}",
		"/tenant/{tenant_id}/sessions/{session_id}" };
	const char *line = arena_printf(&s->f->arena, "%s %s", method_name(s->route->method),
		path_shape(s->f, s->route->path));

	for (size_t i = 0; i < matrix_row_count; i++) {
		s->row = &matrix_rows[i];
		if (strcmp(s->row->line, line) != 0 || s->row->variant || s->row->may_lack)
			continue;
		sweep_path(s, s->route->path);
		for (size_t k = 0; k < sizeof shorter / sizeof *shorter; k++)
			if (strncmp(s->route->path, shorter[k], strlen(shorter[k])) == 0)
				sweep_path(s, s->route->path + strlen("/tenant/{tenant_id}"));
	}
}

/* All that the tenant's owner sees of it. */
static const char *sight(struct fixture *f, const struct world *w)
{
	static const char *const lists[] = { "", "/members", "/groups", "/allowed-accounts",
		"/agents?include_hidden=true", "/sessions", "/models", "/skills", "/tools",
		"/tool-bundles", "/scanner" };
	static const char *const of_agent[] = { "", "/roles", "/group-roles", "/users",
		"/default-role", "/models", "/models/catalog", "/skills", "/tools", "/tool-bundles",
		"/scanner-grants" };
	const char *out = "";

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct answer r =
			ask(f, w->owner, NULL, "GET /tenant/%s%s", w->tenant_id, lists[i]);

		STATUS(r, 200);
		out = arena_printf(&f->arena, "%s%s\n", out, r.body);
	}
	for (size_t i = 0; i < sizeof of_agent / sizeof *of_agent; i++) {
		struct answer r = ask(
			f, w->owner, NULL, "GET /agents/%s%s", w->agents[AGENT_OPEN], of_agent[i]);

		STATUS(r, 200);
		out = arena_printf(&f->arena, "%s%s\n", out, r.body);
	}
	return out;
}

static void sweep_as(struct fixture *f, struct world *own, struct world *other, const char *token,
	const char *who)
{
	struct sweep s = { f, token, who, own, other };
	const char *before = sight(f, other);

	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++) {
			s.route = &api_resources[i]->routes[k];
			sweep_route(&s);
		}
	CHECK(s.tried > 50);
	CHECK_STR(sight(f, other), before);
	if (s.wrong)
		test_fail(__FILE__, __LINE__,
			"as %s, %d of %d replies tell what another tenant has", who, s.wrong,
			s.tried);
}

TEST(matrix_sweep_of_another_tenants_ids_by_login)
{
	struct fixture *f = fixture_open();
	struct world own = { 0 }, other = { 0 };

	world_make(f, &own, "alpha");
	world_make(f, &other, "beta");
	sweep_as(f, &own, &other, own.owner, "OWNER");
	fixture_close(f);
}

TEST(matrix_sweep_of_another_tenants_ids_by_key)
{
	struct fixture *f = fixture_open();
	struct world own = { 0 }, other = { 0 };

	world_make(f, &own, "alpha");
	world_make(f, &other, "beta");
	sweep_as(f, &own, &other,
		key_make(f, own.tenant_id, own.owner_id, scopes_json(f, SET_OWNER SET_AGENT_OWNER),
			NIL, NULL),
		"an OWNER's key with all scopes");
	fixture_close(f);
}
