/* test_check.c - what must hold and does not ends the process, with the place and the condition, in every build. */
#include "t.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "broker/completion_parts.h"
#include "http/loop.h"
#include "sessions/turn.h"

/* What the deed says on its way out; "" if it comes back. */
static const char *last_words(void (*deed)(void))
{
	static char said[1024];
	size_t len = 0;
	ssize_t n;
	int ends[2], status;
	pid_t child;

	CHECK(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		deed();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + len, sizeof said - 1 - len)) > 0)
		len += (size_t)n;
	close(ends[0]);
	said[len] = '\0';
	CHECK(waitpid(child, &status, 0) == child);
	CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) || !len);
	return said;
}

static void hold(void)
{
	INVARIANT(1 + 1 == 2);
}

static void break_one(void)
{
	INVARIANT(1 + 1 == 3);
}

static void ask_after_the_end(void)
{
	struct completion r = { .stage = COMPLETION_OVER };

	completion_move_locked(&r, COMPLETION_ASKING);
}

static void settle_what_is_not_reserved(void)
{
	struct completion r = { .reservation = COMPLETION_UNRESERVED };

	completion_money_move(&r, COMPLETION_SETTLING);
}

static void step_after_the_last(void)
{
	struct turn t = { .stage = TURN_LEFT };

	turn_move(&t, TURN_AT_STEP);
}

static void write_two_pieces_at_once(void)
{
	struct turn t = { .flow.state = FLOW_WRITING };

	turn_flow(&t, FLOW_WRITING);
}

static void put_a_page_back_twice(void)
{
	struct http_loop l = { .page_size = 64 };
	struct http_page *p = http_page_take(&l);

	http_page_put(&l, p);
	http_page_put(&l, p);
}

static void grow_a_broken_buffer(void)
{
	struct buf b = { .len = 9, .cap = 8, .max = 100 };

	buf_grow(&b, 1);
}

TEST(check_ends_the_process_with_place_and_condition)
{
	static const struct {
		void (*deed)(void);
		const char *file, *condition;
	} cases[] = {
		{ break_one, "test_check.c:", "1 + 1 == 3" },
		{ ask_after_the_end, "src/broker/completion_state.c:", "stage_moves" },
		{ settle_what_is_not_reserved, "src/broker/completion_state.c:", "money_moves" },
		{ step_after_the_last, "src/sessions/turn_state.c:", "turn_moves" },
		{ write_two_pieces_at_once, "src/sessions/turn_state.c:", "flow_moves" },
		{ put_a_page_back_twice, "src/http/exchange.c:", "page_size" },
		{ grow_a_broken_buffer, "src/base/buf.c:", "b->len <= b->cap" },
	};

	CHECK_STR(last_words(hold), "");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *said = last_words(cases[i].deed);

		test_step("%s", cases[i].condition);
		CHECK(strstr(said, cases[i].file) != NULL);
		CHECK(strstr(said, cases[i].condition) != NULL);
	}
}

static void *touch(void *owner)
{
	return thread_owner_is(owner) ? owner : NULL;
}

static bool may_another(struct thread_owner *o)
{
	pthread_t other;
	void *may = NULL;

	CHECK(pthread_create(&other, NULL, touch, o) == 0);
	pthread_join(other, &may);
	return may != NULL;
}

TEST(check_knows_whose_thread_it_is)
{
	struct thread_owner o = { 0 };

	CHECK(thread_owner_is(&o));
	CHECK(may_another(&o));
	thread_owner_claim(&o);
	CHECK(thread_owner_is(&o));
	CHECK(!may_another(&o));
	thread_owner_leave(&o);
	CHECK(may_another(&o));
}
