/* wait_fixture.c - see wait_fixture.h. */
#include "wait_fixture.h"

#include <unistd.h>

#include "base/clock.h"
#include "turn_fixture.h"

static void give_skill(struct wait_fixture *s)
{
	struct fixture *f = s->f;
	struct answer r = ask(f, f->admin,
		"{\"name\":\"Deploy\",\"slug\":\"deploy\",\"description\":\"D\",\"instructions\":\"I\","
		"\"visibility\":\"tenant\"}",
		"POST /tenant/%s/skills", f->tenant_id);

	s->skill_id = text_at(&r, "id");
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", s->skill_id),
		       "POST /agents/%s/skills", s->agent_id),
		201);
	r = ask(f, f->admin, NULL, "POST /agents/%s/skills/%s/webhooks", s->agent_id, s->skill_id);
	STATUS(r, 201);
	s->skill_hook_id = text_at(&r, "id");
	s->skill_token = text_at(&r, "token");
}

void wait_tool(struct wait_fixture *s, const char *agent_id, const char *name)
{
	struct turn_fixture t = { .f = s->f };

	turn_tool(&t, agent_id, name);
}

static const char *make_giver(struct wait_fixture *s)
{
	struct fixture *f = s->f;
	const char *id = fixture_agent(f, "giver");

	wait_tool(s, id, "subtask");
	return id;
}

static void make_integration(struct wait_fixture *s)
{
	struct fixture *f = s->f;
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"label\":\"L\",\"provider\":\"github\",\"agent_id\":\"%s\"}",
			s->agent_id),
		"POST /tenant/%s/integrations", f->tenant_id);

	STATUS(r, 201);
	s->hook = (struct hook_fixture){ .f = f,
		.agent_id = s->agent_id,
		.id = text_at(&r, "id"),
		.secret = text_at(&r, "signing_secret") };
}

void wait_open(struct wait_fixture *s, const char *script)
{
	const char *scripts[] = { script, NULL };
	int64_t now = clock_now_us(), six = 6 * 3600 * SECOND_US;

	*s = (struct wait_fixture){ 0 };
	s->moved = DAY_US - now % DAY_US + six;
	clock_move_us(s->moved);
	gateway_open(&s->gateway);
	s->f = s->gateway.f;
	s->giver_id = make_giver(s); /* while the program's own model is the only one */
	gateway_agent(&s->gateway, scripts);
	s->agent_id = s->gateway.agent_id;
	make_integration(s);
	give_skill(s);
}

void wait_close(struct wait_fixture *s)
{
	gateway_close(&s->gateway);
	clock_move_us(-s->moved);
}

/* The runner looks at the clock when it is told of a job. */
static int tell_runner(struct db *db, void *data)
{
	(void)data;
	return db_notice(db, "jobs", "@1");
}

void wait_move(struct wait_fixture *s, int64_t us)
{
	clock_move_us(us);
	s->moved += us;
	fixture_sql(s->f, "update logins set last_used_at = $1, expires_at = $2",
		ARGS(N(clock_now_us()), N(clock_now_us() + DAY_US)));
	CHECK_INT(fixture_work(s->f, tell_runner, NULL), 0);
}

void wait_move_to(struct wait_fixture *s, int64_t us)
{
	int64_t now = clock_now_us();

	if (us > now)
		wait_move(s, us - now);
}

void wait_chat(struct wait_fixture *s, const char *body)
{
	STATUS(ask(s->f, s->f->admin, body, "PUT /agents/%s/chat-config", s->agent_id), 200);
}

void wait_budget(struct wait_fixture *s, const char *usd)
{
	STATUS(ask(s->f, s->f->admin, arena_printf(&s->f->arena, "{\"hourly_limit_usd\":%s}", usd),
		       "PUT /agents/%s/budget", s->agent_id),
		200);
}

void wait_use_rate(struct wait_fixture *s, int seconds)
{
	fixture_sql(s->f,
		"insert into rate_slots (tenant_id, agent_id, seconds, slot, calls) "
		"values ($1, $2, $3, $4, 1)",
		ARGS(T(s->f->tenant_id), T(s->agent_id), N(seconds),
			N(clock_now_us() / SECOND_US / seconds)));
}

void wait_spend(struct wait_fixture *s, int64_t pd)
{
	fixture_sql(s->f,
		"insert into spend_minutes (tenant_id, agent_id, minute, shard, cost_pd) "
		"values ($1, $2, $3, 0, $4) on conflict (tenant_id, agent_id, minute, shard) "
		"do update set cost_pd = $4",
		ARGS(T(s->f->tenant_id), T(s->agent_id), N(clock_now_us() / SECOND_US / 60),
			N(pd)));
}

void wait_until_count(struct wait_fixture *s, const char *sql, int64_t count)
{
	int64_t seen = -1;

	for (int i = 0; i < 2000; i++) {
		seen = fixture_count(s->f, sql);
		if (seen == count)
			return;
		usleep(5000);
	}
	test_fail(__FILE__, __LINE__, "%s: %lld, not %lld", sql, (long long)seen, (long long)count);
}
