/* git_child.c - see git_child.h. */
#include "git/git_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	LOOK_MS = 250, /* how long nobody looks whether somebody waits */
	NAP_MOST_MS = 16,
	AWAIT_MS = 5000, /* from the end of what it says to its own */
	END_MS = 1000,	 /* to take along its locks and what is half written */
	AT_ONCE = 64 * 1024,
	PIPE_BYTES = 256 * 1024,
	CPU_S = 600,
	NICE_MOST = 19,
	FILES = 512,
	CONFIG_MAX = 32,
	LINE_MAX = 128,
	CONFIG_FD = STDERR_FILENO + 1, /* as git sees it */
	BEYOND_FD = 16,		       /* where none of those is */
};
static const rlim_t memory_max = (rlim_t)1 << 30, beyond_input = (rlim_t)64 << 20,
		    beyond_words = (rlim_t)1 << 20;

const char *git_service_name(enum git_service service)
{
	return service == GIT_UPLOAD_PACK ? "git-upload-pack" : "git-receive-pack";
}

/* ---- its configuration ---- */

/* In the order in which git reads them: a later word about which refs are hidden counts more. */
static const char *const config[][2] = {
	{ "safe.directory", "*" },
	{ "core.hooksPath", "/dev/null" },
	{ "core.alternateRefsCommand", "true" },
	{ "core.fsync", "committed,reference" },
	{ "core.fsyncMethod", "batch" },
	{ "core.packedGitWindowSize", "32m" },
	{ "core.packedGitLimit", "256m" },
	{ "core.bigFileThreshold", "16m" },
	{ "core.deltaBaseCacheLimit", "64m" },
	{ "pack.threads", "1" },
	{ "pack.windowMemory", "128m" },
	{ "pack.deltaCacheSize", "64m" },
	{ "gc.auto", "0" },
	{ "maintenance.auto", "false" },
	{ "transfer.fsckObjects", "true" },
	{ "transfer.hideRefs", "refs" },
	{ "transfer.hideRefs", "!refs/heads" },
	{ "transfer.hideRefs", "!refs/tags" },
	/* What comes packed stays so: as files of their own, objects that are small as differences have all of their bytes. */
	{ "transfer.unpackLimit", "1" },
	{ "receive.fsckObjects", "true" },
	{ "receive.unpackLimit", "1" },
	{ "receive.denyNonFastForwards", "true" },
	{ "receive.denyDeletes", "true" },
	{ "receive.denyCurrentBranch", "ignore" },
	{ "receive.autogc", "false" },
	{ "receive.updateServerInfo", "false" },
	{ "receive.advertisePushOptions", "false" },
	{ "receive.shallowUpdate", "false" },
	{ "fetch.unpackLimit", "1" },
	{ "uploadpack.allowFilter", "true" },
};
enum { CONFIG_COUNT = sizeof config / sizeof *config };

struct environment {
	char line[2 * CONFIG_MAX + 9][LINE_MAX];
	char *at[2 * CONFIG_MAX + 10];
	size_t count;
};

static void environment_put(struct environment *e, const char *name, const char *value)
{
	snprintf(e->line[e->count], LINE_MAX, "%s=%s", name, value);
	e->at[e->count] = e->line[e->count];
	e->at[++e->count] = NULL;
}

static void put_config(struct environment *e, size_t i, const char *key, const char *value)
{
	char name[32];

	snprintf(name, sizeof name, "GIT_CONFIG_KEY_%zu", i);
	environment_put(e, name, key);
	snprintf(name, sizeof name, "GIT_CONFIG_VALUE_%zu", i);
	environment_put(e, name, value);
}

static void fill_environment(struct environment *e, const struct git_setup *setup)
{
	char number[24];

	_Static_assert(CONFIG_COUNT + 1 <= CONFIG_MAX, "there is room for all of it");
	e->count = 0;
	environment_put(e, "PATH", "/usr/local/bin:/usr/bin:/bin");
	environment_put(e, "GIT_CONFIG_NOSYSTEM", "1");
	snprintf(number, sizeof number, "/proc/self/fd/%d", CONFIG_FD);
	environment_put(e, "GIT_CONFIG_GLOBAL", setup->config ? number : "/dev/null");
	environment_put(e, "GIT_TERMINAL_PROMPT", "0");
	if (setup->version) {
		snprintf(number, sizeof number, "version=%d", setup->version);
		environment_put(e, "GIT_PROTOCOL", number);
	}
	/* What a push leaves in a log of refs must have a name. */
	environment_put(e, "GIT_COMMITTER_NAME", "lodge");
	environment_put(e, "GIT_COMMITTER_EMAIL", "lodge@localhost");
	snprintf(number, sizeof number, "%d", CONFIG_COUNT + 1);
	environment_put(e, "GIT_CONFIG_COUNT", number);
	for (size_t i = 0; i < CONFIG_COUNT; i++)
		put_config(e, i, config[i][0], config[i][1]);
	snprintf(number, sizeof number, "%lld", (long long)setup->input_max);
	put_config(e, CONFIG_COUNT, "receive.maxInputSize", number);
}

/* ---- the process ---- */

/* Its three, and those that it has besides; none of ours. */
_Static_assert((int)GIT_HELD_FD == CONFIG_FD + 1, "one after the other");
static int give_files(
	posix_spawn_file_actions_t *files, const int fds[3], int config_fd, int held_fd)
{
	int err = 0, last = held_fd ? GIT_HELD_FD : config_fd ? CONFIG_FD : STDERR_FILENO;

	for (int i = 0; !err && i < 3; i++)
		err = fds[i] >= 0
			      ? posix_spawn_file_actions_adddup2(files, fds[i], i)
			      : posix_spawn_file_actions_addopen(files, i, "/dev/null", O_RDWR, 0);
	if (!err && config_fd)
		err = posix_spawn_file_actions_adddup2(files, config_fd, CONFIG_FD);
	else if (!err && held_fd)
		err = posix_spawn_file_actions_addclose(files, CONFIG_FD);
	if (!err && held_fd)
		err = posix_spawn_file_actions_adddup2(files, held_fd, GIT_HELD_FD);
	return err ? err : posix_spawn_file_actions_addclosefrom_np(files, last + 1);
}

static int spawn_with(const int fds[3], int config_fd, int held_fd, char *const argv[],
	char *const environment[], pid_t *ret)
{
	static const char *const places[] = { "/usr/bin/git", "/usr/local/bin/git", "/bin/git" };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return err;
	err = posix_spawnattr_init(&attributes);
	if (!err) {
		err = give_files(&files, fds, config_fd, held_fd);
		sigemptyset(&signals);
		posix_spawnattr_setsigmask(&attributes, &signals);
		sigfillset(&signals);
		posix_spawnattr_setsigdefault(&attributes, &signals);
		posix_spawnattr_setpgroup(&attributes, 0);
		posix_spawnattr_setflags(&attributes,
			POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
		for (size_t i = 0; !err && i < sizeof places / sizeof *places; i++) {
			err = posix_spawn(ret, places[i], &files, &attributes, argv, environment);
			if (!err)
				break;
			if (err == ENOENT && i + 1 < sizeof places / sizeof *places)
				err = 0;
		}
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return err;
}

/* From here on, and for all that it begins; before it has read a byte of what came. */
static void limit(pid_t pid, const struct git_setup *setup)
{
	const rlim_t file = (rlim_t)setup->input_max + (setup->words ? beyond_words : beyond_input);
	const struct {
		__rlimit_resource_t what;
		rlim_t most;
	} limits[] = { { RLIMIT_AS, memory_max }, { RLIMIT_CPU, CPU_S }, { RLIMIT_NOFILE, FILES },
		{ RLIMIT_FSIZE, file }, { RLIMIT_CORE, 0 } };

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		prlimit(pid, limits[i].what, &(struct rlimit){ limits[i].most, limits[i].most },
			NULL);
}

static void put_service(char *argv[], char *path, const struct git_setup *setup)
{
	size_t n = 0;

	argv[n++] = "git";
	argv[n++] = setup->service == GIT_UPLOAD_PACK ? "upload-pack" : "receive-pack";
	if (setup->service == GIT_UPLOAD_PACK)
		argv[n++] = "--strict"; /* the path as it is, and no other */
	if (setup->stateless)
		argv[n++] = "--stateless-rpc";
	if (setup->advertises)
		argv[n++] = "--http-backend-info-refs";
	argv[n++] = path;
	argv[n] = NULL;
}

/* Names of files are names, and no patterns. */
static void put_words(char *argv[], char *path, const char *const *words)
{
	size_t n = 0;

	argv[n++] = "git";
	argv[n++] = "--literal-pathspecs";
	argv[n++] = "--git-dir";
	argv[n++] = path;
	for (size_t i = 0; words[i] && i < GIT_WORDS_MAX; i++)
		argv[n++] = (char *)words[i]; /* it only reads them */
	argv[n] = NULL;
}

int git_child_begin(const struct git_setup *setup, const int fds[3], pid_t *ret)
{
	struct environment e;
	char *argv[GIT_WORDS_MAX + 8], path[4096];
	int err, held = 0;

	if (snprintf(path, sizeof path, "%s", setup->path) >= (int)sizeof path)
		return ENAMETOOLONG;
	if (setup->words)
		put_words(argv, path, setup->words);
	else
		put_service(argv, path, setup);
	fill_environment(&e, setup);
	if (setup->holds) {
		held = fcntl(setup->holds, F_DUPFD_CLOEXEC, BEYOND_FD);
		if (held < 0)
			return errno ? errno : EMFILE;
	}
	err = spawn_with(fds, setup->config, held, argv, e.at, ret);
	if (held)
		close(held);
	if (err)
		return err;
	limit(*ret, setup);
	if (setup->yields)
		setpriority(PRIO_PGRP, (id_t)*ret, NICE_MOST);
	return 0;
}

/* It has ended, or has had its time. */
static void await_end(pid_t pid, int wall_ms)
{
	siginfo_t info = { 0 };
	int nap_ms = 1;

	for (int64_t until = clock_mono_ms() + wall_ms; clock_mono_ms() < until;) {
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
			info.si_pid == pid)
			break;
		poll(NULL, 0, nap_ms);
		nap_ms = nap_ms < NAP_MOST_MS ? 2 * nap_ms : nap_ms;
	}
}

int git_child_end(pid_t pid)
{
	int status = 0;

	kill(-pid, SIGTERM); /* a lock that is left would keep everybody else from the ref */
	await_end(pid, END_MS);
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int git_child_await_for(pid_t pid, int wall_ms)
{
	await_end(pid, wall_ms);
	return git_child_end(pid); /* a status that is there is not changed by a signal */
}

int git_child_await(pid_t pid)
{
	return git_child_await_for(pid, AWAIT_MS);
}

/* ---- one run ---- */

struct running {
	const struct git_run *run;
	struct git_result *result;
	int64_t until;
	int out, err;
	size_t said;
	bool wanted;
};

/* What it complains of: the first of it is kept, the rest is let go; of what tells how far it has come, the last. */
static bool hear_complaint(struct running *r)
{
	char text[1024];
	ssize_t n = read(r->err, text, sizeof text);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	for (ssize_t i = 0; i < n; i++) {
		if (r->said + 1 == GIT_SAID_MAX && r->run->setup.words) {
			r->said /= 2;
			memmove(r->result->said, r->result->said + GIT_SAID_MAX - 1 - r->said,
				r->said);
		}
		if (r->said + 1 < GIT_SAID_MAX)
			r->result->said[r->said++] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	}
	r->result->said[r->said] = '\0';
	return n > 0;
}

static bool hear_answer(struct running *r)
{
	char bytes[AT_ONCE];
	ssize_t n = read(r->out, bytes, sizeof bytes);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n > 0 && !r->run->take(r->run->ctx, bytes, (size_t)n))
		r->wanted = false;
	return n > 0;
}

static bool goes_on(struct running *r)
{
	if (r->run->stop && atomic_load(r->run->stop))
		r->wanted = false;
	else if (r->run->wanted && !r->run->wanted(r->run->ctx))
		r->wanted = false;
	return r->wanted && clock_mono_ms() < r->until;
}

/* Until both of its voices have ended, or it is not heard out. */
static void hear_out(struct running *r)
{
	struct pollfd fds[2] = { { .fd = r->out, .events = POLLIN },
		{ .fd = r->err, .events = POLLIN } };
	int64_t look = clock_mono_ms() + LOOK_MS;

	while (r->wanted && fds[0].fd >= 0) {
		int n = poll(fds, 2, LOOK_MS);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0 && fds[1].revents && !hear_complaint(r))
			fds[1].fd = -1;
		if (n > 0 && fds[0].revents && !hear_answer(r))
			fds[0].fd = -1;
		if (clock_mono_ms() < look)
			continue;
		if (!goes_on(r))
			return;
		look = clock_mono_ms() + LOOK_MS;
	}
	while (r->wanted && fds[1].fd >= 0 && poll(&fds[1], 1, 0) > 0 && hear_complaint(r))
		;
}

static enum git_end verdict(const struct running *r, int status)
{
	if (!r->wanted)
		return GIT_UNWANTED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return GIT_ENDED;
	return clock_mono_ms() >= r->until ? GIT_LATE : GIT_FAILED;
}

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

enum git_end git_run(const struct git_run *run, struct git_result *ret)
{
	struct running r = { .run = run, .result = ret, .wanted = true };
	int out[2], err[2];
	pid_t pid = 0;

	*ret = (struct git_result){ .end = GIT_UNBEGUN };
	if (pipe2(out, O_CLOEXEC))
		return ret->end;
	if (pipe2(err, O_CLOEXEC)) {
		close_both(out);
		return ret->end;
	}
	fcntl(out[0], F_SETPIPE_SZ, PIPE_BYTES); /* or as large as it is */
	r.until = clock_mono_ms() + (run->wall_ms ? run->wall_ms : GIT_WALL_MS);
	r.out = out[0];
	r.err = err[0];
	ret->status = git_child_begin(&run->setup, (int[]){ run->in, out[1], err[1] }, &pid);
	close(out[1]);
	close(err[1]);
	if (!ret->status) {
		hear_out(&r);
		ret->status = r.wanted && clock_mono_ms() < r.until ? git_child_await(pid)
								    : git_child_end(pid);
		ret->end = verdict(&r, ret->status);
	} else {
		snprintf(ret->said, sizeof ret->said, "%s", strerrorname_np(ret->status));
	}
	close(out[0]);
	close(err[0]);
	return ret->end;
}
