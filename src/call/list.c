/* list.c - a page of a list from the statements that listing.h lays down. */
#include <string.h>

#include "call/call.h"
#include "store/listing.h"

enum { LIST_ARGS_MAX = 24 };

/* Which statement sorts as asked; LIST_PAGE for the default order, -1 if there is none such. */
static int sort_statement(struct call *c)
{
	const char *sort = c->page.sort;
	bool down = sort && *sort == '-';

	if (!sort)
		return LIST_PAGE;
	for (int i = 0; c->op->sorts && c->op->sorts->list[i]; i++)
		if (strcmp(c->op->sorts->list[i], sort + down) == 0)
			return LIST_SORTS + 2 * i + down;
	call_field(c, "sort", "choice", "is not a field this list sorts by");
	return -1;
}

static const char *key_of(const struct call *c, const struct schema *rows, size_t row)
{
	const char *key = c->op->key ? c->op->key : "id";
	const struct field *f = schema_field(rows, key, strlen(key));

	return *(const char *const *)((const char *)c->items.at + row * rows->size + f->at);
}

int call_short_list(struct call *c, const struct statement *st, size_t most,
	const struct value *args, size_t count)
{
	size_t first = (size_t)((c->page.page - 1) * c->page.per_page), all;
	int err = db_all(c->db, c->arena, st, &c->items, most, args, count);

	if (err)
		return err;
	if (c->page.sort)
		return call_field(c, "sort", "choice", "is not a field this list sorts by");
	all = c->items.count;
	for (size_t i = 0; c->page.after && i < all; i++) {
		first = i + 1;
		if (strcmp(key_of(c, st->row, i), c->page.after) == 0)
			break;
	}
	c->total = c->page.total ? (int64_t)all : NIL;
	first = first < all ? first : all;
	c->items.at = (char *)c->items.at + first * st->row->size;
	c->items.count = all - first;
	if (c->items.count > (size_t)c->page.per_page) {
		c->items.count = (size_t)c->page.per_page;
		c->next_after = key_of(c, st->row, c->items.count - 1);
	}
	return 0;
}

int call_list(
	struct call *c, const struct statement *statements, const struct value *args, size_t count)
{
	struct value all[LIST_ARGS_MAX + 2];
	size_t want =
		(size_t)c->page.per_page + 1; /* one more tells whether there is a next page */
	int which = sort_statement(c), err = 0;

	if (which < 0)
		return ERR_INVALID;
	if (c->page.after && c->page.sort)
		return call_field(c, "after", "combination", "goes with the default order only");
	if (count > LIST_ARGS_MAX)
		return call_fail(c, ERR_INTERNAL, "A list has too many arguments.");
	if (count)
		memcpy(all, args, count * sizeof *args);
	if (c->page.after) {
		which = LIST_AFTER;
		all[count] = T(c->page.after);
		all[count + 1] = N((int64_t)want);
	} else {
		all[count] = N((int64_t)want);
		all[count + 1] = N((c->page.page - 1) * c->page.per_page);
	}
	if (c->page.total)
		err = db_int(c->db, &statements[LIST_COUNT], &c->total, args, count);
	if (!err)
		err = db_all(c->db, c->arena, &statements[which], &c->items, want, all, count + 2);
	if (err)
		return err;
	if (c->items.count == want) {
		c->items.count--;
		if (!c->page.sort)
			c->next_after = key_of(c, statements[which].row, c->items.count - 1);
	}
	return 0;
}
