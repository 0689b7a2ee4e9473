/* manifest.c - the tables of lodge-agent.json and of the lines of its files; see manifest.h. */
#include "bundle/manifest.h"

#include <string.h>

enum { NAME_MAX_BYTES = 512, SLUG_MAX_CHARS = 255, CONTENT_MAX = 1 << 20 };

const struct words bundle_roles = {
	.list = (const char *const[]){ "user", "assistant", "tool", "system", NULL },
};

FIELDS(BundleTool) = {
	FIELD(BundleTool, name, .required = true, BOUNDS(1, SLUG_MAX_CHARS)),
	FIELD(BundleTool, is_enabled, .preset = "true"),
};
SCHEMA(BundleTool, .internal = true);

FIELDS(BundleMemory) = {
	FIELD(BundleMemory, content, .required = true, .ceiling = CONTENT_MAX, AT_LEAST(1)),
	FIELD(BundleMemory, created_at, .nullable = true),
};
SCHEMA(BundleMemory, .internal = true);

FIELDS(BundleCall) = {
	FIELD(BundleCall, id, .required = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleCall, name, .required = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleCall, arguments, .required = true, .open = true, .ceiling = CONTENT_MAX),
};
SCHEMA(BundleCall, .internal = true);

FIELDS(BundleMessage) = {
	FIELD(BundleMessage, role, .required = true, .words = &bundle_roles),
	FIELD(BundleMessage, content, .required = true, .ceiling = CONTENT_MAX),
	FIELD(BundleMessage, tool_calls, .item = OBJECT, .of = &BundleCall_schema,
		.max = BUNDLE_CALLS_MAX, .preset = "[]"),
	FIELD(BundleMessage, tool_call_id, .nullable = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleMessage, created_at, .nullable = true),
};
SCHEMA(BundleMessage, .internal = true);

FIELDS(BundleSession) = {
	FIELD(BundleSession, title, .nullable = true, BOUNDS(1, SLUG_MAX_CHARS)),
	FIELD(BundleSession, created_at, .nullable = true),
	FIELD(BundleSession, updated_at, .nullable = true),
};
SCHEMA(BundleSession, .internal = true);

FIELDS(BundlePrompt) = {
	FIELD(BundlePrompt, field, .required = true, BOUNDS(1, 64)),
	FIELD(BundlePrompt, file, .required = true, BOUNDS(1, NAME_MAX_BYTES)),
};
SCHEMA(BundlePrompt, .internal = true);

FIELDS(BundleFolder) = {
	FIELD(BundleFolder, folder, .required = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleFolder, is_enabled, .preset = "true"),
};
SCHEMA(BundleFolder, .internal = true);

FIELDS(BundleFile) = {
	FIELD(BundleFile, path, .required = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleFile, size_bytes, .required = true, BOUNDS(0, BUNDLE_FILE_MAX)),
	FIELD(BundleFile, sha256, .required = true, BOUNDS(64, 64)),
};
SCHEMA(BundleFile, .internal = true);

FIELDS(BundleManifest) = {
	FIELD(BundleManifest, format, .required = true, .constant = "lodge-agent"),
	FIELD(BundleManifest, version, .required = true, BOUNDS(1, MANIFEST_VERSION)),
	FIELD(BundleManifest, source_platform, .required = true, BOUNDS(1, 64)),
	FIELD(BundleManifest, exported_at, .required = true),
	FIELD(BundleManifest, agent, .required = true, .open = true),
	FIELD(BundleManifest, chat, .nullable = true, .open = true),
	FIELD(BundleManifest, models, .item = TEXT, .max = BUNDLE_MODELS_MAX, .preset = "[]"),
	FIELD(BundleManifest, prompts, .item = OBJECT, .of = &BundlePrompt_schema, .max = 8,
		.preset = "[]"),
	FIELD(BundleManifest, tools, .item = OBJECT, .of = &BundleTool_schema,
		.max = BUNDLE_TOOLS_MAX, .preset = "[]"),
	FIELD(BundleManifest, tool_bundles, .item = TEXT, .max = BUNDLE_TOOLS_MAX, .preset = "[]"),
	FIELD(BundleManifest, skills, .item = OBJECT, .of = &BundleFolder_schema,
		.max = BUNDLE_SKILLS_MAX, .preset = "[]"),
	FIELD(BundleManifest, memories, .nullable = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleManifest, sessions, .item = TEXT, .max = BUNDLE_SESSIONS_MAX, .preset = "[]"),
	FIELD(BundleManifest, avatar, .nullable = true, BOUNDS(1, NAME_MAX_BYTES)),
	FIELD(BundleManifest, left_out, .item = TEXT, .max = BUNDLE_WARNINGS_MAX, .preset = "[]"),
	FIELD(BundleManifest, files, .required = true, .item = OBJECT, .of = &BundleFile_schema,
		.max = BUNDLE_FILES_MAX),
};
SCHEMA(BundleManifest, .internal = true);

const char *const manifest_prompts[] = { "description_prompt", "bootstrap_instructions", NULL };

const char **manifest_prompt(struct agent_bundle *b, const char *field)
{
	if (strcmp(field, manifest_prompts[0]) == 0)
		return &b->prompt;
	return strcmp(field, manifest_prompts[1]) == 0 ? &b->bootstrap : NULL;
}
