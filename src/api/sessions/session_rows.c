/* session_rows.c - see session_rows.h. */
#include "api/sessions/session_rows.h"

#include "api/service.h"
#include "broker/broker.h"
#include "broker/candidates.h"
#include "broker/room.h"
#include "bucket/bucket_carry.h"
#include "sessions/session.h"

enum { SESSION_READ, MESSAGE_READ };

static const struct statement sql[] = {
	[SESSION_READ] = { "session_row",
		"select " SESSION_COLUMNS " from sessions s where s.tenant_id = $1 and s.id = $2",
		.row = &TaskSessionRead_schema },
	[MESSAGE_READ] = { "message_row",
		"select " MESSAGE_COLUMNS " from messages m where m.tenant_id = $1 "
		"and m.session_id = $2 and m.id = $3",
		.row = &TaskMessageRead_schema },
};
STATEMENT_SET(session_row_sql, sql);

int session_row_read(struct call *c, const char *session_id, struct TaskSessionRead *ret)
{
	int err = db_one(c->db, c->arena, &sql[SESSION_READ], ret,
		ARGS(T(c->caller.tenant_id), T(session_id)));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such session.") : err;
}

int message_row_read(
	struct call *c, const char *session_id, const char *message_id, struct TaskMessageRead *ret)
{
	int err = db_one(c->db, c->arena, &sql[MESSAGE_READ], ret,
		ARGS(T(c->caller.tenant_id), T(session_id), T(message_id)));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such message.") : err;
}

int session_room(struct call *c, const char *agent_id, const char *model_id, int64_t messages)
{
	const struct room_asked asked = { .tenant_id = c->caller.tenant_id,
		.agent_id = agent_id,
		.model_id = model_id,
		.messages = messages,
		.uncounted = service_of(c->app)->broker &&
			     !broker_settings(service_of(c->app)->broker)->accounting,
		.now = c->now };
	const struct gate_who who = {
		.tenant_id = c->caller.tenant_id, .agent_id = agent_id, .user_id = c->caller.user_id
	};
	int err = candidates_look(c->db, c->arena, &who, model_id, &c->problem);

	return err ? err : room_take(c->db, c->arena, &asked, &c->problem);
}

static void put_need(struct chat *chat, struct chat_message *to, const struct session_part *part)
{
	bool url = part->told.url != NULL;
	struct chat_part *p = chat_part_add(chat, to,
		part->told.type == MessagePartType_image   ? PART_IMAGE_URL
		: part->told.type == MessagePartType_audio ? PART_AUDIO
		: url					   ? PART_FILE_URL
							   : PART_FILE_DATA);

	p->place = part->field;
	p->tokens = session_part_tokens(&part->told);
	if (part->told.type == MessagePartType_file && !chat->unbounded)
		chat->unbounded = part->field;
}

int session_parts_taken(
	struct call *c, const char *agent_id, const struct session_parts *parts, size_t count)
{
	const struct gate_who who = {
		.tenant_id = c->caller.tenant_id, .agent_id = agent_id, .user_id = c->caller.user_id
	};
	struct chat_message *to;
	struct chat chat;
	bool any = false;

	chat_open(&chat, c->arena);
	to = chat_message_add(&chat, CHAT_USER, NULL);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < parts[i].count; j++) {
			put_need(&chat, to, &parts[i].at[j]);
			any = true;
		}
	return any ? candidates_take(c->db, c->arena, &who, NULL, &chat, &c->problem) : 0;
}

struct carry_held {
	struct app *app;
	struct bucket_carry *carry;
};

static void end_carry(void *data)
{
	const struct carry_held *h = data;

	bucket_carry_free(h->carry, h->app->disk);
}

static int bring_files(struct call *c)
{
	const struct carry_held *h = c->brings;

	return bucket_carry_run(h->carry, c->arena, &c->problem);
}

struct bucket_carry *session_carry(struct call *c)
{
	struct carry_held *h = c->brings;

	if (!h) {
		h = c->brings = arena_new(c->arena, struct carry_held);
		h->app = c->app;
		h->carry = bucket_carry_new(service_of(c->app)->bucket, c->caller.tenant_id);
		arena_defer(c->arena, end_carry, h);
		c->bring = bring_files;
	}
	return h->carry;
}

struct session_actor session_actor_of(const struct call *c)
{
	return (struct session_actor){ .user_id = c->caller.user_id, .key_id = c->caller.key_id };
}

int session_hear(struct call *c, const char *session_id, const char *content,
	const struct session_parts *parts, const char **ret_message_id, const char **ret_run_id)
{
	const struct session_actor as = session_actor_of(c);
	const struct session_words words = { .tenant_id = c->caller.tenant_id,
		.by = as,
		.session_id = session_id,
		.author_id = c->caller.user_id,
		.role = "user",
		.content = content,
		.parts = parts,
		.now = c->now };
	int err = session_say(c->db, c->arena, &words, ret_message_id, &c->problem);

	return err ? err
		   : session_start(c->db, c->arena, c->caller.tenant_id, session_id, &as, NULL,
			     true, c->now, ret_run_id, &c->problem);
}
