/* test_changes.c - who hears on GET /me/events that something in a list has changed: those who find it in that list, and
 * nobody else. */
#include "stream_fixture.h"

enum { LONG_MS = 15000 };

enum person { OWNER, ADMIN, MEMBER, OTHER, GUEST, SCOPED, STRANGER, PEOPLE };
static const char *const person_names[] = { "owner", "admin", "member", "other member", "guest",
	"scoped key", "stranger" };

/* One change, and the list in which it shows. */
static const struct changed {
	const char *resource, *request, *body, *list;
	enum person by;
	const char *id; /* of what changed, where the answer does not say; NULL */
} changes[] = {
	{ "group", "POST /tenant/%s/groups", "{\"name\":\"G\"}", "/groups", OWNER },
	{ "allowed_account", "POST /tenant/%s/allowed-accounts", "{\"email\":\"ada@example.net\"}",
		"/allowed-accounts", OWNER },
	{ "api_key", "POST /tenant/%s/api-keys", "{\"name\":\"k\"}", "/api-keys", OWNER },
	{ "api_key", "POST /tenant/%s/api-keys", "{\"name\":\"k\"}", "/api-keys", MEMBER },
	{ "provider_key", "PUT /tenant/%s/provider-keys/openai", "{\"api_key\":\"sk-x\"}",
		"/provider-keys", OWNER, "openai" },
	{ "tool", "POST /tenant/%s/tools", "{\"name\":\"calculator\",\"kind\":\"builtin\"}",
		"/tools", OWNER },
	{ "tool_bundle", "POST /tenant/%s/tool-bundles", "{\"name\":\"B\",\"slug\":\"b\"}",
		"/tool-bundles", OWNER },
	{ "skill", "POST /tenant/%s/skills",
		"{\"name\":\"S\",\"slug\":\"s\",\"description\":\"d\",\"instructions\":\"i\","
		"\"visibility\":\"tenant\"}",
		"/skills", OWNER },
	{ "skill", "POST /tenant/%s/skills",
		"{\"name\":\"P\",\"slug\":\"p\",\"description\":\"d\",\"instructions\":\"i\","
		"\"visibility\":\"private\"}",
		"/skills", OWNER },
	{ "bucket", "PUT /tenant/%s/bucket/object?key=x", "{}", "/bucket", OWNER },
	{ "member", "POST /tenant/%s/members", "{\"email\":\"new@example.org\"}", "/members",
		OWNER },
};

struct crowd {
	struct stream_fixture s;
	const char *tokens[PEOPLE];
	struct reader readers[PEOPLE];
	const char *far; /* the stranger's tenant */
	int tools;
};

static const char *crowd_person(struct crowd *g, const char *name, const char *role)
{
	const char *token, *user = fixture_user(g->s.f,
				   arena_printf(&g->s.f->arena, "%s@example.org", name), &token);

	if (role)
		fixture_member(g->s.f, g->s.f->tenant_id, user, role);
	else
		g->far = fixture_tenant(g->s.f, "far", user);
	return token;
}

static void crowd_open(struct crowd *g)
{
	struct fixture *f;
	struct answer r;

	*g = (struct crowd){ 0 };
	stream_fixture_open(&g->s, 0);
	f = g->s.f;
	g->tokens[OWNER] = f->admin;
	g->tokens[ADMIN] = crowd_person(g, "adam", "ADMIN");
	g->tokens[MEMBER] = crowd_person(g, "mira", "MEMBER");
	g->tokens[OTHER] = crowd_person(g, "otto", "MEMBER");
	g->tokens[GUEST] = crowd_person(g, "gwen", "GUEST");
	g->tokens[STRANGER] = crowd_person(g, "fara", NULL);
	r = ask(f, g->tokens[ADMIN], "{\"name\":\"cut\",\"scopes\":[\"tenant:read\"]}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	g->tokens[SCOPED] = text_at(&r, "key");
	for (int i = 0; i < PEOPLE; i++) {
		reader_open(&g->readers[i], &g->s, g->tokens[i], NULL, "/me/events");
		while (!*g->readers[i].last_id && !g->readers[i].over)
			reader_next(&g->readers[i], 50);
		CHECK_INT(g->readers[i].status, 200);
	}
}

static void crowd_close(struct crowd *g)
{
	for (int i = 0; i < PEOPLE; i++)
		reader_close(&g->readers[i]);
	stream_fixture_close(&g->s);
}

/* A tool in both tenants, of which everybody hears in one: what was to be heard before it was heard. */
static const char *crowd_sentinel(struct crowd *g)
{
	const char *body = arena_printf(&g->s.f->arena,
		"{\"name\":\"x%d\",\"kind\":\"http\",\"description\":\"d\",\"config\":{\"method\":"
		"\"GET\",\"url\":\"https://example.org/\"}}",
		++g->tools);

	fixture_created(g->s.f, g->tokens[STRANGER], body, "POST /tenant/%s/tools", g->far);
	return fixture_created(
		g->s.f, g->tokens[OWNER], body, "POST /tenant/%s/tools", g->s.f->tenant_id);
}

/* What they were told of this, up to the sentinel; NULL: nothing. */
static const char *heard(struct crowd *g, int who, const char *id, const char *sentinel)
{
	struct reader *c = &g->readers[who];
	const char *told = NULL;

	while (reader_next(c, LONG_MS)) {
		bool last = strstr(c->data.at, who == STRANGER ? g->far : sentinel) != NULL;

		CHECK_STR(c->event, "change");
		if (strstr(c->data.at, id))
			told = arena_strdup(&g->s.f->arena, c->data.at);
		if (last)
			return told;
	}
	test_fail(__FILE__, __LINE__, "%s did not hear the sentinel", person_names[who]);
	return told;
}

static bool lists(struct crowd *g, int who, const char *list, const char *id)
{
	struct answer r =
		ask(g->s.f, g->tokens[who], NULL, "GET /tenant/%s%s", g->s.f->tenant_id, list);

	return r.status == 200 && strstr(r.body, id);
}

TEST(changes_are_heard_by_those_whose_list_shows_them)
{
	struct crowd g;

	crowd_open(&g);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const struct changed *ch = &changes[i];
		struct fixture *f = g.s.f;
		char request[128];
		struct answer r;
		const char *id, *sentinel;

		snprintf(request, sizeof request, ch->request, f->tenant_id);
		r = ask(f, g.tokens[ch->by], ch->body, "%s", request);
		id = ch->id		 ? ch->id
		     : text_at(&r, "id") ? text_at(&r, "id")
					 : text_at(&r, "user_id");
		if ((r.status != 201 && r.status != 200) || !id) {
			test_fail(__FILE__, __LINE__, "%s: %d %s", request, r.status, r.body);
			continue;
		}
		sentinel = crowd_sentinel(&g);
		for (int who = 0; who < PEOPLE; who++) {
			bool due = lists(&g, who, ch->list, id);
			const char *told = heard(&g, who, id, sentinel);

			test_step("%s %zu to %s", ch->resource, i, person_names[who]);
			CHECK_INT(told != NULL, due);
			if (!told)
				continue;
			CHECK(strstr(told,
				arena_printf(&f->arena, "\"resource\":\"%s\"", ch->resource)));
			CHECK(strstr(told, f->tenant_id));
		}
	}
	crowd_close(&g);
}

TEST(changes_of_one_s_own_key_are_heard_when_another_revokes_it)
{
	struct crowd g;
	const char *id, *sentinel;

	crowd_open(&g);
	id = fixture_created(g.s.f, g.tokens[MEMBER], "{\"name\":\"k\"}",
		"POST /tenant/%s/api-keys", g.s.f->tenant_id);
	sentinel = crowd_sentinel(&g);
	heard(&g, MEMBER, id, sentinel);
	heard(&g, OTHER, id, sentinel);
	STATUS(ask(g.s.f, g.tokens[ADMIN], NULL, "DELETE /tenant/%s/api-keys/%s", g.s.f->tenant_id,
		       id),
		204);
	sentinel = crowd_sentinel(&g);
	CHECK(strstr(heard(&g, MEMBER, id, sentinel), "\"action\":\"api_key.revoke\""));
	CHECK(!heard(&g, OTHER, id, sentinel));
	crowd_close(&g);
}

/* What belongs to an agent is told to those who see the agent's; what belongs to the whole service to those who run it. */
TEST(changes_of_an_agent_s_and_of_the_service_are_told_to_theirs)
{
	struct crowd g;
	const char *memory, *plan, *sentinel, *told;

	crowd_open(&g);
	STATUS(ask(g.s.f, g.tokens[OWNER], "{\"enabled\":false}", "PUT /agents/%s/default-role",
		       g.s.agent_id),
		200);
	memory = fixture_created(g.s.f, g.tokens[OWNER], "{\"content\":\"M\"}",
		"POST /agents/%s/memories", g.s.agent_id);
	plan = fixture_created(
		g.s.f, g.tokens[OWNER], "{\"name\":\"P\",\"slug\":\"p\"}", "POST /admin/plans");
	sentinel = crowd_sentinel(&g);
	for (int who = 0; who < PEOPLE; who++) {
		struct reader *c = &g.readers[who];
		bool heard_memory = false, heard_plan = false;
		struct answer r =
			ask(g.s.f, g.tokens[who], NULL, "GET /agents/%s/memories", g.s.agent_id);

		test_step("%s", person_names[who]);
		while (reader_next(c, LONG_MS) &&
			!strstr(c->data.at, who == STRANGER ? g.far : sentinel)) {
			heard_memory = heard_memory || strstr(c->data.at, memory);
			told = strstr(c->data.at, plan) ? c->data.at : NULL;
			heard_plan = heard_plan || told;
			if (told)
				CHECK(strstr(told, "\"tenant_id\":null"));
		}
		CHECK_INT(heard_memory, r.status == 200);
		CHECK_INT(heard_plan, who == OWNER);
	}
	crowd_close(&g);
}

/* Who reads the agent's memories does not hear of what is another's own. */
TEST(changes_of_a_private_memory_are_told_to_its_owner)
{
	struct crowd g;
	const char *own, *shared, *sentinel;

	crowd_open(&g);
	STATUS(ask(g.s.f, g.tokens[MEMBER], NULL, "GET /agents/%s/memories", g.s.agent_id), 200);
	own = fixture_created(g.s.f, g.tokens[OWNER], "{\"content\":\"M\",\"scope\":\"private\"}",
		"POST /agents/%s/memories", g.s.agent_id);
	sentinel = crowd_sentinel(&g);
	CHECK(heard(&g, OWNER, own, sentinel) != NULL);
	CHECK(!heard(&g, MEMBER, own, sentinel));
	CHECK(!heard(&g, OTHER, own, sentinel));
	shared = fixture_created(g.s.f, g.tokens[OWNER], "{\"content\":\"S\",\"scope\":\"shared\"}",
		"POST /agents/%s/memories", g.s.agent_id);
	STATUS(ask(g.s.f, g.tokens[OWNER], NULL, "DELETE /agents/%s/memories/%s", g.s.agent_id,
		       own),
		204);
	sentinel = crowd_sentinel(&g);
	CHECK(heard(&g, MEMBER, shared, sentinel) != NULL);
	CHECK(!heard(&g, OTHER, own, sentinel));
	crowd_close(&g);
}

/* Mail that nobody of the house wrote just now has no entry in the audit log, and is told all the same. */
TEST(changes_tell_of_mail_to_those_who_may_read_it)
{
	struct crowd g;
	const char *writer, *address, *got, *sentinel;
	struct answer r;

	crowd_open(&g);
	STATUS(ask(g.s.f, g.tokens[OWNER], "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules",
		       g.s.f->tenant_id),
		200);
	STATUS(ask(g.s.f, g.tokens[OWNER], "{\"enabled\":false}", "PUT /agents/%s/default-role",
		       g.s.agent_id),
		200);
	writer = fixture_agent(g.s.f, "writer");
	r = ask(g.s.f, g.tokens[OWNER], NULL, "GET /agents/%s/mailboxes", g.s.agent_id);
	address = text_at(&r, "items.0.address");
	STATUS(ask(g.s.f, g.tokens[OWNER],
		       arena_printf(&g.s.f->arena,
			       "{\"to\":[\"%s\"],\"subject\":\"s\",\"text\":\"t\"}", address),
		       "POST /agents/%s/mail", writer),
		202);
	r = ask(g.s.f, g.tokens[OWNER], NULL, "GET /agents/%s/mail", g.s.agent_id);
	got = text_at(&r, "items.0.id");
	sentinel = crowd_sentinel(&g);
	for (int who = 0; who < PEOPLE; who++) {
		struct reader *c = &g.readers[who];
		bool told = false;

		test_step("%s", person_names[who]);
		r = ask(g.s.f, g.tokens[who], NULL, "GET /agents/%s/mail", g.s.agent_id);
		while (reader_next(c, LONG_MS) &&
			!strstr(c->data.at, who == STRANGER ? g.far : sentinel))
			told = told || (strstr(c->data.at, got) &&
					       strstr(c->data.at, "\"action\":\"mail.receive\""));
		CHECK_INT(told, r.status == 200);
	}
	crowd_close(&g);
}

/* Sessions have events of their own: no row more for each message. */
TEST(changes_are_not_written_for_what_happens_in_sessions)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a");
	int64_t before = fixture_count(f, "select count(*) from tenant_events");
	const char *session = fixture_session(f, f->admin, agent, "{}");

	STATUS(ask(f, f->admin, "{\"title\":\"t\"}", "PATCH /sessions/%s", session), 200);
	CHECK_INT(fixture_count(f, "select count(*) from tenant_events"), before);
	fixture_close(f);
}
