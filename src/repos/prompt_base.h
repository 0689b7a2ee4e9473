/* prompt_base.h - what a prompt of an agent was when it and its file in the repository were last the same. */
#pragma once
#include "git/bare.h"
#include "repos/prompt_file.h"
#include "store/store.h"

struct prompt_base {
	char sha256[65]; /* "": it never was */
	char commit_id[BARE_ID_LEN + 1];
	int64_t taken_at;
};

struct prompt_bases {
	struct prompt_base of[PROMPT_FILES];
};

void prompt_digest(const char *text, char ret[65]); /* of NULL: that of "" */
int prompt_bases_read(
	struct db *db, const char *tenant_id, const char *agent_id, struct prompt_bases *ret);
int prompt_base_put(struct db *db, const char *tenant_id, const char *agent_id, int file,
	const char *text, const char *commit_id, int64_t now);
int prompt_bases_drop(struct db *db, const char *tenant_id, const char *agent_id);
extern const struct statement_set prompt_base_sql;
