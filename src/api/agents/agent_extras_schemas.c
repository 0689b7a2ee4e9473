/* agent_extras_schemas.c - the tables for what surrounds an agent: repository, budget, picture,
 * chat limits, import, provenance. */
#include "api/agents/agent_extras.h"

#include "base/zone.h"

#define CLOCK .pattern = "^\\d{2}:\\d{2}$", .rule = "must be a time of day such as 09:30"

FIELDS(AgentRepoRefs) = {
	FIELD(AgentRepoRefs, branches, .required = true, .item = TEXT, .example = "[\"main\"]",
		.doc = "Names of branches."),
	FIELD(AgentRepoRefs, tags, .required = true, .item = TEXT, .example = "[\"v1.4.0\"]",
		.doc = "Names of tags."),
	FIELD(AgentRepoRefs, complete, .preset = "false",
		.doc = "True only if both lists were read to their end, without an error and "
		       "below the cap."),
};
SCHEMA(AgentRepoRefs,
	.doc = "Branches and tags of an agent's repository; both empty when its host cannot be "
	       "reached.");

FIELDS(AgentBudgetRead) = {
	FIELD(AgentBudgetRead, hourly_limit_usd, .required = true, .nullable = true,
		.example = "2.5",
		.doc = "The most it may spend in any 60 minutes; null for no limit."),
};
SCHEMA(AgentBudgetRead, .doc = "What an agent may spend.");

FIELDS(AgentBudgetUpdate) = {
	FIELD(AgentBudgetUpdate, hourly_limit_usd, .label = "Hourly limit", .unit = "USD",
		.nullable = true, AT_LEAST(0), .ceiling = 1000000, .example = "2.5",
		.doc = "The most it may spend in any 60 minutes; 0 stops it, null lifts the limit."),
};
SCHEMA(AgentBudgetUpdate, .partial = true, .doc = "Sets what an agent may spend.");

FIELDS(AgentAvatarRead) = {
	FIELD(AgentAvatarRead, agent_id, .required = true, .doc = "The agent."),
	FIELD(AgentAvatarRead, has_avatar, .required = true, .example = "true",
		.doc = "True when a picture is stored."),
	FIELD(AgentAvatarRead, repohost_synced, .required = true,
		.doc = "True when the agent's user at the repository host shows this picture; "
		       "false while a push is pending or failed, and after removal."),
	FIELD(AgentAvatarRead, avatar_sha256, .nullable = true,
		.example = "\"3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea\"",
		.doc = "Hash of the stored 192x192 PNG; changes whenever the picture does."),
	FIELD(AgentAvatarRead, avatar_size_bytes, .nullable = true, .example = "20480",
		.doc = "Length of the stored PNG."),
	FIELD(AgentAvatarRead, avatar_updated_at, .nullable = true,
		.doc = "When the picture was last set."),
};
SCHEMA(AgentAvatarRead, .doc = "An agent's picture.");

FIELDS(AgentIntegrationRead) = {
	FIELD(AgentIntegrationRead, provider, .required = true, .example = "\"github\"",
		.doc = "Which service it is."),
	FIELD(AgentIntegrationRead, label, .required = true,
		.example = "\"Issues of the handbook\"",
		.doc = "The name people gave the integration."),
	FIELD(AgentIntegrationRead, connected, .required = true, .example = "true",
		.doc = "True while its events reach the agent."),
};
SCHEMA(AgentIntegrationRead, .doc = "An outside service an agent is joined to.");

FIELDS(AgentImageRepoRead) = {
	FIELD(AgentImageRepoRead, agent_id, .required = true, .doc = "The agent."),
	FIELD(AgentImageRepoRead, agent_slug, .required = true, .example = "\"support-desk\"",
		.doc = "Its slug, which the repository's name carries."),
	FIELD(AgentImageRepoRead, repo_url, .required = true,
		.example = "\"https://lodge.example.org/git/demo/support-desk.image.git\"",
		.doc = "Address to clone it from, over HTTP."),
};
SCHEMA(AgentImageRepoRead, .doc = "The repository made for an agent's own container image.");

FIELDS(AgentImportFromBucketRequest) = {
	FIELD(AgentImportFromBucketRequest, storage_uri, .required = true, BOUNDS(1, 2048),
		.example = "\"bucket://c0000000000000000000000000/exports/support-desk.zip\"",
		.doc = "The bundle; must lie inside the workspace bucket of your own tenant."),
	FIELD(AgentImportFromBucketRequest, name, .nullable = true, BOUNDS(0, 255),
		.example = "\"Support desk\"",
		.doc = "Overrides the name in the bundle's manifest."),
};
SCHEMA(AgentImportFromBucketRequest,
	.doc = "Brings in an agent from a bundle in the tenant's bucket.");

FIELDS(AgentImportResult) = {
	FIELD(AgentImportResult, agent_id, .required = true, .id = true,
		.doc = "The agent made, or found again."),
	FIELD(AgentImportResult, agent_slug, .required = true, .example = "\"support-desk\"",
		.doc = "Its slug."),
	FIELD(AgentImportResult, agent_name, .required = true, .example = "\"Support desk\"",
		.doc = "Its name."),
	FIELD(AgentImportResult, source_platform, .required = true, .example = "\"lodge\"",
		.doc = "Where the bundle was exported, as its manifest says."),
	FIELD(AgentImportResult, idempotent_reuse, .preset = "false",
		.doc = "True when an earlier import had made the agent: nothing was made, all "
		       "counts are zero."),
	FIELD(AgentImportResult, memories_imported, .preset = "0", .doc = "Memories taken over."),
	FIELD(AgentImportResult, memories_failed, .preset = "0",
		.doc = "Memories that could not be taken over."),
	FIELD(AgentImportResult, messages_imported, .preset = "0", .doc = "Messages taken over."),
	FIELD(AgentImportResult, sessions_imported, .preset = "0", .doc = "Sessions taken over."),
	FIELD(AgentImportResult, skills_imported, .preset = "0", .doc = "Skills taken over."),
	FIELD(AgentImportResult, skills_failed, .preset = "0",
		.doc = "Skills that could not be taken over."),
	FIELD(AgentImportResult, model_fallback_used, .preset = "false",
		.doc = "True when no model of the bundle was to be had and the tenant's default "
		       "is used."),
	FIELD(AgentImportResult, model_slug_requested, .nullable = true, .example = "\"large-1\"",
		.doc = "The model the bundle asks for."),
	FIELD(AgentImportResult, model_slug_resolved, .nullable = true, .example = "\"large-1\"",
		.doc = "The model chosen for it; null when the fallback is used."),
	FIELD(AgentImportResult, model_warning, .nullable = true, .example = "null",
		.doc = "What to know about the choice of model; null if nothing."),
	FIELD(AgentImportResult, tools_attached, .item = TEXT, .example = "[\"web.search\"]",
		.doc = "Names of the tools granted to the agent."),
	FIELD(AgentImportResult, tools_unmatched, .item = TEXT, .example = "[]",
		.doc = "Names of tools in the bundle that the tenant does not have."),
	FIELD(AgentImportResult, warnings, .item = TEXT, .example = "[]",
		.doc = "Whatever else did not go as the bundle asked."),
};
SCHEMA(AgentImportResult,
	.doc = "What an import brought in; once the agent exists, each row stands or fails "
	       "alone.");

FIELDS(AgentPromptCommitRead) = {
	FIELD(AgentPromptCommitRead, id, .required = true,
		.example = "\"9fceb02d0ae598e95dc970b74767f19372d61af8\"",
		.doc = "The commit's full hash."),
	FIELD(AgentPromptCommitRead, short_id, .required = true, .example = "\"9fceb02d\"",
		.doc = "The hash, shortened for people."),
	FIELD(AgentPromptCommitRead, title, .required = true, .example = "\"prompts: be brief\"",
		.doc = "First line of the commit's message."),
	FIELD(AgentPromptCommitRead, author_email, .nullable = true,
		.example = "\"ada@example.org\"", .doc = "As the commit states it."),
	FIELD(AgentPromptCommitRead, author_name, .nullable = true, .example = "\"Ada Example\"",
		.doc = "As the commit states it."),
	FIELD(AgentPromptCommitRead, committed_at, .nullable = true,
		.example = "\"2026-01-31T09:30:00+01:00\"",
		.doc = "As the repository host writes it."),
	FIELD(AgentPromptCommitRead, web_url, .nullable = true,
		.example = "\"https://git.example.org/agents/support-desk/commit/9fceb02d\"",
		.doc = "The commit's page at the repository host; leads away from this service."),
};
SCHEMA(AgentPromptCommitRead, .doc = "A commit that touched a prompt file.");

FIELDS(AgentPromptFileProvenanceRead) = {
	FIELD(AgentPromptFileProvenanceRead, file, .required = true,
		.example = "\"prompts/description.md\"",
		.doc = "Path of the file in the repository."),
	FIELD(AgentPromptFileProvenanceRead, field, .required = true,
		.example = "\"description_prompt\"",
		.doc = "The agent's field that the file fills."),
	FIELD(AgentPromptFileProvenanceRead, repo_present, .required = true, .example = "true",
		.doc = "True when the file is on the main branch."),
	FIELD(AgentPromptFileProvenanceRead, diverged, .required = true,
		.doc = "True when the live prompt differs from the file; false when the file "
		       "could not be read."),
	FIELD(AgentPromptFileProvenanceRead, pending_projection, .preset = "false",
		.doc = "True when the file will soon replace the live prompt; never together with "
		       "diverged."),
	FIELD(AgentPromptFileProvenanceRead, commits, .required = true, .item = OBJECT,
		.of = &AgentPromptCommitRead_schema,
		.doc = "The latest commits that touched the file, newest first."),
};
SCHEMA(AgentPromptFileProvenanceRead, .doc = "Where one prompt of an agent comes from.");

FIELDS(AgentPromptProvenanceRead) = {
	FIELD(AgentPromptProvenanceRead, available, .required = true, .example = "true",
		.doc = "False when the repository host could not be asked."),
	FIELD(AgentPromptProvenanceRead, files, .required = true, .item = OBJECT,
		.of = &AgentPromptFileProvenanceRead_schema,
		.doc = "One entry for each prompt that has a file."),
	FIELD(AgentPromptProvenanceRead, repo_web_url, .nullable = true,
		.example = "\"https://git.example.org/agents/support-desk\"",
		.doc = "The repository's page at its host."),
	FIELD(AgentPromptProvenanceRead, unavailable_reason, .nullable = true, .example = "null",
		.doc = "For operators: why nothing could be said; null when available."),
};
SCHEMA(AgentPromptProvenanceRead,
	.doc = "Where an agent's prompts come from; an outage of the host still answers 200.");

FIELDS(AgentChatConfigRead) = {
	FIELD(AgentChatConfigRead, chat_rph_limit, .nullable = true, .example = "600",
		.doc = "Messages it takes in an hour; null for no limit."),
	FIELD(AgentChatConfigRead, chat_rpm_limit, .nullable = true, .example = "30",
		.doc = "Messages it takes in a minute; null for no limit."),
	FIELD(AgentChatConfigRead, working_hours_days, .nullable = true, .item = CHOICE,
		.words = &Weekday_words, .example = "[\"Mon\",\"Tue\",\"Wed\",\"Thu\",\"Fri\"]",
		.doc = "Days on which it answers; null for every day."),
	FIELD(AgentChatConfigRead, working_hours_enabled, .preset = "false",
		.doc = "True confines it to its working hours."),
	FIELD(AgentChatConfigRead, working_hours_start, .nullable = true, .example = "\"09:00\"",
		.doc = "When its day begins, as HH:MM in its time zone; null for 00:00."),
	FIELD(AgentChatConfigRead, working_hours_end, .nullable = true, .example = "\"17:30\"",
		.doc = "When its day ends, as HH:MM; later than the start; null for 24:00."),
	FIELD(AgentChatConfigRead, working_hours_tz, .nullable = true,
		.example = "\"Europe/Berlin\"",
		.doc = "Time zone of these hours, by its IANA name; null for UTC."),
};
SCHEMA(AgentChatConfigRead, .doc = "How much an agent chats, and when.");

static const char *check_clock(const char *text)
{
	return chat_config_minute(text) < 0 ? "must be a time of day from 00:00 to 23:59" : NULL;
}

/* Reads a small file of the system, nearly always from memory. */
static const char *check_zone(const char *text)
{
	return zone_known(text) ? NULL
				: "is not a time zone known here; use an IANA name such as "
				  "Europe/Berlin";
}

FIELDS(AgentChatConfigUpdate) = {
	FIELD(AgentChatConfigUpdate, chat_rph_limit, .label = "Messages in an hour",
		.nullable = true, BOUNDS(1, 86400), .example = "600",
		.doc = "Messages it takes in an hour; null for no limit."),
	FIELD(AgentChatConfigUpdate, chat_rpm_limit, .label = "Messages in a minute",
		.nullable = true, BOUNDS(1, 3600), .example = "30",
		.doc = "Messages it takes in a minute; null for no limit."),
	FIELD(AgentChatConfigUpdate, working_hours_days, .label = "Days", .nullable = true,
		.item = CHOICE, .distinct = true, .words = &Weekday_words,
		.example = "[\"Mon\",\"Tue\",\"Wed\",\"Thu\",\"Fri\"]",
		.doc = "Days on which it answers; null for every day."),
	FIELD(AgentChatConfigUpdate, working_hours_enabled, .label = "Keep to working hours",
		.nullable = true, .example = "true",
		.doc = "True confines it to its working hours; null means false."),
	FIELD(AgentChatConfigUpdate, working_hours_start, .label = "Begins at", .nullable = true,
		CLOCK, .check = check_clock, .example = "\"09:00\"",
		.doc = "When its day begins, as HH:MM in its time zone, from 00:00 to 23:59; "
		       "null for 00:00."),
	FIELD(AgentChatConfigUpdate, working_hours_end, .label = "Ends at", .nullable = true, CLOCK,
		.check = check_clock, .example = "\"17:30\"",
		.doc = "When its day ends, as HH:MM; must be later than the start, for hours do "
		       "not pass midnight; null for 24:00."),
	FIELD(AgentChatConfigUpdate, working_hours_tz, .label = "Time zone", .nullable = true,
		BOUNDS(0, 64), .check = check_zone, .example = "\"Europe/Berlin\"",
		.doc = "Time zone of these hours, by its IANA name; null for UTC."),
};
SCHEMA(AgentChatConfigUpdate, .partial = true,
	.doc = "Changes to chat limits and hours; what is left out stays, null clears.");
