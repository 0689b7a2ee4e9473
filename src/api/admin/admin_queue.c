/* admin_queue.c - the queue as the super administrator sees it.  What jobs hold may be private and is not
 * shown. */
#include <string.h>

#include "call/operation.h"
#include "base/clock.h"
#include "queue/queue_admin.h"

static const char *const states[] = { "waiting", "delayed", "held", "running", "dead", NULL };
enum { STATE_WAITING, STATE_DEAD = 4 };
static const struct words state_words = {
	.list = states,
	.doc = "waiting: may be taken now; delayed: later; held: its agent has as many at work as it may; "
	       "running; dead: failed too often.",
};

struct JobRead {
	const char *id, *tenant_id, *kind, *subject, *lane;
	int state;
	int64_t priority, attempts, max_attempts, deaths;
	struct moment run_at, created_at, updated_at;
	const char *waits_for, *error;
};

FIELDS(JobRead) = {
	FIELD(JobRead, id, .required = true, .id = true, .doc = "The job."),
	FIELD(JobRead, tenant_id, .required = true, .id = true, .doc = "Whose it is."),
	FIELD(JobRead, kind, .required = true, .example = "\"session.turn\"",
		.doc = "What it does."),
	FIELD(JobRead, subject, .required = true, .example = "\"\"",
		.doc = "What it is about, such as a session; empty for nothing."),
	FIELD(JobRead, lane, .required = true, .example = "\"\"",
		.doc = "Of one lane only so many run at once; empty for none."),
	FIELD(JobRead, state, .required = true, .words = &state_words, .doc = "Where it stands."),
	FIELD(JobRead, priority, .required = true, .example = "0",
		.doc = "Higher is earlier, among the jobs of one tenant."),
	FIELD(JobRead, attempts, .required = true, .example = "10",
		.doc = "How often it was begun."),
	FIELD(JobRead, max_attempts, .required = true, .example = "10",
		.doc = "How often it may fail before it is dead; deaths are not failures."),
	FIELD(JobRead, deaths, .required = true, .example = "0",
		.doc = "How often the process that ran it died; from the third time on it runs alone."),
	FIELD(JobRead, run_at, .required = true, .doc = "When it could run first, or again."),
	FIELD(JobRead, created_at, .required = true, .doc = "When it was added."),
	FIELD(JobRead, updated_at, .required = true, .doc = "When it was last begun or requeued."),
	FIELD(JobRead, waits_for, .nullable = true, .example = "\"rate\"",
		.doc = "What its agent has no room of: hours, rate or budget; null: it does not wait for "
		       "room."),
	FIELD(JobRead, error, .nullable = true, .example = "\"The answer took too long\"",
		.doc = "What went wrong last."),
};
static SCHEMA(JobRead, .doc = "A job of the queue, without what it holds.");

struct QueueCount {
	int state;
	const char *kind;
	int64_t jobs;
	struct moment oldest_at;
};

FIELDS(QueueCount) = {
	FIELD(QueueCount, state, .required = true, .words = &state_words, .doc = "The state."),
	FIELD(QueueCount, kind, .required = true, .example = "\"session.turn\"",
		.doc = "The kind."),
	FIELD(QueueCount, jobs, .required = true, .example = "1",
		.doc = "Jobs of that state and kind."),
	FIELD(QueueCount, oldest_at, .required = true,
		.doc = "The earliest moment at which one of them could run."),
};
static SCHEMA(QueueCount, .doc = "How many jobs there are of a state and kind.");

struct QueueRead {
	struct list counts;
	int64_t oldest_seconds;
	struct list items;
	const char *next_after;
};

FIELDS(QueueRead) = {
	FIELD(QueueRead, counts, .required = true, .item = OBJECT, .of = &QueueCount_schema,
		.doc = "All jobs by state and kind; one that is done is gone."),
	FIELD(QueueRead, oldest_seconds, .nullable = true, .example = "0",
		.doc = "How long the oldest job that may run has waited; null if none waits."),
	FIELD(QueueRead, items, .required = true, .item = OBJECT, .of = &JobRead_schema,
		.doc = "The jobs asked for, newest first."),
	FIELD(QueueRead, next_after, .nullable = true, .id = true,
		.doc = "Ask for the next ones with this as `after`; null at the end."),
};
static SCHEMA(QueueRead, .doc = "The queue: how much there is, and some of it.");

struct queue_query {
	int state;
	const char *kind, *tenant_id, *after;
	int64_t per_page;
};

FIELDS(queue_query) = {
	FIELD(queue_query, state, .nullable = true, .words = &state_words,
		.doc = "Only jobs of this state."),
	FIELD(queue_query, kind, .nullable = true, BOUNDS(1, 64), .doc = "Only jobs of this kind."),
	FIELD(queue_query, tenant_id, .nullable = true, .id = true,
		.doc = "Only jobs of this tenant."),
	FIELD(queue_query, after, .nullable = true, .id = true, .doc = "Continue after this id."),
	FIELD(queue_query, per_page, .preset = "50", BOUNDS(1, 200), .doc = "Jobs shown at most."),
};
static SCHEMA(queue_query, .doc = "Filters of the queue.");

enum { QUEUE_ALL, QUEUE_DEAD, QUEUE_TENANT, QUEUE_ONE };

#define MATCHING                                   \
	"j.id < $1 and ($2 = '' or j.state = $2) " \
	"and ($3 = '' or j.kind = $3) "
#define ORDER "order by j.id desc limit $4"
#define ROSTER .row = &JobRead_schema, .across = "the super administrator's view"

static const struct statement sql[] = {
	[QUEUE_ALL] = { "admin_queue", "select {j.*} from jobs j where " MATCHING ORDER, ROSTER },
	[QUEUE_DEAD] = { "admin_queue_dead",
		"select {j.*} from jobs j where j.state = 'dead' and " MATCHING ORDER, ROSTER },
	[QUEUE_TENANT] = { "admin_queue_tenant",
		"select {j.*} from jobs j where j.tenant_id = $5 and " MATCHING ORDER,
		.row = &JobRead_schema },
	[QUEUE_ONE] = { "admin_queue_one",
		"select {j.*} from jobs j where j.tenant_id = $1 and j.id = $2",
		.row = &JobRead_schema },
};
STATEMENT_SET(admin_queue_sql, sql);

static int state_of(const char *word)
{
	int i = 0;

	while (states[i + 1] && strcmp(states[i], word) != 0)
		i++;
	return i;
}

static int fill_counts(struct call *c, struct QueueRead *out)
{
	struct list rows;
	struct QueueCount *shown;
	int err = queue_counts(c->db, c->arena, &rows);

	if (err)
		return err;
	shown = arena_array(c->arena, struct QueueCount, rows.count + 1);
	out->oldest_seconds = NIL;
	for (size_t i = 0; i < rows.count; i++) {
		const struct queue_count *row = (const struct queue_count *)rows.at + i;
		int64_t age = (c->now - row->oldest) / SECOND_US;

		shown[i] = (struct QueueCount){ state_of(row->state), row->kind, row->jobs,
			{ row->oldest } };
		if (shown[i].state == STATE_WAITING &&
			(out->oldest_seconds == NIL || age > out->oldest_seconds))
			out->oldest_seconds = age > 0 ? age : 0;
	}
	out->counts = (struct list){ shown, rows.count };
	return 0;
}

QUERY_OPERATION(readQueue, queue_query, QueueRead)
{
	int which = in->tenant_id ? QUEUE_TENANT : in->state == STATE_DEAD ? QUEUE_DEAD : QUEUE_ALL;
	int err = db_all(c->db, c->arena, &sql[which], &out->items, (size_t)in->per_page + 1,
		ARGS(T(in->after ? in->after : "~"), T(in->state < 0 ? "" : states[in->state]),
			T(in->kind ? in->kind : ""), N(in->per_page + 1), T(in->tenant_id)));

	if (err)
		return err;
	if (out->items.count > (size_t)in->per_page) {
		out->items.count--;
		out->next_after = ((const struct JobRead *)out->items.at)[out->items.count - 1].id;
	}
	return fill_counts(c, out);
}

static int done_to(struct call *c, int err, const char *tenant_id, const char *refused)
{
	c->audit.tenant_id = tenant_id;
	return err == ERR_CONFLICT ? call_fail(c, err, "%s", refused) : err;
}

OPERATION(retryJob, NONE, JobRead)
{
	const char *tenant_id = NULL, *id = call_param(c, "job_id");
	int err = jobs_retry(c->db, c->arena, id, c->now, &tenant_id);

	err = done_to(c, err, tenant_id, "Only a dead job can be tried again.");
	return err ? err : db_one(c->db, c->arena, &sql[QUEUE_ONE], out, ARGS(T(tenant_id), T(id)));
}

OPERATION(dropJob, NONE, NONE)
{
	const char *tenant_id = NULL;
	int err = jobs_drop(c->db, c->arena, call_param(c, "job_id"), &tenant_id);

	return done_to(c, err, tenant_id, "The job is running; it can be dropped when it is not.");
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/queue", &readQueue, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "Jobs by state and kind, the age of the oldest, and the jobs that match." },
	{ METHOD_POST, "/admin/queue/{job_id}/retry", &retryJob, PERM_SUPER, 200, "job.retry",
		.tag = "Super administrator",
		.doc = "Try a dead job again, from its first attempt on." },
	{ METHOD_DELETE, "/admin/queue/{job_id}", &dropJob, PERM_SUPER, 204, "job.drop",
		.tag = "Super administrator",
		.doc = "Forget a job that is not running. What it was about stays as it is." },
};
RESOURCE(admin_queue, routes, NULL, &admin_queue_sql);
