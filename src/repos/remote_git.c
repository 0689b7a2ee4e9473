/* remote_git.c - see remote_git.h. */
#include "repos/remote_git.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/folder.h"
#include "base/log.h"
#include "git/git_child.h"
#include "git/git_orphans.h"
#include "outside/pinned.h"

enum { CONFIG_BYTES = 16 * 1024, FOLDERS_OPEN = 16, REFS_BYTES_MAX = 16 << 20 };

void remote_set_token(struct remote *r, struct arena *a, const char *token)
{
	const char *colon = token ? strchr(token, ':') : NULL;

	r->user = colon && colon > token ? arena_strndup(a, token, (size_t)(colon - token)) : NULL;
	r->token = colon ? colon + 1 : token;
}

/* ---- what git is told ---- */

static void put_quoted(struct buf *b, const char *key, const char *value)
{
	buf_printf(b, "\t%s = \"", key);
	for (const char *c = value; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *c);
	}
	buf_puts(b, "\"\n");
}

static void put_token(struct buf *b, struct arena *a, const struct remote *r)
{
	const char *both = arena_printf(a, "%s:%s", r->user ? r->user : "oauth2", r->token);
	size_t len = strlen(both),
	       room = sodium_base64_ENCODED_LEN(len, sodium_base64_VARIANT_ORIGINAL);
	char *text = arena_alloc(a, room);

	sodium_bin2base64(
		text, room, (const unsigned char *)both, len, sodium_base64_VARIANT_ORIGINAL);
	put_quoted(b, "extraHeader", arena_printf(a, "Authorization: Basic %s", text));
}

static void write_config(struct buf *b, struct arena *a, const struct remote *r, const char *pinned)
{
	buf_puts(b, "[remote \"host\"]\n");
	put_quoted(b, "url", fetch_base_trimmed(a, r->url));
	buf_puts(b, "[protocol]\n\tallow = never\n[protocol \"https\"]\n\tallow = always\n");
	if (strncmp(r->url, "http:", 5) == 0)
		buf_puts(b, "[protocol \"http\"]\n\tallow = always\n");
	/* What it complains of is read, and no advice after that. */
	buf_puts(b, "[advice]\n\tpushUpdateRejected = false\n");
	buf_puts(b, "[fetch]\n\tunpackLimit = 1\n[transfer]\n\tbundleURI = false\n"
		    "[http]\n\tfollowRedirects = false\n\tproxy = \"\"\n\tuserAgent = lodge\n"
		    "\tlowSpeedLimit = 1000\n\tlowSpeedTime = 30\n");
	if (*pinned)
		put_quoted(b, "curloptResolve", pinned);
	if (r->token && *r->token)
		put_token(b, a, r);
}

/* A file that has no name and is nowhere on the disk; -1. */
static int config_file(const struct remote *r, struct arena *a, const char *pinned)
{
	int fd = memfd_create("lodge", MFD_CLOEXEC);
	struct buf b;
	bool whole;

	buf_init(&b, CONFIG_BYTES);
	write_config(&b, a, r, pinned);
	whole = fd >= 0 && !b.overflow && write(fd, b.at, b.len) == (ssize_t)b.len;
	if (b.len)
		wipe(b.at, b.len);
	buf_free(&b);
	if (!whole && fd >= 0)
		close(fd);
	return whole ? fd : -1;
}

static bool let_pass(void *ctx, const char *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return true;
}

/* What git has besides its words: its configuration, and the lock of the folder; 0: none. */
struct given {
	int config, lock;
};

/* A host may send what no limit of one file holds: small files without number.  So the whole is looked at now and then. */
struct watch {
	const struct remote *r;
	const char *path;
	int64_t most, next_ms; /* bytes, and when it is looked at again */
	bool over;
};

static bool still_wanted(void *ctx)
{
	enum { PAUSE_MS = 500, SHARE = 8 };
	struct watch *w = ctx;
	int64_t now = clock_mono_ms();

	if (w->r->wanted && !w->r->wanted(w->r->ctx))
		return false;
	if (w->most && now >= w->next_ms) {
		w->over = folder_size(w->path) > w->most;
		w->next_ms = clock_mono_ms() + PAUSE_MS + SHARE * (clock_mono_ms() - now);
	}
	return !w->over;
}

static enum git_end run_git(const struct remote *r, const char *path, const char *const *words,
	struct given given, int64_t most, struct watch *watch, struct git_result *ret)
{
	struct watch unwatched = { .r = r };
	struct git_run run = { .setup = { .words = words,
				       .config = given.config,
				       .holds = given.lock,
				       .path = path,
				       .input_max = most },
		.in = -1,
		.stop = r->stop,
		.take = let_pass,
		.wanted = still_wanted,
		.ctx = watch ? watch : &unwatched };

	return git_run(&run, ret);
}

/* ---- how it ended ---- */

static const struct complaint {
	const char *said;
	int err;
	const char *sentence; /* of the host */
} complaints[] = {
	{ "stale info", ERR_CONFLICT,
		"The branch has changed on the host meanwhile: look at it again." },
	{ "fetch first", ERR_CONFLICT,
		"The branch has changed on the host meanwhile: look at it again." },
	{ "non-fast-forward", ERR_CONFLICT,
		"The branch has changed on the host meanwhile: look at it again." },
	{ "(already exists)", ERR_CONFLICT, "The tag is another one on the host." },
	{ "atomic push failed", ERR_CONFLICT, "A branch or tag is another one on the host." },
	{ "remote rejected", ERR_UPSTREAM,
		"The host refused the commit: its rules for the branch do not permit it." },
	{ "could not read Username", ERR_UPSTREAM, "The host refused the token, or wants one." },
	{ "Authentication failed", ERR_UPSTREAM, "The host refused the token." },
	{ "error: 403", ERR_UPSTREAM, "The host refused the token: it may not do this." },
	{ "access denied", ERR_UPSTREAM, "The host refused the token: it may not do this." },
	{ "not found", ERR_UPSTREAM,
		"The project is missing on the host, or the token may not see it." },
	{ "fsck", ERR_UPSTREAM, "The host sent objects that git refuses." },
	{ "mismatched algorithms", ERR_UPSTREAM, "The repository has SHA-256, which is not read." },
	{ "dumb http", ERR_UPSTREAM, "The host does not speak git's smart HTTP." },
	{ "redirect", ERR_UPSTREAM, "The host points to another address, which is not followed." },
	{ "error: 30", ERR_UPSTREAM, "The host points to another address, which is not followed." },
	{ "too slow", ERR_UPSTREAM, "The host cannot be reached: it sends nothing." },
	{ "No space left", ERR_UPSTREAM, "The disk here has no room for the repository." },
};

static int judge(const struct git_result *g, const struct remote *r, const char *what,
	struct arena *a, struct problem *p)
{
	switch (g->end) {
	case GIT_ENDED:
		return 0;
	case GIT_UNWANTED:
		return problem_set(p, a, ERR_STOPPING, "The service is stopping.");
	case GIT_LATE:
		return problem_set(
			p, a, ERR_UPSTREAM, "The host cannot be reached: it took too long.");
	case GIT_UNBEGUN:
		log_error("git cannot be begun", LOG_S("why", g->said));
		return problem_set(p, a, ERR_INTERNAL, "Git is not there on this machine.");
	case GIT_FAILED:
		break;
	}
	log_warn("git did not come to its end with another host", LOG_S("what", what),
		LOG_S("url", r->url), LOG_S("said", g->said));
	for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
		if (strstr(g->said, complaints[i].said))
			return problem_set(p, a, complaints[i].err, "%s", complaints[i].sentence);
	return problem_set(
		p, a, ERR_UPSTREAM, "Git and the host did not come to an end: the log says why.");
}

/* Looks the host up, and makes git's configuration. */
static int prepare(const struct remote *r, struct arena *a, int *ret_config, struct problem *p)
{
	const char *why = NULL, *pinned = pinned_addresses(a, r->url, r->egress, &why);

	if (!pinned)
		return problem_set(p, a, ERR_UPSTREAM, "The host cannot be reached: %s.", why);
	*ret_config = config_file(r, a, pinned);
	return *ret_config >= 0 ? 0 : problem_set(p, a, ERR_BUSY, "There is no memory for git.");
}

/* ---- from there ---- */

/* The walk of the C library has nowhere to put it. */
static _Thread_local off_t largest;

/* What git leaves where it is ended with SIGKILL: files half written, and locks that nobody holds. */
static int clear_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	const char *name = path + at->base;
	size_t len = strlen(name);

	if (kind != FTW_F || (strncmp(name, "tmp_", 4) != 0 &&
				     (len <= 5 || strcmp(name + len - 5, ".lock") != 0)))
		return 0;
	if (st->st_size > largest)
		largest = st->st_size;
	unlink(path);
	return 0;
}

/* The bytes of the largest of them. */
static int64_t clear_away(const char *path)
{
	largest = 0;
	nftw(path, clear_one, FOLDERS_OPEN, FTW_PHYS);
	return (int64_t)largest;
}

/* -1: somebody else holds it; or it cannot be made. */
static int hold(const char *path, const char *name, struct arena *a, bool ends)
{
	int fd = open(arena_printf(a, "%s/%s", path, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && (!ends || !git_orphans_end(fd))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Asked for all of a history, git ends with 1 and no complaint where the host has none. */
static bool found_nothing(const struct git_result *g)
{
	return g->end == GIT_FAILED && WIFEXITED(g->status) && WEXITSTATUS(g->status) == 1 &&
	       !strstr(g->said, "fatal") && !strstr(g->said, "error") &&
	       !strstr(g->said, "rejected");
}

static int too_large(struct arena *a, struct problem *p)
{
	return problem_set(p, a, ERR_TOO_LARGE, "The repository is larger than one may be here.");
}

static int fetch_held(const struct remote *r, const char *path, int lock, int64_t bytes_max,
	struct arena *a, struct problem *p)
{
	/* How far it has come is told, so that it ends when nobody is there to be told.  All of the history is asked for in words
	 * that a host must speak git's own protocol to understand: files that git would collect one by one (`dumb` HTTP) are held to
	 * no limit and checked by nobody. */
	static const char *const fetch[] = { "-c", "core.fsync=committed", "fetch",
		"--depth=2147483647", "--progress", "--prune", "--no-tags",
		"--refmap=", "--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance", "host", "+refs/heads/*:refs/heads/*",
		"+refs/tags/*:refs/tags/*", NULL };
	static const char *const pack[] = { "pack-refs", "--all", "--prune", NULL };
	struct watch watch = { .r = r, .path = path };
	struct git_result result;
	int config = -1, err;

	clear_away(path);
	if (bytes_max <= 0)
		return too_large(a, p);
	err = prepare(r, a, &config, p);
	if (err)
		return err;
	watch.most = folder_size(path) + bytes_max;
	run_git(r, path, fetch, (struct given){ config, lock }, bytes_max, &watch, &result);
	close(config);
	if (result.end != GIT_ENDED && (clear_away(path) >= bytes_max || watch.over))
		return too_large(a, p);
	err = found_nothing(&result) ? 0 : judge(&result, r, "fetch", a, p);
	if (!err && access(arena_printf(a, "%s/shallow", path), F_OK) == 0)
		err = problem_set(p, a, ERR_UPSTREAM, "The host sent a part of the history only.");
	if (err)
		return err;
	run_git(r, path, pack, (struct given){ 0, lock }, REFS_BYTES_MAX, NULL, &result);
	if (result.end == GIT_FAILED && clear_away(path) >= REFS_BYTES_MAX)
		return problem_set(p, a, ERR_TOO_LARGE,
			"The repository has more branches and tags than one may have here.");
	return judge(&result, r, "pack-refs", a, p);
}

int remote_git_fetch(const struct remote *r, const char *path, int64_t bytes_max, struct arena *a,
	struct problem *p)
{
	/* One at a time, over all processes that see the folder.  The first lock goes with its process; the second is git's too, and
	 * who has the first but not the second finds the git of a process that is gone. */
	int ours = hold(path, REMOTE_GIT_LOCK, a, false),
	    gits = ours < 0 ? -1 : hold(path, "lodge-git", a, true), err;

	if (gits < 0)
		err = problem_set(p, a, ERR_BUSY, "The repository is being fetched.");
	else
		err = fetch_held(r, path, gits, bytes_max, a, p);
	if (gits >= 0)
		close(gits);
	if (ours >= 0)
		close(ours);
	return err;
}

/* ---- and there ---- */

static int push(const struct remote *r, const char *path, const char *const *words, int64_t most,
	struct arena *a, struct problem *p)
{
	struct git_result result;
	int config = -1, err = prepare(r, a, &config, p);

	if (err)
		return err;
	run_git(r, path, words, (struct given){ config, 0 }, most, NULL, &result);
	close(config);
	return judge(&result, r, "push", a, p);
}

int remote_git_push(const struct remote *r, const char *path, const char *branch, const char *from,
	const char *to, struct arena *a, struct problem *p)
{
	enum { OBJECTS_MAX = 64 << 20 };
	const char *const words[] = { "push", "--progress", "--no-verify", "--no-signed",
		arena_printf(a, "--force-with-lease=refs/heads/%s:%s", branch, from), "host",
		arena_printf(a, "%s:refs/heads/%s", to, branch), NULL };

	return push(r, path, words, OBJECTS_MAX, a, p);
}

int remote_git_push_all(const struct remote *r, const char *path, int64_t bytes_max,
	struct arena *a, struct problem *p)
{
	static const char *const words[] = { "push", "--progress", "--no-verify", "--no-signed",
		"--atomic", "host", "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*", NULL };

	return push(r, path, words, bytes_max, a, p);
}
