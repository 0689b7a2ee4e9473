/* test_run_cancel.c - one run is cancelled by its id, in every way there is, whichever place it has in its session: that run
 * ends, those who follow it learn of it, and the others do as if it had never been there. */
#include "turn_fixture.h"

#define TOOLS(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum { RUNS = 3 };

struct queue_of_runs {
	struct turn_fixture s;
	struct session_actor as[RUNS];
	const char *tokens[RUNS], *runs[RUNS];
};

/* Three people: the first one's run waits for a word, those of the others for its end. */
static void line_up(struct queue_of_runs *q)
{
	static const char *const says[RUNS] = { "use tool time", "count to 4", "count to 6" };

	turn_session(&q->s);
	for (int i = 0; i < RUNS; i++) {
		q->s.as = q->as[i];
		CHECK_INT(turn_say(&q->s, says[i]), 0);
		q->runs[i] = q->s.run_id;
		if (!i)
			turn_await(&q->s, "waiting_approval");
	}
}

static void open_queue(struct queue_of_runs *q)
{
	struct fixture *f;

	turn_open(&q->s, TOOLS("time", "subtask"));
	f = q->s.f;
	fixture_sql(f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	for (int i = 0; i < RUNS; i++) {
		q->as[i] = (struct session_actor){
			.user_id = fixture_user(
				f, arena_printf(&f->arena, "p%d@example.org", i), &q->tokens[i])
		};
		fixture_member(f, f->tenant_id, q->as[i].user_id, "ADMIN");
	}
}

/* ---- the ways to say it ---- */

static struct answer by_session(struct queue_of_runs *q, int i)
{
	return ask(q->s.f, q->tokens[i],
		arena_printf(&q->s.f->arena, "{\"run_id\":\"%s\"}", q->runs[i]),
		"POST /sessions/%s/cancel", q->s.session_id);
}

static struct answer by_openai(struct queue_of_runs *q, int i)
{
	return ask(q->s.f, q->tokens[i], NULL, "POST /v1/threads/%s/runs/%s/cancel",
		q->s.session_id, q->runs[i]);
}

static struct answer (*const ways[])(struct queue_of_runs *q, int i) = { by_session, by_openai };
enum { WAYS = sizeof ways / sizeof *ways };

static const char *run_status(struct queue_of_runs *q, int i)
{
	return turn_text(&q->s,
		arena_printf(&q->s.f->arena,
			"select status as value from session_runs where session_id = %%s and id = '%s'",
			q->runs[i]));
}

/* By the status of the session, of which it was the first run; else by a notice. */
static int64_t told_cancelled(struct queue_of_runs *q, int i)
{
	return turn_count(&q->s,
		arena_printf(&q->s.f->arena,
			"select count(*) from session_events where session_id = %%s and data like "
			"'%%\"%s\"%%' and data like '%%\"run_id\":\"%s\"%%'",
			i ? "run_cancelled" : "cancelled", q->runs[i]));
}

static bool has_answer(const char *told, const char *words)
{
	const char *at = strstr(told, words);

	for (; at; at = strstr(at + 1, words))
		if (at[strlen(words)] == '\0' || strncmp(at + strlen(words), " |", 2) == 0)
			return true;
	return false;
}

TEST(run_cancel_ends_that_run_and_no_other)
{
	struct queue_of_runs q;

	open_queue(&q);
	for (int way = 0; way < WAYS; way++)
		for (int i = 0; i < RUNS; i++) {
			struct answer r;
			const char *told;

			test_step("way %d, run %d", way, i);
			line_up(&q);
			r = ways[way](&q, i);
			STATUS(r, 200);
			CHECK_STR(run_status(&q, i), "cancelled");
			CHECK_INT(told_cancelled(&q, i), 1);
			/* once is enough */
			r = ways[way](&q, i);
			CHECK_INT(r.status, ways[way] == by_openai ? 400 : 409);
			if (i) {
				CHECK_STR(run_status(&q, 0), "in_progress");
				q.s.as = q.as[0];
				CHECK_INT(turn_decide(&q.s, true), 0);
			}
			turn_await_count(&q.s,
				"select count(*) from session_runs where session_id = %s and status = "
				"'completed'",
				RUNS - 1);
			turn_await(&q.s, "completed");
			told = turn_transcript(&q.s);
			CHECK_INT(has_answer(told, "1 2 3 4"), i != 1);
			CHECK_INT(has_answer(told, "1 2 3 4 5 6"), i != 2);
			turn_check_events(&q.s);
		}
	turn_close(&q.s);
}

/* What was said for it is no run's that was there; its author's next one reads it. */
TEST(run_cancel_leaves_what_was_said_to_its_author)
{
	struct queue_of_runs q;

	open_queue(&q);
	line_up(&q);
	STATUS(by_session(&q, 1), 200);
	CHECK_INT(turn_count(&q.s, "select count(*) from messages where session_id = %s and "
				   "heard_id = 'z'"),
		1);
	q.s.as = q.as[1];
	CHECK_INT(turn_say(&q.s, "count to 5"), 0);
	CHECK_INT(turn_count(&q.s, "select count(*) from messages where session_id = %s and "
				   "heard_id = 'z'"),
		0);
	CHECK_INT(turn_count(&q.s, arena_printf(&q.s.f->arena,
					   "select count(*) from messages where session_id = %%s "
					   "and heard_id = 'z%s'",
					   q.s.run_id)),
		2);
	q.s.as = q.as[0];
	CHECK_INT(turn_decide(&q.s, false), 0);
	turn_await_count(&q.s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		3);
	turn_await(&q.s, "completed");
	CHECK_INT(turn_count(&q.s, "select count(*) from messages where session_id = %s and "
				   "heard_id >= 'z'"),
		0);
	turn_close(&q.s);
}

/* A run ends with what it gave away; what people gave away is theirs. */
TEST(run_cancel_ends_the_subtasks_of_the_run_alone)
{
	struct queue_of_runs q;
	struct answer r;
	const char *mine;

	open_queue(&q);
	q.s.as = q.as[0];
	CHECK_INT(turn_say(&q.s, "use tool subtask with "
				 "{\"title\":\"t\",\"message\":\"use tool time\"}"),
		0);
	q.runs[0] = q.s.run_id;
	turn_await_count(&q.s,
		"select count(*) from sessions where parent_session_id = %s and "
		"status = 'waiting_approval'",
		1);
	r = ask(q.s.f, q.tokens[1], "{\"title\":\"mine\",\"message\":\"use tool time\"}",
		"POST /sessions/%s/subtasks", q.s.session_id);
	STATUS(r, 201);
	mine = text_at(&r, "id");
	turn_await_count(&q.s,
		"select count(*) from sessions where parent_session_id = %s and "
		"status = 'waiting_approval'",
		2);
	STATUS(by_session(&q, 0), 200);
	CHECK_INT(turn_count(&q.s, "select count(*) from sessions where parent_session_id = %s and "
				   "status = 'cancelled'"),
		1);
	r = ask(q.s.f, q.tokens[1], NULL, "GET /sessions/%s", mine);
	CHECK_STR(text_at(&r, "status"), "waiting_approval");
	/* all of it */
	CHECK_INT(turn_say(&q.s, "use tool time"), 0);
	turn_await(&q.s, "waiting_approval");
	CHECK_INT(turn_cancel(&q.s), 0);
	r = ask(q.s.f, q.tokens[1], NULL, "GET /sessions/%s", mine);
	CHECK_STR(text_at(&r, "status"), "cancelled");
	turn_close(&q.s);
}

TEST(run_cancel_of_a_session_tells_those_that_wait)
{
	struct queue_of_runs q;
	struct answer r;

	open_queue(&q);
	line_up(&q);
	r = ask(q.s.f, q.tokens[0], "{\"run_id\":\"c0000000000000000000000000\"}",
		"POST /sessions/%s/cancel", q.s.session_id);
	CHECK(r.status == 404 || r.status == 422);
	STATUS(ask(q.s.f, q.tokens[0], "{}", "POST /sessions/%s/cancel", q.s.session_id), 200);
	for (int i = 0; i < RUNS; i++) {
		CHECK_STR(run_status(&q, i), "cancelled");
		CHECK_INT(told_cancelled(&q, i), 1);
	}
	turn_await(&q.s, "cancelled");
	turn_close(&q.s);
}

/* A response is cancelled while another's message waits in its session. */
TEST(run_cancel_of_a_response_lets_others_go_on)
{
	struct queue_of_runs q;
	struct turn_fixture *s = &q.s;
	struct answer r;
	const char *id, *other;

	turn_open_mock(s, (const char *const[]){ "slow-20000", NULL }, TOOLS("time"));
	r = ask(s->f, s->f->admin,
		arena_printf(&s->f->arena, "{\"model\":\"%s\",\"input\":\"x\",\"background\":true}",
			s->agent_id),
		"POST /v1/responses");
	STATUS(r, 200);
	id = text_at(&r, "id");
	s->session_id = turn_text(s,
		arena_printf(&s->f->arena,
			"select session_id as value from responses where id = '%s' and %%s <> ''",
			id));
	other = fixture_user(s->f, "other@example.org", NULL);
	fixture_member(s->f, s->f->tenant_id, other, "ADMIN");
	s->as = (struct session_actor){ .user_id = other };
	CHECK_INT(turn_say(s, "x"), 0);
	q.runs[0] = s->run_id;
	CHECK_STR(run_status(&q, 0), "queued");
	r = ask(s->f, s->f->admin, NULL, "POST /v1/responses/%s/cancel", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "cancelled");
	turn_await(s, "running");
	CHECK_STR(run_status(&q, 0), "in_progress");
	CHECK_STR(turn_text(s, "select run_id as value from sessions where id = %s"), q.runs[0]);
	CHECK_INT(turn_cancel(s), 0);
	turn_close(s);
}
