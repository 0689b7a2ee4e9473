/* repo_ssh.c - see repo_ssh.h. */
#include "repos/repo_ssh.h"

#include <string.h>

#include "store/row.h"

enum { KEYS_MAX = 1000 * 1000, NAME_MAX_BYTES = 300, KEY_BEGINS = 80 };

FIELDS(repo_ssh_key) = { ROW_FIELDS(repo_ssh_key, agent_id, ssh_public_key) };
static SCHEMA(repo_ssh_key, .internal = true);

FIELDS(repo_ssh_agent) = { ROW_FIELDS(
	repo_ssh_agent, tenant_id, agent_id, ssh_public_key, reads_only) };
static SCHEMA(repo_ssh_agent, .internal = true);

enum { SSH_KEYS, SSH_KEYS_LIKE, SSH_AGENT };

static const struct statement sql[] = {
	[SSH_KEYS] = { "ssh_keys",
		"select a.id as agent_id, a.ssh_public_key from agents a where a.ssh_public_key is not null "
		"and a.is_active = 1 order by a.id",
		.row = &repo_ssh_key_schema, .across = "whose a key is, is what is asked",
		.scan = "whoever lists all of them" },
	/* As the index has it: an ed25519 key whole, and more of the others than chance would make the same. */
	[SSH_KEYS_LIKE] = { "ssh_keys_like",
		"select a.id as agent_id, a.ssh_public_key from agents a where a.ssh_public_key is not null "
		"and substr(a.ssh_public_key, 1, 80) = $1 and a.is_active = 1 order by a.id",
		.row = &repo_ssh_key_schema, .across = "whose a key is, is what is asked" },
	[SSH_AGENT] = { "ssh_agent",
		"select a.tenant_id, a.id as agent_id, a.ssh_public_key, "
		"case when a.id > coalesce(t.read_only_after, a.id) then 1 else 0 end as reads_only "
		"from tenants t join agents a on a.tenant_id = t.id "
		"where t.slug = $1 and a.slug = $2 and a.is_active = 1 "
		"and t.status not in ('suspended', 'closed') and coalesce(t.erase_at, 0) = 0",
		.row = &repo_ssh_agent_schema, .across = "the tenant is named by its slug" },
};
STATEMENT_SET(repo_ssh_sql, sql);

int repo_ssh_keys(struct db *db, struct arena *a, const char *key, struct list *ret)
{
	if (!key)
		return db_all(db, a, &sql[SSH_KEYS], ret, KEYS_MAX, NO_ARGS);
	return db_all(db, a, &sql[SSH_KEYS_LIKE], ret, KEYS_MAX,
		ARGS(T(arena_strndup(a, key, strnlen(key, KEY_BEGINS)))));
}

int repo_ssh_agent(struct db *db, struct arena *a, const char *tenant_slug, const char *agent_slug,
	struct repo_ssh_agent *ret)
{
	return db_one(db, a, &sql[SSH_AGENT], ret, ARGS(T(tenant_slug), T(agent_slug)));
}

/* ---- what is asked for ---- */

static bool skip(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

/* Letters of a slug, up to the sign that ends it. */
static const char *take_slug(struct arena *a, const char **at, char end)
{
	size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789-_");
	const char *slug = arena_strndup(a, *at, n);

	if (!n || (*at)[n] != end)
		return NULL;
	*at += n + 1;
	return slug;
}

bool repo_ssh_read(struct arena *a, const char *line, struct repo_ssh_asked *ret)
{
	const char *at = line;

	if (strlen(line) > NAME_MAX_BYTES)
		return false;
	if (skip(&at, "git-upload-pack '") || skip(&at, "git upload-pack '"))
		ret->service = GIT_UPLOAD_PACK;
	else if (skip(&at, "git-receive-pack '") || skip(&at, "git receive-pack '"))
		ret->service = GIT_RECEIVE_PACK;
	else
		return false;
	skip(&at, "/");
	skip(&at, "git/");
	ret->tenant_slug = take_slug(a, &at, '/');
	ret->agent_slug = ret->tenant_slug ? take_slug(a, &at, '.') : NULL;
	if (!ret->agent_slug)
		return false;
	ret->purpose = skip(&at, "image.") ? RepoPurpose_image : RepoPurpose_code;
	return strcmp(at, "git'") == 0;
}
