/* tenant_walk.h - reads a statement for the tables of tenants that it touches without saying whose rows. */
#pragma once
#include "store/store.h"

/* A column of the store as it stands. */
struct table_column {
	const char *table, *name;
};

/* The tables, by comma, that have a tenant_id and of which the statement may touch rows of any tenant; "" if there
 * are none.  A reference is bound where its tenant_id (of `tenants`, its id) must equal an argument of the statement
 * or the tenant of another that is bound, or where it is inserted with one. */
const char *tenant_unbound(struct arena *a, const struct list *columns, const char *sql);
/* Does the table have a column of this name? */
bool table_has(const struct list *columns, const char *table, const char *name);
