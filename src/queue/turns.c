/* turns.c - the tenants that may have work, in the order in which they are served.
 *
 * A ring and a hash, both of the same entries.  It is a memory of hints: the
 * jobs are in the store, and a tenant missing here is found there by the next
 * look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "queue/parts.h"

enum { CELLS = 4096 };

struct turns {
	struct turn ring; /* its head: no tenant */
	struct turn *cells[CELLS];
	size_t known, waiting;
};

struct turns *turns_new(void)
{
	struct turns *t = calloc(1, sizeof *t);

	if (!t)
		abort();
	t->ring.before = t->ring.after = &t->ring;
	return t;
}

void turns_free(struct turns *t)
{
	for (size_t i = 0; t && i < CELLS; i++) {
		while (t->cells[i]) {
			struct turn *turn = t->cells[i];

			t->cells[i] = turn->same;
			free(turn);
		}
	}
	free(t);
}

static struct turn **cell_of(struct turns *t, const char *tenant_id)
{
	struct turn **at = &t->cells[keyed_hash(tenant_id, strlen(tenant_id)) % CELLS];

	while (*at && strcmp((*at)->tenant_id, tenant_id) != 0)
		at = &(*at)->same;
	return at;
}

static struct turn *known(struct turns *t, const char *tenant_id)
{
	struct turn **at = cell_of(t, tenant_id);

	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (!*at)
			abort();
		snprintf((*at)->tenant_id, sizeof(*at)->tenant_id, "%s", tenant_id);
		t->known++;
	}
	return *at;
}

static void join(struct turns *t, struct turn *turn, struct turn *behind)
{
	turn->before = behind;
	turn->after = behind->after;
	behind->after->before = turn;
	behind->after = turn;
	turn->waits = true;
	t->waiting++;
}

static void leave(struct turns *t, struct turn *turn)
{
	turn->before->after = turn->after;
	turn->after->before = turn->before;
	turn->waits = false;
	t->waiting--;
}

static void forget(struct turns *t, struct turn *turn)
{
	struct turn **at = cell_of(t, turn->tenant_id);

	if (turn->waits || turn->asked || turn->running)
		return;
	*at = turn->same;
	t->known--;
	free(turn);
}

bool turns_add(struct turns *t, const char *tenant_id)
{
	struct turn *turn;

	if (t->known >= TURNS_MAX && !*cell_of(t, tenant_id))
		return false;
	turn = known(t, tenant_id);
	if (turn->asked)
		turn->again = true;
	else if (!turn->waits)
		join(t, turn, t->ring.before);
	return true;
}

size_t turns_waiting(const struct turns *t)
{
	return t->waiting;
}

struct turn *turns_next(struct turns *t)
{
	struct turn *turn = t->ring.after;

	if (turn == &t->ring)
		return NULL;
	leave(t, turn);
	turn->asked = true;
	turn->again = false;
	return turn;
}

void turns_back(struct turns *t, struct turn *turn, bool first)
{
	turn->asked = false;
	join(t, turn, first ? &t->ring : t->ring.before);
}

void turns_empty(struct turns *t, struct turn *turn)
{
	turn->asked = false;
	if (turn->again)
		join(t, turn, t->ring.before);
	else
		forget(t, turn);
}

struct turn *turns_begun(struct turns *t, const char *tenant_id)
{
	struct turn *turn = known(t, tenant_id);

	turn->running++;
	return turn;
}

void turns_over(struct turns *t, struct turn *turn)
{
	turn->running--;
	forget(t, turn);
}
