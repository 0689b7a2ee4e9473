/* tool_config_sql.h - the address of a database in the config of a tool: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=… */
#pragma once
#include "base/arena.h"
#include "outside/address.h"

struct sql_database {
	const char *host; /* without brackets */
	const char *port, *user, *password /* NULL: none */, *name;
	const char *sslmode;
};

/* NULL, or what is wrong with it, as the end of a sentence that begins with its name. */
const char *sql_database_read(
	struct arena *a, const char *url, enum egress egress, struct sql_database *ret);
/* True for an address of such a kind, sound or not. */
bool sql_database_named(const char *url);
/* The address with this in the place of its password, where it has one. */
const char *sql_database_masked(struct arena *a, const char *url, const char *mask);
/* Is it the same host, port and user as the former one's, and as safe a way there? */
bool sql_database_same(struct arena *a, const char *url, const char *former);
