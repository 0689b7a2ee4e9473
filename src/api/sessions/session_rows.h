/* session_rows.h - sessions and messages as their readers see them, in one place for all operations. */
#pragma once
#include "call/operation.h"
#include "api/sessions/sessions.h"
#include "sessions/session.h"

/* What a statement selects for a TaskSessionRead from `sessions s`, and for a TaskMessageRead from
 * `messages m`, or for auditors from `deleted_messages m`. */
#define SESSION_COLUMNS "{s.*}"
#define MESSAGE_AUTHOR "(select u.name from users u where u.id = m.author_id) as author_name"
#define MESSAGE_COLUMNS                                                   \
	"{m.*}, " MESSAGE_AUTHOR ", cast(null as bigint) as deleted_at, " \
	"cast(null as text) as deleted_by_id"
#define MESSAGE_DELETED_COLUMNS "{m.*}, " MESSAGE_AUTHOR ", m.deleted_at, m.deleted_by_id"

/* Of the tenant of the call.  ERR_NOT_FOUND with a sentence. */
int session_row_read(struct call *c, const char *session_id, struct TaskSessionRead *ret);
int message_row_read(struct call *c, const char *session_id, const char *message_id,
	struct TaskMessageRead *ret);

/* A page of the sessions of the call's tenant that the caller takes part in and may read, newest first, after this id:
 * TaskSessionRead.  agent_id, after: or NULL. */
int session_rows_mine(struct call *c, const char *agent_id, const char *after, size_t most,
	struct list *ret, bool *ret_more);
/* The newest messages of a session before this one (NULL: of all), newest first: TaskMessageRead. */
int message_rows_before(struct call *c, const char *session_id, const char *before, size_t most,
	struct list *ret, bool *ret_more);

/* Deletes the session of the call, and what runs in it. */
int session_remove(struct call *c);

/* By the caller's rights: which subtasks end with a session that the caller ends (see sessions/session.h). */
struct session_ender session_ender_of(struct call *c);

/* Has the agent a model that the caller may have called, and room for so many messages more, asked for directly?
 * Takes it, or says what is lacking, before anything is made.  model_id in place of its chain; NULL. */
int session_room(struct call *c, const char *agent_id, const char *model_id, int64_t messages);

/* A message of the caller's into the session, which sets the agent to work or is heard by the run under
 * way; `parts` and what is handed back may be NULL.  That the agent has room, session_room() has said. */
int session_hear(struct call *c, const char *session_id, const char *content,
	const struct session_parts *parts, const char **ret_message_id, const char **ret_run_id);

/* Refused, under the name of the first, if no model of the agent takes what these messages would hold. */
int session_parts_taken(
	struct call *c, const char *agent_id, const struct session_parts *parts, size_t count);

/* By which a change brings large files to the bucket: see bucket_carry.h.  Goes with the call. */
struct bucket_carry *session_carry(struct call *c);

/* As whom the caller speaks and begins runs. */
struct session_actor session_actor_of(const struct call *c);

/* True, in a statement with `agents a` in it, if this user holds one of these roles on the agent, by name
 * or through a group. */
#define HOLDS_ROLE(user, roles)                                                              \
	"(exists (select 1 from agent_roles r where r.tenant_id = a.tenant_id "              \
	"and r.agent_id = a.id and r.user_id = " user " and r.role in (" roles ")) "         \
	"or exists (select 1 from agent_group_roles g join group_members x "                 \
	"on x.tenant_id = a.tenant_id and x.group_id = g.group_id and x.user_id = " user " " \
	"where g.tenant_id = a.tenant_id and g.agent_id = a.id and g.role in (" roles ")))"

/* The same for a role on the agent that has session:approve. */
#define DECIDES(user) "(a.is_admin_only = 0 and " HOLDS_ROLE(user, "'MANAGER', 'OWNER'") ")"

/* True, in a statement with `agents a` in it, if this user reads what the agent does; `all` is 1 for those who hold
 * OWNER on every agent. */
#define READS_AGENT(user, all)                                                                 \
	"(" all " = 1 or (a.is_admin_only = 0 and (a.default_role_enabled = 1 or " HOLDS_ROLE( \
		user, "'VIEWER', 'MANAGER', 'OWNER'") ")))"

/* What a statement selects for a SubtaskSummary from `sessions s` and `agents a`: what is done on an agent that is
 * closed to the reader has no name there. */
#define SUBTASK_COLUMNS(user, all)                                                                   \
	"s.id, s.parent_session_id, s.agent_id, case when " READS_AGENT(                             \
		user, all) " then a.name else '' end as agent_name, case when " READS_AGENT(user,    \
		all) " then coalesce(s.title, '') else '' end as title, s.status, s.message_count, " \
		     "s.created_at, s.started_at"

/* The caller's word on a call that waits, by whichever path it came: needs session:approve, and leaves its row in
 * the audit log.  *ret is the approval as it then stands. */
int approval_decide(struct call *c, const char *tenant_id, const char *session_id,
	const char *approval_id, bool approved, struct ApprovalRead *ret);
/* The row of the audit log for a session that was begun on the way of another request. */
int session_noted(struct call *c, const char *session_id, const char *agent_id);
