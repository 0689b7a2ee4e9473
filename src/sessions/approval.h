/* approval.h - calls of tools that a person has to allow first.
 *
 * Only this room uses it; people decide through session_decide(). */
#pragma once
#include "sessions/pen.h"

/* Asks for it. */
int approval_add(struct pen *p, const struct call_row *c);
/* Those still pending are no longer wanted. */
int approvals_drop(struct pen *p);

extern const struct statement_set approval_sql;
