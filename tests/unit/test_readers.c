/* test_readers.c - nothing is stored that nobody reads, unless its text says so.
 *
 * What people send is written column by column, so a column can be offered,
 * kept and shown, and do nothing.  Here every column of every table whose name
 * can be sent in some request needs a statement that reads it for more than
 * showing the row; or a place in the list of what is read from the whole row,
 * or of what is there to be shown; or a text that says that this version does
 * nothing with it; and neither such a text nor such a place may be wrong. */
#include <ctype.h>

#include "serve/registry.h"
#include "fixture.h"

#define NOT_YET "this version has no "
#define NOT_YET_EITHER "this version does not have"

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *find_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || !is_letter(at[-1])) && !is_letter(at[len]))
			return at;
	return NULL;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether the text names the column of that table: by the table's short name, or bare where it has none. */
static bool names_column(const char *sql, const char *from, const char *table, const char *column)
{
	static const char *const words =
		" where order left join on limit set group union as cross ";
	size_t len = strlen(table);

	for (const char *at = sql; (at = find_word(at, table)); at += len) {
		char name[80], alias[16] = "", spaced[20];

		sscanf(at + len, " %15[a-z_]", alias);
		snprintf(spaced, sizeof spaced, " %s ", alias);
		if (strstr(words, spaced))
			*alias = '\0';
		snprintf(name, sizeof name, "%s%s%s", alias, *alias ? "." : "", column);
		if (find_word(from, name))
			return true;
	}
	return false;
}

/* ---- what is offered ---- */

/* A table's name as the names of schemas have it: "tool_bundles" is in "ToolBundleCreate". */
static bool is_about(const struct schema *s, const char *table)
{
	char name[80] = "", noun[80] = "";
	size_t len = 0;

	for (const char *c = s->name; *c && len < sizeof name - 1; c++)
		name[len++] = (char)tolower((unsigned char)*c);
	len = 0;
	for (const char *c = table; *c && len < sizeof noun - 1; c++)
		if (*c != '_')
			noun[len++] = *c;
	if (len && noun[len - 1] == 's')
		noun[len - 1] = '\0';
	return strstr(name, noun) != NULL;
}

struct offer {
	const char *by; /* a schema of which it is a field, or NULL */
	bool waits;	/* one that is about the table says that nothing is done with it yet */
};

static struct offer offer_of(const char *table, const char *column)
{
	struct offer o = { 0 };

	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++) {
			const struct schema *s = api_resources[i]->routes[k].op->body;
			const struct field *f = s ? schema_field(s, column, strlen(column)) : NULL;

			if (!f)
				continue;
			o.by = o.by && !is_about(s, table) ? o.by : s->name;
			o.waits |= is_about(s, table) && f->doc &&
				   (strstr(f->doc, NOT_YET) || strstr(f->doc, NOT_YET_EITHER));
		}
	return o;
}

/* ---- who reads it ---- */

/* Rows of this schema are written as they are read: reading one of them is no purpose. */
static bool is_storage(const struct schema *row)
{
	struct set_walk walk = { 0 };
	const struct statement_set *set;

	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++) {
			const struct statement *st = &set->list[i];

			if (st->row == row && (begins(st->sql, "insert") || strstr(st->sql, "{=}")))
				return true;
		}
	return false;
}

/* Names it in a condition, an order or a sum, or takes it into a row of its own that nobody is shown. */
static bool is_reader(const struct statement *st, const char *table, const char *column)
{
	const char *where = strstr(st->sql, " where "), *from = find_word(st->sql, "from");
	bool changes = begins(st->sql, "update") || begins(st->sql, "delete"), inner;

	if (!find_word(st->sql, table) || (begins(st->sql, "insert") && !from))
		return false;
	if (changes)
		return where && names_column(st->sql, where, table, column);
	inner = !st->row || (st->row->internal && !is_storage(st->row));
	if (inner && st->row && strstr(st->sql, "*}") &&
		schema_field(st->row, column, strlen(column)))
		return true;
	return names_column(st->sql, inner ? st->sql : from ? from : "", table, column);
}

static const char *reader_of(const char *table, const char *column)
{
	struct set_walk walk = { 0 };
	const struct statement_set *set;

	while ((set = api_next_set(&walk)))
		for (size_t i = 0; i < set->count; i++)
			if (is_reader(&set->list[i], table, column))
				return set->list[i].name;
	return NULL;
}

/* ---- what no statement tells ---- */

struct exception {
	const char *table, *columns; /* with a space around each */
};

static bool is_listed(const struct exception *list, const char *table, const char *column)
{
	char name[80];

	snprintf(name, sizeof name, " %s ", column);
	for (; list->table; list++)
		if ((strcmp(list->table, table) == 0 || strcmp(list->table, "*") == 0) &&
			strstr(list->columns, name))
			return true;
	return false;
}

/* For people and clients; nothing follows from them. */
static const struct exception shown[] = {
	{ "agents", " created_by_agent_id " },
	{ "api_keys", " name " },
	{ "approvals", " arguments " }, /* to whoever decides; those of a trial are kept nowhere */
	{ "assistants", " metadata " },
	{ "groups", " description " },
	{ "key_holders", " name " }, /* to whoever changes the master key */
	{ "ledger", " user_id " },   /* its sums by user are kept beside it */
	{ "mail_threads", " subject " },
	{ "plans", " name slug " },
	{ "prompt_proposals", " title " },
	{ "responses", " metadata model status " },
	{ "search_things", " label " },
	{ "skills", " created_by_agent_id " },
	{ "tenants", " billing_email paid " },
	{ 0 },
};

/* Taken from the whole row, as it is stored and shown, by whoever acts on it. */
static const struct exception acted_on[] = {
	{ "agents",
		" code_ref " }, /* what is read of the repository, where nothing else is named */
	{ "assistants", " temperature tools top_p " },
	{ "letters", " kind user_id " },		       /* what it says, and to whom */
	{ "mail_messages", " attachments html in_reply_to " }, /* into the rows of who gets it */
	{ "mail_rules", " allow_from allow_to block_from reply wake " },
	{ "tenant_mail_rules", " allow_from allow_to block_from reply wake " },
	{ "registrations", " name " }, /* into the account */
	{ "repositories", " projection " },
	{ "reservations", " user_id " }, /* into the ledger */
	{ "responses", " input run_id " },
	{ "scanners", " base_url organization provider " },
	{ "tenants", " default_skill_visibility_scope " }, /* into the row of a new agent */
	{ "tool_bundles", " description " },		   /* searched for */
	{ 0 },
};

struct columns {
	struct arena *arena;
	struct list list; /* of "table column" */
};

static int list_columns(struct db *db, void *data)
{
	static const struct statement columns = { "test",
		"select m.name || ' ' || c.name as value from sqlite_master m, pragma_table_info(m.name) c "
		"where m.type in ('table', 'view') and m.name not like 'sqlite%' order by 1",
		.postgres =
			"select table_name || ' ' || column_name as value "
			"from information_schema.columns where table_schema = current_schema() order by 1",
		.row = &one_text_schema, .scan = "a test" };
	struct columns *c = data;

	return db_all(db, c->arena, &columns, &c->list, SIZE_MAX, NO_ARGS);
}

/* What is read is the view "agents", where "agent_rows" is written. */
static bool is_behind_a_view(const char *table, const struct list *all)
{
	const char *end = strstr(table, "_rows");
	char view[64];

	if (!end || end[5])
		return false;
	snprintf(view, sizeof view, "%.*ss ", (int)(end - table), table);
	for (size_t i = 0; i < all->count; i++)
		if (begins(((const struct one_text *)all->at)[i].value, view))
			return true;
	return false;
}

/* An exception that is none goes. */
static void check_list(const struct exception *list, const struct list *all)
{
	for (; list->table; list++) {
		char columns[1024], *save = NULL;

		CHECK(strlen(list->columns) < sizeof columns);
		snprintf(columns, sizeof columns, "%s", list->columns);
		for (char *c = strtok_r(columns, " ", &save); c; c = strtok_r(NULL, " ", &save)) {
			bool needed = false;

			for (size_t i = 0; i < all->count && !needed; i++) {
				const char *name = ((const struct one_text *)all->at)[i].value;
				char table[64], column[64];

				CHECK_INT(sscanf(name, "%63s %63s", table, column), 2);
				needed = strcmp(column, c) == 0 &&
					 (*list->table == '*' || strcmp(table, list->table) == 0) &&
					 offer_of(table, column).by && !reader_of(table, column);
			}
			test_step("%s.%s", list->table, c);
			CHECK(needed);
		}
	}
}

TEST(readers_every_column_that_is_offered_has_one_or_says_so)
{
	struct fixture *f = fixture_open();
	struct columns all = { .arena = &f->arena };
	size_t offered = 0;

	CHECK_INT(fixture_work(f, list_columns, &all), 0);
	for (size_t i = 0; i < all.list.count; i++) {
		const char *name = ((const struct one_text *)all.list.at)[i].value, *reader;
		char table[64], column[64];
		struct offer o;

		CHECK_INT(sscanf(name, "%63s %63s", table, column), 2);
		o = offer_of(table, column);
		if (!o.by || is_behind_a_view(table, &all.list))
			continue;
		offered++;
		reader = reader_of(table, column);
		test_step(
			"%s.%s of %s, read by %s", table, column, o.by, reader ? reader : "nobody");
		CHECK(reader || o.waits || is_listed(shown, table, column) ||
			is_listed(acted_on, table, column));
		CHECK(!(reader && o.waits));
	}
	CHECK(offered > 200);
	test_step("what is listed is in a table, and nobody else reads it");
	check_list(shown, &all.list);
	check_list(acted_on, &all.list);
	fixture_close(f);
}
