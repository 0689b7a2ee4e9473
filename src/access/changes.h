/* changes.h - who is told that something in a list was made, changed or removed.
 *
 * A change is told with its row in the audit log, in its transaction, to those
 * who may read the list that shows it, and to those who read the audit log.
 * What has events of its own (sessions and all that happens in them) is not told again: it
 * would be a row more for each message. */
#pragma once
#include "access/audit.h"
#include "events/events.h"

/* `resource` is what the action begins with.  In the transaction of the change. */
int change_tell(struct db *db, struct arena *a, const struct audit_entry *e, const char *resource,
	int64_t now);

enum change_sight {
	CHANGE_HIDDEN,
	CHANGE_SHOWN,
	CHANGE_BY_AGENT, /* to those who hold *ret_asked on its agent */
};
/* To somebody who holds this where it happened. */
enum change_sight change_shown(
	const struct ChangeEvent *change, permissions held, const char *user_id, int *ret_asked);
