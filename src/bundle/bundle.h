/* bundle.h - an agent as a file: what a bundle of ours, or another platform's export, says it is.
 *
 * Bytes in, one struct agent_bundle out, whatever the format; and a bundle of
 * ours out again.  No store, no request, no file system.  Every reader is a
 * row of one table (formats.c): how its files are recognised, and how they are
 * mapped.  What a source holds and the service has no place for is said in a
 * warning, once; secrets in it are not taken, and code in it is never run. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json_tree.h"
#include "contract/pattern.h"
#include "contract/schema.h"

enum {
	BUNDLE_PACKED_MAX = 64 * 1024 * 1024,
	BUNDLE_UNPACKED_MAX = 256 * 1024 * 1024,
	BUNDLE_FILE_MAX = 32 * 1024 * 1024,
	BUNDLE_FILES_MAX = 5000,
	BUNDLE_SKILLS_MAX = 100,
	BUNDLE_TOOLS_MAX = 500,
	BUNDLE_MODELS_MAX = 20,
	BUNDLE_MEMORIES_MAX = 10000,
	BUNDLE_SESSIONS_MAX = 1000,
	BUNDLE_MESSAGES_MAX = 20000, /* of all sessions together */
	BUNDLE_CALLS_MAX = 64,	     /* of one message */
	BUNDLE_PROMPTS_MAX = 200,    /* of a graph, which become one */
	BUNDLE_WARNINGS_MAX = 200,
	BUNDLE_VALUES_MAX = 500000, /* of a document that is read as a tree */
};

/* One file of a bundle, its bytes followed by a NUL that is not counted. */
struct bundle_file {
	const char *name;
	const void *bytes;
	size_t len;
};

struct BundleTool {
	const char *name;
	bool is_enabled;
};
SCHEMA_DECLARED(BundleTool);

struct BundleMemory {
	const char *content;
	struct moment created_at; /* NIL: not said */
};
SCHEMA_DECLARED(BundleMemory);

enum bundle_role { BUNDLE_USER, BUNDLE_ASSISTANT, BUNDLE_TOOL, BUNDLE_SYSTEM };
extern const struct words bundle_roles;

struct BundleCall {
	const char *id, *name;
	struct json arguments; /* an object */
};
SCHEMA_DECLARED(BundleCall);

struct BundleMessage {
	int role;
	const char *content;
	struct list tool_calls; /* struct BundleCall */
	const char *tool_call_id;
	struct moment created_at; /* NIL: not said */
};
SCHEMA_DECLARED(BundleMessage);

struct BundleSession {
	const char *title;
	struct moment created_at, updated_at; /* NIL: not said */
};
SCHEMA_DECLARED(BundleSession);

struct bundle_session {
	struct BundleSession head;
	struct list messages; /* struct BundleMessage */
};

/* A skill in the Agent Skills format: SKILL.md and what lies beside it, under names below its folder. */
struct bundle_skill {
	const char *folder;
	bool is_enabled;
	struct bundle_file *files;
	size_t count;
};

struct agent_bundle {
	const char *platform; /* "lodge", "letta", ... */
	const char *settings; /* the agent's own, a JSON object; NULL: another platform's */
	const char *chat;     /* its chat limits and working hours, a JSON object; NULL: none */
	struct moment exported_at; /* NIL: not said */
	const char *name;	   /* as the source has it; NULL: it has none */
	const char *description, *greeting, *prompt, *bootstrap;
	struct list models;	   /* of texts, in order */
	bool one_model;		   /* they are names of the same model: the first that is there */
	struct list tools;	   /* struct BundleTool */
	struct list tool_bundles;  /* of texts */
	struct list skills;	   /* struct bundle_skill */
	struct list memories;	   /* struct BundleMemory */
	struct list sessions;	   /* struct bundle_session */
	size_t messages;	   /* of all sessions */
	struct bundle_file avatar; /* bytes NULL: none */
	struct list warnings;	   /* of texts */
	size_t unsaid;		   /* warnings beyond BUNDLE_WARNINGS_MAX */
};

/* What a reader works with. */
struct helper;
struct bundle_reading {
	struct arena *a;
	struct helper *helper; /* reads archives and YAML; NULL: there is none */
	const struct patterns *patterns;
	struct problem *p;
	const struct bundle_file *files; /* one, or all of an archive */
	size_t count;
	bool archive, is_json;
	bool member;		      /* the one file is of an archive */
	size_t values;		      /* of all that was looked into, about */
	const struct json_node *json; /* of the one file, if it is JSON */
	const struct json_node *yaml; /* of the one file, if it is YAML and no JSON */
	struct list prompts;	      /* of texts: see bundle_add_prompt */
	size_t prompts_len;
	struct agent_bundle *out;
};

/* A whole bundle, or ERR_INVALID with what is wrong.  The file's name is "" where it has none; one that ends in .md makes
 * Markdown of any text.  Takes as long as its bytes need, and waits for the helper: never on a loop. */
int bundle_read(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const struct bundle_file *file, struct agent_bundle *ret, struct problem *p);
/* The same of what is unpacked already; each has a NUL after its bytes. */
int bundle_read_files(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const struct bundle_file *files, size_t count, struct agent_bundle *ret, struct problem *p);
/* Writes a bundle of ours: the same agent gives the same bytes. */
int bundle_write(struct buf *out, struct arena *a, const struct agent_bundle *b, struct problem *p);

/* ---- for readers ----
 *
 * The arena has a maximum, and what is read was written by strangers: texts are joined in a buffer, once, and when the arena is
 * full nothing more is added to the bundle. */

struct bundle_format {
	const char *platform, *about; /* about: for whoever sent something else */
	bool (*sniff)(const struct bundle_reading *r);
	int (*read)(struct bundle_reading *r);
};
extern const struct bundle_format bundle_formats[];
extern const size_t bundle_format_count;

/* Room for one more item at the list's end, zeroed; `size` of each. */
void *bundle_add(struct arena *a, struct list *l, size_t size);
#define BUNDLE_ADD(a, l, T) ((T *)bundle_add((a), (l), sizeof(T)))
/* A sentence for whoever imports. */
void bundle_warn(struct bundle_reading *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Names every text of the tree that holds U+0000: bundle_text() does not give it. */
void bundle_tell_nuls(struct bundle_reading *r, const struct json_node *n);
bool bundle_name_ends(const char *name, const char *end);
/* The file of that name, or NULL. */
const struct bundle_file *bundle_find(const struct bundle_reading *r, const char *name);

/* A text behind those that the buffer has, which was made for BUNDLE_PACKED_MAX; and all of them, once they are there. */
void bundle_glue(struct buf *b, const char *between, const char *text);
const char *bundle_glued(struct bundle_reading *r, struct buf *b);

/* A member of an object, or NULL; `path` goes down through objects by dots. */
const struct json_node *bundle_at(const struct json_node *n, const char *path);
/* Its text; NULL where it is none, or is empty, or holds a NUL. */
const char *bundle_text(const struct json_node *n, const char *path);
/* True for a member that is there and is not null, false, or empty. */
bool bundle_has(const struct json_node *n, const char *path);
/* Warns with `why` if it is there. */
void bundle_drop(
	struct bundle_reading *r, const struct json_node *n, const char *path, const char *why);
void bundle_add_model(struct bundle_reading *r, const char *slug);
/* Once, however often it is named. */
void bundle_add_tool(struct bundle_reading *r, const char *name);
/* One of several prompts, once; bundle_join_prompts() makes them the agent's. */
void bundle_add_prompt(struct bundle_reading *r, const char *text);
void bundle_join_prompts(struct bundle_reading *r);
/* What it holds, and when it was said; nothing for a text that is blank. */
void bundle_add_memory(struct bundle_reading *r, const char *content, int64_t at);
struct bundle_session *bundle_add_session(struct bundle_reading *r, const char *title, int64_t at);
/* NULL where there is no room for more. */
struct BundleMessage *bundle_add_message(
	struct bundle_reading *r, struct bundle_session *s, int role, const char *content);
/* `arguments` is the text of an object, or what is not becomes the member "input" of one. */
void bundle_add_call(struct bundle_reading *r, struct BundleMessage *m, const char *id,
	const char *name, const char *arguments);
/* The time that a node says: RFC 3339, or seconds since 1970; NIL if none. */
int64_t bundle_time(const struct json_node *n, const char *path);
/* A calls' message that is answered by none, or an answer to none, would be refused by every model: such calls
 * and answers become text.  To be called once a session is read. */
void bundle_mend_calls(struct bundle_reading *r, struct bundle_session *s);
