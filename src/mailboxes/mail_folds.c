/* mail_folds.c - see mail_folds.h. */
#include "mailboxes/mail_folds.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"

enum { PATTERN_MAX = 4096 }; /* of an address with every byte escaped twice */

/* What stands for itself in a pattern; in a list it is escaped as JSON first. */
static const char *literal(struct arena *a, const char *at, size_t len, bool listed)
{
	struct buf text, out;

	buf_init(&text, PATTERN_MAX);
	buf_init(&out, PATTERN_MAX);
	if (listed)
		json_write_string(&text, at, len);
	else
		buf_put(&text, at, len);
	for (size_t i = listed; i + listed < text.len; i++) { /* without JSON's own quotes */
		if (strchr("%_!", text.at[i]))
			buf_putc(&out, '!');
		buf_putc(&out, text.at[i]);
	}
	buf_free(&text);
	return arena_take(a, &out);
}

static struct mail_folds folds(struct arena *a, const char *address, bool listed)
{
	const char *at = strrchr(address, '@'), *around = listed ? "\"" : "",
		   *any = listed ? "%" : "", *domain, *base, *name;
	size_t len = at ? (size_t)(at - address) : 0, quoted = *address == '"', plus;
	struct mail_folds out;

	if (!at) {
		base = literal(a, address, strlen(address), listed);
		base = arena_printf(a, "%s%s%s%s%s", any, around, base, around, any);
		return (struct mail_folds){ base, base, base };
	}
	domain = literal(a, at, strlen(at), listed);
	plus = strcspn(address + quoted, "+@");
	name = literal(a, address + quoted, plus, listed);
	base = quoted ? literal(a, address, len, listed) : name;
	out.base = arena_printf(a, "%s%s%s%s%s%s", any, around, base, domain, around, any);
	out.plus = arena_printf(a, "%s%s%s+%%%s%s%s", any, around, name, domain, around, any);
	out.quoted = arena_printf(a, "%s%s%s%s+%%%s%s%s", any, around, listed ? "\\\"" : "\"", name,
		domain, around, any);
	return out;
}

struct mail_folds mail_folds(struct arena *a, const char *address)
{
	return folds(a, address, false);
}

struct mail_folds mail_folds_listed(struct arena *a, const char *address)
{
	return folds(a, address, true);
}

const char *mail_folds_domain(struct arena *a, const char *address)
{
	const char *at = strrchr(address, '@');

	at = at ? at : address;
	return arena_printf(a, "%%%s", literal(a, at, strlen(at), false));
}
