/* agent_slug.c - slugs for agents that are made from a name, or under one that may be taken. */
#include <stdio.h>
#include <string.h>

#include "api/agents/agent_row.h"
#include "mail/reserved.h"

enum { SLUG_MAX = 64, NUMBER_MAX = 1 << 20 };

static const struct statement slug_statements[] = {
	{ "slug_taken", "select count(*) from agents where tenant_id = $1 and slug = $2" },
};
STATEMENT_SET(agent_slug_sql, slug_statements);

/* Letters and digits in lower case, with one hyphen for whatever lies between them. */
const char *agent_slug_of(struct arena *a, const char *name)
{
	char *out = arena_alloc(a, SLUG_MAX + 1);
	size_t n = 0;

	for (const char *p = name; *p && n < SLUG_MAX; p++) {
		char lower = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);

		if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))
			out[n++] = lower;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	n -= n && out[n - 1] == '-';
	out[n] = '\0';
	return n ? out : "agent";
}

/* The slug with its number; the first has none.  It is cut where it would grow too long. */
static const char *slug_numbered(struct arena *a, const char *slug, int number)
{
	char end[16] = "";
	int room;

	if (number > 1)
		snprintf(end, sizeof end, "-%d", number);
	room = SLUG_MAX - (int)strlen(end);
	if ((int)strlen(slug) < room)
		room = (int)strlen(slug);
	while (room > 1 && slug[room - 1] == '-')
		room--;
	return arena_printf(a, "%.*s%s", room, slug, end);
}

struct slug_search {
	struct db *db;
	struct arena *a;
	const char *tenant_id, *slug;
};

static int agent_slug_taken(const struct slug_search *s, int number, bool *ret)
{
	const char *slug = slug_numbered(s->a, s->slug, number);
	int64_t count = 0;
	int err = db_int(s->db, &slug_statements[0], &count, ARGS(T(s->tenant_id), T(slug)));

	*ret = count > 0 || mail_reserved_local(slug);
	return err;
}

/* A number that is free after one that is taken: found by doubling, then by halving, so that the
 * thousandth copy costs twenty questions. */
int agent_slug_free(struct db *db, struct arena *a, const char *tenant_id, const char *slug,
	const char **ret, struct problem *p)
{
	const struct slug_search s = { db, a, tenant_id, slug };
	int taken = 0, free = 1, err;
	bool is_taken;

	while (!(err = agent_slug_taken(&s, free, &is_taken)) && is_taken) {
		taken = free;
		free *= 2;
		if (free > NUMBER_MAX)
			return problem_set(p, a, ERR_CONFLICT,
				"There are too many agents of this name; choose another.");
	}
	while (!err && free - taken > 1) {
		int middle = taken + (free - taken) / 2;

		err = agent_slug_taken(&s, middle, &is_taken);
		*(is_taken ? &taken : &free) = middle;
	}
	*ret = slug_numbered(a, slug, free);
	return err;
}
