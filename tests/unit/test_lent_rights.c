/* test_lent_rights.c - rights that a program has from a person: of a webhook, of a key.  Each way in which they could
 * be more than that person has now, or could be another's, is tried over HTTP. */
#include "hook_fixture.h"
#include "turn_fixture.h"

#define TOOLS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const char *make_key(struct fixture *f, const char *token, const char *scopes)
{
	struct answer r = ask(f, token,
		arena_printf(&f->arena, "{\"name\":\"k\"%s%s}", scopes ? ",\"scopes\":" : "",
			scopes ? scopes : ""),
		"POST /tenant/%s/api-keys", f->tenant_id);

	STATUS(r, 201);
	return text_at(&r, "key");
}

/* ---- the word on a call ---- */

struct word {
	struct turn_fixture s;
	const char *token;
};

static struct answer by_approval(struct word *w)
{
	struct fixture *f = w->s.f;
	struct answer r = ask(f, f->admin, NULL, "GET /sessions/%s/approvals", w->s.session_id);

	return ask(f, w->token, "{\"approved\":true}", "POST /sessions/%s/approvals/%s",
		w->s.session_id, text_at(&r, "items.0.id"));
}

static struct answer by_outputs(struct word *w)
{
	const char *call = turn_text(&w->s,
		"select call_id as value from session_calls where session_id = %s and state = "
		"'waiting_approval'");

	return ask(w->s.f, w->token,
		arena_printf(&w->s.f->arena,
			"{\"tool_outputs\":[{\"tool_call_id\":\"%s\",\"output\":\"approve\"}]}",
			call),
		"POST /v1/threads/%s/runs/%s/submit_tool_outputs", w->s.session_id, w->s.run_id);
}

TEST(lent_rights_do_not_give_a_persons_word)
{
	static struct answer (*const ways[])(struct word * w) = { by_approval, by_outputs };
	struct word w;
	struct fixture *f;

	turn_open(&w.s, TOOLS("time"));
	f = w.s.f;
	for (int person_only = 0; person_only < 2; person_only++) {
		const struct {
			const char *name, *token;
			bool may;
		} whose[] = { { "login", f->admin, true },
			{ "key that names it",
				make_key(f, f->admin,
					"[\"session:approve\",\"session:write\",\"session:read\"]"),
				!person_only },
			{ "key of all scopes", make_key(f, f->admin, NULL), false } };

		fixture_sql(f,
			"update tools set requires_approval = 1, person_only = $1 where name = 'time'",
			ARGS(N(person_only)));
		for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
			for (size_t i = 0; i < sizeof whose / sizeof *whose; i++) {
				struct answer r;

				turn_session(&w.s);
				CHECK_INT(turn_say(&w.s, "use tool time"), 0);
				turn_await(&w.s, "waiting_approval");
				w.token = whose[i].token;
				r = ways[way](&w);
				test_step("%s, person_only %d, way %zu: %d %s", whose[i].name,
					person_only, way, r.status, r.body);
				CHECK_INT(r.status, whose[i].may ? 200 : 403);
				if (whose[i].may) {
					turn_await(&w.s, "completed");
				} else {
					turn_await(&w.s, "waiting_approval");
					CHECK_INT(turn_cancel(&w.s), 0);
				}
			}
	}
	turn_close(&w.s);
}

/* ---- whose rights a webhook has ---- */

struct lender {
	struct hook_fixture s;
	const char *user_id, *token; /* an administrator who made the integration */
};

static void open_lender(struct lender *l)
{
	struct fixture *f = fixture_open();

	hook_fixture_begin(&l->s, f, "");
	l->user_id = fixture_user(f, "lender@example.org", &l->token);
	fixture_member(f, f->tenant_id, l->user_id, "ADMIN");
	STATUS(ask(f, l->token, arena_printf(&f->arena, "{\"acts_as_id\":\"%s\"}", l->user_id),
		       "PATCH /tenant/%s/integrations/%s", f->tenant_id, l->s.id),
		200);
}

TEST(lent_rights_are_taken_over_for_oneself_alone)
{
	struct lender l = { 0 };
	struct fixture *f;
	const char *other_token, *member_token, *stranger_token, *key, *other, *member, *stranger;
	struct answer r;

	open_lender(&l);
	f = l.s.f;
	other = fixture_user(f, "other@example.org", &other_token);
	member = fixture_user(f, "member@example.org", &member_token);
	stranger = fixture_user(f, "stranger@example.org", &stranger_token);
	fixture_member(f, f->tenant_id, other, "ADMIN");
	fixture_member(f, f->tenant_id, member, "MEMBER");
	fixture_tenant(f, "elsewhere", stranger);
	key = make_key(f, other_token, "[\"integrations:write\",\"tenant:read\"]");
	{
		/* who asks × whom it is to act as */
		const struct {
			const char *token;
			int own, others; /* the statuses */
		} who[] = { { l.token, 200, 422 }, { other_token, 200, 422 },
			{ member_token, 403, 403 }, { stranger_token, 404, 404 } };
		const char *const whom[] = { l.user_id, other, member, stranger, f->admin_id };
		const char *const own[] = { l.user_id, other, member, stranger };

		for (size_t i = 0; i < sizeof who / sizeof *who; i++)
			for (size_t k = 0; k < sizeof whom / sizeof *whom; k++) {
				const char *before, *after;
				bool self = strcmp(own[i], whom[k]) == 0;

				r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s",
					f->tenant_id, l.s.id);
				before = text_at(&r, "acts_as_id");
				r = ask(f, who[i].token,
					arena_printf(&f->arena, "{\"acts_as_id\":\"%s\"}", whom[k]),
					"PATCH /tenant/%s/integrations/%s", f->tenant_id, l.s.id);
				test_step("who %zu, whom %zu: %d", i, k, r.status);
				CHECK_INT(r.status, self ? who[i].own : who[i].others);
				r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s",
					f->tenant_id, l.s.id);
				after = text_at(&r, "acts_as_id");
				CHECK_STR(after, self && who[i].own == 200 ? whom[k] : before);
			}
	}
	/* Who changes what it does lends their own rights from then on, a key no more than it has. */
	STATUS(ask(f, key, "{\"instructions\":\"Do more.\"}", "PATCH /tenant/%s/integrations/%s",
		       f->tenant_id, l.s.id),
		200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", f->tenant_id, l.s.id);
	CHECK_STR(text_at(&r, "acts_as_id"), other);
	CHECK(text_at(&r, "acts_as_problem") != NULL);
	STATUS(hook_send(&l.s, HOOK_EVENT, NULL), 403);
	fixture_close(f);
}

/* What is taken from the lender × what is seen of it: the sender's answer, the log, the integration. */
TEST(lent_rights_that_are_gone_block_events)
{
	static const struct {
		const char *name, *take, *give, *says;
	} losses[] = {
		{ "suspended", "update users set is_suspended = 1 where id = $1",
			"update users set is_suspended = 0 where id = $1" },
		{ "no member", "update members set status = 'invited' where user_id = $1",
			"update members set status = 'active' where user_id = $1" },
		{ "a guest", "update members set role = 'GUEST' where user_id = $1",
			"update members set role = 'ADMIN' where user_id = $1" },
		{ "nobody", "update integration_rows set acts_as_id = null where acts_as_id = $1",
			"update integration_rows set acts_as_id = $1",
			"Nobody answers for the webhook" },
	};
	struct lender l = { 0 };
	struct fixture *f;

	open_lender(&l);
	f = l.s.f;
	fixture_sql(f, "update agent_rows set default_role_enabled = 0", NO_ARGS);
	for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
		struct answer r;
		const char *id;

		test_step("%s", losses[i].name);
		fixture_sql(f, losses[i].take, ARGS(T(l.user_id)));
		r = hook_send(&l.s, HOOK_EVENT, arena_printf(&f->arena, "lost-%zu", i));
		STATUS(r, 403);
		CHECK(strstr(r.body, "rights"));
		r = hook_log(&l.s);
		CHECK_STR(text_at(&r, "items.0.status"), "blocked");
		CHECK(strstr(r.body, "\"rights\""));
		id = text_at(&r, "items.0.id");
		r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", f->tenant_id, l.s.id);
		CHECK(text_at(&r, "acts_as_problem") && *text_at(&r, "acts_as_problem"));
		if (losses[i].says)
			CHECK(strstr(text_at(&r, "acts_as_problem"), losses[i].says) != NULL);
		fixture_sql(f, losses[i].give, ARGS(T(l.user_id)));
		r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", f->tenant_id, l.s.id);
		CHECK(json_is_null(at(&r, "acts_as_problem")));
		STATUS(ask(f, f->admin, NULL,
			       "POST /tenant/%s/integrations/%s/deliveries/%s/redeliver",
			       f->tenant_id, l.s.id, id),
			202);
		hook_settle(&l.s);
		r = hook_log(&l.s);
		CHECK_STR(text_at(&r, "items.0.status"), "delivered");
	}
	fixture_close(f);
}
