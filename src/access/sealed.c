/* sealed.c - see sealed.h. */
#include "access/sealed.h"

#include <string.h>

#include "access/audit_chain.h"

struct sealed_found {
	const char *id, *text, *tenant_id;
};

FIELDS(sealed_found) = {
	FIELD(sealed_found, id),
	FIELD(sealed_found, text),
	FIELD(sealed_found, tenant_id, .nullable = true),
};
static SCHEMA(sealed_found, .internal = true);

const struct sealed_place_row sealed_places[] = {
#define X(name, table, tenant, id, column, rows, gone, what) { table, id, column, what, gone },
	SEALED_PLACES(X)
#undef X
};

enum { FIND, PUT, DROP, GONE, KINDS };

#define EVERYBODY "the master key is one for all tenants"

static const struct statement sql[][KINDS] = {
#define X(name, table, tenant, id, column, rows, gone, what)                                    \
	{                                                                                       \
		{ "sealed_find_" table,                                                         \
			"select " id " as id, " column " as text, " tenant                      \
			" as tenant_id from " table " where " column " not like $1 and " column \
			" <> '' and " column " <> '" SEALED_GONE "' and " id " > $2" rows       \
			" order by " id " limit $3",                                            \
			.row = &sealed_found_schema, .scan = "every sealed text, once",         \
			.across = EVERYBODY },                                                  \
		{ "sealed_put_" table,                                                          \
			"update " table " set " column " = $3 where " id " = $1 and " column    \
			" = $2",                                                                \
			.scan = "a key, by hand", .across = EVERYBODY },                        \
		{ "sealed_drop_" table,                                                         \
			"delete from " table " where " id " = $1 and " column " = $2",          \
			.scan = "a key, by hand", .across = EVERYBODY },                        \
		{ "sealed_gone_" table,                                                         \
			"select count(*) from " table " where " column " = '" SEALED_GONE "'",  \
			.scan = "every sealed text, once", .across = EVERYBODY },               \
	},
	SEALED_PLACES(X)
#undef X
};
const struct statement_set sealed_sql = { "sealed_sql", &sql[0][0], sizeof sql / sizeof sql[0][0] };

int sealed_page(struct db *db, struct arena *a, enum sealed_place place, const char *but,
	const char *after, const struct sealed_text **ret, size_t *ret_count)
{
	const char *pattern = *but ? arena_printf(a, "%s.%%", but) : "";
	struct sealed_text *texts;
	struct list rows = { 0 };
	int err = db_all(db, a, &sql[place][FIND], &rows, SEALED_PAGE,
		ARGS(T(pattern), T(after), N(SEALED_PAGE)));

	*ret_count = err ? 0 : rows.count;
	*ret = texts = arena_array(a, struct sealed_text, *ret_count + 1);
	for (size_t i = 0; i < *ret_count; i++) {
		const struct sealed_found *row = (const struct sealed_found *)rows.at + i;

		texts[i] = (struct sealed_text){ row->id, row->text, row->tenant_id, row->id };
		if (place == SEALED_AUDIT_KEY)
			texts[i].context = CHAIN_KEY_CONTEXT;
	}
	return err;
}

int sealed_put(
	struct db *db, enum sealed_place place, const struct sealed_text *t, const char *text)
{
	return db_run(db, &sql[place][PUT], NULL, ARGS(T(t->id), T(t->text), T(text)));
}

int sealed_give_up(struct db *db, enum sealed_place place, const struct sealed_text *t)
{
	if (sealed_places[place].gone == GONE_WITH_ROW)
		return db_run(db, &sql[place][DROP], NULL, ARGS(T(t->id), T(t->text)));
	return sealed_put(db, place, t, SEALED_GONE);
}

int sealed_gone(struct db *db, enum sealed_place place, int64_t *ret)
{
	return db_int(db, &sql[place][GONE], ret, NO_ARGS);
}
