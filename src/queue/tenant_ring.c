/* tenant_ring.c - the tenants that may have work, in the order in which they are served.
 *
 * A ring and a hash, both of the same entries.  It is a memory of hints: the
 * jobs are in the store, and a tenant missing here is found there by the next
 * look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/check.h"
#include "base/memory.h"
#include "queue/parts.h"

enum { CELLS = 4096 };

struct tenant_ring {
	struct ring_tenant ring; /* its head: no tenant */
	struct ring_tenant *cells[CELLS];
	size_t known, waiting;
};

struct tenant_ring *tenant_ring_new(void)
{
	struct tenant_ring *t = memory_zeroed(sizeof *t);

	t->ring.before = t->ring.after = &t->ring;
	return t;
}

void tenant_ring_free(struct tenant_ring *t)
{
	for (size_t i = 0; t && i < CELLS; i++) {
		while (t->cells[i]) {
			struct ring_tenant *ring_tenant = t->cells[i];

			t->cells[i] = ring_tenant->same;
			free(ring_tenant);
		}
	}
	free(t);
}

static struct ring_tenant **turn_cell_of(struct tenant_ring *t, const char *tenant_id)
{
	struct ring_tenant **at = &t->cells[keyed_hash(tenant_id, strlen(tenant_id)) % CELLS];

	while (*at && strcmp((*at)->tenant_id, tenant_id) != 0)
		at = &(*at)->same;
	return at;
}

static struct ring_tenant *find_or_add_turn(struct tenant_ring *t, const char *tenant_id)
{
	struct ring_tenant **at = turn_cell_of(t, tenant_id);

	if (!*at) {
		*at = memory_zeroed(sizeof **at);
		snprintf((*at)->tenant_id, sizeof(*at)->tenant_id, "%s", tenant_id);
		t->known++;
	}
	return *at;
}

static void join_ring(
	struct tenant_ring *t, struct ring_tenant *ring_tenant, struct ring_tenant *previous)
{
	ring_tenant->before = previous;
	ring_tenant->after = previous->after;
	previous->after->before = ring_tenant;
	previous->after = ring_tenant;
	ring_tenant->waits = true;
	t->waiting++;
}

static void leave_ring(struct tenant_ring *t, struct ring_tenant *ring_tenant)
{
	INVARIANT(ring_tenant->waits && t->waiting > 0);
	ring_tenant->before->after = ring_tenant->after;
	ring_tenant->after->before = ring_tenant->before;
	ring_tenant->waits = false;
	t->waiting--;
}

static void forget_turn(struct tenant_ring *t, struct ring_tenant *ring_tenant)
{
	struct ring_tenant **at = turn_cell_of(t, ring_tenant->tenant_id);

	if (ring_tenant->waits || ring_tenant->asked || ring_tenant->running)
		return;
	INVARIANT(*at == ring_tenant && t->known > 0);
	*at = ring_tenant->same;
	t->known--;
	free(ring_tenant);
}

bool tenant_ring_add(struct tenant_ring *t, const char *tenant_id)
{
	struct ring_tenant *ring_tenant;

	if (t->known >= TENANT_RING_MAX && !*turn_cell_of(t, tenant_id))
		return false;
	ring_tenant = find_or_add_turn(t, tenant_id);
	if (ring_tenant->asked)
		ring_tenant->again = true;
	else if (!ring_tenant->waits)
		join_ring(t, ring_tenant, t->ring.before);
	return true;
}

size_t tenant_ring_waiting(const struct tenant_ring *t)
{
	return t->waiting;
}

struct ring_tenant *tenant_ring_next(struct tenant_ring *t)
{
	struct ring_tenant *ring_tenant = t->ring.after;

	if (ring_tenant == &t->ring)
		return NULL;
	leave_ring(t, ring_tenant);
	ring_tenant->asked = true;
	ring_tenant->again = false;
	return ring_tenant;
}

void tenant_ring_back(struct tenant_ring *t, struct ring_tenant *ring_tenant, bool first)
{
	ring_tenant->asked = false;
	join_ring(t, ring_tenant, first ? &t->ring : t->ring.before);
}

void tenant_ring_empty(struct tenant_ring *t, struct ring_tenant *ring_tenant)
{
	ring_tenant->asked = false;
	if (ring_tenant->again)
		join_ring(t, ring_tenant, t->ring.before);
	else
		forget_turn(t, ring_tenant);
}

struct ring_tenant *tenant_ring_begun(struct tenant_ring *t, const char *tenant_id)
{
	struct ring_tenant *ring_tenant = find_or_add_turn(t, tenant_id);

	ring_tenant->running++;
	return ring_tenant;
}

void tenant_ring_over(struct tenant_ring *t, struct ring_tenant *ring_tenant)
{
	INVARIANT(ring_tenant->running > 0);
	ring_tenant->running--;
	forget_turn(t, ring_tenant);
}
