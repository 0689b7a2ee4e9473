/* operation.h - what a resource is written with: an operation and its row, the table of rows, and the
 * document that the tables make. */
#pragma once
#include "base/buf.h"
#include "call/call.h"

/* One operation: what it is given, what it gives, and whatever else its row says.
 *
 *   OPERATION(createAgent, AgentCreate, AgentRead)            a body in, one object out
 *   QUERY_OPERATION(readCosts, costs_query, CostsRead)        parameters in, one object out
 *   LIST_OPERATION(listAgents, agent_query, AgentListRead)    parameters in, a page of rows out
 *   REPLACE_OPERATION(setModels, ChainUpdate, ModelRead)      a body in, the list it leaves out
 *
 * followed by the function's braces, in which `c` is the call, `in` what came in and `out` the empty
 * object to fill.  NONE stands for nothing at all.  The parameters' types and the row's schemas are
 * made of the same word, so an operation cannot be given one thing and published with another; only
 * what stands here may look at the call's own pointers. */
#define OPERATION(name, In, Out, ...) OBJECT_OPERATION(name, body, In, Out, __VA_ARGS__)
#define QUERY_OPERATION(name, In, Out, ...) OBJECT_OPERATION(name, query, In, Out, __VA_ARGS__)
#define LIST_OPERATION(name, In, Row, ...)                                                \
	OPERATION_ROW(name, query, In, .list = true, .reply = &Row##_schema, __VA_ARGS__) \
	STEP_OF(name, apply, int, query)

#define REPLACE_OPERATION(name, In, Row, ...)                                            \
	OPERATION_ROW(name, body, In, .list = true, .reply = &Row##_schema, __VA_ARGS__) \
	STEP_OF(name, apply, int, body)

/* A step of an operation besides (see struct operation): createTool_prepare, say, for .prepare of
 * createTool's row.  It is given the same `in`, and is not compiled with another. */
#define BODY_STEP(name, step, In)          \
	typedef const struct In name##_in; \
	STEP_OF(name, step, int, body)
#define QUERY_STEP(name, step, In)         \
	typedef const struct In name##_in; \
	STEP_OF(name, step, int, query)
#define CHECK_STEP(name, In)               \
	typedef const struct In name##_in; \
	STEP_OF(name, check, void, body)

/* What the macros above are made of. */
#define OPERATION_ROW(name, from, In, ...)                                            \
	typedef const struct In name##_in;                                            \
	static int name##_apply(struct call *c);                                      \
	static const struct operation name = {                                        \
		.id = #name, .apply = name##_apply, .from = &In##_schema, __VA_ARGS__ \
	};
#define OBJECT_OPERATION(name, from, In, Out, ...)                               \
	OPERATION_ROW(name, from, In, .reply = &Out##_schema, __VA_ARGS__)       \
	static int name##_typed(struct call *c, name##_in *in, struct Out *out); \
	static int name##_apply(struct call *c)                                  \
	{                                                                        \
		return name##_typed(c, c->from, c->reply);                       \
	}                                                                        \
	static int name##_typed(UNUSED struct call *c, UNUSED name##_in *in, UNUSED struct Out *out)
#define STEP_OF(name, step, Returned, from)                                   \
	static Returned name##_##step##_typed(struct call *c, name##_in *in); \
	static Returned name##_##step(struct call *c)                         \
	{                                                                     \
		return name##_##step##_typed(c, c->from);                     \
	}                                                                     \
	static Returned name##_##step##_typed(UNUSED struct call *c, UNUSED name##_in *in)

#define UNUSED __attribute__((unused))

struct NONE;
#define NONE_schema (*(const struct schema *)NULL)

/* A change of something that stands, as a row that is read, merged, checked and written:
 *
 *	struct agent_row before, after;
 *	int err = agent_row_read(c, &before);
 *
 *	if (err)
 *		return err;
 *	call_merge(c, CHANGE(agent_row, &before, &after));
 *	... what no table says about `after` is checked here ...
 *	return call_update(c, CHANGE(agent_row, &before, &after), &sql[ROW_UPDATE]); */
struct change {
	const struct schema *schema;
	const void *before;
	void *after;
};
#define CHANGE(S, before_, after_)                                             \
	((struct change){ &S##_schema, 1 ? (before_) : (const struct S *)NULL, \
		1 ? (after_) : (struct S *)NULL })
/* Makes `after` of `before` and what the body carries of the same names. */
void call_merge(struct call *c, struct change ch);
/* Notes the difference for the audit log, sets updated_at where there is one, fills the reply with
 * what it has of the same names, and writes the row; NULL: the operation writes it. */
int call_update(struct call *c, struct change ch, const struct statement *st);

/* A table of rows, the types whose operations are still to come, and its sets of statements. */
#define RESOURCE(name_, rows, to_come_, ...)                                                    \
	const struct resource name_##_resource = { #name_, rows, sizeof(rows) / sizeof *(rows), \
		to_come_,                                                                       \
		(const struct statement_set *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL } }

/* The published document of these resources. */
void operations_document(struct buf *out, const struct resource *const *resources, size_t count,
	const char *public_url);
