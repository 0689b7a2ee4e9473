/* bucket_rows.c - what is in each tenant's bucket, as rows; see bucket.h. */
#include "bucket/bucket.h"

#include <string.h>

#include "store/row.h"

FIELDS(bucket_row) = { ROW_FIELDS(bucket_row, tenant_id, id, key, blob, size_bytes, sha256,
	content_type, created_at, updated_at) };
static SCHEMA(bucket_row, .internal = true);

enum {
	ROW_FIND,
	ROW_READ,
	ROW_ADD,
	ROW_CHANGE,
	ROW_DROP,
	USED_READ,
	USED_ADD,
	MAIL_ADD,
	FREEING_READ,
	FREEING_ADD,
	TRASH_ADD,
	ROW_ANY
};

static const struct statement sql[] = {
	[ROW_FIND] = { "bucket_find",
		"select {*} from bucket_objects where tenant_id = $1 and key = $2",
		.row = &bucket_row_schema },
	[ROW_READ] = { "bucket_read",
		"select {*} from bucket_objects where tenant_id = $1 and id = $2",
		.row = &bucket_row_schema },
	[ROW_ADD] = { "bucket_add", "insert into bucket_objects ({*}) values ({$})",
		.row = &bucket_row_schema },
	[ROW_CHANGE] = { "bucket_change",
		"update bucket_objects set {=} where tenant_id = :tenant_id and id = :id",
		.row = &bucket_row_schema },
	[ROW_DROP] = { "bucket_drop",
		"delete from bucket_objects where tenant_id = $1 and id = $2" },
	[USED_READ] = { "bucket_used",
		"select cast(coalesce(sum(size_bytes + mail_bytes), 0) as bigint) from bucket_usage "
		"where tenant_id = $1" },
	[USED_ADD] = { "bucket_used_add",
		"insert into bucket_usage (tenant_id, size_bytes) values ($1, $2) on conflict (tenant_id) "
		"do update set size_bytes = bucket_usage.size_bytes + excluded.size_bytes" },
	[MAIL_ADD] = { "bucket_mail_add",
		"insert into bucket_usage (tenant_id, size_bytes, mail_bytes) values ($1, 0, $2) "
		"on conflict (tenant_id) "
		"do update set mail_bytes = bucket_usage.mail_bytes + excluded.mail_bytes" },
	[FREEING_READ] = { "bucket_freeing",
		"select coalesce(sum(trash_bytes), 0) from bucket_usage where tenant_id = $1" },
	[FREEING_ADD] = { "bucket_freeing_add",
		"update bucket_usage set trash_bytes = trash_bytes + $2 where tenant_id = $1" },
	[TRASH_ADD] = { "bucket_trash_add",
		"insert into bucket_trash (folder, blob, since, size_bytes) values ($1, $2, $3, $4)" },
	[ROW_ANY] = { "bucket_any",
		"select case when exists (select 1 from bucket_objects) then 1 else 0 end",
		.across = "asks whether there is anything at all", .scan = "one row is enough" },
};
STATEMENT_SET(bucket_row_sql, sql);

int bucket_row_find(struct db *db, struct arena *a, const char *tenant_id, const char *key,
	struct bucket_row *ret)
{
	return db_one(db, a, &sql[ROW_FIND], ret, ARGS(T(tenant_id), T(key)));
}

int bucket_row_read(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct bucket_row *ret)
{
	return db_one(db, a, &sql[ROW_READ], ret, ARGS(T(tenant_id), T(id)));
}

int bucket_used(struct db *db, const char *tenant_id, int64_t *ret)
{
	return db_int(db, &sql[USED_READ], ret, ARGS(T(tenant_id)));
}

int bucket_any(struct db *db, bool *ret)
{
	int64_t any = 0;
	int err = db_int(db, &sql[ROW_ANY], &any, NO_ARGS);

	*ret = any;
	return err;
}

static int add_used(struct db *db, const char *tenant_id, int64_t by)
{
	return by ? db_run(db, &sql[USED_ADD], NULL, ARGS(T(tenant_id), N(by))) : 0;
}

int bucket_hold_mail(struct db *db, const char *tenant_id, int64_t most, int64_t by)
{
	int err = by > 0 ? bucket_room(db, tenant_id, most, by, 0) : 0;

	return err || !by ? err : db_run(db, &sql[MAIL_ADD], NULL, ARGS(T(tenant_id), N(by)));
}

static int bucket_freeing(struct db *db, const char *tenant_id, int64_t *ret)
{
	return db_int(db, &sql[FREEING_READ], ret, ARGS(T(tenant_id)));
}

static int throw_away(struct db *db, const struct bucket_row *row, int64_t now)
{
	int err = db_run(db, &sql[TRASH_ADD], NULL,
		ARGS(T(row->tenant_id), T(row->blob), N(now), N(row->size_bytes)));

	return err ? err
		   : db_run(db, &sql[FREEING_ADD], NULL,
			     ARGS(T(row->tenant_id), N(row->size_bytes)));
}

int bucket_room(struct db *db, const char *tenant_id, int64_t most, int64_t adds, int64_t replaced)
{
	int64_t used = 0, freeing = 0;
	int err = bucket_used(db, tenant_id, &used);

	if (!err)
		err = bucket_freeing(db, tenant_id, &freeing);
	if (err)
		return err;
	if (adds > replaced && used + adds - replaced > most)
		return ERR_NO_SPACE;
	return freeing + replaced > most ? ERR_NO_SPACE : 0;
}

int bucket_no_room(struct db *db, const char *tenant_id, int64_t most, int64_t replaced,
	struct arena *a, struct problem *p)
{
	int64_t freeing = 0;

	if (bucket_freeing(db, tenant_id, &freeing) == 0 && freeing + replaced > most)
		return problem_set(p, a, ERR_NO_SPACE,
			"What this tenant replaced and deleted a moment ago takes as much room as its bucket may hold. It "
			"is being freed: put this again in a minute.");
	return problem_set(p, a, ERR_NO_SPACE,
		"The bucket of a tenant holds %lld bytes, files of sessions and mail among them, and these would be more.",
		(long long)most);
}

int bucket_row_put(struct db *db, struct arena *a, const struct bucket_putting *in,
	struct bucket_row *ret, bool *ret_stood)
{
	struct bucket_row before = { 0 };
	int64_t adds = in->stored->size_bytes;
	int err = bucket_row_find(db, a, in->tenant_id, in->key, &before);

	if (err && err != ERR_NOT_FOUND)
		return err;
	*ret_stood = !err;
	*ret = (struct bucket_row){ .tenant_id = in->tenant_id,
		.id = err ? arena_strdup(a, id_new(NULL).text) : before.id,
		.key = in->key,
		.blob = arena_strdup(a, in->stored->blob),
		.size_bytes = adds,
		.sha256 = arena_strdup(a, in->stored->sha256),
		.content_type = in->content_type,
		.created_at = err ? in->now : before.created_at,
		.updated_at =
			err || in->now > before.updated_at ? in->now : before.updated_at + 1 };
	err = bucket_room(db, in->tenant_id, in->tenant_max, adds, before.size_bytes);
	if (!err)
		err = add_used(db, in->tenant_id, adds - before.size_bytes);
	if (!err && *ret_stood)
		err = throw_away(db, &before, in->now);
	return err ? err : db_put(db, &sql[*ret_stood ? ROW_CHANGE : ROW_ADD], ret);
}

int bucket_row_remove(struct db *db, const struct bucket_row *row, int64_t now)
{
	int err = add_used(db, row->tenant_id, -row->size_bytes);

	if (!err)
		err = throw_away(db, row, now);
	return err ? err : db_run(db, &sql[ROW_DROP], NULL, ARGS(T(row->tenant_id), T(row->id)));
}
