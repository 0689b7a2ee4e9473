/* mail_ramp.c - see mail_ramp.h. */
#include "mailboxes/mail_ramp.h"

#include "base/clock.h"
#include "base/id.h"

enum { KNOWN, WROTE_FIRST, SINCE, BEGUN_SINCE, NOTE, BEGIN, FORGET };

static const struct statement sql[] = {
	[KNOWN] = { "mail_correspondent",
		"select count(*) from mail_correspondents where tenant_id = $1 and agent_id = $2 "
		"and address = $3" },
	[WROTE_FIRST] = { "mail_wrote_first",
		"select 1 from mail_messages where tenant_id = $1 and mailbox_id = $2 "
		"and sender = $3 and direction = 'in' and state = 'received' "
		"and verdict = 'pass' limit 1" },
	[SINCE] = { "mail_correspondents_since",
		"select count(*) from mail_correspondents where tenant_id = $1 and agent_id = $2 "
		"and first_at > $3" },
	[BEGUN_SINCE] = { "mail_begun_since",
		"select count(*) from mail_begun where tenant_id = $1 and mailbox = $2 and id > $3" },
	[NOTE] = { "mail_correspondent_note",
		"insert into mail_correspondents (tenant_id, agent_id, address, first_at) "
		"values ($1, $2, $3, $4) on conflict (tenant_id, agent_id, address) do nothing" },
	[BEGIN] = { "mail_begin",
		"insert into mail_begun (tenant_id, mailbox, id) values ($1, $2, $3)" },
	[FORGET] = { "mail_begun_forget",
		"delete from mail_begun where tenant_id = $1 and mailbox = $2 and id <= $3" },
};
STATEMENT_SET(mail_ramp_sql, sql);

static int is_new(struct db *db, const struct mailbox_row *from, const char *address, bool *ret,
	bool *ret_wrote)
{
	int64_t known = 0, wrote = 0;
	int err = db_int(
		db, &sql[KNOWN], &known, ARGS(T(from->tenant_id), T(from->agent_id), T(address)));

	if (!err && !known)
		err = db_int(db, &sql[WROTE_FIRST], &wrote,
			ARGS(T(from->tenant_id), T(from->id), T(address)));
	if (err == ERR_NOT_FOUND)
		err = 0;
	*ret = !known && !wrote;
	*ret_wrote = wrote > 0;
	return err;
}

/* How many it has begun to write to within a day.  An agent that is deleted and made again has lost its correspondents, and not what
 * its address did. */
static int count_begun(struct db *db, const struct mailbox_row *from, int64_t now, int64_t *ret)
{
	const struct id day = id_least(now - DAY_US);
	int64_t begun = 0;
	int err = db_int(
		db, &sql[SINCE], ret, ARGS(T(from->tenant_id), T(from->agent_id), N(now - DAY_US)));

	if (!err)
		err = db_int(db, &sql[BEGUN_SINCE], &begun,
			ARGS(T(from->tenant_id), T(from->address), T(day.text)));
	*ret = begun > *ret ? begun : *ret;
	return err;
}

int mail_ramp_look(struct db *db, struct arena *a, const struct mailbox_row *from,
	const char *const *addresses, size_t count, int64_t now, const char **ret_why)
{
	int64_t age = now - from->created_at, fresh = 0, had = 0;
	int64_t most = age < HOUR_US	  ? MAIL_RAMP_HOUR
		       : age < 7 * DAY_US ? MAIL_RAMP_WEEK
					  : mailbox_policy()->new_recipients_day;
	bool one = false, wrote;
	int err = count_begun(db, from, now, &had);

	for (size_t i = 0; !err && i < count; i++) {
		err = is_new(db, from, addresses[i], &one, &wrote);
		fresh += one;
	}
	*ret_why = NULL;
	if (err || !fresh || had + fresh <= most)
		return err;
	*ret_why = arena_printf(a,
		"It has %lld new recipients; the mailbox has written to %lld within a day, and may to %lld %s. A person may send it "
		"all the same.",
		(long long)fresh, (long long)had, (long long)most,
		age < HOUR_US	   ? "in its first hour"
		: age < 7 * DAY_US ? "a day in its first week"
				   : "a day");
	return 0;
}

/* Who wrote first is entered as of long ago, and so counts for nothing. */
int mail_ramp_note(struct db *db, const struct mailbox_row *from, const char *const *addresses,
	size_t count, int64_t now)
{
	const struct id day = id_least(now - DAY_US);
	bool one = false, wrote = false;
	int err = db_run(
		db, &sql[FORGET], NULL, ARGS(T(from->tenant_id), T(from->address), T(day.text)));

	for (size_t i = 0; !err && i < count; i++) {
		const struct id id = id_new(NULL);

		err = is_new(db, from, addresses[i], &one, &wrote);
		if (!err)
			err = db_run(db, &sql[NOTE], NULL,
				ARGS(T(from->tenant_id), T(from->agent_id), T(addresses[i]),
					N(wrote ? 0 : now)));
		if (!err && one)
			err = db_run(db, &sql[BEGIN], NULL,
				ARGS(T(from->tenant_id), T(from->address), T(id.text)));
	}
	return err;
}
