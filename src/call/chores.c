/* chores.c - see chores.h. */
#include "call/chores.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "access/throttle.h"
#include "base/clock.h"

#define MINUTE_US (60 * SECOND_US)
#define DAY_US (INT64_C(86400) * SECOND_US)
#define FLOW_US (10 * MINUTE_US) /* as long as a sign-in at a provider may take */

enum { FORGET_REPLIES, FORGET_LOGINS, FORGET_FLOWS, FORGET_ATTEMPTS, TOUCH_KEY, TOUCH_LOGIN };

static const struct statement sql[] = {
	[FORGET_REPLIES] = { "forget_replies",
		"delete from idempotency where hash in "
		"(select hash from idempotency where created_at < $1 order by created_at limit 500)" },
	[FORGET_LOGINS] = { "forget_logins",
		"delete from logins where hash in "
		"(select hash from logins where expires_at < $1 order by expires_at limit 500)" },
	[FORGET_FLOWS] = { "forget_flows",
		"delete from oidc_flows where hash in "
		"(select hash from oidc_flows where created_at < $1 order by created_at limit 5000)" },
	[FORGET_ATTEMPTS] = { "forget_attempts",
		"delete from attempts where subject in "
		"(select subject from attempts where since < $1 order by since limit 5000)" },
	[TOUCH_KEY] = { "touch_key", "update api_keys set last_used_at = $2 where hash = $1",
		.across = "a hash names one key of one tenant" },
	[TOUCH_LOGIN] = { "touch_login", "update logins set last_used_at = $2 where hash = $1" },
};
STATEMENT_SET(chores_sql, sql);

struct chore {
	struct work work;
	const struct statement *st;
	char hash[65];
	int64_t when;
};

static int chore_run(struct work *w, struct db *db)
{
	struct chore *c = (struct chore *)w;

	if (*c->hash)
		return db_run(db, c->st, NULL, ARGS(T(c->hash), N(c->when)));
	return db_run(db, c->st, NULL, ARGS(N(c->when)));
}

static void chore_done(struct work *w, int err)
{
	(void)err; /* the next round tries again */
	free(w);
}

static void submit(struct app *app, const struct statement *st, const char *hash, int64_t when)
{
	struct chore *c = calloc(1, sizeof *c);

	if (!c)
		return;
	c->work = (struct work){ .run = chore_run, .done = chore_done, .mode = READ_WRITE };
	c->st = st;
	c->when = when;
	if (hash)
		memcpy(c->hash, hash, sizeof c->hash);
	if (store_submit(app->store, &c->work))
		free(c);
}

void chores_submit(struct app *app)
{
	int64_t now = clock_now_us();

	submit(app, &sql[FORGET_REPLIES], NULL, now - DAY_US);
	submit(app, &sql[FORGET_LOGINS], NULL, now);
	submit(app, &sql[FORGET_FLOWS], NULL, now - FLOW_US);
	submit(app, &sql[FORGET_ATTEMPTS], NULL, now - THROTTLE_US);
}

/* Which credentials have a touch under way: a table of recent ones by hash, each cell the minute in
 * which it was last handed over.  Two that share a cell cost a write more, never one less. */
static bool recently_touched(struct app *app, const char *hash, int64_t now)
{
	uint32_t at = 0;
	uint64_t mark;

	for (int i = 0; i < 8; i++)
		at = at * 31 + (unsigned char)hash[i];
	mark = (uint64_t)(now / MINUTE_US) ^ (uint64_t)at << 32;
	return atomic_exchange_explicit(
		       &app->touched[at % TOUCHED_CELLS], mark, memory_order_relaxed) == mark;
}

void touch_credential(struct app *app, const struct caller *caller, int64_t last_used, int64_t now)
{
	if ((last_used != NIL && now - last_used < MINUTE_US) ||
		recently_touched(app, caller->hash, now))
		return;
	submit(app, &sql[caller->kind == CREDENTIAL_KEY ? TOUCH_KEY : TOUCH_LOGIN], caller->hash,
		now);
}
