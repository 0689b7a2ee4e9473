/* test_proposals.c - prompts that follow their repository when somebody approves: what is asked, what is written, and when it is
 * asked no more. */
#include "git/text_diff.h"
#include "repo_fixture.h"

#define R "/tenant/%s/agents/%s"
#define DESCRIPTION "prompts/description_prompt.md"

static void set_mode(struct fixture *f, const char *agent, const char *mode)
{
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"projection\":\"%s\"}", mode),
		       "PATCH " R "/repo", f->tenant_id, agent),
		200);
}

static const char *proposing_agent(struct fixture *f, const char *slug)
{
	const char *agent = repo_agent(f, slug);

	runner_leave(f->service.runner); /* the steps of the job are taken one by one */
	set_mode(f, agent, "propose");
	return agent;
}

/* The id of the newest, if it is in that state. */
static const char *newest(struct fixture *f, const char *agent, const char *status)
{
	struct answer r = ask(f, f->admin, NULL, "GET " R "/prompt-proposals", f->tenant_id, agent);

	STATUS(r, 200);
	if (!at(&r, "items.0"))
		return NULL;
	CHECK_STR(text_at(&r, "items.0.status"), status);
	return text_at(&r, "items.0.id");
}

static struct answer shown(struct fixture *f, const char *agent, const char *id)
{
	return ask(f, f->admin, NULL, "GET " R "/prompt-proposals/%s", f->tenant_id, agent, id);
}

static struct answer decide(
	struct fixture *f, const char *agent, const char *id, const char *approved)
{
	return ask(f, f->admin, arena_printf(&f->arena, "{\"approved\":%s}", approved),
		"POST " R "/prompt-proposals/%s", f->tenant_id, agent, id);
}

static const char *live(struct fixture *f, const char *agent, const char *field)
{
	struct answer r = ask(f, f->admin, NULL, "GET " R, f->tenant_id, agent);
	const char *text = text_at(&r, field);

	return text ? text : "(none)";
}

static int64_t waiting(struct fixture *f, const char *token)
{
	struct answer r = ask(f, token, NULL, "GET /tenant/%s/prompt-proposals", f->tenant_id);

	STATUS(r, 200);
	return (int64_t)json_array_size(at(&r, "items"));
}

TEST(proposals_show_the_difference_and_write_what_was_shown)
{
	struct fixture *f = fixture_open();
	const char *agent = proposing_agent(f, "asks"), *id;
	struct answer r;

	repo_converge(f, agent, NULL);
	CHECK(!newest(f, agent, "pending"));
	repo_push(f, agent, DESCRIPTION, "Be brief.\\n");
	repo_push(f, agent, "prompts/bootstrap_instructions.md", "Begin.\\n");
	repo_converge(f, agent, NULL);
	CHECK_STR(live(f, agent, "description_prompt"), "Be kind.");
	id = newest(f, agent, "pending");
	r = shown(f, agent, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "title"), "Change it");
	CHECK_STR(text_at(&r, "author_name"), "Ada");
	CHECK_STR(text_at(&r, "commit_id"), repo_said(f, agent, "git rev-parse main"));
	CHECK_INT(json_array_size(at(&r, "files")), 2);
	CHECK(strstr(text_at(&r, "files.0.diff"), "@@ -1 +1 @@\n-Be kind.\n+Be brief.\n"));
	CHECK(strstr(text_at(&r, "files.1.diff"), "@@ -0,0 +1 @@\n+Begin.\n"));
	CHECK(json_is_false(at(&r, "files.0.diff_cut")));
	CHECK_STR(text_at(&r, "fields.1"), "bootstrap_instructions");
	CHECK_INT(waiting(f, f->admin), 1);
	/* To look once more asks nothing new. */
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "pending"), id);
	r = decide(f, agent, id, "true");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "approved");
	CHECK(text_at(&r, "decided_by_name"));
	CHECK_STR(live(f, agent, "description_prompt"), "Be brief.");
	CHECK_STR(live(f, agent, "bootstrap_instructions"), "Begin.");
	CHECK_STR(live(f, agent, "initial_greeting"), "Hello.");
	CHECK_INT(waiting(f, f->admin), 0);
	STATUS(decide(f, agent, id, "true"), 409);
	STATUS(decide(f, agent, "c00000000000000000000000x", "true"), 404);
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "approved"), id);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from audit_logs where action in ('agent.prompt.propose', "
			"'agent.prompt.decide')"),
		2);
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'agent.prompt.project'"),
		2);
	fixture_close(f);
}

TEST(proposals_that_are_rejected_are_not_asked_again_until_the_file_changes)
{
	struct fixture *f = fixture_open();
	const char *agent = proposing_agent(f, "rejects"), *id, *other;

	repo_push(f, agent, DESCRIPTION, "Be rude.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	STATUS(decide(f, agent, id, "false"), 200);
	CHECK_STR(live(f, agent, "description_prompt"), "Be kind.");
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "rejected"), id);
	/* Another file is asked about alone; and then this one has another text. */
	repo_push(f, agent, "prompts/initial_greeting.md", "Hi.\\n");
	repo_converge(f, agent, NULL);
	other = newest(f, agent, "pending");
	CHECK_INT(json_array_size(at((struct answer[]){ shown(f, agent, other) }, "files")), 1);
	repo_push(f, agent, DESCRIPTION, "Be polite.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	CHECK(strcmp(id, other) != 0);
	CHECK_STR(text_at((struct answer[]){ shown(f, agent, other) }, "status"), "superseded");
	CHECK_INT(json_array_size(at((struct answer[]){ shown(f, agent, id) }, "files")), 2);
	CHECK_INT(waiting(f, f->admin), 1);
	STATUS(decide(f, agent, other, "true"), 409);
	fixture_close(f);
}

TEST(proposals_are_written_only_while_both_sides_stand)
{
	struct fixture *f = fixture_open();
	const char *agent = proposing_agent(f, "guards"), *id;

	/* The file has moved on. */
	repo_push(f, agent, DESCRIPTION, "One.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	repo_push(f, agent, DESCRIPTION, "Two.\\n");
	fixture_sql(f, "delete from jobs where kind = 'repo.converge'", NO_ARGS);
	STATUS(decide(f, agent, id, "true"), 409);
	CHECK_STR(live(f, agent, "description_prompt"), "Be kind.");
	CHECK_STR(newest(f, agent, "superseded"), id);
	CHECK_INT(fixture_count(f, "select count(*) from jobs where kind = 'repo.converge'"), 1);
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	/* The prompt was changed past the operations that tell of it. */
	fixture_sql(f, "update agent_rows set description_prompt = 'Ours.' where id = $1",
		ARGS(T(agent)));
	STATUS(decide(f, agent, id, "true"), 409);
	CHECK_STR(live(f, agent, "description_prompt"), "Ours.");
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "superseded"), id);
	/* Who changes a prompt while it is read is not asked about what stood. */
	fixture_sql(f, "update agent_rows set description_prompt = 'Be kind.' where id = $1",
		ARGS(T(agent)));
	repo_converge(f, agent, "{\"initial_greeting\":\"Ho.\"}");
	CHECK_STR(newest(f, agent, "superseded"), id);
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	/* The repository cannot be read: nothing is decided. */
	repo_said(f, agent, "mv HEAD HEAD.away");
	STATUS(decide(f, agent, id, "true"), 502);
	repo_said(f, agent, "mv HEAD.away HEAD");
	STATUS(decide(f, agent, id, "true"), 200);
	CHECK_STR(live(f, agent, "description_prompt"), "Two.");
	fixture_close(f);
}

TEST(proposals_go_with_what_they_are_about)
{
	struct fixture *f = fixture_open();
	const char *agent = proposing_agent(f, "goes"), *id;

	repo_push(f, agent, DESCRIPTION, "One.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	/* Somebody writes the prompt. */
	STATUS(ask(f, f->admin, "{\"description_prompt\":\"Ours.\"}", "PATCH " R, f->tenant_id,
		       agent),
		200);
	CHECK_STR(newest(f, agent, "withdrawn"), id);
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "withdrawn"), id);
	/* The difference is resolved otherwise. */
	repo_push(f, agent, "prompts/initial_greeting.md", "Hi.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	STATUS(ask(f, f->admin, "{\"file\":\"prompts/initial_greeting.md\",\"take\":\"live\"}",
		       "POST " R "/prompt-provenance/resolve", f->tenant_id, agent),
		200);
	CHECK_STR(newest(f, agent, "withdrawn"), id);
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "withdrawn"), id);
	/* The file says what it did. */
	repo_push(f, agent, "prompts/initial_greeting.md", "Hi.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	repo_push(f, agent, "prompts/initial_greeting.md", "Hello.\\n");
	repo_converge(f, agent, NULL);
	CHECK_STR(newest(f, agent, "withdrawn"), id);
	/* The mode is another; the repository is let go of; the agent is erased. */
	repo_push(f, agent, "prompts/initial_greeting.md", "Ho.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	set_mode(f, agent, "off");
	CHECK_STR(newest(f, agent, "withdrawn"), id);
	set_mode(f, agent, "propose");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	STATUS(decide(f, agent, id, "false"), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE " R "/repo", f->tenant_id, agent), 200);
	CHECK_INT(fixture_count(f, "select count(*) from prompt_refusals"), 0);
	STATUS(ask(f, f->admin, NULL, "DELETE " R, f->tenant_id, agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from prompt_proposals"), 0);
	fixture_close(f);
}

TEST(proposals_wait_for_those_who_may_change_the_agent)
{
	struct fixture *f = fixture_open();
	const char *agent = proposing_agent(f, "rights"), *id, *token;
	const char *user = fixture_user(f, "viewer@example.org", &token);

	fixture_member(f, f->tenant_id, user, "MEMBER");
	repo_push(f, agent, DESCRIPTION, "One.\\n");
	repo_converge(f, agent, NULL);
	id = newest(f, agent, "pending");
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent, user),
		201);
	CHECK_INT(waiting(f, token), 0);
	STATUS(ask(f, token, NULL, "GET " R "/prompt-proposals/%s", f->tenant_id, agent, id), 200);
	STATUS(ask(f, token, "{\"approved\":true}", "POST " R "/prompt-proposals/%s", f->tenant_id,
		       agent, id),
		403);
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent, user),
		200);
	CHECK_INT(waiting(f, token), 1);
	STATUS(ask(f, token, "{\"approved\":true}", "POST " R "/prompt-proposals/%s", f->tenant_id,
		       agent, id),
		200);
	CHECK_STR(live(f, agent, "description_prompt"), "One.");
	fixture_close(f);
}

TEST(proposals_bound_what_they_show)
{
	struct arena a = { 0 };
	char *many = arena_alloc(&a, 2 * TEXT_DIFF_LINES + 8);
	bool cut = false;
	struct text_change c = { "p", "", many, 100 };
	const char *text;

	for (int i = 0; i < TEXT_DIFF_LINES; i++)
		memcpy(many + (size_t)2 * i, "x\n", 2);
	text = text_diff(&c, &a, &cut);
	CHECK(text && cut);
	CHECK(strlen(text) <= 100 && text[strlen(text) - 1] == '\n');
	c.most = 1 << 20;
	CHECK(text_diff(&c, &a, &cut) && !cut);
	strcpy(many + (size_t)2 * TEXT_DIFF_LINES, "x\n");
	CHECK(!text_diff(&c, &a, &cut) && cut);
	arena_free(&a);
}
