/* hook_rows.h - what an accepted event leaves. */
#pragma once
#include <stdint.h>

#define YEAR_US (INT64_C(365) * 86400 * 1000000)

#define INSERT_DELIVERY                                                                         \
	"insert into deliveries (tenant_id, integration_id, id, delivery_key, delivery_id, "    \
	"status, outcome, event, action, caller_ip, user_agent, calls, attempts, created_at, "  \
	"delivered_at, made_session_id, error, summary, body) values (?1, ?2, ?3, ?4, "         \
	"?4, 'accepted', 'accepted', 'push', null, '127.0.0.1', 'GitHub-Hookshot/044aadd', 1, " \
	"0, ?5, null, null, null, null, ?6)"
#define INSERT_JOB                                                                                   \
	"insert into jobs (tenant_id, id, kind, subject, lane, state, priority, run_at, attempts, "  \
	"max_attempts, created_at, updated_at, payload) values (?1, ?2, 'webhook.deliver', ?3, ?6, " \
	"'delayed', 0, ?4, 0, 10, ?5, ?5, ?7)"
