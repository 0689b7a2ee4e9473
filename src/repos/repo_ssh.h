/* repo_ssh.h - agents that reach their own repositories with a key of their own, by way of the machine's OpenSSH: whose key it is,
 * and what its owner asks for. */
#pragma once
#include "git/git_child.h"
#include "repos/repo.h"

struct repo_ssh_key {
	const char *agent_id, *ssh_public_key;
};

/* Those of agents that work, in the order of their ids; struct repo_ssh_key.  With a key ("KIND BYTES") only those that begin as it
 * does: whoever asks compares them whole. */
int repo_ssh_keys(struct db *db, struct arena *a, const char *key, struct list *ret);

struct repo_ssh_agent {
	const char *tenant_id, *agent_id;
	const char *ssh_public_key; /* or NULL */
	bool reads_only;	    /* it is beyond the tenant's plan */
};
/* ERR_NOT_FOUND where it does not work, or its tenant is not open. */
int repo_ssh_agent(struct db *db, struct arena *a, const char *tenant_slug, const char *agent_slug,
	struct repo_ssh_agent *ret);
extern const struct statement_set repo_ssh_sql;

/* What a client asks for: git-upload-pack 'TENANT/AGENT.git'. */
struct repo_ssh_asked {
	enum git_service service;
	const char *tenant_slug, *agent_slug;
	enum RepoPurpose purpose;
};
/* Nothing is taken but what git's clients write; there is no shell. */
bool repo_ssh_read(struct arena *a, const char *line, struct repo_ssh_asked *ret);
