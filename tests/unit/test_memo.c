/* test_memo.c - what a writer remembers within its transaction: which statements may be, and when an answer is over. */
#include "fixture.h"

#include "api/people/new_user.h"
#include "store/postgres_memo.h"

static struct memo *named_memo(void)
{
	struct memo *m = memo_new();

	memo_name(m, "agent_rows", NULL);
	memo_name(m, "jobs", NULL);
	memo_name(m, "members", NULL);
	memo_name(m, "users", NULL);
	memo_name(m, "agents",
		"SELECT agent_rows.id FROM agent_rows WHERE agent_rows.gone_at IS NULL");
	return m;
}

TEST(memo_knows_what_a_statement_does)
{
	static const struct {
		const char *sql;
		bool pure, sweeps;
	} cases[] = {
		{ "select id from agents where id = $1", true, false },
		{ "  SELECT count(*) from users", true, false },
		{ "select id from agents for update", false, false },
		{ "select 1 from jobs where id = $1", false, false },
		{ "select pg_notify($1, $2)", false, false },
		{ "select nextval('x')", false, false },
		{ "select now(), id from users", false, false },
		{ "insert into users (id) values ($1)", false, false },
		{ "update members set role = $1", false, false },
		{ "delete from users where id = $1", false, true },
		{ "with x as (select 1) select 1 from x", false, true },
		{ "rollback to w", false, true },
		{ "", false, true },
	};
	struct memo *m = named_memo();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct statement_sense s = memo_sense(m, cases[i].sql);

		test_step("%s", cases[i].sql);
		CHECK_INT(s.pure, cases[i].pure);
		CHECK_INT(s.sweeps, cases[i].sweeps);
	}
	test_step("without names");
	CHECK(!memo_sense(NULL, "select 1").pure);
	memo_free(m);
}

/* Every pair of a question and a change: the answer is kept exactly where the change cannot reach it. */
TEST(memo_forgets_what_a_change_may_reach)
{
	static const char *const asked[] = { "select name from users where id = $1",
		"select id from agents where id = $1",
		"select a.id from agent_rows a where id = $1",
		"select u.id from users u join members m on m.user_id = u.id where u.id = $1",
		"select 'users' from members where id = $1" };
	static const struct {
		const char *sql;
		bool kept[5];
	} changes[] = {
		{ "update users set name = $1", { false, true, true, false, true } },
		{ "insert into agent_rows (id) values ($1)", { true, false, false, true, true } },
		{ "insert into members select id from users", { true, true, true, false, false } },
		{ "delete from jobs", { false, false, false, false, false } },
		{ "select id from users for update", { false, true, true, false, true } },
		{ "select name from users", { true, true, true, true, true } },
	};
	struct memo *m = named_memo();

	for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
		for (size_t i = 0; i < 5; i++) {
			struct statement_sense sense = memo_sense(m, asked[i]);
			struct statement_sense change = memo_sense(m, changes[c].sql);
			PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);

			test_step("%s; %s", asked[i], changes[c].sql);
			CHECK(memo_keep(m, asked[i], &sense, ARGS(T("a")), r));
			CHECK(memo_find(m, asked[i], ARGS(T("a"))) == r);
			CHECK(!memo_find(m, asked[i], ARGS(T("b"))));
			CHECK(!memo_find(m, asked[i], ARGS(T(NULL))));
			CHECK(!memo_find(m, asked[i], ARGS(T("a"), N(1))));
			CHECK(!memo_find(m, asked[(i + 1) % 5], ARGS(T("a"))));
			memo_changes(m, &change);
			CHECK_INT(memo_find(m, asked[i], ARGS(T("a"))) != NULL, changes[c].kept[i]);
			memo_clear(m);
			CHECK(!memo_find(m, asked[i], ARGS(T("a"))));
		}
	}
	memo_free(m);
}

TEST(memo_keeps_nothing_large_and_tells_arguments_apart)
{
	struct memo *m = named_memo();
	struct statement_sense sense = memo_sense(m, "select name from users where id = $1");
	PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	char text[4096];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK(!memo_keep(m, text, &sense, ARGS(T(text)), r));
	CHECK(!memo_keep(m, text, &sense, ARGS(value_bytes("x", 1)), r));
	CHECK(memo_keep(m, text, &sense, ARGS(T("ab"), T("c")), r));
	CHECK(!memo_find(m, text, ARGS(T("a"), T("bc"))));
	CHECK(!memo_find(m, text, ARGS(T("ab"), T("c"), T(""))));
	CHECK(!memo_find(m, text, ARGS(T("ab"), N('c'))));
	CHECK(memo_find(m, text, ARGS(T("ab"), T("c"))) == r);
	memo_free(m);
}

/* Two answers that would have the same place are both kept: with one place for each, some twenty were lost here. */
TEST(memo_keeps_answers_whose_places_meet)
{
	enum { ROUNDS = 10, ANSWERS = 24, LOST_MOST = 7 };
	static const char text[] = "select name from users where id = $1";
	struct memo *m = named_memo();
	struct statement_sense sense = memo_sense(m, text);
	int lost = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < ANSWERS; i++)
			CHECK(memo_keep(m, text, &sense, ARGS(N(round), N(i)),
				PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK)));
		for (int i = 0; i < ANSWERS; i++)
			lost += !memo_find(m, text, ARGS(N(round), N(i)));
		memo_clear(m);
	}
	CHECK(lost <= LOST_MOST);
	memo_free(m);
}

static const struct statement sql[] = {
	{ "memo_count", "select count(*) from users where email_folded <> $1", .scan = "a test" },
	{ "memo_name", "select name as value from users where email_folded = $1",
		.row = &one_text_schema },
	{ "memo_rename", "update users set name = $2 where email_folded = $1" },
	{ "memo_logins", "select count(*) from logins where hash <> $1", .scan = "a test" },
	{ "memo_login", "insert into logins (hash, user_id, created_at, expires_at, last_used_at) "
			"values ($1, $2, 1, 2, 1)" },
	{ "memo_delete", "delete from users where email_folded = $1" },
};
enum { COUNT, NAME_OF, RENAME, LOGINS, LOGIN, DELETE };

static int64_t counted(struct db *db, int which)
{
	int64_t n = NIL;

	CHECK_INT(db_int(db, &sql[which], &n, ARGS(T("nobody"))), 0);
	return n;
}

static int look_and_change(struct db *db, void *data)
{
	struct arena a = { 0 };
	struct one_text row;
	int64_t users = counted(db, COUNT), logins = counted(db, LOGINS);
	const char *id;

	(void)data;
	CHECK_INT(counted(db, COUNT), users);
	CHECK_INT(user_make(db, &a, &(struct new_user){ .email = "m@lodge.test", .name = "One" },
			  &id),
		0);
	CHECK_INT(counted(db, COUNT), users + 1);
	for (int i = 0; i < 3; i++) {
		const char *name = i == 0 ? "One" : i == 1 ? "Two" : "Three";

		CHECK_INT(db_run(db, &sql[RENAME], NULL, ARGS(T("m@lodge.test"), T(name))), 0);
		for (int k = 0; k < 2; k++) {
			CHECK_INT(db_one(db, &a, &sql[NAME_OF], &row, ARGS(T("m@lodge.test"))), 0);
			CHECK_STR(row.value, name);
		}
	}
	CHECK_INT(counted(db, LOGINS), logins);
	CHECK_INT(db_run(db, &sql[LOGIN], NULL, ARGS(T("a hash"), T(id))), 0);
	CHECK_INT(counted(db, LOGINS), logins + 1);
	CHECK_INT(db_run(db, &sql[DELETE], NULL, ARGS(T("m@lodge.test"))), 0);
	CHECK_INT(counted(db, COUNT), users);
	CHECK_INT(counted(db, LOGINS), logins); /* what went with them */
	CHECK_INT(db_one(db, &a, &sql[NAME_OF], &row, ARGS(T("m@lodge.test"))), ERR_NOT_FOUND);
	arena_free(&a);
	return ERR_NOT_FOUND; /* and nothing of it stays */
}

/* On whichever engine: a writer reads what it has written. */
TEST(memo_of_a_writer_is_never_older_than_its_changes)
{
	struct fixture *f = fixture_open();

	for (int i = 0; i < 3; i++) {
		test_step("run %d", i);
		CHECK_INT(fixture_work(f, look_and_change, NULL), ERR_NOT_FOUND);
	}
	CHECK_INT(fixture_count(f, "select count(*) from users"), 1);
	fixture_close(f);
}
