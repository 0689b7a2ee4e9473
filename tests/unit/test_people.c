/* test_people.c - every way in which somebody becomes known here, crossed with every way in which a second tenant
 * takes them in.
 *
 * A stranger is whoever holds what an inviter can see: a token, and what it
 * opens.  The person is whoever the provider vouches for.  In every cell the
 * stranger reads nothing of the second tenant, at any time; the person reads
 * nothing of it before they have accepted; and once the person has proven the
 * address, nothing that the stranger holds is good any more. */
#include "oidc_fixture.h"

#include "api/tenants/bootstrap.h"
#include "base/crypto.h"
#include "store/engine.h"

#define PASSWORD "the stranger's own"

struct person {
	const char *email, *user_id;
	const char *token;		    /* of the first tenant's invitation, not used yet */
	const char *login, *key, *password; /* what the stranger got hold of */
	bool proven;			    /* before the provider was ever asked */
	bool suspended, is_super, gone;
	bool own_password; /* `password` is the person's own and stays */
};

/* The second tenant. */
struct second {
	const char *id, *agent_id, *group_id, *model_id;
};

static const char *with_email(struct fixture *f, const struct person *p, const char *role)
{
	return arena_printf(
		&f->arena, "{\"email\":\"%s\",\"role\":\"%s\"}", p->email, role ? role : "MEMBER");
}

/* ---- how they became known ---- */

static void known_by_nothing(struct fixture *f, const char *first, struct person *p)
{
	(void)f, (void)first, (void)p;
}

static void known_invited(struct fixture *f, const char *first, struct person *p)
{
	struct answer r =
		ask(f, f->admin, with_email(f, p, NULL), "POST /tenant/%s/members", first);

	STATUS(r, 201);
	p->token = text_at(&r, "invite_token");
	p->user_id = text_at(&r, "user_id");
}

static void accept_as_stranger(struct fixture *f, const char *first, struct person *p)
{
	struct answer r = ask(f, NULL,
		arena_printf(&f->arena,
			"{\"token\":\"%s\",\"name\":\"S\",\"password\":\"" PASSWORD "\"}",
			p->token),
		"POST /auth/accept-invite");

	STATUS(r, 200);
	p->login = text_at(&r, "token");
	p->user_id = text_at(&r, "user.id");
	p->password = PASSWORD;
	r = ask(f, p->login, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", first);
	STATUS(r, 201);
	p->key = text_at(&r, "key");
}

static void known_by_token(struct fixture *f, const char *first, struct person *p)
{
	known_invited(f, first, p);
	accept_as_stranger(f, first, p);
}

static void known_and_removed(struct fixture *f, const char *first, struct person *p)
{
	known_by_token(f, first, p);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", first, p->user_id), 204);
	p->key = NULL;
}

static void known_and_suspended(struct fixture *f, const char *first, struct person *p)
{
	known_by_token(f, first, p);
	STATUS(ask(f, f->admin, "{\"is_suspended\":true}", "PATCH /admin/users/%s", p->user_id),
		200);
	p->suspended = true;
}

static void known_and_deleted(struct fixture *f, const char *first, struct person *p)
{
	known_by_token(f, first, p);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/users/%s", p->user_id), 204);
	p->gone = true;
	p->user_id = NULL;
}

/* A provider that does not vouch for the address links nobody to it. */
static void known_unverified(struct fixture *f, const char *first, struct person *p)
{
	known_by_token(f, first, p);
	provider.verified = false;
	STATUS(provider_sign_in(f), 403);
	provider.verified = true;
}

static void known_verified(struct fixture *f, const char *first, struct person *p)
{
	provider_allow(f, first, p->email);
	STATUS(provider_sign_in(f), 200);
	p->proven = true;
}

static void known_allowed(struct fixture *f, const char *first, struct person *p)
{
	provider_allow(f, first, p->email);
}

static int make_in(struct db *db, void *data)
{
	struct person *p = data;
	static struct arena a;
	char hash[PASSWORD_HASH_MAX];
	struct new_user in = { .email = p->email,
		.password_hash = hash,
		.proven = true,
		.is_super_admin = p->is_super };
	const char *id;

	CHECK(password_hash(PASSWORD, strlen(PASSWORD), hash));
	return user_make(db, &a, &in, &id);
}

/* As `lodge user create` does. */
static void known_to_operator(struct fixture *f, const char *first, struct person *p)
{
	(void)first;
	CHECK_INT(fixture_work(f, make_in, p), 0);
	p->password = PASSWORD;
	p->proven = p->own_password = true;
}

static void known_super(struct fixture *f, const char *first, struct person *p)
{
	p->is_super = true;
	known_to_operator(f, first, p);
}

static const struct {
	const char *name;
	void (*make)(struct fixture *f, const char *first, struct person *p);
	bool late; /* the stranger uses the first tenant's token after the second has acted */
} ways_known[] = {
	{ "not at all", known_by_nothing },
	{ "invited, the token unused", known_invited },
	{ "invited, the token used too late", known_invited, .late = true },
	{ "invitation accepted by token", known_by_token },
	{ "accepted by token, then removed", known_and_removed },
	{ "accepted by token, then suspended", known_and_suspended },
	{ "accepted by token, then deleted", known_and_deleted },
	{ "accepted by token, provider unverified", known_unverified },
	{ "provider verified", known_verified },
	{ "allowed account", known_allowed },
	{ "the operator's account", known_to_operator },
	{ "super administrator", known_super },
};

/* ---- how the second tenant takes them in ---- */

static void take_by_invitation(struct fixture *f, const struct second *b, struct person *p)
{
	STATUS(ask(f, f->admin, with_email(f, p, NULL), "POST /tenant/%s/members", b->id), 201);
}

static void take_as_owner(struct fixture *f, const struct second *b, struct person *p)
{
	struct answer r =
		ask(f, f->admin, with_email(f, p, "GUEST"), "POST /tenant/%s/members", b->id);

	STATUS(r, 201);
	test_step("asked again, and raised while they have not answered");
	STATUS(ask(f, f->admin, with_email(f, p, "GUEST"), "POST /tenant/%s/members", b->id), 200);
	STATUS(ask(f, f->admin, "{\"role\":\"OWNER\"}", "PATCH /tenant/%s/members/%s", b->id,
		       text_at(&r, "user_id")),
		200);
}

static void take_by_allowing(struct fixture *f, const struct second *b, struct person *p)
{
	provider_allow(f, b->id, p->email);
}

static const char *id_of(struct fixture *f, const struct person *p)
{
	return p->user_id ? p->user_id : f->tenant_id; /* nobody's */
}

static void take_by_group(struct fixture *f, const struct second *b, struct person *p)
{
	STATUS(ask(f, f->admin, "", "PUT /tenant/%s/groups/%s/members/%s", b->id, b->group_id,
		       id_of(f, p)),
		404);
}

static void take_by_role(struct fixture *f, const struct second *b, struct person *p)
{
	STATUS(ask(f, f->admin, "{\"role\":\"OWNER\"}", "PUT /agents/%s/roles/%s", b->agent_id,
		       id_of(f, p)),
		404);
}

static void take_by_older_grant(struct fixture *f, const struct second *b, struct person *p)
{
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"user_id\":\"%s\"}", id_of(f, p)),
		       "POST /agents/%s/users", b->agent_id),
		404);
}

static void take_by_transfer(struct fixture *f, const struct second *b, struct person *p)
{
	struct answer r =
		ask(f, f->admin, arena_printf(&f->arena, "{\"new_owner_id\":\"%s\"}", id_of(f, p)),
			"POST /agents/%s/transfer-ownership", b->agent_id);

	CHECK(r.status == 404 || r.status == 422);
}

static void take_by_model(struct fixture *f, const struct second *b, struct person *p)
{
	STATUS(ask(f, f->admin, "", "PUT /tenant/%s/models/%s/users/%s", b->id, b->model_id,
		       id_of(f, p)),
		404);
}

/* An invitation that is open makes none of the others work. */
static void take_by_all(struct fixture *f, const struct second *b, struct person *p)
{
	struct answer r =
		ask(f, f->admin, with_email(f, p, NULL), "POST /tenant/%s/members", b->id);

	STATUS(r, 201);
	p->user_id = text_at(&r, "user_id");
	take_by_group(f, b, p);
	take_by_role(f, b, p);
	take_by_older_grant(f, b, p);
	take_by_transfer(f, b, p);
	take_by_model(f, b, p);
}

static const struct {
	const char *name;
	void (*take)(struct fixture *f, const struct second *b, struct person *p);
	bool invites, allows;
} ways_taken[] = {
	{ "invited", take_by_invitation, .invites = true },
	{ "invited as OWNER, twice", take_as_owner, .invites = true },
	{ "allowed", take_by_allowing, .allows = true },
	{ "put into a group", take_by_group },
	{ "given a role", take_by_role },
	{ "given an older grant", take_by_older_grant },
	{ "made an agent's owner", take_by_transfer },
	{ "given a model", take_by_model },
	{ "invited, and given everything", take_by_all, .invites = true },
};

/* ---- what must hold ---- */

/* Whoever holds the credential reads nothing of the second tenant. */
static void reads_nothing(struct fixture *f, const char *token, const struct second *b)
{
	static const char *const paths[] = { "/tenant/%s", "/tenant/%s/members",
		"/tenant/%s/agents", "/tenant/%s/groups", "/tenant/%s/autocomplete?q=a" };
	struct answer r;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		r = ask(f, token, NULL, "GET %s", arena_printf(&f->arena, paths[i], b->id));
		CHECK(r.status == 404 || r.status == 401 || r.status == 403);
		CHECK(!strstr(r.body, b->id));
	}
	r = ask(f, token, NULL, "GET /agents/%s", b->agent_id);
	CHECK(r.status == 404 || r.status == 401 || r.status == 403);
	r = ask(f, token, NULL, "GET /tenants");
	CHECK(!strstr(r.body, b->id));
	r = ask(f, token, NULL, "GET /me");
	CHECK(!strstr(r.body, b->id));
	r = ask(f, token, NULL, "GET /v1/models");
	CHECK(!strstr(r.body, b->agent_id));
}

static const char *sign_in(struct fixture *f, const struct person *p, int want)
{
	struct answer r = fixture_sign_in(f, p->email, p->password);

	STATUS(r, want);
	return r.status == 200 ? text_at(&r, "token") : NULL;
}

static void stranger_gets_nowhere(struct fixture *f, const struct person *p, const struct second *b)
{
	const char *const held[] = { p->login, p->key };
	struct answer r;

	for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
		if (!held[i])
			continue;
		reads_nothing(f, held[i], b);
		r = ask(f, held[i], NULL, "GET /me/invitations");
		CHECK(!strstr(r.body, b->id));
		r = ask(f, held[i], "{\"accept\":true}", "POST /me/invitations/%s", b->id);
		CHECK(r.status == 409 || r.status == 401 || r.status == 403);
		reads_nothing(f, held[i], b);
	}
}

/* Proven: nothing that came without proof is good any more, and no token of an invitation either. */
static void stranger_is_out(struct fixture *f, struct person *p)
{
	if (p->login)
		STATUS(ask(f, p->login, NULL, "GET /me"), 401);
	if (p->key)
		STATUS(ask(f, p->key, NULL, "GET /me"), 401);
	if (p->password && !p->own_password)
		sign_in(f, p, 401);
	if (p->token)
		STATUS(ask(f, NULL,
			       arena_printf(&f->arena,
				       "{\"token\":\"%s\",\"name\":\"S\",\"password\":\"another one\"}",
				       p->token),
			       "POST /auth/accept-invite"),
			401);
}

static const char *login_of(struct fixture *f, const struct answer *r)
{
	const char *cookie = header_of(f, r, "Set-Cookie"), *value = strchr(cookie, '=') + 1;

	return arena_strndup(&f->arena, value, strcspn(value, ";"));
}

static void person_accepts(struct fixture *f, const char *login, const struct second *b)
{
	struct answer r = ask(f, login, NULL, "GET /me/invitations");

	STATUS(r, 200);
	CHECK(strstr(r.body, b->id));
	r = ask(f, login, "{\"accept\":true}", "POST /me/invitations/%s", b->id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "tenant_id"), b->id);
	STATUS(ask(f, login, NULL, "GET /tenant/%s", b->id), 200);
	STATUS(ask(f, login, "{\"accept\":true}", "POST /me/invitations/%s", b->id), 404);
}

static bool is_asked(struct fixture *f, const char *login, const struct second *b)
{
	struct answer r = ask(f, login, NULL, "GET /me/invitations");

	STATUS(r, 200);
	return strstr(r.body, b->id) != NULL;
}

/* The person comes by the provider; false if there is nobody to be. */
static bool person_arrives(
	struct fixture *f, struct person *p, const struct second *b, bool joins, const char **ret)
{
	struct answer r = provider_sign_in(f);

	if (r.status != 200) {
		CHECK_INT(r.status, 403);
		return false;
	}
	*ret = login_of(f, &r);
	stranger_is_out(f, p);
	/* Whoever is in no tenant is taken in by one that allows the address; anybody else is asked. */
	if (joins && is_asked(f, *ret, b))
		person_accepts(f, *ret, b);
	else if (joins)
		STATUS(ask(f, *ret, NULL, "GET /tenant/%s", b->id), 200);
	else if (!p->is_super)
		reads_nothing(f, *ret, b);
	return true;
}

static struct second second_tenant(struct fixture *f, int n)
{
	struct second b = { .id = fixture_tenant(
				    f, arena_printf(&f->arena, "b%d", n), f->admin_id) };
	struct answer r;

	b.agent_id = fixture_agent_of(f, f->admin, b.id, "a");
	b.group_id =
		fixture_created(f, f->admin, "{\"name\":\"G\"}", "POST /tenant/%s/groups", b.id);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/models", b.id);
	b.model_id = text_at(&r, "items.0.id");
	return b;
}

/* One cell. */
static void cross(struct fixture *f, const char *first, size_t known, size_t taken, int n)
{
	struct person p = { .email = arena_printf(&f->arena, "p%d@example.org", n) };
	struct second b = second_tenant(f, n);
	const char *login = NULL;
	bool arrived;

	test_step("%s; %s", ways_known[known].name, ways_taken[taken].name);
	provider.email = p.email;
	provider.sub = p.email;
	fixture_sql(f, "delete from attempts", NO_ARGS);
	ways_known[known].make(f, first, &p);
	ways_taken[taken].take(f, &b, &p);
	if (ways_known[known].late)
		accept_as_stranger(f, first, &p);
	stranger_gets_nowhere(f, &p, &b);
	if (p.own_password) {
		login = sign_in(f, &p, 200);
		if (!p.is_super)
			reads_nothing(f, login, &b);
	}
	arrived = person_arrives(f, &p, &b, ways_taken[taken].allows && !p.suspended, &login);
	/* Nobody signs in whom no tenant has asked, nor whoever is suspended. */
	CHECK_INT(arrived, !p.suspended && ((known && !p.gone) || ways_taken[taken].invites ||
						   ways_taken[taken].allows));
	if (arrived && ways_taken[taken].invites)
		person_accepts(f, login, &b);
	stranger_gets_nowhere(f, &p, &b);
	if (p.own_password)
		sign_in(f, &p, 200);
}

TEST(people_every_way_to_be_known_times_every_way_to_be_taken_in)
{
	struct fixture *f = provider_open();
	const char *first = fixture_tenant(f, "first", f->admin_id);
	int n = 0;

	for (size_t k = 0; k < sizeof ways_known / sizeof *ways_known; k++)
		for (size_t t = 0; t < sizeof ways_taken / sizeof *ways_taken; t++)
			cross(f, first, k, t, n++);
	provider_close(f);
}

TEST(people_an_invitation_is_declined_and_made_again)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "ada@example.org", &token);
	struct answer r;

	fixture_sql(f, "update users set email_proven_at = 1 where id = $1", ARGS(T(user)));
	STATUS(ask(f, f->admin, "{\"email\":\"ada@example.org\"}", "POST /tenant/%s/members",
		       f->tenant_id),
		201);
	CHECK_INT(fixture_count(f, "select sum(members) from tenant_counts"), 2);
	r = ask(f, f->admin, NULL, "GET /admin/users?q=ada");
	CHECK_INT(json_integer_value(at(&r, "items.0.tenant_count")), 0);
	CHECK(json_is_null(at(&r, "items.0.primary_tenant")));
	r = ask(f, token, NULL, "GET /me/invitations");
	CHECK_STR(text_at(&r, "items.0.tenant_slug"), "demo");
	STATUS(ask(f, token, "{\"accept\":false}", "POST /me/invitations/%s", f->tenant_id), 204);
	STATUS(ask(f, token, "{\"accept\":true}", "POST /me/invitations/%s", f->tenant_id), 404);
	CHECK_INT(fixture_count(f, "select sum(members) from tenant_counts"), 1);
	CHECK_INT(fixture_count(
			  f, "select count(*) from audit_logs where action = 'invitation.decline'"),
		1);
	STATUS(ask(f, f->admin, "{\"email\":\"ada@example.org\"}", "POST /tenant/%s/members",
		       f->tenant_id),
		201);
	STATUS(ask(f, token, "{\"accept\":true}", "POST /me/invitations/%s", f->tenant_id), 200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=ada", f->tenant_id);
	CHECK(strstr(r.body, user));
	fixture_close(f);
}

/* Whoever a tenant made and removed comes back by that tenant's invitation, and by no other's. */
TEST(people_who_come_by_a_provider_have_nothing_of_an_invitation)
{
	struct fixture *f = provider_open();
	struct answer r = ask(f, f->admin, "{\"email\":\"ADA@example.org\",\"name\":\"Secret\"}",
		"POST /tenant/%s/members", f->tenant_id);
	const char *login;

	STATUS(r, 201);
	fixture_sql(f,
		"update users set name = 'Secret', email = 'ADA@example.org' where email_folded = $1",
		ARGS(T("ada@example.org")));
	r = provider_sign_in(f);
	STATUS(r, 200);
	login = login_of(f, &r);
	r = ask(f, login, NULL, "GET /me");
	CHECK_STR(text_at(&r, "email"), provider.email);
	CHECK(json_is_null(at(&r, "name")));
	test_step("a name of one's own stays at the next sign-in");
	STATUS(ask(f, login, "{\"name\":\"Own\"}", "PATCH /me"), 200);
	r = provider_sign_in(f);
	r = ask(f, login_of(f, &r), NULL, "GET /me");
	CHECK_STR(text_at(&r, "name"), "Own");
	provider_close(f);
}

TEST(people_the_tenant_that_made_an_account_may_take_it_back)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct person p = { .email = "ada@example.org" };
	struct answer r;

	known_and_removed(f, f->tenant_id, &p);
	take_by_invitation(f, &(struct second){ .id = f->tenant_id }, &p);
	take_by_invitation(f, &(struct second){ .id = other }, &p);
	r = ask(f, p.login, NULL, "GET /me/invitations");
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	r = ask(f, p.login, "{\"accept\":true}", "POST /me/invitations/%s", other);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:address_unproven");
	STATUS(ask(f, p.login, "{\"accept\":true}", "POST /me/invitations/%s", f->tenant_id), 200);
	STATUS(ask(f, p.login, NULL, "GET /tenant/%s", f->tenant_id), 200);
	STATUS(ask(f, p.login, NULL, "GET /tenant/%s", other), 404);
	fixture_close(f);
}

static const char *before_the_rule(
	struct fixture *f, const char *email, bool password, bool provider_too)
{
	const char *id = fixture_user(f, email, NULL);

	if (password)
		fixture_sql(f, "update users set password_hash = 'x' where id = $1", ARGS(T(id)));
	if (provider_too)
		fixture_sql(f,
			"insert into identities (provider, subject, user_id, created_at) "
			"values ('sso', $1, $1, 1)",
			ARGS(T(id)));
	return id;
}

static void joined(struct fixture *f, const char *tenant_id, const char *user_id, const char *role,
	int64_t when)
{
	fixture_member(f, tenant_id, user_id, role);
	fixture_sql(f, "update members set created_at = $3 where tenant_id = $1 and user_id = $2",
		ARGS(T(tenant_id), T(user_id), N(when)));
}

/* What the migration does to rows; its columns are there already. */
static void migrate_again(struct fixture *f)
{
	for (int i = 0; i < migration_count; i++) {
		const char *at = strstr(migrations[i].name, "_people") ? migrations[i].sql : "";

		for (; *at; at += strcspn(at, ";"), at += strspn(at, ";\n"))
			if (strncmp(at, "update", 6) == 0)
				fixture_sql(
					f, arena_strndup(&f->arena, at, strcspn(at, ";")), NO_ARGS);
	}
}

static int64_t is_active(struct fixture *f, const char *tenant_id, const char *user_id)
{
	return fixture_count(f, arena_printf(&f->arena,
					"select count(*) from members where tenant_id = '%s' "
					"and user_id = '%s' and status = 'active'",
					tenant_id, user_id));
}

TEST(people_from_before_the_rule_are_invited_again_where_they_proved_nothing)
{
	struct fixture *f = fixture_open();
	const char *second = fixture_tenant(f, "second", f->admin_id), *third;
	const char *vouched = before_the_rule(f, "vouched@example.org", false, true);
	const char *two = before_the_rule(f, "two@example.org", true, true);
	const char *member = before_the_rule(f, "member@example.org", true, false);
	const char *owner = before_the_rule(f, "owner@example.org", true, false);
	const char *people[] = { vouched, two, member, owner };

	for (int i = 0; i < 4; i++) {
		joined(f, f->tenant_id, people[i], "MEMBER", 1);
		joined(f, second, people[i], i == 3 ? "OWNER" : "ADMIN", 2);
	}
	third = fixture_tenant(f, "third", owner);
	fixture_sql(f, "update users set email_proven_at = null", NO_ARGS);
	migrate_again(f);
	CHECK_INT(fixture_count(f, "select count(*) from users where email_proven_at is not null"),
		2); /* the super administrator, and who only ever signed in at a provider */
	for (int i = 0; i < 4; i++) {
		CHECK_INT(is_active(f, f->tenant_id, people[i]), 1);
		CHECK_INT(is_active(f, second, people[i]), people[i] == vouched);
	}
	CHECK_INT(is_active(f, third, owner), 1); /* its only OWNER */
	CHECK_INT(is_active(f, second, f->admin_id), 1);
	fixture_close(f);
}
