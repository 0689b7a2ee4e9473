/* breaker.c - see breaker.h. */
#include "broker/breaker.h"

#include <pthread.h>
#include <stdlib.h>

enum breaker_state { CLOSED, OPEN, HALF_OPEN, STATES };

struct breaker_cell {
	uint64_t account; /* its hash; 0: none */
	enum breaker_state state;
	int faults;	  /* in a row */
	int64_t until_ms; /* OPEN: calls are refused; HALF_OPEN: the trial is waited for */
	int64_t pause_ms;
};

struct breaker {
	pthread_mutex_t lock;
	struct breaker_cell cells[BREAKER_CELLS];
};

struct breaker *breaker_new(void)
{
	struct breaker *b = calloc(1, sizeof *b);

	if (!b)
		abort();
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

void breaker_free(struct breaker *b)
{
	if (!b)
		return;
	pthread_mutex_destroy(&b->lock);
	free(b);
}

static uint64_t hash_account_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h;
}

static struct breaker_cell *breaker_cell_of(
	struct breaker *b, const char *model_id, const char *owner)
{
	uint64_t account =
		hash_account_text(hash_account_text(UINT64_C(14695981039346656037), model_id),
			owner ? owner : "") |
		1;
	struct breaker_cell *c = &b->cells[account / 2 % BREAKER_CELLS];

	if (c->account != account)
		*c = (struct breaker_cell){ .account = account };
	return c;
}

bool breaker_allows(struct breaker *b, const char *model_id, const char *owner, int64_t now_ms)
{
	struct breaker_cell *c;
	bool allowed;

	pthread_mutex_lock(&b->lock);
	c = breaker_cell_of(b, model_id, owner);
	allowed = c->state == CLOSED || now_ms >= c->until_ms;
	if (allowed && c->state != CLOSED) {
		c->state = HALF_OPEN;
		c->until_ms = now_ms + BREAKER_TRIAL_MS;
	}
	pthread_mutex_unlock(&b->lock);
	return allowed;
}

/* ---- what each word does in each state ---- */

static void close_it(struct breaker_cell *c, int64_t wait_ms, int64_t now_ms)
{
	(void)wait_ms;
	(void)now_ms;
	*c = (struct breaker_cell){ .account = c->account };
}

static void open_for(struct breaker_cell *c, int64_t ms, int64_t now_ms)
{
	c->state = OPEN;
	c->until_ms = now_ms + ms;
}

static void count_fault(struct breaker_cell *c, int64_t wait_ms, int64_t now_ms)
{
	(void)wait_ms;
	if (++c->faults < BREAKER_FAULTS)
		return;
	c->pause_ms = BREAKER_PAUSE_MS;
	open_for(c, c->pause_ms, now_ms);
}

static void open_longer(struct breaker_cell *c, int64_t wait_ms, int64_t now_ms)
{
	(void)wait_ms;
	c->pause_ms = c->pause_ms ? c->pause_ms * 2 : BREAKER_PAUSE_MS;
	if (c->pause_ms > BREAKER_PAUSE_MAX_MS)
		c->pause_ms = BREAKER_PAUSE_MAX_MS;
	open_for(c, c->pause_ms, now_ms);
}

static void open_as_asked(struct breaker_cell *c, int64_t wait_ms, int64_t now_ms)
{
	open_for(c, wait_ms, now_ms);
}

/* The trial was given up: the next caller makes one. */
static void open_at_once(struct breaker_cell *c, int64_t wait_ms, int64_t now_ms)
{
	(void)wait_ms;
	open_for(c, 0, now_ms);
}

static void (*const moves[STATES][BREAKER_WORDS])(
	struct breaker_cell *c, int64_t wait_ms, int64_t now_ms) = {
	[CLOSED] = { [BREAKER_GOOD] = close_it,
		[BREAKER_FAULT] = count_fault,
		[BREAKER_LIMITED] = open_as_asked },
	/* Calls that began before it opened, or were made because all others failed too. */
	[OPEN] = { [BREAKER_GOOD] = close_it, [BREAKER_LIMITED] = open_as_asked },
	[HALF_OPEN] = { [BREAKER_GOOD] = close_it,
		[BREAKER_FAULT] = open_longer,
		[BREAKER_LIMITED] = open_as_asked,
		[BREAKER_NOTHING] = open_at_once },
};

void breaker_hears(struct breaker *b, const char *model_id, const char *owner,
	enum breaker_word word, int64_t wait_ms, int64_t now_ms)
{
	struct breaker_cell *c;

	pthread_mutex_lock(&b->lock);
	c = breaker_cell_of(b, model_id, owner);
	if (moves[c->state][word])
		moves[c->state][word](c, wait_ms, now_ms);
	pthread_mutex_unlock(&b->lock);
}
