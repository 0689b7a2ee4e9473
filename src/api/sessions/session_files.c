/* session_files.c - what was too long for a message: the whole answers of tools, and what people bring along.
 *
 * Such bytes come from outside and were asked for by a model, so they are
 * never shown, only saved: a browser is told not to guess and not to run. */
#include <string.h>

#include "api/sessions/session_rows.h"
#include "base/id.h"
#include "store/listing.h"
#include "store/row.h"

#define FROM "session_files f where f.tenant_id = $1 and f.session_id = $2"

struct file_query {
	const char *name;
};

FIELDS(file_query) = {
	FIELD(file_query, name, .required = true, BOUNDS(1, 255), .example = "\"orders.csv\"",
		.doc = "What it is called."),
};
static SCHEMA(file_query, .doc = "What the file is called.");

struct file_brought {
	const char *tenant_id, *session_id, *id, *name, *content_type;
	int64_t size_bytes, created_at;
	struct bytes content;
};

FIELDS(file_brought) = { ROW_FIELDS(file_brought, tenant_id, session_id, id, name, content_type,
	size_bytes, created_at, content) };
static SCHEMA(file_brought, .internal = true);

enum { LIST_OF(FILE_LIST), FILE_READ, FILE_BYTES, FILE_BRING, FILE_COUNT };

static const struct statement sql[] = {
	LISTING(FILE_LIST, "session_file_list", &SessionFileRead_schema, "{f.*}", FROM, "f.id"),
	[FILE_READ] = { "session_file_read", "select {f.*} from " FROM " and f.id = $3",
		.row = &SessionFileRead_schema },
	[FILE_BYTES] = { "session_file_bytes", "select f.content from " FROM " and f.id = $3" },
	[FILE_BRING] = { "session_file_bring", "insert into session_files ({*}) values ({$})",
		.row = &file_brought_schema },
	[FILE_COUNT] = { "session_file_count", "select count(*) from " FROM },
};
STATEMENT_SET(session_file_sql, sql);

LIST_OPERATION(listSessionFiles, NONE, SessionFileRead)
{
	return call_list(c, &sql[FILE_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.session_id)));
}

OPERATION(readSessionFile, NONE, NONE, .long_read = true, .gives = "application/octet-stream")
{
	const struct value args[] = { T(c->caller.tenant_id), T(c->caller.session_id),
		T(call_param(c, "file_id")) };
	struct http_reply *r = &c->x->reply;
	struct SessionFileRead file;
	const void *bytes;
	size_t len = 0;
	int err = db_one(c->db, c->arena, &sql[FILE_READ], &file, args, 3);

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such file.");
	if (!err)
		err = db_bytes(c->db, c->arena, &sql[FILE_BYTES], &bytes, &len, args, 3);
	if (err)
		return err;
	buf_put(&r->body, bytes, len);
	call_attach(c, file.name);
	buf_lit(&r->extra, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
	return 0;
}

QUERY_OPERATION(createSessionFile, file_query, SessionFileRead,
	.takes = (const char *const[]){ "application/octet-stream", "text/plain", NULL })
{
	const struct caller *who = &c->caller;
	const struct value session[] = { T(who->tenant_id), T(who->session_id) };
	struct id id = id_new(NULL);
	struct value file[] = { session[0], session[1], T(id.text) };
	int64_t count = 0;
	int err = db_int(c->db, &sql[FILE_COUNT], &count, session, 2);

	if (!err && count >= SESSION_FILES_MAX)
		return call_fail(
			c, ERR_CONFLICT, "A session keeps at most %d files.", SESSION_FILES_MAX);
	if (!err)
		err = db_put(c->db, &sql[FILE_BRING],
			&(struct file_brought){ .tenant_id = who->tenant_id,
				.session_id = who->session_id,
				.id = id.text,
				.name = in->name,
				.content_type = c->raw_type,
				.size_bytes = (int64_t)c->raw_len,
				.created_at = c->now,
				.content = { c->raw, c->raw_len } });
	if (err)
		return err;
	c->location = arena_printf(c->arena, "/tenant/%s/sessions/%s/files/%s/content",
		who->tenant_id, who->session_id, id.text);
	c->audit.resource_id = who->session_id;
	c->audit.meta = arena_printf(c->arena, "{\"file_id\":\"%s\"}", id.text);
	return db_one(c->db, c->arena, &sql[FILE_READ], out, file, 3);
}

#define S "/tenant/{tenant_id}/sessions/{session_id}"

static const struct route routes[] = {
	{ METHOD_GET, S "/files", &listSessionFiles, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "List what was too long for a message: whole answers of tools, and what "
		       "people brought." },
	{ METHOD_POST, S "/files", &createSessionFile, PERM_SESSION_WRITE, 201, "session.file",
		.tag = "Sessions",
		.doc = "Keep a file beside the session; its body is the bytes. It is for people to "
		       "save, until a message shows it to the agent (file_ids)." },
	{ METHOD_GET, S "/files/{file_id}/content", &readSessionFile, PERM_SESSION_READ, 200,
		.tag = "Sessions", .doc = "The bytes of such a file, to be saved." },
};
RESOURCE(session_files, routes, NULL, &session_file_sql);
