/* fault.c - faults on order, for the tests alone: an error at the nth statement, a death at the nth
 * commit.  In a release this file is empty. */
#include "store/engine.h"

#ifdef LODGE_FAULTS
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct fault_plan fault_plan;

int fault_statement(struct db *db)
{
	int64_t left = fault_plan.statement_at;

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
