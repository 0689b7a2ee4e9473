/* repo_import.c - see repo_import.h.
 *
 * The folder is made before the row that names it: a process that dies in
 * between leaves a folder that nobody names, which is removed a day later. */
#include "api/repos/repo_import.h"

#include <string.h>

#include "api/service.h"
#include "base/clock.h"
#include "repos/repo_mark.h"

int repo_make_first(struct call *c, struct repo_making *m)
{
	struct repos *repos = service_of(c->app)->repos;
	struct bare_file files[PROMPT_FILES];
	struct bare *b = NULL;
	const char *path;
	size_t count = 0;
	int err;

	m->id = id_new(NULL);
	path = repo_path(repos, c->arena, m->id.text);
	for (int i = 0; i < PROMPT_FILES; i++)
		if (m->prompts.of[i] && *m->prompts.of[i]) {
			const char *bytes = prompt_file_bytes(c->arena, m->prompts.of[i]);

			m->same[i] = true;
			files[count++] =
				(struct bare_file){ prompt_files[i].path, bytes, strlen(bytes) };
		}
	err = repo_make(repos, c->arena, m->id.text, &c->problem);
	if (!err)
		err = bare_open(&b, path, c->arena, &c->problem);
	if (!err)
		err = bare_commit(b,
			&(struct bare_committing){ .branch = REPO_MAIN,
				.files = files,
				.count = count,
				.name = m->name,
				.email = m->email,
				.message = "Begin with the prompts of the agent\n",
				.at = c->now / SECOND_US },
			m->tip, c->arena, &c->problem);
	bare_close(b);
	if (err) /* a disk that is full takes the folder, and not what belongs into it */
		repo_forget(repos, c->arena, m->id.text);
	else
		m->size_bytes = repo_size(repos, c->arena, m->id.text);
	return err;
}

/* Its main branch; where it has none of that name, that begins where the branch stands that the host shows first. */
static int find_main(struct call *c, struct bare *b, const char *head, struct repo_making *m)
{
	const char *first = head && strncmp(head, "refs/heads/", 11) == 0 ? head + 11 : NULL;
	int err = bare_tip(b, REPO_MAIN, m->tip, c->arena, &c->problem);

	if (err != ERR_NOT_FOUND)
		return err;
	err = first ? bare_tip(b, first, m->tip, c->arena, &c->problem) : ERR_NOT_FOUND;
	if (err == ERR_NOT_FOUND)
		return call_field(
			c, "import_url", "empty", "leads to a repository without a main branch");
	return err ? err : bare_move(b, REPO_MAIN, NULL, m->tip, c->arena, &c->problem);
}

static int copy_into(struct call *c, struct repo_making *m, const struct remote *remote,
	const struct ls_refs *refs)
{
	struct repos *repos = service_of(c->app)->repos;
	const char *path = repo_path(repos, c->arena, m->id.text);
	int64_t most = repos_bytes_max(repos);
	struct bare *b = NULL;
	int err = repo_make(repos, c->arena, m->id.text, &c->problem);

	if (!err)
		err = remote_git_fetch(remote, path, most, c->arena, &c->problem);
	if (err && err != ERR_TOO_LARGE)
		return err;
	m->size_bytes = repo_size(repos, c->arena, m->id.text);
	c->problem = (struct problem){ 0 };
	if (err || m->size_bytes > most)
		return call_field(c, "import_url", "too_large",
			"leads to a repository that is larger than %lld bytes", (long long)most);
	err = bare_open(&b, path, c->arena, &c->problem);
	if (!err)
		err = find_main(c, b, refs->head, m);
	bare_close(b);
	return err;
}

static bool somebody_waits(void *ctx)
{
	const struct call *c = ctx;

	return !http_left(c->x);
}

int repo_make_copy(struct call *c, struct repo_making *m, const char *url, const char *token)
{
	const char *moved = NULL;
	struct remote remote = { .url = url,
		.egress = repo_egress(c),
		.stop = &c->work.withdrawn,
		.ret_url = &moved,
		.wanted = somebody_waits,
		.ctx = c };
	struct remote_said said;
	struct ls_refs refs;
	int err;

	m->id = id_new(NULL);
	remote_set_token(&remote, c->arena, token);
	said = remote_refs_list(&remote, c->arena, &refs);
	if (said.end)
		return repo_remote_fault(c, &said, "import_url");
	remote.url = moved;
	err = copy_into(c, m, &remote, &refs);
	if (err) /* half a copy is of use to nobody */
		repo_forget(service_of(c->app)->repos, c->arena, m->id.text);
	return err;
}
