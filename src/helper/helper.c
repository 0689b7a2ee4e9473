/* helper.c - see helper.h: the processes, one for each task, and the time they have. */
#include "helper/helper.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "helper/answer.h"
#include "helper/turns.h"

enum {
	CPU_S = 30,
	WALL_MS = 60 * 1000,
	MEMORY = 256 << 20,
	PROCESSES = 2,
	RATIO_FROM = 1 << 20,
	/* As lodge-helper ends where it read nothing (helper/inside/main.c). */
	EXIT_UNLOCKED = 3,
	EXIT_OTHER_BUILD = 4,
};

const struct helper_limits helper_bundle_limits = {
	.packed = HELPER_PACKED_MAX,
	.one = 32 << 20,
	.all = 256 << 20,
	.entries = 5000,
	.ratio = 200,
	.path = 512,
	.depth = 16,
	.ratio_from = RATIO_FROM,
};

/* What all tasks of a program share. */
struct helper_house {
	struct helper_setup setup;
	char program[PATH_MAX]; /* empty: it is not there */
	char mime[PATH_MAX];	/* lodge-mime, likewise */
	struct turns turns;
};

struct helper {
	struct helper_house *house;
	const char *whose;
};

/* ---- the program ---- */

struct helper *helper_new(const struct helper_setup *setup)
{
	struct helper *own = memory_zeroed(sizeof *own);
	struct helper_house *h = memory_zeroed(sizeof *h);

	*own = (struct helper){ h, "" };
	if (setup)
		h->setup = *setup;
	if (!h->setup.cpu_s)
		h->setup.cpu_s = CPU_S;
	if (!h->setup.wall_ms)
		h->setup.wall_ms = WALL_MS;
	if (!h->setup.memory)
		h->setup.memory = MEMORY;
	if (!h->setup.processes)
		h->setup.processes = PROCESSES;
	if (h->setup.program)
		snprintf(h->program, sizeof h->program, "%s", h->setup.program);
	else
		child_find("lodge-helper", h->program);
	if (h->setup.mime_program)
		snprintf(h->mime, sizeof h->mime, "%s", h->setup.mime_program);
	else
		child_find("lodge-mime", h->mime);
	if (!*h->program)
		log_line(LOG_WARN,
			"lodge-helper is not beside lodge: archives and heads of skills cannot be read",
			NULL);
	if (!*h->mime)
		log_line(LOG_WARN, "lodge-mime is not beside lodge: mail cannot be read", NULL);
	turns_init(&h->turns, h->setup.processes);
	return own;
}

void helper_free(struct helper *h)
{
	if (!h)
		return;
	turns_free(&h->house->turns);
	free(h->house);
	free(h);
}

struct helper *helper_for(const struct helper *h, struct arena *a, const char *whose)
{
	struct helper *own = arena_new(a, struct helper);

	*own = (struct helper){ h->house, whose };
	return own;
}

/* ---- one process ---- */

struct peer {
	struct answer_source source;
	pid_t pid;
	int fd;
	int64_t until; /* by clock_mono_ms() */
	bool late;
};

static int spawn_program(
	const struct helper_house *h, const struct helper_task *t, int fd, pid_t *ret)
{
	bool mime = t->kind == HELPER_MIME;
	char cpu[24], memory[24];
	char *argv[] = { mime ? "lodge-mime" : "lodge-helper", cpu, memory, NULL };
	unsigned cpu_s = h->setup.cpu_s;

	if (mime && cpu_s > HELPER_MIME_CPU_S)
		cpu_s = HELPER_MIME_CPU_S;
	snprintf(cpu, sizeof cpu, "%u", cpu_s);
	snprintf(memory, sizeof memory, "%zu", h->setup.memory);
	return child_begin(mime ? h->mime : h->program, argv, fd, ret);
}

static bool is_ready(struct peer *p, short events)
{
	for (;;) {
		struct pollfd poll_for = { .fd = p->fd, .events = events };
		int64_t left = p->until - clock_mono_ms();
		int n = left > 0 ? poll(&poll_for, 1, (int)left) : 0;

		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		if (clock_mono_ms() >= p->until) {
			p->late = true;
			return false;
		}
	}
}

static bool send_bytes(struct peer *p, const void *bytes, size_t len)
{
	for (const char *at = bytes; len;) {
		ssize_t n = send(p->fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!is_ready(p, POLLOUT)) {
			return false;
		}
	}
	return true;
}

static bool pull_from_peer(struct answer_source *s, void *into, size_t len)
{
	struct peer *p = (struct peer *)((char *)s - offsetof(struct peer, source));

	for (char *at = into; len;) {
		ssize_t n = recv(p->fd, at, len, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!is_ready(p, POLLIN)) {
			return false;
		}
	}
	return true;
}

static int begin_peer(const struct helper_house *h, const struct helper_task *t, struct peer *p,
	struct arena *a, const char **ret_fault)
{
	int ends[2], err;

	*p = (struct peer){ .source.pull = pull_from_peer };
	*ret_fault = t->kind == HELPER_MIME
			     ? "The program lodge-mime, which reads this, is not beside lodge."
			     : "The program lodge-helper, which reads this, is not beside lodge.";
	if (t->kind == HELPER_MIME ? !*h->mime : !*h->program)
		return ERR_INTERNAL;
	err = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
	if (!err) {
		err = spawn_program(h, t, ends[1], &p->pid);
		close(ends[1]);
		if (err)
			close(ends[0]);
	}
	if (err) {
		*ret_fault = arena_printf(a,
			"The program lodge-helper, which reads this, cannot be started: %s.",
			strerrorname_np(err));
		return ERR_INTERNAL;
	}
	p->fd = ends[0];
	p->until = clock_mono_ms() + h->setup.wall_ms;
	*ret_fault = NULL;
	return 0;
}

/* ---- one task ---- */

/* What an answer that is none means; the log has the rest. */
static int explain(const struct peer *p, enum answer got, int status, const char **ret_fault)
{
	int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (got == ANSWER_MEMORY) {
		*ret_fault = "This is more than there is memory for.";
		return ERR_BUSY;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_UNLOCKED) {
		*ret_fault = "The program lodge-helper cannot lock itself in on this machine.";
		return ERR_INTERNAL;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OTHER_BUILD) {
		*ret_fault = "The program lodge-helper is of another version than lodge.";
		return ERR_INTERNAL;
	}
	log_warn(got == ANSWER_NONSENSE ? "lodge-helper answered what it was not asked for"
					: "lodge-helper did not come to an end",
		LOG_N("signal", by), LOG_N("status", by ? 0 : WEXITSTATUS(status)),
		LOG_S("late", p->late ? "true" : NULL));
	*ret_fault = p->late || by == SIGXCPU
			     ? "This takes too long to read."
			     : "This cannot be read: its reader broke down over it.";
	return ERR_INVALID;
}

/* What reads the answer to a task. */
typedef enum answer answer_fn(struct answer_source *s, struct arena *a, void *data);

static int run_task(struct helper *h, struct arena *a, const struct helper_task *t,
	const void *bytes, answer_fn *read, void *data, const char **ret_fault)
{
	struct turn mine = { .whose = h->whose };
	enum answer got = ANSWER_CUT;
	struct peer p;
	int err, status;

	if (!turns_take(&h->house->turns, &mine, h->house->setup.wall_ms)) {
		*ret_fault = "Others are being read: try again later.";
		return ERR_BUSY;
	}
	err = begin_peer(h->house, t, &p, a, ret_fault);
	if (!err) {
		if (send_bytes(&p, t, sizeof *t) && send_bytes(&p, bytes, t->len))
			got = read(&p.source, a, data);
		status = child_end(p.pid);
		close(p.fd);
		if (got == ANSWER_FAULT)
			err = ERR_INVALID;
		else if (got != ANSWER_WHOLE)
			err = explain(&p, got, status, ret_fault);
	}
	turns_leave(&h->house->turns, &mine);
	return err;
}

/* ---- archives ---- */

struct files_asked {
	const struct helper_limits *limits;
	struct helper_files *files;
};

static enum answer read_files_asked(struct answer_source *s, struct arena *a, void *data)
{
	struct files_asked *asked = data;

	return answer_files(s, a, asked->limits, asked->files);
}

static int ask_files(struct helper *h, struct arena *a, const struct helper_task *t,
	const void *bytes, const struct helper_limits *limits, struct helper_files *ret)
{
	struct files_asked asked = { limits, ret };
	const char *fault = NULL;
	int err;

	*ret = (struct helper_files){ 0 };
	err = run_task(h, a, t, bytes, read_files_asked, &asked, &fault);
	if (err)
		*ret = (struct helper_files){ .fault = fault ? fault : ret->fault };
	return err;
}

int helper_unpack(struct helper *h, struct arena *a, const void *bytes, size_t len,
	const struct helper_limits *limits, struct helper_files *ret)
{
	const struct helper_task t = { .mark = HELPER_MARK,
		.kind = HELPER_UNPACK,
		.len = len,
		.one = limits->one,
		.all = limits->all,
		.entries = limits->entries,
		.ratio = limits->ratio,
		.ratio_from = limits->ratio_from ? limits->ratio_from : RATIO_FROM,
		.path = limits->path,
		.depth = limits->depth };

	if (len <= limits->packed && len <= HELPER_PACKED_MAX)
		return ask_files(h, a, &t, bytes, limits, ret);
	*ret = (struct helper_files){
		.fault = arena_printf(a, "The archive has more than %zu bytes.", limits->packed)
	};
	return ERR_INVALID;
}

/* ---- YAML ---- */

static enum answer read_tree_asked(struct answer_source *s, struct arena *a, void *data)
{
	return answer_tree(s, a, data);
}

int helper_yaml_lines(
	struct helper *h, struct arena *a, const char *text, size_t len, struct helper_tree *ret)
{
	const struct helper_task t = { .mark = HELPER_MARK, .kind = HELPER_YAML, .len = len };
	const char *fault = NULL;
	int err;

	*ret = (struct helper_tree){ 0 };
	if (len > HELPER_YAML_MAX) {
		ret->fault = "the text has more than 10 MB";
		return ERR_INVALID;
	}
	err = run_task(h, a, &t, text, read_tree_asked, ret, &fault);
	if (err)
		*ret = (struct helper_tree){ .fault = fault ? fault : ret->fault,
			.fault_line = fault ? 0 : ret->fault_line };
	return err;
}

int helper_yaml(struct helper *h, struct arena *a, const char *text, size_t len,
	struct json_node **ret, const char **ret_fault)
{
	struct helper_tree tree;
	int err = helper_yaml_lines(h, a, text, len, &tree);

	*ret = tree.root;
	*ret_fault = tree.fault && tree.fault_line
			     ? arena_printf(a, "line %zu: %s", tree.fault_line, tree.fault)
			     : tree.fault;
	return err;
}

/* ---- messages ---- */

static enum answer read_mail_asked(struct answer_source *s, struct arena *a, void *data)
{
	return answer_mail(s, a, data);
}

int helper_mime(
	struct helper *h, struct arena *a, const void *bytes, size_t len, struct helper_mail *ret)
{
	const struct helper_task t = { .mark = HELPER_MARK, .kind = HELPER_MIME, .len = len };
	const char *fault = NULL;
	int err;

	*ret = (struct helper_mail){ 0 };
	if (len > HELPER_MIME_MAX) {
		ret->fault = "The message is too large to be read.";
		return ERR_INVALID;
	}
	err = run_task(h, a, &t, bytes, read_mail_asked, ret, &fault);
	if (err)
		*ret = (struct helper_mail){ .fault = fault ? fault : ret->fault };
	return err;
}

#ifdef LODGE_FAULTS
int helper_misdeed(struct helper *h, struct arena *a, const char *what, struct helper_files *ret)
{
	const struct helper_task t = {
		.mark = HELPER_MARK, .kind = HELPER_ACT, .len = strlen(what)
	};

	return ask_files(h, a, &t, what, &helper_bundle_limits, ret);
}
#endif
