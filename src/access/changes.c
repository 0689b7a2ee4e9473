/* changes.c - see changes.h. */
#include "access/changes.h"

#include <string.h>

#include "events/feed_number.h"

/* Whose list shows it: a permission in the tenant or on the agent, or none there; what it takes besides to see in the
 * same list what is another's own; and whether lists of the whole service show it, which are the super administrators'. */
static const struct change_rule {
	const char *resource;
	int permission, others;
	bool house;
} rules[] = {
	{ "member", PERM_MEMBERS_READ, PERM_NONE, false },
	{ "invitation", PERM_MEMBERS_READ, PERM_NONE, false },
	/* A favourite, which is one's own; for all else agents have an event of their own. */
	{ "agent", PERM_TENANT_READ, PERM_NONE, false },
	{ "group", PERM_MEMBERS_READ, PERM_NONE, false },
	{ "allowed_account", PERM_ALLOWED_ACCOUNTS_WRITE, PERM_NONE, false },
	{ "api_key", PERM_APIKEYS_OWN, PERM_APIKEYS_WRITE, false },
	{ "provider_key", PERM_TENANT_WRITE, PERM_NONE, false },
	{ "tool", PERM_TENANT_READ, PERM_NONE, false },
	{ "tool_bundle", PERM_TENANT_READ, PERM_NONE, false },
	{ "skill", PERM_TENANT_READ, PERM_SKILLS_WRITE, false },
	{ "skill_webhook", PERM_AGENT_SKILLS_WRITE, PERM_NONE, false },
	{ "memory", PERM_AGENT_READ, PERM_NONE, false },
	{ "scanner", PERM_INTEGRATIONS_WRITE, PERM_NONE, false },
	{ "scanner_grant", PERM_AGENT_READ, PERM_NONE, false },
	/* A push; for all else about its repository the agent's own event is told. */
	{ "repo", PERM_AGENT_READ, PERM_NONE, false },
	{ "bucket", PERM_BUCKET_READ, PERM_NONE, false },
	{ "integration", PERM_INTEGRATIONS_WRITE, PERM_NONE, false },
	{ "delivery", PERM_INTEGRATIONS_WRITE, PERM_NONE, false },
	{ "mail", PERM_AGENT_MAIL_READ, PERM_NONE, false },
	{ "mail_suppression", PERM_MAIL_WRITE, PERM_NONE, false },
	{ "mailbox", PERM_AGENT_READ, PERM_NONE, true },
	{ "user_model", PERM_MEMBERS_WRITE, PERM_NONE, false },
	{ "model", PERM_TENANT_READ, PERM_NONE, true },
	{ "tenant", PERM_TENANT_READ, PERM_NONE, true },
	{ "plan", PERM_NONE, PERM_NONE, true },
	{ "user", PERM_NONE, PERM_NONE, true },
	{ "account", PERM_NONE, PERM_NONE, true },
	{ "job", PERM_NONE, PERM_NONE, true },
};

static const struct change_rule *rule_of(const char *resource)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rules[i].resource, resource) == 0)
			return &rules[i];
	return NULL;
}

/* True for what others see of an agent: a favourite is one's own. */
static bool concerns_agent(const struct audit_entry *e)
{
	return e->tenant_id && e->agent_id && strncmp(e->action, "agent", 5) == 0 &&
	       !strstr(e->action, "favorite");
}

/* What is left of a tenant when it is erased is its audit log, which nobody in it reads. */
static const char *telling_tenant(const struct audit_entry *e)
{
	if (strcmp(e->action, "tenant.erase") == 0)
		return NULL;
	return e->shown_tenant_id ? e->shown_tenant_id : e->tenant_id;
}

int change_tell(struct db *db, struct arena *a, const struct audit_entry *e, const char *resource,
	int64_t now)
{
	const struct change_rule *rule = rule_of(resource);
	const char *tenant_id = telling_tenant(e);
	const struct ChangeEvent event = { .resource = resource,
		.id = e->resource_id,
		.action = e->action,
		.agent_id = e->agent_id,
		.user_id = e->owner_id };
	int err = 0;

	if (concerns_agent(e))
		return feed_agent_changed(db, a, e->tenant_id, e->agent_id, e->action, now);
	if (!rule || (strcmp(resource, "agent") == 0 && !e->owner_id))
		return 0;
	if (tenant_id && rule->permission)
		err = feed_changed(db, a, tenant_id, &event, now);
	if (!err && rule->house)
		err = feed_changed(db, a, FEED_HOUSE, &event, now);
	return err;
}

static bool is_held(permissions held, int permission)
{
	return permission && held & permission_given_by(permission);
}

static bool is_them(const char *id, const char *user_id)
{
	return id && user_id && strcmp(id, user_id) == 0;
}

enum change_sight change_shown(
	const struct ChangeEvent *change, permissions held, const char *user_id, int *ret_asked)
{
	const struct change_rule *rule = change->resource ? rule_of(change->resource) : NULL;
	bool own = !change->user_id || is_them(change->user_id, user_id);

	if (!rule)
		return CHANGE_HIDDEN;
	if (held & PERM(SUPER))
		return rule->house ? CHANGE_SHOWN : CHANGE_HIDDEN;
	*ret_asked = rule->permission;
	if (is_held(held, PERM_AUDIT_READ) || is_them(change->id, user_id) ||
		is_held(held, own ? rule->permission : rule->others))
		return CHANGE_SHOWN;
	return own && change->agent_id && permission_scope(rule->permission) == SCOPE_AGENT
		       ? CHANGE_BY_AGENT
		       : CHANGE_HIDDEN;
}
