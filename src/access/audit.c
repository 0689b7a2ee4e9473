/* audit.c - see audit.h. */
#include "access/audit.h"

#include <string.h>

#include "access/changes.h"
#include "base/id.h"
#include "store/row.h"

struct audit_row {
	const char *id, *tenant_id, *user_id, *agent_id, *action, *resource_type, *resource_id;
	const char *ip, *user_agent, *meta;
	int64_t created_at;
};

FIELDS(audit_row) = {
	ROW_FIELDS(audit_row, id, action, resource_type, meta, created_at),
	ROW_NULLABLE(audit_row, tenant_id, user_id, agent_id, resource_id, ip, user_agent),
};
static SCHEMA(audit_row, .internal = true);

static const struct statement sql[] = {
	{ "audit_insert", "insert into audit_logs ({*}) values ({$})", .row = &audit_row_schema },
};
STATEMENT_SET(audit_sql, sql);

int audit_write(struct db *db, struct arena *a, const struct audit_entry *e)
{
	int64_t now;
	struct id id = id_new(&now);
	const char *type = arena_strndup(a, e->action, strcspn(e->action, "."));
	int err = change_tell(db, a, e, type, now);

	if (err)
		return err;
	return db_put(db, &sql[0],
		&(struct audit_row){ .id = id.text,
			.tenant_id = e->tenant_id,
			.user_id = e->user_id,
			.agent_id = e->agent_id,
			.action = e->action,
			.resource_type = type,
			.resource_id = e->resource_id,
			.ip = e->ip,
			.user_agent = e->user_agent,
			.meta = e->meta ? e->meta : "{}",
			.created_at = now });
}
