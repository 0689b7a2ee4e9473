/* hook_deliver.h - turns accepted events into sessions, once each. */
#pragma once
#include "call/call.h"
#include "queue/runner.h"

/* What is being delivered in this process. */
struct hook_post *hook_post_new(void);
void hook_post_free(struct hook_post *post);

/* The kind of job that delivers. */
struct job_kind hook_deliver_kind(
	struct hook_post *post, struct store *store, const struct patterns *patterns);

extern const struct statement_set hook_deliver_sql;
