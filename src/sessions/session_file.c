/* session_file.c - see session_file.h. */
#include "sessions/session_file.h"

#include <string.h>

#include "sessions/media_type.h"
#include "store/row.h"

#define KEY BUCKET_RESERVED "files/"

struct kept_file {
	const char *tenant_id, *session_id, *id, *name, *content_type;
	int64_t size_bytes, created_at;
	struct bytes content;
	const char *object_id;
};

FIELDS(kept_file) = { ROW_FIELDS(kept_file, tenant_id, session_id, id, name, content_type,
			      size_bytes, created_at, content),
	ROW_NULLABLE(kept_file, object_id) };
static SCHEMA(kept_file, .internal = true);

enum {
	FILE_ADD,
	FILE_OBJECT,
	FILE_CONTENT,
	FILE_OBJECTS,
	FILE_MOVED,
	OBJECT_NAMES,
	COUNT_FILES,
	COUNT_OBJECTS,
	COUNT_LOST,
	COUNT_UNNAMED,
	COUNT_WRONG,
};

#define ONE "tenant_id = $1 and session_id = $2 and id = $3"
#define ALL .scan = "all of them are checked", .across = "of every tenant"

static const struct statement sql[] = {
	[FILE_ADD] = { "session_file_add", "insert into session_files ({*}) values ({$})",
		.row = &kept_file_schema },
	[FILE_OBJECT] = { "session_file_object",
		"select object_id as value from session_files where " ONE,
		.row = &one_text_schema },
	[FILE_CONTENT] = { "session_file_content", "select content from session_files where " ONE },
	[FILE_OBJECTS] = { "session_file_objects",
		"select object_id as value from session_files where tenant_id = $1 and session_id = $2 "
		"order by id limit $3",
		.row = &one_text_schema },
	[FILE_MOVED] = { "session_file_moved",
		"update session_files set object_id = $4, content = $5 where " ONE
		" and object_id is null" },
	[OBJECT_NAMES] = { "session_object_names",
		"select count(*) from session_files where tenant_id = $1 and object_id = $2" },
	[COUNT_FILES] = { "session_files_all", "select count(*) from session_files", ALL },
	[COUNT_OBJECTS] = { "session_files_objects",
		"select count(*) from bucket_objects where key like '" KEY "%'", ALL },
	[COUNT_LOST] = { "session_files_lost",
		"select count(*) from session_files f where f.object_id is not null and not exists "
		"(select 1 from bucket_objects o where o.tenant_id = f.tenant_id and o.id = f.object_id)",
		ALL },
	[COUNT_UNNAMED] = { "session_files_unnamed",
		"select count(*) from bucket_objects o where o.key like '" KEY "%' and not exists "
		"(select 1 from session_files f where f.tenant_id = o.tenant_id and f.object_id = o.id)",
		ALL },
	[COUNT_WRONG] = { "session_files_miscounted",
		"select count(*) from tenants t where "
		"(select coalesce(sum(o.size_bytes), 0) from bucket_objects o where o.tenant_id = t.id) "
		"<> (select coalesce(sum(u.size_bytes), 0) from bucket_usage u where u.tenant_id = t.id)",
		ALL },
};
STATEMENT_SET(session_file_row_sql, sql);

/* ---- in ---- */

/* The object with these bytes, made if there is none.  It is told what a model would be shown. */
static int name_object(struct db *db, struct arena *a, const struct session_file_new *in,
	const struct bucket_stored *stored, int64_t tenant_max, int64_t now, const char **ret_id)
{
	const char *key = arena_printf(a, KEY "%s", stored->blob);
	struct bucket_row row;
	bool stood;
	int err = bucket_row_find(db, a, in->tenant_id, key, &row);

	if (err == ERR_NOT_FOUND)
		err = bucket_row_put(db, a,
			&(struct bucket_putting){ .tenant_id = in->tenant_id,
				.key = key,
				.content_type =
					media_shown_type(a, in->content_type, in->bytes, in->len),
				.stored = stored,
				.tenant_max = tenant_max,
				.now = now },
			&row, &stood);
	*ret_id = err ? NULL : row.id;
	return err;
}

static int bring_object(struct db *db, struct arena *a, const struct session_file_new *in,
	const char **ret_id, struct problem *p)
{
	int64_t most = bucket_tenant_max(bucket_carry_bucket(in->carry));
	const struct bucket_stored *stored;
	int err = bucket_room(db, in->tenant_id, most, (int64_t)in->len, 0);

	if (err)
		return err == ERR_NO_SPACE ? bucket_no_room(db, in->tenant_id, most, 0, a, p) : err;
	err = bucket_carry_put(in->carry, in->bytes, in->len, in->stays, &stored);
	if (err && in->anyhow && err != ERR_BRING)
		return 0;
	if (!err)
		err = name_object(db, a, in, stored, most, in->created_at, ret_id);
	if (!err)
		bucket_carry_named(in->carry, stored);
	return err == ERR_NO_SPACE ? bucket_no_room(db, in->tenant_id, most, 0, a, p) : err;
}

static bool is_for_bucket(const struct bucket_carry *carry, size_t len)
{
	return carry && len > SESSION_FILE_SMALL && bucket_takes_files(bucket_carry_bucket(carry));
}

void session_file_note(struct bucket_carry *carry, const void *bytes, size_t len)
{
	const struct bucket_stored *ignored;

	if (is_for_bucket(carry, len))
		bucket_carry_put(carry, bytes, len, true, &ignored);
}

int session_file_add(
	struct db *db, struct arena *a, const struct session_file_new *in, struct problem *p)
{
	struct kept_file row = { .tenant_id = in->tenant_id,
		.session_id = in->session_id,
		.id = in->id,
		.name = in->name,
		.content_type = in->content_type,
		.size_bytes = (int64_t)in->len,
		.created_at = in->created_at,
		.content = { in->bytes, in->len } };
	int err =
		is_for_bucket(in->carry, in->len) ? bring_object(db, a, in, &row.object_id, p) : 0;

	if (row.object_id)
		row.content = (struct bytes){ "", 0 };
	return err ? err : db_put(db, &sql[FILE_ADD], &row);
}

int session_file_moved(struct db *db, struct arena *a, const struct session_file_new *in,
	const struct bucket_stored *stored, int64_t now, bool *ret_moved)
{
	const char *object_id = NULL;
	struct one_text stands;
	int err = db_one(db, a, &sql[FILE_OBJECT], &stands,
		ARGS(T(in->tenant_id), T(in->session_id), T(in->id)));

	*ret_moved = false;
	if (err == ERR_NOT_FOUND || (!err && stands.value))
		return 0;
	/* They were taken in already: a tenant that has too much of them brings no more, and loses none. */
	if (!err)
		err = name_object(db, a, in, stored, INT64_MAX, now, &object_id);
	if (!err)
		err = db_run(db, &sql[FILE_MOVED], NULL,
			ARGS(T(in->tenant_id), T(in->session_id), T(in->id), T(object_id),
				value_bytes("", 0)));
	*ret_moved = !err;
	return err;
}

/* ---- out ---- */

int session_file_find(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *id, struct session_file_bytes *ret, struct problem *p)
{
	const struct value args[] = { T(tenant_id), T(session_id), T(id) };
	struct one_text object;
	int err = db_one(db, a, &sql[FILE_OBJECT], &object, args, 3);

	*ret = (struct session_file_bytes){ 0 };
	if (err)
		return err;
	if (!object.value)
		return db_bytes(db, a, &sql[FILE_CONTENT], &ret->bytes, &ret->len, args, 3);
	ret->in_bucket = true;
	err = bucket_row_read(db, a, tenant_id, object.value, &ret->object);
	return err == ERR_NOT_FOUND ? problem_set(p, a, ERR_STORE,
					      "The bytes of this file are not in the bucket.")
				    : err;
}

/* ---- and gone ---- */

int session_file_object(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *id, struct list *ret)
{
	return db_all(db, a, &sql[FILE_OBJECT], ret, 1, ARGS(T(tenant_id), T(session_id), T(id)));
}

int session_file_objects(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t most, struct list *ret)
{
	return db_all(db, a, &sql[FILE_OBJECTS], ret, (size_t)most,
		ARGS(T(tenant_id), T(session_id), N(most)));
}

static int unname_one(
	struct db *db, struct arena *a, const char *tenant_id, const char *object_id, int64_t now)
{
	struct bucket_row row;
	int64_t names = 0;
	int err = db_int(db, &sql[OBJECT_NAMES], &names, ARGS(T(tenant_id), T(object_id)));

	if (err || names)
		return err;
	err = bucket_row_read(db, a, tenant_id, object_id, &row);
	if (err == ERR_NOT_FOUND) /* it went with another of these */
		return 0;
	return err ? err : bucket_row_remove(db, &row, now);
}

int session_file_unname(struct db *db, struct arena *a, const char *tenant_id,
	const struct list *objects, int64_t now)
{
	const struct one_text *object = objects->at;
	int err = 0;

	for (size_t i = 0; !err && i < objects->count; i++)
		if (object[i].value)
			err = unname_one(db, a, tenant_id, object[i].value, now);
	return err;
}

int session_files_check(struct db *db, struct session_files_report *ret)
{
	int64_t *const counts[] = { &ret->files, &ret->objects, &ret->lost, &ret->unnamed,
		&ret->miscounted };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof counts / sizeof *counts; i++)
		err = db_int(db, &sql[COUNT_FILES + i], counts[i], NO_ARGS);
	return err;
}
