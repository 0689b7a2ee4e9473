/* child.c - see child.h. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void child_find(const char *name, char ret[PATH_MAX])
{
	static const char *const places[] = { "", "../libexec/", "../" };
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	*ret = '\0';
	if (n <= 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (snprintf(ret, PATH_MAX, "%s/%s%s", self, places[i], name) < PATH_MAX &&
			access(ret, X_OK) == 0)
			return;
	}
	*ret = '\0';
}

int child_begin(const char *path, char *const argv[], int fd, pid_t *ret)
{
	char *none[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int err;

	if (posix_spawn_file_actions_init(&files))
		return ENOMEM;
	err = posix_spawnattr_init(&attributes);
	if (!err) {
		err = posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
		if (!err)
			err = posix_spawn_file_actions_addopen(
				&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		if (!err)
			err = posix_spawn_file_actions_addopen(
				&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		if (!err)
			err = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
		sigemptyset(&signals);
		posix_spawnattr_setsigmask(&attributes, &signals);
		sigfillset(&signals);
		posix_spawnattr_setsigdefault(&attributes, &signals);
		posix_spawnattr_setflags(
			&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
		if (!err)
			err = posix_spawn(ret, path, &files, &attributes, argv, none);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return err;
}

int child_end(pid_t pid)
{
	int status = 0;

	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
