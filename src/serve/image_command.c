/* image_command.c - `lodge image build`: the image of an agent, from its image repository; also while the service runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/agents/agent_export.h"
#include "api/skills/skill_store.h"
#include "repos/image_files.h"
#include "repos/repo.h"
#include "serve/image_build.h"
#include "serve/manual.h"
#include "serve/open.h"

/* What is asked for, and what of it is found. */
struct image_errand {
	const struct settings *s;
	const char *tenant, *agent, *ref, *archive, *push, *base;
	bool as_root, tagged;
	struct repository row;
	char commit[BARE_ID_LEN + 1];
	struct arena *a;
	struct problem problem;
};

static int refuse(struct image_errand *e, int err, const char *sentence)
{
	return problem_set(&e->problem, e->a, err, "%s", sentence);
}

static void read_words(struct image_errand *e)
{
	for (size_t i = 0; i < e->s->argument_count; i++) {
		const char *word = e->s->arguments[i];
		const char **value = strcmp(word, "--ref") == 0	      ? &e->ref
				     : strcmp(word, "--archive") == 0 ? &e->archive
				     : strcmp(word, "--push") == 0    ? &e->push
				     : strcmp(word, "--base") == 0    ? &e->base
								      : NULL;

		if (value && i + 1 < e->s->argument_count)
			*value = e->s->arguments[++i];
		else if (strcmp(word, "--as-root") == 0)
			e->as_root = true;
		else if (!e->tenant)
			e->tenant = word;
		else
			e->agent = word;
	}
}

static int check_words(struct image_errand *e)
{
	if (!e->archive == !e->push)
		return refuse(e, ERR_USAGE,
			"say where the image is to go: either --archive FILE or --push IMAGE");
	if (e->push && !image_name_is_whole(e->push, &e->tagged))
		return refuse(e, ERR_USAGE,
			"--push names no image: give a registry and a name, like registry.example.org/images/desk, and a tag if "
			"you like, but no digest");
	return 0;
}

/* Never root, where there is somebody else. */
static int choose_user(struct image_errand *e, struct image_user *ret)
{
	struct stat data;

	*ret = (struct image_user){ geteuid(), getegid() };
	if (ret->uid == 0 && !e->as_root) {
		if (stat(e->s->data, &data) || data.st_uid == 0)
			return refuse(e, ERR_USAGE,
				"root does not build images, because whoever may push to the repository says what a build runs: "
				"run it as another user, or give --as-root where nothing else of worth is on this machine");
		*ret = (struct image_user){ data.st_uid, data.st_gid };
	}
	return image_build_check(*ret, e->a, &e->problem);
}

static int find_row(struct image_errand *e, struct db *db)
{
	const char *tenant_id = NULL, *agent_id = NULL;
	int err = skill_tenant_by_slug(db, e->a, e->tenant, &tenant_id);

	if (err == ERR_NOT_FOUND)
		return problem_set(
			&e->problem, e->a, err, "there is no tenant with the slug %s", e->tenant);
	if (!err)
		err = agent_export_find(db, e->a, tenant_id, e->agent, &agent_id);
	if (err == ERR_NOT_FOUND)
		return problem_set(&e->problem, e->a, err,
			"the tenant has no agent with the slug %s", e->agent);
	if (!err)
		err = repo_find(db, e->a, tenant_id, agent_id, RepoPurpose_image, &e->row);
	if (!err && e->row.host != RepoHost_embedded)
		return problem_set(&e->problem, e->a, ERR_USAGE,
			"the agent's image repository is on another host, whose pipeline builds it: %s",
			e->row.url);
	return err == ERR_NOT_FOUND
		       ? refuse(e, err,
				 "the agent has no image repository: POST .../image-repo makes one")
		       : err;
}

/* The store is closed again before the build, which may take long. */
static int read_store(struct image_errand *e)
{
	struct store *store = NULL;
	struct db *db = NULL;
	int err = open_current(&store, e->s, STORE_BESIDE, e->a, &e->problem);

	if (!err)
		err = store_connect(store, &db, e->a, &e->problem);
	if (!err)
		err = db_begin(db, READ_ONLY);
	if (!err) {
		err = find_row(e, db);
		db_rollback(db);
	}
	if (err && !e->problem.err)
		problem_set(&e->problem, e->a, err, "the store: %s", db ? db_error(db) : "");
	db_close(db);
	store_close(store);
	return err;
}

static int open_commit(struct image_errand *e, struct bare **ret)
{
	const char *ref = e->ref ? e->ref : REPO_MAIN;
	int err = bare_open(ret, arena_printf(e->a, "%s/%s.git", e->s->repo_folder, e->row.id),
		e->a, &e->problem);

	if (!err)
		err = bare_commit_of(*ret, ref, e->commit, e->a, &e->problem);
	return err == ERR_NOT_FOUND
		       ? problem_set(&e->problem, e->a, err,
				 "the image repository has no branch, tag or commit %s", ref)
		       : err;
}

/* A file that is there is nobody's to replace. */
static int open_archive(struct image_errand *e, int *ret)
{
	*ret = -1;
	if (!e->archive)
		return 0;
	*ret = open(e->archive, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return *ret < 0 ? problem_set(&e->problem, e->a, ERR_USAGE, "%s: %s", e->archive,
				  strerror(errno))
			: 0;
}

static int build(struct image_errand *e, struct bare *repo, struct image_user user)
{
	struct image_order order = { .repo = repo,
		.commit = e->commit,
		.base = e->base,
		.push = e->push && !e->tagged ? arena_printf(e->a, "%s:%s", e->push, e->commit)
					      : e->push,
		.user = user };
	const char *digest = NULL;
	int err = open_archive(e, &order.archive);

	if (err)
		return err;
	err = image_build(&order, &digest, e->a, &e->problem);
	if (order.archive >= 0)
		close(order.archive);
	if (err && order.archive >= 0)
		unlink(e->archive);
	if (!err && e->push)
		printf("%.*s@%s\n", (int)image_name_length(e->push), e->push, digest);
	else if (!err)
		printf("%s\n", digest);
	return err;
}

int command_image_build(const struct settings *s, struct arena *a)
{
	struct image_errand e = { .s = s, .a = a };
	struct image_user user;
	struct bare *repo = NULL;
	int err;

	read_words(&e);
	err = check_words(&e);
	if (!err)
		err = choose_user(&e, &user);
	if (!err)
		err = read_store(&e);
	if (!err)
		err = open_commit(&e, &repo);
	if (!err)
		err = build(&e, repo, user);
	bare_close(repo);
	return err ? complain(&e.problem) : 0;
}
