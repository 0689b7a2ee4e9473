/* repo_files.c - what is in an agent's repository: folders, files, and which commits changed them. */
#include <string.h>

#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/repos/repo_call.h"
#include "base/utf8.h"

enum { FILE_MAX = 10 << 20, PATH_MAX_BYTES = 1024, REF_MAX = 244, ENTRIES_MAX = 1000 };

#define REF_DOC "A branch, a tag or a commit's full hash; without it the agent's code_ref."

/* Which commit is asked about: as it was said, or the agent's own. */
static int find_asked(struct call *c, const char *ref, struct repo_read *what, const char **ret)
{
	struct agent_row agent;
	int err = repo_here(c, &what->row);

	if (!err && !ref)
		err = agent_row_read(c, &agent);
	if (!err)
		*ret = ref ? ref : agent.code_ref;
	return err;
}

/* ---- folders ---- */

enum RepoEntryKind {
	RepoEntryKind_file = BARE_FILE,
	RepoEntryKind_program = BARE_PROGRAM,
	RepoEntryKind_link = BARE_LINK,
	RepoEntryKind_folder = BARE_FOLDER,
	RepoEntryKind_module = BARE_MODULE
};
static const struct words RepoEntryKind_words = {
	.title = "RepoEntryKind",
	.list = (const char *const[]){ "file", "program", "link", "folder", "module", NULL },
	.doc = "A program is a file that may be run. Links and modules (repositories of others) are never followed.",
};

struct RepoEntry {
	const char *name, *path;
	int kind;
	const char *object_id;
	int64_t size_bytes;
};
FIELDS(RepoEntry) = {
	FIELD(RepoEntry, name, .required = true, .example = "\"description_prompt.md\"",
		.doc = "Its name in the folder."),
	FIELD(RepoEntry, path, .required = true, .example = "\"prompts/description_prompt.md\"",
		.doc = "Its path in the repository."),
	FIELD(RepoEntry, kind, .required = true, .words = &RepoEntryKind_words,
		.doc = "What it is."),
	FIELD(RepoEntry, object_id, .required = true,
		.example = "\"9fceb02d0ae598e95dc970b74767f19372d61af8\"",
		.doc = "The hash of what it holds."),
	FIELD(RepoEntry, size_bytes, .required = true, .nullable = true, .example = "512",
		.doc = "Of a file or program: how many bytes it has."),
};
static SCHEMA(RepoEntry, .doc = "Something in a folder of a repository.");

struct repo_tree_query {
	const char *ref, *path, *after;
	int64_t per_page;
};
FIELDS(repo_tree_query) = {
	FIELD(repo_tree_query, ref, .nullable = true, BOUNDS(1, REF_MAX), .example = "\"main\"",
		.doc = REF_DOC),
	FIELD(repo_tree_query, path, .nullable = true, BOUNDS(0, PATH_MAX_BYTES),
		.example = "\"prompts\"", .doc = "The folder; without it the root."),
	FIELD(repo_tree_query, after, .nullable = true, BOUNDS(1, PATH_MAX_BYTES),
		.doc = "The next_after of the page before."),
	FIELD(repo_tree_query, per_page, .preset = "200", BOUNDS(1, ENTRIES_MAX),
		.doc = "Entries on a page."),
};
SCHEMA(repo_tree_query, .doc = "Which folder of the repository.");

struct RepoTree {
	const char *ref, *commit_id, *path;
	struct list entries; /* struct RepoEntry */
	const char *next_after;
};
FIELDS(RepoTree) = {
	FIELD(RepoTree, ref, .required = true, .example = "\"main\"", .doc = "What was asked for."),
	FIELD(RepoTree, commit_id, .required = true,
		.example = "\"9fceb02d0ae598e95dc970b74767f19372d61af8\"",
		.doc = "The commit that it is."),
	FIELD(RepoTree, path, .required = true, .example = "\"prompts\"",
		.doc = "The folder; empty for the root."),
	FIELD(RepoTree, entries, .required = true, .item = OBJECT, .of = &RepoEntry_schema,
		.doc = "What is in it, in git's order."),
	FIELD(RepoTree, next_after, .required = true, .nullable = true, .example = "null",
		.doc = "What to send as after for the next page; null at the end."),
};
static SCHEMA(RepoTree, .doc = "A page of a folder of a repository.");

struct tree_asked {
	const struct repo_tree_query *in;
	struct RepoTree *out;
};

static void show_entries(struct call *c, const struct list *found, struct RepoTree *out)
{
	const struct bare_entry *e = found->at;
	struct RepoEntry *shown = arena_array(c->arena, struct RepoEntry, found->count + 1);

	for (size_t i = 0; i < found->count; i++)
		shown[i] = (struct RepoEntry){ .name = e[i].name,
			.path = arena_printf(
				c->arena, "%s%s%s", out->path, *out->path ? "/" : "", e[i].name),
			.kind = (int)e[i].kind,
			.object_id = e[i].id,
			.size_bytes = e[i].size };
	out->entries = (struct list){ shown, found->count };
}

static int read_tree(struct call *c, struct bare *b, void *ctx)
{
	const struct tree_asked *asked = ctx;
	struct RepoTree *out = asked->out;
	char *commit = arena_alloc(c->arena, BARE_ID_LEN + 1);
	struct list found = { 0 };
	bool more = false;
	int err = repo_commit_asked(c, b, out->ref, commit);

	if (!err)
		err = bare_folder(b, commit, out->path, asked->in->after,
			(size_t)asked->in->per_page, c->arena, &found, &more, &c->problem);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such folder.");
	if (err)
		return err;
	out->commit_id = commit;
	show_entries(c, &found, out);
	if (more)
		out->next_after = ((const struct bare_entry *)found.at)[found.count - 1].name;
	return 0;
}

QUERY_OPERATION(readAgentRepoTree, repo_tree_query, RepoTree, .reads_files = true)
{
	struct tree_asked *asked = arena_new(c->arena, struct tree_asked);
	struct repo_read what = { .read = read_tree, .ctx = asked };
	int err = repo_path_asked(c, in->path);

	*asked = (struct tree_asked){ in, out };
	if (!err)
		err = find_asked(c, in->ref, &what, &out->ref);
	out->path = in->path ? in->path : "";
	return err ? err : repo_read_later(c, &what);
}

/* ---- files ---- */

struct repo_file_query {
	const char *ref, *path;
};
FIELDS(repo_file_query) = {
	FIELD(repo_file_query, ref, .nullable = true, BOUNDS(1, REF_MAX), .example = "\"main\"",
		.doc = REF_DOC),
	FIELD(repo_file_query, path, .required = true, BOUNDS(1, PATH_MAX_BYTES),
		.example = "\"prompts/description_prompt.md\"", .doc = "The file."),
};
SCHEMA(repo_file_query, .doc = "Which file of the repository.");

struct file_asked {
	const char *ref, *path;
	struct repository row;
};

/* Text is shown, and everything else is only kept; no browser takes either for a page of ours. */
static void send_file(struct call *c, const char *path, const char *bytes, size_t len)
{
	const char *slash = strrchr(path, '/');

	c->x->reply.type = utf8_valid(bytes, len) && !memchr(bytes, '\0', len)
				   ? "text/plain; charset=utf-8"
				   : "application/octet-stream";
	buf_put(&c->x->reply.body, bytes, len);
	call_attach(c, slash ? slash + 1 : path);
	buf_lit(&c->x->reply.extra, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
}

static int read_file(struct call *c, struct bare *b, void *ctx)
{
	const struct file_asked *asked = ctx;
	char commit[BARE_ID_LEN + 1];
	struct bare_entry e;
	const char *bytes = NULL;
	size_t len = 0;
	int err = repo_commit_asked(c, b, asked->ref, commit);

	if (!err)
		err = bare_entry(b, commit, asked->path, &e, c->arena, &c->problem);
	if (!err && e.kind > BARE_PROGRAM)
		err = ERR_NOT_FOUND;
	if (!err)
		err = bare_bytes(b, e.id, FILE_MAX, c->arena, &bytes, &len, &c->problem);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such file.");
	if (!err)
		send_file(c, asked->path, bytes, len);
	return err;
}

QUERY_OPERATION(readAgentRepoFile, repo_file_query, NONE, .gives = "*/*", .reads_files = true)
{
	struct file_asked *asked = arena_new(c->arena, struct file_asked);
	struct repo_read what = { .read = read_file, .ctx = asked };
	int err = repo_path_asked(c, in->path);

	asked->path = in->path;
	if (!err)
		err = find_asked(c, in->ref, &what, &asked->ref);
	return err ? err : repo_read_later(c, &what);
}

/* ---- commits ---- */

struct repo_commits_query {
	const char *ref, *path;
};
FIELDS(repo_commits_query) = {
	FIELD(repo_commits_query, ref, .nullable = true, BOUNDS(1, REF_MAX), .example = "\"main\"",
		.doc = REF_DOC),
	FIELD(repo_commits_query, path, .nullable = true, BOUNDS(0, PATH_MAX_BYTES),
		.example = "\"prompts/description_prompt.md\"",
		.doc = "Only commits that changed this file or folder."),
};
SCHEMA(repo_commits_query, .doc = "Which commits of the repository.");

/* By number: what names a commit is no id of ours. */
static void show_page(struct call *c, const struct repository *row, const struct list *found)
{
	const struct bare_change *change = found->at;
	size_t first = (size_t)((c->page.page - 1) * c->page.per_page), count;
	struct AgentPromptCommitRead *shown;

	first = first < found->count ? first : found->count;
	count = found->count - first;
	count = count < (size_t)c->page.per_page ? count : (size_t)c->page.per_page;
	shown = arena_array(c->arena, struct AgentPromptCommitRead, count + 1);
	for (size_t i = 0; i < count; i++)
		repo_commit_show(c->arena, row, &change[first + i], &shown[i]);
	c->items = (struct list){ shown, count };
	c->total = c->page.total ? (int64_t)found->count : NIL;
}

static int read_commits(struct call *c, struct bare *b, void *ctx)
{
	const struct file_asked *asked = ctx;
	char commit[BARE_ID_LEN + 1];
	struct list found = { 0 };
	int err = repo_commit_asked(c, b, asked->ref, commit);

	if (!err)
		err = bare_history_kept(
			b, commit, asked->path, BARE_WALK_MAX, c->arena, &found, &c->problem);
	if (!err)
		show_page(c, &asked->row, &found);
	return err;
}

LIST_OPERATION(listAgentRepoCommits, repo_commits_query, AgentPromptCommitRead, .reads_files = true)
{
	struct file_asked *asked = arena_new(c->arena, struct file_asked);
	struct repo_read what = { .read = read_commits, .ctx = asked };
	int err = repo_path_asked(c, in->path);

	if (!err && c->page.sort)
		err = call_field(c, "sort", "choice", "is not a field this list sorts by");
	if (!err && c->page.after)
		err = call_field(c, "after", "list", "is not taken here: ask for a page");
	asked->path = in->path ? in->path : "";
	if (!err)
		err = find_asked(c, in->ref, &what, &asked->ref);
	asked->row = what.row;
	return err ? err : repo_read_later(c, &what);
}

#define REPO "/tenant/{tenant_id}/agents/{agent_id}/repo"

static const struct route routes[] = {
	{ METHOD_GET, REPO "/tree", &readAgentRepoTree, PERM_AGENT_READ, 200, .tag = "Repositories",
		.doc = "What is in a folder of the agent's repository." },
	{ METHOD_GET, REPO "/file", &readAgentRepoFile, PERM_AGENT_READ, 200, .tag = "Repositories",
		.doc = "The bytes of a file of the agent's repository, at most 10 MiB." },
	{ METHOD_GET, REPO "/commits", &listAgentRepoCommits, PERM_AGENT_READ, 200,
		.tag = "Repositories",
		.doc = "The commits of the agent's repository, newest first; with a path those that changed "
		       "it. The newest 2,000 commits are gone through." },
};
RESOURCE(repo_files, routes, NULL);
