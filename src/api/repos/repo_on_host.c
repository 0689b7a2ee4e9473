/* repo_on_host.c - see repo_on_host.h. */
#include "api/repos/repo_on_host.h"

#include <string.h>

#include "api/service.h"
#include "base/log.h"
#include "base/same.h"
#include "repos/host_sync.h"
#include "repos/projection.h"
#include "repos/repo_mark.h"

int repo_project_look(
	struct call *c, const char *agent_slug, enum RepoPurpose purpose, struct repo_project *p)
{
	const struct host *h = service_of(c->app)->host;
	const struct caller *who = &c->caller;
	const char *tenant = NULL;
	int err;

	if (!h)
		return 0;
	err = repo_tenant_slug(c->db, c->arena, who->tenant_id, &tenant);
	if (err)
		return err;
	p->host = *h;
	p->host.stop = &c->work.withdrawn;
	p->want = (purpose == RepoPurpose_image ? host_image_of : host_project_of)(
		c->arena, tenant, agent_slug, who->agent_id);
	c->elsewhere = c->app->remotes;
	return 0;
}

/* ---- asking ---- */

/* The token is not the caller's, so that nothing is wrong with what was sent. */
static int host_fault(struct call *c, const struct remote_said *said)
{
	return call_fail(
		c, said->end == REMOTE_TAKEN ? ERR_CONFLICT : ERR_UPSTREAM, "%s", said->why);
}

static int make_project(struct call *c, struct repo_project *p)
{
	struct remote_said said = host_make(&p->host, c->arena, &p->want, &p->made);

	return said.end ? host_fault(c, &said) : 0;
}

static struct remote remote_of(const struct repo_project *p)
{
	return (struct remote){ .url = p->made.clone_url,
		.token = p->host.token,
		.egress = p->host.egress,
		.stop = p->host.stop };
}

/* Where its main branch is; "": it has none. */
static int find_main(struct call *c, const struct repo_project *p, char ret[BARE_ID_LEN + 1])
{
	struct remote remote = remote_of(p);
	struct remote_ref found = { .is_branch = false };
	struct remote_said said = { REMOTE_OK, -1, NULL };

	*ret = '\0';
	if (p->made.was_there)
		said = remote_ref_exact(&remote, c->arena, REPO_MAIN, &found);
	if (said.end)
		return host_fault(c, &said);
	if (found.is_branch)
		memcpy(ret, found.branch_id, BARE_ID_LEN + 1);
	return 0;
}

static int push_main(
	struct call *c, const struct repo_project *p, const char *id, const char *commit)
{
	struct remote remote = remote_of(p);

	return remote_git_push(&remote, repo_path(service_of(c->app)->repos, c->arena, id),
		REPO_MAIN, "", commit, c->arena, &c->problem);
}

/* ---- the ways to begin ---- */

/* A prompt that is the same as its file was so before. */
static int find_same(struct call *c, struct bare *b, struct repo_making *m)
{
	int err = 0;

	for (int i = 0; !err && i < PROMPT_FILES; i++) {
		struct prompt_reading file;

		err = projection_read(b, m->tip, i, &file, c->arena, &c->problem);
		m->same[i] = !err && file.side == PROMPT_READ && m->prompts.of[i] &&
			     strcmp(file.text, m->prompts.of[i]) == 0;
	}
	return err;
}

static int take_over(struct call *c, struct repo_making *m, const struct repo_project *p)
{
	struct repos *repos = service_of(c->app)->repos;
	int64_t most = repos_bytes_max(repos);
	struct remote remote = remote_of(p);
	struct bare *b = NULL;
	const char *path;
	int err;

	m->id = id_new(NULL);
	m->taken_over = true;
	path = repo_path(repos, c->arena, m->id.text);
	err = repo_make(repos, c->arena, m->id.text, &c->problem);
	if (!err)
		err = remote_git_fetch(&remote, path, most, c->arena, &c->problem);
	m->size_bytes = err ? 0 : repo_size(repos, c->arena, m->id.text);
	if (err == ERR_TOO_LARGE || m->size_bytes > most) {
		c->problem = (struct problem){ 0 };
		return call_fail(c, ERR_CONFLICT,
			"The host has the project %s of this agent already, which is larger than %lld bytes.",
			p->made.path, (long long)most);
	}
	if (!err)
		err = bare_open(&b, path, c->arena, &c->problem);
	if (!err)
		err = bare_tip(b, REPO_MAIN, m->tip, c->arena, &c->problem);
	if (err == ERR_NOT_FOUND)
		err = call_fail(c, ERR_UPSTREAM,
			"The main branch has gone from the host meanwhile: ask again.");
	if (!err)
		err = find_same(c, b, m);
	bare_close(b);
	return err;
}

static int begin_with_prompts(struct call *c, struct repo_making *m, const struct repo_project *p)
{
	int err = find_main(c, p, m->tip);

	if (err || *m->tip)
		return err ? err : take_over(c, m, p);
	err = repo_make_first(c, m);
	return err ? err : push_main(c, p, m->id.text, m->tip);
}

/* Whoever asks again after a process died pushes what is there, which changes nothing. */
static int begin_with_copy(
	struct call *c, const struct repo_making *m, const struct repo_project *p)
{
	struct repos *repos = service_of(c->app)->repos;
	struct remote remote = remote_of(p);
	int err = remote_git_push_all(&remote, repo_path(repos, c->arena, m->id.text),
		repos_bytes_max(repos), c->arena, &c->problem);

	if (err != ERR_CONFLICT)
		return err;
	c->problem = (struct problem){ 0 };
	return call_fail(c, err,
		"The host has the project %s of this agent already, with something else in it: without "
		"import_url it is taken over.",
		p->made.path);
}

/* What it does not take is no fault: then the host is asked once a minute, and no more. */
static void put_hook(struct call *c, struct repo_project *p, const char *id)
{
	const char *secret = repo_hook_secret(c->arena);
	struct remote_said said = p->host.kind->put_hook(
		&p->host, c->arena, p->made.path, repo_hook_url(c, id), secret);

	if (said.end)
		log_warn("the host of repositories does not tell of pushes to a project",
			LOG_S("project", p->made.path), LOG_S("why", said.why));
	else
		p->hook = secret;
}

int repo_make_on_host(struct call *c, struct repo_making *m, struct repo_project *p,
	const char *import_url, const char *token)
{
	int err = import_url ? repo_make_copy(c, m, import_url, token) : 0;

	if (!err)
		err = make_project(c, p);
	if (!err)
		err = import_url ? begin_with_copy(c, m, p) : begin_with_prompts(c, m, p);
	if (err && *m->id.text)
		repo_forget(service_of(c->app)->repos, c->arena, m->id.text);
	if (!err)
		put_hook(c, p, m->id.text);
	return err;
}

int repo_make_image_on_host(struct call *c, struct repo_project *p, struct id *id,
	char tip[BARE_ID_LEN + 1], int (*first)(struct call *c))
{
	struct repos *repos = service_of(c->app)->repos;
	char there[BARE_ID_LEN + 1];
	int err = make_project(c, p);

	if (!err)
		err = find_main(c, p, there);
	if (!err && *there) { /* nothing of it is read here */
		*id = id_new(NULL);
		memcpy(tip, there, sizeof there);
		err = repo_make(repos, c->arena, id->text, &c->problem);
	} else if (!err) {
		err = first(c);
		if (!err)
			err = push_main(c, p, id->text, tip);
	}
	if (err && *id->text)
		repo_forget(repos, c->arena, id->text);
	return err;
}

/* ---- the row ---- */

int repo_project_put(struct call *c, const struct repo_project *p, struct repository *row)
{
	int err;

	row->host = p->host.kind == &host_gitlab ? RepoHost_gitlab : RepoHost_gitea;
	row->url = p->made.clone_url;
	row->web_url = p->made.web_url;
	err = repo_secrets_seal(
		c->app->vault, c->arena, row, &(struct repo_secrets){ .hook = p->hook });
	if (!err)
		err = repo_add(c->db, row);
	return err ? err
		   : host_sync_ask(
			     c->db, c->arena, &p->host, row->tenant_id, row->agent_id, c->now);
}
