/* refold.c - see refold.h.
 *
 * Only texts beyond ASCII can have changed.  It runs when a store is migrated
 * or first served by a program that folds otherwise: one that knows a newer
 * Unicode, say. */
#include "search/refold.h"

#include <stdio.h>
#include <string.h>

#include "base/fold.h"

enum { REFOLD_PAGE = 500, REFOLD_KEY_MAX = 255 };

/* A text, and the key of its row. */
struct refold_row {
	const char *k1, *k2, *k3, *text;
};

FIELDS(refold_row) = {
	FIELD(refold_row, k1),
	FIELD(refold_row, k2),
	FIELD(refold_row, k3),
	FIELD(refold_row, text),
};
static SCHEMA(refold_row, .internal = true);

/* Keys of one, two or three columns: as they are read, what lies after one, their order, and the row that has it. */
#define UNUSED_KEY(n) " and cast($" n " as text) = ''"
#define KEYS1 "id as k1, '' as k2, '' as k3"
#define AFTER1 "id > $1" UNUSED_KEY("2") UNUSED_KEY("3")
#define ORDER1 "id"
#define IS1 "id = $1" UNUSED_KEY("2") UNUSED_KEY("3")
#define KEYS2 "tenant_id as k1, id as k2, '' as k3"
#define AFTER2 "(tenant_id, id) > ($1, $2)" UNUSED_KEY("3")
#define ORDER2 "tenant_id, id"
#define IS2 "tenant_id = $1 and id = $2" UNUSED_KEY("3")
#define KEYS3 "tenant_id as k1, agent_id as k2, id as k3"
#define AFTER3 "(tenant_id, agent_id, id) > ($1, $2, $3)"
#define ORDER3 "tenant_id, agent_id, id"
#define IS3 "tenant_id = $1 and agent_id = $2 and id = $3"

/* Two statements a column: which texts, and the text of one. */
#define COLUMN(at, table, source, folded, n, why)                                               \
	[2 * (at)] = { "refold_" table "_" source,                                              \
		"select " KEYS##n ", " source " as text from " table " where " AFTER##n         \
		" and length(cast(" source " as blob)) > length(" source ") order by " ORDER##n \
		" limit $4",                                                                    \
		.postgres =                                                                     \
			"select " KEYS##n ", " source " as text from " table " where " AFTER##n \
		" and octet_length(" source ") > length(" source ") order by " ORDER##n         \
		" limit $4",                                                                    \
		.row = &refold_row_schema, .scan = "once, for new rules", .across = why },      \
	     [2 * (at) + 1] = { "refolded_" table "_" source,                                   \
		     "update " table " set " folded " = $4 where " IS##n, .across = why }

#define OF_ALL "the rules are the same for all"

enum {
	USERS,
	ALLOWED,
	AGENTS,
	SKILLS,
	SKILL_DESCRIPTIONS,
	SESSIONS,
	TOOLS,
	TOOL_BUNDLES,
	MEMORIES,
	MAIL_SUBJECTS,
	MAIL_PREVIEWS,
	COLUMNS,
	VERSION_READ = 2 * COLUMNS,
	VERSION_WRITE,
};

static const struct statement sql[] = {
	COLUMN(USERS, "users", "email", "email_folded", 1, NULL),
	COLUMN(ALLOWED, "allowed_accounts", "email", "email_folded", 2, OF_ALL),
	COLUMN(AGENTS, "agent_rows", "name", "name_folded", 2, OF_ALL),
	COLUMN(SKILLS, "skills", "name", "name_folded", 2, OF_ALL),
	COLUMN(SKILL_DESCRIPTIONS, "skills", "description", "description_folded", 2, OF_ALL),
	COLUMN(SESSIONS, "session_rows", "title", "title_folded", 2, OF_ALL),
	COLUMN(TOOLS, "tools", "name", "name_folded", 2, OF_ALL),
	COLUMN(TOOL_BUNDLES, "tool_bundles", "name", "name_folded", 2, OF_ALL),
	COLUMN(MEMORIES, "memories", "content", "content_folded", 3, OF_ALL),
	COLUMN(MAIL_SUBJECTS, "mail_messages", "subject", "subject_folded", 3, OF_ALL),
	COLUMN(MAIL_PREVIEWS, "mail_messages", "preview", "preview_folded", 3, OF_ALL),
	[VERSION_READ] = { "fold_version", "select value from meta where key = 'fold_version'",
		.row = &one_text_schema },
	[VERSION_WRITE] = { "fold_version_set",
		"update meta set value = $1 where key = 'fold_version'" },
};
STATEMENT_SET(refold_sql, sql);

typedef char *fold_fn(struct arena *a, const char *text);

static fold_fn *const folds[COLUMNS] = {
	[USERS] = fold_ascii,
	[ALLOWED] = fold_ascii,
	[AGENTS] = fold,
	[SKILLS] = fold,
	[SKILL_DESCRIPTIONS] = fold,
	[SESSIONS] = fold,
	[TOOLS] = fold,
	[TOOL_BUNDLES] = fold,
	[MEMORIES] = fold_words,
	[MAIL_SUBJECTS] = fold,
	[MAIL_PREVIEWS] = fold,
};

struct refold_key {
	char k1[REFOLD_KEY_MAX + 1], k2[REFOLD_KEY_MAX + 1], k3[REFOLD_KEY_MAX + 1];
};

static int refold_page(
	struct db *db, int column, struct arena *page, struct refold_key *key, size_t *ret_count)
{
	const struct refold_row *row;
	struct list rows;
	int err = db_all(db, page, &sql[2 * column], &rows, REFOLD_PAGE,
		ARGS(T(key->k1), T(key->k2), T(key->k3), N(REFOLD_PAGE)));

	row = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		err = db_run(db, &sql[2 * column + 1], NULL,
			ARGS(T(row[i].k1), T(row[i].k2), T(row[i].k3),
				T(folds[column](page, row[i].text))));
	*ret_count = err ? 0 : rows.count;
	if (*ret_count) {
		row += rows.count - 1;
		snprintf(key->k1, sizeof key->k1, "%s", row->k1);
		snprintf(key->k2, sizeof key->k2, "%s", row->k2);
		snprintf(key->k3, sizeof key->k3, "%s", row->k3);
	}
	return err;
}

static int refold_column(struct db *db, int column)
{
	struct refold_key key = { "", "", "" };
	struct arena page = { 0 };
	size_t count = REFOLD_PAGE;
	int err = 0;

	while (!err && count == REFOLD_PAGE) {
		err = refold_page(db, column, &page, &key, &count);
		arena_reset(&page);
	}
	arena_free(&page);
	return err;
}

int refold_ensure(struct db *db, struct arena *a)
{
	const char *wanted = fold_version(a);
	struct one_text version;
	int err = db_one(db, a, &sql[VERSION_READ], &version, NO_ARGS);

	if (err || strcmp(version.value, wanted) == 0)
		return err;
	err = db_run(db, &sql[VERSION_WRITE], NULL, ARGS(T(wanted)));
	for (int i = 0; !err && i < COLUMNS; i++)
		err = refold_column(db, i);
	return err;
}
