/* skills_schemas.c - the tables for skills, and for what an agent has and may do with them. */
#include "api/skills/skills.h"
#include "contract/shape.h"

static const char *const SkillScope_list[] = {
	[SkillScope_private_only] = "private_only",
	[SkillScope_tenant_allowed] = "tenant_allowed",
	NULL,
};
const struct words SkillScope_words = {
	.list = SkillScope_list,
	.doc = "private_only: the agent writes only private skills; tenant_allowed: also public "
	       "ones.",
};

static const char *const SkillVisibility_list[] = {
	[SkillVisibility_private] = "private",
	[SkillVisibility_tenant] = "tenant",
	[SkillVisibility_public] = "public",
	NULL,
};
const struct words SkillVisibility_words = {
	.list = SkillVisibility_list,
	.doc = "private: its author and those with skills:write; tenant: every member; public: "
	       "also every other tenant of this service, to read and to give to agents.",
};

#define SLUG                                   \
	.pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", \
	.rule = "may have small letters a to z, digits, and single hyphens between them only"

FIELDS(SkillFile) = {
	FIELD(SkillFile, path, .required = true, BOUNDS(1, SKILL_PATH_MAX),
		.example = "\"references/FORMS.md\"", .doc = "Below the folder of the skill."),
	FIELD(SkillFile, size_bytes, .required = true, .example = "1204",
		.doc = "How many bytes it has."),
	FIELD(SkillFile, sha256, .required = true, .doc = "Of its bytes, in hexadecimal digits."),
};
SCHEMA(SkillFile, .doc = "A file that belongs to a skill.");

FIELDS(SkillCreate) = {
	FIELD(SkillCreate, name, .required = true, BOUNDS(1, 255), .example = "\"PDF forms\"",
		.doc = "Shown to people."),
	FIELD(SkillCreate, slug, .required = true, BOUNDS(1, 64), SLUG, .example = "\"pdf-forms\"",
		.doc = "Small letters, digits and single hyphens; one of its kind in the tenant, "
		       "and the name of the skill in SKILL.md."),
	FIELD(SkillCreate, description, .required = true, BOUNDS(1, 1024),
		.example = "\"Fills PDF forms. Use when a form is to be filled in.\"",
		.doc = "What the skill does and when to use it: all that a model sees before it "
		       "chooses the skill."),
	FIELD(SkillCreate, visibility, .words = &SkillVisibility_words, .preset = "\"private\"",
		.doc = "Who reads it and may give it to agents."),
	FIELD(SkillCreate, instructions, .required = true, .prompt = true,
		.example = "\"# Fill a form\\n\\n1. Read references/FORMS.md.\"",
		.doc = "What a model reads once it has chosen the skill; the body of SKILL.md."),
	FIELD(SkillCreate, license, .nullable = true, BOUNDS(1, 500), .example = "\"Apache-2.0\"",
		.doc = "The name of a licence, or of a file of the skill that holds one."),
	FIELD(SkillCreate, compatibility, .nullable = true, BOUNDS(1, 500),
		.doc = "What the skill needs to run."),
	FIELD(SkillCreate, metadata, .shape = &pairs_shape, .preset = "{}",
		.ceiling = SKILL_METADATA_MAX, .example = "{\"author\":\"example-org\"}",
		.doc = "Further properties, each a text. Keys that begin with lodge- are reserved."),
	FIELD(SkillCreate, allowed_tools, .item = TEXT, .preset = "[]", .max = SKILL_TOOLS_MAX,
		.example = "[\"Read\"]",
		.doc = "Tools that programs of the skill's format let it use without asking, kept for "
		       "export; here only the tool's own requires_approval counts."),
	FIELD(SkillCreate, created_by_agent_id, .nullable = true, .id = true,
		.doc = "The agent that wrote it; its can_author_skills and skill_visibility_scope "
		       "must allow it."),
};
SCHEMA(SkillCreate, .doc = "A skill to be made. Its files come by import or one by one.");

FIELDS(SkillUpdate) = {
	FIELD(SkillUpdate, name, BOUNDS(1, 255), .example = "\"PDF forms\"",
		.doc = "Shown to people."),
	FIELD(SkillUpdate, slug, BOUNDS(1, 64), SLUG, .example = "\"pdf-forms\"",
		.doc = "Small letters, digits and single hyphens; one of its kind in the tenant, "
		       "and the name of the skill in SKILL.md."),
	FIELD(SkillUpdate, description, BOUNDS(1, 1024),
		.example = "\"Fills PDF forms. Use when a form is to be filled in.\"",
		.doc = "What the skill does and when to use it: all that a model sees before it "
		       "chooses the skill."),
	FIELD(SkillUpdate, visibility, .words = &SkillVisibility_words,
		.doc = "Who reads it and may give it to agents."),
	FIELD(SkillUpdate, instructions, .prompt = true,
		.example = "\"# Fill a form\\n\\n1. Read references/FORMS.md.\"",
		.doc = "What a model reads once it has chosen the skill; the body of SKILL.md."),
	FIELD(SkillUpdate, license, .nullable = true, BOUNDS(1, 500), .example = "\"Apache-2.0\"",
		.doc = "The name of a licence, or of a file of the skill that holds one."),
	FIELD(SkillUpdate, compatibility, .nullable = true, BOUNDS(1, 500),
		.doc = "What the skill needs to run."),
	FIELD(SkillUpdate, metadata, .shape = &pairs_shape, .ceiling = SKILL_METADATA_MAX,
		.example = "{\"author\":\"example-org\"}",
		.doc = "Further properties, each a text. Keys that begin with lodge- are reserved."),
	FIELD(SkillUpdate, allowed_tools, .item = TEXT, .max = SKILL_TOOLS_MAX,
		.example = "[\"Read\"]",
		.doc = "Tools that programs of the skill's format let it use without asking, kept for "
		       "export; here only the tool's own requires_approval counts."),
};
SCHEMA(SkillUpdate, .partial = true, .doc = "Changes to a skill.");

#define SKILL_AUTHOR "Its author; null to other tenants."

FIELDS(SkillRead) = {
	FIELD(SkillRead, id, .required = true, .id = true, .doc = "The skill."),
	FIELD(SkillRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant whose skill it is; another than that of the path if it is public."),
	FIELD(SkillRead, name, .required = true, BOUNDS(1, 255), .example = "\"PDF forms\"",
		.doc = "Shown to people."),
	FIELD(SkillRead, slug, .required = true, BOUNDS(1, 64), SLUG, .example = "\"pdf-forms\"",
		.doc = "Small letters, digits and single hyphens; one of its kind in the tenant, "
		       "and the name of the skill in SKILL.md."),
	FIELD(SkillRead, description, .required = true, BOUNDS(1, 1024),
		.example = "\"Fills PDF forms. Use when a form is to be filled in.\"",
		.doc = "What the skill does and when to use it: all that a model sees before it "
		       "chooses the skill."),
	FIELD(SkillRead, visibility, .words = &SkillVisibility_words, .required = true,
		.doc = "Who reads it and may give it to agents."),
	FIELD(SkillRead, instructions, .required = true, .prompt = true,
		.example = "\"# Fill a form\\n\\n1. Read references/FORMS.md.\"",
		.doc = "What a model reads once it has chosen the skill; the body of SKILL.md."),
	FIELD(SkillRead, license, .nullable = true, BOUNDS(1, 500), .example = "\"Apache-2.0\"",
		.doc = "The name of a licence, or of a file of the skill that holds one."),
	FIELD(SkillRead, compatibility, .nullable = true, BOUNDS(1, 500),
		.doc = "What the skill needs to run."),
	FIELD(SkillRead, metadata, .shape = &pairs_shape, .required = true,
		.ceiling = SKILL_METADATA_MAX, .example = "{\"author\":\"example-org\"}",
		.doc = "Further properties, each a text. Keys that begin with lodge- are reserved."),
	FIELD(SkillRead, allowed_tools, .item = TEXT, .required = true, .max = SKILL_TOOLS_MAX,
		.example = "[\"Read\"]",
		.doc = "Tools that programs of the skill's format let it use without asking, kept for "
		       "export; here only the tool's own requires_approval counts."),
	FIELD(SkillRead, files, .required = true, .item = OBJECT, .of = &SkillFile_schema,
		.doc = "Scripts, references and assets, by path."),
	FIELD(SkillRead, is_seed, .required = true, .example = "false",
		.doc = "True for a skill that came with the service."),
	FIELD(SkillRead, created_by_id, .nullable = true, .id = true, .doc = SKILL_AUTHOR),
	FIELD(SkillRead, created_by_agent_id, .nullable = true, .id = true,
		.doc = "The agent that wrote it, if one did."),
	FIELD(SkillRead, created_at, .required = true, .doc = "When it was made."),
	FIELD(SkillRead, updated_at, .required = true, .doc = "When it was last changed."),
};
SCHEMA(SkillRead, .doc = "A skill: instructions and files that an agent takes up when they fit.");

FIELDS(SkillListRead) = {
	FIELD(SkillListRead, id, .required = true, .id = true, .doc = "The skill."),
	FIELD(SkillListRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant whose skill it is; another than that of the path if it is public."),
	FIELD(SkillListRead, name, .required = true, BOUNDS(1, 255), .example = "\"PDF forms\"",
		.doc = "Shown to people."),
	FIELD(SkillListRead, slug, .required = true, BOUNDS(1, 64), SLUG,
		.example = "\"pdf-forms\"",
		.doc = "Small letters, digits and single hyphens; one of its kind in the tenant, "
		       "and the name of the skill in SKILL.md."),
	FIELD(SkillListRead, description, .required = true, BOUNDS(1, 1024),
		.example = "\"Fills PDF forms. Use when a form is to be filled in.\"",
		.doc = "What the skill does and when to use it: all that a model sees before it "
		       "chooses the skill."),
	FIELD(SkillListRead, visibility, .words = &SkillVisibility_words, .required = true,
		.doc = "Who reads it and may give it to agents."),
	FIELD(SkillListRead, license, .nullable = true, BOUNDS(1, 500), .example = "\"Apache-2.0\"",
		.doc = "The name of a licence, or of a file of the skill that holds one."),
	FIELD(SkillListRead, compatibility, .nullable = true, BOUNDS(1, 500),
		.doc = "What the skill needs to run."),
	FIELD(SkillListRead, metadata, .shape = &pairs_shape, .required = true,
		.ceiling = SKILL_METADATA_MAX, .example = "{\"author\":\"example-org\"}",
		.doc = "Further properties, each a text. Keys that begin with lodge- are reserved."),
	FIELD(SkillListRead, allowed_tools, .item = TEXT, .required = true, .max = SKILL_TOOLS_MAX,
		.example = "[\"Read\"]",
		.doc = "Tools that programs of the skill's format let it use without asking, kept for "
		       "export; here only the tool's own requires_approval counts."),
	FIELD(SkillListRead, files, .required = true, .item = OBJECT, .of = &SkillFile_schema,
		.doc = "Scripts, references and assets, by path."),
	FIELD(SkillListRead, is_seed, .required = true, .example = "false",
		.doc = "True for a skill that came with the service."),
	FIELD(SkillListRead, created_by_id, .nullable = true, .id = true, .doc = SKILL_AUTHOR),
	FIELD(SkillListRead, created_by_agent_id, .nullable = true, .id = true,
		.doc = "The agent that wrote it, if one did."),
	FIELD(SkillListRead, created_at, .required = true, .doc = "When it was made."),
	FIELD(SkillListRead, updated_at, .required = true, .doc = "When it was last changed."),
};
SCHEMA(SkillListRead, .doc = "A skill in a list: all but its instructions.");

FIELDS(AgentSkillUpdate) = {
	FIELD(AgentSkillUpdate, is_enabled, .example = "false",
		.doc = "False keeps the grant but leaves the skill unused."),
};
SCHEMA(AgentSkillUpdate, .partial = true, .doc = "Changes to a skill that an agent has.");

#define DIGEST_PATTERN "^[0-9a-f]{64}$"
#define DIGEST_EXAMPLE "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""

FIELDS(AgentSkillVersion) = {
	FIELD(AgentSkillVersion, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentSkillVersion, skill_id, .required = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillVersion, is_pinned, .required = true, .example = "true",
		.doc = "True while the agent works by one text, whatever becomes of the skill."),
	FIELD(AgentSkillVersion, digest, .required = true, .nullable = true,
		.example = DIGEST_EXAMPLE,
		.doc = "SHA-256 over the text the agent works by; null while there is none."),
	FIELD(AgentSkillVersion, latest_digest, .required = true, .nullable = true,
		.example = DIGEST_EXAMPLE,
		.doc = "The same of the skill as it stands; null while it is not there for the "
		       "tenant."),
	FIELD(AgentSkillVersion, update_available, .required = true, .example = "false",
		.doc = "True when the two differ."),
};
SCHEMA(AgentSkillVersion, .doc = "Which text of a skill an agent works by.");

FIELDS(AgentSkillVersionUpdate) = {
	FIELD(AgentSkillVersionUpdate, digest, .required = true, .nullable = true,
		.pattern = DIGEST_PATTERN, BOUNDS(64, 64), .example = DIGEST_EXAMPLE,
		.doc = "The latest_digest that is accepted; null, for a skill of the own tenant, "
		       "follows the skill."),
};
SCHEMA(AgentSkillVersionUpdate, .doc = "Pins a skill of an agent to the text it has now.");

FIELDS(AgentSkillGrant) = {
	FIELD(AgentSkillGrant, skill_id, .required = true, .id = true,
		.doc = "A skill the tenant can see."),
	FIELD(AgentSkillGrant, is_enabled, .preset = "true",
		.doc = "False keeps the grant but leaves the skill unused."),
};
SCHEMA(AgentSkillGrant, .doc = "Gives a skill to an agent.");

FIELDS(AgentSkillRead) = {
	FIELD(AgentSkillRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentSkillRead, skill_id, .required = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillRead, is_enabled, .required = true, .example = "true",
		.doc = "False while the skill is kept but unused."),
	FIELD(AgentSkillRead, created_at, .required = true, .doc = "When the skill was given."),
	FIELD(AgentSkillRead, has_config, .preset = "false",
		.doc = "True when a configuration is stored for this agent and skill."),
};
SCHEMA(AgentSkillRead, .doc = "A skill that an agent has.");

FIELDS(AgentSkillConfigUpdate) = {
	FIELD(AgentSkillConfigUpdate, config, .open = true, .nullable = true,
		.example = "{\"region\":\"eu\"}",
		.doc = "The whole configuration, sealed before it is stored; null or absent "
		       "clears it."),
};
SCHEMA(AgentSkillConfigUpdate,
	.doc = "An agent's configuration of a skill, replacing the former one.");

FIELDS(AgentSkillConfigRead) = {
	FIELD(AgentSkillConfigRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentSkillConfigRead, skill_id, .required = true, .id = true, .doc = "The skill."),
	FIELD(AgentSkillConfigRead, config, .open = true, .nullable = true,
		.example = "{\"region\":\"eu\"}",
		.doc = "As it was last set; null if none is. Reading it takes the permission to "
		       "write it."),
};
SCHEMA(AgentSkillConfigRead, .doc = "An agent's configuration of a skill, opened.");

FIELDS(AgentSkillPermissionEntry) = {
	FIELD(AgentSkillPermissionEntry, skill_id, .required = true, .id = true,
		.doc = "The skill."),
	FIELD(AgentSkillPermissionEntry, action, .preset = "\"use\"",
		.doc = "What is allowed or not; use is the only action there is."),
	FIELD(AgentSkillPermissionEntry, allowed, .preset = "true",
		.doc = "False forbids the action."),
};
SCHEMA(AgentSkillPermissionEntry, .doc = "Whether an agent may do something with a skill.");

FIELDS(AgentSkillPermissionUpdate) = {
	FIELD(AgentSkillPermissionUpdate, permissions, .required = true, .item = OBJECT,
		.of = &AgentSkillPermissionEntry_schema,
		.doc = "Every permission the agent shall have; rows not listed are removed."),
};
SCHEMA(AgentSkillPermissionUpdate,
	.doc = "An agent's permissions on skills, replacing all former ones.");

FIELDS(AgentSkillPermissionRead) = {
	FIELD(AgentSkillPermissionRead, agent_id, .required = true, .id = true,
		.doc = "The agent."),
	FIELD(AgentSkillPermissionRead, skill_id, .required = true, .id = true,
		.doc = "The skill."),
	FIELD(AgentSkillPermissionRead, action, .required = true, .example = "\"use\"",
		.doc = "What is allowed or not."),
	FIELD(AgentSkillPermissionRead, allowed, .required = true, .example = "true",
		.doc = "False forbids the action."),
	FIELD(AgentSkillPermissionRead, created_at, .required = true,
		.doc = "When the permission was set."),
};
SCHEMA(AgentSkillPermissionRead, .doc = "One permission of an agent on a skill.");

FIELDS(AgentSkillVisibilityScopeUpdate) = {
	FIELD(AgentSkillVisibilityScopeUpdate, skill_visibility_scope, .required = true,
		.words = &SkillScope_words,
		.doc = "private_only: only private skills; tenant_allowed: also public ones."),
};
SCHEMA(AgentSkillVisibilityScopeUpdate, .doc = "How far the skills an agent writes may be seen.");
