/* mail_arrival.c - see mail_arrival.h. */
#include "mailboxes/mail_arrival.h"

#include <string.h>

#include "base/clock.h"
#include "queue/jobs.h"
#include "store/row.h"
#include "store/sweep.h"

FIELDS(mail_arrival_row) = {
	ROW_FIELDS(mail_arrival_row, tenant_id, id, agent_id, mailbox_id, known_by, sender,
		recipient, by_lmtp, size_bytes, created_at),
	ROW_NULLABLE(mail_arrival_row, thread_id, bounced_id, object_key, read_at),
};
SCHEMA(mail_arrival_row, .internal = true);

enum { ADD, KNOWN, FIND, DONE, FORGET };

static const struct statement sql[] = {
	[ADD] = { "mail_arrival_add",
		"insert into mail_arrivals ({*}) values ({$}) "
		"on conflict (tenant_id, mailbox_id, known_by) do nothing",
		.row = &mail_arrival_row_schema },
	[KNOWN] = { "mail_arrival_known",
		"select id as value from mail_arrivals where tenant_id = $1 and mailbox_id = $2 "
		"and known_by = $3",
		.row = &one_text_schema },
	[FIND] = { "mail_arrival", "select {*} from mail_arrivals where tenant_id = $1 and id = $2",
		.row = &mail_arrival_row_schema },
	[DONE] = { "mail_arrival_done", "update mail_arrivals set read_at = $3, object_key = null "
					"where tenant_id = $1 and id = $2" },
	[FORGET] = { "mail_arrival_forget",
		"delete from mail_arrivals where (tenant_id, id) in (select tenant_id, id "
		"from mail_arrivals where read_at < $1 order by read_at limit $2)",
		.across = "maintenance forgets by age, whoever it is of" },
};
STATEMENT_SET(mail_arrival_sql, sql);

int mail_arrival_add(
	struct db *db, struct arena *a, const struct mail_arrival_row *in, bool *ret_known)
{
	struct one_text there;
	char job[26 + 1];
	int err = db_put(db, &sql[ADD], in);

	if (!err)
		err = db_one(db, a, &sql[KNOWN], &there,
			ARGS(T(in->tenant_id), T(in->mailbox_id), T(in->known_by)));
	*ret_known = !err && strcmp(there.value, in->id) != 0;
	if (err || *ret_known)
		return err;
	return jobs_add(db, a,
		&(struct job_new){ .tenant_id = in->tenant_id,
			.kind = MAIL_READ_JOB,
			.subject = in->id,
			.lane = in->mailbox_id,
			.max_attempts = MAIL_READ_ATTEMPTS },
		in->created_at, job);
}

int mail_arrival_find(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct mail_arrival_row *ret)
{
	return db_one(db, a, &sql[FIND], ret, ARGS(T(tenant_id), T(id)));
}

int mail_arrival_done(struct db *db, const char *tenant_id, const char *id, int64_t now)
{
	return db_run(db, &sql[DONE], NULL, ARGS(T(tenant_id), T(id), N(now)));
}

void mail_arrival_forget(struct store *store, int64_t now)
{
	sweep_submit(store, &sql[FORGET], now - MAIL_ARRIVAL_KNOWN_DAYS * DAY_US);
}
