/* statistics.c - has PostgreSQL look at tables that have grown, before it does so by itself.
 *
 * Of a table that was empty when a statement was planned the server knows
 * nothing, and one index is as good to it as another: it checks foreign keys
 * by the one that was made last, through all rows of a tenant.  Its own
 * processes look once a minute, and plans are made anew after that; in the
 * first minute of a store, creates were three times as slow.  So the writer
 * has the tables looked at whenever it has changed twice as much as at the
 * last look, which is soon at first and then hardly ever. */
#include <stdatomic.h>
#include <stdlib.h>

#include "store/engine.h"

enum { FIRST_LOOK = 1000 };

struct statistics {
	struct work work;
	_Atomic bool looking;
	int64_t look_at; /* the writer's own */
};

static int run_look(struct work *w, struct db *db)
{
	(void)w;
	return db->engine->script(db,
		"do $$ declare grown text; begin"
		" for grown in select format('%I.%I', schemaname, relname) from pg_stat_user_tables"
		" where schemaname = current_schema() and n_mod_since_analyze > 100 + n_live_tup / 4"
		" loop execute 'analyze ' || grown; end loop; end $$");
}

/* One that fails was in the log; the server looks by itself a little later. */
static void end_look(struct work *w, int err)
{
	struct statistics *s = (struct statistics *)w;

	(void)err;
	atomic_store(&s->looking, false);
}

struct statistics *statistics_new(void)
{
	struct statistics *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	s->look_at = FIRST_LOOK;
	return s;
}

void statistics_free(struct statistics *s)
{
	free(s);
}

struct work *statistics_due(struct statistics *s, struct db *writer)
{
	int64_t changes = s ? writer->engine->changes(writer) : 0;

	if (!s || changes < s->look_at || atomic_exchange(&s->looking, true))
		return NULL;
	s->look_at = 2 * changes;
	s->work = (struct work){ .mode = READ_ONLY, .run = run_look, .done = end_look };
	return &s->work;
}
