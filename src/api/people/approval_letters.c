/* approval_letters.c - see approval_letters.h. */
#include "api/people/approval_letters.h"

#include <stdlib.h>

#include "api/service.h"
#include "api/sessions/session_rows.h"
#include "base/clock.h"
#include "mailboxes/letter_post.h"
#include "store/row.h"

#define WAITED_US HOUR_US

enum { AT_ONCE = 200, PEOPLE_MAX = 10000, LINES_MAX = 20 };

struct approver {
	const char *tenant_id, *user_id;
};

FIELDS(approver) = { ROW_FIELDS(approver, tenant_id, user_id) };
static SCHEMA(approver, .internal = true);

struct approval_line {
	const char *tool_name, *agent_name, *session_id;
};

FIELDS(approval_line) = { ROW_FIELDS(approval_line, tool_name, agent_name, session_id) };
static SCHEMA(approval_line, .internal = true);

struct approval_reader {
	const char *email, *tenant, *slug;
};

FIELDS(approval_reader) = { ROW_FIELDS(approval_reader, email, tenant, slug) };
static SCHEMA(approval_reader, .internal = true);

enum { APPROVALS_MARK, APPROVERS, APPROVAL_READER, APPROVAL_LINES };

/* Those of one moment that still wait, with the members who may decide: an address that is not proven gets no mail about work. */
#define WAITING                                                                 \
	"approvals p join tenants t on t.id = p.tenant_id and t.status not in " \
	"('suspended', 'closed') "                                              \
	"join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id " \
	"join agents a on a.tenant_id = s.tenant_id and a.id = s.agent_id "     \
	"join members m on m.tenant_id = p.tenant_id and m.status = 'active' "  \
	"join users u on u.id = m.user_id and u.is_suspended = 0 "              \
	"and u.email_proven_at is not null "                                    \
	"where p.status = 'pending' and (m.role in ('OWNER', 'ADMIN') or " DECIDES("u.id") ") "

static const struct statement sql[] = {
	[APPROVALS_MARK] = { "approvals_mark",
		"update approvals set mailed_at = $1 where (tenant_id, id) in "
		"(select q.tenant_id, q.id from approvals q where q.status = 'pending' "
		"and q.mailed_at is null and q.created_at < $2 order by q.created_at limit $3)",
		.across = "what waits in any tenant" },
	[APPROVERS] = { "approvers",
		"select distinct p.tenant_id, m.user_id from " WAITING "and p.mailed_at = $1",
		.row = &approver_schema, .across = "what waits in any tenant" },
	[APPROVAL_READER] = { "approval_reader",
		"select u.email, t.name as tenant, t.slug from users u, tenants t "
		"where u.id = $1 and t.id = $2",
		.row = &approval_reader_schema },
	[APPROVAL_LINES] = { "approval_lines",
		"select p.tool_name, a.name as agent_name, p.session_id from " WAITING
		"and p.tenant_id = $1 and m.user_id = $2 and p.mailed_at = $3 "
		"order by p.id limit $4",
		.row = &approval_line_schema },
};
STATEMENT_SET(approval_letter_sql, sql);

int approval_letters_make(struct db *db, struct arena *a, int64_t now)
{
	struct list people = { 0 };
	int64_t marked = 0;
	int err = db_run(
		db, &sql[APPROVALS_MARK], &marked, ARGS(N(now), N(now - WAITED_US), N(AT_ONCE)));

	if (!err && marked)
		err = db_all(db, a, &sql[APPROVERS], &people, PEOPLE_MAX, ARGS(N(now)));
	for (size_t i = 0; !err && i < people.count; i++) {
		const struct approver *who = (const struct approver *)people.at + i;

		err = letter_add(db, LETTER_APPROVALS, who->user_id, who->tenant_id, now);
	}
	return err;
}

static int looking_run(struct work *w, struct db *db)
{
	struct arena a = { 0 };
	int err = approval_letters_make(db, &a, clock_now_us());

	(void)w;
	arena_free(&a);
	return err;
}

static void looking_done(struct work *w, int err)
{
	(void)err; /* the next look sees the same */
	free(w);
}

void approval_letters_submit(struct app *app)
{
	struct work *w = letter_post_goes(service_of(app)->letters) ? calloc(1, sizeof *w) : NULL;

	if (!w)
		return;
	*w = (struct work){ .run = looking_run, .done = looking_done, .mode = READ_WRITE };
	if (store_submit(app->store, w))
		free(w);
}

int approval_letter_fill(const struct app *app, struct db *db, struct arena *a,
	const struct letter_row *row, struct letter *ret)
{
	const char *base, *lines = "";
	struct approval_reader to;
	struct list waiting = { 0 };
	int err = db_one(db, a, &sql[APPROVAL_READER], &to, ARGS(T(row->user_id), T(row->about)));

	if (!err)
		err = db_all(db, a, &sql[APPROVAL_LINES], &waiting, LINES_MAX,
			ARGS(T(row->about), T(row->user_id), N(row->created_at), N(LINES_MAX)));
	if (err || !waiting.count)
		return err;
	base = arena_printf(a, "%s/console/t/%s", app->settings.public_url, to.slug);
	for (size_t i = 0; i < waiting.count; i++) {
		const struct approval_line *l = (const struct approval_line *)waiting.at + i;

		lines = arena_printf(a, "%s- %s: %s\n  %s/sessions/%s\n", lines,
			letter_value(a, l->agent_name), letter_value(a, l->tool_name), base,
			l->session_id);
	}
	*ret = (struct letter){ .says = LETTER_SAYS_APPROVALS,
		.to = to.email,
		.tenant = to.tenant,
		.lines = lines,
		.link = arena_printf(a, "%s/inbox", base) };
	return 0;
}
