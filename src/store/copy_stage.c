/* copy_stage.c - how far a copy is, for whoever shows it, and the sentence about what went wrong on either side. */
#include "store/copy_parts.h"

enum { TOLD_ROWS = 256 };

int copy_fails(struct copying *c, struct db *db, int err)
{
	return problem_set(
		c->p, c->a, err, "%s: %s", db == c->from ? c->from_said : c->to_said, db_error(db));
}

void copy_stage_begin(struct copying *c, enum copy_doing doing)
{
	c->stage = (struct copy_stage){ .doing = doing, .table = "" };
	for (size_t i = 0; i < c->tables.count; i++)
		c->stage.total += doing == COPY_COUNTS	  ? 1
				  : doing == COPY_RESUMES ? c->tallies[i].copied
				  : doing == COPY_WRITES
					  ? c->tallies[i].total - c->tallies[i].copied
					  : c->tallies[i].total;
}

void copy_tell(struct copying *c, const struct copy_table *t, int64_t rows)
{
	int64_t before = c->stage.rows / TOLD_ROWS;
	bool other = c->stage.table != t->name;

	c->stage.table = t->name;
	c->stage.rows += rows;
	if (c->order->told &&
		(other || c->stage.rows / TOLD_ROWS != before || c->stage.rows == c->stage.total))
		c->order->told(c->order->ctx, &c->stage);
}
