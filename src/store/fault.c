/* fault.c - faults on order, for the tests alone: an error at the nth statement, a death at the nth
 * commit (LODGE_FAULT=commit:N:before or :after), an abort where a statement is given a text
 * (LODGE_FAULT=abort:NAME:TEXT).  In a release this file is empty. */
#include "store/engine.h"

#ifdef LODGE_FAULTS
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fault_plan fault_plan;

__attribute__((constructor)) static void read_order(void)
{
	const char *order = getenv("LODGE_FAULT");

	if (order && strncmp(order, "commit:", 7) == 0) {
		fault_plan.commit_at = strtoll(order + 7, NULL, 10);
		fault_plan.before = strstr(order, ":before") != NULL;
	}
	if (order && strncmp(order, "abort:", 6) == 0) {
		char *name = strdup(order + 6), *text = name ? strchr(name, ':') : NULL;

		if (!text)
			abort();
		*text = '\0';
		fault_plan.abort_name = name;
		fault_plan.abort_text = text + 1;
	}
}

static void fault_abort(const struct statement *st, const struct value *args, size_t count)
{
	if (!st || !fault_plan.abort_name || strcmp(st->name, fault_plan.abort_name) != 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (args[i].kind == VALUE_TEXT && strstr(args[i].text, fault_plan.abort_text))
			abort();
}

int fault_statement(
	struct db *db, const struct statement *st, const struct value *args, size_t count)
{
	int64_t left = fault_plan.statement_at;

	if (fault_plan.at_statement)
		fault_plan.at_statement(db);
	fault_abort(st, args, count);
	while (left > 0) {
		if (atomic_compare_exchange_weak(&fault_plan.statement_at, &left, left - 1)) {
			if (left > 1)
				return 0;
			return db_fail(db, fault_plan.err, "a fault was ordered");
		}
	}
	return 0;
}

void fault_commit(bool before)
{
	if (fault_plan.commit_at > 0 && before == (fault_plan.before != 0) &&
		atomic_fetch_sub(&fault_plan.commit_at, 1) == 1)
		kill(getpid(), SIGKILL);
}
#endif
