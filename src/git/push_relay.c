/* push_relay.c - see push_relay.h. */
#include "git/push_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "git/push_many.h"
#include "git/stale_lock.h"

enum {
	AT_ONCE = 64 * 1024,
	REPORT_MAX = 1024 * 1024,
	DRAIN_MS = 60 * 1000,
	IDLE_MS = 180 * 1000,
	LOOK_MS = 250
};

struct relay {
	int from, to; /* the client's */
	int in, out;  /* git's; -1: closed */
	int64_t until;
	int64_t moved;	   /* when the last byte went either way */
	struct buf head;   /* the commands, until they are judged */
	struct buf report; /* what git says after them */
	bool judged, refused, broken;
	char bytes[AT_ONCE]; /* on their way to git */
	size_t at, len;
	struct push *push;
	const struct push_gate *gate;
	int64_t room;	  /* bytes that may still come */
	const char *path; /* of the repository */
	struct arena *arena;
	const char *fault;
};

/* There is time left, and the other side has not been still for too long. */
static bool is_in_time(const struct relay *r)
{
	int64_t now = clock_mono_ms();

	return now < r->until && now < r->moved + IDLE_MS;
}

/* To the client, whose side does not make us wait: it may never read. */
static bool tell_client(struct relay *r, const char *at, size_t n)
{
	struct pollfd to = { .fd = r->to, .events = POLLOUT };

	while (n) {
		ssize_t wrote = write(r->to, at, n);

		if (wrote < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (wrote > 0) {
			r->moved = clock_mono_ms();
			at += wrote;
			n -= (size_t)wrote;
		} else if (!is_in_time(r) || (poll(&to, 1, LOOK_MS) < 0 && errno != EINTR)) {
			return false;
		}
	}
	return true;
}

/* None of it is done, for one reason. */
static void refuse_all(struct relay *r, const char *why)
{
	r->refused = r->push->refused = true;
	r->fault = why;
	for (size_t i = 0; i < r->push->count; i++)
		r->push->commands[i].refused = why;
}

/* With others out of the way. */
static void enter(struct relay *r)
{
	const char *why = r->gate->enter(r->gate->ctx, r->push, &r->room);

	r->room += PUSH_HEAD_MAX; /* what is no object */
	if (why)
		refuse_all(r, why);
	r->moved = clock_mono_ms();
}

/* What is whole is judged; what may go on is what git hears first. */
static void judge_head(struct relay *r)
{
	struct buf bound;

	switch (push_head_read(r->push, r->arena, r->head.at, r->head.len, &r->fault)) {
	case PUSH_BREAKS_OFF:
		return;
	case PUSH_REFUSED:
		r->refused = true;
		return;
	case PUSH_READ:
		break;
	}
	r->judged = true;
	push_many_judge(r->push, r->path);
	r->refused = r->push->refused;
	if (!r->refused && r->push->count)
		enter(r);
	buf_init(&bound, PUSH_HEAD_MAX + AT_ONCE + PUSH_BIND_MAX);
	push_head_bind(r->push, r->head.at, r->head.len, &bound);
	buf_free(&r->head);
	r->head = bound;
	r->broken = r->broken || bound.overflow;
	for (size_t i = 0; !r->refused && i < r->push->count; i++)
		stale_lock_drop(r->path, r->push->commands[i].ref);
}

static void hear_client(struct relay *r)
{
	ssize_t n = read(r->from, r->bytes, AT_ONCE);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		r->from = -1;
		if (!r->judged)
			r->broken = true;
		return;
	}
	r->moved = clock_mono_ms();
	r->at = 0;
	r->len = (size_t)n;
	r->room -= r->judged ? n : 0;
	if (r->judged && r->room < 0)
		refuse_all(r, "the repository has no room for it");
	if (r->judged)
		return;
	buf_put(&r->head, r->bytes, r->len);
	r->len = 0;
	judge_head(r);
}

static void hear_git(struct relay *r)
{
	char bytes[AT_ONCE];
	ssize_t n = read(r->out, bytes, sizeof bytes);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(r->out);
		r->out = -1;
		return;
	}
	if (r->judged)
		buf_put(&r->report, bytes, (size_t)n);
	if (!tell_client(r, bytes, (size_t)n))
		r->broken = true;
}

/* The head first, then whatever has come since. */
static void tell_git(struct relay *r)
{
	bool head = r->head.len > 0;
	const char *at = head ? r->head.at : r->bytes + r->at;
	ssize_t n = write(r->in, at, head ? r->head.len : r->len);

	if (n > 0)
		r->moved = clock_mono_ms();
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) { /* it hears no more, but may have something to say */
		close(r->in);
		r->in = -1;
		r->len = r->head.len = 0;
	} else if (head) {
		memmove(r->head.at, r->head.at + n, r->head.len - (size_t)n);
		r->head.len -= (size_t)n;
	} else {
		r->at += (size_t)n;
		r->len -= (size_t)n;
	}
}

static bool owes_git(const struct relay *r)
{
	return r->judged && r->in >= 0 && (r->head.len || r->len);
}

/* Until git has said its last. */
static void pass_on(struct relay *r)
{
	while (r->out >= 0 && !r->broken && !r->refused && is_in_time(r)) {
		struct pollfd fds[3] = {
			{ .fd = owes_git(r) ? -1 : r->from, .events = POLLIN },
			{ .fd = r->out, .events = POLLIN },
			{ .fd = owes_git(r) ? r->in : -1, .events = POLLOUT },
		};

		if (r->from < 0 && r->in >= 0 && !owes_git(r)) {
			close(r->in);
			r->in = -1;
		}
		if (poll(fds, 3, LOOK_MS) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			hear_git(r);
		if (fds[2].revents)
			tell_git(r);
		if (fds[0].revents)
			hear_client(r);
	}
}

/* The client sends on until it has read the answer. */
static void refuse(struct relay *r)
{
	struct pollfd from = { .fd = r->from, .events = POLLIN };
	int64_t until = clock_mono_ms() + DRAIN_MS;
	struct buf answer;
	ssize_t n;

	if (!r->judged || !r->push->reports)
		return;
	buf_init(&answer, REPORT_MAX);
	push_write_refusal(r->push, &answer);
	r->until = until;
	if (tell_client(r, answer.at, answer.len))
		while (clock_mono_ms() < until && poll(&from, 1, LOOK_MS) >= 0) {
			n = from.revents ? read(r->from, r->bytes, AT_ONCE) : 1;
			if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
				break;
		}
	buf_free(&answer);
}

static void run_relay(struct relay *r, const struct git_setup *setup, pid_t *ret_pid)
{
	int in[2], out[2];

	r->broken = true;
	if (pipe2(in, O_CLOEXEC))
		return;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return;
	}
	r->broken = git_child_begin(setup, (int[]){ in[0], out[1], STDERR_FILENO }, ret_pid) != 0;
	close(in[0]);
	close(out[1]);
	r->in = in[1];
	r->out = out[0];
	fcntl(r->in, F_SETFL, O_NONBLOCK);
	if (!r->broken)
		pass_on(r);
	if (r->in >= 0)
		close(r->in);
}

enum push_relay_end push_relay(const struct git_setup *setup, const struct push_gate *gate,
	const int ends[2], int wall_ms, struct push *ret, struct arena *a, const char **ret_fault)
{
	struct relay *r = arena_new(a, struct relay);
	enum push_relay_end end = RELAY_BROKEN;
	pid_t pid = 0;
	int status, to = ends[1], flags = fcntl(to, F_GETFL);

	*ret = (struct push){ 0 };
	r->from = ends[0];
	r->gate = gate;
	r->to = to;
	r->push = ret;
	r->path = setup->path;
	r->arena = a;
	r->moved = clock_mono_ms();
	r->until = r->moved + wall_ms;
	fcntl(to, F_SETFL, flags | O_NONBLOCK);
	buf_init(&r->head, PUSH_HEAD_MAX + AT_ONCE);
	buf_init(&r->report, REPORT_MAX);
	run_relay(r, setup, &pid);
	status = !pid ? -1 : r->out < 0 ? git_child_await(pid) : git_child_end(pid);
	if (r->refused) {
		refuse(r);
		end = RELAY_REFUSED;
	} else if (!r->broken && r->out < 0 && WIFEXITED(status)) {
		push_read_report(ret, r->report.at, r->report.len);
		end = RELAY_DONE;
	}
	*ret_fault = r->fault;
	fcntl(to, F_SETFL, flags);
	if (r->out >= 0)
		close(r->out);
	buf_free(&r->head);
	buf_free(&r->report);
	return end;
}
