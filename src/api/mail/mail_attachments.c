/* mail_attachments.c - the files of an agent's mail.  They come from others, so they are only saved, never shown. */
#include <string.h>

#include "api/mail/mail.h"
#include "api/service.h"
#include "bucket/bucket.h"
#include "call/operation.h"
#include "store/listing.h"
#include "store/row.h"

struct attached {
	const char *filename, *content_type, *object_key;
};

FIELDS(attached) = { ROW_FIELDS(attached, filename, content_type, object_key) };
static SCHEMA(attached, .internal = true);

#define FROM "mail_attachments t where t.tenant_id = $1 and t.agent_id = $2"

enum { LIST_OF(ATTACHMENT_LIST), ATTACHED };

static const struct statement sql[] = {
	LISTING(ATTACHMENT_LIST, "mail_attachment_list", &AgentAttachmentRow_schema, "{t.*}", FROM,
		"t.id"),
	[ATTACHED] = { "mail_attached", "select {t.*} from " FROM " and t.id = $3",
		.row = &attached_schema },
};
STATEMENT_SET(mail_attachment_sql, sql);

LIST_OPERATION(listAttachments, NONE, AgentAttachmentRow)
{
	return call_list(
		c, &sql[ATTACHMENT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

/* What no reader takes for a program; all else is bytes. */
static const char *safe_type(const char *type)
{
	static const char *const safe[] = { "text/plain", "text/csv", "application/pdf",
		"application/json", "application/zip", "image/png", "image/jpeg", "image/gif",
		"image/webp", NULL };

	for (size_t i = 0; safe[i]; i++)
		if (strcmp(safe[i], type) == 0)
			return safe[i];
	return "application/octet-stream";
}

static int open_attachment(struct call *c, int *ret_fd)
{
	return bucket_open(service_of(c->app)->bucket, c->own, ret_fd, c->arena, &c->problem);
}

OPERATION(readAttachment, NONE, NONE, .gives = "*/*", .untagged = true, .own_tag = true,
	.gives_file = true)
{
	struct bucket_row *object = c->own = arena_new(c->arena, struct bucket_row);
	struct attached file;
	int err = db_one(c->db, c->arena, &sql[ATTACHED], &file,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id),
			T(call_param(c, "attachment_id"))));

	if (!err)
		err = bucket_row_find(
			c->db, c->arena, c->caller.tenant_id, file.object_key, object);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such attachment.");
	if (err)
		return err;
	call_attach(c, file.filename);
	buf_lit(&c->x->reply.extra, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
	return call_send_file(c, &(struct call_file){ .size = (uint64_t)object->size_bytes,
					 .tag = arena_printf(c->arena, "\"%s\"", object->sha256),
					 .type = safe_type(file.content_type),
					 .open = open_attachment });
}

#define A "/tenant/{tenant_id}/agents/{agent_id}/attachments"

static const struct route routes[] = {
	{ METHOD_GET, A, &listAttachments, PERM_AGENT_MAIL_READ, 200, .tag = "Mail",
		.doc = "List the files that came or went with the agent's mail, newest first." },
	{ METHOD_GET, A "/{attachment_id}/content", &readAttachment, PERM_AGENT_MAIL_READ, 200,
		.tag = "Mail", .doc = "The bytes of such a file, to be saved." },
};
RESOURCE(mail_attachments, routes, NULL, &mail_attachment_sql);
