/* repo_lock.c - see repo_lock.h. */
#include "repos/repo_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder_lock.h"
#include "repos/remote_git.h"
#include "repos/repos_parts.h"

enum { NAP_MS = 50, ENDING_MS = 3000 };

/* Whoever makes one as root leaves it to the service's user, who must be able to take it too. */
static int open_lock(const struct repos *r, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd >= 0 && geteuid() == 0 &&
		(stat(r->folder, &st) || fchown(fd, st.st_uid, st.st_gid))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int take(const struct repos *r, const char *path, int how)
{
	int fd = open_lock(r, path);

	if (fd >= 0 && flock(fd, how)) {
		int why = errno;

		close(fd);
		errno = why;
		return -1;
	}
	return fd;
}

static const char *keeping_lock(const struct repos *r, struct arena *a)
{
	return arena_printf(a, "%s/keeping.lock", r->folder);
}

/* For whoever waits: a lock of a file does not say who has it. */
static void sign(int fd)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof host - 1);
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, "process %d on %s", (int)getpid(), host);
}

int repo_lock_keeping(const struct repos *r, struct arena *a, bool waits)
{
	int fd = take(r, keeping_lock(r, a), waits ? LOCK_EX : LOCK_EX | LOCK_NB);

	if (fd >= 0)
		sign(fd);
	return fd;
}

const char *repo_lock_keeper(const struct repos *r, struct arena *a)
{
	int fd = open(keeping_lock(r, a), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char who[HOST_NAME_MAX + 64] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, who, sizeof who - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 ? arena_strndup(a, who, (size_t)n) : "another process";
}

static const char *serving_lock(const struct repos *r, struct arena *a)
{
	return arena_printf(a, "%s/serving.lock", r->folder);
}

bool repo_lock_serving(struct repos *r, struct arena *a, const char *who)
{
	int fd = open_lock(r, serving_lock(r, a));

	if (fd >= 0 && folder_lock_join(fd, who, ENDING_MS)) {
		close(fd);
		fd = -1;
	}
	r->serving = fd;
	return fd >= 0;
}

int repo_lock_unserved(const struct repos *r, struct arena *a)
{
	return take(r, serving_lock(r, a), LOCK_EX | LOCK_NB);
}

static const char *ssh_lock(const struct repos *r, struct arena *a)
{
	return arena_printf(a, "%s/ssh.lock", r->folder);
}

int repo_lock_ssh(const struct repos *r, struct arena *a)
{
	return take(r, ssh_lock(r, a), LOCK_SH | LOCK_NB);
}

int repo_lock_no_ssh(const struct repos *r, struct arena *a)
{
	return take(r, ssh_lock(r, a), LOCK_EX | LOCK_NB);
}

static const char *push_lock(const struct repos *r, struct arena *a, const char *id)
{
	return arena_printf(a, "%s/lodge-push.lock", repo_path(r, a, id));
}

int repo_push_place(const struct repos *r, struct arena *a, const char *id)
{
	return take(r, push_lock(r, a, id), LOCK_UN);
}

/* A keeper may have it for the moment in which it looks. */
bool repo_push_enter(int place, int wait_ms)
{
	const int64_t until = clock_mono_ms() + wait_ms;

	while (flock(place, LOCK_EX | LOCK_NB)) {
		if (clock_mono_ms() >= until)
			return false;
		poll(NULL, 0, NAP_MS);
	}
	return true;
}

int repo_lock_push(const struct repos *r, struct arena *a, const char *id, int wait_ms)
{
	int place = repo_push_place(r, a, id);

	if (place >= 0 && !repo_push_enter(place, wait_ms)) {
		close(place);
		errno = EWOULDBLOCK;
		return -1;
	}
	return place;
}

bool repo_push_is_alone(const struct repos *r, struct arena *a, const char *id, int wait_ms)
{
	const int64_t until = clock_mono_ms() + wait_ms;
	int fd;

	for (;;) {
		fd = repo_lock_fetch(r, a, id);
		if (fd >= 0 || clock_mono_ms() >= until)
			break;
		poll(NULL, 0, NAP_MS);
	}
	repo_unlock(fd);
	return fd >= 0;
}

bool repo_push_runs(const struct repos *r, struct arena *a, const char *id)
{
	const char *path = push_lock(r, a, id);
	int fd = take(r, path, LOCK_EX | LOCK_NB);

	repo_unlock(fd);
	return fd < 0 && access(path, F_OK) == 0;
}

int repo_lock_fetch(const struct repos *r, struct arena *a, const char *id)
{
	return take(
		r, arena_printf(a, "%s/" REMOTE_GIT_LOCK, repo_path(r, a, id)), LOCK_EX | LOCK_NB);
}

/* The slot that a tenant leaves to the others. */
static int left_slot(const char *tenant_id)
{
	unsigned n = 0;

	for (; *tenant_id; tenant_id++)
		n = n * 31 + (unsigned char)*tenant_id;
	return (int)(n % REPO_SLOTS);
}

int repo_lock_slot(const struct repos *r, struct arena *a, const char *tenant_id, int wait_ms)
{
	const int64_t until = clock_mono_ms() + wait_ms;
	const int left = left_slot(tenant_id);

	for (;;) {
		for (int i = 0; i < REPO_SLOTS; i++) {
			int fd = i == left
					 ? -1
					 : take(r, arena_printf(a, "%s/ssh-%d.lock", r->folder, i),
						   LOCK_EX | LOCK_NB);

			if (fd >= 0)
				return fd;
		}
		if (clock_mono_ms() >= until)
			return -1;
		poll(NULL, 0, NAP_MS);
	}
}

void repo_unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}
