/* builtin_memory.c - notes that an agent keeps between its sessions: writing one, and finding them.
 *
 * A note's id is that of the call that wrote it, so that a call that is
 * repeated writes it once. */
#include <string.h>

#include "base/clock.h"
#include "base/fold.h"
#include "base/id.h"
#include "sessions/builtin_run.h"
#include "sessions/tool_text.h"

struct memory {
	const char *id, *content, *content_folded;
	struct moment created_at;
};

FIELDS(memory) = {
	FIELD(memory, id),
	FIELD(memory, content),
	FIELD(memory, content_folded),
	FIELD(memory, created_at),
};
static SCHEMA(memory, .internal = true);

enum { MEMORY_COUNT, MEMORY_INSERT, MEMORY_FIND };

static const struct statement sql[] = {
	[MEMORY_COUNT] = { "builtin_memory_count",
		"select count(*) from memories where tenant_id = $1 and agent_id = $2" },
	[MEMORY_INSERT] = { "builtin_memory_insert",
		"insert into memories (tenant_id, agent_id, id, source_session_id, created_by_id, "
		"created_at, content, content_folded) values ($1, $2, $3, $4, $5, $6, $7, $8) "
		"on conflict do nothing" },
	[MEMORY_FIND] = { "builtin_memory_find",
		"select id, content, content_folded, created_at from memories where tenant_id = $1 "
		"and agent_id = $2 and content_folded like $3 escape '!' order by id desc limit $4",
		.row = &memory_schema },
};
STATEMENT_SET(builtin_memory_sql, sql);

int builtin_memory_write(struct builtin_call *c)
{
	const struct tool_asked *in = c->asked;
	const char *content = builtin_text(c, "content");
	int64_t count = 0;
	int err =
		db_int(c->db, &sql[MEMORY_COUNT], &count, ARGS(T(in->tenant_id), T(in->agent_id)));

	if (err)
		return err;
	if (!id_valid(in->call_id, strlen(in->call_id)))
		return ERR_INTERNAL;
	if (strlen(content) != json_tree_member(c->arguments, "content", 7)->len) {
		tool_answer_fail(
			c->arena, c->answer, "The note holds a NUL, which cannot be kept.");
		return 0;
	}
	if (count >= MEMORIES_MAX) {
		tool_answer_fail(c->arena, c->answer,
			"The note was not kept: this agent has %d notes, which is the most. Somebody "
			"has to delete some first.",
			MEMORIES_MAX);
		return 0;
	}
	tool_answer_text(c->arena, "The note is kept.", c->answer);
	return db_run(c->db, &sql[MEMORY_INSERT], NULL,
		ARGS(T(in->tenant_id), T(in->agent_id), T(in->call_id), T(in->session_id),
			T(in->user_id), N(in->now), T(content), T(fold_words(c->arena, content))));
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
	f->text = arena_printf(
		f->call->arena, "%s%.10s: %s\n", f->found ? f->text : "", when, m->content);
	f->found++;
	return 0;
}

int builtin_memory_search(struct builtin_call *c)
{
	struct builtin_words words = builtin_words(c->arena, builtin_text(c, "query"));
	struct finding f = { .words = &words, .call = c, .limit = builtin_number(c, "limit", 10) };
	const char *longest = "";
	struct memory row;
	int err;

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
			T(fold_pattern(c->arena, longest)), N(MEMORIES_MAX)));
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
