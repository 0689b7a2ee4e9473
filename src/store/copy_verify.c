/* copy_verify.c - every row of the target against the source's, in the order of their keys, value by value.
 *
 * Not counts and not sums: what differs is named by its table and its key.  The source is read in the same view of
 * it as the rows that were copied. */
#include "base/buf.h"
#include "store/copy_parts.h"

enum { NAMED_MAX = 5, WORDS_MAX = 8192 };

struct differences {
	struct buf words;
	int64_t count;
};

static void name_difference(struct differences *d, const struct copy_pair *pair, int finding,
	int column, struct arena *a)
{
	const struct copy_table *t = pair->from->table;
	const struct value *row = finding == COPY_BEYOND ? pair->to->row : pair->from->row;
	const char *what = finding == COPY_BEYOND    ? "is only in the target"
			   : finding == COPY_LACKING ? "is only in the source"
						     : "differs in ";

	if (d->count++ >= NAMED_MAX)
		return;
	buf_printf(&d->words, "%sthe row of %s where %s %s%s", d->count > 1 ? "; " : "", t->name,
		copy_key_said(t, row, a), what, finding == COPY_DIFFERS ? t->columns[column] : "");
}

static int verify_table(struct copying *c, size_t at, struct differences *d, struct arena *scratch)
{
	const struct copy_table *t = &c->tables.at[at];
	struct copy_reader from = { 0 }, to = { 0 };
	struct copy_pair pair = { .from = &from, .to = &to, .from_done = true, .to_done = true };
	int err = copy_read_begin(&from, c->from, t, scratch), column = 0, found = COPY_SAME;

	if (err)
		return copy_fails(c, c->from, err);
	err = copy_read_begin(&to, c->to, t, scratch);
	if (err)
		copy_fails(c, c->to, err);
	while (!err && found >= 0) {
		found = copy_pair_next(&pair, &column);
		if (found == COPY_TO_ENDS && !pair.from_got)
			break;
		if (found == COPY_TO_ENDS) {
			pair.from_done = true; /* the source has more */
			found = COPY_LACKING;
		}
		if (found > COPY_SAME)
			name_difference(d, &pair, found, column, c->a);
		copy_tell(c, t, found != COPY_BEYOND);
	}
	if (!err && found < 0)
		err = copy_fails(c, pair.from_got < 0 ? c->from : c->to, found);
	copy_read_end(&to);
	copy_read_end(&from);
	return err;
}

int copy_verify(struct copying *c)
{
	struct differences d = { 0 };
	struct arena scratch = { 0 };
	int err = db_begin(c->to, READ_ONLY);

	if (err)
		return copy_fails(c, c->to, err);
	buf_init(&d.words, WORDS_MAX);
	copy_stage_begin(c, COPY_PROVES);
	for (size_t i = 0; i < c->tables.count && !err; i++) {
		err = verify_table(c, i, &d, &scratch);
		arena_reset(&scratch);
	}
	db_rollback(c->to);
	if (!err && d.count)
		err = problem_set(c->p, c->a, ERR_CONFLICT,
			"the copy in %s is not what the source has: %s%s. It is not served; lodge copy --anew begins "
			"it again",
			c->to_said, buf_text(&d.words),
			d.count > NAMED_MAX ? arena_printf(c->a, "; and %lld more",
						      (long long)d.count - NAMED_MAX)
					    : "");
	buf_free(&d.words);
	arena_free(&scratch);
	return err;
}
