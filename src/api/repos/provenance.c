/* provenance.c - where each prompt of an agent stands against its file in the repository, which commits made it, and which
 * side is to count where both have moved. */
#include <errno.h>
#include <string.h>

#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/repos/repo_remote.h"
#include "api/service.h"
#include "base/clock.h"
#include "base/same.h"
#include "repos/converge.h"
#include "repos/projection.h"
#include "repos/repo_lock.h"

enum { COMMITS_SHOWN = 20 };

/* What the question is asked about; the first half is read in a transaction, the second from the repository. */
struct provenance {
	struct repository row;
	struct prompt_texts live;
	struct prompt_bases bases;
	char tip[BARE_ID_LEN + 1]; /* "": the main branch has no commit */
	struct prompt_reading files[PROMPT_FILES];
	struct list commits[PROMPT_FILES]; /* struct AgentPromptCommitRead */
};

static struct prompt_texts texts_of(const struct agent_row *agent)
{
	return (struct prompt_texts){ { agent->description_prompt, agent->bootstrap_instructions,
		agent->initial_greeting } };
}

static int read_live(struct call *c, struct provenance *v)
{
	struct agent_row agent;
	int err = agent_row_read(c, &agent);

	if (err)
		return err;
	v->live = texts_of(&agent);
	return prompt_bases_read(c->db, c->caller.tenant_id, c->caller.agent_id, &v->bases);
}

/* ---- from the repository ---- */

static int read_commits(struct call *c, struct bare *b, struct provenance *v, int file)
{
	struct AgentPromptCommitRead *shown;
	struct list found = { 0 };
	int err = bare_history_kept(
		b, v->tip, prompt_files[file].path, COMMITS_SHOWN, c->arena, &found, &c->problem);

	if (err)
		return err;
	shown = arena_array(c->arena, struct AgentPromptCommitRead, found.count + 1);
	for (size_t i = 0; i < found.count; i++)
		repo_commit_show(
			c->arena, &v->row, (const struct bare_change *)found.at + i, &shown[i]);
	v->commits[file] = (struct list){ shown, found.count };
	return 0;
}

static int read_prompts(struct call *c, struct bare *b, struct provenance *v)
{
	int err = bare_tip(b, REPO_MAIN, v->tip, c->arena, &c->problem);

	if (err == ERR_NOT_FOUND) {
		*v->tip = '\0';
		return 0;
	}
	for (int i = 0; !err && i < PROMPT_FILES; i++) {
		err = projection_read(b, v->tip, i, &v->files[i], c->arena, &c->problem);
		if (!err)
			err = read_commits(c, b, v, i);
	}
	return err;
}

/* ---- what is told ---- */

static void show_provenance(
	struct call *c, const struct provenance *v, struct AgentPromptProvenanceRead *out)
{
	struct AgentPromptFileProvenanceRead *files =
		arena_array(c->arena, struct AgentPromptFileProvenanceRead, PROMPT_FILES);

	for (int i = 0; i < PROMPT_FILES; i++) {
		struct prompt_verdict verdict = projection_judge(&(struct prompt_sides){
			v->files[i], v->live.of[i], v->bases.of[i].sha256 });

		files[i] = (struct AgentPromptFileProvenanceRead){ .file = prompt_files[i].path,
			.field = prompt_files[i].field,
			.repo_present = verdict.present,
			.diverged = verdict.diverged,
			.pending_projection = verdict.pending,
			.commits = v->commits[i].at ? v->commits[i] : (struct list){ files, 0 } };
	}
	out->available = true;
	out->repo_web_url = v->row.web_url;
	out->files = (struct list){ files, PROMPT_FILES };
}

struct provenance_asked {
	struct provenance provenance;
	struct AgentPromptProvenanceRead *out;
};

static int tell_provenance(struct call *c, struct bare *b, void *ctx)
{
	struct provenance_asked *asked = ctx;
	int err = read_prompts(c, b, &asked->provenance);

	if (!err)
		show_provenance(c, &asked->provenance, asked->out);
	return err;
}

static int tell_unavailable(struct call *c, const char *why, void *ctx)
{
	struct AgentPromptProvenanceRead *out = ((struct provenance_asked *)ctx)->out;

	*out = (struct AgentPromptProvenanceRead){ .files = { arena_alloc(c->arena, 1), 0 },
		.unavailable_reason = why ? why : "The repository cannot be read." };
	return 0;
}

/* What the mirror has may not be what the host has. */
static bool host_is_away(const struct repository *row)
{
	return row->host != RepoHost_embedded && (row->failures || row->observed_at == NIL);
}

static const char *why_away(const struct repository *row)
{
	return row->last_error ? row->last_error
			       : "The repository has not been fetched from its host yet.";
}

OPERATION(readAgentPromptProvenance, NONE, AgentPromptProvenanceRead)
{
	struct provenance_asked *asked = arena_new(c->arena, struct provenance_asked);
	struct repo_read what = {
		.read = tell_provenance, .missing = tell_unavailable, .ctx = asked
	};
	int err = read_live(c, &asked->provenance);

	if (err)
		return err;
	asked->out = out;
	err = repo_find(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code,
		&what.row);
	if (err == ERR_NOT_FOUND)
		return tell_unavailable(c, REPO_NONE, asked);
	if (!err && host_is_away(&what.row))
		return tell_unavailable(c, why_away(&what.row), asked);
	asked->provenance.row = what.row;
	return err ? err : repo_read_later(c, &what);
}

/* ---- which side counts ---- */

enum PromptSide { PromptSide_repository, PromptSide_live };
static const struct words PromptSide_words = {
	.title = "PromptSide",
	.list = (const char *const[]){ "repository", "live", NULL },
	.doc = "The file on the main branch, or the prompt that the agent works with.",
};

struct AgentPromptResolve {
	const char *file;
	int take;
};
FIELDS(AgentPromptResolve) = {
	FIELD(AgentPromptResolve, file, .required = true, BOUNDS(1, 255),
		.example = "\"prompts/description_prompt.md\"",
		.doc = "Which prompt, by its file."),
	FIELD(AgentPromptResolve, take, .required = true, .words = &PromptSide_words,
		.doc = "Which side counts: that of the repository becomes the agent's prompt; the live one is "
		       "committed to the main branch."),
};
static SCHEMA(AgentPromptResolve, .doc = "Ends a difference between a prompt and its file.");

CHECK_STEP(resolveAgentPrompt, AgentPromptResolve)
{
	if (in->file && prompt_file_of(in->file) < 0)
		call_field(c, "file", "unknown", "is none of the files of prompts");
}

struct resolving {
	struct provenance provenance;
	const char *name, *email; /* who commits */
	struct remote remote;	  /* where it is pushed to, if it is another host's */
};

/* A commit goes there by git, with the token. */
static int look_at_host(struct call *c, struct resolving *v, int take)
{
	const struct repository *row = &v->provenance.row;
	int err = repo_remote(c, row, &v->remote);

	if (err)
		return err;
	if (host_is_away(row))
		return call_fail(c, ERR_UPSTREAM, "%s", why_away(row));
	if (take != PromptSide_live)
		return 0;
	if (!v->remote.token)
		return call_fail(c, ERR_CONFLICT,
			"There is no token with which to commit to the repository on its host: give one with PATCH.");
	c->elsewhere = c->app->remotes;
	return 0;
}

BODY_STEP(resolveAgentPrompt, look, AgentPromptResolve)
{
	struct resolving *v = c->own = arena_new(c->arena, struct resolving);
	struct agent_row agent;
	int err;

	if (prompt_file_of(in->file) < 0)
		return call_field(c, "file", "unknown", "is none of the files of prompts");
	err = repo_here(c, &v->provenance.row);
	if (!err)
		err = agent_row_read(c, &agent);
	if (!err)
		err = read_live(c, &v->provenance);
	if (err)
		return err;
	v->name = agent.name;
	v->email = arena_printf(c->arena, "%s@lodge.internal", agent.slug);
	return v->provenance.row.host == RepoHost_embedded ? 0 : look_at_host(c, v, in->take);
}

/* Onto the branch as the mirror has it: where the host's has moved, it refuses. */
static int push_live(struct call *c, struct bare *b, const struct resolving *v, const char *made)
{
	const struct provenance *of = &v->provenance;
	const char *path = repo_path(service_of(c->app)->repos, c->arena, of->row.id);
	int err;

	if (strcmp(made, of->tip) == 0)
		return 0;
	err = remote_git_push(&v->remote, path, REPO_MAIN, of->tip, made, c->arena, &c->problem);
	return err ? err
		   : bare_move(
			     b, REPO_MAIN, *of->tip ? of->tip : NULL, made, c->arena, &c->problem);
}

static int commit_live(struct call *c, struct bare *b, struct resolving *v, int file)
{
	struct provenance *of = &v->provenance;
	const char *text = of->live.of[file] ? of->live.of[file] : "",
		   *bytes = prompt_file_bytes(c->arena, text);
	struct bare_file one = { prompt_files[file].path, bytes, strlen(bytes) };
	int64_t most = repos_bytes_max(service_of(c->app)->repos);
	char made[BARE_ID_LEN + 1];
	bool here = of->row.host == RepoHost_embedded;
	int err;

	if (of->row.size_bytes + (int64_t)one.len > most)
		return call_fail(c, ERR_NO_SPACE,
			"The repository has no room: it may have %lld bytes.", (long long)most);
	err = bare_commit(b,
		&(struct bare_committing){ .branch = here ? REPO_MAIN : NULL,
			.onto = *of->tip ? of->tip : NULL,
			.files = &one,
			.count = 1,
			.name = v->name,
			.email = v->email,
			.message = arena_printf(
				c->arena, "Take the live text of %s\n", prompt_files[file].field),
			.at = c->now / SECOND_US },
		made, c->arena, &c->problem);
	return err || here ? err : push_live(c, b, v, made);
}

static int resolve_in(struct call *c, struct bare *b, struct resolving *v, int file, int take)
{
	int err = read_prompts(c, b, &v->provenance);

	if (!err && take == PromptSide_live)
		err = commit_live(c, b, v, file);
	if (!err && take == PromptSide_live)
		err = read_prompts(c, b, &v->provenance);
	if (!err && v->provenance.files[file].side != PROMPT_READ)
		err = call_fail(c, ERR_CONFLICT,
			"The repository has no such prompt on its main branch, or "
			"what it has is no text.");
	return err;
}

BODY_STEP(resolveAgentPrompt, prepare, AgentPromptResolve)
{
	struct resolving *v = c->own;
	struct repos *repos = service_of(c->app)->repos;
	/* A commit that no ref leads to yet must not be taken for one that nobody needs, nor may it be made of what came with a push
	 * that is refused. */
	int lock = in->take == PromptSide_live ? repo_lock_push(repos, c->arena,
							 v->provenance.row.id, REPO_PUSH_WAIT_MS)
					       : -1;
	struct bare *b = NULL;
	int err = 0;

	if (in->take == PromptSide_live && lock < 0 && errno == EWOULDBLOCK)
		return call_fail(
			c, ERR_BUSY, "Somebody pushes to the repository: try again in a moment.");
	err = repo_open(c, &v->provenance.row, &b);
	if (!err)
		err = resolve_in(c, b, v, prompt_file_of(in->file), in->take);
	bare_close(b);
	repo_unlock(lock);
	if (!err)
		v->provenance.row.size_bytes = repo_size(repos, c->arena, v->provenance.row.id);
	return err;
}

/* Whoever changed the prompt meanwhile is not overruled. */
static int check_live(struct call *c, const struct provenance *v, int file, struct agent_row *ret)
{
	struct prompt_texts now;
	int err = agent_row_read(c, ret);

	if (err)
		return err;
	now = texts_of(ret);
	return same_text(now.of[file], v->live.of[file])
		       ? 0
		       : call_fail(c, ERR_CONFLICT,
				 "The prompt was changed meanwhile: look at it again.");
}

static int put_prompt(
	struct call *c, const struct provenance *v, int file, const struct agent_row *before)
{
	const char *text = *v->files[file].text ? v->files[file].text : NULL;
	struct agent_row after = *before;

	*(const char **[]){ &after.description_prompt, &after.bootstrap_instructions,
		&after.initial_greeting }[file] = text;
	return agent_row_change(c, before, &after);
}

OPERATION(resolveAgentPrompt, AgentPromptResolve, AgentPromptProvenanceRead, .on_disk = true,
	.unseals = true, .check = resolveAgentPrompt_check, .look = resolveAgentPrompt_look,
	.prepare = resolveAgentPrompt_prepare)
{
	struct resolving *r = c->own;
	struct provenance v = r->provenance;
	const struct caller *who = &c->caller;
	int file = prompt_file_of(in->file), err;
	struct agent_row before;

	err = check_live(c, &v, file, &before);
	if (!err && in->take == PromptSide_repository)
		err = put_prompt(c, &v, file, &before);
	if (!err)
		err = prompt_base_put(c->db, who->tenant_id, who->agent_id, file,
			v.files[file].text, v.tip, c->now);
	if (!err)
		err = repo_saw(c->db, &v.row, v.tip, c->now);
	if (!err)
		err = repo_prompts_changed(c->db, c->arena, who->tenant_id, who->agent_id, c->now);
	if (!err)
		err = read_live(c, &v);
	if (err)
		return err;
	show_provenance(c, &v, out);
	c->audit.resource_id = v.row.id;
	return 0;
}

#define PROVENANCE "/tenant/{tenant_id}/agents/{agent_id}/prompt-provenance"

static const struct route routes[] = {
	{ METHOD_GET, PROVENANCE, &readAgentPromptProvenance, PERM_AGENT_READ, 200,
		.tag = "Repositories", .finds_agent = true,
		.doc = "Where each prompt stands against its file on the main branch of the agent's "
		       "repository, and which commits made it. A repository that cannot be read is no error." },
	{ METHOD_POST, PROVENANCE "/resolve", &resolveAgentPrompt, PERM_AGENT_WRITE, 200,
		"agent.prompt.resolve", .tag = "Repositories", .finds_agent = true, .patient = true,
		.doc = "Take the repository's side of a prompt, or the live one." },
};
RESOURCE(provenance, routes, NULL);
