/* search.c - keeping the index of words; see search.h.
 *
 * A thing is one row of search_things and, for each visibility, one row of
 * search_words for each of its words.  A visibility is what a caller sees as a
 * whole: what is open to the tenant, what is not, the sessions of an agent,
 * what belongs to a user.  Within a visibility the rows stand in the order of
 * answers, so that the best are read first and nothing else is. */
#include "search/search.h"

#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "base/same.h"
#include "base/utf8_cut.h"
#include "contract/value.h"
#include "search/search_words.h"
#include "store/row.h"

/* Another number makes every store build its index anew at the next start.  What a migration does to rows, it does past
 * this file: one that changes what can be found needs another number too.  The work takes minutes where there are a
 * million agents, and programs of both numbers must not run beside each other. */
#define SEARCH_VERSION "3"

FIELDS(search_thing) = {
	FIELD(search_thing, tenant_id),
	FIELD(search_thing, type, .words = &MentionType_words),
	FIELD(search_thing, id),
	FIELD(search_thing, level),
	FIELD(search_thing, agent_id, .nullable = true),
	FIELD(search_thing, owner_id, .nullable = true),
	FIELD(search_thing, label),
	FIELD(search_thing, detail, .nullable = true),
	FIELD(search_thing, words),
	FIELD(search_thing, seen, .computed = true),
};
SCHEMA(search_thing, .internal = true);

/* A thing as the table it lives in has it. */
struct source_row {
	const char *tenant_id, *id, *label, *extra, *detail;
	int64_t level;
	const char *agent_id, *owner_id;
};

FIELDS(source_row) = {
	FIELD(source_row, tenant_id),
	FIELD(source_row, id),
	FIELD(source_row, label),
	FIELD(source_row, extra),
	FIELD(source_row, detail),
	FIELD(source_row, level),
	FIELD(source_row, agent_id),
	FIELD(source_row, owner_id),
};
static SCHEMA(source_row, .internal = true);

#define AGENTS                                                                                \
	"select tenant_id, id, name as label, slug as extra, slug as detail, case "           \
	"when is_admin_only = 1 then 4 when hidden = 1 then 2 when default_role_enabled = 0 " \
	"then 1 else 0 end as level from agents where "
#define USERS                                                                                  \
	"select m.tenant_id, m.user_id as id, coalesce(u.name, u.email) as label, u.email as " \
	"extra, u.email as detail, 0 as level from members m join users u "                    \
	"on u.id = m.user_id where m.status = 'active' and "
#define SESSIONS                                                                        \
	"select tenant_id, id, title as label, 1 as level, agent_id, created_by_id as " \
	"owner_id from sessions where title is not null and "
/* Levels of skills and tools: everybody's, or for administrators and the author alone. */
#define SKILLS                                                                           \
	"select tenant_id, id, name as label, slug as extra, slug as detail, "           \
	"case when visibility = 'private' then 4 else 0 end as level, created_by_id as " \
	"owner_id from skills where "
#define TOOLS "select tenant_id, id, name as label, kind as detail, 0 as level from tools where "
/* One of them, and a page after a key. */
#define SOURCE(name, from, tenant, key)                                                          \
	{ "search_one_" name, from tenant " = $1 and " key " = $2", .row = &source_row_schema }, \
	{                                                                                        \
		"search_all_" name,                                                              \
			from "(" tenant ", " key ") > ($1, $2) order by " tenant ", " key        \
			     " limit 500",                                                       \
			.row = &source_row_schema, .scan = "everything, page by page",           \
			.across = "the index is held against all there is"                       \
	}

enum {
	SOURCE_AGENT,
	SOURCE_USER = SOURCE_AGENT + 2,
	SOURCE_SESSION = SOURCE_USER + 2,
	SOURCE_SKILL = SOURCE_SESSION + 2,
	SOURCE_TOOL = SOURCE_SKILL + 2,
	THING_READ = SOURCE_TOOL + 2,
	THING_INSERT,
	THING_UPDATE,
	THING_REMOVE,
	THING_PAGE,
	TENANTS_OF_USER,
	VERSION_READ,
	VERSION_WRITE,
	WORDS_WIPE,
	THINGS_WIPE,
	LEAVING,
};

static const struct statement sql[] = {
	SOURCE("agent", AGENTS, "tenant_id", "id"),
	SOURCE("user", USERS, "m.tenant_id", "m.user_id"),
	SOURCE("session", SESSIONS, "tenant_id", "id"),
	SOURCE("skill", SKILLS, "tenant_id", "id"),
	SOURCE("tool", TOOLS, "tenant_id", "id"),
	[THING_READ] = { "search_thing_read",
		"select {*} from search_things where tenant_id = $1 and type = $2 and id = $3",
		.row = &search_thing_schema },
	[THING_INSERT] = { "search_thing_insert", "insert into search_things ({*}) values ({$})",
		.row = &search_thing_schema },
	[THING_UPDATE] = { "search_thing_update",
		"update search_things set {=} where tenant_id = :tenant_id and type = :type "
		"and id = :id",
		.row = &search_thing_schema },
	[THING_REMOVE] = { "search_thing_remove",
		"delete from search_things where tenant_id = $1 and type = $2 and id = $3" },
	[THING_PAGE] = { "search_thing_page",
		"select {*} from search_things where (tenant_id, type, id) > ($1, $2, $3) "
		"order by tenant_id, type, id limit 500",
		.row = &search_thing_schema, .scan = "everything, page by page",
		.across = "the index is held against all there is" },
	[TENANTS_OF_USER] = { "search_tenants",
		"select tenant_id as value from members where user_id = $1 and status = 'active' "
		"order by tenant_id",
		.row = &one_text_schema, .across = "somebody may belong to several tenants" },
	[VERSION_READ] = { "search_version", "select value from meta where key = 'search_version'",
		.row = &one_text_schema },
	[VERSION_WRITE] = { "search_version_set",
		"insert into meta (key, value) values ('search_version', $1) "
		"on conflict (key) do update set value = $1" },
	[WORDS_WIPE] = { "search_words_wipe", "delete from search_words",
		.scan = "the index is made anew", .across = "for every tenant" },
	[THINGS_WIPE] = { "search_things_wipe", "delete from search_things",
		.scan = "the index is made anew", .across = "for every tenant" },
	[LEAVING] = { "search_leaving",
		"select count(*) from session_rows where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(search_sql, sql);

/* Things that can be read from their own tables. */
static const struct {
	int type, one;
} sources[] = {
	{ MentionType_agent, SOURCE_AGENT },
	{ MentionType_user, SOURCE_USER },
	{ MentionType_session, SOURCE_SESSION },
	{ MentionType_skill, SOURCE_SKILL },
	{ MentionType_tool, SOURCE_TOOL },
};

enum { SOURCES = sizeof sources / sizeof *sources, PAGE = 500, USER_TENANTS_MAX = 10000 };

int64_t search_agent_level(bool is_admin_only, bool hidden, bool default_role_enabled)
{
	return is_admin_only	      ? SEARCH_ADMINS
	       : hidden		      ? SEARCH_MANAGER
	       : default_role_enabled ? SEARCH_OPEN
				      : SEARCH_VIEWER;
}

/* True if one of the words begins with these bytes. */
static bool begins_a_word(const char *words, const char *start, size_t len)
{
	for (const char *p = words; *p;) {
		size_t word = strcspn(p, " ");

		if (word >= len && memcmp(p, start, len) == 0)
			return true;
		p += word + (p[word] == ' ');
	}
	return false;
}

/* Cuts a text to whole code points and whole words, as many as are kept. */
static void cut_words(char *words)
{
	size_t len = strlen(words), count = 0;

	words[utf8_cut(words, len, SEARCH_BYTES_MAX)] = '\0';
	for (char *p = words; *p; p++)
		if (*p == ' ' && ++count == SEARCH_WORDS_MAX)
			*p-- = '\0';
}

/* The words of the label, and of what is extra those that the label does not say already. */
static const char *words_of(struct arena *a, const struct search_entry *e)
{
	char *words = fold_words(a, e->label);

	for (const char *p = e->extra ? fold_words(a, e->extra) : ""; *p;) {
		size_t len = strcspn(p, " ");

		if (!begins_a_word(words, p, len))
			words = arena_printf(a, "%s%s%.*s", words, *words ? " " : "", (int)len, p);
		p += len + (p[len] == ' ');
	}
	cut_words(words);
	return words;
}

static struct search_thing thing_of(struct arena *a, const struct search_entry *e)
{
	return (struct search_thing){ .tenant_id = e->tenant_id,
		.type = e->type,
		.id = e->id,
		.level = e->level,
		.agent_id = e->agent_id,
		.owner_id = e->owner_id,
		.label = e->label,
		.detail = e->detail,
		.words = words_of(a, e) };
}

static int add_thing(struct db *db, const struct search_thing *t)
{
	int err = db_put(db, &sql[THING_INSERT], t);

	return err ? err : search_words_insert(db, t);
}

int search_add(struct db *db, struct arena *a, const struct search_entry *e)
{
	struct search_thing t = thing_of(a, e);

	return add_thing(db, &t);
}

/* True if the thing stands where it stood: with the same words on the same visibilities. */
static bool thing_stands(const struct search_thing *a, const struct search_thing *b)
{
	return a->level == b->level && same_text(a->agent_id, b->agent_id) &&
	       same_text(a->owner_id, b->owner_id) && same_text(a->words, b->words) &&
	       search_score(a->label, 0) == search_score(b->label, 0);
}

static bool things_equal(const struct search_thing *a, const struct search_thing *b)
{
	return thing_stands(a, b) && same_text(a->label, b->label) &&
	       same_text(a->detail, b->detail);
}

static int find_thing(struct db *db, struct arena *a, const char *tenant_id, int type,
	const char *id, struct search_thing *ret)
{
	return db_one(db, a, &sql[THING_READ], ret,
		ARGS(T(tenant_id), T(MentionType_words.list[type]), T(id)));
}

int search_put(struct db *db, struct arena *a, const struct search_entry *e)
{
	struct search_thing now = thing_of(a, e), before;
	int err = find_thing(db, a, e->tenant_id, e->type, e->id, &before);

	if (err == ERR_NOT_FOUND)
		return add_thing(db, &now);
	if (err || things_equal(&before, &now))
		return err;
	if (!thing_stands(&before, &now)) {
		err = search_words_remove(db, &before);
		if (!err)
			err = search_words_insert(db, &now);
	}
	return err ? err : db_put(db, &sql[THING_UPDATE], &now);
}

static int drop_thing(struct db *db, const struct search_thing *t)
{
	int err = search_words_remove(db, t);

	return err ? err
		   : db_run(db, &sql[THING_REMOVE], NULL,
			     ARGS(T(t->tenant_id), T(MentionType_words.list[t->type]), T(t->id)));
}

int search_remove(struct db *db, struct arena *a, const char *tenant_id, int type, const char *id)
{
	struct search_thing before;
	int err = find_thing(db, a, tenant_id, type, id, &before);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	return drop_thing(db, &before);
}

static struct search_entry entry_of(const struct source_row *row, int type)
{
	return (struct search_entry){ row->tenant_id, type, row->id, row->label, row->extra,
		row->detail, row->level, row->agent_id, row->owner_id };
}

static int source_of_type(int type)
{
	for (int i = 0; i < SOURCES; i++)
		if (sources[i].type == type)
			return sources[i].one;
	return -1;
}

int search_refresh(struct db *db, struct arena *a, const char *tenant_id, int type, const char *id)
{
	struct source_row row;
	struct search_entry e;
	int err = db_one(db, a, &sql[source_of_type(type)], &row, ARGS(T(tenant_id), T(id)));

	if (err == ERR_NOT_FOUND)
		return search_remove(db, a, tenant_id, type, id);
	e = entry_of(&row, type);
	return err ? err : search_put(db, a, &e);
}

int search_refresh_user(struct db *db, struct arena *a, const char *user_id)
{
	struct list tenants;
	const struct one_text *row;
	int err =
		db_all(db, a, &sql[TENANTS_OF_USER], &tenants, USER_TENANTS_MAX, ARGS(T(user_id)));

	row = tenants.at;
	for (size_t i = 0; !err && i < tenants.count; i++)
		err = search_refresh(db, a, row[i].value, MentionType_user, user_id);
	return err;
}

/* Walks all rows of a source; for each either adds it or holds it against the index. */
static int walk_source(struct db *db, int source, int64_t *ret_wrong)
{
	char tenant_id[64] = "", id[64] = "";
	struct arena page = { 0 };
	struct list rows = { .count = PAGE };
	int err = 0;

	while (!err && rows.count == PAGE) {
		const struct source_row *row;

		err = db_all(db, &page, &sql[sources[source].one + 1], &rows, PAGE,
			ARGS(T(tenant_id), T(id)));
		row = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			struct search_entry e = entry_of(&row[i], sources[source].type);
			struct search_thing want = thing_of(&page, &e), got;

			if (!ret_wrong) {
				err = add_thing(db, &want);
				continue;
			}
			err = find_thing(db, &page, e.tenant_id, e.type, e.id, &got);
			if (err == ERR_NOT_FOUND || (!err && !things_equal(&want, &got)))
				++*ret_wrong;
			err = err == ERR_NOT_FOUND ? 0 : err;
		}
		if (!err && rows.count) {
			snprintf(tenant_id, sizeof tenant_id, "%s", row[rows.count - 1].tenant_id);
			snprintf(id, sizeof id, "%s", row[rows.count - 1].id);
		}
		arena_reset(&page);
	}
	arena_free(&page);
	return err;
}

/* Former programs noted the version of the tables as well ("3 at 45, folded ..."), which says nothing. */
static bool same_index(const char *noted, const char *wanted)
{
	size_t len = strcspn(wanted, ",");

	if (strncmp(noted, wanted, len) != 0)
		return false;
	noted += len;
	if (strncmp(noted, " at ", 4) == 0)
		noted += strcspn(noted, ",");
	return strcmp(noted, wanted + len) == 0;
}

int search_ensure(struct db *db, struct arena *a)
{
	const char *wanted = arena_printf(a, SEARCH_VERSION ", folded %s", fold_version(a));
	struct one_text version;
	int err = db_one(db, a, &sql[VERSION_READ], &version, NO_ARGS);

	if ((err && err != ERR_NOT_FOUND) || (!err && same_index(version.value, wanted)))
		return err;
	err = db_run(db, &sql[VERSION_WRITE], NULL, ARGS(T(wanted)));
	return err ? err : search_remake(db);
}

int search_remake(struct db *db)
{
	int err = db_run(db, &sql[WORDS_WIPE], NULL, NO_ARGS);

	if (!err)
		err = db_run(db, &sql[THINGS_WIPE], NULL, NO_ARGS);
	for (int i = 0; !err && i < SOURCES; i++)
		err = walk_source(db, i, NULL);
	return err;
}

/* What is deleted keeps its words until its own rows go; nobody is shown them. */
static int count_missing(struct db *db, const struct search_thing *t, int64_t *ret_wrong)
{
	int64_t leaving = 0;
	int err = 0;

	if (t->type == MentionType_session)
		err = db_int(db, &sql[LEAVING], &leaving, ARGS(T(t->tenant_id), T(t->id)));
	*ret_wrong += !leaving;
	return err;
}

/* Walks all things: each has its row in its own table, and all of its words are there. */
static int walk_things(struct db *db, int64_t *ret_wrong)
{
	char tenant_id[64] = "", type[16] = "", id[64] = "";
	struct arena page = { 0 };
	struct list rows = { .count = PAGE };
	int err = 0;

	while (!err && rows.count == PAGE) {
		const struct search_thing *t;

		err = db_all(db, &page, &sql[THING_PAGE], &rows, PAGE,
			ARGS(T(tenant_id), T(type), T(id)));
		t = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			struct source_row row;
			int source = source_of_type(t[i].type);

			if (source >= 0)
				err = db_one(db, &page, &sql[source], &row,
					ARGS(T(t[i].tenant_id), T(t[i].id)));
			if (err == ERR_NOT_FOUND)
				err = count_missing(db, &t[i], ret_wrong);
			if (!err)
				err = search_words_count(db, &t[i], ret_wrong);
		}
		if (!err && rows.count) {
			t += rows.count - 1;
			snprintf(tenant_id, sizeof tenant_id, "%s", t->tenant_id);
			snprintf(type, sizeof type, "%s", MentionType_words.list[t->type]);
			snprintf(id, sizeof id, "%s", t->id);
		}
		arena_reset(&page);
	}
	arena_free(&page);
	return err;
}

int search_check(struct db *db, int64_t *ret_wrong)
{
	int err = 0;

	*ret_wrong = 0;
	for (int i = 0; !err && i < SOURCES; i++)
		err = walk_source(db, i, ret_wrong);
	return err ? err : walk_things(db, ret_wrong);
}
