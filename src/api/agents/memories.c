/* memories.c - what an agent keeps between sessions; people may read, add and remove. */
#include "api/agents/agent_row.h"
#include "call/operation.h"
#include "api/sessions/sessions.h"
#include "base/fold.h"
#include "store/listing.h"
#include "store/row.h"

/* $3 the caller, $4 whether they may change the agent: then also what runs without a person have kept */
#define FROM                                                                             \
	"memories m where m.tenant_id = $1 and m.agent_id = $2 and (m.scope = 'shared' " \
	"or m.user_id = $3 or (m.user_id is null and $4 = 1))"

struct memory_row {
	const char *tenant_id, *agent_id, *id, *created_by_id, *user_id, *content, *content_folded;
	int scope;
	int64_t created_at;
};

FIELDS(memory_row) = {
	ROW_FIELDS(memory_row, tenant_id, agent_id, id, content, content_folded, created_at),
	ROW_NULLABLE(memory_row, created_by_id, user_id),
	FIELD(memory_row, scope, .words = &MemoryScope_words),
};
static SCHEMA(memory_row, .internal = true);

enum { LIST_OF(MEMORY_LIST), MEMORY_INSERT, MEMORY_REMOVE, MEMORY_REMOVE_OWN };

static const struct statement sql[] = {
	LISTING(MEMORY_LIST, "memory_list", &MemoryRead_schema, "{m.*}", FROM, "m.id"),
	[MEMORY_INSERT] = { "memory_insert", "insert into memories ({*}) values ({$})",
		.row = &memory_row_schema },
	[MEMORY_REMOVE] = { "memory_remove",
		"delete from memories where tenant_id = $1 and agent_id = $2 and id = $3 "
		"and user_id is null" },
	[MEMORY_REMOVE_OWN] = { "memory_remove_own",
		"delete from memories where tenant_id = $1 and agent_id = $2 and id = $3 "
		"and user_id = $4" },
};
STATEMENT_SET(memory_api_sql, sql);

LIST_OPERATION(listMemories, NONE, MemoryRead)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[MEMORY_LIST],
		ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id),
			N((who->agent & PERM(AGENT_WRITE)) != 0)));
}

int agent_memory_keep(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *user_id, const char *content, int64_t created_us)
{
	struct id id = id_new(NULL);

	return db_put(db, &sql[MEMORY_INSERT],
		&(struct memory_row){ .tenant_id = tenant_id,
			.agent_id = agent_id,
			.id = id.text,
			.created_by_id = user_id,
			.content = content,
			.content_folded = fold_words(a, content),
			.scope = MemoryScope_shared,
			.created_at = created_us });
}

OPERATION(createMemory, MemoryCreate, MemoryRead)
{
	const struct caller *who = &c->caller;
	struct id id = id_new(&out->created_at.us);

	out->id = arena_strdup(c->arena, id.text);
	out->agent_id = who->agent_id;
	out->content = in->content;
	out->scope = in->scope;
	out->user_id = in->scope == MemoryScope_private ? who->user_id : NULL;
	c->audit.owner_id = out->user_id;
	return db_put(c->db, &sql[MEMORY_INSERT],
		&(struct memory_row){ .tenant_id = who->tenant_id,
			.agent_id = who->agent_id,
			.id = out->id,
			.created_by_id = who->user_id,
			.user_id = out->user_id,
			.content = in->content,
			.content_folded = fold_words(c->arena, in->content),
			.scope = in->scope,
			.created_at = out->created_at.us });
}

OPERATION(deleteMemory, NONE, NONE)
{
	const char *id = call_param(c, "memory_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[MEMORY_REMOVE_OWN], &removed,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id), T(c->caller.user_id)));

	c->audit.owner_id = removed ? c->caller.user_id : NULL;
	if (err || removed)
		return err;
	err = caller_also(&c->caller, c->arena, PERM_AGENT_WRITE, &c->problem);
	if (!err)
		err = db_run(c->db, &sql[MEMORY_REMOVE], &removed,
			ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id)));
	return !err && !removed ? call_fail(c, ERR_NOT_FOUND, "There is no such memory.") : err;
}

#define M "/tenant/{tenant_id}/agents/{agent_id}/memories"

static const struct route routes[] = {
	{ METHOD_GET, M, &listMemories, PERM_AGENT_READ, 200, .tag = "Memories",
		.doc = "List what the agent keeps between sessions, newest first: what is shared and "
		       "what is the caller's own." },
	{ METHOD_POST, M, &createMemory, PERM_AGENT_WRITE, 201, "memory.create", .tag = "Memories",
		.doc = "Give the agent something to keep." },
	{ METHOD_DELETE, M "/{memory_id}", &deleteMemory, PERM_AGENT_READ, 204, "memory.delete",
		.tag = "Memories",
		.doc = "Have the agent forget something: the caller's own, or with agent:write what "
		       "is shared." },
};
RESOURCE(memories, routes, NULL, &memory_api_sql);
