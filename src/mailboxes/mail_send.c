/* mail_send.c - see mail_send.h. */
#include "mailboxes/mail_send.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8_cut.h"
#include "queue/jobs.h"
#include "store/row.h"

enum {
	SAID_MAX = 400, /* bytes of what is kept of an answer */
	TOLD_MAX = 3,	/* recipients that an error names */
	JOB_ATTEMPTS_OWN =
		1000, /* failures of the house's own: the message is not the worse for them */
};

static const struct words MailSendState_words = {
	.list = (const char *const[]){ "queued", "sent", "bounced", "failed", NULL },
};

FIELDS(mail_send_row) = {
	ROW_FIELDS(
		mail_send_row, tenant_id, id, agent_id, message_id, address, attempts, created_at),
	FIELD(mail_send_row, state, .words = &MailSendState_words),
	ROW_NULLABLE(mail_send_row, said),
};
SCHEMA(mail_send_row, .internal = true);

struct suppression_row {
	const char *tenant_id, *id, *address, *reason;
	int64_t created_at;
};
FIELDS(suppression_row) = { ROW_FIELDS(
	suppression_row, tenant_id, id, address, reason, created_at) };
static SCHEMA(suppression_row, .internal = true);

enum { ADD, FIND, OF_MESSAGE, SAVE, DROP, SUPPRESS, SUPPRESSED };

static const struct statement sql[] = {
	[ADD] = { "mail_send_add", "insert into mail_sends ({*}) values ({$})",
		.row = &mail_send_row_schema },
	[FIND] = { "mail_send", "select {*} from mail_sends where tenant_id = $1 and id = $2",
		.row = &mail_send_row_schema },
	[OF_MESSAGE] = { "mail_sends_of",
		"select {*} from mail_sends where tenant_id = $1 and message_id = $2 order by address",
		.row = &mail_send_row_schema },
	[SAVE] = { "mail_send_save",
		"update mail_sends set {=} where tenant_id = :tenant_id and agent_id = :agent_id "
		"and id = :id",
		.row = &mail_send_row_schema },
	[DROP] = { "mail_send_drop",
		"delete from mail_sends where tenant_id = $1 and agent_id = $2 and id = $3" },
	[SUPPRESS] = { "mail_suppress",
		"insert into mail_suppressions ({*}) "
		"values ({$}) on conflict (tenant_id, address) do nothing",
		.row = &suppression_row_schema },
	[SUPPRESSED] = { "mail_suppressed",
		"select count(*) from mail_suppressions where tenant_id = $1 and address = $2" },
};
STATEMENT_SET(mail_send_sql, sql);

int64_t mail_send_again(int64_t created_at, int64_t attempts, int64_t now)
{
	static const int64_t pauses[] = { MINUTE_US, 5 * MINUTE_US, 15 * MINUTE_US, HOUR_US,
		3 * HOUR_US, 6 * HOUR_US };
	enum { PAUSES = sizeof pauses / sizeof *pauses };
	int64_t last = created_at + 2 * DAY_US,
		at = now + pauses[attempts < 1	       ? 0
				   : attempts > PAUSES ? PAUSES - 1
						       : attempts - 1];

	return now >= last ? NIL : at > last ? last : at;
}

int mail_suppressed(struct db *db, const char *tenant_id, const char *address, bool *ret)
{
	int64_t count = 0;
	int err = db_int(db, &sql[SUPPRESSED], &count, ARGS(T(tenant_id), T(address)));

	*ret = count > 0;
	return err;
}

int mail_send_add(struct db *db, struct arena *a, const struct mail_message_row *m,
	const char *const *addresses, size_t count, int64_t now)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		struct mail_send_row row = { .tenant_id = m->tenant_id,
			.id = arena_strdup(a, id_new(NULL).text),
			.agent_id = m->agent_id,
			.message_id = m->id,
			.address = addresses[i],
			.created_at = now };
		char job[ID_LEN + 1];

		err = db_put(db, &sql[ADD], &row);
		if (!err)
			err = jobs_add(db, a,
				&(struct job_new){ .tenant_id = m->tenant_id,
					.kind = MAIL_SEND_JOB,
					.subject = row.id,
					.lane = MAIL_SEND_JOB,
					.max_attempts = JOB_ATTEMPTS_OWN },
				now, job);
	}
	return err;
}

int mail_send_find(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct mail_send_row *ret)
{
	return db_one(db, a, &sql[FIND], ret, ARGS(T(tenant_id), T(id)));
}

int mail_sends_of(
	struct db *db, struct arena *a, const struct mail_message_row *m, struct list *ret)
{
	return db_all(
		db, a, &sql[OF_MESSAGE], ret, MAIL_RECIPIENTS_MAX, ARGS(T(m->tenant_id), T(m->id)));
}

/* ---- what the message says of it ---- */

/* Those that were refused first, then those that wait with a reason. */
static const char *tell_sends(struct arena *a, const struct mail_send_row *row, size_t count)
{
	const char *out = NULL;
	size_t told = 0, more = 0;

	for (int waits = 0; waits < 2; waits++)
		for (size_t i = 0; i < count; i++) {
			if (row[i].state == MailSendState_sent || !row[i].said ||
				(row[i].state == MailSendState_queued) != waits)
				continue;
			if (told++ < TOLD_MAX)
				out = arena_printf(a, "%s%s%s: %s", out ? out : "", out ? "; " : "",
					row[i].address, row[i].said);
			else
				more++;
		}
	return more ? arena_printf(a, "%s; and %zu more", out, more) : out;
}

static int state_of(const struct mail_send_row *row, size_t count)
{
	static const int states[] = { MailState_queued, MailState_sent, MailState_bounced,
		MailState_failed };
	static const int before[] = { MailSendState_queued, MailSendState_bounced,
		MailSendState_failed };

	for (size_t k = 0; k < sizeof before / sizeof *before; k++)
		for (size_t i = 0; i < count; i++)
			if (row[i].state == before[k])
				return states[before[k]];
	return MailState_sent;
}

static bool any_is(const struct list *rows, int state)
{
	const struct mail_send_row *row = rows->at;

	for (size_t i = 0; i < rows->count; i++)
		if (row[i].state == state)
			return true;
	return false;
}

static int tell_message(struct db *db, struct arena *a, const struct mail_send_row *of, int64_t now)
{
	struct mail_message_row m;
	struct list rows = { 0 };
	int err = mail_message_find(db, a, of->tenant_id, of->agent_id, of->message_id, &m);

	if (!err)
		err = mail_sends_of(db, a, &m, &rows);
	if (err)
		return err;
	if (m.sent_at == NIL && any_is(&rows, MailSendState_sent))
		m.sent_at = now;
	m.state = state_of(rows.at, rows.count);
	m.error = tell_sends(a, rows.at, rows.count);
	return mail_message_save(db, a, &m);
}

static int save(struct db *db, struct arena *a, struct mail_send_row *row, int64_t now)
{
	int err;

	if (row->said && strlen(row->said) > SAID_MAX)
		row->said = arena_strndup(
			a, row->said, utf8_cut(row->said, strlen(row->said), SAID_MAX));
	err = db_put(db, &sql[SAVE], row);
	return err ? err : tell_message(db, a, row, now);
}

/* Bad address, of whatever kind: there is nobody.  5.1.7 and 5.1.8 are about the sender's. */
static int suppress(struct db *db, const struct mail_send_row *row, const char *status, int64_t now)
{
	struct id id = id_new(NULL);

	if (strncmp(status, "5.1.", 4) != 0 || strcmp(status, "5.1.7") == 0 ||
		strcmp(status, "5.1.8") == 0)
		return 0;
	return db_put(db, &sql[SUPPRESS],
		&(struct suppression_row){ .tenant_id = row->tenant_id,
			.id = id.text,
			.address = row->address,
			.reason = row->said ? row->said : "",
			.created_at = now });
}

/* ---- what came of it ---- */

int mail_send_tried(struct db *db, struct arena *a, const struct mail_send_row *row,
	const struct smtp_said *said, int64_t now, int64_t *ret_again)
{
	struct mail_send_row out = *row;
	int err;

	*ret_again = NIL;
	out.attempts++;
	out.said = said->text;
	if (said->outcome == SMTP_SENT) {
		out.state = MailSendState_sent;
	} else if (said->outcome == SMTP_REFUSED) {
		out.state = MailSendState_bounced;
	} else {
		*ret_again = mail_send_again(row->created_at, out.attempts, now);
		if (*ret_again == NIL) {
			out.state = MailSendState_failed;
			out.said = arena_printf(
				a, "it could not be sent within 48 hours: %s", said->text);
		}
	}
	err = save(db, a, &out, now);
	return err || out.state != MailSendState_bounced ? err
							 : suppress(db, &out, said->enhanced, now);
}

int mail_send_failed(struct db *db, struct arena *a, const struct mail_send_row *row,
	const char *why, int64_t now)
{
	struct mail_send_row out = *row;

	out.state = MailSendState_failed;
	out.said = why;
	return save(db, a, &out, now);
}

int mail_bounced(struct db *db, struct arena *a, const char *tenant_id, const char *send_id,
	const struct mail_delivery *told, const char *words, int64_t now)
{
	bool failed = !told || strcasecmp(told->action, "failed") == 0 ||
		      (!*told->action && told->status[0] == '5');
	const char *said = told && *told->diagnostic ? told->diagnostic
			   : told && *told->status   ? told->status
						     : mail_preview(a, words ? words : "");
	struct mail_send_row row;
	int err = failed ? mail_send_find(db, a, tenant_id, send_id, &row) : ERR_NOT_FOUND;

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	row.state = MailSendState_bounced;
	row.said = *said ? said : "it came back";
	err = save(db, a, &row, now);
	return err || !told ? err : suppress(db, &row, told->status, now);
}

int mail_send_renew(struct db *db, struct arena *a, const struct mail_message_row *m,
	const struct mail_send_row *rows, size_t count, int64_t now)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		err = db_run(
			db, &sql[DROP], NULL, ARGS(T(m->tenant_id), T(m->agent_id), T(rows[i].id)));
		if (!err)
			err = mail_send_add(db, a, m, &rows[i].address, 1, now);
	}
	return err || !count ? err : tell_message(db, a, rows, now);
}
