/* agent_export.h - an agent as a bundle: everything that is its own, without ids and secrets. */
#pragma once
#include "access/permission.h"
#include "access/vault.h"
#include "bundle/bundle.h"
#include "store/store.h"

/* Who exports, and what. */
struct agent_exporter {
	struct db *db;
	struct arena *a;
	struct vault *vault; /* tells whether a tool has settings */
	const char *tenant_id, *agent_id;
	const char *user_id;	  /* NULL: nobody, who sees all */
	bool sees_private_skills; /* also those that others made */
	bool all_sessions;	  /* or those that the user takes part in */
	bool sessions, memories;  /* are asked for */
	permissions may; /* on the agent: what may not be read is left out, and that is said */
	struct problem *p;
	/* Told how many of the sessions are read; may be NULL. */
	void (*told)(void *ctx, size_t done, size_t total);
	void *told_ctx;
};

/* ERR_NOT_FOUND if there is no such agent. */
int agent_export_read(const struct agent_exporter *who, struct agent_bundle *ret);
/* The agent with this slug. */
int agent_export_find(struct db *db, struct arena *a, const char *tenant_id, const char *slug,
	const char **ret_id);
extern const struct statement_set agent_export_sql;
