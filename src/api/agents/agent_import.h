/* agent_import.h - making an agent of a file: what it says is read and checked first, away from the store, and then entered
 * in one transaction, by whoever imports it (a call, or the command line). */
#pragma once
#include "access/audit.h"
#include "access/permission.h"
#include "api/agents/agent_extras.h"
#include "api/agents/agents.h"
#include "bundle/bundle.h"
#include "api/skills/skill_bundle.h"
#include "store/store.h"

/* A skill of the file, read; or why it was not. */
struct import_skill {
	struct skill_bundle bundle;
	const char *folder, *fault; /* fault: a sentence, or NULL */
	bool is_enabled;
};

struct agent_import {
	char sha256[65]; /* of the file */
	struct agent_bundle bundle;
	struct AgentBundleSettings settings;
	bool has_chat;
	struct AgentChatConfigUpdate chat;
	struct list skills; /* struct import_skill */
	const void *png;    /* the picture, ready to be kept; NULL: none */
	size_t png_len;
};

/* Reads all of it.  `name` stands in for the agent's own; NULL.  Takes its time; ERR_INVALID with what is wrong. */
int agent_import_read(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const struct bundle_file *file, const char *name, struct agent_import *ret,
	struct problem *p);

/* Who imports, and with which rights: those an owner of the agent has, as far as the credential goes, and those in the tenant. */
struct agent_importer {
	struct db *db;
	struct arena *a;
	const char *tenant_id, *user_id; /* user_id: NULL for nobody */
	bool owns;			 /* the user becomes the agent's OWNER */
	bool dry;			 /* nothing is written: see agent_import_run */
	permissions agent, tenant;
	const char *origin; /* of sessions */
	int64_t now;
	struct problem *p;
	/* Enters a row of the audit log for a skill that was made. */
	int (*note)(void *ctx, struct audit_entry e);
	void *note_ctx;
	/* Whether this agent may be seen; NULL: all may. */
	bool (*sees)(void *ctx, const char *agent_id);
	/* Told how many of the rows after the agent are done; may be NULL. */
	void (*told)(void *ctx, size_t done, size_t total);
	void *told_ctx;
};

/* The agent and all that hangs on it, or the one that an earlier import made of the same file.  A dry run tells what would
 * be and only reads. */
int agent_import_run(const struct agent_importer *who, const struct agent_import *what,
	struct AgentImportResult *out);

/* agent_import_more.c: once the agent is there, each row by itself; what fails is counted and named. */
int agent_import_rows(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out);
/* A sentence into the result's warnings. */
void agent_import_warn(const struct agent_importer *who, struct AgentImportResult *out,
	const char *fmt, ...) __attribute__((format(printf, 3, 4)));
extern const struct statement_set agent_import_sql;
