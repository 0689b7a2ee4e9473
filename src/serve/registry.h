/* registry.h - the whole surface: every resource and every statement, in one place for whoever walks them. */
#pragma once
#include "call/operation.h"
#include "api/service.h"

extern const struct resource *const api_resources[];
extern const size_t api_resource_count;
/* Every set of statements, one after the other, from a walk of zeros; NULL if there are no more. */
struct set_walk {
	size_t room, at;
};
const struct statement_set *api_next_set(struct set_walk *w);

/* Checks the tables, compiles patterns and builds the router; ERR_INTERNAL with a sentence. */
int api_setup(struct service *service, struct arena *a, struct problem *p);
void api_teardown(struct service *service);
