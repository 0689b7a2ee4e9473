/* session_files.c - what was too long for a message: the whole answers of tools, and what people bring along.
 *
 * Such bytes come from outside and were asked for by a model, so they are
 * never shown, only saved: a browser is told not to guess and not to run. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/bucket/bucket_object.h"
#include "api/sessions/session_rows.h"
#include "base/crypto.h"
#include "base/id.h"
#include "sessions/session_file.h"
#include "store/listing.h"

#define FROM "session_files f where f.tenant_id = $1 and f.session_id = $2"

struct file_query {
	const char *name;
};

FIELDS(file_query) = {
	FIELD(file_query, name, .required = true, BOUNDS(1, 255), .example = "\"orders.csv\"",
		.doc = "What it is called."),
};
static SCHEMA(file_query, .doc = "What the file is called.");

enum { LIST_OF(FILE_LIST), FILE_READ, FILE_COUNT };

static const struct statement sql[] = {
	LISTING(FILE_LIST, "session_file_list", &SessionFileRead_schema, "{f.*}", FROM, "f.id"),
	[FILE_READ] = { "session_file_read", "select {f.*} from " FROM " and f.id = $3",
		.row = &SessionFileRead_schema },
	[FILE_COUNT] = { "session_file_count", "select count(*) from " FROM },
};
STATEMENT_SET(session_file_sql, sql);

LIST_OPERATION(listSessionFiles, NONE, SessionFileRead)
{
	return call_list(c, &sql[FILE_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.session_id)));
}

/* What is in the store goes through a file in memory, so that both kinds are answered alike. */
static int open_bytes(struct call *c, int *ret_fd)
{
	const struct session_file_bytes *file = c->own;
	const char *at = file->bytes;
	size_t left = file->len;
	int fd;

	fd = memfd_create("session-file", MFD_CLOEXEC);
	while (fd >= 0 && left) {
		ssize_t n = write(fd, at, left);

		if (n <= 0) {
			close(fd);
			return ERR_BUSY;
		}
		at += n;
		left -= (size_t)n;
	}
	*ret_fd = fd;
	return fd < 0 ? ERR_BUSY : 0;
}

static const char *bytes_tag(struct call *c, const struct session_file_bytes *file)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	sha256(file->bytes, file->len, digest);
	hex_write(digest, sizeof digest, hex);
	return arena_printf(c->arena, "\"%s\"", hex);
}

OPERATION(readSessionFile, NONE, NONE, .long_read = true, .gives = "application/octet-stream",
	.untagged = true, .own_tag = true, .gives_file = true)
{
	const char *id = call_param(c, "file_id");
	const struct value args[] = { T(c->caller.tenant_id), T(c->caller.session_id), T(id) };
	struct session_file_bytes *file = c->own = arena_new(c->arena, struct session_file_bytes);
	struct SessionFileRead row;
	int err = db_one(c->db, c->arena, &sql[FILE_READ], &row, args, 3);

	if (!err)
		err = session_file_find(c->db, c->arena, c->caller.tenant_id, c->caller.session_id,
			id, file, &c->problem);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such file.");
	if (err)
		return err;
	if (file->in_bucket)
		return object_send_row(c, &file->object, row.name, "application/octet-stream");
	call_attach(c, row.name);
	buf_lit(&c->x->reply.extra, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
	return call_send_file(c, &(struct call_file){ .size = file->len,
					 .tag = bytes_tag(c, file),
					 .type = "application/octet-stream",
					 .open = open_bytes });
}

QUERY_OPERATION(createSessionFile, file_query, SessionFileRead, .brings_files = true,
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
		err = session_file_add(c->db, c->arena,
			&(struct session_file_new){ .tenant_id = who->tenant_id,
				.session_id = who->session_id,
				.id = id.text,
				.name = in->name,
				.content_type = c->raw_type,
				.created_at = c->now,
				.bytes = c->raw,
				.len = c->raw_len,
				.carry = session_carry(c),
				.stays = true },
			&c->problem);
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
		.patient = true, .tag = "Sessions",
		.doc = "Keep a file beside the session; its body is the bytes. It is for people to "
		       "save, until a message shows it to the agent (file_ids)." },
	{ METHOD_GET, S "/files/{file_id}/content", &readSessionFile, PERM_SESSION_READ, 200,
		.tag = "Sessions", .doc = "The bytes of such a file, to be saved." },
};
RESOURCE(session_files, routes, NULL, &session_file_sql);
