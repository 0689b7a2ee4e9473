/* hook_deliver.c - see hook_deliver.h.
 *
 * The session, its first message, its setting to work, the delivery's new
 * state and the end of the job are one transaction, so that an accepted event
 * ends as exactly one session whatever dies in between.  If the session is
 * refused, a second transaction says so and has the job tried again, or ends it. */
#include "api/hook_deliver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/hook.h"
#include "api/hook_text.h"
#include "base/clock.h"
#include "base/json_tree.h"
#include "outside/webhook.h"
#include "sessions/session.h"

/* So many at a time, in the order in which they came: each writes a whole session, and those who send
 * events must not wait behind many of them. */
enum { AT_A_TIME = 4 };

struct hook_post {
	pthread_mutex_t lock;
	int under_way;
	struct delivering *first, **last; /* who waits */
};

struct delivering {
	struct work work;
	struct delivering *next;
	struct app *app;
	struct job *job;
	struct arena arena;
	struct problem problem;
	const char *integration_id;
	int64_t now;
};

/* What is needed of the integration. */
struct source_row {
	const char *agent_id;
	int provider;
	const char *label, *instructions, *skill;
};

FIELDS(source_row) = {
	FIELD(source_row, agent_id),
	FIELD(source_row, provider, .words = &hook_provider_words),
	FIELD(source_row, label),
	FIELD(source_row, instructions, .nullable = true),
	FIELD(source_row, skill, .nullable = true),
};
static SCHEMA(source_row, .internal = true);

enum { SOURCE_READ, DELIVERED, NOT_DELIVERED };

static const struct statement sql[] = {
	[SOURCE_READ] = { "hook_source",
		"select i.agent_id, i.provider, i.label, i.instructions, s.name as skill "
		"from integrations i left join agent_skills g on g.tenant_id = i.tenant_id "
		"and g.agent_id = i.agent_id and g.skill_id = i.skill_id "
		"left join skills s on s.tenant_id = g.skill_tenant_id and s.id = g.skill_id "
		"where i.tenant_id = $1 and i.id = $2",
		.row = &source_row_schema },
	[DELIVERED] = { "hook_delivered",
		"update deliveries set status = 'delivered', attempts = $4, delivered_at = $5, "
		"made_session_id = $6, summary = $7, error = null "
		"where tenant_id = $1 and integration_id = $2 and id = $3" },
	[NOT_DELIVERED] = { "hook_not_delivered",
		"update deliveries set status = $4, attempts = $5, error = $6 "
		"where tenant_id = $1 and integration_id = $2 and id = $3" },
};
STATEMENT_SET(hook_deliver_sql, sql);

/* What the event says, for people and for the model; a call of a skill speaks for itself. */
static const char *tell(struct arena *a, struct delivery_row *d, const struct source_row *s)
{
	const struct webhook_provider *p = &webhook_providers[s->provider % WEBHOOK_SERVICES];
	struct webhook_event e;

	if (s->provider >= WEBHOOK_SERVICES || !webhook_reread(p, a, d->event, d->body, &e))
		return "";
	d->summary = webhook_summary(p, a, &e);
	return webhook_digest(p, a, &e);
}

static const char *title_of(
	struct arena *a, const struct delivery_row *d, const struct source_row *s)
{
	if (d->summary && *d->summary)
		return d->summary;
	return s->skill ? arena_printf(a, "%s: %s", s->skill, s->label) : s->label;
}

static const char *metadata_of(struct arena *a, const struct delivery_row *d)
{
	struct buf b;
	const char *text;

	buf_init(&b, 4096);
	buf_printf(&b, "{\"integration_id\":\"%s\",\"delivery\":\"%s\",\"delivery_id\":",
		d->integration_id, d->id);
	json_write_string(&b, d->delivery_id, strlen(d->delivery_id));
	if (d->event) {
		buf_lit(&b, ",\"event\":");
		json_write_string(&b, d->event, strlen(d->event));
	}
	buf_putc(&b, '}');
	text = arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return text;
}

/* Opens the session, says what came, sets the agent to work. */
static int begin_session(struct delivering *v, struct db *db, struct delivery_row *d,
	const struct source_row *s, const char **ret_session)
{
	struct arena *a = &v->arena;
	bool service = s->provider < WEBHOOK_SERVICES;
	const struct hook_said said = { .source = service ? webhook_providers[s->provider].title
							  : NULL,
		.label = s->label,
		.skill = s->skill,
		.instructions = s->instructions,
		.digest = tell(a, d, s),
		.body = d->body };
	struct session_new in = { .tenant_id = d->tenant_id,
		.agent_id = s->agent_id,
		.origin = "webhook",
		.title = title_of(a, d, s),
		.metadata = metadata_of(a, d),
		.now = v->now };
	struct session_words words = { .tenant_id = d->tenant_id, .role = "user", .now = v->now };
	struct run_options options = { .temperature = __builtin_nan(""),
		.top_p = __builtin_nan("") };
	const char *message_id, *run_id;
	int err = session_open(db, a, &in, ret_session, &v->problem);

	if (err)
		return err;
	hook_text(a, &said, &words.content, &options.additional_instructions);
	words.session_id = *ret_session;
	err = session_say(db, a, &words, &message_id, &v->problem);
	if (!err)
		err = session_start(db, a, d->tenant_id, *ret_session, NULL, &options, false,
			v->now, &run_id, &v->problem);
	return err;
}

static int deliver_run(struct work *w, struct db *db)
{
	struct delivering *v = (struct delivering *)w;
	const struct job *job = v->job;
	struct delivery_row d;
	struct source_row s;
	const char *session;
	int err;

	v->problem = (struct problem){ 0 };
	v->now = clock_now_us();
	err = job_still_mine(db, job, v->now);
	if (!err)
		err = delivery_find(
			db, &v->arena, job->tenant_id, v->integration_id, job->subject, &d);
	if (!err)
		err = db_one(db, &v->arena, &sql[SOURCE_READ], &s,
			ARGS(T(job->tenant_id), T(v->integration_id)));
	if (err == ERR_NOT_FOUND) /* the integration went, and its log with it */
		return job_finish(db, job, v->now);
	if (err)
		return err;
	if (d.status != DeliveryStatus_accepted)
		return job_finish(db, job, v->now);
	err = begin_session(v, db, &d, &s, &session);
	if (!err)
		err = db_run(db, &sql[DELIVERED], NULL,
			ARGS(T(d.tenant_id), T(d.integration_id), T(d.id), N(job->attempts),
				N(v->now), T(session), T(d.summary)));
	return err ? err : job_finish(db, job, v->now);
}

/* ---- refused: later again, or never ---- */

static const char *reason(const struct delivering *v)
{
	return v->problem.detail ? v->problem.detail : error_row(v->problem.err)->title;
}

static int put_off_run(struct work *w, struct db *db)
{
	struct delivering *v = (struct delivering *)w;
	const struct job *job = v->job;
	bool last = job->attempts >= JOB_ATTEMPTS || v->problem.err == ERR_NOT_FOUND ||
		    v->problem.err == ERR_INVALID;
	int err;

	v->now = clock_now_us();
	err = job_still_mine(db, job, v->now);
	if (!err)
		err = db_run(db, &sql[NOT_DELIVERED], NULL,
			ARGS(T(job->tenant_id), T(v->integration_id), T(job->subject),
				T(last ? "failed" : "accepted"), N(job->attempts), T(reason(v))));
	if (err)
		return err;
	return last ? job_finish(db, job, v->now)
		    : job_put_back(db, job, 0, true, reason(v), v->now);
}

/* The one that waits longest takes its place, and so on until one is under way. */
static void over(struct delivering *v, int err)
{
	while (v) {
		struct hook_post *post = v->app->hook_post;
		struct delivering *next;
		struct job *job = v->job;

		pthread_mutex_lock(&post->lock);
		next = post->first;
		if (next) {
			post->first = next->next;
			post->last = post->first ? post->last : &post->first;
		} else {
			post->under_way--;
		}
		pthread_mutex_unlock(&post->lock);
		arena_free(&v->arena);
		free(v);
		job_over(job, err);
		v = next;
		err = v ? store_submit(v->app->store, &v->work) : 0;
		if (!err)
			return;
	}
}

static void put_off_done(struct work *w, int err)
{
	over((struct delivering *)w, err);
}

static void deliver_done(struct work *w, int err)
{
	struct delivering *v = (struct delivering *)w;

	if (!err || !v->problem.err || v->problem.err != err) {
		over(v, err);
		return;
	}
	v->work.run = put_off_run;
	v->work.done = put_off_done;
	err = store_submit(v->app->store, &v->work);
	if (err)
		over(v, err);
}

/* True if it may go on at once. */
static bool join(struct hook_post *post, struct delivering *v)
{
	bool free_now;

	pthread_mutex_lock(&post->lock);
	free_now = post->under_way < AT_A_TIME;
	if (free_now) {
		post->under_way++;
	} else {
		*post->last = v;
		post->last = &v->next;
	}
	pthread_mutex_unlock(&post->lock);
	return free_now;
}

static void begin(void *ctx, struct job *job)
{
	struct delivering *v = calloc(1, sizeof *v);
	const struct json_node *n;
	int err;

	if (!v) {
		job_over(job, ERR_BUSY);
		return;
	}
	v->app = ctx;
	v->job = job;
	n = json_tree(&v->arena, job->payload, strlen(job->payload), NULL, NULL);
	v->integration_id = n ? json_tree_text(n, "integration_id") : NULL;
	v->integration_id = v->integration_id ? v->integration_id : "";
	v->work = (struct work){ .run = deliver_run, .done = deliver_done, .mode = READ_WRITE };
	if (!join(v->app->hook_post, v))
		return;
	err = store_submit(v->app->store, &v->work);
	if (err)
		over(v, err);
}

struct hook_post *hook_post_new(void)
{
	struct hook_post *post = calloc(1, sizeof *post);

	if (post) {
		pthread_mutex_init(&post->lock, NULL);
		post->last = &post->first;
	}
	return post;
}

void hook_post_free(struct hook_post *post)
{
	if (post)
		pthread_mutex_destroy(&post->lock);
	free(post);
}

struct job_kind hook_deliver_kind(struct app *app)
{
	return (struct job_kind){ .name = DELIVERY_JOB, .begin = begin, .ctx = app };
}
