/* matrix_fixture.c - tenants with one of everything, and what calls use up; see matrix.h. */
#include "matrix.h"

#include "access/caller.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"

/* Of "matrix password", cheap to check. */
#define CHEAP_HASH                                           \
	"$argon2id$v=19$m=8,t=1,p=1$CUxfyBR9Gzifi2YYf1Qu/Q$" \
	"/IubfOuBkY0MJckb1ygCko9453+9nZ9bm8Dh67njne4"

int next_number(void)
{
	static int n;

	return ++n;
}

struct machine_make {
	struct arena *a;
	enum machine_purpose purpose;
	const char *token, *id;
};

static int make_machine(struct db *db, void *data)
{
	struct machine_make *m = data;

	return machine_key_make(db, m->a, "test", m->purpose, &m->token, &m->id);
}

const char *machine_make(struct fixture *f, enum machine_purpose purpose)
{
	struct machine_make m = { .a = &f->arena, .purpose = purpose };

	CHECK_INT(fixture_work(f, make_machine, &m), 0);
	return m.token;
}

const char *scopes_json(struct fixture *f, const char *set)
{
	const char *out = "[";

	for (const char *p = set + strspn(set, " "); *p;) {
		size_t len = strcspn(p, " ");

		out = arena_printf(&f->arena, "%s%s\"%.*s\"", out, out[1] ? "," : "", (int)len, p);
		p += len;
		p += strspn(p, " ");
	}
	return arena_printf(&f->arena, "%s]", out);
}

const char *key_make(struct fixture *f, const char *tenant_id, const char *user_id,
	const char *scopes, int64_t expires_at, const char **ret_id)
{
	char *token = arena_alloc(&f->arena, TOKEN_MAX), hash[65];
	const char *id = fixture_id(f);

	token_new(TOKEN_KEY, token);
	credential_hash(token, hash);
	fixture_sql(f,
		"insert into api_keys (tenant_id, id, user_id, name, hash, scopes, created_at, "
		"expires_at) values ($1, $2, $3, 'k', $4, $5, $6, $7)",
		ARGS(T(tenant_id), T(id), T(user_id), T(hash), T(scopes), N(clock_now_us()),
			N(expires_at)));
	if (ret_id)
		*ret_id = id;
	return token;
}

const char *agent_make(struct fixture *f, const struct world *w, enum agent_kind kind)
{
	const char *id = fixture_agent_of(
		f, w->owner, w->tenant_id, arena_printf(&f->arena, "agent-%d", next_number()));

	if (kind == AGENT_CLOSED)
		fixture_sql(f, "update agent_rows set default_role_enabled = 0 where id = $1",
			ARGS(T(id)));
	if (kind == AGENT_ADMIN_ONLY)
		fixture_sql(
			f, "update agent_rows set is_admin_only = 1 where id = $1", ARGS(T(id)));
	return id;
}

void agent_give(struct fixture *f, const char *tenant_id, const char *agent_id, const char *user_id,
	const char *group_id, const char *role)
{
	if (group_id)
		fixture_sql(f,
			"insert into agent_group_roles (tenant_id, agent_id, group_id, role, created_at, "
			"updated_at) values ($1, $2, $3, $4, 1, 1)",
			ARGS(T(tenant_id), T(agent_id), T(group_id), T(role)));
	else
		fixture_sql(f,
			"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, "
			"updated_at) values ($1, $2, $3, $4, 1, 1)",
			ARGS(T(tenant_id), T(agent_id), T(user_id), T(role)));
}

static const char *group_make(struct fixture *f, const struct world *w)
{
	return fixture_created(f, w->owner,
		arena_printf(&f->arena, "{\"name\":\"group %d\"}", next_number()),
		"POST /tenant/%s/groups", w->tenant_id);
}

static const char *allowed_make(struct fixture *f, const struct world *w)
{
	return fixture_created(f, w->owner,
		arena_printf(&f->arena, "{\"email\":\"allowed%d@example.org\"}", next_number()),
		"POST /tenant/%s/allowed-accounts", w->tenant_id);
}

static const char *member_make(struct fixture *f, const struct world *w, const char *role)
{
	const char *id = fixture_user(
		f, arena_printf(&f->arena, "member%d@example.org", next_number()), NULL);

	fixture_member(f, w->tenant_id, id, role);
	return id;
}

static const char *session_make(struct fixture *f, const struct world *w, enum agent_kind kind)
{
	const char *id = fixture_id(f);

	fixture_sql(f,
		"insert into session_rows (tenant_id, id, agent_id, title, title_folded, status, origin, "
		"created_by_id, iteration_count, message_count, last_event_id, created_at, updated_at) "
		"values ($1, $2, $3, 'S', 's', 'completed', 'user', $4, 0, 0, 0, 1, 1)",
		ARGS(T(w->tenant_id), T(id), T(w->agents[kind]), T(w->user_id)));
	fixture_sql(f, "insert into directory (id, tenant_id) values ($1, $2)",
		ARGS(T(id), T(w->tenant_id)));
	return id;
}

void session_join(
	struct fixture *f, const char *tenant_id, const char *session_id, const char *user_id)
{
	fixture_sql(f,
		"insert into session_people (tenant_id, user_id, session_id) values ($1, $2, $3) "
		"on conflict do nothing",
		ARGS(T(tenant_id), T(user_id), T(session_id)));
}

static const char *approval_make(struct fixture *f, const char *tenant_id, const char *session_id)
{
	const char *id = fixture_id(f);

	fixture_sql(f,
		"insert into approvals (tenant_id, id, session_id, call_id, tool_name, status, created_at, "
		"arguments) values ($1, $2, $3, $2, 'refund', 'pending', 1, $4)",
		ARGS(T(tenant_id), T(id), T(session_id), T("{}")));
	return id;
}

/* At most one of an agent waits. */
static const char *proposal_make(struct fixture *f, const char *tenant_id, const char *agent_id)
{
	const char *id = fixture_id(f);

	fixture_sql(f, "delete from prompt_proposals where tenant_id = $1 and agent_id = $2",
		ARGS(T(tenant_id), T(agent_id)));
	fixture_sql(f,
		"insert into prompt_proposals (tenant_id, id, agent_id, commit_id, title, status, fields, "
		"files, created_at) values ($1, $2, $3, $2, 'T', 'pending', '[]', '[]', 1)",
		ARGS(T(tenant_id), T(id), T(agent_id)));
	return id;
}

static const char *file_make(struct fixture *f, const char *tenant_id, const char *session_id)
{
	const char *id = fixture_id(f);

	fixture_sql(f,
		"insert into session_files (tenant_id, session_id, id, name, content_type, size_bytes, "
		"created_at, content) values ($1, $2, $3, 'f.txt', 'text/plain', 1, 1, $4)",
		ARGS(T(tenant_id), T(session_id), T(id), value_bytes("x", 1)));
	return id;
}

static const char *response_make(
	struct fixture *f, const struct world *w, const char *agent_id, const char *session_id)
{
	const char *id = fixture_id(f);

	fixture_sql(f,
		"insert into responses (tenant_id, id, created_by_id, agent_id, session_id, after_id, "
		"status, created_at, model, metadata, asked, input, output) values ($1, $2, $3, $4, $5, "
		"'', 'completed', 1, 'm', $6, $6, '[]', '[]')",
		ARGS(T(w->tenant_id), T(id), T(w->user_id), T(agent_id), T(session_id), T("{}")));
	return id;
}

static const char *conversation_make(
	struct fixture *f, const struct world *w, const char *session_id)
{
	const char *id = arena_printf(&f->arena, "conv_%s", fixture_id(f));

	fixture_sql(f,
		"insert into conversation_rows (tenant_id, id, created_by_id, created_at, metadata, "
		"last_place, session_id, heard, unsettled) values ($1, $2, $3, 1, $4, 0, $5, 0, 0)",
		ARGS(T(w->tenant_id), T(id), T(w->user_id), T("{}"), T(session_id)));
	return id;
}

static void mail_make(struct fixture *f, const struct world *w, struct target *t)
{
	struct answer r = ask(f, w->owner,
		"{\"to\":[\"x@y.lodge.internal\"],\"subject\":\"s\",\"text\":\"t\",\"draft\":true,"
		"\"attachments\":[{\"filename\":\"a\",\"content\":\"aGk=\"}]}",
		"POST /agents/%s/mail", t->agent_id);

	if (r.status != 202) /* the tenant is suspended */
		return;
	t->mail_id = text_at(&r, "id");
	t->mail_thread_id = text_at(&r, "thread_id");
	t->attachment_id = text_at(&r, "attachments.0.id");
}

static const char *memory_make(struct fixture *f, const struct world *w, const char *agent_id)
{
	return fixture_created(
		f, w->owner, "{\"content\":\"kept\"}", "POST /agents/%s/memories", agent_id);
}

/* A model that nobody reaches but this tenant. */
static const char *model_make(struct fixture *f, const struct world *w)
{
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"M\",\"slug\":\"model-%d\",\"kind\":\"demo\"}",
			next_number()),
		"POST /admin/models");

	STATUS(r, 201);
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", text_at(&r, "id"),
		       w->tenant_id),
		201);
	return text_at(&r, "id");
}

static const char *skill_make(struct fixture *f, const struct world *w)
{
	return fixture_created(f, w->owner,
		arena_printf(&f->arena,
			"{\"name\":\"S\",\"slug\":\"skill-%d\",\"description\":\"D\","
			"\"instructions\":\"I\",\"visibility\":\"tenant\"}",
			next_number()),
		"POST /tenant/%s/skills", w->tenant_id);
}

static const char *tool_make(struct fixture *f, const struct world *w)
{
	return fixture_created(f, w->owner,
		arena_printf(&f->arena,
			"{\"name\":\"made-%d\",\"kind\":\"http\",\"description\":\"d\",\"input_schema\":"
			"{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":[\"q\"]},"
			"\"config\":{\"method\":\"GET\",\"url\":\"https://api.example.org/\"}}",
			next_number()),
		"POST /tenant/%s/tools", w->tenant_id);
}

static const char *bundle_make(struct fixture *f, const struct world *w)
{
	return fixture_created(f, w->owner,
		arena_printf(&f->arena, "{\"name\":\"B\",\"slug\":\"made-%d\"}", next_number()),
		"POST /tenant/%s/tool-bundles", w->tenant_id);
}

static void scanner_bind(struct fixture *f, const struct world *w)
{
	struct answer r = ask(f, w->owner,
		"{\"provider\":\"sonar\",\"base_url\":\"https://scanner.example.org\","
		"\"organization\":\"o\",\"token\":\"t\"}",
		"PUT /tenant/%s/scanner", w->tenant_id);

	CHECK(r.status == 200 || r.status == 201);
}

static const char *scanner_grant_make(
	struct fixture *f, const struct world *w, const char *agent_id)
{
	struct answer r;

	scanner_bind(f, w);
	r = ask(f, w->owner, arena_printf(&f->arena, "{\"repo_name\":\"made-%d\"}", next_number()),
		"POST /agents/%s/scanner-grants", agent_id);
	STATUS(r, 201);
	return text_at(&r, "id");
}

static const char *integration_make(struct fixture *f, const struct world *w)
{
	return fixture_created(f, w->owner,
		arena_printf(&f->arena,
			"{\"provider\":\"github\",\"label\":\"L\",\"agent_id\":\"%s\"}",
			w->agents[AGENT_OPEN]),
		"POST /tenant/%s/integrations", w->tenant_id);
}

static const char *delivery_make(struct fixture *f, const struct target *t)
{
	const char *id = fixture_id(f);

	fixture_sql(f,
		"insert into deliveries (tenant_id, integration_id, id, delivery_id, status, outcome, "
		"calls, attempts, created_at, body) "
		"values ($1, $2, $3, $3, 'blocked', 'rate', 1, 0, 1, '[]')",
		ARGS(T(t->tenant_id), T(t->integration_id), T(id)));
	return id;
}

static const char *skill_hook_make(struct fixture *f, const struct world *w, const struct target *t)
{
	struct answer r;

	ask(f, w->owner, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", t->skill_id),
		"POST /agents/%s/skills", t->agent_id);
	r = ask(f, w->owner, NULL, "POST /agents/%s/skills/%s/webhooks", t->agent_id, t->skill_id);
	STATUS(r, 201);
	return text_at(&r, "id");
}

void world_make(struct fixture *f, struct world *w, const char *slug)
{
	struct answer r;

	w->owner_id =
		fixture_user(f, arena_printf(&f->arena, "owner-%s@example.org", slug), &w->owner);
	w->tenant_id = fixture_tenant(f, slug, w->owner_id);
	w->slug = slug;
	fixture_sql(
		f, "update tenants set voicebox_enabled = 1 where id = $1", ARGS(T(w->tenant_id)));
	w->user_id = fixture_user(f, arena_printf(&f->arena, "target-%s@example.org", slug), NULL);
	fixture_sql(f, "update users set password_hash = $2 where id = $1",
		ARGS(T(w->user_id), T(CHEAP_HASH)));
	fixture_member(f, w->tenant_id, w->user_id, "MEMBER");
	w->group_id = group_make(f, w);
	STATUS(ask(f, w->owner, NULL, "PUT /tenant/%s/groups/%s/members/%s", w->tenant_id,
		       w->group_id, w->user_id),
		201);
	for (int k = 0; k < AGENT_KINDS; k++) {
		w->agents[k] = agent_make(f, w, (enum agent_kind)k);
		r = ask(f, w->owner, NULL, "GET /agents/%s", w->agents[k]);
		w->repositories[k] = arena_printf(&f->arena, "%s.git", text_at(&r, "slug"));
		agent_give(f, w->tenant_id, w->agents[k], w->user_id, NULL, "VIEWER");
		agent_give(f, w->tenant_id, w->agents[k], NULL, w->group_id, "VIEWER");
		w->sessions[k] = session_make(f, w, (enum agent_kind)k);
		w->closed_sessions[k] = session_make(f, w, (enum agent_kind)k);
		w->responses[k] = response_make(f, w, w->agents[k], w->sessions[k]);
		w->closed_responses[k] = response_make(f, w, w->agents[k], w->closed_sessions[k]);
		w->conversations[k] = conversation_make(f, w, w->sessions[k]);
		w->closed_conversations[k] = conversation_make(f, w, w->closed_sessions[k]);
		w->files[k] = file_make(f, w->tenant_id, w->sessions[k]);
	}
	w->skill_id = skill_make(f, w);
	w->allowed_id = allowed_make(f, w);
	w->tool_id = tool_make(f, w);
	w->bundle_id = bundle_make(f, w);
	w->integration_id = integration_make(f, w);
	scanner_bind(f, w);
	key_make(f, w->tenant_id, w->user_id, NULL, NIL, &w->key_id);
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"P\",\"slug\":\"plan-of-%s\"}", slug),
		"POST /admin/plans");
	STATUS(r, 201);
	w->plan_id = text_at(&r, "id");
	w->model_id = model_make(f, w);
}

struct target target_of(const struct world *w, enum agent_kind kind)
{
	return (struct target){
		.tenant_id = w->tenant_id,
		.agent_id = w->agents[kind],
		.tenant_slug = w->slug,
		.repository = w->repositories[kind],
		.user_id = w->user_id,
		.group_id = w->group_id,
		.allowed_id = w->allowed_id,
		.key_id = w->key_id,
		.plan_id = w->plan_id,
		.session_id = w->sessions[kind],
		.closed_session_id = w->closed_sessions[kind],
		.file_id = w->files[kind],
		.response_id = w->responses[kind],
		.closed_response_id = w->closed_responses[kind],
		.conversation_id = w->conversations[kind],
		.closed_conversation_id = w->closed_conversations[kind],
		.approval_id = w->tool_id, /* nowhere, until one is made; as the next ones */
		.proposal_id = w->tool_id,
		.memory_id = w->tool_id,
		.mail_id = w->tool_id,
		.mail_thread_id = w->tool_id,
		.attachment_id = w->tool_id,
		.model_id = w->model_id,
		.skill_id = w->skill_id,
		.tool_id = w->tool_id,
		.bundle_id = w->bundle_id,
		.scanner_grant_id = w->tool_id,
		.integration_id = w->integration_id,
		.delivery_id = w->tool_id,
		.webhook_id = w->tool_id,
		.provider = "openai",
		.default_on = kind != AGENT_CLOSED,
	};
}

static const char *invite_make(struct fixture *f, const struct world *w)
{
	char *token = arena_alloc(&f->arena, TOKEN_MAX), hash[65];
	int64_t now = clock_now_us();
	const char *user = fixture_user(
		f, arena_printf(&f->arena, "invited-%d@example.org", next_number()), NULL);

	token_new(TOKEN_INVITE, token);
	credential_hash(token, hash);
	fixture_member(f, w->tenant_id, user, "MEMBER");
	fixture_sql(f, "update members set status = 'invited' where user_id = $1", ARGS(T(user)));
	fixture_sql(f,
		"insert into invitations (hash, tenant_id, user_id, created_at, expires_at) "
		"values ($1, $2, $3, $4, $5)",
		ARGS(T(hash), T(w->tenant_id), T(user), N(now), N(now + 3600 * SECOND_US)));
	return token;
}

static void fresh_tenant(struct matrix_fixture *s, struct caller_case *c, struct target *t)
{
	const char *scopes = c->scopes ? scopes_json(s->f, c->scopes) : NULL;

	t->tenant_id = fixture_tenant(s->f, arena_printf(&s->f->arena, "fresh-%d", next_number()),
		c->super && !c->key ? s->alpha.owner_id : c->user_id);
	if (c->key)
		c->token = key_make(s->f, t->tenant_id, c->user_id, scopes, NIL, NULL);
}

void freshen(
	struct matrix_fixture *s, const struct row *row, struct caller_case *c, struct target *t)
{
	struct fixture *f = s->f;
	const struct world *w = c->world;

	if (row->someone_elses)
		key_make(f, w->tenant_id, w->user_id, NULL, NIL, &t->key_id);
	switch (row->fresh) {
	case FRESH_NOTHING:
		break;
	case FRESH_AGENT:
		t->agent_id = agent_make(f, w, c->kind);
		if (c->agent_role)
			agent_give(f, w->tenant_id, t->agent_id, c->user_id, c->group_id,
				c->agent_role);
		break;
	case FRESH_MEMBER:
		t->user_id = member_make(f, w, "MEMBER");
		break;
	case FRESH_OWNER:
		t->user_id = member_make(f, w, "OWNER");
		break;
	case FRESH_GROUP:
		t->group_id = group_make(f, w);
		break;
	case FRESH_IN_GROUP:
		ask(f, w->owner, NULL, "PUT /tenant/%s/groups/%s/members/%s", t->tenant_id,
			t->group_id, t->user_id);
		break;
	case FRESH_ROLE:
		ask(f, w->owner, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", t->agent_id,
			t->user_id);
		break;
	case FRESH_GROUP_ROLE:
		ask(f, w->owner, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/group-roles/%s",
			t->agent_id, t->group_id);
		break;
	case FRESH_ALLOWED:
		t->allowed_id = allowed_make(f, w);
		break;
	case FRESH_KEY:
		key_make(f, w->tenant_id, c->super && !c->key ? w->owner_id : c->user_id, NULL, NIL,
			&t->key_id);
		break;
	case FRESH_LOGIN:
		if (!c->key)
			c->token = fixture_login(f, c->user_id);
		break;
	case FRESH_INVITE:
		t->invite = invite_make(f, &s->alpha);
		break;
	case FRESH_TENANT:
		fresh_tenant(s, c, t);
		break;
	case FRESH_MODEL:
		t->model_id = model_make(f, w);
		break;
	case FRESH_CHAIN:
		ask(f, w->owner, NULL, "PUT /agents/%s/models/catalog/%s", t->agent_id,
			t->model_id);
		break;
	case FRESH_USER_MODEL:
		ask(f, w->owner, NULL, "PUT /tenant/%s/models/%s/users/%s", t->tenant_id,
			t->model_id, t->user_id);
		break;
	case FRESH_FAVORITE:
		fixture_sql(f,
			"insert into favorites (tenant_id, user_id, agent_id, created_at) "
			"values ($1, $2, $3, 1) on conflict do nothing",
			ARGS(T(t->tenant_id), T(c->user_id), T(t->agent_id)));
		break;
	case FRESH_REPO:
		ask(f, w->owner, NULL, "POST /agents/%s/repo", t->agent_id);
		fixture_sql(f,
			"update repositories set host = 'embedded', url = null where agent_id = $1",
			ARGS(T(t->agent_id)));
		break;
	case FRESH_MIRROR:
		ask(f, w->owner, NULL, "POST /agents/%s/repo", t->agent_id);
		fixture_sql(f,
			"update repositories set host = 'git', url = 'https://git.example.org/a.git' "
			"where agent_id = $1",
			ARGS(T(t->agent_id)));
		break;
	case FRESH_PROPOSAL:
		t->proposal_id = proposal_make(f, t->tenant_id, t->agent_id);
		break;
	case FRESH_AVATAR:
		ask(f, w->owner, MATRIX_PICTURE, "PUT /agents/%s/avatar", t->agent_id);
		break;
	case FRESH_SKILL:
		t->skill_id = skill_make(f, w);
		break;
	case FRESH_SKILL_GRANT:
		ask(f, w->owner, arena_printf(&f->arena, "{\"skill_id\":\"%s\"}", t->skill_id),
			"POST /agents/%s/skills", t->agent_id);
		break;
	case FRESH_TOOL:
		t->tool_id = tool_make(f, w);
		break;
	case FRESH_AGENT_TOOL:
		ask(f, w->owner, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", t->tool_id),
			"POST /agents/%s/tools", t->agent_id);
		break;
	case FRESH_BUNDLE:
		t->bundle_id = bundle_make(f, w);
		break;
	case FRESH_AGENT_BUNDLE:
		ask(f, w->owner, arena_printf(&f->arena, "{\"bundle_id\":\"%s\"}", t->bundle_id),
			"POST /agents/%s/tool-bundles", t->agent_id);
		break;
	case FRESH_SCANNER:
		scanner_bind(f, w);
		break;
	case FRESH_SCANNER_GRANT:
		t->scanner_grant_id = scanner_grant_make(f, w, t->agent_id);
		break;
	case FRESH_SESSION:
		t->session_id = session_make(f, w, c->kind);
		session_join(f, t->tenant_id, t->session_id, c->user_id);
		break;
	case FRESH_APPROVAL:
		t->approval_id = approval_make(f, t->tenant_id, t->session_id);
		break;
	case FRESH_RESPONSE:
		t->response_id = response_make(f, w, t->agent_id, t->session_id);
		break;
	case FRESH_CONVERSATION:
		t->conversation_id = conversation_make(f, w, t->session_id);
		break;
	case FRESH_MAIL:
		mail_make(f, w, t);
		break;
	case FRESH_MEMORY:
		t->memory_id = memory_make(f, w, t->agent_id);
		break;
	case FRESH_PROVIDER_KEY:
		ask(f, w->owner, "{\"api_key\":\"x\"}", "PUT /tenant/%s/provider-keys/%s",
			t->tenant_id, t->provider);
		break;
	case FRESH_INTEGRATION:
		t->integration_id = integration_make(f, w);
		break;
	case FRESH_DELIVERY:
		t->delivery_id = delivery_make(f, t);
		break;
	case FRESH_SKILL_HOOK:
		t->webhook_id = skill_hook_make(f, w, t);
		break;
	}
}
