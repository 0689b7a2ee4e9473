/* agent_row.h - an agent as it is stored, for those who make and change agents. */
#pragma once
#include "call/call.h"

/* What AgentRead shows, and what only the service needs. */
struct agent_row {
	const char *tenant_id, *id, *name, *slug;
	int kind;
	const char *resource_class, *code_ref, *image_ref, *repo_url;
	bool is_active, is_admin_only, is_seed, hidden, default_role_enabled, can_author_skills,
		editor_enabled, external_mail_enabled, meeting_managed;
	int environment_mode, skill_visibility_scope;
	int64_t iteration_warn_threshold;
	struct money hourly_limit_usd;
	const char *voice, *avatar_sha256, *created_by_id, *created_by_agent_id;
	struct moment created_at, updated_at;
	const char *
		bootstrap_session_id; /* the session that was given bootstrap_instructions, or NULL */
	const char *name_folded, *ssh_public_key, *description, *initial_greeting,
		*description_prompt, *bootstrap_instructions;
};

SCHEMA_DECLARED(agent_row);

/* The agent of the path. */
int agent_row_read(struct call *c, struct agent_row *ret);
/* Who makes an agent, and where. */
struct agent_maker {
	const char *tenant_id, *user_id;
	bool owns; /* the user becomes its OWNER */
};
/* The caller, who owns what they make if they belong to the tenant. */
struct agent_maker agent_maker_of(const struct call *c);

struct AgentCreate;
/* Makes an agent as it is asked for, with the tenant's defaults and its default model as chain.
 * ERR_DUPLICATE if the slug is taken. */
int agent_row_make(struct db *db, struct arena *a, const struct agent_maker *who,
	const struct AgentCreate *in, bool is_seed, struct agent_row *ret);
/* A row as it is asked for, with the tenant's defaults, to be entered. */
int agent_row_begin(struct db *db, struct arena *a, const char *tenant_id,
	const struct AgentCreate *in, struct agent_row *ret);
/* Enters a new agent, of which id, tenant, maker and times are filled in: its row, its place in the
 * directory, its OWNER, its words, its mailboxes, its count.  ERR_DUPLICATE if the slug is taken. */
int agent_row_enter(
	struct db *db, struct arena *a, const struct agent_maker *who, struct agent_row *row);
struct AgentRead;
/* Fills the reply and the audit entry for a new agent. */
void agent_row_tell(struct call *c, const struct agent_row *row, struct AgentRead *out);
/* Writes what has changed and notes it for the audit row. */
int agent_row_change(struct call *c, const struct agent_row *before, struct agent_row *after);

/* The slug that a name gives. */
const char *agent_slug_of(struct arena *a, const char *name);
/* The slug, with a number after it if it is taken, or reserved (mail/reserved.h). */
int agent_slug_free(struct db *db, struct arena *a, const char *tenant_id, const char *slug,
	const char **ret, struct problem *p);

/* avatars.c: keeps a picture that picture_square() made as the agent's; reads it, ERR_NOT_FOUND without one. */
int agent_avatar_keep(struct db *db, const char *tenant_id, const char *agent_id, const void *png,
	size_t len, int64_t now);
int agent_avatar_png(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const void **ret, size_t *ret_len);
/* memories.c: keeps something that everybody who works with the agent shares. */
int agent_memory_keep(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *user_id, const char *content, int64_t created_us);
