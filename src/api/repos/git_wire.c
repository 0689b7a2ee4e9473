/* git_wire.c - git's smart HTTP: what a repository has, a fetch from it, a push to it; see gitprotocol-http(5).
 *
 *   head: who, which repository, is there room -> body into a file without a name (git_spool.h)
 *     -> the commands of a push are judged -> git, with its answer on the way to the client or, of a push, kept
 *     -> what was pushed into the audit log, and the repository is looked at
 *
 * What git is given and may do is git/git_child.h's matter. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/repos/git_spool.h"
#include "api/service.h"
#include "base/log.h"
#include "call/operation.h"
#include "git/git_child.h"
#include "git/pkt_line.h"
#include "git/push_many.h"
#include "git/stale_lock.h"
#include "repos/repo_lock.h"
#include "repos/repo_push.h"

enum {
	FETCH_MAX = 8 * 1024 * 1024, /* bytes of what a client says that it has and wants */
	REPORT_MAX = 1024 * 1024,    /* of git's answer to a push */
	BESIDES = 1024 * 1024,	     /* of a push that are no objects */
};

#define NOTHING_HERE "There is no such repository."
#define FULL "The repository has as many bytes as it may have."
#define UNDER_WAY "Another push to this repository is under way: try again in a moment."
#define UNWRITABLE "The files of this repository cannot be written to by this process."
#define ELSEWHERE "This repository is on another host: clone it from there."

struct wire_query {
	const char *service;
};

FIELDS(wire_query) = {
	FIELD(wire_query, service, .nullable = true, BOUNDS(1, 64),
		.example = "\"git-upload-pack\"",
		.doc = "What the client is about to do: git-upload-pack to fetch, git-receive-pack to push."),
};
SCHEMA(wire_query, .doc = "What for.");

/* A request of git on its way through the steps. */
struct wire {
	enum git_service service;
	struct repository row;
	const char *path; /* of the repository */
	struct git_spool *body;
	bool advertises;
	/* Of a push. */
	int64_t room;
	struct push push;
	struct buf report;
	int64_t size; /* of the repository after it */
	int err;      /* why git did not come to its end */
};

/* ---- which repository ---- */

static int find_repository(struct call *c, struct wire *w)
{
	const char *name = call_param(c, "repository"), *dot = strchr(name, '.');
	int purpose = !dot			       ? -1
		      : strcmp(dot, ".git") == 0       ? RepoPurpose_code
		      : strcmp(dot, ".image.git") == 0 ? RepoPurpose_image
						       : -1;
	int err = ERR_NOT_FOUND;

	if (purpose >= 0)
		err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id,
			(enum RepoPurpose)purpose, &w->row);
	if (!err && w->row.host != RepoHost_embedded)
		return call_fail(c, ERR_NOT_FOUND, ELSEWHERE);
	if (err)
		return err == ERR_NOT_FOUND ? call_fail(c, err, NOTHING_HERE) : err;
	w->path = repo_path(service_of(c->app)->repos, c->arena, w->row.id);
	return 0;
}

static struct wire *wire_of(struct call *c, enum git_service service)
{
	if (!c->own) {
		struct wire *w = c->own = arena_new(c->arena, struct wire);

		w->service = service;
	}
	return c->own;
}

/* Of a push there is only the first; of others a client may ask for the second, and for nothing else. */
static int version_of(struct call *c, enum git_service service)
{
	const char *asked = http_header(&c->x->request, "git-protocol");

	if (!asked || service == GIT_RECEIVE_PACK || strlen(asked) != strlen("version=N") ||
		strncmp(asked, "version=", 8) != 0 || asked[8] < '0' || asked[8] > '2')
		return 0;
	return asked[8] - '0';
}

/* On a thread that may wait for the disk: the row is the store's, the files may be another machine's. */
static int find_files(struct call *c, const struct wire *w)
{
	return access(w->path, F_OK) == 0
		       ? 0
		       : call_fail(c, ERR_UPSTREAM,
				 "The files of this repository are not where this process looks for them.");
}

/* ---- git's answer on its way ---- */

static bool pour_on(void *ctx, const char *bytes, size_t n)
{
	return call_pour_bytes(ctx, bytes, n);
}

static bool pour_is_wanted(void *ctx)
{
	return call_pour_wanted(ctx);
}

/* An exit of its own after it has said why, in its own words, is an answer; what ended otherwise is none. */
static int judge_end(struct call *c, const struct git_result *r, bool answered)
{
	const char *id = c->x->request_id;

	switch (r->end) {
	case GIT_ENDED:
		return 0;
	case GIT_UNWANTED:
		return ERR_STOPPING;
	case GIT_LATE:
		return call_fail(c, ERR_TOO_SLOW, "Git took too long over this.");
	case GIT_UNBEGUN:
		log_error("git cannot be begun", LOG_S("why", r->said), LOG_S("request_id", id));
		return call_fail(c, ERR_INTERNAL, "Git is not there on this machine.");
	case GIT_FAILED:
		break;
	}
	log_warn("git did not come to its end", LOG_S("said", r->said),
		LOG_N("signal", WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0),
		LOG_S("request_id", id));
	if (WIFSIGNALED(r->status))
		return call_fail(c, ERR_BUSY, "Git was ended in the middle of this: try again.");
	return answered ? 0 : call_fail(c, ERR_MALFORMED, "Git does not understand this request.");
}

static int make_answer(struct call *c)
{
	struct wire *w = c->own;
	struct git_run run = { .setup = { .service = w->service,
				       .stateless = true,
				       .advertises = w->advertises,
				       .version = version_of(c, w->service),
				       .path = w->path,
				       .input_max = 1 },
		.in = w->body ? git_spool_read(w->body) : -1,
		.stop = &c->work.withdrawn,
		.take = pour_on,
		.wanted = pour_is_wanted,
		.ctx = c };
	struct git_result result;
	int err = find_files(c, w);

	if (err)
		return err;
	if (w->advertises && run.setup.version < 2) {
		struct buf line;

		buf_init(&line, PKT_MAX);
		pkt_puts(&line,
			arena_printf(c->arena, "# service=%s\n", git_service_name(w->service)));
		pkt_flush(&line);
		call_pour_bytes(c, line.at, line.len);
		buf_free(&line);
	}
	git_run(&run, &result);
	return judge_end(c, &result, c->x->reply.streams);
}

/* ---- what there is ---- */

static const char *const advertisements[] = { "application/x-git-upload-pack-advertisement",
	"application/x-git-receive-pack-advertisement", NULL };

QUERY_OPERATION(readGitRefs, wire_query, NONE, .basic = true, .untagged = true, .open_query = true,
	.gives = "application/x-git-upload-pack-advertisement", .may_give = advertisements + 1)
{
	struct wire *w;
	int service, err;

	for (service = GIT_UPLOAD_PACK; service <= GIT_RECEIVE_PACK; service++)
		if (in->service &&
			strcmp(in->service, git_service_name((enum git_service)service)) == 0)
			break;
	if (service > GIT_RECEIVE_PACK)
		return call_fail(c, ERR_NOT_FOUND, "Only git's smart protocol is spoken here.");
	w = wire_of(c, (enum git_service)service);
	w->advertises = true;
	err = find_repository(c, w);
	if (!err && service == GIT_RECEIVE_PACK)
		err = caller_also(&c->caller, c->arena, PERM_AGENT_WRITE, &c->problem);
	return err ? err : call_pour(c, advertisements[service], make_answer);
}

/* ---- bodies ---- */

static int take_body(struct call *c, const void *bytes, size_t n)
{
	const struct wire *w = c->own;

	return git_spool_add(w->body, bytes, n, c->arena, &c->problem);
}

static int begin_body(struct call *c, struct wire *w, int64_t most)
{
	const struct http_request *r = &c->x->request;
	const char *fault;

	if (!w->body)
		w->body = git_spool_new(
			c->arena, &(struct git_spool_setup){ .repos = service_of(c->app)->repos,
					  .tenant_id = c->caller.tenant_id,
					  .folder = w->path,
					  .most = most,
					  .may_be_memory = w->service == GIT_UPLOAD_PACK });
	fault = git_spool_coding(w->body, http_header(r, "content-encoding"));
	if (fault)
		return call_fail(c, ERR_MEDIA_TYPE, "%s", fault);
	c->take = take_body;
	c->x->max_body = (uint64_t)most;
	return 0;
}

static int check_body(struct call *c, const struct wire *w)
{
	return git_spool_whole(w->body)
		       ? 0
		       : call_fail(c, ERR_MALFORMED, "The compressed body breaks off.");
}

/* ---- a fetch ---- */

static int fetchGit_intake(struct call *c)
{
	struct wire *w = wire_of(c, GIT_UPLOAD_PACK);
	int err = find_repository(c, w);

	return err ? err : begin_body(c, w, FETCH_MAX);
}

static int fetchGit_look(struct call *c)
{
	struct wire *w = c->own;
	int err = find_repository(c, w);

	if (!err)
		err = check_body(c, w);
	return err ? err : call_pour(c, "application/x-git-upload-pack-result", make_answer);
}

OPERATION(fetchGit, NONE, NONE, .basic = true, .untagged = true, .harmless = true,
	.bounded_intake = true,
	.takes = (const char *const[]){ "application/x-git-upload-pack-request", NULL },
	.gives = "application/x-git-upload-pack-result", .intake = fetchGit_intake,
	.look = fetchGit_look)
{
	return ERR_INTERNAL; /* `look` has it answered */
}

/* ---- a push ---- */

static void free_report(void *data)
{
	buf_free(data);
}

static int find_room(struct call *c, struct wire *w)
{
	int err = find_repository(c, w);

	if (err)
		return err;
	w->room = repo_room(service_of(c->app)->repos, &w->row);
	return w->room ? 0 : call_fail(c, ERR_NO_SPACE, FULL);
}

static int pushGit_intake(struct call *c)
{
	struct wire *w = wire_of(c, GIT_RECEIVE_PACK);
	int err = find_room(c, w);

	return err ? err : begin_body(c, w, w->room + BESIDES);
}

static int pushGit_look(struct call *c)
{
	struct wire *w = c->own;
	int err = find_room(c, w);

	return err ? err : check_body(c, w);
}

static bool keep_report(void *ctx, const char *bytes, size_t n)
{
	struct wire *w = ((struct call *)ctx)->own;

	buf_put(&w->report, bytes, n);
	return !w->report.overflow;
}

/* The commands, before git sees them.  1: there is nothing for git to do, and the answer is there. */
static int read_push(struct call *c, struct wire *w)
{
	char *head = arena_raw(c->arena, PUSH_HEAD_MAX, 1);
	ssize_t n = git_spool_peek(w->body, head, PUSH_HEAD_MAX);
	const char *fault = NULL;
	struct buf bound;
	bool done;

	if (n < 0)
		return call_fail(c, ERR_STORE, "The push cannot be read just now.");
	switch (push_head_read(&w->push, c->arena, head, (size_t)n, &fault)) {
	case PUSH_BREAKS_OFF:
		return call_fail(c, ERR_MALFORMED, "The push breaks off among its commands.");
	case PUSH_REFUSED:
		return call_fail(c, ERR_INVALID, "%s", fault);
	case PUSH_READ:
		break;
	}
	push_many_judge(&w->push, w->path);
	if (w->push.refused && !w->push.reports)
		return call_fail(c, ERR_INVALID, "A ref of this push may not be changed so.");
	if (w->push.refused)
		push_write_refusal(&w->push, &w->report);
	if (w->push.refused || !w->push.count)
		return 1;
	buf_init(&bound, PUSH_HEAD_MAX + PUSH_BIND_MAX);
	push_head_bind(&w->push, head, (size_t)n, &bound);
	done = !bound.overflow && git_spool_begin_with(w->body, bound.at, bound.len, (size_t)n);
	buf_free(&bound);
	return done ? 0 : call_fail(c, ERR_STORE, "The push cannot be read just now.");
}

static int pushGit_prepare(struct call *c)
{
	struct wire *w = c->own;
	struct git_run run = { .setup = { .service = GIT_RECEIVE_PACK,
				       .stateless = true,
				       .path = w->path,
				       .input_max = w->room },
		.stop = &c->work.withdrawn,
		.take = keep_report,
		.wanted = pour_is_wanted,
		.ctx = c };
	struct git_result result;
	struct repo_pushing pushing = { 0 };
	struct repos *repos = service_of(c->app)->repos;
	int err, lock;

	if (!w->report.max) {
		buf_init(&w->report, REPORT_MAX);
		arena_defer(c->arena, free_report, &w->report);
	}
	c->only_reads = true;
	err = find_files(c, w);
	if (err)
		return err;
	lock = repo_lock_push(repos, c->arena, w->row.id, REPO_PUSH_WAIT_MS);
	if (lock < 0)
		return errno == EWOULDBLOCK ? call_fail(c, ERR_BUSY, UNDER_WAY)
					    : call_fail(c, ERR_UPSTREAM, UNWRITABLE);
	err = read_push(c, w);
	if (!err && repo_push_begin(&pushing, repos, w->row.id, &w->push, c->arena))
		err = call_fail(c, ERR_NO_SPACE, FULL);
	if (err) {
		repo_unlock(lock);
		return err < 0 ? err : 0;
	}
	run.in = git_spool_read(w->body);
	run.setup.input_max = pushing.room < w->room ? pushing.room : w->room;
	run.setup.holds = lock;
	for (size_t i = 0; i < w->push.count; i++)
		stale_lock_drop(w->path, w->push.commands[i].ref);
	git_run(&run, &result);
	push_read_report(&w->push, w->report.at, w->report.len);
	w->err = judge_end(c, &result, w->report.len > 0);
	push_trace_end(&pushing.trace, &w->push, c->arena); /* whatever was said of it */
	push_many_pack(&w->push, w->path);
	c->only_reads = !repo_push_did(&w->push);
	w->size = repo_size(repos, c->arena, w->row.id);
	repo_unlock(lock);
	return c->only_reads ? w->err : 0;
}

OPERATION(pushGit, NONE, NONE, .basic = true, .untagged = true, .harmless = true, .spawns = true,
	.bounded_intake = true,
	.takes = (const char *const[]){ "application/x-git-receive-pack-request", NULL },
	.gives = "application/x-git-receive-pack-result", .intake = pushGit_intake,
	.look = pushGit_look, .prepare = pushGit_prepare)
{
	struct wire *w = c->own;
	int err = 0;

	buf_put(&c->x->reply.body, w->report.at, w->report.len);
	buf_lit(&c->x->reply.extra, "Cache-Control: no-cache\r\n");
	if (c->only_reads)
		return 0;
	err = find_repository(c, w);
	if (!err)
		err = repo_pushed(c->db, c->arena, &w->row, w->size, c->now);
	c->audit.meta = repo_push_meta(c->arena, (enum RepoPurpose)w->row.purpose, &w->push);
	c->audit.resource_id = w->row.id;
	if (!err && w->err) /* it is noted, and told what came of it */
		call_fail(c, w->err,
			"Git was ended after it had taken the push: fetch to see what stands.");
	return err;
}

#define REPOSITORY "/git/{tenant_slug}/{repository}"
#define GIT                                                                              \
	.tag = "Repositories", .as_printed = true, .unpublished = true, .by_slug = true, \
	.patient = true

static const struct route routes[] = {
	{ METHOD_GET, REPOSITORY "/info/refs", &readGitRefs, PERM_AGENT_READ, 200, GIT,
		.doc = "What a repository has, to a client of git." },
	{ METHOD_POST, REPOSITORY "/git-upload-pack", &fetchGit, PERM_AGENT_READ, 200,
		.unaudited = "a fetch changes nothing", GIT, .doc = "Fetch from a repository." },
	{ METHOD_POST, REPOSITORY "/git-receive-pack", &pushGit, PERM_AGENT_WRITE, 200, "repo.push",
		GIT, .doc = "Push to a repository." },
};
RESOURCE(git_wire, routes, NULL);
