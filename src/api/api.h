/* api.h - the whole surface: every resource and every statement, in one place for whoever walks them. */
#pragma once
#include "base/buf.h"
#include "call/call.h"

extern const struct resource *const api_resources[];
extern const size_t api_resource_count;
/* NULL-terminated. */
extern const struct statement_set *const api_statements[];

/* The published document. */
void api_openapi(struct buf *out, const char *public_url);

/* Checks the tables, compiles patterns and builds the router; ERR_INTERNAL with a sentence. */
int api_setup(struct app *app, struct arena *a, struct problem *p);
void api_teardown(struct app *app);

/* One operation and its row, so that a resource's table reads like a list:
 *   { GET(agent_read), "/tenant/{tenant_id}/agents/{agent_id}", ... } */
#define OPERATION(name, ...)                                                                      \
	static int name##_apply(struct call *c);                                                  \
	static const struct operation name = { .id = #name, .apply = name##_apply, __VA_ARGS__ }; \
	static int name##_apply(struct call *c)

#define RESOURCE(name_, rows, schemas_)                                                         \
	const struct resource name_##_resource = { #name_, rows, sizeof(rows) / sizeof *(rows), \
		schemas_ }
