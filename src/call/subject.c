/* subject.c - what a call is about, as the audit log and the Location of something new name it: read from
 * the reply by its schema, or from the path by its route.  Operations whose subject is another say so
 * themselves. */
#include "call/steps.h"

#include <string.h>

const char *call_made(const struct call *c)
{
	const char *key = c->op->key ? c->op->key : "id";
	const struct field *f;

	if (!c->op->reply || c->op->list || c->nothing)
		return NULL;
	f = schema_field(c->op->reply, key, strlen(key));
	return f && f->kind == TEXT ? *(const char *const *)((const char *)c->reply + f->at) : NULL;
}

const char *call_subject(const struct call *c)
{
	const char *made = call_made(c), *last = strrchr(c->route->path, '{');
	size_t len = last ? strcspn(++last, "}") : 0;

	if (made || !last || (len == strlen("tenant_id") && memcmp(last, "tenant_id", len) == 0))
		return made;
	return call_param(c, arena_strndup(c->arena, last, len));
}
