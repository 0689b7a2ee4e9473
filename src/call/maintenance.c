/* maintenance.c - see maintenance.h. */
#include "call/maintenance.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "access/throttle.h"
#include "base/clock.h"
#include "store/sweep.h"

#define ENDED_US (30 * DAY_US)	 /* a login that has ended is told from one that never was */
#define FLOW_US (10 * MINUTE_US) /* as long as a sign-in at a provider may take */

enum {
	FORGET_REPLIES,
	FORGET_LOGINS,
	FORGET_FLOWS,
	FORGET_ATTEMPTS,
	FORGET_DAYS,
	FORGET_FAMILIAR,
	FORGET_RESETS,
	FORGET_REGISTRATIONS,
	TOUCH_KEY,
	TOUCH_LOGIN,
	TOUCH_MACHINE
};

static const struct statement sql[] = {
	[FORGET_REPLIES] = { "forget_replies",
		"delete from idempotency where hash in "
		"(select hash from idempotency where created_at < $1 order by created_at limit $2)" },
	[FORGET_LOGINS] = { "forget_logins",
		"delete from logins where hash in "
		"(select hash from logins where expires_at < $1 order by expires_at limit $2)" },
	[FORGET_FLOWS] = { "forget_flows",
		"delete from oidc_flows where hash in "
		"(select hash from oidc_flows where created_at < $1 order by created_at limit $2)" },
	/* ; is the character after : in THROTTLE_DAY */
	[FORGET_ATTEMPTS] = { "forget_attempts",
		"delete from attempts where subject in "
		"(select subject from attempts where since < $1 "
		"and not (subject >= 'day:' and subject < 'day;') order by since limit $2)" },
	[FORGET_DAYS] = { "forget_days",
		"delete from attempts where subject in (select subject from attempts "
		"where subject >= 'day:' and subject < 'day;' and since < $1 "
		"order by since limit $2)" },
	[FORGET_FAMILIAR] = { "forget_familiar",
		"delete from familiar where (account, mark) in (select account, mark from familiar "
		"where seen_at < $1 order by seen_at limit $2)" },
	[FORGET_RESETS] = { "forget_resets",
		"delete from resets where hash in "
		"(select hash from resets where expires_at < $1 order by expires_at limit $2)" },
	[FORGET_REGISTRATIONS] = { "forget_registrations",
		"delete from registrations where id in "
		"(select id from registrations where expires_at < $1 order by expires_at limit $2)" },
	[TOUCH_KEY] = { "touch_key", "update api_keys set last_used_at = $2 where hash = $1",
		.across = "a hash names one key of one tenant" },
	[TOUCH_LOGIN] = { "touch_login", "update logins set last_used_at = $2 where hash = $1" },
	[TOUCH_MACHINE] = { "touch_machine",
		"update machine_keys set last_used_at = $2 where hash = $1" },
};
STATEMENT_SET(maintenance_sql, sql);

struct touch {
	struct work work;
	const struct statement *st;
	char hash[65];
	int64_t when;
};

static int touch_run(struct work *w, struct db *db)
{
	struct touch *t = (struct touch *)w;

	return db_run(db, t->st, NULL, ARGS(T(t->hash), N(t->when)));
}

static void touch_done(struct work *w, int err)
{
	(void)err; /* the next use tells it again */
	free(w);
}

static void touch_submit(
	struct app *app, const struct statement *st, const char *hash, int64_t when)
{
	struct touch *t = calloc(1, sizeof *t);

	if (!t)
		return;
	t->work = (struct work){ .run = touch_run, .done = touch_done, .mode = READ_WRITE };
	t->st = st;
	t->when = when;
	memcpy(t->hash, hash, sizeof t->hash);
	if (store_submit(app->store, &t->work))
		free(t);
}

void maintenance_submit(struct app *app)
{
	int64_t now = clock_now_us();

	sweep_submit(app->store, &sql[FORGET_REPLIES], now - DAY_US);
	sweep_submit(app->store, &sql[FORGET_LOGINS], now - ENDED_US);
	sweep_submit(app->store, &sql[FORGET_FLOWS], now - FLOW_US);
	sweep_submit(app->store, &sql[FORGET_ATTEMPTS], now - THROTTLE_US);
	sweep_submit(app->store, &sql[FORGET_DAYS], now - DAY_US);
	sweep_submit(app->store, &sql[FORGET_FAMILIAR], now - FAMILIAR_US);
	sweep_submit(app->store, &sql[FORGET_RESETS], now);
	sweep_submit(app->store, &sql[FORGET_REGISTRATIONS], now);
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
	if (caller->kind == CREDENTIAL_ISSUED ||
		!caller->hash || /* it has no row, or was not presented */
		(last_used != NIL && now - last_used < MINUTE_US) ||
		recently_touched(app, caller->hash, now))
		return;
	touch_submit(app,
		&sql[caller->kind == CREDENTIAL_KEY	   ? TOUCH_KEY
			: caller->kind == CREDENTIAL_LOGIN ? TOUCH_LOGIN
							   : TOUCH_MACHINE],
		caller->hash, now);
}
