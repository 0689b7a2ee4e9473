/* test_session_state.c - the tables of states, and that nothing happens outside them whatever is done. */
#include <stdlib.h>
#include <unistd.h>

#include "sessions/state.h"
#include "turn_fixture.h"

TEST(session_states_have_ways_in_and_ways_out)
{
	for (int to = 0; to < SESSION_STATES; to++) {
		int in = 0, out = 0;

		for (int other = 0; other < SESSION_STATES; other++) {
			in += session_may_move(other, to);
			out += session_may_move(to, other);
		}
		CHECK(in > 0 && out > 0);
		CHECK(!session_may_move(to, to));
		CHECK(!session_state_ended(to) || out == 1);
	}
	CHECK(!session_may_move(-1, 0) && !session_may_move(0, SESSION_STATES));
	for (int from = 0; from < RUN_STATES; from++)
		for (int to = 0; to < RUN_STATES; to++)
			CHECK(!run_may_move(from, to) || !run_state_ended(from));
	for (int from = 0; from < CALL_STATES; from++)
		for (int to = 0; to < CALL_STATES; to++)
			CHECK(!call_may_move(from, to) || !call_state_ended(from));
}

/* Anything in any order, also while agents are at work: the log shows moves of the table and no others. */
TEST(session_states_move_by_the_table_whatever_is_done)
{
	enum { SESSIONS = 6, DEEDS = 240 };
	static const char *const words[] = { "count to 3",
		"use tool calculator with {\"expression\":\"1+2\"}", "use tool time",
		"use tool calculator with {}",
		"use tool subtask with {\"title\":\"S\",\"message\":\"use tool time\"}" };
	static const char *const tools[] = { "calculator", "time", "subtask", NULL };
	const char *ids[SESSIONS];
	unsigned seed = 20261115;
	struct turn_fixture s;

	turn_open(&s, tools);
	fixture_sql(s.f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	for (int i = 0; i < SESSIONS; i++) {
		turn_session(&s);
		ids[i] = s.session_id;
	}
	for (int i = 0; i < DEEDS; i++) {
		int deed = rand_r(&seed) % 10, err;

		s.session_id = ids[rand_r(&seed) % SESSIONS];
		test_step("deed %d: %d", i, deed);
		err = deed < 5	 ? turn_say(&s, words[rand_r(&seed) % 5])
		      : deed < 6 ? turn_start(&s, NULL)
		      : deed < 8 ? turn_decide(&s, rand_r(&seed) & 1)
				 : turn_cancel(&s);
		CHECK(err == 0 || err == ERR_CONFLICT || err == ERR_NOT_FOUND);
		usleep(rand_r(&seed) % 2000);
	}
	/* Whatever waits is decided, and all come to an end. */
	for (int i = 0; i < SESSIONS; i++) {
		s.session_id = ids[i];
		turn_cancel(&s);
	}
	turn_await_count(&s, "select count(*) from jobs", 0);
	turn_await_count(&s,
		"select count(*) from sessions where job_id is not null or status in ('running', 'waiting_approval')",
		0);
	CHECK_INT(turn_count(&s, "select count(*) from session_calls where ended_at is null"), 0);
	CHECK_INT(turn_count(&s, "select count(*) from session_runs where ended_at is null"), 0);
	CHECK_INT(turn_count(&s, "select count(*) from messages where status = 'streaming'"), 0);
	for (int i = 0; i < SESSIONS; i++) {
		s.session_id = ids[i];
		turn_check_events(&s);
	}
	turn_close(&s);
}
