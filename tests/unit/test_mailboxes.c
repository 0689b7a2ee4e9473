/* test_mailboxes.c - every agent has its mailboxes however it came about, they follow the flags, and what lacks one is
 * healed. */
#include <unistd.h>

#include "bundle_fixture.h"
#include "fixture.h"
#include "mailboxes/mail_domains.h"
#include "mailboxes/mailbox.h"

enum { MANY = 2 * MAILBOX_WALK_PIECE + 17 };

static int64_t boxes(struct fixture *f)
{
	return fixture_count(f, "select count(*) from mailboxes");
}

static const char *address_of(struct fixture *f, const char *agent)
{
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/mailboxes", agent);

	STATUS(r, 200);
	return text_at(&r, "items.0.address");
}

static void domain_is(const char *domain, bool provisions)
{
	struct mailbox_policy policy = *mailbox_policy();

	policy.domain = domain;
	policy.provisions = provisions;
	mailbox_policy_set(&policy);
}

static int64_t heal(struct fixture *f, const char *body, const char *query)
{
	struct answer r = ask(f, f->admin, body, "POST /admin/mail/heal%s", query);

	STATUS(r, 200);
	return json_integer_value(at(&r, "provisioned"));
}

/* What is said of mailboxes that another mail_domain left behind; "": nothing. */
static const char *left(struct fixture *f)
{
	struct problem p = { 0 };
	const char *sentence = NULL;
	struct db *db = NULL;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(db_begin(db, READ_ONLY), 0);
	CHECK_INT(mail_domain_left(db, &f->arena, &sentence), 0);
	CHECK_INT(mail_domain_known(db, &f->arena, "demo.mail.example.org"),
		*mailbox_policy()->domain == 'm' ? 0 : ERR_INVALID);
	if (*mailbox_policy()->domain == 'm') {
		CHECK_INT(mail_domain_known(db, &f->arena, "mail.example.org"), 0);
		CHECK_INT(mail_domain_known(db, &f->arena, "dmeo.mail.example.org"), ERR_NOT_FOUND);
		CHECK_INT(mail_domain_known(db, &f->arena,
				  arena_printf(&f->arena, "%s.mail.example.org", f->tenant_id)),
			0);
	}
	db_rollback(db);
	db_close(db);
	return sentence ? sentence : "";
}

TEST(mailboxes_of_a_former_domain_are_told)
{
	struct fixture *f = fixture_open();
	const char *agent;

	domain_is("mail.example.org", true);
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /admin/tenants/%s",
		       f->tenant_id),
		200);
	agent = fixture_agent(f, "desk");
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", agent),
		200);
	CHECK_STR(left(f), "");
	test_step("another domain, whose end is the same");
	domain_is("2mail.example.org", true);
	CHECK(strstr(left(f), "1 external mailbox, such as desk@demo.mail.example.org, has no"));
	CHECK(strstr(left(f), "POST /admin/mail/heal with {\"service\": \"external\"}"));
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), 1);
	CHECK_STR(left(f), "");
	test_step("none");
	domain_is("", true);
	CHECK(strstr(left(f), "not set"));
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), 1);
	CHECK_STR(left(f), "");
	fixture_close(f);
}

/* What is said of reserved names, and whether mail to this address is taken. */
static const char *reserved(struct fixture *f, const char *address, enum mail_taking *ret)
{
	struct mail_address to;
	struct mail_found found;
	const char *sentence = NULL, *fault;
	struct problem p = { 0 };
	struct db *db = NULL;

	CHECK(mail_address_parse(address, strlen(address), &to, &fault));
	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(db_begin(db, READ_ONLY), 0);
	CHECK_INT(mail_domain_reserved(db, &f->arena, &sentence), 0);
	CHECK_INT(mail_find(db, &f->arena, "jo@example.org", &to, 1 << 30, 1, &found), 0);
	*ret = found.recipient.taking;
	db_rollback(db);
	db_close(db);
	return sentence ? sentence : "";
}

TEST(mailboxes_of_a_reserved_name_have_no_address_of_it)
{
	struct fixture *f = fixture_open();
	const char *postmaster = "postmaster@demo.mail.example.org", *agent;
	enum mail_taking taking;

	domain_is("mail.example.org", true);
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /admin/tenants/%s",
		       f->tenant_id),
		200);
	agent = fixture_agent(f, "old");
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", agent),
		200);
	CHECK_STR(reserved(f, "old@demo.mail.example.org", &taking), "");
	CHECK(taking == MAIL_TAKES);
	test_step("one of a time before");
	fixture_sql(f, "update agent_rows set slug = 'postmaster' where id = $1", ARGS(T(agent)));
	fixture_sql(f,
		"update mailboxes set address = $2 where agent_id = $1 and kind = 'external'",
		ARGS(T(agent), T(postmaster)));
	CHECK(strstr(reserved(f, postmaster, &taking), "such as postmaster@demo"));
	CHECK(taking == MAIL_NOBODY);
	test_step("is healed");
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), 1);
	CHECK_STR(reserved(f, arena_printf(&f->arena, "%s@demo.mail.example.org", agent), &taking),
		"");
	CHECK(taking == MAIL_TAKES);
	domain_is("", true);
	fixture_close(f);
}

TEST(mailboxes_every_new_agent_has_one)
{
	struct fixture *f = fixture_open_seeded();
	const char *id,
		*lacking =
			"select count(*) from agents a where not exists (select 1 from mailboxes m "
			"where m.agent_id = a.id and m.kind = 'internal' and m.enabled = 1)";
	struct answer r;
	size_t len;
	const char *text;

	test_step("seeded");
	CHECK(fixture_count(f, "select count(*) from agents") > 0);
	CHECK_INT(fixture_count(f, lacking), 0);
	test_step("made");
	id = fixture_agent(f, "front-desk");
	CHECK_STR(address_of(f, id), "front-desk@demo.lodge.internal");
	test_step("cloned");
	r = ask(f, f->admin, "{\"name\":\"Back Desk\"}", "POST /agents/%s/clone", id);
	STATUS(r, 201);
	CHECK_STR(address_of(f, text_at(&r, "id")), "back-desk@demo.lodge.internal");
	test_step("imported");
	text = bundle_example(&f->arena, "letta-2.af", &len);
	STATUS(ask_bytes(f, f->admin, text, len,
		       "POST /tenant/%s/agents/import\nContent-Type: application/json",
		       f->tenant_id),
		201);
	test_step("as an assistant");
	STATUS(ask(f, f->admin, "{\"model\":\"demo\",\"name\":\"Helper\"}", "POST /v1/assistants"),
		200);
	CHECK_INT(fixture_count(f, lacking), 0);
	CHECK_INT(boxes(f), fixture_count(f, "select count(*) from agents"));
	fixture_close(f);
}

TEST(mailboxes_have_addresses_that_mail_can_go_to)
{
	static const struct {
		const char *slug;
		bool internal, external; /* whether the slug itself is in the address */
	} slugs[] = {
		{ "a", true, true },
		{ "abcdefghijklmnopqrstuvwxy", true, true },
		{ "abcdefghijklmnopqrstuvwxyz", true, false },
		{ "ends-", false, false },
		{ "c00000000000000000000000x", false, false },
		{ "a123456789b123456789c123456789d123456789e123456789f123456789g123", false,
			false },
	};
	struct mailbox_names n = {
		.agent_id = "cagent", .tenant_id = "ctenant", .tenant_slug = "t"
	};
	struct arena a = { 0 };

	domain_is("mail.example.org", true);
	for (size_t i = 0; i < sizeof slugs / sizeof *slugs; i++) {
		test_step("%s", slugs[i].slug);
		n.agent_slug = slugs[i].slug;
		CHECK_STR(mailbox_address(&a, MailboxKind_internal, &n),
			arena_printf(&a, "%s@t.lodge.internal",
				slugs[i].internal ? slugs[i].slug : "cagent"));
		CHECK_STR(mailbox_address(&a, MailboxKind_external, &n),
			arena_printf(&a, "%s@t.mail.example.org",
				slugs[i].external ? slugs[i].slug : "cagent"));
	}
	n.agent_slug = "a";
	n.tenant_slug = "t-";
	CHECK_STR(mailbox_address(&a, MailboxKind_internal, &n), "a@ctenant.lodge.internal");
	test_step("domains");
	CHECK(mailbox_domain_valid("") && mailbox_domain_valid("a.b"));
	CHECK(!mailbox_domain_valid("a") && !mailbox_domain_valid("a..b"));
	CHECK(!mailbox_domain_valid("a.b.") && !mailbox_domain_valid("-a.b"));
	CHECK(!mailbox_domain_valid("A.b") && !mailbox_domain_valid("a b.c"));
	domain_is("", true);
	arena_free(&a);
}

/* Agents of a time before there were mailboxes. */
static void add_agents(struct fixture *f, const char *like, int count)
{
	fixture_sql(f,
		arena_printf(&f->arena,
			"%s insert into agent_rows (tenant_id, id, name, slug, kind, resource_class, "
			"code_ref, is_active, is_admin_only, is_seed, hidden, default_role_enabled, "
			"can_author_skills, editor_enabled, external_mail_enabled, meeting_managed, "
			"environment_mode, skill_visibility_scope, created_at, updated_at, name_folded%s) "
			"select tenant_id, id || n.i, name, 's-' || n.i, kind, resource_class, code_ref, "
			"is_active, is_admin_only, is_seed, hidden, default_role_enabled, "
			"can_author_skills, editor_enabled, external_mail_enabled, meeting_managed, "
			"environment_mode, skill_visibility_scope, created_at, updated_at, name_folded%s "
			"from agent_rows, %s where id = $1 and $2 > 0",
			fixture_is_sqlite() ? "with recursive n(i) as (select 1 union all "
					      "select i + 1 from n where i < $2)"
					    : "",
			fixture_is_sqlite() ? ", place" : "",
			fixture_is_sqlite() ? ", place + n.i" : "",
			fixture_is_sqlite() ? "n" : "generate_series(1, $2::bigint) as n(i)"),
		ARGS(T(like), N(count)));
}

TEST(mailboxes_heal_makes_what_is_missing_in_pieces)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *token;
	struct answer r;

	add_agents(f, agent, MANY);
	CHECK_INT(boxes(f), 1);
	test_step("a dry run counts and makes nothing");
	CHECK_INT(heal(f, "{}", "?dry_run=true"), MANY);
	CHECK_INT(boxes(f), 1);
	test_step("switched off");
	domain_is("", false);
	r = ask(f, f->admin, "{}", "POST /admin/mail/heal");
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "provisioning_enabled")));
	CHECK_INT(boxes(f), 1);
	domain_is("", true);
	test_step("without a body it is the internal ones");
	CHECK_INT(heal(f, NULL, ""), MANY);
	CHECK_INT(boxes(f), MANY + 1);
	CHECK_INT(heal(f, "{\"service\":\"internal\"}", ""), 0);
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), 0);
	CHECK_INT(boxes(f), MANY + 1);
	test_step("all of a flag's, which takes more than one piece too");
	domain_is("mail.example.org", true);
	fixture_sql(f, "update tenants set external_mail_enabled = 1 where id = $1",
		ARGS(T(f->tenant_id)));
	CHECK_INT(heal(f, "{\"service\":\"external\"}", "?dry_run=true"), MANY + 1);
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), MANY + 1);
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), 0);
	test_step("another domain");
	domain_is("post.example.org", true);
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), MANY + 1);
	CHECK_INT(fixture_count(f, "select count(*) from mailboxes where address like "
				   "'%@demo.post.example.org'"),
		MANY + 1);
	test_step("none");
	domain_is("", true);
	CHECK_INT(heal(f, "{\"service\":\"external\"}", ""), MANY + 1);
	CHECK_INT(fixture_count(f, "select count(*) from mailboxes where enabled = 1"), MANY + 1);
	fixture_user(f, "m@example.org", &token);
	STATUS(ask(f, token, "{}", "POST /admin/mail/heal"), 403);
	fixture_close(f);
}

static void wait_for(struct fixture *f, const char *sql, int64_t wanted)
{
	for (int i = 0; i < 5000 && fixture_count(f, sql) != wanted; i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, sql), wanted);
}

#define OUTSIDE "select count(*) from mailboxes where kind = 'external' and enabled = 1"

TEST(mailboxes_follow_the_flags_at_once)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *box;
	struct answer r;

	domain_is("mail.example.org", true);
	fixture_agent(f, "b");
	CHECK_INT(fixture_count(f, OUTSIDE), 0);
	test_step("the tenant's");
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /tenant/%s",
		       f->tenant_id),
		200);
	wait_for(f, OUTSIDE, 2);
	test_step("a new agent");
	fixture_agent(f, "c");
	CHECK_INT(fixture_count(f, OUTSIDE), 3);
	test_step("the agent's");
	r = ask(f, f->admin, NULL, "GET /agents/%s/mailboxes", agent);
	CHECK_STR(text_at(&r, "items.0.address"), "a@demo.mail.example.org");
	box = text_at(&r, "items.0.id");
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":false}", "PATCH /agents/%s", agent),
		200);
	CHECK_INT(fixture_count(f, OUTSIDE), 2);
	r = ask(f, f->admin, "{\"is_active\":true}", "PATCH /agents/%s/mailboxes/%s", agent, box);
	STATUS(r, 409);
	r = ask(f, f->admin, "{\"is_paused\":false}", "PATCH /admin/mail/mailboxes/%s", box);
	STATUS(r, 409);
	test_step("what somebody paused stays paused");
	r = ask(f, f->admin, "{\"is_active\":false}", "PATCH /agents/%s/mailboxes/%s", agent, box);
	STATUS(r, 200);
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", agent),
		200);
	CHECK_INT(fixture_count(f, OUTSIDE), 3);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mailboxes", agent);
	CHECK(json_is_false(at(&r, "items.0.is_active")));
	r = ask(f, f->admin, "{\"is_active\":true}", "PATCH /agents/%s/mailboxes/%s", agent, box);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "is_active")));
	r = ask(f, f->admin, NULL, "GET /agents/%s/mailboxes/%s", agent, box);
	CHECK(json_is_true(at(&r, "is_active")));
	test_step("by the super administrator");
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":false}", "PATCH /admin/tenants/%s",
		       f->tenant_id),
		200);
	wait_for(f, OUTSIDE, 0);
	domain_is("", true);
	fixture_close(f);
}

TEST(mailboxes_stand_in_the_roster_and_go_with_their_agent)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "alpha"), *box, *token,
		   *other = fixture_tenant(f, "other", fixture_user(f, "o@example.org", &token));
	struct answer r;

	fixture_agent_of(f, token, other, "beta");
	r = ask(f, f->admin, NULL, "GET /admin/mail/mailboxes");
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 2);
	r = ask(f, f->admin, NULL, "GET /admin/mail/mailboxes?q=ALPHA&kind=internal&paused=false");
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	CHECK_STR(text_at(&r, "items.0.address"), "alpha@demo.lodge.internal");
	CHECK_STR(text_at(&r, "items.0.agent_name"), "A");
	CHECK(json_is_null(at(&r, "items.0.last_message_at")));
	box = text_at(&r, "items.0.id");
	r = ask(f, f->admin, NULL, "GET /admin/mail/mailboxes?tenant_id=%s", other);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	CHECK_STR(text_at(&r, "items.0.tenant_id"), other);
	r = ask(f, f->admin, "{\"is_paused\":true}", "PATCH /admin/mail/mailboxes/%s", box);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "is_paused")));
	r = ask(f, f->admin, NULL, "GET /admin/mail/mailboxes/%s", box);
	CHECK(json_is_true(at(&r, "is_paused")));
	r = ask(f, f->admin, NULL, "GET /admin/mail/mailboxes?paused=true");
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	STATUS(ask(f, f->admin, NULL, "GET /admin/mail/mailboxes?kind=external"), 200);
	test_step("another agent's mailbox is not this one's");
	STATUS(ask(f, f->admin, "{\"is_active\":true}", "PATCH /agents/%s/mailboxes/%s",
		       fixture_agent(f, "gamma"), box),
		404);
	test_step("deleted");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", agent), 204);
	CHECK_INT(
		fixture_count(f, "select count(*) from mailboxes where address like 'alpha@%'"), 0);
	CHECK_STR(address_of(f, fixture_agent(f, "alpha")), "alpha@demo.lodge.internal");
	fixture_close(f);
}
