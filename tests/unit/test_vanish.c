/* test_vanish.c - everything that a run makes use of vanishes, before each of the steps of each kind of run: the
 * service lives, the run ends and says why, and no job is left over. */
#include <unistd.h>

#include "base/clock.h"
#include "sessions/sessions.h"
#include "turn_fixture.h"

#ifdef LODGE_FAULTS

enum { VANISH_STEPS = 60, VANISH_MS = 20000 };

/* The step at which the run under way stops, and what has been kept there. */
static struct {
	pthread_mutex_t lock;
	int seen, at; /* at: 0, none is kept */
	void (*go)(void *turn);
	void *turn;
} stop = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool keep(void (*go)(void *turn), void *turn)
{
	bool kept;

	pthread_mutex_lock(&stop.lock);
	kept = ++stop.seen == stop.at;
	if (kept) {
		stop.go = go;
		stop.turn = turn;
	}
	pthread_mutex_unlock(&stop.lock);
	return kept;
}

static void stop_at(int step)
{
	pthread_mutex_lock(&stop.lock);
	stop.seen = 0;
	stop.at = step;
	stop.go = NULL;
	pthread_mutex_unlock(&stop.lock);
}

static void (*stopped(void **ret_turn))(void *turn)
{
	void (*go)(void *turn);

	pthread_mutex_lock(&stop.lock);
	go = stop.go;
	*ret_turn = stop.turn;
	pthread_mutex_unlock(&stop.lock);
	return go;
}

/* ---- what a run makes use of, made anew for each ---- */

struct props {
	struct turn_fixture s;
	int number;
	const char *source_id; /* whose copies work; NULL: one of its parts has vanished */
	const char *agent_id, *user_id, *key_id, *hook_id, *skill_id, *model_id;
};

__attribute__((format(printf, 3, 0))) static const char *made(
	struct props *p, const char *path, const char *fmt)
{
	struct fixture *f = p->s.f;
	const char *body = arena_printf(&f->arena, fmt, p->number, p->number);
	struct answer r =
		*path == 'T' ? ask(f, f->admin, body, "POST /tenant/%s%s", f->tenant_id, path + 1)
			     : ask(f, f->admin, body, "POST %s", path);

	STATUS(r, 201);
	return text_at(&r, "id");
}

static const char *fresh_id(struct props *p)
{
	struct id id = id_new(NULL);

	return arena_strdup(&p->s.f->arena, id.text);
}

/* An agent with a model, a skill and tools. */
static void equip_source(struct props *p)
{
	static const char *const tools[] = { "time", "http_fetch", "subtask" };
	struct fixture *f = p->s.f;
	struct arena *a = &f->arena;

	p->model_id = made(p, "/admin/models",
		"{\"name\":\"M%d\",\"slug\":\"m%d\",\"kind\":\"demo\",\"available_to_all_tenants\":true}");
	p->source_id = made(p, "T/agents", "{\"name\":\"A%d\",\"slug\":\"source%d\"}");
	p->skill_id = made(p, "T/skills",
		"{\"name\":\"S%d\",\"slug\":\"s%d\",\"description\":\"D\",\"instructions\":\"I\"}");
	STATUS(ask(f, f->admin, arena_printf(a, "{\"model_ids\":[\"%s\"]}", p->model_id),
		       "PUT /agents/%s/models", p->source_id),
		200);
	STATUS(ask(f, f->admin, arena_printf(a, "{\"skill_id\":\"%s\"}", p->skill_id),
		       "POST /agents/%s/skills", p->source_id),
		201);
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		turn_tool(&p->s, p->source_id, tools[i]);
}

static void equip(struct props *p)
{
	struct fixture *f = p->s.f;
	struct answer r;

	p->number++;
	if (!p->source_id)
		equip_source(p);
	r = ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", p->source_id);
	STATUS(r, 201);
	p->agent_id = text_at(&r, "id");
	p->user_id = fixture_user(f, arena_printf(&f->arena, "u%d@example.org", p->number), NULL);
	fixture_member(f, f->tenant_id, p->user_id, "ADMIN");
	p->key_id = fresh_id(p);
	fixture_sql(f,
		"insert into api_keys (tenant_id, id, user_id, name, hash, created_at) "
		"values ($1, $2, $3, 'k', $2, 1)",
		ARGS(T(f->tenant_id), T(p->key_id), T(p->user_id)));
	p->hook_id = fresh_id(p);
	fixture_sql(f,
		"insert into integration_rows (tenant_id, id, agent_id, skill_id, provider, label, is_active, "
		"created_by_id, created_at, updated_at, acts_as_id) "
		"values ($1, $2, $3, $4, 'skill', 'h', 1, $5, 1, 1, $5)",
		ARGS(T(f->tenant_id), T(p->hook_id), T(p->agent_id), T(p->skill_id),
			T(p->user_id)));
	p->s.agent_id = p->agent_id;
}

/* ---- how it goes ---- */

static const struct thing {
	const char *name;
	const char *path; /* what is deleted, without its id; T at the beginning is the tenant's */
	const char *sql[2]; /* or statements, with $1 the tenant and $2 the id */
	size_t id;	    /* in struct props; 0 the session */
	bool shared;	    /* by all copies */
} things[] = {
#define OF(member) offsetof(struct props, member)
#define ROW(table)                                                       \
	{                                                                \
		"delete from " table " where tenant_id = $1 and id = $2" \
	}
	{ "agent", "/agents/", .id = OF(agent_id) },
	{ "session", "/sessions/" },
	{ "user", "/admin/users/", .id = OF(user_id) },
	{ "member", "T/members/", .id = OF(user_id) },
	{ "key", .sql = ROW("api_keys"), .id = OF(key_id) },
	{ "hook",
		.sql = { "update integration_rows set gone_at = 1 where tenant_id = $1 and id = $2" },
		.id = OF(hook_id) },
	{ "skill", "T/skills/", .id = OF(skill_id), .shared = true },
	{ "tools",
		.sql = { "delete from agent_tools where tenant_id = $1 and $2 <> ''",
			"delete from tools where tenant_id = $1 and $2 <> '' and not exists (select 1 "
			"from tool_bundle_tools b where b.tenant_id = $1 and b.tool_id = tools.id)" },
		.id = OF(agent_id), .shared = true },
	{ "chain", .sql = { "delete from agent_models where tenant_id = $1 and agent_id = $2" },
		.id = OF(agent_id) },
	{ "model",
		.sql = { "delete from agent_models where $1 <> '' and model_id = $2",
			"delete from models where $1 <> '' and id = $2" },
		.id = OF(model_id), .shared = true },
};
enum { THINGS = sizeof things / sizeof *things };

static const struct plot {
	const char *name, *says;
	bool key, hook;
	const char *of; /* what it makes use of in another way than those before it */
} plots[] = {
	{ "a tool", "use tool time and use tool skill_read with {\"skill\":\"s\"}", true, false,
		"agent session user member key skill tools chain model" },
	{ "a slow tool", "use tool http_fetch with {\"url\":\"https://127.0.0.1/\"}", false, false,
		"agent session tools" },
	{ "a subtask", "use tool subtask with {\"title\":\"t\",\"message\":\"use tool time\"}",
		false, true, "agent session hook user" },
};
enum { PLOTS = sizeof plots / sizeof *plots };

static void vanish(struct props *p, const struct thing *t)
{
	struct fixture *f = p->s.f;
	const char *id = t->id ? *(const char *const *)((const char *)p + t->id) : p->s.session_id;
	struct answer r;

	if (t->shared)
		p->source_id = NULL;
	for (int i = 0; i < 2 && t->sql[i]; i++)
		fixture_sql(f, t->sql[i], ARGS(T(f->tenant_id), T(id)));
	if (!t->path)
		return;
	r = ask(f, f->admin, NULL, "DELETE %s%s%s%s", *t->path == 'T' ? "/tenant/" : "",
		*t->path == 'T' ? f->tenant_id : "", *t->path == 'T' ? t->path + 1 : t->path, id);
	CHECK(r.status == 204 || r.status == 200 || r.status == 404);
}

static int64_t count(struct props *p, const char *sql)
{
	return fixture_count(p->s.f, sql);
}

/* Until nothing is left to do; those that pause after a failure need not be waited for. */
static void await_quiet(struct props *p, const char *what)
{
	int64_t until = clock_mono_ms() + VANISH_MS;
	void *turn;

	while (clock_mono_ms() < until && !stopped(&turn) &&
		count(p, "select count(*) from jobs where state <> 'dead'")) {
		fixture_sql(p->s.f, "update jobs set run_at = 0 where state = 'delayed'", NO_ARGS);
		usleep(10000);
	}
	if (clock_mono_ms() >= until)
		test_fail(__FILE__, __LINE__, "%s: jobs are left over", what);
}

#define TOOL_USED "select count(*) from session_calls where name = 'time' and state = 'completed'"

/* True if the run came as far as that step. */
static bool try_step(struct props *p, const struct thing *t, const struct plot *plot, int step)
{
	struct fixture *f = p->s.f;
	void (*go)(void *turn);
	void *turn;
	int64_t used;

	equip(p);
	p->s.as = (struct session_actor){ .user_id = plot->hook ? NULL : p->user_id,
		.key_id = plot->key ? p->key_id : NULL,
		.hook_id = plot->hook ? p->hook_id : NULL };
	turn_session(&p->s);
	stop_at(step);
	test_step("%s vanishes before step %d of %s", t->name, step, plot->name);
	CHECK_INT(turn_say(&p->s, plot->says), 0);
	await_quiet(p, "before");
	go = stopped(&turn);
	if (!go)
		return false;
	vanish(p, t);
	used = count(p, TOOL_USED);
	stop_at(0);
	go(turn);
	await_quiet(p, "after");
	CHECK_INT(count(p, "select count(*) from jobs"), 0);
	CHECK_INT(
		turn_count(&p->s,
			"select count(*) from sessions where (id = %s or parent_session_id is not "
			"null) and status in ('pending', 'running', 'waiting_approval')"),
		0);
	CHECK_INT(count(p, "select count(*) from sessions where status = 'failed' and "
			   "(error is null or error = '')"),
		0);
	CHECK_INT(count(p, "select count(*) from session_runs where status in ('queued', "
			   "'in_progress', 'requires_action')"),
		0);
	if (strcmp(t->name, "tools") == 0) /* what is gone is not used, however near the call was */
		CHECK_INT(count(p, TOOL_USED), used);
	STATUS(ask(f, NULL, NULL, "GET /healthz"), 200);
	return true;
}

TEST(vanish_before_any_step_of_a_run)
{
	struct props p = { 0 };

	turn_open(&p.s, NULL);
	turn_kept = keep;
	for (int plot = 0; plot < PLOTS; plot++)
		for (int t = 0; t < THINGS; t++) {
			int step = 1;

			if (!strstr(plots[plot].of, things[t].name))
				continue;
			while (step < VANISH_STEPS && try_step(&p, &things[t], &plots[plot], step))
				step++;
			CHECK(step > 4 && step < VANISH_STEPS);
		}
	turn_kept = NULL;
	turn_close(&p.s);
}
#endif
