/* builtin_run.h - the work of the built-in tools that look only at the store, or at nothing.
 *
 * Each runs inside the caller's transaction, does a bounded amount of work,
 * and answers the model in words; an error is the store's. */
#pragma once
#include "sessions/tool_arguments.h"
#include "sessions/tool_run.h"

struct builtin_call {
	struct db *db;
	struct arena *arena;
	const struct tool_asked *asked;
	struct tool_arguments in;
	struct tool_answer *answer;
};

typedef int builtin_fn(struct builtin_call *c);

builtin_fn builtin_time, builtin_calculator, builtin_session_search, builtin_memory_write,
	builtin_memory_search, builtin_skill_read;

/* Those whose work is that of rooms above; the list outlives all calls.  Set once, before anything runs. */
struct builtin_row {
	const char *name;
	builtin_fn *run;
};
void builtin_run_more(const struct builtin_row *rows, size_t count);

/* NULL if there is none of that name that is run so. */
builtin_fn *builtin_run_of(const char *name);

/* False, with the answer filled, if an argument that was read is not as it must be. */
bool builtin_arguments_read(struct builtin_call *c);

/* ---- words that are looked for ---- */

enum { BUILTIN_WORDS_MAX = 16 };

struct builtin_words {
	const char *list[BUILTIN_WORDS_MAX]; /* folded */
	size_t count;
	bool too_many;
};

struct builtin_words builtin_words(struct arena *a, const char *query);
/* True if each of them begins a word of the text, which is folded by fold_words(). */
bool builtin_words_in(const struct builtin_words *w, const char *folded);

/* ---- bounds, and what is said about them ---- */

enum {
	MEMORIES_MAX = 5000,	   /* notes of one agent */
	SEARCH_SESSIONS_MAX = 200, /* the newest, whose messages are looked through */
	SEARCH_MESSAGES_MAX = 1000,
	SEARCH_CHARACTERS_MAX = 8192, /* of each message */
	SEARCH_SNIPPET = 240,
	SKILL_FILES_SHOWN = 200,
	/* Of arguments, in bytes; their schemas count characters. */
	BUILTIN_NAME_MAX = 4096,
	BUILTIN_QUERY_MAX = 2000,
	BUILTIN_NOTE_MAX = 32000,
	BUILTIN_HITS = 10, /* unless `limit` says otherwise */
	BUILTIN_HITS_MAX = 50,
};

extern const struct statement_set builtin_session_sql, builtin_memory_sql, builtin_skill_sql;
