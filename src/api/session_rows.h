/* session_rows.h - sessions and messages as their readers see them, in one place for all operations. */
#pragma once
#include "api/api.h"
#include "api/sessions.h"

/* What a statement selects for a TaskSessionRead from `sessions s`, and for a TaskMessageRead from
 * `messages m`. */
#define SESSION_COLUMNS "{s.*}"
#define MESSAGE_COLUMNS "{m.*}, m.cost_pd as cost_usd"

/* Of the tenant of the call.  ERR_NOT_FOUND with a sentence. */
int session_row_read(struct call *c, const char *session_id, struct TaskSessionRead *ret);
int message_row_read(struct call *c, const char *session_id, const char *message_id,
	struct TaskMessageRead *ret);

/* Deletes the session of the call, and what runs in it. */
int session_remove(struct call *c);

/* A message of the caller's into the session, which sets the agent to work or is heard by the run under
 * way; what is handed back may be NULL. */
int session_hear(struct call *c, const char *session_id, const char *content,
	const char **ret_message_id, const char **ret_run_id);

/* True, in a statement with `agents a` in it, if this user holds one of these roles on the agent, by name
 * or through a group. */
#define HOLDS_ROLE(user, roles)                                                              \
	"(exists (select 1 from agent_roles r where r.tenant_id = a.tenant_id "              \
	"and r.agent_id = a.id and r.user_id = " user " and r.role in (" roles ")) "         \
	"or exists (select 1 from agent_group_roles g join group_members x "                 \
	"on x.tenant_id = a.tenant_id and x.group_id = g.group_id and x.user_id = " user " " \
	"where g.tenant_id = a.tenant_id and g.agent_id = a.id and g.role in (" roles ")))"
