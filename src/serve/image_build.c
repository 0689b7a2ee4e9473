/* image_build.c - see image_build.h.
 *
 * Everything happens in one new folder: the files of the commit, what buildah
 * keeps, and what comes of it; no storage of images on the machine is touched,
 * and the folder is gone afterwards.  buildah shuts the commands of a build in by changing the
 * root alone (chroot), which needs neither a daemon nor privileges; what they may do is what that user
 * may, so that it should not be root. */
#include "serve/image_build.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGS_MAX = 24, ENVIRONMENT_MAX = 24, FOLDERS_OPEN = 16, LINE_MAX = 1024 };

#define BUILT "localhost/lodge-image:built"

struct building {
	const struct image_order *order;
	const char *buildah, *folder;
	char *argv[ARGS_MAX + 1], *environment[ENVIRONMENT_MAX + 1];
	size_t args;
	struct arena *a;
	struct problem *p;
};

/* ---- what is needed ---- */

static const char *find_buildah(void)
{
	static const char *const places[] = { "/usr/bin/buildah", "/usr/local/bin/buildah" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

/* Whether a line of the file gives ids to the user: NAME:FIRST:COUNT, or his number instead of a name. */
static bool has_range(const char *path, const char *name, uid_t uid)
{
	char line[LINE_MAX], number[16];
	FILE *f = fopen(path, "re");
	bool found = false;

	snprintf(number, sizeof number, "%u", (unsigned)uid);
	while (f && !found && fgets(line, sizeof line, f)) {
		size_t n = strcspn(line, ":");

		found = line[n] == ':' &&
			((n == strlen(name) && strncmp(line, name, n) == 0) ||
				(n == strlen(number) && strncmp(line, number, n) == 0));
	}
	if (f)
		fclose(f);
	return found;
}

int image_build_check(struct image_user user, struct arena *a, struct problem *p)
{
	struct passwd *known = getpwuid(user.uid);
	const char *name = known ? known->pw_name : arena_printf(a, "%u", (unsigned)user.uid);

	if (!find_buildah())
		return problem_set(p, a, ERR_USAGE,
			"buildah is not on this machine, and nothing else builds images: install it (apt-get install buildah)");
	if (user.uid == 0)
		return 0;
	if (access("/usr/bin/newuidmap", X_OK) || access("/usr/bin/newgidmap", X_OK))
		return problem_set(p, a, ERR_USAGE,
			"newuidmap is not on this machine, without which %s cannot build: install it (apt-get install uidmap)",
			name);
	if (!has_range("/etc/subuid", name, user.uid) || !has_range("/etc/subgid", name, user.uid))
		return problem_set(p, a, ERR_USAGE,
			"the user %s has no range of subordinate ids to build with: give it one (usermod --add-subuids "
			"100000-165535 --add-subgids 100000-165535 %s)",
			name, name);
	return 0;
}

/* ---- the folder ---- */

static int fault(struct building *b, const char *what)
{
	return problem_set(b->p, b->a, ERR_INTERNAL, "%s: %s", what, strerror(errno));
}

static int make_folder(struct building *b)
{
	static const char *const parts[] = { "context", "storage", "run", "home", "tmp" };
	const char *place = getenv("TMPDIR");
	char *folder = arena_printf(
		b->a, "%s/lodge-image.XXXXXX", place && *place == '/' ? place : "/var/tmp");

	if (image_user_enter(b->order->user) || !mkdtemp(folder))
		return fault(b, folder);
	b->folder = folder;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (mkdir(arena_printf(b->a, "%s/%s", folder, parts[i]), 0700))
			return fault(b, folder);
	return 0;
}

/* ---- buildah ---- */

static void add(struct building *b, const char *word)
{
	if (b->args < ARGS_MAX)
		b->argv[b->args++] = arena_strdup(b->a, word);
	b->argv[b->args] = NULL;
}

static void buildah_begin(struct building *b, const char *verb)
{
	b->args = 0;
	add(b, b->buildah);
	add(b, "--root");
	add(b, arena_printf(b->a, "%s/storage", b->folder));
	add(b, "--runroot");
	add(b, arena_printf(b->a, "%s/run", b->folder));
	add(b, "--storage-driver");
	add(b, "vfs");
	add(b, verb);
}

static int buildah_run(struct building *b, bool quiet)
{
	return image_run(&(struct image_run){ .argv = b->argv,
				 .environment = b->environment,
				 .folder = b->folder,
				 .user = b->order->user,
				 .quiet = quiet },
		b->a, b->p);
}

/* Nothing of ours, but what says how registries are reached. */
static void fill_environment(struct building *b)
{
	static const char *const handed_on[] = { "REGISTRY_AUTH_FILE", "CONTAINERS_REGISTRIES_CONF",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy", "no_proxy",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY" };
	size_t n = 0;

	b->environment[n++] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	b->environment[n++] = arena_printf(b->a, "HOME=%s/home", b->folder);
	b->environment[n++] = arena_printf(b->a, "XDG_RUNTIME_DIR=%s/run", b->folder);
	b->environment[n++] = arena_printf(b->a, "TMPDIR=%s/tmp", b->folder);
	for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++)
		if (getenv(handed_on[i]))
			b->environment[n++] =
				arena_printf(b->a, "%s=%s", handed_on[i], getenv(handed_on[i]));
	b->environment[n] = NULL;
}

static int write_context(struct building *b)
{
	struct bare_exported done = { 0 };
	int fd = open(
		arena_printf(b->a, "%s/context", b->folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? fault(b, b->folder)
			 : bare_export(b->order->repo, b->order->commit, fd, &done, b->a, b->p);

	if (fd >= 0)
		close(fd);
	if (!err && done.left_out)
		fprintf(stderr, "Left out of the build: %zu links and submodules.\n",
			done.left_out);
	return err;
}

static int build(struct building *b)
{
	buildah_begin(b, "bud");
	add(b, "--isolation");
	add(b, "chroot");
	add(b, "--format");
	add(b, "oci");
	if (b->order->base) {
		add(b, "--build-arg");
		add(b, arena_printf(b->a, "BASE_IMAGE=%s", b->order->base));
	}
	add(b, "--tag");
	add(b, BUILT);
	add(b, arena_printf(b->a, "%s/context", b->folder));
	return buildah_run(b, false);
}

static int push(struct building *b)
{
	buildah_begin(b, "push");
	add(b, "--digestfile");
	add(b, arena_printf(b->a, "%s/digest", b->folder));
	add(b, BUILT);
	add(b, b->order->push ? arena_printf(b->a, "docker://%s", b->order->push)
			      : arena_printf(b->a, "oci-archive:%s/image.tar", b->folder));
	return buildah_run(b, false);
}

static int read_digest(struct building *b, const char **ret)
{
	enum { LEN = 7 + 64 };
	char text[LEN + 1] = "";
	FILE *f = fopen(arena_printf(b->a, "%s/digest", b->folder), "re");
	size_t n = f ? fread(text, 1, LEN, f) : 0;

	if (f)
		fclose(f);
	if (n != LEN || strncmp(text, "sha256:", 7) != 0 ||
		strspn(text + 7, "0123456789abcdef") != 64)
		return problem_set(
			b->p, b->a, ERR_INTERNAL, "buildah did not say which digest the image has");
	*ret = arena_strdup(b->a, text);
	return 0;
}

static int keep_archive(struct building *b)
{
	int from = open(arena_printf(b->a, "%s/image.tar", b->folder), O_RDONLY | O_CLOEXEC);
	ssize_t n = from < 0 ? -1 : 1;

	while (n > 0)
		n = sendfile(b->order->archive, from, NULL, 1 << 20);
	if (!n)
		n = fsync(b->order->archive);
	if (from >= 0)
		close(from);
	return n ? fault(b, "the archive cannot be written") : 0;
}

/* ---- the end of it ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

/* What is closed to its owner is opened first. */
static int open_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)at;
	if ((kind == FTW_D || kind == FTW_DNR) && (st->st_mode & 0700) != 0700)
		chmod(path, 0700);
	return 0;
}

/* Files of the ids that the user was lent are removed as those. */
static void remove_folder(struct building *b)
{
	struct problem none = { 0 }, *told = b->p;

	if (!b->folder)
		return;
	image_user_enter(b->order->user);
	nftw(b->folder, open_one, FOLDERS_OPEN, FTW_PHYS);
	nftw(b->folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
	image_user_leave();
	if (access(b->folder, F_OK) == 0 && b->order->user.uid) {
		b->p = &none;
		b->args = 0;
		add(b, b->buildah);
		add(b, "unshare");
		add(b, "rm");
		add(b, "-rf");
		add(b, "--");
		add(b, b->folder);
		buildah_run(b, true);
		b->p = told;
	}
	if (access(b->folder, F_OK) == 0)
		fprintf(stderr, "lodge: the folder %s could not be removed: remove it by hand\n",
			b->folder);
}

int image_build(const struct image_order *order, const char **ret_digest, struct arena *a,
	struct problem *p)
{
	struct building b = { .order = order, .buildah = find_buildah(), .a = a, .p = p };
	int err = make_folder(&b);

	if (!err)
		err = write_context(&b);
	image_user_leave();
	if (!err) {
		fill_environment(&b);
		err = build(&b);
	}
	if (!err)
		err = push(&b);
	if (!err)
		err = read_digest(&b, ret_digest);
	if (!err && order->archive >= 0)
		err = keep_archive(&b);
	remove_folder(&b);
	return err;
}
