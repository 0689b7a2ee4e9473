/* audit.h - what was done, by whom, from where: one row for each change, in its own transaction.  Those who see what
 * changed are told with it (changes.h). */
#pragma once
#include "access/caller.h"

struct audit_entry {
	const char *action;	 /* "agent.update" */
	const char *resource_id; /* NULL: none */
	const char *agent_id, *tenant_id, *user_id;
	const char *ip, *user_agent;
	const char *meta; /* JSON object text, or NULL for {} */
	/* Not in the row, for who is told of the change (changes.h): a tenant whose list shows it besides, and
	 * whose it is where not everybody sees it.  Each may be NULL. */
	const char *shown_tenant_id, *owner_id;
};

int audit_write(struct db *db, struct arena *a, const struct audit_entry *entry);

extern const struct statement_set audit_sql;
