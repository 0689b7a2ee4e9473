/* sql_tool.c - see sql_tool.h. */
#include "outside/sql_tool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "outside/sql_wire.h"

enum { LOOK_MS = 100, AFTER_MS = 2000 /* from the time of the statement to the end of all */ };

static void sql_say(struct sql_answer *ret, enum sql_outcome outcome, const char *text)
{
	*ret = (struct sql_answer){ outcome, text, strlen(text) };
}

/* ---- the statement and its parameters ---- */

struct sql_request {
	struct sql_task task;
	struct buf statement;
	struct buf params; /* as they are sent */
	const char *fault;
};

static void put_param(struct sql_request *q, const struct json_node *n)
{
	if (q->task.params == SQL_PARAMS_MAX) {
		q->fault = "There are more than 100 parameters.";
		return;
	}
	q->task.params++;
	if (!n || n->type == JSON_NULL) {
		buf_putc(&q->params, SQL_NULL);
	} else if (n->type == JSON_STRING) {
		if (strlen(n->text) != n->len)
			q->fault = "A parameter holds a NUL.";
		buf_putc(&q->params, SQL_GIVEN);
		buf_puts(&q->params, n->text);
	} else {
		buf_putc(&q->params, SQL_GIVEN);
		json_tree_write(&q->params, n);
	}
	buf_putc(&q->params, '\0');
}

/* Each place becomes the number of a parameter; the same argument may be there twice. */
static void fill_statement(
	struct sql_request *q, const char *statement, const struct json_node *arguments)
{
	const char *at = statement, *open, *name, *end;
	size_t len;

	while ((open = tool_place(at, &name, &len, &end)) != NULL) {
		buf_put(&q->statement, at, (size_t)(open - at));
		if (name) {
			put_param(q, json_tree_member(arguments, name, len));
			buf_printf(&q->statement, "$%u", q->task.params);
		} else {
			buf_puts(&q->statement, "{{");
		}
		at = end;
	}
	buf_puts(&q->statement, at);
}

static void take_statement(struct sql_request *q, const struct json_node *arguments)
{
	const struct json_node *sql = json_tree_member(arguments, "sql", 3),
			       *params = json_tree_member(arguments, "params", 6);

	if (!sql || sql->type != JSON_STRING || strlen(sql->text) != sql->len) {
		q->fault = "The argument sql must be a text without a NUL.";
		return;
	}
	buf_puts(&q->statement, sql->text);
	for (size_t i = 0; params && params->type == JSON_ARRAY && i < params->count; i++)
		put_param(q, params->items[i]);
}

static const char *authorities_file(void)
{
	static const char *const places[] = { "/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem" };
	const char *named = getenv("SSL_CERT_FILE");

	if (named && *named)
		return named;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return "";
}

/* The texts in the order of enum sql_text, and the parameters. */
static void put_texts(struct buf *out, const struct tool_config *config, struct sql_request *q)
{
	const char *const texts[SQL_TEXTS] = {
		[SQL_HOST] = config->database.host,
		[SQL_PORT] = config->database.port,
		[SQL_USER] = config->database.user,
		[SQL_PASSWORD] = config->header_count ? config->headers[0].value : "",
		[SQL_DATABASE] = config->database.name,
		[SQL_SSLMODE] = config->database.sslmode,
		[SQL_AUTHORITIES] = authorities_file(),
		[SQL_ALLOWED] = egress_allowed(),
		[SQL_STATEMENT] = buf_text(&q->statement),
	};

	for (int i = 0; i < SQL_TEXTS; i++)
		buf_put(out, texts[i], strlen(texts[i]) + 1);
	buf_put(out, q->params.at, q->params.len);
	q->task.len = out->len;
}

/* ---- the process ---- */

struct sql_process {
	pid_t pid;
	int fd;
	int64_t until; /* by clock_mono_ms() */
	const _Atomic bool *stop;
	bool late, stopped;
};

static bool sql_wait(struct sql_process *p, short events)
{
	for (;;) {
		struct pollfd one = { .fd = p->fd, .events = events };
		int64_t left = p->until - clock_mono_ms();
		int n;

		p->stopped = p->stop && *p->stop;
		p->late = left <= 0;
		if (p->stopped || p->late)
			return false;
		n = poll(&one, 1, (int)(left < LOOK_MS ? left : LOOK_MS));
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

static bool sql_send(struct sql_process *p, const void *bytes, size_t len)
{
	for (const char *at = bytes; len;) {
		ssize_t n = send(p->fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!sql_wait(p, POLLOUT)) {
			return false;
		}
	}
	return true;
}

/* Until its end; false if that does not come. */
static bool sql_receive(struct sql_process *p, struct buf *out)
{
	char piece[16384];

	for (;;) {
		ssize_t n = recv(p->fd, piece, sizeof piece, MSG_DONTWAIT);

		if (n == 0)
			return true;
		if (n > 0) {
			buf_put(out, piece, (size_t)n);
			if (out->overflow)
				return false;
		} else if ((errno != EAGAIN && errno != EINTR) || !sql_wait(p, POLLIN)) {
			return false;
		}
	}
}

static int sql_begin(struct sql_process *p)
{
	char path[PATH_MAX];
	char *argv[] = { "lodge-sql", NULL };
	int ends[2], err;

	child_find("lodge-sql", path);
	if (!*path)
		return ENOENT;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return errno;
	err = child_begin(path, argv, ends[1], &p->pid);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		p->fd = ends[0];
	return err;
}

/* What an answer that did not come means. */
static void explain_end(const struct sql_process *p, const struct tool_config *config, int status,
	struct arena *a, struct sql_answer *ret)
{
	const char *unsure = config->writes ? " What it was to change may be changed." : "";

	if (p->late)
		sql_say(ret, SQL_TOOL_FAILED,
			arena_printf(a, "The statement took longer than it may.%s", unsure));
	else if (p->stopped)
		sql_say(ret, SQL_TOOL_FAILED, arena_printf(a, "The call was ended.%s", unsure));
	else
		sql_say(ret, SQL_TOOL_FAILED,
			arena_printf(a,
				"The statement was broken off: its answer holds more than there is memory for, or makes no sense.%s",
				unsure));
	if (!p->late && !p->stopped)
		log_warn("lodge-sql did not come to an end",
			LOG_N("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0),
			LOG_N("status", WIFEXITED(status) ? WEXITSTATUS(status) : 0));
}

static void take_answer(struct arena *a, const struct buf *said, struct sql_answer *ret)
{
	char kind = said->at[0];
	const char *text = arena_strndup(a, said->at + 1, said->len - 1);

	if (kind == SQL_UNSURE)
		sql_say(ret, SQL_TOOL_FAILED,
			arena_printf(a, "%s What it was to change may be changed.", text));
	else
		*ret = (struct sql_answer){ kind == SQL_ROWS ? SQL_TOOL_DONE : SQL_TOOL_FAILED,
			text, said->len - 1 };
}

static void sql_call(const struct tool_config *config, struct sql_request *q, struct arena *a,
	const _Atomic bool *stop, struct sql_answer *ret)
{
	struct sql_process p = { .stop = stop,
		.until = clock_mono_ms() + tool_config_ms(config) + AFTER_MS };
	struct buf texts, said;
	bool whole;
	int status, err = sql_begin(&p);

	if (err) {
		sql_say(ret, SQL_TOOL_UNCALLED,
			err == ENOENT
				? "The program lodge-sql, which calls databases, is not beside lodge."
				: arena_printf(a, "The program lodge-sql cannot be started: %s.",
					  strerrorname_np(err)));
		return;
	}
	buf_init(&texts, SQL_TEXTS_MAX);
	buf_init(&said, SQL_TOOL_ANSWER_MAX + 1 + SQL_FAULT_MAX);
	put_texts(&texts, config, q);
	whole = !texts.overflow && sql_send(&p, &q->task, sizeof q->task) &&
		sql_send(&p, texts.at, texts.len) && sql_receive(&p, &said) && said.len > 0;
	status = child_end(p.pid);
	close(p.fd);
	if (texts.overflow)
		sql_say(ret, SQL_TOOL_UNCALLED,
			"The statement and its parameters are larger than 1 MiB.");
	else if (whole)
		take_answer(a, &said, ret);
	else
		explain_end(&p, config, status, a, ret);
	explicit_bzero(texts.at, texts.len);
	buf_free(&texts);
	buf_free(&said);
}

void sql_tool_run(const struct tool_config *config, const char *arguments, size_t len,
	enum egress egress, const _Atomic bool *stop, struct arena *a, struct sql_answer *ret)
{
	const struct json_node *tree = json_tree(a, arguments, len, NULL, NULL);
	struct sql_request q = { .task = { .mark = SQL_MARK,
					 .egress = (uint32_t)egress,
					 .writes = config->writes,
					 .rows_max = (uint32_t)config->rows_max,
					 .timeout_s = (uint32_t)(tool_config_ms(config) / 1000),
					 .bytes_max = SQL_TOOL_ANSWER_MAX } };

	buf_init(&q.statement, SQL_TEXTS_MAX);
	buf_init(&q.params, SQL_TEXTS_MAX);
	if (!tree || tree->type != JSON_OBJECT)
		q.fault = "The arguments are no object.";
	else if (config->statement)
		fill_statement(&q, config->statement, tree);
	else
		take_statement(&q, tree);
	if (!q.fault && (q.statement.overflow || q.params.overflow))
		q.fault = "The statement and its parameters are larger than 1 MiB.";
	if (q.fault)
		sql_say(ret, SQL_TOOL_UNCALLED, q.fault);
	else
		sql_call(config, &q, a, stop, ret);
	buf_free(&q.statement);
	buf_free(&q.params);
}
