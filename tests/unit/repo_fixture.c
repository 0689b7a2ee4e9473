/* repo_fixture.c - see repo_fixture.h. */
#include <dirent.h>
#include "repo_fixture.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/clock.h"
#include "repos/converge.h"

struct repo_asked {
	struct fixture *f;
	const char *agent_id;
	enum RepoPurpose purpose;
	struct repository row;
};

static int find_repo(struct db *db, void *data)
{
	struct repo_asked *asked = data;

	return repo_find(db, &asked->f->arena, asked->f->tenant_id, asked->agent_id, asked->purpose,
		&asked->row);
}

const char *repo_agent(struct fixture *f, const char *slug)
{
	const char *id = fixture_created(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"A\",\"slug\":\"%s\",\"description_prompt\":\"Be kind.\","
			"\"initial_greeting\":\"Hello.\"}",
			slug),
		"POST /tenant/%s/agents", f->tenant_id);

	STATUS(ask(f, f->admin, NULL, "POST /tenant/%s/agents/%s/repo", f->tenant_id, id), 201);
	return id;
}

static const char *folder_for(struct fixture *f, const char *agent_id, enum RepoPurpose purpose)
{
	struct repo_asked asked = { .f = f, .agent_id = agent_id, .purpose = purpose };

	CHECK_INT(fixture_work(f, find_repo, &asked), 0);
	return repo_path(f->service.repos, &f->arena, asked.row.id ? asked.row.id : "none");
}

const char *repo_folder_of(struct fixture *f, const char *agent_id)
{
	return folder_for(f, agent_id, RepoPurpose_code);
}

const char *image_folder_of(struct fixture *f, const char *agent_id)
{
	return folder_for(f, agent_id, RepoPurpose_image);
}

static const char *said_in(struct fixture *f, const char *folder, const char *command)
{
	enum { MOST = 1 << 16 };
	char *text = arena_alloc(&f->arena, MOST);
	size_t n;
	FILE *out = popen(arena_printf(&f->arena,
				  "cd '%s' && export HOME=/nowhere GIT_CONFIG_NOSYSTEM=1 "
				  "GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org "
				  "GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org; %s",
				  folder, command),
		"r");

	n = fread(text, 1, MOST - 1, out);
	if (pclose(out))
		test_fail(__FILE__, __LINE__, "%s: %s", command, text);
	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	return text;
}

const char *repo_said(struct fixture *f, const char *agent_id, const char *command, ...)
{
	const char *whole;
	va_list args;

	va_start(args, command);
	whole = arena_vprintf(&f->arena, command, args);
	va_end(args);
	return said_in(f, repo_folder_of(f, agent_id), whole);
}

const char *image_said(struct fixture *f, const char *agent_id, const char *command)
{
	return said_in(f, image_folder_of(f, agent_id), command);
}

void repo_push(struct fixture *f, const char *agent_id, const char *path, const char *text)
{
	repo_said(f, agent_id,
		"export GIT_INDEX_FILE=$PWD/index.$$; git read-tree main; %s"
		"c=$(git commit-tree -p main -m 'Change it' $(git write-tree)); rm $GIT_INDEX_FILE; "
		"git update-ref refs/heads/main $c",
		text ? arena_printf(&f->arena,
			       "b=$(printf '%%b' '%s' | git hash-object -w --stdin); "
			       "git update-index --add --cacheinfo 100644,$b,%s; ",
			       text, path)
		     : arena_printf(&f->arena,
			       "printf '0 %%040d\\t%s\\n' 0 | git update-index --index-info; ",
			       path));
}

struct stepping {
	struct fixture *f;
	const char *agent;
	struct convergence what;
};

static int step_load(struct db *db, void *data)
{
	struct stepping *s = data;

	s->what = (struct convergence){ .failed = NULL };
	return converge_load(db, &s->f->arena, s->f->tenant_id, s->agent, &s->what);
}

static int step_apply(struct db *db, void *data)
{
	struct stepping *s = data;

	return converge_apply(db, &s->f->arena, &s->what, clock_now_us());
}

bool repo_follows(struct fixture *f, const char *agent_id)
{
	struct stepping s = { .f = f, .agent = agent_id };

	return fixture_work(f, step_load, &s) != ERR_NOT_FOUND &&
	       s.what.row.projection != RepoProjection_off;
}

void repo_converge(struct fixture *f, const char *agent_id, const char *patch_between)
{
	struct stepping s = { .f = f, .agent = agent_id };

	CHECK_INT(fixture_work(f, step_load, &s), 0);
	CHECK_INT(converge_read(f->service.repos, &f->arena, &s.what), 0);
	if (patch_between)
		STATUS(ask(f, f->admin, patch_between, "PATCH /tenant/%s/agents/%s", f->tenant_id,
			       agent_id),
			200);
	CHECK_INT(fixture_work(f, step_apply, &s), 0);
}

int repo_folders(const struct fixture *f)
{
	const struct dirent *e;
	DIR *d = opendir(f->repos);
	int count = 0;

	while (d && (e = readdir(d)))
		count += strstr(e->d_name, ".git") || strstr(e->d_name, ".gone");
	closedir(d);
	return count;
}
