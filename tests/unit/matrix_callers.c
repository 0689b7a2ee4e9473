/* matrix_callers.c - everybody who calls, and what the specification says they hold; see matrix.h. */
#include "matrix.h"

#include <stdlib.h>

#include "base/clock.h"

static struct caller_case *add(struct matrix_fixture *s, struct caller_case c)
{
	CHECK(s->caller_count < sizeof s->callers / sizeof *s->callers);
	if (!c.world)
		c.world = &s->alpha;
	s->callers[s->caller_count] = c;
	return &s->callers[s->caller_count++];
}

/* A new user, member of a tenant if a role is given. */
static const char *person(
	struct matrix_fixture *s, const struct world *w, const char *role, const char **ret_token)
{
	const char *id = fixture_user(
		s->f, arena_printf(&s->f->arena, "person%d@example.org", next_number()), ret_token);

	if (role)
		fixture_member(s->f, w->tenant_id, id, role);
	return id;
}

static void add_tenant_roles(struct matrix_fixture *s)
{
	static const struct {
		const char *role, *tenant, *open, *closed, *admin_only;
	} roles[] = {
		{ "ADMIN", SET_ADMIN, SET_AGENT_OWNER, SET_AGENT_OWNER, SET_AGENT_OWNER },
		{ "MEMBER", SET_MEMBER, SET_MEMBER_BASELINE, "", "" },
		{ "GUEST", SET_GUEST, SET_GUEST_BASELINE, "", "" },
	};
	struct arena *a = &s->f->arena;
	struct caller_case c = { "OWNER", s->alpha.owner, s->alpha.owner_id, .owner = true,
		.tenant = SET_OWNER, .agent = SET_AGENT_OWNER };

	add(s, c);
	c.name = "OWNER, default role off";
	c.kind = AGENT_CLOSED;
	add(s, c);
	c.name = "OWNER, is_admin_only";
	c.kind = AGENT_ADMIN_ONLY;
	add(s, c);
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		c = (struct caller_case){ roles[i].role, .tenant = roles[i].tenant };
		c.user_id = person(s, &s->alpha, roles[i].role, &c.token);
		c.agent = roles[i].open;
		add(s, c);
		c.name = arena_printf(a, "%s, default role off", roles[i].role);
		c.kind = AGENT_CLOSED;
		c.agent = roles[i].closed;
		add(s, c);
		c.name = arena_printf(a, "%s, is_admin_only", roles[i].role);
		c.kind = AGENT_ADMIN_ONLY;
		c.agent = roles[i].admin_only;
		add(s, c);
	}
}

static const char *group_of(struct matrix_fixture *s, const char *user_id)
{
	struct answer r = ask(s->f, s->alpha.owner,
		arena_printf(&s->f->arena, "{\"name\":\"of %d\"}", next_number()),
		"POST /tenant/%s/groups", s->alpha.tenant_id);

	STATUS(r, 201);
	STATUS(ask(s->f, s->alpha.owner, NULL, "PUT /tenant/%s/groups/%s/members/%s",
		       s->alpha.tenant_id, text_at(&r, "id"), user_id),
		201);
	return text_at(&r, "id");
}

/* The same person on the closed agent, and on the one for administrators alone. */
static void add_holder(struct matrix_fixture *s, struct caller_case c, const char *name)
{
	struct arena *a = &s->f->arena;

	c.name = arena_printf(a, "%s, default role off", name);
	c.kind = AGENT_CLOSED;
	add(s, c);
	c.name = arena_printf(a, "%s, is_admin_only", name);
	c.kind = AGENT_ADMIN_ONLY;
	c.agent = "";
	add(s, c);
	for (int k = AGENT_CLOSED; k < AGENT_KINDS; k++)
		agent_give(s->f, s->alpha.tenant_id, s->alpha.agents[k], c.user_id, c.group_id,
			c.agent_role);
}

static void add_agent_roles(struct matrix_fixture *s)
{
	static const struct {
		const char *role, *set;
	} roles[] = {
		{ "VIEWER", SET_VIEWER },
		{ "MANAGER", SET_MANAGER },
		{ "OWNER", SET_AGENT_OWNER },
	};
	struct arena *a = &s->f->arena;
	struct caller_case c;

	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		for (int by_group = 0; by_group < 2; by_group++) {
			c = (struct caller_case){ .tenant = SET_MEMBER,
				.agent = roles[i].set,
				.agent_role = roles[i].role };
			c.user_id = person(s, &s->alpha, "MEMBER", &c.token);
			if (by_group)
				c.group_id = group_of(s, c.user_id);
			add_holder(s, c,
				arena_printf(a, "agent %s by %s", roles[i].role,
					by_group ? "group" : "user"));
		}
	c = (struct caller_case){
		.tenant = SET_GUEST, .agent = SET_AGENT_OWNER, .agent_role = "OWNER"
	};
	c.user_id = person(s, &s->alpha, "GUEST", &c.token);
	add_holder(s, c, "GUEST who is agent OWNER");
	c = (struct caller_case){
		.tenant = SET_MEMBER, .agent = SET_MANAGER, .agent_role = "MANAGER"
	};
	c.user_id = person(s, &s->alpha, "MEMBER", &c.token);
	c.group_id = group_of(s, c.user_id);
	agent_give(
		s->f, s->alpha.tenant_id, s->alpha.agents[AGENT_CLOSED], c.user_id, NULL, "VIEWER");
	add_holder(s, c, "agent VIEWER by user and MANAGER by group");
}

static void add_outsiders(struct matrix_fixture *s)
{
	struct fixture *f = s->f;
	struct caller_case c = { "anonymous", .standing = NO_CREDENTIAL };

	add(s, c);
	add(s, (struct caller_case){ "another tenant's OWNER", s->beta.owner, s->beta.owner_id });
	add(s, (struct caller_case){ "a key of another tenant's OWNER",
		       key_make(f, s->beta.tenant_id, s->beta.owner_id, NULL, NIL, NULL),
		       s->beta.owner_id, .key = true });
	add(s, (struct caller_case){ "super administrator", f->admin, f->admin_id, .super = true,
		       .tenant = SET_OWNER, .agent = SET_AGENT_OWNER });
	add(s, (struct caller_case){ "super administrator, is_admin_only", f->admin, f->admin_id,
		       .super = true, .tenant = SET_OWNER, .agent = SET_AGENT_OWNER,
		       .kind = AGENT_ADMIN_ONLY });
	add(s, (struct caller_case){ "super administrator, access refused", f->admin, f->admin_id,
		       &s->shut, TENANT_CLOSED, .super = true });
	c = (struct caller_case){ "suspended user", .standing = USER_SUSPENDED };
	c.user_id = person(s, &s->alpha, "OWNER", &c.token);
	add(s, c);
	c.name = "a key of a suspended user";
	c.token = key_make(f, s->alpha.tenant_id, c.user_id, NULL, NIL, NULL);
	c.key = true;
	add(s, c);
	fixture_sql(f, "update users set is_suspended = 1 where id = $1", ARGS(T(c.user_id)));
	add(s, (struct caller_case){ "a suspended tenant's OWNER", s->halted.owner,
		       s->halted.owner_id, &s->halted, TENANT_SUSPENDED, .owner = true,
		       .tenant = SET_OWNER, .agent = SET_AGENT_OWNER });
	add(s, (struct caller_case){ "a key of a suspended tenant's OWNER",
		       key_make(f, s->halted.tenant_id, s->halted.owner_id, NULL, NIL, NULL),
		       s->halted.owner_id, &s->halted, TENANT_SUSPENDED, .key = true, .owner = true,
		       .tenant = SET_OWNER, .agent = SET_AGENT_OWNER });
}

static void add_key(struct matrix_fixture *s, struct caller_case c, int64_t expires_at)
{
	c.key = true;
	c.token = key_make(s->f, s->alpha.tenant_id, c.user_id,
		c.scopes ? scopes_json(s->f, c.scopes) : NULL, expires_at, NULL);
	add(s, c);
}

static void add_keys(struct matrix_fixture *s)
{
	static const char every[] = SET_OWNER SET_AGENT_OWNER;
	struct arena *a = &s->f->arena;
	struct caller_case owner = { "an OWNER's key", .user_id = s->alpha.owner_id, .owner = true,
		.tenant = SET_OWNER, .agent = SET_AGENT_OWNER };
	struct caller_case c = owner;

	add_key(s, c, NIL);
	c.name = "an OWNER's key with all scopes";
	c.scopes = every;
	add_key(s, c, NIL);
	c.name = "an OWNER's key with no scopes";
	c.scopes = " ";
	add_key(s, c, NIL);
	c = owner;
	c.name = "expired key";
	c.standing = NO_CREDENTIAL;
	add_key(s, c, clock_now_us() - SECOND_US);
	for (const char *p = every + 1; *p;) {
		size_t len = strcspn(p, " ");

		c = owner;
		c.scopes = arena_printf(a, " %.*s ", (int)len, p);
		c.name = arena_printf(a, "an OWNER's key for%s", c.scopes);
		c.alike = p > every + 1;
		add_key(s, c, NIL);
		p += len;
		p += strspn(p, " ");
	}
	c = (struct caller_case){ "a MEMBER's key with an OWNER's scopes", .tenant = SET_MEMBER,
		.agent = SET_MEMBER_BASELINE, .scopes = every };
	c.user_id = person(s, &s->alpha, "MEMBER", NULL);
	add_key(s, c, NIL);
	owner.name = "a key of a super administrator who is OWNER";
	owner.user_id = person(s, &s->alpha, "OWNER", NULL);
	add_key(s, owner, NIL);
	c = (struct caller_case){ "a key of a super administrator who is MEMBER",
		.tenant = SET_MEMBER, .agent = SET_MEMBER_BASELINE };
	c.user_id = person(s, &s->alpha, "MEMBER", NULL);
	add_key(s, c, NIL);
	fixture_sql(s->f, "update users set is_super_admin = 1 where id in ($1, $2)",
		ARGS(T(owner.user_id), T(c.user_id)));
}

static void add_machines(struct matrix_fixture *s)
{
	for (int purpose = MACHINE_METRICS; purpose <= MACHINE_ADMIN_READ; purpose++) {
		const char *word = machine_purpose_words.list[purpose];

		add(s, (struct caller_case){
			       arena_printf(&s->f->arena, "a machine key for %s", word),
			       machine_make(s->f, (enum machine_purpose)purpose),
			       .machine = word });
	}
}

struct matrix_fixture *matrix_open(void)
{
	struct matrix_fixture *s = calloc(1, sizeof *s);

	s->f = fixture_open();
	world_make(s->f, &s->alpha, "alpha");
	world_make(s->f, &s->beta, "beta");
	world_make(s->f, &s->halted, "halted");
	world_make(s->f, &s->shut, "shut");
	fixture_sql(s->f, "update tenants set status = 'suspended' where id = $1",
		ARGS(T(s->halted.tenant_id)));
	fixture_sql(s->f, "update tenants set allow_superadmin_access = 0 where id = $1",
		ARGS(T(s->shut.tenant_id)));
	add_tenant_roles(s);
	add_agent_roles(s);
	add_outsiders(s);
	add_keys(s);
	add_machines(s);
	return s;
}

void matrix_close(struct matrix_fixture *s)
{
	fixture_close(s->f);
	free(s);
}
