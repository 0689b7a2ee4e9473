/* test_agent_export_limits.c - of what is more than a bundle holds the newest is taken, and the rest is named. */
#include "fixture.h"

/* Files are stored in it as they are. */
static bool holds(const struct answer *r, const char *text)
{
	return memmem(r->body, r->body_len, text, strlen(text)) != NULL;
}

static struct answer export_all(struct fixture *f, const char *id)
{
	struct answer r = ask(f, f->admin, NULL,
		"GET /tenant/%s/agents/%s/export?sessions=true&memories=true", f->tenant_id, id);

	STATUS(r, 200);
	return r;
}

/* As many rows as a number of four digits counts, many times over: quicker than to make them one by one. */
#define DIGITS "(values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9))"
#define NUMBERS                                                                         \
	"(select a.column1 + 10 * b.column1 + 100 * c.column1 + 1000 * d.column1 + "    \
	"10000 * e.column1 as n from " DIGITS " a, " DIGITS " b, " DIGITS " c, " DIGITS \
	" d, (values (0),(1),(2)) e)"

TEST(agent_export_keeps_the_newest_memories)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r;

	fixture_sql(f,
		"insert into memories (tenant_id, agent_id, id, content, content_folded, scope, "
		"created_at) select $1, $2, 'm' || cast(100000 + n as text), "
		"'M' || cast(n as text), '', 'shared', n from " NUMBERS " x where n < 10003",
		ARGS(T(f->tenant_id), T(id)));
	r = export_all(f, id);
	CHECK(!holds(&r, "\"M2\""));
	CHECK(holds(&r, "\"M3\""));
	CHECK(holds(&r, "\"M10002\""));
	CHECK(holds(&r, "Only the newest 10000 memories"));
	fixture_close(f);
}

TEST(agent_export_keeps_the_newest_messages)
{
	static const int messages[] = { 5, 20, 19990 };
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r;

	for (int i = 0; i < 3; i++) {
		const char *session = fixture_session(
			f, f->admin, id, arena_printf(&f->arena, "{\"title\":\"S%d\"}", i));

		fixture_sql(f,
			"insert into messages (tenant_id, session_id, id, role, status, metadata, "
			"tool_calls, thoughts, content, created_at, prompt_tokens, completion_tokens, "
			"cache_read_tokens, cache_write_tokens, cost_pd) select $1, $2, "
			"'m' || cast(100000 + n as text), 'user', 'complete', '', '[]', '', "
			"$4 || cast(n as text), n, 0, 0, 0, 0, 0 from " NUMBERS " x where n < $3",
			ARGS(T(f->tenant_id), T(session), N(messages[i]),
				T(arena_printf(&f->arena, "T%d-", i))));
	}
	r = export_all(f, id);
	CHECK(!holds(&r, "\"S0\""));
	CHECK(holds(&r, "\"S1\""));
	CHECK(!holds(&r, "\"T1-9\""));
	CHECK(holds(&r, "\"T1-10\""));
	CHECK(holds(&r, "\"T1-19\""));
	CHECK(holds(&r, "\"T2-0\""));
	CHECK(holds(&r, "\"T2-19989\""));
	CHECK(holds(&r, "1 older sessions were left out"));
	fixture_close(f);
}
