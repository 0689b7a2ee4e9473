/* session_usage.c - what a session came to: the tokens and the cost of every call to a model that was made for it.
 *
 * Messages carry what their own call took.  This is the sum of the ledger, which also holds what no message shows: calls
 * that failed, were broken off, or whose process died, and those of messages that were deleted since. */
#include "api/sessions/session_rows.h"
#include "store/row.h"

struct SessionUsage {
	int64_t calls, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens;
	struct money cost_usd;
};

FIELDS(SessionUsage) = {
	FIELD(SessionUsage, calls, .required = true, .example = "3",
		.doc = "Calls to models that the ledger has; one that is under way is not among them."),
	FIELD(SessionUsage, prompt_tokens, .required = true, .example = "412",
		.doc = "Input of all of them that came from no cache."),
	FIELD(SessionUsage, completion_tokens, .required = true, .example = "96",
		.doc = "Tokens that models wrote."),
	FIELD(SessionUsage, cache_read_tokens, .required = true, .example = "0",
		.doc = "Input read from providers' caches."),
	FIELD(SessionUsage, cache_write_tokens, .required = true, .example = "0",
		.doc = "Input written to providers' caches."),
	FIELD(SessionUsage, cost_usd, .required = true, .example = "0.0131",
		.doc = "What all of them cost."),
};
static SCHEMA(SessionUsage, .doc = "What the calls to models in a session came to.");

struct session_sums {
	int64_t calls, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens;
	int64_t cost_whole, cost_pd; /* dollars, and picodollars beside them */
};

FIELDS(session_sums) = { ROW_FIELDS(session_sums, calls, prompt_tokens, completion_tokens,
	cache_read_tokens, cache_write_tokens, cost_whole, cost_pd) };
static SCHEMA(session_sums, .internal = true);

#define SUM(column, name) "cast(coalesce(sum(" column "), 0) as bigint) as " name

enum { USAGE_SUM };

static const struct statement sql[] = {
	[USAGE_SUM] = { "session_usage",
		"select count(*) as calls, " SUM("input_tokens", "prompt_tokens") ", " SUM(
			"output_tokens", "completion_tokens") ", " SUM("cache_read_tokens",
			"cache_read_tokens") ", " SUM("cache_write_tokens",
			"cache_write_tokens") ", " SUM("cost_pd / 1000000000000",
			"cost_whole") ", " SUM("cost_pd % 1000000000000",
			"cost_pd") " from ledger where tenant_id = $1 and session_id = $2",
		.row = &session_sums_schema, .scan = "the calls of one session" },
};
STATEMENT_SET(session_usage_sql, sql);

OPERATION(readSessionUsage, NONE, SessionUsage, .long_read = true)
{
	struct session_sums sums;
	int err = db_one(c->db, c->arena, &sql[USAGE_SUM], &sums,
		ARGS(T(c->caller.tenant_id), T(c->caller.session_id)));

	if (err)
		return err;
	schema_copy(&session_sums_schema, &sums, &SessionUsage_schema, out);
	out->cost_usd = money_sum(sums.cost_whole, sums.cost_pd);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/usage", &readSessionUsage,
		PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "What all calls to models in this session took: tokens, and their cost." },
};
RESOURCE(session_usage, routes, NULL, &session_usage_sql);
