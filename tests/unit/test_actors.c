/* test_actors.c - a run never has more than its actor has now: every way in which a run is begun × everything
 * that can be taken away while it is under way, × every right that a run makes use of. */
#include "base/clock.h"
#include "turn_fixture.h"

#define TOOLS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define DENY "{\"permissions\":[{\"skill_id\":\"%s\",\"allowed\":false}]}"

struct people {
	const char *member, *manager, *owner, *admin, *super;
	const char *skill_id;
};

/* How a run is begun. */
static const struct way {
	const char *name;
	size_t person; /* in struct people */
	bool key, hook, skill;
	const char *scopes; /* of the key, JSON; NULL: none */
} ways[] = {
#define OF(who) offsetof(struct people, who)
	{ "member", OF(member) },
	{ "manager", OF(manager) },
	{ "owner", OF(owner) },
	{ "administrator", OF(admin) },
	{ "super administrator", OF(super) },
	{ "member's key", OF(member), .key = true },
	{ "manager's key", OF(manager), .key = true },
	{ "manager's key to speak", OF(manager), .key = true, .scopes = "[\"session:write\"]" },
	{ "administrator's integration", OF(admin), .hook = true },
	{ "administrator's integration by key", OF(admin), .hook = true, .key = true },
	{ "manager's skill webhook", OF(manager), .hook = true, .skill = true },
};
enum { WAYS = sizeof ways / sizeof *ways };

static const char *person_of(const struct people *p, const struct way *w)
{
	return *(const char *const *)((const char *)p + w->person);
}

static const char *make_person(struct turn_fixture *s, const char *name, const char *role)
{
	const char *id =
		fixture_user(s->f, arena_printf(&s->f->arena, "%s@example.org", name), NULL);

	if (role)
		fixture_member(s->f, s->f->tenant_id, id, role);
	return id;
}

static void give_role(struct turn_fixture *s, const char *user_id, const char *role)
{
	struct answer r =
		ask(s->f, s->f->admin, arena_printf(&s->f->arena, "{\"role\":\"%s\"}", role),
			"PUT /agents/%s/roles/%s", s->agent_id, user_id);

	CHECK(r.status == 200 || r.status == 201);
}

static void make_people(struct turn_fixture *s, struct people *p)
{
	struct answer r;

	p->member = make_person(s, "member", "MEMBER");
	p->manager = make_person(s, "manager", "MEMBER");
	p->owner = make_person(s, "owner", "MEMBER");
	p->admin = make_person(s, "administrator", "ADMIN");
	p->super = make_person(s, "super", NULL);
	fixture_sql(s->f, "update users set is_super_admin = 1 where id = $1", ARGS(T(p->super)));
	give_role(s, p->manager, "MANAGER");
	give_role(s, p->owner, "OWNER");
	r = ask(s->f, s->f->admin,
		"{\"name\":\"S\",\"slug\":\"s\",\"description\":\"D\",\"instructions\":\"I\"}",
		"POST /tenant/%s/skills", s->f->tenant_id);
	STATUS(r, 201);
	p->skill_id = text_at(&r, "id");
	STATUS(ask(s->f, s->f->admin,
		       arena_printf(&s->f->arena, "{\"skill_id\":\"%s\"}", p->skill_id),
		       "POST /agents/%s/skills", s->agent_id),
		201);
}

static void open_fixture(struct turn_fixture *s, struct people *p)
{
	struct answer r;

	turn_open(s, TOOLS("time", "memory_write", "session_search", "subtask"));
	make_people(s, p);
	/* one that is open to those who hold a role on it, which the OWNER alone does */
	r = ask(s->f, s->f->admin, "{\"name\":\"Closed\",\"slug\":\"closed\"}",
		"POST /tenant/%s/agents", s->f->tenant_id);
	STATUS(r, 201);
	fixture_sql(s->f, "update agent_rows set default_role_enabled = 0 where id = $1",
		ARGS(T(text_at(&r, "id"))));
	STATUS(ask(s->f, s->f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s",
		       text_at(&r, "id"), p->owner),
		201);
}

/* A fresh credential or webhook, so that taking it away concerns nobody else. */
static struct session_actor begin_as(
	struct turn_fixture *s, const struct people *p, const struct way *w)
{
	struct session_actor as = { .user_id = person_of(p, w) };
	const char *key = NULL;

	if (w->key) {
		key = fixture_id(s->f);
		fixture_sql(s->f,
			"insert into api_keys (tenant_id, id, user_id, name, hash, scopes, created_at) "
			"values ($1, $2, $3, 'k', $2, $4, 1)",
			ARGS(T(s->f->tenant_id), T(key), T(as.user_id), T(w->scopes)));
		as.key_id = key;
	}
	if (w->hook) {
		as = (struct session_actor){ .hook_id = fixture_id(s->f) };
		fixture_sql(s->f,
			"insert into integration_rows (tenant_id, id, agent_id, skill_id, provider, label, "
			"is_active, created_by_id, created_at, updated_at, acts_as_id, key_id) "
			"values ($1, $2, $3, $4, $5, 'h', 1, $6, 1, 1, $6, $7)",
			ARGS(T(s->f->tenant_id), T(as.hook_id), T(s->agent_id),
				T(w->skill ? p->skill_id : NULL), T(w->skill ? "skill" : "github"),
				T(person_of(p, w)), T(key)));
	}
	return as;
}

/* ---- what is taken away ---- */

struct case_at {
	struct turn_fixture *s;
	const struct people *p;
	const struct way *w;
	struct session_actor as;
};

#define PERSON person_of(c->p, c->w)

static void suspend(struct case_at *c, bool back)
{
	fixture_sql(c->s->f, "update users set is_suspended = $2 where id = $1",
		ARGS(T(PERSON), N(!back)));
}

static void leave(struct case_at *c, bool back)
{
	fixture_sql(c->s->f, "update members set status = $2 where user_id = $1",
		ARGS(T(PERSON), T(back ? "active" : "invited")));
}

static void close_agent(struct case_at *c, bool back)
{
	fixture_sql(c->s->f, "update agent_rows set default_role_enabled = $2 where id = $1",
		ARGS(T(c->s->agent_id), N(back)));
}

static void keep_for_admins(struct case_at *c, bool back)
{
	fixture_sql(c->s->f, "update agent_rows set is_admin_only = $2 where id = $1",
		ARGS(T(c->s->agent_id), N(!back)));
}

static void shut_out_super(struct case_at *c, bool back)
{
	fixture_sql(c->s->f, "update tenants set allow_superadmin_access = $2 where id = $1",
		ARGS(T(c->s->f->tenant_id), N(back)));
}

static void revoke_key(struct case_at *c, bool back)
{
	if (!back)
		fixture_sql(c->s->f, "delete from api_keys where user_id = $1", ARGS(T(PERSON)));
}

static void end_key(struct case_at *c, bool back)
{
	fixture_sql(c->s->f, "update api_keys set expires_at = 1 where user_id = $1 and $2 = 0",
		ARGS(T(PERSON), N(back)));
}

static void narrow_key(struct case_at *c, bool back)
{
	fixture_sql(c->s->f,
		"update api_keys set scopes = '[\"session:read\"]' where user_id = $1 "
		"and $2 = 0",
		ARGS(T(PERSON), N(back)));
}

static void switch_off_hook(struct case_at *c, bool back)
{
	if (c->as.hook_id)
		fixture_sql(c->s->f, "update integration_rows set is_active = $2 where id = $1",
			ARGS(T(c->as.hook_id), N(back)));
}

static void delete_hook(struct case_at *c, bool back)
{
	if (c->as.hook_id && !back)
		fixture_sql(c->s->f, "delete from integration_rows where id = $1",
			ARGS(T(c->as.hook_id)));
}

static void forbid_skill(struct case_at *c, bool back)
{
	STATUS(ask(c->s->f, c->s->f->admin,
		       back ? "{\"permissions\":[]}"
			    : arena_printf(&c->s->f->arena, DENY, c->p->skill_id),
		       "PUT /agents/%s/skills/permissions", c->s->agent_id),
		200);
}

static void nothing(struct case_at *c, bool back)
{
	(void)c, (void)back;
}

static bool is(const struct case_at *c, const char *who)
{
	return strcmp(PERSON, who) == 0;
}

static bool anybody(const struct case_at *c)
{
	(void)c;
	return true;
}

static bool nobody(const struct case_at *c)
{
	return !anybody(c);
}

static bool a_member(const struct case_at *c)
{
	return !is(c, c->p->super);
}

/* whose only way to the agent is its default role */
static bool by_default(const struct case_at *c)
{
	return is(c, c->p->member);
}

static bool no_admin(const struct case_at *c)
{
	return !is(c, c->p->admin) && !is(c, c->p->super);
}

static bool a_super(const struct case_at *c)
{
	return is(c, c->p->super);
}

static bool by_key(const struct case_at *c)
{
	return c->w->key;
}

static bool by_hook(const struct case_at *c)
{
	return c->w->hook;
}

static bool by_skill(const struct case_at *c)
{
	return c->w->skill;
}

static const struct loss {
	const char *name;
	void (*take)(struct case_at *c, bool back);
	bool (*concerns)(const struct case_at *c);
} losses[] = {
	{ "nothing", nothing, nobody },
	{ "the account is suspended", suspend, anybody },
	{ "the membership ends", leave, a_member },
	{ "the default role is switched off", close_agent, by_default },
	{ "the agent is for administrators", keep_for_admins, no_admin },
	{ "the tenant is shut to super administrators", shut_out_super, a_super },
	{ "the key is revoked", revoke_key, by_key },
	{ "the key expires", end_key, by_key },
	{ "the key loses its scope", narrow_key, by_key },
	{ "the webhook is switched off", switch_off_hook, by_hook },
	{ "the webhook is deleted", delete_hook, by_hook },
	{ "the skill is forbidden", forbid_skill, by_skill },
};
enum { LOSSES = sizeof losses / sizeof *losses };

/* The run waits for a word, or its subtask does; then something is taken away, and the word is given. */
static void try_loss(struct case_at *c, const struct loss *l, bool in_subtask)
{
	struct turn_fixture *s = c->s;
	const char *parent;

	s->as = c->as = begin_as(s, c->p, c->w);
	turn_session(s);
	parent = s->session_id;
	CHECK_INT(
		turn_say(s,
			in_subtask
				? "use tool subtask with {\"title\":\"t\",\"message\":\"use tool time\"}"
				: "use tool time"),
		0);
	if (in_subtask) {
		turn_await_count(s,
			"select count(*) from sessions where parent_session_id = %s and "
			"status = 'waiting_approval'",
			1);
		s->session_id = turn_text(
			s, "select id as value from sessions where parent_session_id = %s");
	}
	turn_await(s, "waiting_approval");
	l->take(c, false);
	CHECK_INT(turn_decide(s, true), 0);
	test_step("%s, %s, %s", c->w->name, l->name, in_subtask ? "in a subtask" : "itself");
	turn_await(s, l->concerns(c) ? "failed" : "completed");
	CHECK_INT(turn_count(s, "select count(*) from session_calls where session_id = %s and "
				"state = 'completed'"),
		!l->concerns(c));
	/* what gave the work away has lost it, too */
	s->session_id = parent;
	turn_await(s, l->concerns(c) ? "failed" : "completed");
	l->take(c, true);
}

TEST(actors_lose_in_a_run_what_they_lose)
{
	struct turn_fixture s;
	struct people p;

	open_fixture(&s, &p);
	fixture_sql(s.f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	for (size_t w = 0; w < WAYS; w++)
		for (size_t l = 0; l < LOSSES; l++)
			for (int subtask = 0; subtask < 2; subtask++) {
				struct case_at c = { &s, &p, &ways[w], { 0 } };

				try_loss(&c, &losses[l], subtask);
			}
	turn_close(&s);
}

/* ---- what a run makes use of ---- */

TEST(actors_have_in_a_run_what_they_have)
{
	struct turn_fixture s;
	struct people p;

	open_fixture(&s, &p);
	for (size_t i = 0; i < WAYS; i++) {
		const struct way *w = &ways[i];
		const char *who = person_of(&p, w), *told;
		bool driven = !w->hook, plain = !w->scopes;
		bool admin = who == p.admin || who == p.super;

		s.as = begin_as(&s, &p, w);
		turn_session(&s);
		test_step("%s", w->name);
		CHECK_INT(
			turn_say(&s,
				arena_printf(&s.f->arena,
					"use tool memory_write with {\"content\":\"n\",\"scope\":\"shared\"} and "
					"use tool memory_write with {\"content\":\"m\"} and "
					"use tool session_search with {\"query\":\"word%zu\"} and "
					"use tool subtask with "
					"{\"title\":\"t\",\"message\":\"count to 2\",\"agent\":\"closed\"}",
					i)),
			0);
		turn_await(&s, "completed");
		told = turn_transcript(&s);
		CHECK_INT(
			strstr(told, "kept (shared)") != NULL, driven && plain && who != p.member);
		CHECK(strstr(told, "kept (private)"));
		CHECK_INT(strstr(told, "No earlier session") != NULL, plain);
		CHECK_INT(strstr(told, "no agent closed") == NULL,
			driven && plain && (admin || who == p.owner));
		CHECK_STR(turn_text(&s, "select coalesce(user_id, '') as value from memories where "
					"scope = 'private' and source_session_id = %s"),
			driven ? who : "");
	}
	turn_close(&s);
}

/* Where the tenant asks for them, the grant of the one it acts as: every way, without it and with it. */
TEST(actors_call_models_by_their_own_grants)
{
	struct turn_fixture s;
	struct people p;
	const char *model;

	turn_open_mock(&s, (const char *const[]){ "ok", NULL }, NULL);
	make_people(&s, &p);
	model = s.gateway.models[0];
	for (int required = 0; required < 2; required++) {
		fixture_sql(s.f, "update tenants set require_user_model_grants = $2 where id = $1",
			ARGS(T(s.f->tenant_id), N(required)));
		for (size_t i = 0; i < WAYS; i++) {
			const char *who = person_of(&p, &ways[i]);
			bool exempt = !required || who == p.admin || who == p.super;

			for (int granted = 0; granted < 2; granted++) {
				test_step("%s, required %d, granted %d", ways[i].name, required,
					granted);
				if (granted && who != p.super)
					STATUS(ask(s.f, s.f->admin, NULL,
						       "PUT /tenant/%s/models/%s/users/%s",
						       s.f->tenant_id, model, who),
						201);
				s.as = begin_as(&s, &p, &ways[i]);
				turn_session(&s);
				CHECK_INT(turn_say(&s, "count to 3"), 0);
				turn_await(&s, exempt || granted ? "completed" : "failed");
				CHECK_STR(turn_text(&s,
						  "select coalesce(error_code, '') as value from "
						  "session_runs where session_id = %s"),
					exempt || granted ? "" : "user_grant_missing");
				if (granted)
					ask(s.f, s.f->admin, NULL,
						"DELETE /tenant/%s/models/%s/users/%s",
						s.f->tenant_id, model, who);
			}
		}
	}
	turn_close(&s);
}

/* A tool that was taken from the agent while a call of it waited is not run, whoever gives the word. */
TEST(actors_do_not_use_a_tool_that_was_taken_away)
{
	struct turn_fixture s;

	turn_open(&s, TOOLS("time"));
	fixture_sql(s.f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	CHECK_INT(turn_say(&s, "use tool time"), 0);
	turn_await(&s, "waiting_approval");
	fixture_sql(s.f, "delete from agent_tools", NO_ARGS);
	CHECK_INT(turn_decide(&s, true), 0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "no longer has the tool"));
	turn_close(&s);
}

/* ---- another's words ---- */

static const char *heard_by(struct turn_fixture *s, int run)
{
	return turn_text(s,
		arena_printf(&s->f->arena,
			"select coalesce(user_id, '') || ' ' || status as value from session_runs "
			"where session_id = %%s order by id limit 1 offset %d",
			run));
}

TEST(actors_hear_nobody_elses_words)
{
	struct turn_fixture s;
	struct people p;
	struct session_actor owner, member;
	const char *first, *second;

	open_fixture(&s, &p);
	fixture_sql(s.f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	owner = s.as = (struct session_actor){ .user_id = p.owner };
	member = (struct session_actor){ .user_id = p.member };
	CHECK_INT(turn_say(&s, "use tool time"), 0);
	turn_await(&s, "waiting_approval");
	first = s.run_id;
	s.as = member;
	CHECK_INT(
		turn_say(&s, "use tool memory_write with {\"content\":\"n\",\"scope\":\"shared\"}"),
		0);
	second = s.run_id;
	CHECK(strcmp(first, second) != 0);
	/* the next one joins what waits; its own actor's joins what runs */
	CHECK_INT(
		turn_say(&s, "use tool memory_write with {\"content\":\"m\",\"scope\":\"shared\"}"),
		0);
	CHECK_STR(s.run_id, second);
	s.as = owner;
	CHECK_INT(turn_say(&s, "and then count to 3"), 0);
	CHECK_STR(s.run_id, first);
	CHECK_INT(turn_count(&s, "select count(*) from session_runs where session_id = %s"), 2);
	CHECK_INT(turn_decide(&s, true), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	turn_await(&s, "completed");
	CHECK_STR(heard_by(&s, 0), arena_printf(&s.f->arena, "%s completed", p.owner));
	CHECK_STR(heard_by(&s, 1), arena_printf(&s.f->arena, "%s completed", p.member));
	CHECK(strstr(turn_transcript(&s), "1 2 3"));
	CHECK(strstr(turn_transcript(&s), "shared notes are kept only for people"));
	CHECK_INT(turn_count(&s, "select count(*) from memories"), 0);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_calls c join session_runs r on r.id = c.run_id "
			"where c.session_id = %s and c.name = 'memory_write' and r.user_id is null"),
		0);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from messages where session_id = %s and heard_id >= 'z'"),
		0);
	turn_check_events(&s);
	turn_close(&s);
}

TEST(actors_that_wait_end_with_a_cancelled_run)
{
	struct turn_fixture s;
	struct people p;

	open_fixture(&s, &p);
	fixture_sql(s.f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	CHECK_INT(turn_say(&s, "use tool time"), 0);
	turn_await(&s, "waiting_approval");
	s.as = (struct session_actor){ .user_id = p.member };
	CHECK_INT(turn_say(&s, "count to 4"), 0);
	CHECK_INT(turn_cancel(&s), 0);
	turn_await(&s, "cancelled");
	CHECK_INT(turn_count(&s, "select count(*) from session_runs where session_id = %s and "
				 "status = 'cancelled'"),
		2);
	CHECK_INT(turn_say(&s, "count to 5"), 0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "1 2 3 4 5"));
	turn_check_events(&s);
	turn_close(&s);
}
