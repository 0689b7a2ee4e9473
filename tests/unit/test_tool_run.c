/* test_tool_run.c - calls of tools: arguments that are checked, answers that are cut, and the built-in tools
 * that look at the store, for those who may see what they find. */
#include "sessions/tool_run.h"

#include "base/clock.h"
#include "base/id.h"
#include "fixture.h"
#include "sessions/actor.h"
#include "sessions/builtin_tools.h"
#include "sessions/tool_outside.h"
#include "sessions/tool_text.h"

/* ---- arguments ---- */

TEST(tool_check_says_what_does_not_suit)
{
	struct held_tool tool = { .name = "t",
		.kind = "http",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{"
			"\"type\":\"integer\",\"maximum\":7}},\"required\":[\"city\"],"
			"\"additionalProperties\":false}" };
	static const struct {
		const char *arguments, *sentence;
	} rows[] = {
		{ "{\"city\":\"Rome\"}", NULL },
		{ "{\"city\":\"Rome\",\"days\":7}", NULL },
		{ " {\"city\":\"Rome\"} ", NULL },
		{ "", "The arguments are not JSON" },
		{ "null", "The arguments must be a JSON object." },
		{ "[]", "The arguments must be a JSON object." },
		{ "\"{}\"", "The arguments must be a JSON object." },
		{ "{\"city\":\"Rome\"", "The arguments are not JSON" },
		{ "{\"city\":\"Rome\"} {}", "The arguments are not JSON" },
		{ "{\"city\":\"\xff\"}", "The arguments are not JSON" },
		{ "{}", "The arguments do not suit the tool: the whole " },
		{ "{\"city\":\"Rome\",\"days\":8}", "The arguments do not suit the tool: /days " },
		{ "{\"city\":1,\"days\":8}", "; /days " },
		{ "{\"city\":\"Rome\",\"x\":1}", "The arguments do not suit the tool: " },
	};
	struct arena a = { 0 };
	char *large;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *got = tool_check(&a, &tool, rows[i].arguments);

		test_step("%s gives %s", rows[i].arguments, got ? got : "(fine)");
		CHECK(rows[i].sentence ? got && strstr(got, rows[i].sentence) : !got);
	}
	large = arena_alloc(&a, TOOL_ARGUMENTS_MAX + 2);
	memset(large, ' ', TOOL_ARGUMENTS_MAX + 1);
	CHECK(strstr(tool_check(&a, &tool, large), "262144 are the most"));
	tool.input_schema = "{\"type\":\"object\",\"$anchor\":\"x\"}";
	CHECK(strstr(tool_check(&a, &tool, "{}"), "its input_schema"));
	arena_free(&a);
}

/* Whoever looked at them before: whatever runs a tool looks itself, before it does anything.  There is no store here
 * that a tool could reach. */
TEST(tool_arguments_are_checked_where_the_tool_runs)
{
	static const char *const bad[] = { "", "null", "[]", "7", "{", "{\"nobody_knows\":1}" };
	struct tool_outside nobody = { 0 };
	struct arena a = { 0 };
	size_t quick = 0;

	for (size_t i = 0; i <= builtin_tool_count; i++) {
		bool last = i == builtin_tool_count; /* one that is not built in */
		struct held_tool tool = { .id = "x",
			.name = last ? "get_weather" : builtin_tools[i].name,
			.kind = last ? "http" : "builtin",
			.input_schema =
				last ? "{\"type\":\"object\",\"additionalProperties\":false}"
				     : builtin_tools[i].input_schema,
			.config = "{}",
			.sealed = "" };
		struct tool_asked asked = { .tool = &tool };

		quick += tool_is_quick(&tool);
		for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
			struct tool_answer answer = { 0 };

			test_step("%s with %s", tool.name, bad[k]);
			asked.arguments = bad[k];
			if (tool_is_quick(&tool))
				CHECK_INT(tool_run_quick(NULL, &a, &asked, &answer), 0);
			else if (last)
				tool_outside_run(
					&nobody, &a, &asked, &(_Atomic bool){ false }, &answer);
			else
				continue;
			CHECK(answer.failed);
			CHECK(strncmp(answer.text, "The arguments ", 14) == 0);
		}
	}
	CHECK(quick > 5);
	arena_free(&a);
}

/* Calls of one answer share the steps that their schemas may take. */
TEST(tool_check_stops_where_many_calls_take_too_long_together)
{
	struct arena a = { 0 };
	struct buf b;
	struct held_tool tool = { .name = "t", .kind = "http" };
	size_t left = 100 * 1000;
	int taken = 0;

	buf_init(&b, 64 * 1024);
	buf_lit(&b,
		"{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/d0\"}},\"$defs\":{");
	for (int i = 0; i < 12; i++)
		buf_printf(&b,
			"\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},",
			i, i + 1, i + 1);
	buf_lit(&b, "\"d12\":{\"type\":\"string\"}}}");
	tool.input_schema = arena_strndup(&a, b.at, b.len);
	buf_free(&b);
	CHECK(strstr(tool_check(&a, &tool, "{\"x\":1}"), "/x"));
	while (taken < 100 &&
		!strstr(tool_check_within(&a, &tool, "{\"x\":1}", &left), "more steps"))
		taken++;
	CHECK(taken > 0 && taken < 50);
	CHECK_INT(left, 0);
	CHECK(strstr(tool_check_within(&a, &tool, "{\"x\":\"s\"}", &left), "more steps"));
	arena_free(&a);
}

/* ---- answers ---- */

TEST(tool_answers_are_cut_between_characters)
{
	struct arena a = { 0 };
	size_t len = TOOL_OUTPUT_MAX + 1000, clean;
	char *text = arena_alloc(&a, len + 1);
	struct tool_answer got;

	for (size_t i = 0; i + 1 < len; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	tool_answer_give(&a, &(struct tool_said){ .bytes = text, .len = len }, &got);
	CHECK(strlen(got.text) <= TOOL_OUTPUT_MAX);
	CHECK_STR(tool_text_clean(&a, got.text, strlen(got.text), &clean), got.text);
	CHECK(strstr(got.text, "of 33768. The whole is kept in the files of this session.]"));
	CHECK(got.whole == text && got.whole_len == len);
	/* one byte fewer than the limit is whole, and so is the limit */
	tool_answer_give(&a, &(struct tool_said){ .bytes = text, .len = TOOL_OUTPUT_MAX }, &got);
	CHECK(!got.whole && strlen(got.text) == TOOL_OUTPUT_MAX);
	/* bytes that are no text */
	tool_answer_give(&a, &(struct tool_said){ .bytes = "a\0b\xff\xc3", .len = 5 }, &got);
	CHECK_STR(got.text, "a\xef\xbf\xbd"
			    "b\xef\xbf\xbd\xef\xbf\xbd");
	/* what was not read to its end says so, however short it is */
	tool_answer_give(&a, &(struct tool_said){ .bytes = "abc", .len = 3, .more = true }, &got);
	CHECK(strstr(got.text, "of more than 3. What was read of it is kept"));
	tool_answer_give(&a, &(struct tool_said){ .len = 0 }, &got);
	CHECK_STR(got.text, "");
	arena_free(&a);
}

/* ---- the built-in ones ---- */

struct use {
	struct fixture *f;
	const char *agent_id, *session_id, *user_id, *call_id;
	const char *name, *arguments;
	struct tool_answer answer;
};

static int run(struct db *db, void *data)
{
	struct use *u = data;
	struct held_tool tool = { .name = u->name,
		.kind = "builtin",
		.input_schema = builtin_tool(u->name)->input_schema };
	struct id id = id_new(NULL);
	struct problem problem = { 0 };
	struct actor actor;
	struct tool_asked in = { .tenant_id = u->f->tenant_id,
		.agent_id = u->agent_id,
		.session_id = u->session_id,
		.user_id = u->user_id,
		.held = u->user_id ? 0 : permissions_of_agent_role(AGENT_OWNER),
		.call_id = u->call_id ? u->call_id : id.text,
		.tool = &tool,
		.arguments = u->arguments,
		.now = INT64_C(1767225600000000) /* 2026-01-01 */ };

	/* as a run has it: of those who may not have the agent work, nothing */
	if (u->user_id && !actor_load(db, &u->f->arena,
				  &(struct actor_who){ .tenant_id = u->f->tenant_id,
					  .agent_id = u->agent_id,
					  .user_id = u->user_id },
				  in.now, &actor, &problem)) {
		in.held = actor.agent;
		in.all_sessions = actor.all_sessions;
	}
	CHECK(tool_is_quick(&tool));
	if (tool_check(&u->f->arena, &tool, u->arguments))
		test_fail(__FILE__, __LINE__, "%s", tool_check(&u->f->arena, &tool, u->arguments));
	return tool_run_quick(db, &u->f->arena, &in, &u->answer);
}

/* The answer's text, with "failed: " before it if it did. */
static const char *used(struct use *u, const char *name, const char *arguments)
{
	u->name = name;
	u->arguments = arguments;
	CHECK_INT(fixture_work(u->f, run, u), 0);
	return u->answer.failed ? arena_printf(&u->f->arena, "failed: %s", u->answer.text)
				: u->answer.text;
}

TEST(builtin_time_and_calculator_answer)
{
	struct fixture *f = fixture_open();
	struct use u = { .f = f, .agent_id = fixture_agent(f, "a"), .session_id = "s" };

	CHECK_STR(used(&u, "time", "{}"),
		"Thursday, 2026-01-01T00:00:00, UTC+00:00, in UTC\nUTC: 2026-01-01T00:00:00Z");
	CHECK_STR(used(&u, "time", "{\"time_zone\":\"America/New_York\"}"),
		"Wednesday, 2025-12-31T19:00:00, UTC-05:00, in America/New_York\n"
		"UTC: 2026-01-01T00:00:00Z");
	CHECK_STR(used(&u, "time", "{\"time_zone\":\"Asia/Kolkata\"}"),
		"Thursday, 2026-01-01T05:30:00, UTC+05:30, in Asia/Kolkata\n"
		"UTC: 2026-01-01T00:00:00Z");
	CHECK_STR(used(&u, "time", "{\"time_zone\":\"../etc/passwd\"}"),
		"failed: There is no time zone named ../etc/passwd. Use a name such as Europe/Paris "
		"or UTC.");
	CHECK_STR(used(&u, "calculator", "{\"expression\":\"0.1+0.2\"}"), "0.3");
	CHECK_STR(used(&u, "calculator", "{\"expression\":\"1/0\"}"),
		"failed: Something is divided by zero.");
	fixture_close(f);
}

TEST(builtin_memory_is_written_once_and_found)
{
	struct fixture *f = fixture_open();
	struct use u = { .f = f,
		.agent_id = fixture_agent(f, "a"),
		.session_id = NULL,
		.user_id = f->admin_id };
	struct id id = id_new(NULL);

	u.call_id = id.text;
	CHECK_STR(used(&u, "memory_write",
			  "{\"content\":\"Zo\xc3\xab likes caf\xc3\xa9 100% strong\"}"),
		"The note is kept (private).");
	/* the same call again, after a crash */
	CHECK_STR(used(&u, "memory_write",
			  "{\"content\":\"Zo\xc3\xab likes caf\xc3\xa9 100% strong\"}"),
		"The note is kept (private).");
	CHECK_INT(fixture_count(f, "select count(*) from memories"), 1);
	u.call_id = NULL;
	CHECK_STR(used(&u, "memory_write", "{\"content\":\"The cafe opens at nine\"}"),
		"The note is kept (private).");
	CHECK_STR(used(&u, "memory_write", "{\"content\":\"a\\u0000b\"}"),
		"failed: The argument content holds a NUL, which cannot be kept.");
	CHECK_STR(used(&u, "memory_search", "{\"query\":\"CAFE\"}"),
		"2026-01-01 (private): The cafe opens at nine\n"
		"2026-01-01 (private): Zo\xc3\xab likes caf\xc3\xa9 100% strong\n");
	CHECK_STR(used(&u, "memory_search", "{\"query\":\"caf lik\"}"),
		"2026-01-01 (private): Zo\xc3\xab likes caf\xc3\xa9 100% strong\n");
	CHECK_STR(used(&u, "memory_search", "{\"query\":\"afe\"}"),
		"No note has all of these words.");
	CHECK_STR(used(&u, "memory_search", "{\"query\":\"cafe\",\"limit\":1}"),
		"2026-01-01 (private): The cafe opens at nine\n[There are more; these are the newest 1.]");
	CHECK_STR(used(&u, "memory_search", "{\"query\":\"%\"}"),
		"failed: The query must have 1 to 16 words.");
	/* another agent's are not its own */
	u.agent_id = fixture_agent(f, "b");
	CHECK_STR(used(&u, "memory_search", "{\"query\":\"cafe\"}"),
		"No note has all of these words.");
	fixture_close(f);
}

/* Who writes × how × who looks. */
TEST(builtin_memory_tells_nobody_elses)
{
	struct fixture *f = fixture_open();
	const char *ann = fixture_user(f, "ann@example.org", NULL),
		   *bob = fixture_user(f, "bob@example.org", NULL);
	struct use u = { .f = f, .agent_id = fixture_agent(f, "a") };
	const char *who[] = { f->admin_id, ann, bob, NULL };

	fixture_member(f, f->tenant_id, ann, "MEMBER");
	fixture_member(f, f->tenant_id, bob, "MEMBER");
	for (int shared = 0; shared < 2; shared++)
		for (int i = 0; i < 4; i++) {
			bool kept = !shared || i == 0;
			const char *word = arena_printf(&f->arena, "w%d%d", shared, i);

			u.user_id = who[i];
			used(&u, "memory_write",
				arena_printf(&f->arena, "{\"content\":\"%s\"%s}", word,
					shared ? ",\"scope\":\"shared\"" : ""));
			CHECK_INT(!u.answer.failed, kept);
			for (int k = 0; k < 4; k++) {
				u.user_id = who[k];
				used(&u, "memory_search",
					arena_printf(&f->arena, "{\"query\":\"%s\"}", word));
				if ((strstr(u.answer.text, word) != NULL) !=
					(kept && (shared || i == k)))
					test_fail(__FILE__, __LINE__, "%s of %d by %d: %s",
						shared ? "shared" : "private", i, k, u.answer.text);
			}
		}
	fixture_close(f);
}

TEST(builtin_memory_has_an_end)
{
	struct fixture *f = fixture_open();
	struct use u = { .f = f, .agent_id = fixture_agent(f, "a") };

	fixture_sql(f,
		fixture_is_sqlite()
			? "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) "
			  "insert into memories (tenant_id, agent_id, id, created_at, content, "
			  "content_folded, scope) select $1, $2, 'm' || i, 1, 'x', 'x', 'private' from n"
			: "insert into memories (tenant_id, agent_id, id, created_at, content, "
			  "content_folded, scope) select $1, $2, 'm' || i, 1, 'x', 'x', 'private' "
			  "from generate_series(1, 5000) i",
		ARGS(T(f->tenant_id), T(u.agent_id)));
	CHECK_STR(used(&u, "memory_write", "{\"content\":\"one more\"}"),
		"failed: The note was not kept: this agent has 5000 private notes, which is the most. Somebody "
		"has to delete some first.");
	fixture_close(f);
}

/* ---- sessions ---- */

static void make_session(struct fixture *f, const char *agent, const char *id, const char *title,
	const char *creator, const char *words)
{
	fixture_sql(f,
		"insert into session_rows (tenant_id, id, agent_id, title, status, origin, created_by_id, "
		"iteration_count, message_count, last_event_id, created_at, updated_at) "
		"values ($1, $2, $3, $4, 'idle', 'user', $5, 0, 1, 0, 1767225600000000, 1)",
		ARGS(T(f->tenant_id), T(id), T(agent), T(title), T(creator)));
	if (creator)
		fixture_sql(f,
			"insert into session_people (tenant_id, user_id, session_id) values ($1, $2, $3)",
			ARGS(T(f->tenant_id), T(creator), T(id)));
	fixture_sql(f,
		"insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
		"tool_calls, content) values ($1, $2, 'm1', 'user', 'complete', 0, 0, 0, 0, 0, 1, '', $3)",
		ARGS(T(f->tenant_id), T(id), T(words)));
}

TEST(builtin_session_search_shows_nobody_elses)
{
	struct fixture *f = fixture_open();
	const char *ann = fixture_user(f, "ann@example.org", NULL),
		   *bob = fixture_user(f, "bob@example.org", NULL), *agent = fixture_agent(f, "a"),
		   *other = fixture_agent(f, "b");
	struct use u = { .f = f, .agent_id = agent, .session_id = "s9" };
	const char *ask_it = "{\"query\":\"invoice\"}";

	fixture_member(f, f->tenant_id, ann, "MEMBER");
	fixture_member(f, f->tenant_id, bob, "MEMBER");
	make_session(f, agent, "s1", "Ann's", ann, "where is the INVOICE\nof May?");
	make_session(f, agent, "s2", "Bob's invoice", bob, "no such word");
	make_session(f, agent, "s3", NULL, NULL, "an invoice came in");
	make_session(f, other, "s4", "elsewhere", ann, "invoice");
	make_session(f, agent, "s9", "the one that asks", ann, "invoice");
#define ANNS "2026-01-01 Ann's (session s1)\n  user: where is the INVOICE of May?\n"
#define BOBS "2026-01-01 Bob's invoice (session s2)\n"
#define NOBODYS "2026-01-01 without a title (session s3)\n  user: an invoice came in\n"
	u.user_id = ann;
	CHECK_STR(used(&u, "session_search", ask_it), ANNS);
	u.user_id = bob;
	CHECK_STR(used(&u, "session_search", ask_it), BOBS);
	CHECK_STR(used(&u, "session_search", "{\"query\":\"bob invoice\"}"), BOBS);
	CHECK_STR(used(&u, "session_search", "{\"query\":\"bob may\"}"),
		"No earlier session has all of these words.\n");
	/* no person: only those without one */
	u.user_id = NULL;
	CHECK_STR(used(&u, "session_search", ask_it), NOBODYS);
	/* a stranger */
	u.user_id = fixture_user(f, "eve@example.org", NULL);
	CHECK_STR(used(&u, "session_search", ask_it),
		"failed: Whoever this runs for may not read sessions of this agent.");
	/* the OWNER of the tenant, and whoever has a role on the agent by name */
	u.user_id = f->admin_id;
	CHECK_STR(used(&u, "session_search", ask_it), NOBODYS BOBS ANNS);
	CHECK_STR(used(&u, "session_search", "{\"query\":\"invoice\",\"limit\":1}"),
		NOBODYS "[Only the newest 1 sessions were looked through; there are more.]");
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent, bob),
		201);
	u.user_id = bob;
	CHECK_STR(used(&u, "session_search", ask_it), NOBODYS BOBS ANNS);
	/* which counts for nothing once the agent is for administrators only */
	STATUS(ask(f, f->admin, "{\"is_admin_only\":true}", "PATCH /tenant/%s/agents/%s",
		       f->tenant_id, agent),
		200);
	CHECK_STR(used(&u, "session_search", ask_it),
		"failed: Whoever this runs for may not read sessions of this agent.");
	fixture_close(f);
}

/* ---- skills ---- */

TEST(builtin_skill_read_gives_instructions_and_files)
{
	struct fixture *f = fixture_open();
	struct use u = { .f = f, .agent_id = fixture_agent(f, "a") };
	struct answer r = ask(f, f->admin,
		"{\"name\":\"Letters\",\"slug\":\"letters\",\"description\":\"D\",\"instructions\":"
		"\"Write kindly.\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	const char *skill = text_at(&r, "id");

	CHECK_STR(used(&u, "skill_read", "{\"skill\":\"letters\"}"),
		"failed: This agent has no skill letters. It has none.");
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", skill),
		       "POST /agents/%s/skills", u.agent_id),
		201);
	CHECK_STR(used(&u, "skill_read", "{\"skill\":\"letters\"}"), "Write kindly.");
	STATUS(ask(f, f->admin, "data:application/octet-stream;base64,RGVhciBmcmllbmQs",
		       "PUT /tenant/%s/skills/%s/file?path=forms/dear.txt", f->tenant_id, skill),
		201);
	CHECK_STR(used(&u, "skill_read", "{\"skill\":\"letters\"}"),
		"Write kindly.\n\nFiles of this skill, to be read with the argument file:\n"
		"- forms/dear.txt (12 bytes)\n");
	CHECK_STR(used(&u, "skill_read", "{\"skill\":\"letters\",\"file\":\"forms/dear.txt\"}"),
		"Dear friend,");
	CHECK_STR(used(&u, "skill_read", "{\"skill\":\"letters\",\"file\":\"../x\"}"),
		"failed: The skill letters has no file ../x.");
	CHECK_STR(used(&u, "skill_read", "{\"skill\":\"numbers\"}"),
		"failed: This agent has no skill numbers. It has: letters");
	fixture_close(f);
}
