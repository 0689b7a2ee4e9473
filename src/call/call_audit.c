/* call_audit.c - what a call leaves in the audit log; see call.h. */
#include <string.h>

#include "call/steps.h"
#include "contract/encode.h"

enum { META_MAX = 64 * 1024 };

void call_changed(struct call *c, const struct schema *s, const void *before, const void *after)
{
	struct buf b;

	buf_init(&b, META_MAX);
	encode_changes(&b, s, before, after);
	c->audit.meta = b.overflow ? NULL : arena_strndup(c->arena, b.at, b.len);
	buf_free(&b);
}

void call_changed_too(struct call *c, const struct schema *s, const void *before, const void *after)
{
	const char *noted = c->audit.meta;

	call_changed(c, s, before, after);
	if (!noted || !c->audit.meta || noted[1] == '}')
		return;
	c->audit.meta = c->audit.meta[1] == '}'
				? noted
				: arena_printf(c->arena, "%.*s,%s", (int)strlen(noted) - 1, noted,
					  c->audit.meta + 1);
}

/* What changed, and by which key or whose token, if it was one: it can be revoked, and the person cannot. */
static const char *audited_meta(struct call *c, const char *said)
{
	const char *meta = said && *said == '{' ? said : "{}";
	const struct caller *who = &c->caller;
	const char *kind = who->kind == CREDENTIAL_KEY	     ? "api_key_id"
			   : who->kind == CREDENTIAL_MACHINE ? "machine_key_id"
			   : who->kind == CREDENTIAL_ISSUED  ? "issued_by"
							     : NULL;
	const char *name = who->kind == CREDENTIAL_ISSUED ? who->provider : who->key_id;

	if (!kind || !name)
		return said;
	return arena_printf(
		c->arena, "{\"%s\":\"%s\"%s%s", kind, name, meta[1] == '}' ? "" : ",", meta + 1);
}

static void fill_audit(struct call *c, struct audit_entry *e)
{
	e->tenant_id = e->tenant_id ? e->tenant_id : c->caller.tenant_id;
	e->agent_id = e->agent_id ? e->agent_id : c->caller.agent_id;
	e->user_id = e->user_id ? e->user_id : c->caller.user_id;
	e->ip = c->ip;
	e->user_agent = call_user_agent(c);
	e->meta = audited_meta(c, e->meta);
}

int call_audit_also(struct call *c, struct audit_entry e)
{
	fill_audit(c, &e);
	return audit_write(c->db, c->arena, &e);
}

int call_audit_act(struct call *c, struct audit_entry e)
{
	if (!c->route->audit || strcmp(c->route->audit, e.action) != 0)
		return call_audit_also(c, e);
	c->audit = e;
	return 0;
}

int call_audit(struct call *c)
{
	struct audit_entry *e = &c->audit;

	if (!c->route->audit)
		return 0;
	e->action = e->action ? e->action : c->route->audit;
	if (!e->resource_id && !c->problem.err)
		e->resource_id = call_subject(c);
	fill_audit(c, e);
	return audit_write(c->db, c->arena, e);
}
