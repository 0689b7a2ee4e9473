/* update.c - changing something that stands: what the body makes of it, and once the operation has
 * checked that, the time of the change, the difference for the audit log, the reply and the write.
 * It knows things by their schemas only. */
#include "call/operation.h"

#include <string.h>

void call_merge(struct call *c, struct change ch)
{
	const struct schema *body = c->op->body;

	memcpy(ch.after, ch.before, ch.schema->size);
	if (body->partial)
		schema_patch(body, c->body, ch.schema, ch.after);
	else
		schema_copy(body, c->body, ch.schema, ch.after);
}

/* Later than the last change even if the clock is not: whoever compares the two sees that there was one. */
static void stamp_updated_at(struct call *c, struct change ch)
{
	const struct field *f = schema_field(ch.schema, "updated_at", strlen("updated_at"));
	const struct moment *was;

	if (!f || f->kind != MOMENT)
		return;
	was = (const struct moment *)((const char *)ch.before + f->at);
	((struct moment *)((char *)ch.after + f->at))->us = c->now > was->us ? c->now : was->us + 1;
}

int call_update(struct call *c, struct change ch, const struct statement *st)
{
	call_changed(c, ch.schema, ch.before, ch.after);
	stamp_updated_at(c, ch); /* that it has changed now goes without saying */
	if (c->reply && c->reply != ch.after)
		schema_copy(ch.schema, ch.after, c->op->reply, c->reply);
	return st ? db_put(c->db, st, ch.after) : 0;
}
