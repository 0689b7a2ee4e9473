/* session_files.c - what was too long for a message: the whole answers of tools.
 *
 * Such bytes come from outside and were asked for by a model, so they are
 * never shown, only saved: a browser is told not to guess and not to run. */
#include <string.h>

#include "api/sessions/session_rows.h"
#include "store/listing.h"

#define FROM "session_files f where f.tenant_id = $1 and f.session_id = $2"

enum { LIST_OF(FILE_LIST), FILE_READ, FILE_BYTES };

static const struct statement sql[] = {
	LISTING(FILE_LIST, "session_file_list", &SessionFileRead_schema, "{f.*}", FROM, "f.id"),
	[FILE_READ] = { "session_file_read", "select {f.*} from " FROM " and f.id = $3",
		.row = &SessionFileRead_schema },
	[FILE_BYTES] = { "session_file_bytes", "select f.content from " FROM " and f.id = $3" },
};
STATEMENT_SET(session_file_sql, sql);

LIST_OPERATION(listSessionFiles, NONE, SessionFileRead)
{
	return call_list(c, &sql[FILE_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.session_id)));
}

/* A name that a header can carry: letters, digits and . _ - of ASCII; the rest becomes _. */
static const char *plain_name(struct arena *a, const char *name)
{
	char *out = arena_strdup(a, *name ? name : "file");

	for (char *p = out; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *p))
			*p = '_';
	return out;
}

OPERATION(readSessionFile, NONE, NONE, .gives = "application/octet-stream")
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
	buf_printf(&r->extra,
		"Content-Disposition: attachment; filename=\"%s\"\r\n"
		"Content-Security-Policy: sandbox; default-src 'none'\r\n",
		plain_name(c->arena, file.name));
	return 0;
}

#define S "/tenant/{tenant_id}/sessions/{session_id}"

static const struct route routes[] = {
	{ METHOD_GET, S "/files", &listSessionFiles, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "List what was too long for a message: whole answers of tools." },
	{ METHOD_GET, S "/files/{file_id}/content", &readSessionFile, PERM_SESSION_READ, 200,
		.tag = "Sessions", .doc = "The bytes of such a file, to be saved." },
};
RESOURCE(session_files, routes, NULL, &session_file_sql);
