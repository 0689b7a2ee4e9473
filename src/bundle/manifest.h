/* manifest.h - lodge-agent.json, the first thing that is read and the last that is written of a bundle; for this room alone. */
#pragma once
#include "bundle/bundle.h"

enum { MANIFEST_VERSION = 1 };

#define SESSIONS_FOLDER "sessions/"
#define MEMORIES_FILE "memories.ndjson"
#define AVATAR_FILE "avatar.png"
#define SKILLS_FOLDER "skills/"

/* A text of the agent that is a file of its own. */
struct BundlePrompt {
	const char *field, *file;
};
SCHEMA_DECLARED(BundlePrompt);

struct BundleFolder {
	const char *folder;
	bool is_enabled;
};
SCHEMA_DECLARED(BundleFolder);

struct BundleFile {
	const char *path;
	int64_t size_bytes;
	const char *sha256;
};
SCHEMA_DECLARED(BundleFile);

struct BundleManifest {
	const char *format;
	int64_t version;
	const char *source_platform;
	struct moment exported_at;
	struct json agent, chat;
	struct list models, prompts, tools, tool_bundles, skills;
	const char *memories;
	struct list sessions;
	const char *avatar;
	struct list left_out, files;
};
SCHEMA_DECLARED(BundleManifest);

/* Where a prompt is kept in the struct, by the name of its field; NULL: there is none such. */
const char **manifest_prompt(struct agent_bundle *b, const char *field);
/* The fields that are prompts, NULL-terminated, in the order in which they are written. */
extern const char *const manifest_prompts[];
