/* hook_deliver.c - see hook_deliver.h.
 *
 * The session, its first message, its setting to work, the delivery's new
 * state and the end of the job are one transaction, so that an accepted event
 * ends as exactly one session whatever dies in between.  If the session is
 * refused, a second transaction says so and has the job tried again, or ends it. */
#include "webhooks/hook_deliver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "webhooks/hook.h"
#include "webhooks/hook_text.h"
#include "base/clock.h"
#include "base/json_tree.h"
#include "events/events.h"
#include "events/feed_number.h"
#include "outside/webhook.h"
#include "sessions/actor.h"
#include "sessions/session.h"

/* So many at a time, in the order in which they came: each writes a whole session, and those who send
 * events must not wait behind many of them. */
enum { AT_A_TIME = 4 };

struct hook_post {
	struct store *store;
	const struct patterns *patterns;
	pthread_mutex_t lock;
	int under_way;
	struct delivering *first, **last; /* who waits */
};

struct delivering {
	struct work work;
	struct delivering *next;
	struct hook_post *post;
	struct job *job;
	struct arena arena;
	struct problem problem;
	const char *integration_id;
	int64_t now;
};

/* What is needed of the integration. */
struct hook_source_row {
	const char *agent_id;
	int provider;
	const char *label, *instructions, *guardrails, *skill;
};

FIELDS(hook_source_row) = {
	FIELD(hook_source_row, agent_id),
	FIELD(hook_source_row, provider, .words = &hook_provider_words),
	FIELD(hook_source_row, label),
	FIELD(hook_source_row, instructions, .nullable = true),
	FIELD(hook_source_row, guardrails),
	FIELD(hook_source_row, skill, .nullable = true),
};
static SCHEMA(hook_source_row, .internal = true);

enum { SOURCE_READ, DELIVERED, NOT_DELIVERED };

#define THE_ROW "where tenant_id = :tenant_id and integration_id = :integration_id and id = :id"

static const struct statement sql[] = {
	[SOURCE_READ] = { "hook_source",
		"select i.agent_id, i.provider, i.label, i.instructions, i.guardrails, "
		"coalesce(v.name, s.name) as skill "
		"from integrations i left join agent_skills g on g.tenant_id = i.tenant_id "
		"and g.agent_id = i.agent_id and g.skill_id = i.skill_id "
		"left join skills s on s.tenant_id = g.skill_tenant_id and s.id = g.skill_id "
		"left join skill_versions v on v.tenant_id = g.skill_tenant_id "
		"and v.skill_id = g.skill_id and v.digest = g.digest "
		"where i.tenant_id = $1 and i.id = $2",
		.row = &hook_source_row_schema },
	[DELIVERED] = { "hook_delivered",
		"update deliveries set status = 'delivered', attempts = :attempts, "
		"delivered_at = :delivered_at, made_session_id = :made_session_id, "
		"summary = :summary, error = null " THE_ROW,
		.row = &delivery_row_schema },
	[NOT_DELIVERED] = { "hook_not_delivered",
		"update deliveries set status = :status, attempts = :attempts, error = :error " THE_ROW,
		.row = &delivery_row_schema },
};
STATEMENT_SET(hook_deliver_sql, sql);

/* What the event says, for people and for the model; a call of a skill speaks for itself. */
static const char *summarize_event(
	struct arena *a, struct delivery_row *d, const struct hook_source_row *s)
{
	const struct webhook_provider *p = &webhook_providers[s->provider % WEBHOOK_SERVICES];
	struct webhook_event e;

	if (s->provider >= WEBHOOK_SERVICES || !webhook_reread(p, a, d->event, d->body, &e))
		return "";
	d->summary = webhook_summary(p, a, &e);
	return webhook_digest(p, a, &e);
}

static const char *title_of(
	struct arena *a, const struct delivery_row *d, const struct hook_source_row *s)
{
	if (d->summary && *d->summary)
		return d->summary;
	return s->skill ? arena_printf(a, "%s: %s", s->skill, s->label) : s->label;
}

static const char *metadata_of(struct arena *a, const struct delivery_row *d)
{
	struct buf b;

	buf_init(&b, 4096);
	buf_printf(&b, "{\"integration_id\":\"%s\",\"delivery\":\"%s\",\"delivery_id\":",
		d->integration_id, d->id);
	json_write_string(&b, d->delivery_id, strlen(d->delivery_id));
	if (d->event) {
		buf_lit(&b, ",\"event\":");
		json_write_string(&b, d->event, strlen(d->event));
	}
	buf_putc(&b, '}');
	return arena_take(a, &b);
}

/* Opens the session, says what came, sets the agent to work. */
static int begin_hook_session(struct delivering *v, struct db *db, struct delivery_row *d,
	const struct hook_source_row *s, const char **ret_session)
{
	struct arena *a = &v->arena;
	bool service = s->provider < WEBHOOK_SERVICES;
	const struct hook_said said = { .source = service ? webhook_providers[s->provider].title
							  : NULL,
		.label = s->label,
		.skill = s->skill,
		.instructions = s->instructions,
		.digest = summarize_event(a, d, s),
		.body = d->body };
	struct session_new in = { .tenant_id = d->tenant_id,
		.agent_id = s->agent_id,
		.origin = "webhook",
		.title = title_of(a, d, s),
		.metadata = metadata_of(a, d),
		.now = v->now };
	const struct session_actor as = { .hook_id = d->integration_id };
	struct session_words words = {
		.tenant_id = d->tenant_id, .by = as, .role = "user", .now = v->now
	};
	const struct IntegrationGuardrails *rails = hook_rails(v->post->patterns, a, s->guardrails);
	struct run_options options = { .temperature = __builtin_nan(""),
		.top_p = __builtin_nan(""),
		.queued = true,
		.background = true,
		.any_hour = rails->working_hours == HoursRule_ignore,
		.refuses = rails->budget == BudgetRule_refuse ? RUN_REFUSES_BUDGET : 0 };
	const char *message_id, *run_id;
	struct actor actor;
	int err = actor_of_hook(
		db, a, d->tenant_id, s->agent_id, d->integration_id, v->now, &actor, &v->problem);

	if (!err)
		err = session_open(db, a, &in, ret_session, &v->problem);
	if (err)
		return err;
	hook_text(a, &said, &words.content, &options.additional_instructions);
	words.session_id = *ret_session;
	err = session_say(db, a, &words, &message_id, &v->problem);
	if (!err)
		err = session_start(db, a, d->tenant_id, *ret_session, &as, &options, false, v->now,
			&run_id, &v->problem);
	return err;
}

static int note_undelivered(struct delivering *v, struct db *db, int status, const char *why)
{
	const struct job *job = v->job;
	int err = db_put(db, &sql[NOT_DELIVERED],
		&(struct delivery_row){ .tenant_id = job->tenant_id,
			.integration_id = v->integration_id,
			.id = job->subject,
			.status = status,
			.attempts = job->attempts,
			.error = why });

	if (err || status != DeliveryStatus_failed)
		return err;
	return feed_changed(db, &v->arena, job->tenant_id,
		&(struct ChangeEvent){
			.resource = "delivery", .id = job->subject, .action = "delivery.fail" },
		v->now);
}

static int condemn_delivery(struct delivering *v, struct db *db)
{
	int err = note_undelivered(v, db, DeliveryStatus_failed, v->job->condemned);

	return err ? err : job_condemn(db, v->job, v->now);
}

static int deliver_run(struct work *w, struct db *db)
{
	struct delivering *v = (struct delivering *)w;
	const struct job *job = v->job;
	struct delivery_row d;
	struct hook_source_row s;
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
	/* One that failed with its process may be tried again by hand. */
	if (d.status != DeliveryStatus_accepted && d.status != DeliveryStatus_failed)
		return job_finish(db, job, v->now);
	if (job->condemned)
		return condemn_delivery(v, db);
	err = begin_hook_session(v, db, &d, &s, &session);
	if (err)
		return err;
	d.attempts = job->attempts;
	d.delivered_at = v->now;
	d.made_session_id = session;
	err = db_put(db, &sql[DELIVERED], &d);
	return err ? err : job_finish(db, job, v->now);
}

/* ---- refused: later again, or never ---- */

static const char *delivery_reason(const struct delivering *v)
{
	return v->problem.detail ? v->problem.detail : error_row(v->problem.err)->title;
}

static int put_off_run(struct work *w, struct db *db)
{
	struct delivering *v = (struct delivering *)w;
	const struct job *job = v->job;
	bool last = job->attempts >= JOB_ATTEMPTS || v->problem.err == ERR_NOT_FOUND ||
		    v->problem.err == ERR_INVALID || v->problem.err == ERR_FORBIDDEN ||
		    v->problem.err == ERR_SUSPENDED;
	int err;

	v->now = clock_now_us();
	err = job_still_mine(db, job, v->now);
	if (!err)
		err = note_undelivered(v, db,
			last ? DeliveryStatus_failed : DeliveryStatus_accepted, delivery_reason(v));
	if (err)
		return err;
	return last ? job_finish(db, job, v->now)
		    : job_requeue(db, job, 0, true, delivery_reason(v), v->now);
}

/* The one that waits longest takes its place, and so on until one is under way. */
static void delivery_over(struct delivering *v, int err)
{
	while (v) {
		struct hook_post *post = v->post;
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
		err = v ? store_submit(v->post->store, &v->work) : 0;
		if (!err)
			return;
	}
}

static void put_off_done(struct work *w, int err)
{
	delivery_over((struct delivering *)w, err);
}

static void deliver_done(struct work *w, int err)
{
	struct delivering *v = (struct delivering *)w;

	if (!err || !v->problem.err || v->problem.err != err) {
		delivery_over(v, err);
		return;
	}
	v->work.run = put_off_run;
	v->work.done = put_off_done;
	err = store_submit(v->post->store, &v->work);
	if (err)
		delivery_over(v, err);
}

/* True if it may go on at once. */
static bool join_delivery_queue(struct hook_post *post, struct delivering *v)
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

static void begin_delivery(void *ctx, struct job *job)
{
	struct delivering *v = calloc(1, sizeof *v);
	const struct json_node *n;
	int err;

	if (!v) {
		job_over(job, ERR_BUSY);
		return;
	}
	v->post = ctx;
	v->job = job;
	n = json_tree(&v->arena, job->payload, strlen(job->payload), NULL, NULL);
	v->integration_id = n ? json_tree_text(n, "integration_id") : NULL;
	v->integration_id = v->integration_id ? v->integration_id : "";
	v->work = (struct work){ .run = deliver_run, .done = deliver_done, .mode = READ_WRITE };
	if (!join_delivery_queue(v->post, v))
		return;
	err = store_submit(v->post->store, &v->work);
	if (err)
		delivery_over(v, err);
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

struct job_kind hook_deliver_kind(
	struct hook_post *post, struct store *store, const struct patterns *patterns)
{
	post->store = store;
	post->patterns = patterns;
	return (struct job_kind){ .name = DELIVERY_JOB,
		.begin = begin_delivery,
		.condemned = begin_delivery,
		.ctx = post };
}
