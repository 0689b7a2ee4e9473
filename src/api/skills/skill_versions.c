/* skill_versions.c - which text of a skill an agent works by.
 *
 * A skill of another tenant is pinned when it is given: the agent works by the
 * text that stood then, whatever its owner makes of it, until somebody who may
 * write the agent's skills has looked at the new one and accepts it by its
 * digest.  A skill of the own tenant follows its live text unless it is pinned
 * here.  Texts that are pinned are kept once for all who hold them, beside the
 * skill, and go when nobody does, or with the skill. */
#include <string.h>

#include "call/operation.h"
#include "api/skills/skill_store.h"
#include "base/crypto.h"

/* What an agent can come to read, as it is stored: equal texts are equal skills. */
struct skill_text {
	const char *name, *slug, *description, *allowed_tools, *metadata, *files, *instructions;
};

FIELDS(skill_text) = {
	FIELD(skill_text, name),
	FIELD(skill_text, slug),
	FIELD(skill_text, description),
	FIELD(skill_text, allowed_tools),
	FIELD(skill_text, metadata),
	FIELD(skill_text, files),
	FIELD(skill_text, instructions),
};
static SCHEMA(skill_text, .internal = true);

struct held_version {
	const char *skill_tenant_id, *digest; /* digest: of the pinned text, or NULL */
};

FIELDS(held_version) = {
	FIELD(held_version, skill_tenant_id),
	FIELD(held_version, digest, .nullable = true),
};
static SCHEMA(held_version, .internal = true);

enum { TEXT_LIVE, TEXT_PINNED, VERSION_KEEP, FILES_KEEP, VERSIONS_TIDY, HELD, PIN };

#define TEXT "name, slug, description, allowed_tools, metadata, files, instructions"

static const struct statement sql[] = {
	/* $3 the tenant that looks */
	[TEXT_LIVE] = { "skill_text_live",
		"select " TEXT " from skills s where s.tenant_id = $1 and s.id = $2 and "
		"(s.tenant_id = $3 or (s.visibility = 'public' and exists (select 1 from tenants t "
		"where t.id = s.tenant_id and t.status <> 'closed')))",
		.row = &skill_text_schema },
	[TEXT_PINNED] = { "skill_text_pinned",
		"select " TEXT " from skill_versions where tenant_id = $1 and skill_id = $2 "
		"and digest = $3",
		.row = &skill_text_schema },
	[VERSION_KEEP] = { "skill_version_keep",
		"insert into skill_versions (tenant_id, skill_id, digest, created_at, " TEXT ") "
		"select tenant_id, id, $3, $4, " TEXT
		" from skills where tenant_id = $1 and id = $2 "
		"on conflict (tenant_id, skill_id, digest) do nothing" },
	[FILES_KEEP] = { "skill_version_files_keep",
		"insert into skill_version_files (tenant_id, skill_id, digest, path, size_bytes, sha256, "
		"content) select tenant_id, skill_id, $3, path, size_bytes, sha256, content "
		"from skill_files where tenant_id = $1 and skill_id = $2 "
		"on conflict (tenant_id, skill_id, digest, path) do nothing" },
	[VERSIONS_TIDY] = { "skill_versions_tidy",
		"delete from skill_versions where tenant_id = $1 and skill_id = $2 and not exists "
		"(select 1 from agent_skills g where g.skill_tenant_id = $1 and g.skill_id = $2 "
		"and g.digest = skill_versions.digest)",
		.across = "a public skill may be held by agents of other tenants" },
	[HELD] = { "agent_skill_version",
		"select skill_tenant_id, digest from agent_skills where tenant_id = $1 "
		"and agent_id = $2 and skill_id = $3",
		.row = &held_version_schema },
	[PIN] = { "agent_skill_pin",
		"update agent_skills set digest = $4 where tenant_id = $1 and agent_id = $2 "
		"and skill_id = $3" },
};
STATEMENT_SET(skill_version_sql, sql);

static const char *skill_text_digest(struct arena *a, const struct skill_text *t)
{
	const char *const parts[] = { t->name, t->slug, t->description, t->allowed_tools,
		t->metadata, t->files, t->instructions };
	char hex[2 * SHA256_LEN + 1];
	uint8_t digests[sizeof parts / sizeof *parts][SHA256_LEN], digest[SHA256_LEN];

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		sha256(parts[i], strlen(parts[i]), digests[i]);
	sha256(digests, sizeof digests, digest);
	hex_write(digest, sizeof digest, hex);
	return arena_strdup(a, hex);
}

/* The digest of the text that stands; NULL if the skill is not there for the tenant. */
static int live_digest(struct db *db, struct arena *a, const char *skill_tenant_id,
	const char *skill_id, const char *tenant_id, const char **ret)
{
	struct skill_text text;
	int err = db_one(
		db, a, &sql[TEXT_LIVE], &text, ARGS(T(skill_tenant_id), T(skill_id), T(tenant_id)));

	*ret = err ? NULL : skill_text_digest(a, &text);
	return err == ERR_NOT_FOUND ? 0 : err;
}

int skill_version_keep(struct db *db, struct arena *a, const char *skill_tenant_id,
	const char *skill_id, const char *tenant_id, int64_t now, const char **ret_digest)
{
	int err = live_digest(db, a, skill_tenant_id, skill_id, tenant_id, ret_digest);

	if (err || !*ret_digest)
		return err ? err : ERR_NOT_FOUND;
	err = db_run(db, &sql[VERSION_KEEP], NULL,
		ARGS(T(skill_tenant_id), T(skill_id), T(*ret_digest), N(now)));
	if (!err)
		err = db_run(db, &sql[FILES_KEEP], NULL,
			ARGS(T(skill_tenant_id), T(skill_id), T(*ret_digest)));
	return err;
}

int skill_versions_tidy(struct db *db, const char *skill_tenant_id, const char *skill_id)
{
	return db_run(db, &sql[VERSIONS_TIDY], NULL, ARGS(T(skill_tenant_id), T(skill_id)));
}

static int find_held(struct call *c, struct held_version *ret)
{
	int err = db_one(c->db, c->arena, &sql[HELD], ret,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(call_param(c, "skill_id"))));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "This skill was not given to the agent.")
				    : err;
}

/* What was pinned before digests were kept is named by something else; its digest is that of its text. */
static int show_skill_version(
	struct call *c, const struct held_version *held, struct AgentSkillVersion *out)
{
	const char *skill_id = call_param(c, "skill_id");
	struct skill_text text;
	int err = live_digest(c->db, c->arena, held->skill_tenant_id, skill_id, c->caller.tenant_id,
		&out->latest_digest);

	if (!err && held->digest)
		err = db_one(c->db, c->arena, &sql[TEXT_PINNED], &text,
			ARGS(T(held->skill_tenant_id), T(skill_id), T(held->digest)));
	if (err)
		return err;
	out->agent_id = c->caller.agent_id;
	out->skill_id = skill_id;
	out->is_pinned = held->digest != NULL;
	out->digest = held->digest ? skill_text_digest(c->arena, &text) : out->latest_digest;
	out->update_available = out->latest_digest && strcmp(out->digest, out->latest_digest) != 0;
	return 0;
}

OPERATION(readAgentSkillVersion, NONE, AgentSkillVersion)
{
	struct held_version held;
	int err = find_held(c, &held);

	return err ? err : show_skill_version(c, &held, out);
}

static int refuse_skill_version(struct call *c, const char *code, const char *sentence)
{
	c->problem.code = code;
	return call_fail(c, ERR_CONFLICT, "%s", sentence);
}

/* The text that is accepted is the one that was looked at, or none. */
OPERATION(setAgentSkillVersion, AgentSkillVersionUpdate, AgentSkillVersion)
{
	const struct caller *who = &c->caller;
	const char *skill_id = call_param(c, "skill_id"), *digest = NULL;
	struct held_version held;
	int err = find_held(c, &held);

	if (err)
		return err;
	if (!in->digest && strcmp(held.skill_tenant_id, who->tenant_id) != 0)
		return refuse_skill_version(c, "pinned",
			"A skill of another tenant is pinned to the text that was accepted; name a digest.");
	if (in->digest)
		err = skill_version_keep(c->db, c->arena, held.skill_tenant_id, skill_id,
			who->tenant_id, c->now, &digest);
	if (err == ERR_NOT_FOUND)
		return refuse_skill_version(
			c, "not_public", "The skill is not there for this tenant now.");
	if (!err && in->digest && strcmp(in->digest, digest) != 0)
		return refuse_skill_version(c, "changed",
			"The skill's text has another digest by now; read it again and accept that.");
	if (!err)
		err = db_run(c->db, &sql[PIN], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id), T(skill_id), T(digest)));
	if (!err)
		err = skill_versions_tidy(c->db, held.skill_tenant_id, skill_id);
	held.digest = digest;
	c->audit.meta = digest ? arena_printf(c->arena, "{\"digest\":\"%s\"}", digest)
			       : "{\"digest\":null}";
	return err ? err : show_skill_version(c, &held, out);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/skills"

static const struct route routes[] = {
	{ METHOD_GET, A "/{skill_id}/version", &readAgentSkillVersion, PERM_AGENT_READ, 200,
		.tag = "Skills of an agent",
		.doc = "Read which text of the skill the agent works by, and whether there is a newer "
		       "one." },
	{ METHOD_PUT, A "/{skill_id}/version", &setAgentSkillVersion, PERM_AGENT_SKILLS_WRITE, 200,
		"agent_skill.version", .tag = "Skills of an agent",
		.doc = "Accept the skill's present text by its digest; null has the tenant's own skill "
		       "followed." },
};
RESOURCE(skill_versions, routes, NULL, &skill_version_sql);
