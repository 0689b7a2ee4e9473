/* held.c - see held.h. */
#include "call/held.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/crypto.h"
#include "base/memory.h"
#include "call/steps.h"

enum { CELLS = 256, KEY_MAX = 64 };

struct entry {
	struct memory_account account; /* first: it is what is handed out */
	struct entry *next;
	size_t users;
	char key[KEY_MAX];
};

struct held {
	struct memory_account house;
	const struct app_settings *settings;
	pthread_mutex_t lock; /* over the next */
	struct entry *cells[CELLS];
};

struct held *held_new(const struct app_settings *settings)
{
	struct held *h = memory_must(sizeof *h);

	*h = (struct held){ .house = { .max = settings->house_memory },
		.settings = settings,
		.lock = PTHREAD_MUTEX_INITIALIZER };
	return h;
}

struct memory_account *held_house(struct held *h)
{
	return &h->house;
}

void held_free(struct held *h)
{
	for (size_t i = 0; h && i < CELLS; i++) {
		while (h->cells[i]) {
			struct entry *e = h->cells[i];

			h->cells[i] = e->next;
			free(e);
		}
	}
	free(h);
}

static struct entry **held_cell_of(struct held *h, const char *key)
{
	struct entry **at = &h->cells[keyed_hash(key, strlen(key)) % CELLS];

	while (*at && strcmp((*at)->key, key) != 0)
		at = &(*at)->next;
	return at;
}

static struct memory_account *take_account(struct held *h, const char *key, uint64_t max)
{
	struct entry **at, *e;

	pthread_mutex_lock(&h->lock);
	at = held_cell_of(h, key);
	e = *at;
	if (!e) {
		e = *at = memory_must(sizeof *e);
		*e = (struct entry){ .account = { .max = max } };
		snprintf(e->key, sizeof e->key, "%s", key);
	}
	e->users++;
	pthread_mutex_unlock(&h->lock);
	return &e->account;
}

static void settle_account(struct held *h, struct memory_account *account)
{
	struct entry *e = (struct entry *)account, **at;

	pthread_mutex_lock(&h->lock);
	INVARIANT(e->users > 0);
	if (!--e->users) {
		at = held_cell_of(h, e->key);
		*at = e->next;
		free(e);
	}
	pthread_mutex_unlock(&h->lock);
}

void held_settle(struct app *app, struct memory_account *account)
{
	settle_account(app->held, account);
}

static void name_tenant(const char *tenant_id, char out[KEY_MAX])
{
	snprintf(out, KEY_MAX, "tenant %s", tenant_id);
}

static bool charge_account(struct memory_account *a, int64_t by)
{
	memory_account_add(a, by);
	return by <= 0 || memory_account_has_room(a);
}

bool held_count(struct held *h, struct held_part *part, const char *tenant_id, size_t now)
{
	int64_t by = (int64_t)now - (int64_t)part->bytes;
	bool fits;

	if (!h || !by)
		return true;
	if (!part->account && tenant_id && h->settings->tenant_memory) {
		char key[KEY_MAX];

		name_tenant(tenant_id, key);
		part->account = take_account(h, key, h->settings->tenant_memory);
	}
	part->bytes = now;
	fits = charge_account(&h->house, by);
	if (part->account)
		fits = charge_account(part->account, by) && fits;
	if (!now && part->account) {
		settle_account(h, part->account);
		part->account = NULL;
	}
	return fits;
}

static void name_address_account(const char *ip, char out[KEY_MAX])
{
	char network[INET6_ADDRSTRLEN];

	http_network(ip, network);
	snprintf(out, KEY_MAX, "address %s", network);
}

struct memory_account *held_account(struct call *c)
{
	const struct app_settings *s = &c->app->settings;
	uint64_t max = s->tenant_memory;
	char key[KEY_MAX];

	if (c->caller.tenant_id) {
		name_tenant(c->caller.tenant_id, key);
	} else if (c->caller.user_id) {
		snprintf(key, sizeof key, "user %s", c->caller.user_id);
	} else {
		name_address_account(c->ip ? c->ip : call_address(c), key);
		max = s->address_memory;
	}
	return c->app->held && max ? take_account(c->app->held, key, max) : NULL;
}

int held_check(struct call *c)
{
	struct memory_account *account = held_account(c);
	bool room = !c->app->held || (memory_account_has_room(account) &&
					     memory_account_has_room(held_house(c->app->held)));

	if (account)
		held_settle(c->app, account);
	return room ? 0
		    : call_fail(c, ERR_BUSY,
			      "There is no memory left for another stream: too much waits to be read.");
}
