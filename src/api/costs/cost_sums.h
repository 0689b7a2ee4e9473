/* cost_sums.h - rows of costs added up by what they are about, while they are read.
 *
 * An engine that must sort rows to group them takes longer for that than for
 * reading them; here a row finds its sum in a table.  The rows may come in any
 * order, and be sums already. */
#pragma once
#include "store/store.h"

/* What one thing (an agent or a model) cost: through one model, or at one time. */
struct cost_sum {
	const char *id, *model_id;
	int64_t part; /* a bucket of time, or 1 for calls on the tenant's own key */
	int64_t requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
		cost_whole, cost_pd; /* dollars, and picodollars below one */
};
SCHEMA_DECLARED(cost_sum);

/* Fills a list of struct cost_sum, in order of id, model and part, from a statement whose rows are such.
 * Of more than `most` it reads no further; the list then has one more. */
int cost_sums_read(struct db *db, struct arena *a, const struct statement *st, struct list *ret,
	size_t most, const struct value *args, size_t count);
