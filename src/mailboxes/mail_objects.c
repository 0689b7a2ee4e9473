/* mail_objects.c - see mail_objects.h. */
#include "mailboxes/mail_objects.h"

#include "base/id.h"
#include "store/row.h"

struct mail_attachment_row {
	const char *tenant_id, *agent_id, *id, *message_id, *filename, *content_type;
	int64_t size_bytes;
	const char *object_key;
	int64_t created_at;
};

FIELDS(mail_attachment_row) = { ROW_FIELDS(mail_attachment_row, tenant_id, agent_id, id, message_id,
	filename, content_type, size_bytes, object_key, created_at) };
static SCHEMA(mail_attachment_row, .internal = true);

FIELDS(mail_file) = { ROW_FIELDS(mail_file, filename, content_type, size_bytes, object_key) };
static SCHEMA(mail_file, .internal = true);

/* A row that names an object, and what is counted for it. */
struct naming_row {
	const char *id, *object_key;
	int64_t held_bytes;
};

FIELDS(naming_row) = { ROW_FIELDS(naming_row, id, object_key, held_bytes) };
static SCHEMA(naming_row, .internal = true);

enum {
	FILE_ADD,
	FILES_OF,
	FILES_NAMED,
	FILES_SOME,
	FILE_DROP,
	RAW_SOME,
	RAW_DROP,
	ARRIVED_SOME,
	ARRIVED_DROP,
	NAMED
};

static const struct statement sql[] = {
	[FILE_ADD] = { "mail_file_add", "insert into mail_attachments ({*}) values ({$})",
		.row = &mail_attachment_row_schema },
	[FILES_OF] = { "mail_files_of",
		"select {*} from mail_attachments where tenant_id = $1 and agent_id = $2 "
		"and message_id = $3 order by id",
		.row = &mail_file_schema },
	[FILES_NAMED] = { "mail_files_named",
		"select id, object_key, 0 as held_bytes from mail_attachments where tenant_id = $1 and agent_id = $2 "
		"and message_id = $3 order by id",
		.row = &naming_row_schema },
	[FILES_SOME] = { "mail_files_some",
		"select id, object_key, 0 as held_bytes from mail_attachments where tenant_id = $1 and agent_id = $2 "
		"order by id limit $3",
		.row = &naming_row_schema },
	[FILE_DROP] = { "mail_file_drop",
		"delete from mail_attachments where tenant_id = $1 and agent_id = $2 and id = $3" },
	[RAW_SOME] = { "mail_raw_some",
		"select id, coalesce(object_key, '') as object_key, held_bytes from mail_messages "
		"where tenant_id = $1 and agent_id = $2 order by id limit $3",
		.row = &naming_row_schema },
	[RAW_DROP] = { "mail_raw_drop",
		"delete from mail_messages where tenant_id = $1 and agent_id = $2 and id = $3" },
	[ARRIVED_SOME] = { "mail_arrived_some",
		"select id, coalesce(object_key, '') as object_key from mail_arrivals "
		"where tenant_id = $1 and agent_id = $2 order by id limit $3",
		.row = &naming_row_schema },
	[ARRIVED_DROP] = { "mail_arrived_drop",
		"delete from mail_arrivals where tenant_id = $1 and agent_id = $2 and id = $3" },
	[NAMED] = { "mail_object_named",
		"select (select count(*) from mail_attachments where tenant_id = $1 and object_key = $2) "
		"+ (select count(*) from mail_messages where tenant_id = $1 and object_key = $2) "
		"+ (select count(*) from mail_arrivals where tenant_id = $1 and object_key = $2)" },
};
STATEMENT_SET(mail_object_sql, sql);

const char *mail_object_key(struct arena *a, const char *sha256)
{
	return arena_printf(a, MAIL_OBJECTS "%s", sha256);
}

int mail_files_add(struct db *db, struct arena *a, struct mail_message_row *m,
	const struct mail_file *files, size_t count)
{
	struct AgentAttachmentRow *shown = arena_array(a, struct AgentAttachmentRow, count + 1);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		const char *line = mail_line(a, files[i].filename), *name = *line ? line : "file";

		shown[i] = (struct AgentAttachmentRow){ .id = arena_strdup(a, id_new(NULL).text),
			.message_id = m->id,
			.filename = name,
			.content_type = files[i].content_type,
			.size_bytes = files[i].size_bytes,
			.created_at = { m->created_at } };
		m->size_bytes += files[i].size_bytes;
		err = db_put(db, &sql[FILE_ADD],
			&(struct mail_attachment_row){ .tenant_id = m->tenant_id,
				.agent_id = m->agent_id,
				.id = shown[i].id,
				.message_id = m->id,
				.filename = name,
				.content_type = files[i].content_type,
				.size_bytes = files[i].size_bytes,
				.object_key = files[i].object_key,
				.created_at = m->created_at });
	}
	m->attachments = (struct list){ shown, count };
	return err;
}

int mail_files_of(
	struct db *db, struct arena *a, const struct mail_message_row *m, struct list *ret)
{
	return db_all(db, a, &sql[FILES_OF], ret, MAIL_ATTACHMENTS_MAX,
		ARGS(T(m->tenant_id), T(m->agent_id), T(m->id)));
}

/* The object itself goes where no row names it any more. */
static int let_go(
	struct db *db, struct arena *a, const char *tenant_id, const char *key, int64_t now)
{
	struct bucket_row object;
	int64_t named = 0;
	int err = *key ? db_int(db, &sql[NAMED], &named, ARGS(T(tenant_id), T(key))) : 0;

	if (err || named || !*key)
		return err;
	err = bucket_row_find(db, a, tenant_id, key, &object);
	if (!err)
		err = bucket_row_remove(db, &object, now);
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int drop_rows(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const struct statement *drop, const struct list *rows, int64_t now)
{
	const struct naming_row *row = rows->at;
	int err = 0;

	for (size_t i = 0; !err && i < rows->count; i++) {
		err = db_run(db, drop, NULL, ARGS(T(tenant_id), T(agent_id), T(row[i].id)));
		if (!err)
			err = let_go(db, a, tenant_id, row[i].object_key, now);
		if (!err)
			err = bucket_hold_mail(db, tenant_id, 0, -row[i].held_bytes);
	}
	return err;
}

int mail_remove(struct db *db, struct arena *a, const struct mail_message_row *m, int64_t now)
{
	struct list rows = { 0 };
	int err = db_all(db, a, &sql[FILES_NAMED], &rows, MAIL_ATTACHMENTS_MAX,
		ARGS(T(m->tenant_id), T(m->agent_id), T(m->id)));

	if (!err)
		err = drop_rows(db, a, m->tenant_id, m->agent_id, &sql[FILE_DROP], &rows, now);
	if (!err)
		err = mail_message_remove(db, m);
	return err || !m->object_key ? err : let_go(db, a, m->tenant_id, m->object_key, now);
}

int mail_files_drop_some(struct db *db, struct arena *a, const char *tenant_id,
	const char *agent_id, int64_t most, int64_t now, int64_t *ret_dropped)
{
	static const struct {
		int some, drop;
	} kinds[] = { { FILES_SOME, FILE_DROP }, { RAW_SOME, RAW_DROP },
		{ ARRIVED_SOME, ARRIVED_DROP } };
	int err = 0;

	*ret_dropped = 0;
	for (size_t i = 0; !err && !*ret_dropped && i < sizeof kinds / sizeof *kinds; i++) {
		struct list rows = { 0 };

		err = db_all(db, a, &sql[kinds[i].some], &rows, (size_t)most,
			ARGS(T(tenant_id), T(agent_id), N(most)));
		if (!err)
			err = drop_rows(
				db, a, tenant_id, agent_id, &sql[kinds[i].drop], &rows, now);
		*ret_dropped = (int64_t)rows.count;
	}
	return err;
}
