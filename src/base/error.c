/* error.c - the error table as data, and filling a problem; see error.h. */
#include "base/error.h"

#include <string.h>

#include "base/arena.h"

static const struct error_row rows[] = {
#define X(name, status, code, title) { status, code, title },
	ERRORS(X)
#undef X
};

const struct error_row *error_row(int err)
{
	if (err >= 0 || err < -ERROR_COUNT)
		err = ERR_INTERNAL;
	return &rows[-1 - err];
}

int problem_set(struct problem *p, struct arena *a, int err, const char *fmt, ...)
{
	va_list ap;

	if (p->err)
		return p->err;
	p->err = err;
	va_start(ap, fmt);
	p->detail = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return err;
}

bool problem_names(const struct problem *p, const char *field)
{
	size_t len = strlen(field), left = p->count;

	for (const struct field_error *e = p->first; e && left; e = e->next, left--)
		if (strncmp(e->field, field, len) == 0 &&
			(!e->field[len] || strchr(".[/", e->field[len])))
			return true;
	return false;
}

int problem_field(struct problem *p, struct arena *a, const char *field, const char *code,
	const char *fmt, ...)
{
	struct field_error *e;
	va_list ap;

	if (p->err && p->err != ERR_INVALID)
		return p->err;
	p->err = ERR_INVALID;
	if (p->count == FIELD_ERRORS_MAX) {
		p->unlisted++;
		return ERR_INVALID;
	}
	e = arena_new(a, struct field_error);
	e->field = arena_strdup(a, field);
	e->code = code;
	va_start(ap, fmt);
	e->message = arena_vprintf(a, fmt, ap);
	va_end(ap);
	if (!p->last)
		p->last = &p->first;
	*p->last = e;
	p->last = &e->next;
	p->count++;
	return ERR_INVALID;
}
