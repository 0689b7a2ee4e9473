/* memories.c - what an agent keeps between sessions; people may read, add and remove. */
#include "api/api.h"
#include "api/sessions.h"
#include "base/fold.h"
#include "store/listing.h"

#define FROM "memories m where m.tenant_id = $1 and m.agent_id = $2"

enum { MEMORY_LIST, MEMORY_INSERT = LIST_SORTS, MEMORY_REMOVE };

static const struct statement sql[] = {
	LIST_STATEMENTS("memory_list", &MemoryRead_schema, "{m.*}", FROM, "m.id", "3", "4"),
	[MEMORY_INSERT] = { "memory_insert",
		"insert into memories (tenant_id, agent_id, id, source_session_id, created_by_id, "
		"created_at, content, content_folded) values ($1, $2, $3, null, $4, $5, $6, $7)" },
	[MEMORY_REMOVE] = { "memory_remove",
		"delete from memories where tenant_id = $1 and agent_id = $2 and id = $3" },
};
STATEMENT_SET(memory_api_sql, sql);

OPERATION(listMemories, .list = true, .reply = &MemoryRead_schema)
{
	return call_list(c, &sql[MEMORY_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

OPERATION(createMemory, .body = &MemoryCreate_schema, .reply = &MemoryRead_schema)
{
	const struct MemoryCreate *in = c->body;
	const struct caller *who = &c->caller;
	struct MemoryRead *out = c->reply;
	struct id id = id_new(&out->created_at.us);

	out->id = c->audit.resource_id = arena_strdup(c->arena, id.text);
	out->agent_id = who->agent_id;
	out->content = in->content;
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s/memories/%s", who->tenant_id,
		who->agent_id, out->id);
	return db_run(c->db, &sql[MEMORY_INSERT], NULL,
		ARGS(T(who->tenant_id), T(who->agent_id), T(out->id), T(who->user_id),
			N(out->created_at.us), T(in->content),
			T(fold_words(c->arena, in->content))));
}

OPERATION(deleteMemory)
{
	const char *id = call_param(c, "memory_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[MEMORY_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id)));

	c->audit.resource_id = id;
	return !err && !removed ? call_fail(c, ERR_NOT_FOUND, "There is no such memory.") : err;
}

#define M "/tenant/{tenant_id}/agents/{agent_id}/memories"

static const struct route routes[] = {
	{ METHOD_GET, M, &listMemories, PERM_AGENT_READ, 200, .tag = "Memories",
		.doc = "List what the agent keeps between sessions, newest first." },
	{ METHOD_POST, M, &createMemory, PERM_AGENT_WRITE, 201, "memory.create", .tag = "Memories",
		.doc = "Give the agent something to keep." },
	{ METHOD_DELETE, M "/{memory_id}", &deleteMemory, PERM_AGENT_WRITE, 204, "memory.delete",
		.tag = "Memories", .doc = "Have the agent forget something." },
};
RESOURCE(memories, routes, NULL);
