/* approval.h - calls of tools that a person has to allow first.
 *
 * Only this room uses it; people decide through session_decide(). */
#pragma once
#include "sessions/session_tx.h"

/* Asks for it, with what the call would send; `pinned` are the names of what is set for the agent, a JSON list. */
int approval_add(struct session_tx *p, const struct call_row *c, const char *pinned);
/* Those still pending are no longer wanted. */
int approvals_drop(struct session_tx *p);

extern const struct statement_set approval_sql;
