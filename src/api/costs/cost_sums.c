/* cost_sums.c - see cost_sums.h.  The table is open-addressed and at most half full. */
#include "api/costs/cost_sums.h"

#include <stdlib.h>
#include <string.h>

#include "broker/ledger.h"

enum { FIRST_CELLS = 1024 };

FIELDS(cost_sum) = {
	FIELD(cost_sum, id),
	FIELD(cost_sum, model_id),
	FIELD(cost_sum, part),
	FIELD(cost_sum, requests),
	FIELD(cost_sum, input_tokens),
	FIELD(cost_sum, cache_read_tokens),
	FIELD(cost_sum, cache_write_tokens),
	FIELD(cost_sum, output_tokens),
	FIELD(cost_sum, cost_whole),
	FIELD(cost_sum, cost_pd),
};
SCHEMA(cost_sum, .internal = true);

struct sums {
	struct arena *arena;
	struct cost_sum *rows;
	uint32_t *cells; /* which row, from 1; 0: empty */
	size_t count, cell_count, most;
};

/* Eight bytes at a time: ids are long, and all this is done for every row. */
static uint64_t mix_text(uint64_t h, const char *text)
{
	size_t len = strlen(text);
	uint64_t word = 0;

	for (; len >= sizeof word; text += sizeof word, len -= sizeof word) {
		memcpy(&word, text, sizeof word);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	word = len;
	memcpy(&word, text, len);
	return (h ^ word) * 0x9e3779b97f4a7c15u;
}

static uint64_t cost_sum_hash(const struct cost_sum *row)
{
	uint64_t h = mix_text(mix_text((uint64_t)row->part + 1, row->id), row->model_id);

	return h ^ h >> 32;
}

static bool cost_sum_same(const struct cost_sum *a, const struct cost_sum *b)
{
	return a->part == b->part && strcmp(a->id, b->id) == 0 &&
	       strcmp(a->model_id, b->model_id) == 0;
}

/* The cell of the row's sum, or the empty one where it belongs. */
static uint32_t *cost_sum_cell(const struct sums *s, const struct cost_sum *row)
{
	size_t at = cost_sum_hash(row) & (s->cell_count - 1);

	while (s->cells[at] && !cost_sum_same(&s->rows[s->cells[at] - 1], row))
		at = (at + 1) & (s->cell_count - 1);
	return &s->cells[at];
}

static void cost_sums_grow(struct sums *s)
{
	struct cost_sum *rows = arena_array(s->arena, struct cost_sum, s->cell_count);

	if (s->count)
		memcpy(rows, s->rows, s->count * sizeof *rows);
	s->rows = rows;
	s->cell_count *= 2;
	s->cells = arena_array(s->arena, uint32_t, s->cell_count);
	for (size_t i = 0; i < s->count; i++)
		*cost_sum_cell(s, &s->rows[i]) = (uint32_t)i + 1;
}

static struct cost_sum *sum_of(struct sums *s, const struct cost_sum *row)
{
	uint32_t *cell = cost_sum_cell(s, row);
	struct cost_sum *sum;

	if (*cell)
		return &s->rows[*cell - 1];
	if (s->count == s->cell_count / 2) {
		cost_sums_grow(s);
		cell = cost_sum_cell(s, row);
	}
	sum = &s->rows[s->count++];
	*sum = (struct cost_sum){ .id = arena_strdup(s->arena, row->id),
		.model_id = arena_strdup(s->arena, row->model_id),
		.part = row->part };
	*cell = (uint32_t)s->count;
	return sum;
}

static int cost_sum_add(void *ctx, const void *data)
{
	const struct cost_sum *row = data;
	struct sums *s = ctx;
	struct cost_sum *sum = sum_of(s, row);
	int64_t pd = sum->cost_pd + row->cost_pd % PICODOLLARS;

	sum->requests += row->requests;
	sum->input_tokens += row->input_tokens;
	sum->cache_read_tokens += row->cache_read_tokens;
	sum->cache_write_tokens += row->cache_write_tokens;
	sum->output_tokens += row->output_tokens;
	sum->cost_whole += row->cost_whole + row->cost_pd / PICODOLLARS + pd / PICODOLLARS;
	sum->cost_pd = pd % PICODOLLARS;
	return s->count > s->most ? ERR_TOO_LARGE : 0;
}

static int in_order(const void *a, const void *b)
{
	const struct cost_sum *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	if (!order)
		order = strcmp(x->model_id, y->model_id);
	return order ? order : (x->part > y->part) - (x->part < y->part);
}

int cost_sums_read(struct db *db, struct arena *a, const struct statement *st, struct list *ret,
	size_t most, const struct value *args, size_t count)
{
	struct sums s = { .arena = a, .cell_count = FIRST_CELLS / 2, .most = most };
	struct cost_sum row;
	int err;

	cost_sums_grow(&s);
	err = db_each(db, st, &row, cost_sum_add, &s, args, count);
	qsort(s.rows, s.count, sizeof *s.rows, in_order);
	*ret = (struct list){ s.rows, s.count };
	return err == ERR_TOO_LARGE ? 0 : err;
}
