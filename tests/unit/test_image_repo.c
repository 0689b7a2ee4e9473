/* test_image_repo.c - the image repositories of agents: what they begin with, that asking again changes nothing, and how they end. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "race.h"
#include "repo_fixture.h"
#include "repos/image_files.h"
#include "repos/repo.h"

#define R "/tenant/%s/agents/%s"

TEST(image_repo_begins_with_four_files_and_is_told_of_again)
{
	struct fixture *f = fixture_open();
	const char *agent = repo_agent(f, "packed"), *tip;
	struct answer r = ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent);

	STATUS(r, 201);
	CHECK_STR(text_at(&r, "agent_id"), agent);
	CHECK_STR(text_at(&r, "agent_slug"), "packed");
	CHECK_STR(text_at(&r, "repo_url"), "http://lodge.test/git/demo/packed.image.git");
	CHECK_STR(image_said(f, agent, "git ls-tree -r --name-only main"),
		".dockerignore\n.gitlab-ci.yml\nDockerfile\nrequirements.txt");
	CHECK_STR(
		image_said(f, agent,
			"git log --format='%an %ae' main; git fsck --strict; git symbolic-ref HEAD"),
		"A packed@lodge.internal\nrefs/heads/main");
	CHECK_STR(image_said(f, agent, "git show main:Dockerfile | grep -v '^#' | grep '^[A-Z]'"),
		"ARG BASE_IMAGE=" IMAGE_BASE "\nFROM ${BASE_IMAGE}\nUSER root\n"
		"COPY requirements.txt /tmp/requirements.txt\n"
		"RUN if grep -Eq '^[[:space:]]*[^#[:space:]]' /tmp/requirements.txt; then \\\n"
		"USER 1000:1000");
	CHECK(image_base_is_pinned(IMAGE_BASE));

	/* What people do with it stays, whatever it is. */
	image_said(f, agent,
		"git update-ref refs/heads/main $(git commit-tree -p main -m mine $(printf '100644 blob %s\\tDockerfile\\n' "
		"$(printf mine | git hash-object -w --stdin) | git mktree))");
	tip = image_said(f, agent, "git rev-parse main");
	r = ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "repo_url"), "http://lodge.test/git/demo/packed.image.git");
	CHECK_STR(image_said(f, agent, "git rev-parse main"), tip);
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), 2);
	CHECK_STR(repo_said(f, agent, "cd .. && ls -d *.git | wc -l"), "2");
	/* The two are apart. */
	STATUS(ask(f, f->admin, NULL, "DELETE " R "/repo", f->tenant_id, agent), 200);
	r = ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent);
	STATUS(r, 200);
	fixture_close(f);
}

TEST(image_repo_whose_files_are_lost_is_begun_anew)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "lost"), *folder;
	struct answer r;

	STATUS(ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent), 201);
	folder = image_folder_of(f, agent);
	image_said(f, agent, "rm -r $PWD");
	CHECK_INT(access(folder, F_OK), -1);
	r = ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "repo_url"), "http://lodge.test/git/demo/lost.image.git");
	CHECK_STR(image_folder_of(f, agent), folder);
	CHECK_STR(image_said(f, agent, "git ls-tree -r --name-only main | wc -l"), "4");
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), 1);
	STATUS(ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent), 200);
	fixture_close(f);
}

TEST(image_repo_is_one_however_many_ask_for_it)
{
	enum { COUNT = 6 };
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "wanted");
	struct racer racers[COUNT];

	for (int i = 0; i < COUNT; i++)
		racers[i] = (struct racer){ .token = f->admin,
			.body = "",
			.request = arena_printf(
				&f->arena, "POST " R "/image-repo", f->tenant_id, agent) };
	race(f, racers, COUNT);
	CHECK_INT(race_count(racers, COUNT, 201), 1);
	CHECK_INT(race_count(racers, COUNT, 200), COUNT - 1);
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), 1);
	fixture_close(f);
}

TEST(image_repo_ends_with_its_agent)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "brief"), *folder;

	STATUS(ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent), 201);
	folder = image_folder_of(f, agent);
	CHECK(access(folder, F_OK) == 0);
	STATUS(ask(f, f->admin, NULL, "DELETE " R, f->tenant_id, agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from repositories"), 0);
	repo_sweep_submit(f->service.repos, f->app.store, f->app.disk, clock_now_us());
	while (!repo_is_swept(f->service.repos))
		usleep(1000);
	CHECK(access(folder, F_OK) != 0);
	STATUS(ask(f, f->admin, NULL, "POST " R "/image-repo", f->tenant_id, agent), 404);
	fixture_close(f);
}

/* Each is a text that the tools of tests/blackbox/images.test.mjs judge; here, that each is another. */
TEST(image_files_follow_the_pipeline)
{
	static const char *const paths[] = { ".gitlab-ci.yml", ".gitea/workflows/image.yml",
		".github/workflows/image.yml" };
	struct arena a = { 0 };

	for (int i = 0; image_pipelines[i]; i++) {
		struct bare_file files[IMAGE_FILES];

		image_files(&a, &(struct image_choice){ "x/y:1", i }, files);
		CHECK_STR(files[3].path, paths[i]);
		CHECK(strstr(files[0].bytes, "ARG BASE_IMAGE=x/y:1\n"));
		for (int k = 0; k < IMAGE_FILES; k++)
			CHECK(!bare_path_fault(files[k].path));
	}
	arena_free(&a);
}

TEST(image_names_are_whole_with_a_tag_or_without)
{
	static const struct {
		const char *text;
		bool whole, tagged;
		size_t length; /* without the tag */
	} cases[] = {
		{ "registry.example.org/images/desk", true, false, 32 },
		{ "localhost:5000/desk:v1", true, true, 19 },
		{ "registry.example.org/desk:V_1.0-rc", true, true, 25 },
		{ "desk", false, false, 0 },
		{ "images/desk", false, false, 0 },
		{ "registry.example.org/", false, false, 0 },
		{ "registry.example.org/Desk", false, false, 0 },
		{ "registry.example.org/desk:", false, false, 25 },
		{ "registry.example.org/desk@sha256:00", false, false, 25 },
		{ "registry.example.org:66666x/desk", false, false, 0 },
		{ "--tls-verify=false", false, false, 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool tagged = false, whole = image_name_is_whole(cases[i].text, &tagged);

		if (whole != cases[i].whole || tagged != cases[i].tagged ||
			image_name_length(cases[i].text) != cases[i].length)
			test_fail(__FILE__, __LINE__, "%s: %d %d %zu", cases[i].text, whole, tagged,
				image_name_length(cases[i].text));
	}
}
