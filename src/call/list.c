/* list.c - a page of a list from the statements that listing.h lays down. */
#include <stdint.h>
#include <string.h>

#include "call/call.h"
#include "store/listing.h"

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

static const char *list_row_key(const struct call *c, const struct schema *rows, size_t row)
{
	const char *key = c->op->key ? c->op->key : "id";
	const struct field *f = schema_field(rows, key, strlen(key));

	return *(const char *const *)((const char *)c->items.at + row * rows->size + f->at);
}

int call_short_list(struct call *c, const struct statement *st, size_t most,
	const struct value *args, size_t count)
{
	size_t first = (size_t)((c->page.page - 1) * c->page.per_page), all;
	int err = db_all(c->db, call_rows(c), st, &c->items, most, args, count);

	if (err)
		return err;
	if (c->page.sort)
		return call_field(c, "sort", "choice", "is not a field this list sorts by");
	all = c->items.count;
	for (size_t i = 0; c->page.after && i < all; i++) {
		first = i + 1;
		if (strcmp(list_row_key(c, st->row, i), c->page.after) == 0)
			break;
	}
	c->total = c->page.total ? (int64_t)all : NIL;
	first = first < all ? first : all;
	c->items.at = (char *)c->items.at + first * st->row->size;
	c->items.count = all - first;
	if (c->items.count > (size_t)c->page.per_page) {
		c->items.count = (size_t)c->page.per_page;
		c->next_after =
			arena_strdup(c->arena, list_row_key(c, st->row, c->items.count - 1));
	}
	return 0;
}

/* Only after an id can one go on where a page was cut; a page that is counted must be whole. */
static int cut_page(struct call *c)
{
	return call_field(c, "per_page", "too_large",
		"is more than fits an answer here: ask for at most %zu, or go on with after",
		c->items.count);
}

static void free_rows(void *rows)
{
	arena_free(rows);
}

struct arena *call_rows(struct call *c)
{
	if (!c->rows.max) {
		c->rows.max = SIZE_MAX;
		arena_defer(c->arena, free_rows, &c->rows);
	}
	arena_reset(&c->rows);
	return &c->rows;
}

int call_list(
	struct call *c, const struct statement *statements, const struct value *args, size_t count)
{
	/* One row more tells whether there is a next page. */
	struct db_page page = { .rows = (size_t)c->page.per_page + 1,
		.bytes = CALL_PAGE_BYTES,
		.after = c->page.after,
		.offset = (c->page.page - 1) * c->page.per_page };
	int which = sort_statement(c), err = 0;
	bool cut = false;

	if (which < 0)
		return ERR_INVALID;
	if (c->page.after && c->page.sort)
		return call_field(c, "after", "combination", "goes with the default order only");
	if (c->page.after)
		which = LIST_AFTER;
	if (c->page.total)
		err = db_int(c->db, &statements[LIST_COUNT], &c->total, args, count);
	if (!err)
		err = db_page(c->db, call_rows(c), &statements[which], &c->items, &page, &cut, args,
			count);
	if (err)
		return err;
	if (cut && c->items.count < page.rows && (c->page.sort || c->page.page > 1))
		return cut_page(c);
	if (c->items.count == page.rows)
		c->items.count--;
	else if (!cut)
		return 0;
	if (!c->page.sort)
		c->next_after = arena_strdup(
			c->arena, list_row_key(c, statements[which].row, c->items.count - 1));
	return 0;
}
