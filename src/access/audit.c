/* audit.c - see audit.h. */
#include "access/audit.h"

#include <string.h>

#include "base/id.h"

static const struct statement sql[] = {
	{ "audit_insert",
		"insert into audit_logs (id, tenant_id, user_id, agent_id, action, resource_type, resource_id, "
		"ip, user_agent, meta, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)" },
};
STATEMENT_SET(audit_sql, sql);

int audit_write(struct db *db, struct arena *a, const struct audit_entry *e)
{
	int64_t now;
	struct id id = id_new(&now);
	const char *type = arena_strndup(a, e->action, strcspn(e->action, "."));

	return db_run(db, &sql[0], NULL,
		ARGS(T(id.text), T(e->tenant_id), T(e->user_id), T(e->agent_id), T(e->action),
			T(type), T(e->resource_id), T(e->ip), T(e->user_agent),
			T(e->meta ? e->meta : "{}"), N(now)));
}
