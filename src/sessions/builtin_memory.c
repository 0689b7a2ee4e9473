/* builtin_memory.c - notes that an agent keeps between its sessions: writing one, and finding them.
 *
 * A note is private to the person for whom the run works, unless the model asks
 * for a shared one and that person may change the agent: what one of its users
 * has an agent write must not reach the others by itself.  Runs that nobody
 * drives keep notes for runs of their kind, since what they read is strangers'.
 * A note's id is that of the call that wrote it, so that a call that is
 * repeated writes it once. */
#include <string.h>

#include "access/permission.h"
#include "base/clock.h"
#include "base/fold.h"
#include "base/id.h"
#include "sessions/builtin_run.h"
#include "sessions/tool_text.h"
#include "store/row.h"

struct memory {
	const char *id, *scope, *content, *content_folded;
	struct moment created_at;
};

FIELDS(memory) = {
	FIELD(memory, id),
	FIELD(memory, scope),
	FIELD(memory, content),
	FIELD(memory, content_folded),
	FIELD(memory, created_at),
};
static SCHEMA(memory, .internal = true);

struct memory_note {
	const char *tenant_id, *agent_id, *id, *source_session_id, *created_by_id, *user_id;
	const char *content, *content_folded, *scope;
	int64_t created_at;
};

FIELDS(memory_note) = {
	ROW_FIELDS(
		memory_note, tenant_id, agent_id, id, content, content_folded, scope, created_at),
	ROW_NULLABLE(memory_note, source_session_id, created_by_id, user_id),
};
static SCHEMA(memory_note, .internal = true);

enum { MEMORY_COUNT, MEMORY_INSERT, MEMORY_FIND };

static const struct statement sql[] = {
	[MEMORY_COUNT] = { "builtin_memory_count",
		"select count(*) from memories where tenant_id = $1 and agent_id = $2 "
		"and scope = $3 and coalesce(user_id, '') = coalesce($4, '')" },
	[MEMORY_INSERT] = { "builtin_memory_insert",
		"insert into memories ({*}) values ({$}) on conflict do nothing",
		.row = &memory_note_schema },
	[MEMORY_FIND] = { "builtin_memory_find",
		"select id, scope, content, content_folded, created_at from memories "
		"where tenant_id = $1 and agent_id = $2 and content_folded like $3 escape '!' "
		"and (scope = 'shared' or user_id = $5 or (cast($5 as text) is null "
		"and user_id is null)) order by id desc limit $4",
		.row = &memory_schema },
};
STATEMENT_SET(builtin_memory_sql, sql);

int builtin_memory_write(struct builtin_call *c)
{
	const struct tool_asked *in = c->asked;
	const char *content = tool_argument_text(&c->in, "content", BUILTIN_NOTE_MAX);
	const char *scope = tool_argument_text_maybe(&c->in, "scope", BUILTIN_NOTE_MAX), *owner;
	bool shared = scope && strcmp(scope, "shared") == 0;
	int64_t count = 0;
	int err;

	if (!builtin_arguments_read(c))
		return 0;
	if (shared && !(in->user_id && in->held & PERM(AGENT_WRITE))) {
		tool_answer_fail(c->arena, c->answer,
			"The note was not kept: shared notes are kept only for people who may change "
			"this agent. Leave scope out to keep it for this person alone.");
		return 0;
	}
	scope = shared ? "shared" : "private";
	owner = shared ? NULL : in->user_id;
	if (!id_valid(in->call_id, strlen(in->call_id)))
		return ERR_INTERNAL;
	err = db_int(c->db, &sql[MEMORY_COUNT], &count,
		ARGS(T(in->tenant_id), T(in->agent_id), T(scope), T(owner)));
	if (err)
		return err;
	if (count >= MEMORIES_MAX) {
		tool_answer_fail(c->arena, c->answer,
			"The note was not kept: this agent has %d %s notes, which is the most. Somebody "
			"has to delete some first.",
			MEMORIES_MAX, scope);
		return 0;
	}
	tool_answer_text(
		c->arena, arena_printf(c->arena, "The note is kept (%s).", scope), c->answer);
	return db_put(c->db, &sql[MEMORY_INSERT],
		&(struct memory_note){ .tenant_id = in->tenant_id,
			.agent_id = in->agent_id,
			.id = in->call_id,
			.source_session_id = in->session_id,
			.created_by_id = in->user_id,
			.user_id = owner,
			.content = content,
			.content_folded = fold_words(c->arena, content),
			.scope = scope,
			.created_at = in->now });
}

struct finding {
	const struct builtin_words *words;
	struct builtin_call *call;
	const char *text;
	int64_t found, limit;
	bool more;
};

static int take_memory(void *ctx, const void *row)
{
	const struct memory *m = row;
	struct finding *f = ctx;
	char when[TIME_TEXT_LEN];

	if (!builtin_words_in(f->words, m->content_folded))
		return 0;
	if (f->found == f->limit) {
		f->more = true;
		return ERR_DUPLICATE; /* ends the walk; not an error of the store */
	}
	time_write(m->created_at.us, when);
	f->text = arena_printf(f->call->arena, "%s%.10s (%s): %s\n", f->found ? f->text : "", when,
		m->scope, m->content);
	f->found++;
	return 0;
}

int builtin_memory_search(struct builtin_call *c)
{
	const char *query = tool_argument_text(&c->in, "query", BUILTIN_QUERY_MAX), *longest = "";
	struct builtin_words words = builtin_words(c->arena, query);
	struct finding f = { .words = &words,
		.call = c,
		.limit = tool_argument_number(&c->in, "limit", BUILTIN_HITS, 1, BUILTIN_HITS_MAX) };
	struct memory row;
	int err;

	if (!builtin_arguments_read(c))
		return 0;
	for (size_t i = 0; i < words.count; i++)
		if (strlen(words.list[i]) > strlen(longest))
			longest = words.list[i];
	if (!*longest || words.too_many) {
		tool_answer_fail(c->arena, c->answer, "The query must have 1 to %d words.",
			BUILTIN_WORDS_MAX);
		return 0;
	}
	err = db_each(c->db, &sql[MEMORY_FIND], &row, take_memory, &f,
		ARGS(T(c->asked->tenant_id), T(c->asked->agent_id),
			T(fold_pattern(c->arena, longest)), N(MEMORIES_MAX), T(c->asked->user_id)));
	if (err && !(err == ERR_DUPLICATE && f.more))
		return err;
	tool_answer_text(c->arena,
		!f.found ? "No note has all of these words."
		: f.more ? arena_printf(c->arena, "%s[There are more; these are the newest %lld.]",
				   f.text, (long long)f.found)
			 : f.text,
		c->answer);
	return 0;
}
