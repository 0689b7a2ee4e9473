/* image_child.c - see image_child.h. */
#include "serve/image_child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { LOOK_MS = 2000, PIECE = 4096, FOLDERS_OPEN = 16, NOT_BEGUN = 127 };
static const rlim_t file_max = (rlim_t)8 << 30;

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = number;
}

/* ---- as whom ---- */

int image_user_enter(struct image_user user)
{
	if (geteuid() == user.uid)
		return 0;
	return setegid(user.gid) || seteuid(user.uid) ? -1 : 0;
}

void image_user_leave(void)
{
	if (geteuid() != getuid() && (seteuid(getuid()) || setegid(getgid())))
		_exit(1); /* as somebody else nothing can be gone on with */
}

/* In the child, for good. */
static bool become(struct image_user user)
{
	if (getuid() == user.uid)
		return true;
	return !seteuid(0) && !setgroups(0, NULL) && !setresgid(user.gid, user.gid, user.gid) &&
	       !setresuid(user.uid, user.uid, user.uid);
}

/* ---- how much there is ---- */

static int64_t measured;

static int measure(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	(void)kind;
	(void)at;
	measured += (int64_t)st->st_blocks * 512;
	return measured > IMAGE_WORK_MAX;
}

static bool is_too_large(const char *folder)
{
	measured = 0;
	nftw(folder, measure, FOLDERS_OPEN, FTW_PHYS);
	return measured > IMAGE_WORK_MAX;
}

/* ---- the process ---- */

/* All of this only with what may be called between fork and exec: there may be threads. */

static void kill_children(void)
{
	char text[PIECE];
	pid_t one = 0;
	ssize_t n;
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);

	n = fd >= 0 ? read(fd, text, sizeof text) : 0;
	for (ssize_t i = 0; i < n; i++)
		if (text[i] >= '0' && text[i] <= '9') {
			one = one * 10 + (text[i] - '0');
		} else {
			if (one)
				kill(one, SIGKILL);
			one = 0;
		}
	if (fd >= 0)
		close(fd);
}

/* Between us and the program: whoever loses a parent below comes to it, so that it ends all of them when the
 * program ends, when it is told to, and when we are gone. */
static _Noreturn void watch(pid_t program, const sigset_t *heard)
{
	int status = NOT_BEGUN << 8, ended = 0;
	pid_t gone;

	for (bool over = false; !over;) {
		over = sigwaitinfo(heard, NULL) == SIGTERM;
		while (!over && (gone = waitpid(-1, &ended, WNOHANG)) > 0)
			if (gone == program) {
				status = ended;
				over = true;
			}
	}
	do
		kill_children();
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void give_back_signals(void)
{
	static const int given_back[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	sigset_t none;

	for (size_t i = 0; i < sizeof given_back / sizeof *given_back; i++)
		signal(given_back[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void begin(const struct image_run *run, pid_t parent, int said)
{
	const struct rlimit file = { file_max, file_max }, none = { 0, 0 };
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t heard;
	pid_t program;

	setpgid(0, 0); /* an interrupt at the terminal is ours to hand on */
	sigemptyset(&heard);
	sigaddset(&heard, SIGTERM);
	sigaddset(&heard, SIGCHLD);
	sigprocmask(SIG_BLOCK, &heard, NULL);
	setrlimit(RLIMIT_FSIZE, &file);
	setrlimit(RLIMIT_CORE, &none);
	umask(022);
	if (!become(run->user) || nothing < 0 || dup2(nothing, 0) < 0 || dup2(said, 1) < 0 ||
		dup2(said, 2) < 0 || chdir(run->folder))
		_exit(NOT_BEGUN);
	close_range(3, ~0U, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* after the change of users, which would undo it */
	if (getppid() != parent)
		_exit(NOT_BEGUN);
	program = fork();
	if (program == 0) {
		give_back_signals();
		execve(run->argv[0], run->argv, run->environment);
		_exit(NOT_BEGUN);
	}
	watch(program, &heard);
}

/* The words of strangers: letters as they are, nothing that a terminal obeys. */
static void show(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i],
			      next = i + 1 < n ? (unsigned char)text[i + 1] : 0;

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			fputc('?', stderr);
		else if (c == 0xc2 && next >= 0x80 && next < 0xa0) /* the controls beyond ASCII */
			i++;
		else
			fputc(c, stderr);
	}
}

/* Until it has said all, or must end: why it must, or NULL. */
static const char *hear(const struct image_run *run, int said)
{
	int64_t now = clock_mono_ms(), until = now + IMAGE_WALL_MS, look = now + LOOK_MS;
	char text[PIECE];

	for (;;) {
		struct pollfd fd = { .fd = said, .events = POLLIN };
		int n = poll(&fd, 1, LOOK_MS);
		ssize_t got = n > 0 ? read(said, text, sizeof text) : -1;

		if (interrupted)
			return "it was interrupted";
		if (n > 0 && got == 0)
			return NULL;
		if (got > 0 && !run->quiet)
			show(text, (size_t)got);
		now = clock_mono_ms();
		if (now >= until)
			return "it takes longer than an hour";
		if (now >= look && is_too_large(run->folder))
			return "it takes more than 20 GiB of the disk";
		if (now >= look)
			look = clock_mono_ms() + LOOK_MS;
	}
}

static int verdict(const struct image_run *run, const char *why, int status, struct arena *a,
	struct problem *p)
{
	const char *name = strrchr(run->argv[0], '/') + 1;

	if (why)
		return problem_set(p, a, ERR_INTERNAL, "%s was ended: %s", name, why);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return problem_set(p, a, ERR_INTERNAL,
		WIFEXITED(status) && WEXITSTATUS(status) == NOT_BEGUN
			? "%s cannot be begun as that user"
			: "%s failed; what it said stands above",
		name);
}

int image_run(const struct image_run *run, struct arena *a, struct problem *p)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = interrupt };
	pid_t pid, parent = getpid();
	const char *why;
	int said[2], status = 0;

	if (pipe2(said, O_CLOEXEC))
		return problem_set(p, a, ERR_INTERNAL, "a pipe: %s", strerror(errno));
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaction(ending[i], &act, NULL);
	pid = fork();
	if (pid == 0)
		begin(run, parent, said[1]);
	close(said[1]);
	if (pid < 0) {
		close(said[0]);
		return problem_set(p, a, ERR_INTERNAL, "a process: %s", strerror(errno));
	}
	why = hear(run, said[0]);
	image_user_leave(); /* who has the right to end it */
	if (why)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close(said[0]);
	return verdict(run, why, status, a, p);
}
