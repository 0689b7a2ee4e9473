/* bare.c - making and opening bare repositories; see bare.h. */
#include "git/bare_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "base/utf8_cut.h"

enum {
	CACHE_BYTES = 16 << 20,	  /* of all objects that are kept in memory */
	WINDOW_BYTES = 1 << 20,	  /* of a pack that is mapped at once */
	MAPPED_BYTES = 256 << 20, /* all of them */
	PACK_FILES_OPEN = 256,
};

static pthread_once_t begun = PTHREAD_ONCE_INIT;

/* The library is the process's own.  No file of a user or of the system is read, and whom a folder belongs to is no question:
 * all of them are the service's. */
static void begin_library(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL };

	git_libgit2_init();
	bare_memory_begin();
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, "");
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)CACHE_BYTES);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)WINDOW_BYTES);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)MAPPED_BYTES);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_FILE_LIMIT, (size_t)PACK_FILES_OPEN);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 1);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
}

void bare_begin(void)
{
	pthread_once(&begun, begin_library);
}

int bare_unreadable(struct arena *a, struct problem *p)
{
	const git_error *why = git_error_last();

	log_warn("a repository cannot be read", LOG_S("why", why ? why->message : NULL));
	return problem_set(p, a, ERR_UPSTREAM,
		"The repository cannot be read: its files are not here, or are damaged.");
}

int bare_unwritten(struct arena *a, struct problem *p)
{
	const git_error *why = git_error_last();
	const char *said = why && why->message ? why->message : "";

	log_warn("a repository cannot be written", LOG_S("why", said));
	if (strstr(said, strerror(ENOSPC)) || strstr(said, strerror(EDQUOT)))
		return problem_set(p, a, ERR_NO_SPACE,
			"The repository cannot be written: the disk of repositories has no room.");
	return problem_set(
		p, a, ERR_UPSTREAM, "The repository cannot be written: the disk does not take it.");
}

const char *bare_text(struct arena *a, const char *text, size_t most)
{
	char *copy = arena_strndup(a, text, strnlen(text, most + 4));

	utf8_clean(copy, strlen(copy));
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	copy[utf8_cut(copy, strlen(copy), most)] = '\0';
	return copy;
}

/* The few files that the library does not bring to the disk by itself. */
static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -1;
	err = fsync(fd);
	close(fd);
	return err;
}

int bare_make(const char *path, const char *main, struct arena *a, struct problem *p)
{
	git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
	git_repository *repo = NULL;
	int err;

	bare_begin();
	options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_NO_REINIT |
			GIT_REPOSITORY_INIT_MKDIR;
	options.initial_head = main;
	err = git_repository_init_ext(&repo, path, &options);
	git_repository_free(repo);
	if (err == GIT_EEXISTS)
		return problem_set(p, a, ERR_CONFLICT, "There is a repository already.");
	if (!err)
		err = sync_file(arena_printf(a, "%s/HEAD", path));
	if (!err)
		err = sync_file(arena_printf(a, "%s/config", path));
	if (!err)
		err = sync_file(path);
	if (!err)
		err = folder_sync(path);
	if (!err)
		return 0;
	log_warn("a repository cannot be made",
		LOG_S("why", git_error_last() ? git_error_last()->message : strerror(errno)));
	return problem_set(
		p, a, ERR_UPSTREAM, "The repository cannot be made: the disk does not take it.");
}

/* Ours have version 0; others have extensions, such as another digest, which the library does not look for on this way in (and on
 * the longer one it loses memory over them). */
static bool is_plain(git_repository *repo)
{
	git_config *config = NULL;
	int32_t version = 1;

	if (git_repository_config(&config, repo))
		return false;
	if (git_config_get_int32(&version, config, "core.repositoryformatversion"))
		version = 1;
	git_config_free(config);
	if (version)
		git_error_set_str(GIT_ERROR_REPOSITORY, "it has extensions");
	return !version;
}

int bare_open(struct bare **ret, const char *path, struct arena *a, struct problem *p)
{
	git_repository *repo = NULL;
	git_odb *odb = NULL;
	struct bare *b;

	bare_begin();
	if (git_repository_open_bare(&repo, path) || !is_plain(repo) ||
		git_repository_odb(&odb, repo)) {
		git_repository_free(repo);
		return bare_unreadable(a, p);
	}
	b = memory_zeroed(sizeof *b);
	b->repo = repo;
	b->odb = odb;
	*ret = b;
	return 0;
}

void bare_close(struct bare *b)
{
	if (!b)
		return;
	git_odb_free(b->odb);
	git_repository_free(b->repo);
	free(b);
}

int bare_measure(struct bare *b, const git_oid *id, git_object_t type, size_t most,
	size_t *ret_size, struct arena *a, struct problem *p)
{
	git_object_t is;
	size_t size = 0;
	int err = git_odb_read_header(&size, &is, b->odb, id);

	if (err == GIT_ENOTFOUND || (!err && is != type))
		return ERR_NOT_FOUND;
	if (err)
		return bare_unreadable(a, p);
	if (size > most)
		return problem_set(p, a, ERR_TOO_LARGE,
			"What is asked for has %zu bytes; at most %zu are read.", size, most);
	if (ret_size)
		*ret_size = size;
	return 0;
}

int bare_object_read(struct bare *b, const git_oid *id, git_object_t type, size_t size,
	git_object **ret, struct arena *a, struct problem *p)
{
	int err;

	bare_read_begin(size);
	err = git_object_lookup(ret, b->repo, id, type);
	if (bare_read_end() && err)
		return problem_set(p, a, ERR_TOO_LARGE,
			"What is asked for is kept as a difference from something larger than the %d MiB that are read, or "
			"as too long a row of differences.",
			BARE_BASE_MAX >> 20);
	return err ? bare_unreadable(a, p) : 0;
}

/* Of a type, and no larger than that. */
static int read_bounded(struct bare *b, const git_oid *id, git_object_t type, size_t most,
	git_object **ret, struct arena *a, struct problem *p)
{
	size_t size = 0;
	int err = bare_measure(b, id, type, most, &size, a, p);

	return err ? err : bare_object_read(b, id, type, size, ret, a, p);
}

int bare_commit_read(
	struct bare *b, const git_oid *id, git_commit **ret, struct arena *a, struct problem *p)
{
	return read_bounded(b, id, GIT_OBJECT_COMMIT, BARE_COMMIT_MAX, (git_object **)ret, a, p);
}

int bare_tree_read(
	struct bare *b, const git_oid *id, git_tree **ret, struct arena *a, struct problem *p)
{
	return read_bounded(b, id, GIT_OBJECT_TREE, BARE_TREE_MAX, (git_object **)ret, a, p);
}

int bare_tag_read(
	struct bare *b, const git_oid *id, git_tag **ret, struct arena *a, struct problem *p)
{
	return read_bounded(b, id, GIT_OBJECT_TAG, BARE_COMMIT_MAX, (git_object **)ret, a, p);
}
