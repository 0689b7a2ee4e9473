/* session_wait.c - what others say while a run is under way.
 *
 * A run has the rights of the one who began it, and a message that it hears
 * makes use of them.  So it hears its own actor's words and nobody else's:
 * another's message waits, with a run of its own, and is read by the model
 * after all that was said before that run began. */
#include <string.h>

#include "base/same.h"
#include "sessions/session_tx.h"

#define QUEUED "The run under way is another's; what was said is heard when that has ended."
#define CANCELLED "A run that waited was cancelled."

enum { WAIT_RUNS_MOST = SESSION_WAITING_MAX + 1 };

enum { RUN_ADD, RUNS_WAITING, RUN_CANCEL, WORDS_WAITING, WORDS_FOR_RUN, WORDS_OF_RUN, WORDS_HEARD };

struct waiting_run {
	const char *id, *user_id, *key_id, *hook_id;
	int64_t priority;
};

FIELDS(waiting_run) = {
	FIELD(waiting_run, id),
	FIELD(waiting_run, user_id, .nullable = true),
	FIELD(waiting_run, key_id, .nullable = true),
	FIELD(waiting_run, hook_id, .nullable = true),
	FIELD(waiting_run, priority),
};
static SCHEMA(waiting_run, .internal = true);

#define OF_SESSION "tenant_id = $1 and session_id = $2"

static const struct statement sql[] = {
	[RUN_ADD] = { "session_run_add", "insert into session_runs ({*}) values ({$})",
		.row = &run_row_schema },
	/* $3 the one under way, which may be queued as well */
	[RUNS_WAITING] = { "session_runs_waiting",
		"select {*} from session_runs where " OF_SESSION
		" and status = 'queued' and id <> $3 order by id limit $4",
		.row = &waiting_run_schema },
	[RUN_CANCEL] = { "session_run_cancel",
		"update session_runs set status = 'cancelled', ended_at = $4 where " OF_SESSION
		" and id = $3 and status = 'queued'" },
	/* $3 z, or z and a run: all from there on that begin with it */
	[WORDS_WAITING] = { "session_words_waiting",
		"select id as value from messages where " OF_SESSION
		" and heard_id is not null and heard_id >= $3 and heard_id <= $4 order by id limit 1000",
		.row = &one_text_schema },
	[WORDS_FOR_RUN] = { "session_words_for_run",
		"update messages set heard_id = $3 where " OF_SESSION
		" and heard_id = 'z' and coalesce(author_id, '') = coalesce($4, '')" },
	[WORDS_OF_RUN] = { "session_words_of_run",
		"update messages set heard_id = $4 where " OF_SESSION " and heard_id = $3" },
	[WORDS_HEARD] = { "session_words_heard",
		"update messages set heard_id = $4 where " OF_SESSION " and id = $3" },
};
STATEMENT_SET(session_wait_sql, sql);

static bool is_actor(const struct session_actor *as, const char *user_id, const char *key_id,
	const char *hook_id)
{
	return same_text(as->user_id, user_id) && same_text(as->key_id, key_id) &&
	       same_text(as->hook_id, hook_id);
}

int session_is_theirs(struct session_tx *p, const struct session_actor *as, bool *ret)
{
	int err = tx_run(p);

	*ret = !err && p->has_run && is_actor(as, p->run.user_id, p->run.key_id, p->run.hook_id);
	return err;
}

int session_run_add(struct session_tx *p, const char *run_id, const struct session_actor *as,
	const struct run_order *asked)
{
	return db_put(p->db, &sql[RUN_ADD],
		&(struct run_row){ .tenant_id = p->tenant_id,
			.session_id = p->session_id,
			.id = run_id,
			.user_id = as->user_id,
			.key_id = as->key_id,
			.hook_id = as->hook_id,
			.model_id = asked->model_id,
			.status = RUN_STATE_QUEUED,
			.created_at = p->now,
			.started_at = NIL,
			.ended_at = NIL,
			.priority = asked->priority,
			.refuses = asked->refuses,
			.admitted = asked->admitted,
			.options = asked->options });
}

static int runs_waiting(struct session_tx *p, struct list *ret)
{
	return db_all(p->db, p->a, &sql[RUNS_WAITING], ret, WAIT_RUNS_MOST,
		ARGS(T(p->tenant_id), T(p->session_id), T(p->row.run_id), N(WAIT_RUNS_MOST)));
}

/* A notice that names the run, for it is not the one whose status the session tells. */
static int tell_waiting(
	struct session_tx *p, const char *run_id, const char *code, const char *text)
{
	const struct NoticeEvent event = {
		.code = code, .text = text, .run_id = run_id, .at = { p->now }
	};

	return tx_tell(p, NOTICE, &event);
}

int session_wait(struct session_tx *p, const struct session_actor *as,
	const struct run_order *asked, const char **ret_run_id, struct problem *problem)
{
	const struct waiting_run *run;
	struct id id = id_new(NULL);
	struct list runs;
	int err = runs_waiting(p, &runs);

	run = runs.at;
	*ret_run_id = NULL;
	for (size_t i = 0; !err && i < runs.count; i++)
		if (is_actor(as, run[i].user_id, run[i].key_id, run[i].hook_id))
			*ret_run_id = run[i].id;
	if (!err && !*ret_run_id && runs.count >= SESSION_WAITING_MAX)
		return problem_set(problem, p->a, ERR_CONFLICT,
			"%d others wait in this session for the run under way to end.",
			SESSION_WAITING_MAX);
	if (!err && !*ret_run_id) {
		*ret_run_id = arena_strdup(p->a, id.text);
		err = session_run_add(p, *ret_run_id, as, asked);
		if (!err)
			err = tell_waiting(p, *ret_run_id, "queued", QUEUED);
	}
	return err ? err
		   : db_run(p->db, &sql[WORDS_FOR_RUN], NULL,
			     ARGS(T(p->tenant_id), T(p->session_id),
				     T(arena_printf(p->a, HEARD_LATER "%s", *ret_run_id)),
				     T(as->user_id)));
}

int session_hear_waiting(struct session_tx *p, const char *run_id)
{
	const char *from = run_id ? arena_printf(p->a, HEARD_LATER "%s", run_id) : HEARD_LATER;
	const char *to = run_id ? from : HEARD_LATER "~";
	struct list words;
	int err = db_all(p->db, p->a, &sql[WORDS_WAITING], &words, 1000,
		ARGS(T(p->tenant_id), T(p->session_id), T(from), T(to)));

	for (size_t i = 0; !err && i < words.count; i++)
		err = db_run(p->db, &sql[WORDS_HEARD], NULL,
			ARGS(T(p->tenant_id), T(p->session_id),
				T(((const struct one_text *)words.at)[i].value), T(tx_next_id(p))));
	return err;
}

int session_next(const struct session_tx *ended)
{
	const struct waiting_run *run;
	struct list runs;
	struct session_tx p;
	int err = tx_open(
		&p, ended->db, ended->a, ended->tenant_id, ended->session_id, ended->now, NULL);

	if (err ||
		session_at_work(&p.row)) /* it is gone, or its parent's end has opened it again */
		return err == ERR_NOT_FOUND ? 0 : err;
	if (!p.row.run_id)
		return 0;
	err = runs_waiting(&p, &runs);
	if (err || !runs.count)
		return err;
	run = runs.at;
	p.row.run_id = run->id;
	p.row.error = NULL;
	p.row.job_id = NULL;
	p.priority = run->priority;
	err = session_hear_waiting(&p, run->id);
	if (!err)
		err = tx_job(&p);
	if (!err)
		err = tx_move(&p, SESSION_STATE_PENDING);
	return err ? err : tx_close(&p);
}

static int cancel_waiting(struct session_tx *p, const char *run_id)
{
	int err = db_run(p->db, &sql[RUN_CANCEL], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(run_id), N(p->now)));

	return err ? err : tell_waiting(p, run_id, NOTICE_RUN_CANCELLED, CANCELLED);
}

int session_wait_cancel(struct session_tx *p)
{
	const struct waiting_run *run;
	struct list runs;
	int err = runs_waiting(p, &runs);

	run = runs.at;
	for (size_t i = 0; !err && i < runs.count; i++)
		err = cancel_waiting(p, run[i].id);
	return err ? err : session_hear_waiting(p, NULL);
}

int session_wait_cancel_one(struct session_tx *p, const char *run_id)
{
	const struct waiting_run *run;
	struct list runs;
	bool waits = false;
	int err = runs_waiting(p, &runs);

	run = runs.at;
	for (size_t i = 0; !err && i < runs.count; i++)
		waits |= strcmp(run[i].id, run_id) == 0;
	if (err || !waits)
		return err ? err : ERR_NOT_FOUND;
	err = cancel_waiting(p, run_id);
	if (!err)
		err = db_run(p->db, &sql[WORDS_OF_RUN], NULL,
			ARGS(T(p->tenant_id), T(p->session_id),
				T(arena_printf(p->a, HEARD_LATER "%s", run_id)), T(HEARD_LATER)));
	return err;
}
