/* agents_schemas.c - the tables for agents: what one is made of, and what changes it as a whole. */
#include "api/agents/agents.h"

#include "api/skills/skills.h"
#include "contract/rules.h"
#include "git/bare.h"

#define NAME_PATTERN "^[A-Za-z0-9 -]+$"
#define NAME_RULE \
	.pattern = NAME_PATTERN, .rule = "may have letters A to Z, digits, blanks and hyphens only"

static const char *const AgentKind_list[] = {
	[AgentKind_user] = "user",
	[AgentKind_coding] = "coding",
	[AgentKind_analyst] = "analyst",
	[AgentKind_dba] = "dba",
	[AgentKind_schroeder] = "schroeder",
	NULL,
};
const struct words AgentKind_words = {
	.list = AgentKind_list,
	.doc = "What an agent is made for; it chooses the tools and prompts it begins with.",
};

static const char *const EnvironmentMode_list[] = {
	[EnvironmentMode_shared] = "shared",
	[EnvironmentMode_isolated] = "isolated",
	NULL,
};
const struct words EnvironmentMode_words = {
	.list = EnvironmentMode_list,
	.doc = "Whether an agent's tools run beside those of others or in a place of their own.",
};

FIELDS(AgentCreate) = {
	FIELD(AgentCreate, name, .required = true, NAME_RULE, BOUNDS(1, 255),
		.example = "\"Support desk\"",
		.doc = "Shown to people; letters, digits, spaces and hyphens."),
	FIELD(AgentCreate, slug, .required = true, SLUG_RULE, BOUNDS(1, 64),
		.example = "\"support-desk\"",
		.doc = "Names the agent in addresses and to callers; unique in its tenant, and "
		       "lasting. Names such as postmaster are reserved."),
	FIELD(AgentCreate, kind, .words = &AgentKind_words, .otherwise = "\"user\"",
		.doc = "A label to find it by; it changes nothing about how the agent works."),
	FIELD(AgentCreate, environment_mode, .words = &EnvironmentMode_words,
		.otherwise = "\"shared\"", .unused = true,
		.doc = "Whether its tools run beside those of others or in a place of their own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentCreate, can_author_skills, .label = "May write skills", .preset = "false",
		.doc = "Whether the agent may write skills itself."),
	FIELD(AgentCreate, hidden, .label = "Hidden from lists", .preset = "false",
		.doc = "Leaves the agent out of lists unless they are asked to include it."),
	FIELD(AgentCreate, is_admin_only, .label = "Only for administrators", .preset = "false",
		.doc = "True keeps everybody but OWNER, ADMIN and super administrators from it; "
		       "needs agent:roles:write."),
	FIELD(AgentCreate, resource_class, .preset = "\"small\"", .unused = true,
		.doc = "How much machine its environment gets. Kept for environments, which this version "
		       "does not have."),
	FIELD(AgentCreate, description, .nullable = true,
		.example = "\"Answers questions of customers.\"",
		.doc = "What it is for, in a sentence or two for people."),
	FIELD(AgentCreate, description_prompt, .label = "System prompt", .nullable = true,
		.prompt = true,
		.example = "\"You answer questions of customers, briefly and kindly.\"",
		.doc = "The system prompt: who the agent is and how it works."),
	FIELD(AgentCreate, initial_greeting, .label = "Greeting", .nullable = true, .prompt = true,
		.example = "\"Hello! What can I do for you?\"",
		.doc = "The first message of every session that is begun under its sessions, by a "
		       "person or a key; no model is asked for it."),
	FIELD(AgentCreate, image_ref, .nullable = true,
		.example = "\"registry.example.org/support-desk:1\"", .unused = true,
		.doc = "Container image of its environment; null for the service's own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentCreate, iteration_warn_threshold, .label = "Mark after", .unit = "turns",
		.nullable = true, AT_LEAST(1), .example = "25",
		.doc = "A session that takes this many turns is marked for attention "
		       "(attention_at, a notice among its events); null for never."),
	FIELD(AgentCreate, voice, .nullable = true, BOUNDS(0, 128), .example = "\"alloy\"",
		.doc = "The voice it speaks with, as its provider names it: the default of speech, and "
		       "of messages that are read aloud."),
};
SCHEMA(AgentCreate, .doc = "What it takes to make an agent; whoever makes it becomes its OWNER.");

#define FLAG_PRESET(member, value) FIELD(AgentBundleSettings, member, .preset = value)

FIELDS(AgentBundleSettings) = {
	FIELD(AgentBundleSettings, name, .required = true, NAME_RULE, BOUNDS(1, 255)),
	FIELD(AgentBundleSettings, slug, .required = true, SLUG_RULE, BOUNDS(1, 64)),
	FIELD(AgentBundleSettings, kind, .words = &AgentKind_words, .preset = "\"user\""),
	FIELD(AgentBundleSettings, environment_mode, .words = &EnvironmentMode_words,
		.preset = "\"shared\""),
	FIELD(AgentBundleSettings, skill_visibility_scope, .words = &SkillScope_words,
		.preset = "\"private_only\""),
	FLAG_PRESET(can_author_skills, "false"),
	FLAG_PRESET(hidden, "false"),
	FLAG_PRESET(is_admin_only, "false"),
	FLAG_PRESET(is_active, "true"),
	FLAG_PRESET(editor_enabled, "false"),
	FLAG_PRESET(external_mail_enabled, "true"),
	FLAG_PRESET(default_role_enabled, "true"),
	FIELD(AgentBundleSettings, resource_class, .preset = "\"small\""),
	FIELD(AgentBundleSettings, description, .nullable = true),
	FIELD(AgentBundleSettings, initial_greeting, .nullable = true, .prompt = true),
	FIELD(AgentBundleSettings, image_ref, .nullable = true),
	FIELD(AgentBundleSettings, voice, .nullable = true, BOUNDS(0, 128)),
	FIELD(AgentBundleSettings, iteration_warn_threshold, .nullable = true, AT_LEAST(1)),
	FIELD(AgentBundleSettings, hourly_limit_usd, .nullable = true, AT_LEAST(0),
		.ceiling = 1000000),
	FIELD(AgentBundleSettings, created_at, .nullable = true),
};
SCHEMA(AgentBundleSettings, .internal = true);

FIELDS(AgentUpdate) = {
	FIELD(AgentUpdate, name, .nullable = true, NAME_RULE, BOUNDS(1, 255),
		.example = "\"Support desk\"",
		.doc = "Shown to people; letters, digits, spaces and hyphens."),
	FIELD(AgentUpdate, description, .nullable = true,
		.example = "\"Answers questions of customers.\"",
		.doc = "What it is for, in a sentence or two for people."),
	FIELD(AgentUpdate, description_prompt, .label = "System prompt", .nullable = true,
		.prompt = true,
		.example = "\"You answer questions of customers, briefly and kindly.\"",
		.doc = "The system prompt: who the agent is and how it works."),
	FIELD(AgentUpdate, bootstrap_instructions, .label = "First instructions", .nullable = true,
		.prompt = true, .example = "\"Clone the handbook before the first task.\"",
		.doc = "Given to the agent once, after its prompt: in the first session that begins "
		       "its work once they are set, and in no other."),
	FIELD(AgentUpdate, initial_greeting, .label = "Greeting", .nullable = true, .prompt = true,
		.example = "\"Hello! What can I do for you?\"",
		.doc = "The first message of every session that is begun under its sessions, by a "
		       "person or a key; no model is asked for it."),
	FIELD(AgentUpdate, can_author_skills, .label = "May write skills", .nullable = true,
		.doc = "Whether the agent may write skills itself."),
	FIELD(AgentUpdate, editor_enabled, .nullable = true, .unused = true,
		.doc = "Whether people may open its environment in an editor. Kept for environments, "
		       "which this version does not have."),
	FIELD(AgentUpdate, environment_mode, .nullable = true, .words = &EnvironmentMode_words,
		.unused = true,
		.doc = "Whether its tools run beside those of others or in a place of their own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentUpdate, external_mail_enabled, .label = "External mail", .nullable = true,
		.doc = "Whether it has an external mailbox, where its tenant allows one."),
	FIELD(AgentUpdate, hidden, .label = "Hidden from lists", .nullable = true,
		.doc = "Leaves the agent out of lists unless they are asked to include it."),
	FIELD(AgentUpdate, image_ref, .nullable = true,
		.example = "\"registry.example.org/support-desk:1\"", .unused = true,
		.doc = "Container image of its environment; null for the service's own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentUpdate, is_active, .label = "Active", .nullable = true,
		.doc = "False stops new sessions and work; what exists can still be read."),
	FIELD(AgentUpdate, is_admin_only, .label = "Only for administrators", .nullable = true,
		.doc = "True keeps everybody but OWNER, ADMIN and super administrators from it; "
		       "changing it needs agent:roles:write."),
	FIELD(AgentUpdate, iteration_warn_threshold, .label = "Mark after", .unit = "turns",
		.nullable = true, AT_LEAST(1), .example = "25",
		.doc = "A session that takes this many turns is marked for attention "
		       "(attention_at, a notice among its events); null for never."),
	FIELD(AgentUpdate, resource_class, .nullable = true, .example = "\"small\"", .unused = true,
		.doc = "How much machine its environment gets. Kept for environments, which this version "
		       "does not have."),
	FIELD(AgentUpdate, ssh_public_key, .nullable = true,
		.example =
			"\"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKdwVYdkCRfaKcE5JMTWDTdpDkwvNoZv1rY0CGdgpHTV\"",
		.doc = "Key with which the agent reaches its own repositories over ssh: ed25519, ecdsa, or "
		       "rsa from 3072 bits on; the private half never leaves it."),
	FIELD(AgentUpdate, voice, .nullable = true, BOUNDS(0, 128), .example = "\"alloy\"",
		.doc = "The voice it speaks with, as its provider names it: the default of speech, and "
		       "of messages that are read aloud."),
};
SCHEMA(AgentUpdate, .partial = true,
	.doc = "Changes to an agent; what is left out stays, and null clears what can be empty.");

FIELDS(AgentRead) = {
	FIELD(AgentRead, id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(AgentRead, name, .required = true, .example = "\"Support desk\"",
		.doc = "Shown to people."),
	FIELD(AgentRead, slug, .required = true, .example = "\"support-desk\"",
		.doc = "Names the agent in addresses; unique in its tenant."),
	FIELD(AgentRead, resource_class, .required = true, .example = "\"small\"", .unused = true,
		.doc = "How much machine its environment gets. Kept for environments, which this version "
		       "does not have."),
	FIELD(AgentRead, code_ref, .required = true, .example = "\"main\"",
		.doc = "Branch or tag of its repository that it runs from."),
	FIELD(AgentRead, description, .required = true, .nullable = true,
		.example = "\"Answers questions of customers.\"",
		.doc = "What it is for, in a sentence or two for people."),
	FIELD(AgentRead, initial_greeting, .required = true, .nullable = true, .prompt = true,
		.example = "\"Hello! What can I do for you?\"",
		.doc = "The first message of every new session."),
	FIELD(AgentRead, image_ref, .required = true, .nullable = true, .example = "null",
		.unused = true,
		.doc = "Container image of its environment; null for the service's own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentRead, repo_url, .required = true, .nullable = true,
		.example = "\"https://git.example.org/agents/support-desk.git\"",
		.doc = "Its source repository; null if it has none."),
	FIELD(AgentRead, is_active, .required = true, .example = "true",
		.doc = "False while it takes no new work."),
	FIELD(AgentRead, is_admin_only, .required = true,
		.doc = "True keeps everybody but OWNER, ADMIN and super administrators from it."),
	FIELD(AgentRead, is_seed, .required = true,
		.doc = "True for an agent that came with the tenant."),
	FIELD(AgentRead, can_author_skills, .required = true,
		.doc = "Whether the agent may write skills itself."),
	FIELD(AgentRead, created_at, .required = true, .doc = "When the agent was made."),
	FIELD(AgentRead, updated_at, .required = true, .doc = "When its settings last changed."),
	FIELD(AgentRead, avatar_sha256, .nullable = true, .example = "null",
		.doc = "Hash of its picture, for caches; null without one."),
	FIELD(AgentRead, bootstrap_instructions, .nullable = true, .prompt = true,
		.example = "\"Clone the handbook before the first task.\"",
		.doc = "Given to the agent once, after its prompt: in the first session that begins "
		       "its work once they are set, and in no other."),
	FIELD(AgentRead, created_by_agent_id, .nullable = true, .id = true, .example = "null",
		.doc = "The agent that made it, if an agent did."),
	FIELD(AgentRead, created_by_id, .nullable = true, .id = true,
		.doc = "The user who made it, if a user did."),
	FIELD(AgentRead, description_prompt, .nullable = true, .prompt = true,
		.example = "\"You answer questions of customers, briefly and kindly.\"",
		.doc = "The system prompt: who the agent is and how it works."),
	FIELD(AgentRead, editor_enabled, .preset = "false", .unused = true,
		.doc = "Whether people may open its environment in an editor. Kept for environments, "
		       "which this version does not have."),
	FIELD(AgentRead, environment_mode, .words = &EnvironmentMode_words, .unused = true,
		.doc = "Whether its tools run beside those of others or in a place of their own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentRead, external_mail_enabled, .preset = "true",
		.doc = "Whether it has an external mailbox, where its tenant allows one."),
	FIELD(AgentRead, hidden, .preset = "false",
		.doc = "True leaves it out of lists unless they are asked to include it."),
	FIELD(AgentRead, iteration_warn_threshold, .nullable = true, .example = "25",
		.doc = "A session that takes this many turns is marked for attention "
		       "(attention_at, a notice among its events); null for never."),
	FIELD(AgentRead, plan_read_only, .computed = true, .preset = "false",
		.doc = "True when the plan does not cover it: it reads, but does not change or "
		       "run."),
	FIELD(AgentRead, skill_visibility_scope, .words = &SkillScope_words,
		.doc = "Whether the skills it writes stay private or may be public."),
	FIELD(AgentRead, ssh_public_key, .nullable = true, .example = "null",
		.doc = "Key with which the agent reaches its own repositories over ssh; null if it has none."),
	FIELD(AgentRead, voice, .nullable = true, .example = "\"alloy\"",
		.doc = "The voice it speaks with; null for none."),
	FIELD(AgentRead, meeting_managed, .preset = "false",
		.doc = "True when a meeting made the agent and removes it again."),
};
SCHEMA(AgentRead, .doc = "An agent with all its settings.");

FIELDS(AgentListRead) = {
	FIELD(AgentListRead, id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentListRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(AgentListRead, name, .required = true, .example = "\"Support desk\"",
		.doc = "Shown to people."),
	FIELD(AgentListRead, slug, .required = true, .example = "\"support-desk\"",
		.doc = "Names the agent in addresses; unique in its tenant."),
	FIELD(AgentListRead, resource_class, .required = true, .example = "\"small\"",
		.unused = true,
		.doc = "How much machine its environment gets. Kept for environments, which this version "
		       "does not have."),
	FIELD(AgentListRead, code_ref, .required = true, .example = "\"main\"",
		.doc = "Branch or tag of its repository that it runs from."),
	FIELD(AgentListRead, description, .required = true, .nullable = true,
		.example = "\"Answers questions of customers.\"",
		.doc = "What it is for, in a sentence or two for people."),
	FIELD(AgentListRead, initial_greeting, .required = true, .nullable = true, .prompt = true,
		.example = "\"Hello! What can I do for you?\"",
		.doc = "The first message of every new session."),
	FIELD(AgentListRead, image_ref, .required = true, .nullable = true, .example = "null",
		.unused = true,
		.doc = "Container image of its environment; null for the service's own. Kept for "
		       "environments, which this version does not have."),
	FIELD(AgentListRead, repo_url, .required = true, .nullable = true,
		.example = "\"https://git.example.org/agents/support-desk.git\"",
		.doc = "Its source repository; null if it has none."),
	FIELD(AgentListRead, is_active, .required = true, .example = "true",
		.doc = "False while it takes no new work."),
	FIELD(AgentListRead, is_admin_only, .required = true,
		.doc = "True keeps everybody but OWNER, ADMIN and super administrators from it."),
	FIELD(AgentListRead, is_seed, .required = true,
		.doc = "True for an agent that came with the tenant."),
	FIELD(AgentListRead, can_author_skills, .required = true,
		.doc = "Whether the agent may write skills itself."),
	FIELD(AgentListRead, created_at, .required = true, .doc = "When the agent was made."),
	FIELD(AgentListRead, updated_at, .required = true,
		.doc = "When its settings last changed."),
	FIELD(AgentListRead, created_by_agent_id, .nullable = true, .id = true, .example = "null",
		.doc = "The agent that made it, if an agent did."),
	FIELD(AgentListRead, created_by_id, .nullable = true, .id = true,
		.doc = "The user who made it, if a user did."),
	FIELD(AgentListRead, editor_enabled, .preset = "false", .unused = true,
		.doc = "Whether people may open its environment in an editor. Kept for environments, "
		       "which this version does not have."),
	FIELD(AgentListRead, hidden, .preset = "false",
		.doc = "True leaves it out of lists unless they are asked to include it."),
	FIELD(AgentListRead, is_favorite, .computed = true, .preset = "false",
		.doc = "True when you marked it as a favourite."),
	FIELD(AgentListRead, plan_read_only, .computed = true, .preset = "false",
		.doc = "True when the plan does not cover it: it reads, but does not change or "
		       "run."),
	FIELD(AgentListRead, voice, .nullable = true, .example = "\"alloy\"",
		.doc = "The voice it speaks with; null for none."),
	FIELD(AgentListRead, meeting_managed, .preset = "false",
		.doc = "True when a meeting made the agent and removes it again."),
};
SCHEMA(AgentListRead, .doc = "An agent in a list: without its prompts, with your favourite mark.");

FIELDS(AgentClone) = {
	FIELD(AgentClone, name, .required = true, NAME_RULE, BOUNDS(1, 255),
		.example = "\"Support desk two\"",
		.doc = "Name of the copy; its slug is made from it."),
};
SCHEMA(AgentClone, .doc = "A new name for a copy of an agent.");

FIELDS(AgentCodeRefUpdate) = {
	FIELD(AgentCodeRefUpdate, code_ref, .required = true, BOUNDS(1, 128),
		.check = ref_name_fault, .example = "\"v1.4.0\"",
		.doc = "Must be a branch or tag of the agent's repository, else 422."),
};
SCHEMA(AgentCodeRefUpdate, .doc = "Pins an agent to a branch or tag.");

FIELDS(AgentOwnershipTransfer) = {
	FIELD(AgentOwnershipTransfer, new_owner_id, .required = true, .id = true,
		.doc = "A member of the tenant; the former owner stays as MANAGER."),
};
SCHEMA(AgentOwnershipTransfer, .doc = "Hands an agent to another member.");

FIELDS(AgentCanAuthorSkillsUpdate) = {
	FIELD(AgentCanAuthorSkillsUpdate, can_author_skills, .required = true, .example = "true",
		.doc = "What it wrote before stays either way."),
};
SCHEMA(AgentCanAuthorSkillsUpdate, .doc = "Lets an agent write skills, or stops it.");

FIELDS(AgentFavoriteRead) = {
	FIELD(AgentFavoriteRead, user_id, .required = true, .id = true,
		.doc = "Whose favourite it is."),
	FIELD(AgentFavoriteRead, agent_id, .required = true, .id = true,
		.doc = "The agent marked."),
};
SCHEMA(AgentFavoriteRead, .doc = "A user's mark on an agent.");
