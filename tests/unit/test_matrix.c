/* test_matrix.c - every operation by every kind of caller, held against matrix_rows.c; and that what
 * the list shows is what can be read.  A cell that fails prints operation, caller, got and wanted. */
#include "matrix.h"

#include "serve/registry.h"
#include "base/id.h"

enum outcome { ALLOWED, WANT_401 = 401, WANT_403 = 403, WANT_404 = 404 };

static bool is(const char *needs, const char *word)
{
	return strcmp(needs, word) == 0;
}

/* True if nothing but the default role leads to the agent. */
static bool by_default_role(const struct caller_case *c)
{
	return !c->agent_role && !c->super && !set_has(c->tenant, "members:write", 13);
}

static bool holds(const struct caller_case *c, const char *name, size_t len)
{
	const char *set = of_agent(name) ? c->agent : c->tenant;

	/* A key has session:approve only where its scopes name it. */
	if (c->key && !c->scopes && len == 15 && strncmp(name, "session:approve", len) == 0)
		return false;
	return set_has(set, name, len) && (!c->scopes || set_has(c->scopes, name, len));
}

/* What the specification says about permissions of tenants and agents. */
static enum outcome by_permissions(const struct row *row, const struct caller_case *c)
{
	bool lacks = false, last = false;

	if (c->standing == TENANT_CLOSED || c->standing == TENANT_SUSPENDED)
		return WANT_403;
	if (!c->tenant || (row->stranger && by_default_role(c)))
		return WANT_404;
	for (const char *p = row->needs; *p;) {
		size_t len = strcspn(p, " ");

		if (of_agent(p) && !set_has(c->agent, "agent:read", 10))
			return WANT_404;
		last = !holds(c, p, len);
		if (last && row->someone_elses && p[len] == '\0' && !lacks)
			return WANT_404;
		lacks |= last;
		p += len;
		p += strspn(p, " ");
	}
	lacks |= row->scope && c->scopes && !set_has(c->scopes, row->scope, strlen(row->scope));
	return lacks || (row->owner_only && !c->owner) ? WANT_403 : ALLOWED;
}

/* A machine key opens what it was made for, and nothing beside it. */
static bool machine_opens(const char *machine, const struct row *row)
{
	return is(machine, "metrics") ? is(row->line, "GET /metrics")
				      : strncmp(row->line, "GET /admin/", 11) == 0;
}

static enum outcome wanted(const struct row *row, const struct caller_case *c)
{
	if (is(row->needs, NEED_PUBLIC))
		return ALLOWED;
	if (c->machine)
		return machine_opens(c->machine, row) ? ALLOWED : WANT_403;
	if (c->standing == NO_CREDENTIAL)
		return WANT_401;
	if (c->standing == USER_SUSPENDED || (c->key && c->standing == TENANT_SUSPENDED))
		return WANT_403;
	if (is(row->needs, NEED_LOGIN))
		return ALLOWED;
	if (is(row->needs, NEED_PERSON))
		return c->key ? WANT_403 : ALLOWED;
	if (is(row->needs, NEED_SUPER))
		return c->super && !c->key ? ALLOWED : WANT_403;
	return by_permissions(row, c);
}

/* apikeys:write alone: see matrix_apikeys_write_is_enough_for_keys. */
static bool is_disputed(const struct row *row, const struct caller_case *c)
{
	return strncmp(row->needs, "apikeys:own", 11) == 0 && c->scopes &&
	       is(c->scopes, " apikeys:write ");
}

static bool is_as(int status, enum outcome want, const struct row *row)
{
	if (want != ALLOWED)
		return status == (int)want;
	if (status >= 500)
		return false;
	return row->may_lack ? status != 403 : status != 401 && status != 403 && status != 404;
}

static const char *word_of(enum outcome want)
{
	return want == ALLOWED	  ? "allowed"
	       : want == WANT_401 ? "401"
	       : want == WANT_403 ? "403"
				  : "404";
}

/* What a path names and no world has: an id that is nowhere, or a word. */
static const char *fill_or_nowhere(
	struct matrix_fixture *s, const char *path, struct target *t, const struct row *row)
{
	const struct id nowhere = id_new(NULL);
	const char *brace, *out = path;

	while ((brace = strchr(out, '{')) != NULL) {
		const char **slot = target_slot(t, out, brace);
		const char *value = slot && *slot ? *slot : NULL;

		if (!value && !row->may_lack)
			return NULL;
		if (!value)
			value = strstr(out, "oidc/{") ? "nobody" : nowhere.text;
		out = arena_printf(&s->f->arena, "%.*s%s%s", (int)(brace - out), out, value,
			strchr(brace, '}') + 1);
	}
	return out;
}

/* A stream of events would go on. */
static bool streams(const struct route *route)
{
	return route->method == METHOD_GET && route->op->gives &&
	       strcmp(route->op->gives, "text/event-stream") == 0;
}

static int *try_status; /* what was answered, for whoever asks */

static bool try_cell(struct matrix_fixture *s, const struct route *route, const struct row *row,
	const struct caller_case *c)
{
	struct caller_case local = *c;
	struct target t = target_of(c->world, c->kind);
	enum outcome want = wanted(row, c);
	const char *path;
	struct answer r;

	if (row->stranger)
		t.session_id = t.closed_session_id;
	if (row->stranger)
		t.response_id = t.closed_response_id;
	if (row->stranger)
		t.conversation_id = t.closed_conversation_id;
	if (row->takes_part && c->user_id)
		session_join(s->f, t.tenant_id, t.session_id, c->user_id);
	if (want == ALLOWED)
		freshen(s, row, &local, &t);
	else if (row->fresh == FRESH_OWNER)
		t.user_id = c->world->owner_id;
	path = fill_or_nowhere(s, route->path, &t, row);
	if (!path) {
		test_fail(__FILE__, __LINE__, "%s: no world has what %s names", route->op->id,
			route->path);
		return true;
	}
	r = ask(s->f, local.token, body_fill(s->f, row->body, &t), "%s %s%s%s%s",
		method_name(route->method), path, streams(route) ? "?wait=false" : "",
		row->away	    ? "\nX-Forwarded-For: 203.0.113.5"
		: row->organization ? "\nOpenAI-Organization: "
				    : "",
		row->organization ? t.tenant_id : "");
	if (try_status)
		*try_status = r.status;
	if (is_as(r.status, want, row))
		return true;
	printf("matrix: %s%s%s, as %s: got %d, wanted %s\n", route->op->id,
		row->variant ? ", " : "", row->variant ? row->variant : "", c->name, r.status,
		word_of(want));
	return false;
}

/* Calls visit() for every row of every route; a route without a row is a failure. */
static void each_row(struct matrix_fixture *s,
	void (*visit)(struct matrix_fixture *s, const struct route *route, const struct row *row))
{
	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++) {
			const struct route *route = &api_resources[i]->routes[k];
			const char *line = arena_printf(&s->f->arena, "%s %s",
				method_name(route->method), path_shape(s->f, route->path));
			int found = 0;

			for (size_t n = 0; n < matrix_row_count; n++)
				if (is(matrix_rows[n].line, line)) {
					visit(s, route, &matrix_rows[n]);
					found++;
				}
			if (!found)
				test_fail(__FILE__, __LINE__,
					"the operation %s (%s) has no row in matrix_rows.c: say there "
					"what it needs by the specification",
					route->op->id, line);
		}
}

static int cells, wrong;

static void all_callers(struct matrix_fixture *s, const struct route *route, const struct row *row)
{
	if (is(row->needs, NEED_SIGNED))
		return;
	for (size_t i = 0; i < s->caller_count; i++) {
		if (is_disputed(row, &s->callers[i]) ||
			(s->callers[i].alike && is(row->needs, NEED_PUBLIC)))
			continue;
		cells++;
		wrong += !try_cell(s, route, row, &s->callers[i]);
	}
}

TEST(matrix_every_operation_by_every_caller)
{
	struct matrix_fixture *s = matrix_open();

	cells = wrong = 0;
	each_row(s, all_callers);
	if (wrong)
		test_fail(__FILE__, __LINE__, "%d of %d cells are not as specified", wrong, cells);
	matrix_close(s);
}

/* Why no row is written, or where it is tried.  Whoever adds a change adds its row of the audit log, not a line here. */
static const struct {
	const char *id, *why;
} unlogged[] = {
	{ "createChatCompletion", "each call is entered in the ledger" },
	{ "createAnthropicMessage", "each call is entered in the ledger" },
	{ "countAnthropicTokens", "it changes nothing" },
	{ "createEmbedding", "each call is entered in the ledger" },
	{ "createSpeech", "each call is entered in the ledger" },
	{ "createTranscription", "each call is entered in the ledger" },
	{ "receiveEvent", "each delivery has a log of its own" },
	{ "callSkill", "each call has a log of its own" },
	{ "receiveMail", "each message has an arrival of its own" },
	{ "receivePush", "it is only looked at earlier" },
	{ "fetchGit", "a fetch changes nothing" },
	{ "startOidc", "nobody has signed in yet" },
	{ "postMcp", "what is begun and stopped has rows of its own: test_mcp_server.c" },
	{ "postMcpOfTenant", "the same" },
};
enum { UNLOGGED = sizeof unlogged / sizeof *unlogged };

static bool is_unlogged(const char *id)
{
	for (size_t i = 0; i < UNLOGGED; i++)
		if (is(unlogged[i].id, id))
			return true;
	return false;
}

static int logged, silent;

/* Done by one who may, a change has its row. */
static void one_change(struct matrix_fixture *s, const struct route *route, const struct row *row)
{
	if (!route_changes(route))
		return;
	if (!route->audit && !is_unlogged(route->op->id))
		test_fail(__FILE__, __LINE__,
			"%s has no verb of the audit log, and no reason in the list here",
			route->op->id);
	for (size_t i = 0; i < s->caller_count && route->audit; i++) {
		struct caller_case *c = &s->callers[i];
		int64_t before;
		int status = 0;

		if (!is(c->name, is(row->needs, NEED_SUPER) ? "super administrator" : "OWNER") ||
			is(row->needs, NEED_SIGNED) || wanted(row, c) != ALLOWED)
			continue;
		before = fixture_count(s->f, "select count(*) from audit_logs");
		try_status = &status;
		try_cell(s, route, row, c);
		try_status = NULL;
		if (status < 200 || status > 299)
			continue;
		logged++;
		if (fixture_count(s->f, "select count(*) from audit_logs") == before) {
			printf("matrix: %s changed something and is not in the audit log\n",
				route->op->id);
			silent++;
		}
	}
}

TEST(matrix_every_change_is_in_the_audit_log)
{
	struct matrix_fixture *s = matrix_open();

	logged = silent = 0;
	each_row(s, one_change);
	CHECK_INT(silent, 0);
	CHECK(logged > 100);
	test_step("what the rows say is for people");
	CHECK_INT(
		fixture_count(s->f, "select count(*) from audit_logs where meta like '%_folded%'"),
		0);
	test_step("the id is that of what the type names");
	CHECK_INT(fixture_count(s->f, "select count(*) from audit_logs where resource_type = 'run' "
				      "and resource_id not in (select id from session_runs)"),
		0);
	CHECK_INT(fixture_count(s->f,
			  "select count(*) from audit_logs where resource_type = 'response' and "
			  "action = 'response.create' and resource_id not in (select id from "
			  "responses)"),
		0);
	matrix_close(s);
}

static bool is_declared(const char *id)
{
	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++)
			if (!api_resources[i]->routes[k].unpublished &&
				is(api_resources[i]->routes[k].op->id, id))
				return true;
	return false;
}

TEST(matrix_operations_are_those_of_the_document)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, NULL, NULL, "GET /openapi.json");
	size_t published = 0, declared = 0;
	const char *path, *method;
	json_t *item, *op;

	json_object_foreach(at(&r, "paths"), path, item)
	{
		json_object_foreach(item, method, op)
		{
			const char *id = json_string_value(json_object_get(op, "operationId"));

			if (!id)
				continue;
			published++;
			if (!is_declared(id))
				test_fail(__FILE__, __LINE__, "%s is published, not declared", id);
		}
	}
	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++)
			declared += !api_resources[i]->routes[k].unpublished;
	CHECK(published > 0);
	CHECK_INT(published, declared);
	fixture_close(f);
}

/* A hidden and a plain agent of every kind; whoever holds a role holds it on all but the plain open one. */
struct visibility {
	const char *id;
	enum agent_kind kind;
	bool hidden, seen;
};

enum { VISIBILITY = AGENT_KINDS * 2 };

static void fill_visibility(struct matrix_fixture *s, struct visibility *visibility)
{
	const struct world *w = &s->alpha;

	for (int i = 0; i < VISIBILITY; i++) {
		visibility[i] =
			(struct visibility){ .kind = (enum agent_kind)(i / 2), .hidden = i % 2 };
		visibility[i].id = visibility[i].hidden ? agent_make(s->f, w, visibility[i].kind)
							: w->agents[visibility[i].kind];
		if (!visibility[i].hidden)
			continue;
		fixture_sql(s->f, "update agent_rows set hidden = 1 where id = $1",
			ARGS(T(visibility[i].id)));
		for (size_t c = 0; c < s->caller_count; c++)
			if (s->callers[c].agent_role && s->callers[c].kind == AGENT_CLOSED)
				agent_give(s->f, w->tenant_id, visibility[i].id,
					s->callers[c].user_id, s->callers[c].group_id,
					s->callers[c].agent_role);
	}
}

static bool lists(const struct answer *r, const char *id)
{
	json_t *item;
	size_t i;

	json_array_foreach(at(r, "items"), i,
		item) if (is(json_string_value(json_object_get(item, "id")), id)) return true;
	return false;
}

static bool manages(const struct caller_case *c)
{
	return c->super || set_has(c->tenant, "members:write", 13) ||
	       (c->agent_role && !is(c->agent_role, "VIEWER"));
}

/* True if there was a list to compare. */
static bool compare_list(struct matrix_fixture *s, const struct caller_case *c,
	struct visibility *visibility, const char *query)
{
	bool hidden_too = strstr(query, "include_hidden") != NULL;
	struct answer r = ask(s->f, c->token, NULL, "GET /tenant/%s/agents?per_page=200%s",
		s->alpha.tenant_id, query);
	int count = 0;

	if (r.status != 200)
		return false;
	for (int i = 0; i < VISIBILITY; i++) {
		bool want =
			visibility[i].seen && (!visibility[i].hidden || (hidden_too && manages(c)));

		count += want;
		if (lists(&r, visibility[i].id) != want)
			test_fail(__FILE__, __LINE__,
				"listAgents%s, as %s: agent of kind %d%s: got %s, wanted %s", query,
				c->name, (int)visibility[i].kind,
				visibility[i].hidden ? ", hidden" : "",
				want ? "not listed" : "listed", want ? "listed" : "not listed");
	}
	CHECK_INT(json_array_size(at(&r, "items")), count);
	CHECK_INT(json_integer_value(at(&r, "total")), count);
	return true;
}

TEST(matrix_list_and_get_agree)
{
	static const char *const queries[] = { "", "&include_hidden=true", "&sort=name",
		"&include_hidden=true&sort=-updated_at", "&q=a",
		"&include_hidden=true&favorite=false" };
	struct matrix_fixture *s = matrix_open();
	struct visibility visibility[VISIBILITY];
	int compared = 0;

	fill_visibility(s, visibility);
	for (size_t i = 0; i < s->caller_count; i++) {
		const struct caller_case *c = &s->callers[i];

		if (c->world != &s->alpha || c->kind == AGENT_ADMIN_ONLY)
			continue;
		for (int k = 0; k < VISIBILITY; k++) {
			struct answer r =
				ask(s->f, c->token, NULL, "GET /agents/%s", visibility[k].id);

			/* 403: seen, but the key's scopes do not read it. */
			visibility[k].seen = r.status == 200 || r.status == 403;
			if (c->standing != STANDS || !c->tenant)
				CHECK(r.status != 200);
		}
		for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
			compared += compare_list(s, c, visibility, queries[q]);
	}
	CHECK(compared > 100);
	matrix_close(s);
}

TEST(matrix_apikeys_write_is_enough_for_keys)
{
	struct fixture *f = fixture_open();
	struct world w = { 0 };
	const char *key;

	world_make(f, &w, "alpha");
	key = key_make(f, w.tenant_id, w.owner_id, "[\"apikeys:write\"]", NIL, NULL);
	STATUS(ask(f, key, NULL, "GET /tenant/%s/api-keys", w.tenant_id), 200);
	STATUS(ask(f, key, NULL, "DELETE /tenant/%s/api-keys/%s", w.tenant_id, w.key_id), 204);
	fixture_close(f);
}

TEST(matrix_a_key_shows_no_more_than_its_tenant_and_scopes)
{
	struct fixture *f = fixture_open();
	struct world w = { 0 };
	const char *none, *all;
	struct answer r;

	world_make(f, &w, "alpha");
	fixture_tenant(f, "secret-other", w.owner_id);
	none = key_make(f, w.tenant_id, w.owner_id, "[]", NIL, NULL);
	all = key_make(f, w.tenant_id, w.owner_id, NULL, NIL, NULL);
	r = ask(f, all, NULL, "GET /me");
	if (strstr(r.body, "secret-other"))
		test_fail(__FILE__, __LINE__, "readMe by a key names another tenant of its user");
	r = ask(f, all, NULL, "GET /tenants");
	CHECK(!strstr(r.body, "secret-other"));
	STATUS(ask(f, none, NULL, "GET /tenant/%s", w.tenant_id), 403);
	r = ask(f, none, NULL, "GET /tenants");
	if (strstr(r.body, w.tenant_id))
		test_fail(__FILE__, __LINE__,
			"listTenants shows a tenant to a key without tenant:read");
	fixture_close(f);
}
