/* bucket_folders.c - a bucket as folders: what lies directly under a prefix, and which folders are there.
 *
 * Keys are no paths, and there are no folders in the store: a folder is what
 * keys have in common up to a slash.  The keys are walked in their order by the
 * index; once a folder is known, the walk goes on behind its last key, so that
 * a page costs what is on it, however much lies in its folders. */
#include <string.h>

#include "api/bucket/bucket_object.h"
#include "api/service.h"

enum { AT_ONCE = 100 };

struct folder_query {
	const char *prefix, *after;
	int64_t per_page;
};

FIELDS(folder_query) = {
	FIELD(folder_query, prefix, .nullable = true, BOUNDS(1, BUCKET_KEY_MAX),
		.example = "\"imports/\"",
		.doc = "The folder: the beginning of keys up to a slash, and with it."),
	FIELD(folder_query, after, .nullable = true, BOUNDS(1, BUCKET_KEY_MAX),
		.example = "\"imports/helper.zip\"", .doc = "The next_after of the page before."),
	FIELD(folder_query, per_page, .preset = "100", BOUNDS(1, 200),
		.doc = "Folders and objects on a page."),
};
SCHEMA(folder_query, .doc = "Which folder of the bucket.");

struct BucketFolder {
	const char *prefix;
	struct list folders; /* const char * */
	struct list objects; /* struct BucketObject */
	const char *next_after;
	int64_t used_bytes, max_bytes;
};

FIELDS(BucketFolder) = {
	FIELD(BucketFolder, prefix, .required = true, .example = "\"imports/\"",
		.doc = "The folder; empty for the bucket itself."),
	FIELD(BucketFolder, folders, .required = true, .item = TEXT,
		.example = "[\"imports/2026/\"]",
		.doc = "The folders in it, each as the prefix that it is."),
	FIELD(BucketFolder, objects, .required = true, .item = OBJECT, .of = &BucketObject_schema,
		.doc = "The objects in it, and not those of its folders, by key."),
	FIELD(BucketFolder, next_after, .required = true, .nullable = true,
		.doc = "What to send as after for the next page; null at the end."),
	FIELD(BucketFolder, used_bytes, .required = true,
		.doc = "What all objects of the tenant come to."),
	FIELD(BucketFolder, max_bytes, .required = true, .doc = "What they may come to."),
};
static SCHEMA(BucketFolder, .doc = "A page of a folder of the bucket.");

enum { FOLDER_WALK };

static const struct statement sql[] = {
	[FOLDER_WALK] = { "bucket_folder_walk",
		"select id, key, size_bytes, sha256, content_type, created_at, updated_at, "
		"'bucket://' || tenant_id || '/' || key as storage_uri "
		"from bucket_objects where tenant_id = $1 and key >= $2 order by key limit $3",
		.row = &BucketObject_schema },
};
STATEMENT_SET(bucket_folder_sql, sql);

/* The least key that comes after it; after all that is in it, where it is a folder.  Keys have no control characters, and
 * what follows the slash is the nought. */
static const char *key_behind(struct arena *a, const char *key)
{
	size_t len = strlen(key);

	return len && key[len - 1] == '/' ? arena_printf(a, "%.*s0", (int)len - 1, key)
					  : arena_printf(a, "%s\x01", key);
}

/* A walk through one folder, as far as a page goes. */
struct folder_walk {
	const char *prefix, *from;
	const char *last; /* on the page */
	size_t room;
	bool done, more;
	const char **folders;
	struct BucketObject *objects;
	size_t folder_count, object_count;
};

/* The next key is in a folder, or an object here, or beyond the page. */
static void walk_key(struct folder_walk *w, struct arena *a, const struct BucketObject *row)
{
	size_t begins = strlen(w->prefix);
	const char *slash;

	if (strcmp(row->key, w->from) < 0)
		return; /* in the folder before it */
	if (bucket_key_is_reserved(row->key)) {
		w->from = key_behind(a, BUCKET_RESERVED);
		return;
	}
	w->done = strncmp(row->key, w->prefix, begins) != 0;
	w->more = !w->done && w->folder_count + w->object_count == w->room;
	w->done = w->done || w->more;
	if (w->done)
		return;
	slash = strchr(row->key + begins, '/');
	w->last = slash ? arena_strndup(a, row->key, (size_t)(slash + 1 - row->key)) : row->key;
	w->from = key_behind(a, w->last);
	if (slash)
		w->folders[w->folder_count++] = w->last;
	else
		w->objects[w->object_count++] = *row;
}

static int walk_folder(struct call *c, struct folder_walk *w)
{
	while (!w->done) {
		const struct BucketObject *row;
		struct list rows;
		int err = db_all(c->db, c->arena, &sql[FOLDER_WALK], &rows, AT_ONCE,
			ARGS(T(c->caller.tenant_id), T(w->from), N(AT_ONCE)));

		if (err)
			return err;
		row = rows.at;
		for (size_t i = 0; i < rows.count && !w->done; i++)
			walk_key(w, c->arena, &row[i]);
		w->done = w->done || rows.count < AT_ONCE;
	}
	return 0;
}

QUERY_OPERATION(listBucketFolder, folder_query, BucketFolder)
{
	const size_t room = (size_t)in->per_page;
	struct folder_walk w = { .prefix = in->prefix ? in->prefix : "",
		.room = room,
		.folders = arena_array(c->arena, const char *, room),
		.objects = arena_array(c->arena, struct BucketObject, room) };
	const char *behind = in->after ? key_behind(c->arena, in->after) : "";
	int err;

	if (*w.prefix && w.prefix[strlen(w.prefix) - 1] != '/')
		return call_field(c, "prefix", "folder", "must end with a slash");
	w.from = strcmp(behind, w.prefix) > 0 ? behind : w.prefix;
	err = walk_folder(c, &w);
	if (!err)
		err = bucket_used(c->db, c->caller.tenant_id, &out->used_bytes);
	if (err)
		return err;
	out->prefix = w.prefix;
	out->folders = (struct list){ w.folders, w.folder_count };
	out->objects = (struct list){ w.objects, w.object_count };
	out->next_after = w.more ? w.last : NULL;
	out->max_bytes = bucket_tenant_max(service_of(c->app)->bucket);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/bucket/folder", &listBucketFolder, PERM_BUCKET_READ, 200,
		.tag = "Bucket",
		.doc = "What lies in one folder of the tenant's bucket: its folders, its objects, and how "
		       "much room there is." },
};
RESOURCE(bucket_folders, routes, NULL, &bucket_folder_sql);
