/* test_projection.c - the three-way rule of prompts, every row of it; and provenance as clients see it. */
#include <unistd.h>

#include "repo_fixture.h"
#include "repos/projection.h"

#define R "/tenant/%s/agents/%s"

TEST(projection_judges_every_combination)
{
	static const struct {
		enum prompt_side side;
		const char *file, *live, *base; /* base as a text, NULL: there is none */
		const char *verdict;		/* Present, Diverged, pEnding, Settles */
	} rows[] = {
		{ PROMPT_ABSENT, NULL, "a", "a", "" },
		{ PROMPT_ABSENT, NULL, "b", "a", "" },
		{ PROMPT_ABSENT, NULL, NULL, NULL, "" },
		{ PROMPT_UNREADABLE, NULL, "a", "a", "P" },
		{ PROMPT_UNREADABLE, NULL, "b", "a", "P" },
		{ PROMPT_UNREADABLE, NULL, NULL, NULL, "P" },
		{ PROMPT_READ, "a", "a", "a", "PS" },
		{ PROMPT_READ, "a", "a", "b", "PS" },
		{ PROMPT_READ, "a", "a", NULL, "PS" },
		{ PROMPT_READ, "", NULL, NULL, "PS" },
		{ PROMPT_READ, "a", "b", NULL, "PE" },
		{ PROMPT_READ, "a", NULL, NULL, "PE" },
		{ PROMPT_READ, "a", "b", "b", "PE" },
		{ PROMPT_READ, "a", NULL, "", "PE" },
		{ PROMPT_READ, "a", "b", "a", "PD" },
		{ PROMPT_READ, "a", "b", "c", "PD" },
		{ PROMPT_READ, "a", NULL, "a", "PD" },
		{ PROMPT_READ, "", "b", "", "PD" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char base[65] = "", got[8];
		struct prompt_verdict v;

		test_step("%zu", i);
		if (rows[i].base)
			prompt_digest(rows[i].base, base);
		v = projection_judge(&(struct prompt_sides){
			{ rows[i].side, rows[i].file }, rows[i].live, base });
		snprintf(got, sizeof got, "%s%s%s%s", v.present ? "P" : "", v.diverged ? "D" : "",
			v.pending ? "E" : "", v.settles ? "S" : "");
		CHECK_STR(got, rows[i].verdict);
	}
}

TEST(projection_reads_files_as_texts)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{ "a\n", "a" },
		{ "a", "a" },
		{ "a\n\n", "a\n" },
		{ "a\r\nb\r\n", "a\nb" },
		{ "a\rb", "a\rb" },
		{ "\xef\xbb\xbf"
		  "a\n",
			"a" },
		{ "", "" },
		{ "\n", "" },
		{ "\xff", NULL },
	};
	struct arena a = { 0 };
	char *long_one = arena_alloc(&a, CEILING_PROMPT + 2);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *got = prompt_file_text(&a, rows[i].bytes, strlen(rows[i].bytes));

		test_step("%zu", i);
		if (rows[i].text)
			CHECK_STR(got, rows[i].text);
		else
			CHECK(!got);
	}
	CHECK(!prompt_file_text(&a, "a\0b", 3));
	memset(long_one, 'x', CEILING_PROMPT + 1);
	CHECK(!prompt_file_text(&a, long_one, CEILING_PROMPT + 1));
	CHECK(prompt_file_text(&a, long_one, CEILING_PROMPT));
	arena_free(&a);
}

/* "-" absent, "=" the same, "<" the file is newer, "!" the live text is another; one for each prompt. */
static const char *states(struct fixture *f, const struct answer *r)
{
	char *text = arena_alloc(&f->arena, 4);

	CHECK(json_is_true(at(r, "available")));
	for (int i = 0; i < 3; i++) {
		bool present =
			json_is_true(at(r, arena_printf(&f->arena, "files.%d.repo_present", i)));
		bool diverged =
			json_is_true(at(r, arena_printf(&f->arena, "files.%d.diverged", i)));
		bool pending = json_is_true(
			at(r, arena_printf(&f->arena, "files.%d.pending_projection", i)));

		CHECK(!(diverged && pending));
		text[i] = diverged ? '!' : pending ? '<' : present ? '=' : '-';
	}
	return text;
}

static struct answer provenance(struct fixture *f, const char *agent)
{
	return ask(f, f->admin, NULL, "GET " R "/prompt-provenance", f->tenant_id, agent);
}

static struct answer resolve(
	struct fixture *f, const char *agent, const char *file, const char *take)
{
	return ask(f, f->admin,
		arena_printf(&f->arena, "{\"file\":\"%s\",\"take\":\"%s\"}", file, take),
		"POST " R "/prompt-provenance/resolve", f->tenant_id, agent);
}

TEST(projection_provenance_tells_which_side_has_moved)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "none"), *folder;
	struct answer r = provenance(f, agent);

	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "available")));
	CHECK_STR(text_at(&r, "unavailable_reason"), "This agent has no repository.");
	STATUS(resolve(f, agent, "prompts/initial_greeting.md", "live"), 404);
	agent = repo_agent(f, "some");
	r = provenance(f, agent);
	STATUS(r, 200);
	CHECK_STR(states(f, &r), "=-=");
	CHECK_STR(text_at(&r, "files.0.field"), "description_prompt");
	CHECK_INT(json_array_size(at(&r, "files.0.commits")), 1);
	CHECK_INT(json_array_size(at(&r, "files.1.commits")), 0);
	/* In the repository, then here, then both the same again. */
	repo_push(f, agent, "prompts/description_prompt.md", "Be brief.\\r\\n");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "<-=");
	CHECK_INT(json_array_size(at(&r, "files.0.commits")), 2);
	STATUS(ask(f, f->admin,
		       "{\"description_prompt\":\"Be long.\",\"initial_greeting\":\"Hi.\"}",
		       "PATCH " R, f->tenant_id, agent),
		200);
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "!-!");
	STATUS(ask(f, f->admin, "{\"description_prompt\":\"Be brief.\"}", "PATCH " R, f->tenant_id,
		       agent),
		200);
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "=-!");
	/* A file that was removed, one that is a link, one that is no text. */
	repo_push(f, agent, "prompts/description_prompt.md", NULL);
	repo_push(f, agent, "prompts/bootstrap_instructions.md", "\\377");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "-=!");
	folder = repo_folder_of(f, agent);
	CHECK(rename(folder, arena_printf(&f->arena, "%s.away", folder)) == 0);
	r = provenance(f, agent);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "available")));
	CHECK(strstr(text_at(&r, "unavailable_reason"), "cannot be read"));
	fixture_close(f);
}

TEST(projection_is_resolved_in_both_directions)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "both");
	struct answer r;

	repo_push(f, agent, "prompts/description_prompt.md", "From the repository.\\n");
	STATUS(ask(f, f->admin,
		       "{\"description_prompt\":\"From here.\",\"initial_greeting\":\"Hi.\"}",
		       "PATCH " R, f->tenant_id, agent),
		200);
	r = resolve(f, agent, "prompts/description_prompt.md", "repository");
	STATUS(r, 200);
	CHECK_STR(states(f, &r), "=-!");
	r = resolve(f, agent, "prompts/initial_greeting.md", "live");
	STATUS(r, 200);
	CHECK_STR(states(f, &r), "=-=");
	CHECK_INT(json_array_size(at(&r, "files.2.commits")), 2);
	CHECK_STR(repo_said(f, agent, "git show main:prompts/initial_greeting.md"), "Hi.");
	CHECK_STR(repo_said(f, agent, "git fsck --strict"), "");
	r = ask(f, f->admin, NULL, "GET " R, f->tenant_id, agent);
	CHECK_STR(text_at(&r, "description_prompt"), "From the repository.");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "=-=");
	/* What is not there cannot be taken; and no other file can. */
	STATUS(resolve(f, agent, "prompts/bootstrap_instructions.md", "repository"), 409);
	STATUS(resolve(f, agent, "README.md", "live"), 422);
	STATUS(resolve(f, agent, "prompts/initial_greeting.md", "both"), 422);
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'agent.prompt.resolve'"),
		2);
	/* There is no room; or somebody holds the branch. */
	fixture_sql(f, "update repositories set size_bytes = 8 * 1024 * 1024", NO_ARGS);
	STATUS(resolve(f, agent, "prompts/initial_greeting.md", "live"), 507);
	fixture_sql(f, "update repositories set size_bytes = 1", NO_ARGS);
	repo_said(f, agent, "touch refs/heads/main.lock");
	STATUS(ask(f, f->admin, "{\"initial_greeting\":\"Ho.\"}", "PATCH " R, f->tenant_id, agent),
		200);
	STATUS(resolve(f, agent, "prompts/initial_greeting.md", "live"), 409);
	repo_said(f, agent, "rm refs/heads/main.lock");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "=-!");
	fixture_close(f);
}

static const char *live(struct fixture *f, const char *agent, const char *field)
{
	struct answer r = ask(f, f->admin, NULL, "GET " R, f->tenant_id, agent);
	const char *text = text_at(&r, field);

	return text ? text : "(none)";
}

TEST(projection_follows_the_repository_where_it_is_told_to)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "auto"), *folder;
	struct answer r;

	CHECK(!repo_follows(f, agent));
	/* By the row alone, so that the job itself does not run beside its steps. */
	fixture_sql(f, "update repositories set projection = 'auto'", NO_ARGS);
	repo_push(f, agent, "prompts/description_prompt.md", "Be brief.\\n");
	repo_push(f, agent, "prompts/bootstrap_instructions.md", "Begin.\\n");
	repo_converge(f, agent, NULL);
	CHECK_STR(live(f, agent, "description_prompt"), "Be brief.");
	CHECK_STR(live(f, agent, "bootstrap_instructions"), "Begin.");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "===");
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'agent.prompt.project'"),
		2);
	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "tip"), repo_said(f, agent, "git rev-parse main"));
	/* Once more changes nothing; what was changed here stays; and so does what was removed there. */
	repo_converge(f, agent, NULL);
	STATUS(ask(f, f->admin, "{\"initial_greeting\":\"Ours.\"}", "PATCH " R, f->tenant_id,
		       agent),
		200);
	repo_push(f, agent, "prompts/initial_greeting.md", "Theirs.\\n");
	repo_push(f, agent, "prompts/bootstrap_instructions.md", NULL);
	repo_converge(f, agent, NULL);
	CHECK_STR(live(f, agent, "initial_greeting"), "Ours.");
	CHECK_STR(live(f, agent, "bootstrap_instructions"), "Begin.");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "=-!");
	/* Who edits while it runs wins. */
	repo_push(f, agent, "prompts/description_prompt.md", "Late.\\n");
	repo_converge(f, agent, "{\"description_prompt\":\"Meanwhile.\"}");
	CHECK_STR(live(f, agent, "description_prompt"), "Meanwhile.");
	r = provenance(f, agent);
	CHECK_STR(states(f, &r), "!-!");
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'agent.prompt.project'"),
		2);
	folder = repo_folder_of(f, agent);
	CHECK(rename(folder, arena_printf(&f->arena, "%s.away", folder)) == 0);
	repo_converge(f, agent, NULL);
	r = ask(f, f->admin, NULL, "GET " R "/repo", f->tenant_id, agent);
	CHECK(text_at(&r, "last_error") && strstr(text_at(&r, "last_error"), "are not where"));
	fixture_close(f);
}
