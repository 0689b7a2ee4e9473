/* basics.c - what operations and the steps of a call need most: the path's parameters, and faults. */
#include <stdarg.h>
#include <string.h>

#include "call/call.h"

const char *call_param(const struct call *c, const char *name)
{
	return route_param(&c->match, name);
}

int call_fail(struct call *c, int err, const char *fmt, ...)
{
	va_list ap;

	if (c->problem.err)
		return c->problem.err;
	c->problem.err = err;
	va_start(ap, fmt);
	c->problem.detail = arena_vprintf(c->arena, fmt, ap);
	va_end(ap);
	return err;
}

int call_field(struct call *c, const char *field, const char *code, const char *fmt, ...)
{
	va_list ap;
	const char *message;

	va_start(ap, fmt);
	message = arena_vprintf(c->arena, fmt, ap);
	va_end(ap);
	return problem_field(&c->problem, c->arena, field, code, "%s", message);
}
