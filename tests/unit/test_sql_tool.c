/* test_sql_tool.c - tools of kind sql: what their config may be, and statements in a real PostgreSQL: rows, parameters, limits,
 * and that one which only reads changes nothing, whatever it says. */
#include <errno.h>
#include <libpq-fe.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "fixture.h"
#include "outside/address.h"
#include "outside/sql_wire.h"
#include "outside/tool_config_sql.h"

static const char *sql_made(
	struct fixture *f, const char *name, const char *rest, const char *config)
{
	return fixture_created(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"%s\",\"kind\":\"sql\",\"description\":\"d\"%s,\"config\":%s}",
			name, rest, config),
		"POST /tenant/%s/tools", f->tenant_id);
}

static struct answer sql_refused(struct fixture *f, const char *rest, const char *config)
{
	return ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"db\",\"kind\":\"sql\",\"description\":\"d\"%s,\"config\":%s}",
			rest, config),
		"POST /tenant/%s/tools", f->tenant_id);
}

/* ---- its config ---- */

TEST(sql_tool_address_is_read_or_refused)
{
	static const struct {
		const char *url, *fault;
	} cases[] = {
		{ "postgres://u:p@db.example.org/shop", NULL },
		{ "postgresql://u@db.example.org:6543/shop?sslmode=require", NULL },
		{ "postgres://u:p%40x@[2001:4860:4860::8888]/shop", NULL },
		{ "https://db.example.org/shop", "must be postgres://" },
		{ "postgres://db.example.org/shop", "names no user" },
		{ "postgres://u@/shop", "" },
		{ "postgres:///u:p@db.example.org/shop", "must be postgres://" },
		{ "postgres://u:p\\@db.example.org/shop", "must be postgres://" },
		{ "postgres://u@db.example.org", "names no database" },
		{ "postgres://u@db.example.org/a/b", "names no database" },
		{ "postgres://u@%2Ftmp/shop", "" },
		{ "postgres://u@a,b/shop", "" },
		{ "postgres://u@db.example.org/shop?options=-cx", "may end in ?sslmode=" },
		{ "postgres://u@db.example.org/shop?sslmode=prefer", "may end in ?sslmode=" },
		{ "postgres://u@db.example.org/shop?sslmode=require&host=/tmp",
			"may end in ?sslmode=" },
		{ "postgres://u@127.0.0.1/shop", "is of a private address" },
		{ "postgres://u@[::1]/shop", "is of a private address" },
		{ "postgres://u@169.254.169.254/shop", "is of a private address" },
		{ "postgres://u@db.example.org/shop#x", "must not have a fragment" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sql_database d;
		const char *fault = sql_database_read(&a, cases[i].url, EGRESS_PUBLIC, &d);

		test_step("%s", cases[i].url);
		if (!cases[i].fault)
			CHECK_STR(fault ? fault : "sound", "sound");
		else
			CHECK(fault && strstr(fault, cases[i].fault) == fault);
	}
	CHECK_STR(sql_database_masked(&a, "postgres://u:a:b@c@h/d", "*"), "postgres://u:*@h/d");
	CHECK_STR(sql_database_masked(&a, "postgres://u@h/d", "*"), "postgres://u@h/d");
	arena_free(&a);
}

TEST(sql_tool_hides_and_keeps_its_password)
{
	struct fixture *f = fixture_open();
	const char *id = sql_made(
		f, "db", "", "{\"url\":\"postgres://reader:s3cretword@db.example.org/shop\"}");
	struct answer r = ask(f, f->admin, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, id);

	CHECK_STR(text_at(&r, "config.url"), "postgres://reader:********@db.example.org/shop");
	CHECK_STR(text_at(&r, "grantable_by"), "admins");
	CHECK(at(&r, "input_schema.properties.sql"));
	r = ask(f, f->admin,
		"{\"config\":{\"url\":\"postgres://reader:********@db.example.org/other\",\"max_rows\":5}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "config.url"), "postgres://reader:********@db.example.org/other");
	/* not for another host, port or user */
	r = ask(f, f->admin,
		"{\"config\":{\"url\":\"postgres://reader:********@evil.example.org/other\"}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 422);
	CHECK_STR(text_at(&r, "errors.0.code"), "masked");
	r = ask(f, f->admin,
		"{\"config\":{\"url\":\"postgres://owner:********@db.example.org/other\"}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 422);
	/* nor by a way that is less safe */
	r = ask(f, f->admin,
		"{\"config\":{\"url\":\"postgres://reader:********@db.example.org/other?sslmode=require\"}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 422);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs", f->tenant_id);
	CHECK(!strstr(r.body, "s3cretword"));
	fixture_close(f);
}

TEST(sql_tool_that_may_write_is_asked_about)
{
	struct fixture *f = fixture_open();
	const char *writes = "{\"url\":\"postgres://u:p@db.example.org/shop\",\"read_only\":false}";
	struct answer r = sql_refused(f, "", writes);
	const char *id;

	STATUS(r, 422);
	CHECK_STR(text_at(&r, "errors.0.field"), "requires_approval");
	id = sql_made(f, "db", ",\"requires_approval\":true", writes);
	r = ask(f, f->admin, "{\"requires_approval\":false}", "PATCH /tenant/%s/tools/%s",
		f->tenant_id, id);
	STATUS(r, 422);
	r = sql_refused(f, ",\"input_schema\":{\"type\":\"object\"}",
		"{\"url\":\"postgres://u:p@db.example.org/shop\"}");
	STATUS(r, 422);
	CHECK_STR(text_at(&r, "errors.0.field"), "input_schema");
	r = sql_refused(f, "",
		"{\"url\":\"postgres://u:p@db.example.org/shop\",\"statement\":\"select {{x}}\"}");
	STATUS(r, 422);
	CHECK_STR(text_at(&r, "errors.0.field"), "config.statement");
	/* a statement of its own is taken away: it takes any */
	id = sql_made(f, "one",
		",\"input_schema\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}}}",
		"{\"url\":\"postgres://u:p@db.example.org/shop\",\"statement\":\"select {{x}}\"}");
	r = ask(f, f->admin, "{\"config\":{\"url\":\"postgres://u:********@db.example.org/shop\"}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, id);
	STATUS(r, 200);
	CHECK(at(&r, "input_schema.properties.sql") && !at(&r, "input_schema.properties.x"));
	fixture_close(f);
}

/* ---- a real database ---- */

struct sql_case {
	struct fixture *f;
	char *authority; /* 127.0.0.1:PORT/NAME */
};

static void sql_do(const char *statement)
{
	PGconn *c = PQconnectdb(fixture_engine());
	PGresult *r = PQexec(c, statement);

	CHECK(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
	PQclear(r);
	PQfinish(c);
}

static char *sql_value(struct arena *a, const char *statement)
{
	PGconn *c = PQconnectdb(fixture_engine());
	PGresult *r = PQexec(c, statement);
	char *value = arena_strdup(a, PQntuples(r) ? PQgetvalue(r, 0, 0) : "");

	PQclear(r);
	PQfinish(c);
	return value;
}

static void sql_open(struct sql_case *s)
{
	PGconn *c = PQconnectdb(fixture_engine());

	s->f = fixture_open();
	s->f->app.settings.allow_private_addresses = true;
	s->authority = arena_printf(
		&s->f->arena, "%s:%s/%s?sslmode=disable", PQhost(c), PQport(c), PQdb(c));
	PQfinish(c);
	sql_do("set client_min_messages = warning; drop schema if exists sqltool cascade; drop role if exists sqltool; "
	       "create role sqltool login; create schema sqltool authorization sqltool; "
	       "create table sqltool.things (id int primary key, name text, price numeric, ok bool); "
	       "alter table sqltool.things owner to sqltool; "
	       "insert into sqltool.things select i, 'thing ' || i, i * 1.5, i % 2 = 0 from "
	       "generate_series(1, 500) i");
}

static void sql_close(struct sql_case *s)
{
	sql_do("set client_min_messages = warning; drop schema sqltool cascade; drop role sqltool");
	fixture_close(s->f);
}

static const char *sql_tool(
	struct sql_case *s, const char *name, const char *user, const char *rest, const char *more)
{
	return sql_made(s->f, name, rest,
		arena_printf(&s->f->arena, "{\"url\":\"postgres://%s@%s\"%s}", user, s->authority,
			more));
}

static const char *sql_said(
	struct sql_case *s, const char *tool, const char *arguments, bool *ret_failed)
{
	struct answer r =
		ask(s->f, s->f->admin, arena_printf(&s->f->arena, "{\"arguments\":%s}", arguments),
			"POST /tenant/%s/tools/%s/try", s->f->tenant_id, tool);

	STATUS(r, 200);
	*ret_failed = json_is_true(at(&r, "failed"));
	return arena_strdup(&s->f->arena, text_at(&r, "text"));
}

#define SAYS(tool, arguments, want)                                          \
	do {                                                                 \
		bool failed_;                                                \
		const char *said_ = sql_said(&s, tool, arguments, &failed_); \
		if (failed_ || !strstr(said_, want))                         \
			test_fail(__FILE__, __LINE__, "%s", said_);          \
	} while (0)
#define FAILS(tool, arguments, want)                                         \
	do {                                                                 \
		bool failed_;                                                \
		const char *said_ = sql_said(&s, tool, arguments, &failed_); \
		if (!failed_ || !strstr(said_, want))                        \
			test_fail(__FILE__, __LINE__, "%s", said_);          \
	} while (0)

TEST(sql_tool_gives_rows_and_takes_parameters)
{
	struct sql_case s;
	const char *any, *one;

	SKIP_UNLESS(!fixture_is_sqlite());
	sql_open(&s);
	any = sql_tool(&s, "any", "sqltool:password", "", ",\"max_rows\":3");
	SAYS(any,
		"{\"sql\":\"select id, name, price, ok, null x from sqltool.things order by id\"}",
		"{\"columns\":[\"id\",\"name\",\"price\",\"ok\",\"x\"],\"rows\":[\n"
		"[1,\"thing 1\",1.5,false,null],\n[2,\"thing 2\",3.0,true,null],\n"
		"[3,\"thing 3\",4.5,false,null]\n],\"row_count\":3,\"more\":true}");
	SAYS(any, "{\"sql\":\"select count(*) n from sqltool.things\"}",
		"[500]\n],\"row_count\":1,\"more\":false}");
	SAYS(any,
		"{\"sql\":\"select 'NaN'::float8 f, 1e300::float8 g, E'a\\\"b\\nc' t where false\"}",
		"\"rows\":[\n],\"row_count\":0");
	SAYS(any, "{\"sql\":\"select 'NaN'::float8 f\"}", "[\"NaN\"]");
	SAYS(any,
		"{\"sql\":\"select $1::int + 1 a, $2::text b, $3::text c\",\"params\":[41,\"'; drop\",null]}",
		"[42,\"'; drop\",null]");
	FAILS(any, "{\"sql\":\"select nonsense\"}", "nonsense");
	FAILS(any, "{\"sql\":\"select 1; select 2\"}", "multiple commands");
	FAILS(any, "{}", "do not suit");
	one = sql_tool(&s, "one", "sqltool",
		",\"input_schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"
		"\"name\":{\"type\":\"string\"}}}",
		",\"statement\":\"select id, {{name}}::text from sqltool.things where id = {{id}}\"");
	SAYS(one, "{\"id\":7,\"name\":\"x'y\"}", "[7,\"x'y\"]");
	SAYS(one, "{\"id\":7}", "[7,null]");
	sql_close(&s);
}

TEST(sql_tool_that_reads_changes_nothing)
{
	static const char *const tries[] = {
		"insert into sqltool.things values (501)",
		"update sqltool.things set name = 'x'",
		"with d as (delete from sqltool.things returning id) select * from d",
		"/* /* */ */ -- x\\n delete from sqltool.things",
		"explain analyze delete from sqltool.things",
		"select set_config('transaction_read_only', 'off', false)",
		"set transaction read write",
		"commit",
		"rollback",
		"copy sqltool.things to stdout",
		"do $$ begin delete from sqltool.things; end $$",
		"select 1; delete from sqltool.things",
		"select * into sqltool.copied from sqltool.things",
		"create table sqltool.made (x int)",
		"listen x",
	};
	struct sql_case s;
	const char *tool, *super;

	SKIP_UNLESS(!fixture_is_sqlite());
	sql_open(&s);
	tool = sql_tool(&s, "reads", "sqltool", "", "");
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		test_step("%s", tries[i]);
		FAILS(tool, arena_printf(&s.f->arena, "{\"sql\":\"%s\"}", tries[i]), "");
	}
	test_step("after");
	CHECK_STR(sql_value(&s.f->arena, "select count(*) || min(name) from sqltool.things"),
		"500thing 1");
	CHECK_STR(sql_value(&s.f->arena,
			  "select count(*) from pg_tables where schemaname = 'sqltool'"),
		"1");
	super = sql_tool(&s, "super", sql_value(&s.f->arena, "select current_user"), "", "");
	FAILS(super, "{\"sql\":\"select 1\"}", "superuser");
	test_step("who may do more than read");
	sql_do("alter role sqltool replication");
	FAILS(tool, "{\"sql\":\"select 1\"}", "replicate");
	sql_do("alter role sqltool noreplication");
	sql_do("grant pg_signal_backend to sqltool");
	FAILS(tool, "{\"sql\":\"select 1\"}", "what others do");
	sql_do("revoke pg_signal_backend from sqltool");
	SAYS(tool, "{\"sql\":\"select 1 as one\"}", "one");
	sql_do("grant postgres to sqltool");
	FAILS(tool, "{\"sql\":\"select 1\"}", "superuser");
	sql_close(&s);
}

/* What lodge-sql answers to nothing at all, where Landlock fails with that error. */
static const char *said_without_landlock(struct arena *a, int error)
{
	struct sock_filter rules[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog filter = { sizeof rules / sizeof *rules, rules };
	struct sql_task task = { .mark = SQL_MARK, .len = SQL_TEXTS, .bytes_max = 1000 };
	char path[PATH_MAX], texts[SQL_TEXTS] = { 0 }, *said = arena_alloc(a, 1001);
	size_t n = 0;
	int ends[2];
	ssize_t got;
	pid_t pid;

	child_find("lodge-sql", path);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pid = fork();
	if (pid == 0) {
		if (dup2(ends[1], 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
			_exit(9);
		close(ends[0]);
		close(ends[1]);
		execl(path, "lodge-sql", (char *)NULL);
		_exit(9);
	}
	close(ends[1]);
	CHECK(write(ends[0], &task, sizeof task) == sizeof task);
	CHECK(write(ends[0], texts, sizeof texts) == sizeof texts);
	while (n < 1000 && (got = read(ends[0], said + n, 1000 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(ends[0]);
	CHECK(waitpid(pid, NULL, 0) == pid);
	return said;
}

TEST(sql_tool_is_not_without_its_locks_where_the_kernel_has_them)
{
	struct fixture *f = fixture_open();
	const char *said = said_without_landlock(&f->arena, EPERM);

	CHECK(*said == SQL_FAULT && strstr(said, "landlock_create_ruleset"));
	said = said_without_landlock(&f->arena, ENOSYS);
	CHECK(*said == SQL_FAULT && !strstr(said, "landlock"));
	fixture_close(f);
}

TEST(sql_tool_that_writes_does)
{
	struct sql_case s;
	const char *tool;

	SKIP_UNLESS(!fixture_is_sqlite());
	sql_open(&s);
	tool = sql_tool(&s, "writes", "sqltool", ",\"requires_approval\":true",
		",\"read_only\":false,\"timeout_s\":1,\"max_rows\":2");
	SAYS(tool, "{\"sql\":\"update sqltool.things set name = 'x' where id < 4\"}",
		"{\"command\":\"UPDATE 3\"}");
	SAYS(tool, "{\"sql\":\"delete from sqltool.things where id > 490 returning id\"}",
		"\"row_count\":2,\"more\":true");
	CHECK_STR(sql_value(&s.f->arena, "select count(*) from sqltool.things"), "490");
	FAILS(tool, "{\"sql\":\"copy sqltool.things to stdout\"}", "COPY");
	FAILS(tool, "{\"sql\":\"select pg_sleep(60)\"}", "statement timeout");
	sql_close(&s);
}

TEST(sql_tool_keeps_within_its_limits)
{
	struct sql_case s;
	const char *tool;

	SKIP_UNLESS(!fixture_is_sqlite());
	sql_open(&s);
	tool = sql_tool(&s, "reads", "sqltool", "", ",\"max_rows\":10000,\"timeout_s\":20");
	/* what does not fit is left out in whole rows */
	SAYS(tool, "{\"sql\":\"select repeat('x', 1000000) from generate_series(1, 20)\"}", "xxxx");
	/* and what there is no memory for ends the process and not ours */
	FAILS(tool, "{\"sql\":\"select repeat('x', 300000000)\"}", "memory");
	s.f->app.settings.allow_private_addresses = false;
	FAILS(tool, "{\"sql\":\"select 1\"}", "private address");
	sql_close(&s);
}
