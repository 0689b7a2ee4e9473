/* test_tool_offers.c - every tool an agent may hold, against every way in which a client may bring a function of
 * its name.
 *
 * The client's function is the client's to run, and the agent's tool is the
 * agent's: whatever the two are called, whichever the model calls, and with
 * whatever arguments. */
#include "mcp_fixture.h"
#include "openai_fixture.h"
#include "sessions/builtin_tools.h"
#include "turn_fixture.h"

#define INPUT                                                                             \
	"{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":" \
	"[\"q\"],\"additionalProperties\":false}"

struct offers {
	struct turn_fixture t;
	struct openai_fixture o;
	struct mcp_fixture mcp;
	struct peer peer;
	const char *reader_id; /* an agent that has a skill, and no tool to read it with */
};

static void answer(struct peer *p, int fd, const char *request)
{
	(void)p;
	(void)request;
	peer_reply(fd, 200, "text/plain", "called", 6);
}

/* ---- what is held ---- */

static void make_http(struct offers *s, const char *name, const char *bundle)
{
	struct fixture *f = s->t.f;
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"%s\",\"kind\":\"http\",\"description\":\"D\",\"input_schema\":" INPUT
			",\"config\":{\"method\":\"POST\",\"url\":\"http://127.0.0.1:%d/\","
			"\"headers\":{\"X-Key\":\"sealed-key\"}}}",
			name, s->peer.port),
		"POST /tenant/%s/tools", f->tenant_id);
	const char *id = text_at(&r, "id");

	STATUS(r, 201);
	if (!bundle) {
		turn_tool(&s->t, s->t.agent_id, name);
		return;
	}
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"%s\",\"slug\":\"%s\",\"tools\":[\"%s\"]}",
			bundle, bundle, id),
		"POST /tenant/%s/tool-bundles", f->tenant_id);
	STATUS(r, 201);
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena, "{\"bundle_id\":\"%s\"}", text_at(&r, "id")),
		       "POST /tenant/%s/agents/%s/tool-bundles", f->tenant_id, s->t.agent_id),
		201);
}

static void make_reader(struct offers *s)
{
	struct fixture *f = s->t.f;
	struct answer r = ask(f, f->admin, "{\"name\":\"Reader\",\"slug\":\"reader\"}",
		"POST /tenant/%s/agents", f->tenant_id);

	s->reader_id = text_at(&r, "id");
	r = ask(f, f->admin,
		"{\"name\":\"Letters\",\"slug\":\"letters\",\"description\":\"D\",\"instructions\":"
		"\"Write kindly.\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", text_at(&r, "id")),
		       "POST /agents/%s/skills", s->reader_id),
		201);
}

static void offers_open(struct offers *s)
{
	turn_open(&s->t, NULL);
	s->o = (struct openai_fixture){ .f = s->t.f };
	s->t.f->app.settings.allow_private_addresses = true;
	peer_open(&s->peer, answer);
	mcp_fixture_open(&s->mcp,
		"[{\"name\":\"dig\",\"description\":\"Digs.\",\"inputSchema\":" INPUT "}]");
	STATUS(ask(s->t.f, s->t.f->admin,
		       arena_printf(&s->t.f->arena, "{\"url\":\"http://127.0.0.1:%d/mcp\"}",
			       s->mcp.peer.port),
		       "POST /tenant/%s/tools/import-mcp", s->t.f->tenant_id),
		200);
	for (size_t i = 0; i < builtin_tool_count; i++)
		turn_tool(&s->t, s->t.agent_id, builtin_tools[i].name);
	turn_tool(&s->t, s->t.agent_id, "dig");
	make_http(s, "ring.once", NULL);
	make_http(s, "knock", "doors");
	make_reader(s);
}

static void offers_close(struct offers *s)
{
	mcp_fixture_close(&s->mcp);
	peer_close(&s->peer);
	turn_close(&s->t);
}

/* ---- what a client brings, and how ---- */

static const char *nested(struct offers *s, const char *name)
{
	return arena_printf(&s->t.f->arena,
		"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\",\"description\":\"Mine\","
		"\"parameters\":{\"type\":\"object\"}}}]",
		name);
}

static const char *called_in(struct offers *s, struct answer *r)
{
	if (r->status != 200)
		test_fail(__FILE__, __LINE__, "status %d: %s", r->status, r->body);
	*r = openai_rest(&s->o, text_at(r, "thread_id"), text_at(r, "id"));
	return strcmp(text_at(r, "status"), "requires_action") == 0
		       ? text_at(r,
				 "required_action.submit_tool_outputs.tool_calls.0.function.name")
		       : "";
}

/* Each has the agent called with such a function, and answers the name of the function that is handed to
 * the client, or "". */
static const char *by_new_thread(
	struct offers *s, const char *agent, const char *name, const char *text)
{
	struct answer r = openai_ask(&s->o,
		arena_printf(&s->t.f->arena,
			"{\"assistant_id\":\"%s\",%s,\"thread\":{\"messages\":[{\"role\":\"user\","
			"\"content\":\"%s\"}]}}",
			agent, nested(s, name), text),
		"POST /v1/threads/runs");

	return called_in(s, &r);
}

static const char *by_thread(
	struct offers *s, const char *agent, const char *name, const char *text)
{
	struct answer r = openai_ask(&s->o,
		arena_printf(&s->t.f->arena,
			"{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}", text),
		"POST /v1/threads");

	r = openai_ask(&s->o,
		arena_printf(
			&s->t.f->arena, "{\"assistant_id\":\"%s\",%s}", agent, nested(s, name)),
		"POST /v1/threads/%s/runs", text_at(&r, "id"));
	return called_in(s, &r);
}

static const char *by_assistant(
	struct offers *s, const char *agent, const char *name, const char *text)
{
	struct answer r = openai_ask(&s->o, arena_printf(&s->t.f->arena, "{%s}", nested(s, name)),
		"POST /v1/assistants/%s", agent);

	STATUS(r, 200);
	r = openai_ask(&s->o,
		arena_printf(&s->t.f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[{\"role\":\"user\","
			"\"content\":\"%s\"}]}}",
			agent, text),
		"POST /v1/threads/runs");
	return called_in(s, &r);
}

static const char *by_response(
	struct offers *s, const char *agent, const char *name, const char *text)
{
	struct answer r = openai_ask(&s->o,
		arena_printf(&s->t.f->arena,
			"{\"model\":\"%s\",\"input\":\"%s\",\"tools\":[{\"type\":\"function\","
			"\"name\":\"%s\",\"parameters\":{\"type\":\"object\"}}]}",
			agent, text, name),
		"POST /v1/responses");

	STATUS(r, 200);
	for (size_t i = 0; i < json_array_size(at(&r, "output")); i++)
		if (strcmp(text_at(&r, arena_printf(&s->t.f->arena, "output.%zu.type", i)),
			    "function_call") == 0)
			return text_at(&r, arena_printf(&s->t.f->arena, "output.%zu.name", i));
	return "";
}

static const struct way {
	const char *word;
	const char *(*call)(
		struct offers *s, const char *agent, const char *name, const char *text);
} ways[] = {
	{ "a new thread", by_new_thread },
	{ "a thread", by_thread },
	{ "an assistant's own", by_assistant },
	{ "a response", by_response },
};

/* ---- the names ---- */

static const char *same(struct arena *a, const char *alias)
{
	return arena_strdup(a, alias);
}

static const char *louder(struct arena *a, const char *alias)
{
	char *out = arena_strdup(a, alias);

	for (char *p = out; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return out;
}

static const char *second(struct arena *a, const char *alias)
{
	return arena_printf(a, "%s_2", alias);
}

static const struct naming {
	const char *(*name)(struct arena *a, const char *alias);
	bool taken; /* by the agent's own, so that the function goes by another name */
} namings[] = { { same, true }, { louder, false }, { second, false } };

/* What tools have done so far, all of them together. */
static int64_t deeds(struct offers *s)
{
	struct fixture *f = s->t.f;

	return fixture_count(f, "select count(*) from memories") +
	       fixture_count(f, "select count(*) from sessions where origin = 'subtask'") +
	       fixture_count(f, "select count(*) from session_calls where state in ('completed', "
				"'running', 'waiting_subtask')") +
	       s->peer.asked + (strstr(s->mcp.last_head, "tools/call") != NULL);
}

static void try_all(struct offers *s, const char *agent, const char *tool)
{
	struct arena *a = &s->t.f->arena;
	char *alias = arena_strdup(a, tool);

	for (char *p = alias; *p; p++)
		*p = *p == '.' ? '_' : *p;
	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
		for (size_t n = 0; n < sizeof namings / sizeof *namings; n++) {
			const char *name = namings[n].name(a, alias);
			const char *offered = namings[n].taken ? second(a, alias) : name;
			int64_t before = deeds(s);

			test_step("%s, %s by %s", tool, name, ways[w].word);
			CHECK_STR(ways[w].call(s, agent, name,
					  arena_printf(a, "use tool %s with {}", offered)),
				name);
			CHECK_INT(deeds(s), before);
			/* the agent's own beside it is not called so, either; these two need no arguments */
			if (strcmp(tool, "time") == 0 || strcmp(tool, "mail_search") == 0)
				continue;
			CHECK_STR(ways[w].call(s, agent, name,
					  arena_printf(a, "use tool %s with {}", alias)),
				"");
			CHECK_INT(deeds(s), before);
		}
}

TEST(tool_offers_are_told_apart_whatever_their_names)
{
	struct offers s = { 0 };

	offers_open(&s);
	for (size_t i = 0; i < builtin_tool_count; i++)
		try_all(&s, s.t.agent_id, builtin_tools[i].name);
	try_all(&s, s.t.agent_id, "ring.once");
	try_all(&s, s.t.agent_id, "knock");
	try_all(&s, s.t.agent_id, "dig");
	try_all(&s, s.reader_id, "skill_read");
	offers_close(&s);
}

/* A chat with a model has no tools of an agent: what it calls is handed out. */
TEST(tool_offers_of_a_chat_are_the_clients)
{
	struct offers s = { 0 };

	offers_open(&s);
	for (size_t i = 0; i < builtin_tool_count; i++) {
		const char *name = builtin_tools[i].name;
		int64_t before = deeds(&s);
		struct answer r = openai_ask(&s.o,
			arena_printf(&s.t.f->arena,
				"{\"model\":\"demo\",\"messages\":[{\"role\":\"user\",\"content\":\"use "
				"tool %s with {}\"}],%s}",
				name, nested(&s, name)),
			"POST /v1/chat/completions");

		STATUS(r, 200);
		CHECK_STR(text_at(&r, "choices.0.message.tool_calls.0.function.name"), name);
		CHECK_INT(deeds(&s), before);
	}
	offers_close(&s);
}
