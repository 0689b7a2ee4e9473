/* image_repo.c - an agent is given a repository for a container image of its own.
 *
 * Here, or as a project on the host that the settings name: that is pushed to and built there, and nothing of it is read here.
 * The folder is made before the row that names it, as that of its other
 * repository is.  Whoever has one is told of it, and nothing in it is touched; one
 * whose files are lost is begun anew, at the same place. */
#include <string.h>

#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/repos/repo_on_host.h"
#include "api/service.h"
#include "base/clock.h"
#include "repos/image_files.h"
#include "repos/repo_mark.h"

/* What is carried from one step to the next. */
struct image_making {
	bool stands, here, lost; /* there is one; it is our own; but its files are gone */
	struct repo_project project;
	const char *name, *email;
	struct id id;
	char tip[BARE_ID_LEN + 1];
	int64_t size_bytes;
};

static int find_standing(struct call *c, bool *ret, struct repository *row)
{
	int err = repo_find(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_image, row);

	*ret = !err;
	if (!err)
		c->audit.resource_id = row->id;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int look_to_make(struct call *c)
{
	struct image_making *m = c->own = arena_new(c->arena, struct image_making);
	struct repository row;
	struct agent_row agent;
	int err = find_standing(c, &m->stands, &row);

	if (!err)
		err = agent_row_read(c, &agent);
	if (err)
		return err;
	if (m->stands)
		memcpy(m->id.text, row.id, sizeof m->id.text);
	m->here = !m->stands || row.host == RepoHost_embedded;
	m->name = agent.name;
	m->email = arena_printf(c->arena, "%s@lodge.internal", agent.slug);
	return m->stands ? 0 : repo_project_look(c, agent.slug, RepoPurpose_image, &m->project);
}

/* Of another host its own kind of pipeline, and not that of the settings. */
static struct image_choice choice_of(const struct image_making *m, const struct repos *repos)
{
	struct image_choice choice = *repos_image(repos);

	if (m->project.host.kind)
		choice.pipeline = m->project.host.kind == &host_gitlab ? IMAGE_GITLAB : IMAGE_GITEA;
	return choice;
}

static int make_first(struct call *c)
{
	struct image_making *m = c->own;
	struct repos *repos = service_of(c->app)->repos;
	struct image_choice choice = choice_of(m, repos);
	struct bare_file files[IMAGE_FILES];
	struct bare *b = NULL;
	const char *path;
	int err;

	if (!m->stands)
		m->id = id_new(NULL);
	path = repo_path(repos, c->arena, m->id.text);
	image_files(c->arena, &choice, files);
	err = repo_make(repos, c->arena, m->id.text, &c->problem);
	if (!err)
		err = bare_open(&b, path, c->arena, &c->problem);
	if (!err)
		err = bare_commit(b,
			&(struct bare_committing){ .branch = REPO_MAIN,
				.files = files,
				.count = IMAGE_FILES,
				.name = m->name,
				.email = m->email,
				.message = "Begin with the base image and no packages\n",
				.at = c->now / SECOND_US },
			m->tip, c->arena, &c->problem);
	bare_close(b);
	if (err)
		repo_forget(repos, c->arena, m->id.text);
	else
		m->size_bytes = repo_size(repos, c->arena, m->id.text);
	return err;
}

static int make_repo(struct call *c)
{
	struct image_making *m = c->own;

	m->lost = m->stands && m->here &&
		  !repo_is_there(service_of(c->app)->repos, c->arena, m->id.text);
	if (m->stands && !m->lost)
		return 0;
	return m->project.host.kind
		       ? repo_make_image_on_host(c, &m->project, &m->id, m->tip, make_first)
		       : make_first(c);
}

static int add_row(struct call *c, const struct image_making *m)
{
	struct repository row = { .tenant_id = c->caller.tenant_id,
		.id = m->id.text,
		.agent_id = c->caller.agent_id,
		.purpose = RepoPurpose_image,
		.host = RepoHost_embedded,
		.projection = RepoProjection_off,
		.tip = m->tip,
		.observed_at = c->now,
		.next_attempt_at = NIL,
		.size_bytes = m->size_bytes,
		.created_at = c->now,
		.updated_at = c->now };

	c->audit.resource_id = row.id;
	return m->project.host.kind ? repo_project_put(c, &m->project, &row)
				    : repo_add(c->db, &row);
}

static int change_row(struct call *c, const struct image_making *m, const struct repository *row)
{
	struct repository after = *row;

	if (strcmp(row->id, m->id.text) != 0)
		return 0; /* another one has taken its place */
	after.size_bytes = m->size_bytes;
	return repo_saw(c->db, &after, m->tip, c->now);
}

/* The files of one that stood, and were lost, are there again for whoever has its row. */
static void discard_image(struct call *c)
{
	const struct image_making *m = c->own;

	if (m && !m->stands && *m->id.text)
		repo_forget(service_of(c->app)->repos, c->arena, m->id.text);
}

/* One that somebody else made meanwhile counts. */
OPERATION(createAgentImageRepo, NONE, AgentImageRepoRead, .may_stand = true, .on_disk = true,
	.look = look_to_make, .prepare = make_repo, .discard = discard_image)
{
	const struct image_making *m = c->own;
	const struct caller *who = &c->caller;
	const char *url = NULL;
	struct repository row = { .url = NULL };
	struct agent_row agent;
	int err = agent_row_read(c, &agent);

	if (!err)
		err = find_standing(c, &c->standing, &row);
	if (!err && !c->standing && m->stands)
		return call_fail(c, ERR_CONFLICT,
			"The agent's image repository was taken away meanwhile: ask again.");
	if (!err && c->standing && m->lost)
		err = change_row(c, m, &row);
	else if (!err && !c->standing)
		err = add_row(c, m);
	c->took = !err && !c->standing;
	if (c->standing)
		url = row.url;
	else if (m->project.host.kind)
		url = m->project.made.clone_url;
	c->standing = c->standing && !m->lost;
	out->repo_url = url;
	if (!err && !url)
		err = repo_url_of(c->db, c->arena, c->app->settings.public_url, who->tenant_id,
			agent.slug, RepoPurpose_image, &out->repo_url);
	out->agent_id = who->agent_id;
	out->agent_slug = agent.slug;
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s", who->tenant_id, who->agent_id);
	return err;
}

static const struct route routes[] = {
	{ METHOD_POST, "/tenant/{tenant_id}/agents/{agent_id}/image-repo", &createAgentImageRepo,
		PERM_AGENT_WRITE, 201, "agent.image_repo.create", .tag = "Repositories",
		.finds_agent = true, .patient = true,
		.doc = "Give the agent a git repository for a container image of its own, with the files that build "
		       "it. An agent that has one is told of it; one whose files are lost is begun anew." },
};
RESOURCE(image_repo, routes, NULL);
