/* session_branch.c - another way on from a message: all that was said up to it, in a session of its own.
 *
 * Messages keep their ids, which are names within a session, so that summaries
 * that stand for some of them can come along as they are.  What they took was
 * paid for where it was said and counts nothing here; calls of tools stay there, and of the files those come along that
 * messages show: rows, which name the same objects of the bucket. */
#include "sessions/session.h"

#include <string.h>

#include "sessions/session_media.h"
#include "sessions/session_tx.h"
#include "store/row.h"

enum { BRANCH_MESSAGES_MAX = 20000, BRANCH_FILES_MAX = 4 * SESSION_FILES_MAX };

enum {
	BRANCH_COUNT,
	BRANCH_OPEN_CALLS,
	BRANCH_MESSAGES,
	BRANCH_SUMMARIES,
	BRANCH_PARTS,
	BRANCH_FILE,
};

struct branched_parts {
	struct list parts;
};

FIELDS(branched_parts) = {
	FIELD(branched_parts, parts, .item = OBJECT, .of = &MessagePart_schema),
};
static SCHEMA(branched_parts, .internal = true);

/* $1 tenant, $2 session, $3 the last message; $4 the new session */
#define UP_TO "m.tenant_id = $1 and m.session_id = $2 and m.id <= $3"

static const struct statement sql[] = {
	[BRANCH_COUNT] = { "session_branch_count",
		"select count(*) from (select 1 from messages m where " UP_TO " limit $4) x",
		.scan = "only of what the inner select found, which is bounded" },
	/* Those of earlier messages had their results before the next one was written. */
	[BRANCH_OPEN_CALLS] = { "session_branch_open",
		"select count(*) from session_calls k where k.tenant_id = $1 and k.session_id = $2 "
		"and k.message_id = (select max(j.message_id) from session_calls j "
		"where j.tenant_id = $1 and j.session_id = $2 and j.message_id <= $3) "
		"and not exists (select 1 from messages m where " UP_TO " and m.id > k.message_id "
		"and m.role = 'tool' and m.tool_call_id = k.call_id)" },
	[BRANCH_MESSAGES] = { "session_branch_messages",
		"insert into messages (tenant_id, session_id, id, author_id, role, status, tool_call_id, "
		"model_id, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, "
		"cost_pd, created_at, metadata, tool_calls, thoughts, content, parts) "
		"select m.tenant_id, $4, m.id, m.author_id, m.role, m.status, m.tool_call_id, m.model_id, "
		"0, 0, 0, 0, 0, m.created_at, m.metadata, m.tool_calls, m.thoughts, m.content, "
		"m.parts "
		"from messages m where " UP_TO },
	[BRANCH_SUMMARIES] = { "session_branch_summaries",
		"insert into session_summaries (tenant_id, session_id, last_message_id, created_at, content) "
		"select y.tenant_id, $4, y.last_message_id, y.created_at, y.content "
		"from session_summaries y where y.tenant_id = $1 and y.session_id = $2 "
		"and y.last_message_id <= $3" },
	[BRANCH_PARTS] = { "session_branch_parts",
		"select m.parts from messages m where " UP_TO " and m.parts is not null",
		.row = &branched_parts_schema },
	/* $1 tenant, $2 session, $3 the new session, $4 the file */
	[BRANCH_FILE] = { "session_branch_file",
		"insert into session_files (tenant_id, session_id, id, name, content_type, size_bytes, "
		"created_at, content, object_id) select f.tenant_id, $3, f.id, f.name, f.content_type, "
		"f.size_bytes, f.created_at, f.content, f.object_id from session_files f "
		"where f.tenant_id = $1 and f.session_id = $2 and f.id = $4 "
		"on conflict (tenant_id, session_id, id) do nothing" },
};
STATEMENT_SET(session_branch_sql, sql);

static int check_place(struct session_tx *from, const char *message_id, int64_t *ret_count,
	struct problem *problem)
{
	struct message_row m;
	int64_t open = 0;
	int err = tx_message_read(from, message_id, &m);

	if (err == ERR_NOT_FOUND)
		return problem_set(problem, from->a, err, "There is no such message.");
	if (!err)
		err = db_int(from->db, &sql[BRANCH_OPEN_CALLS], &open,
			ARGS(T(from->tenant_id), T(from->session_id), T(message_id)));
	if (!err)
		err = db_int(from->db, &sql[BRANCH_COUNT], ret_count,
			ARGS(T(from->tenant_id), T(from->session_id), T(message_id),
				N(BRANCH_MESSAGES_MAX + 1)));
	if (err)
		return err;
	if (open || (from->row.writing_id && strcmp(from->row.writing_id, message_id) <= 0))
		return problem_set(problem, from->a, ERR_CONFLICT,
			"The agent is in the middle of a step there; branch from a message before it, "
			"or after it when it is done.");
	if (*ret_count > BRANCH_MESSAGES_MAX)
		return problem_set(problem, from->a, ERR_CONFLICT,
			"A branch takes at most %d messages along.", BRANCH_MESSAGES_MAX);
	return 0;
}

struct shown_files {
	const char **id; /* in order */
	size_t count;
	int64_t bytes;
};

/* Each once, however often it is shown. */
static void add_shown(struct shown_files *f, const struct MessagePart *part)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int way = strcmp(f->id[mid], part->file_id);

		if (way == 0)
			return;
		if (way < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (f->count == BRANCH_FILES_MAX)
		return; /* there are fewer files in a session: the others were deleted */
	memmove(f->id + low + 1, f->id + low, (f->count - low) * sizeof *f->id);
	f->id[low] = part->file_id;
	f->count++;
	f->bytes += part->size_bytes;
}

/* Those that the messages show. */
static int branch_files(struct db *db, struct arena *a, const struct session_branch_asked *in,
	const char *id, struct problem *problem)
{
	struct shown_files shown = { arena_array(a, const char *, BRANCH_FILES_MAX), 0, 0 };
	const struct branched_parts *row;
	struct list rows;
	int err = db_all(db, a, &sql[BRANCH_PARTS], &rows, BRANCH_MESSAGES_MAX,
		ARGS(T(in->tenant_id), T(in->session_id), T(in->message_id)));

	row = rows.at;
	for (size_t i = rows.count; !err && i-- > 0;) {
		const struct MessagePart *part = row[i].parts.at;

		for (size_t j = 0; j < row[i].parts.count; j++)
			if (part[j].file_id)
				add_shown(&shown, &part[j]);
	}
	if (!err && shown.bytes > SESSION_FILES_BYTES)
		return problem_set(problem, a, ERR_CONFLICT,
			"A branch takes at most %d MiB of files along.", SESSION_FILES_BYTES >> 20);
	for (size_t i = 0; !err && i < shown.count; i++)
		err = db_run(db, &sql[BRANCH_FILE], NULL,
			ARGS(T(in->tenant_id), T(in->session_id), T(id), T(shown.id[i])));
	return err;
}

int session_branch(struct db *db, struct arena *a, const struct session_branch_asked *in,
	const char **ret_id, struct problem *problem)
{
	struct session_tx from, to;
	int64_t count = 0;
	bool by_mail = false;
	int err = tx_open(&from, db, a, in->tenant_id, in->session_id, in->now, problem);

	if (!err)
		err = check_place(&from, in->message_id, &count, problem);
	if (!err)
		err = session_by_mail(db, a, in->tenant_id, in->session_id, &by_mail);
	if (err)
		return err;
	/* What mail said stays for those who read mail. */
	err = session_open(db, a,
		&(struct session_new){ .tenant_id = in->tenant_id,
			.agent_id = from.row.agent_id,
			.created_by_id = in->user_id,
			.origin = by_mail ? "mail" : in->origin,
			.title = from.row.title,
			.metadata = arena_printf(a,
				"{\"branch_of\":\"%s\",\"branch_message_id\":\"%s\"}",
				in->session_id, in->message_id),
			.now = in->now },
		ret_id, problem);
	for (int i = BRANCH_MESSAGES; !err && i <= BRANCH_SUMMARIES; i++)
		err = db_run(db, &sql[i], NULL,
			ARGS(T(in->tenant_id), T(in->session_id), T(in->message_id), T(*ret_id)));
	if (!err)
		err = branch_files(db, a, in, *ret_id, problem);
	if (!err)
		err = tx_open(&to, db, a, in->tenant_id, *ret_id, in->now, problem);
	if (err)
		return err;
	to.row.message_count = count;
	to.row.last_message_id = in->message_id;
	err = tx_notice(&to, "branched", "This goes on from a message of another session.");
	return err ? err : tx_close(&to);
}
