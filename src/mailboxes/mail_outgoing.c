/* mail_outgoing.c - see mail_outgoing.h. */
#include "mailboxes/mail_outgoing.h"

#include <string.h>
#include <unistd.h>

#include "mail/compose.h"

enum { SIGNATURE_ROOM = 8192 };

enum { SENDER };

/* Who sends, unless that is switched off. */
static const struct statement sql[] = {
	[SENDER] = { "mail_outgoing_sender",
		"select a.name as value from agents a join tenants t on t.id = a.tenant_id "
		"where a.tenant_id = $1 and a.id = $2 and a.is_active = 1 "
		"and t.status in ('active', 'trial')",
		.row = &one_text_schema },
};
STATEMENT_SET(mail_outgoing_sql, sql);

/* ---- read ---- */

static int read_why_not(struct db *db, struct arena *a, struct mail_outgoing *l)
{
	struct one_text name = { 0 };
	bool suppressed = false;
	int err = mailbox_find(db, a, l->m.tenant_id, l->m.mailbox_id, &l->from);

	if (err == ERR_NOT_FOUND || (!err && !mailbox_is_active(&l->from))) {
		l->why_not = "the mailbox was paused or switched off before it could be sent";
		return 0;
	}
	if (!err)
		err = db_one(db, a, &sql[SENDER], &name, ARGS(T(l->m.tenant_id), T(l->m.agent_id)));
	if (err == ERR_NOT_FOUND) {
		l->why_not = "the agent was switched off before it could be sent";
		return 0;
	}
	l->agent_name = name.value;
	if (!err)
		err = mail_suppressed(db, l->m.tenant_id, l->send.address, &suppressed);
	if (suppressed)
		l->why_not = "the address is not written to any more: mail to it came back";
	else if (!smtp_path_is_plain(l->send.address)) /* from before such were refused */
		l->why_not = SMTP_NOT_PLAIN;
	return err;
}

static int read_files(struct db *db, struct arena *a, struct mail_outgoing *l)
{
	struct list files = { 0 };
	int err = mail_files_of(db, a, &l->m, &files);

	l->files = (struct mail_file *)files.at;
	l->file_count = files.count;
	l->objects = arena_array(a, struct bucket_row, files.count + 1);
	for (size_t i = 0; !err && i < files.count; i++)
		err = bucket_row_find(
			db, a, l->m.tenant_id, l->files[i].object_key, &l->objects[i]);
	if (err == ERR_NOT_FOUND) {
		l->why_not = "an attachment is not in the bucket any more";
		return 0;
	}
	return err;
}

int mail_outgoing_read(struct db *db, struct arena *a, struct vault *vault, const char *tenant_id,
	const char *send_id, struct mail_outgoing *ret)
{
	int err;

	*ret = (struct mail_outgoing){ 0 };
	err = mail_send_find(db, a, tenant_id, send_id, &ret->send);
	if (!err && ret->send.state != MailSendState_queued)
		return ERR_NOT_FOUND;
	if (!err)
		err = mail_message_find(
			db, a, tenant_id, ret->send.agent_id, ret->send.message_id, &ret->m);
	if (!err)
		err = read_why_not(db, a, ret);
	if (!err && !ret->why_not)
		err = read_files(db, a, ret);
	if (err || ret->why_not)
		return err;
	err = mail_dkim_for(db, a, vault, strchr(ret->from.address, '@') + 1, &ret->key);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- written ---- */

struct letter_sink {
	struct compose_sink sink; /* first */
	struct buf *to;
};

static bool sink_put(struct compose_sink *s, const void *bytes, size_t len)
{
	struct buf *to = ((struct letter_sink *)s)->to;

	buf_put(to, bytes, len);
	return !to->overflow;
}

/* The bytes of an attachment, opened when the first of them is asked for. */
struct letter_source {
	struct compose_source source; /* first */
	struct bucket *bucket;
	const struct bucket_row *object;
	struct arena *a;
	int fd; /* -1: not opened yet, or over */
	int64_t left;
	bool over;
};

static long source_end(struct letter_source *s, long how)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->over = true;
	return how;
}

static long source_pull(struct compose_source *source, void *into, size_t room)
{
	struct letter_source *s = (struct letter_source *)source;
	struct problem p = { 0 };
	ssize_t n;

	if (s->over)
		return 0;
	if (s->fd < 0 && bucket_open(s->bucket, s->object, &s->fd, s->a, &p))
		return source_end(s, -1);
	n = read(s->fd, into, room);
	if (n < 0 || (!n && s->left))
		return source_end(s, -1);
	s->left -= n;
	return n ? n : source_end(s, 0);
}

static struct compose_attachment *attached(
	struct mail_outgoing *l, struct bucket *bucket, struct arena *a)
{
	struct compose_attachment *out =
		arena_array(a, struct compose_attachment, l->file_count + 1);
	struct letter_source *from = arena_array(a, struct letter_source, l->file_count + 1);

	for (size_t i = 0; i < l->file_count; i++) {
		from[i] = (struct letter_source){ .source = { source_pull },
			.bucket = bucket,
			.object = &l->objects[i],
			.a = a,
			.fd = -1,
			.left = l->objects[i].size_bytes };
		out[i] = (struct compose_attachment){ l->files[i].filename,
			l->files[i].content_type, &from[i].source };
	}
	return out;
}

/* Internal addresses mean nothing outside, and nobody there could answer to them. */
static struct mail_people people_of(struct arena *a, const struct list *l)
{
	struct mail_people out = { arena_array(a, struct mail_person, l->count + 1), 0 };

	for (size_t i = 0; i < l->count; i++) {
		const char *text = ((const char *const *)l->at)[i], *fault;
		struct mail_person *one = &out.at[out.count];

		*one = (struct mail_person){ .name = "" };
		if (mail_address_parse(text, strlen(text), &one->address, &fault) &&
			!mail_address_is_internal(&one->address))
			out.count++;
	}
	return out;
}

/* Without its < and >; NULL for what is no id. */
static const char *bare_id(struct arena *a, const char *id)
{
	size_t len = id ? strlen(id) : 0;

	if (len > 2 && id[0] == '<' && id[len - 1] == '>') {
		id++;
		len -= 2;
	}
	return len && mail_message_id_valid(id, len) ? arena_printf(a, "%.*s", (int)len, id) : NULL;
}

/* The first and the last ones. */
static void refer(struct arena *a, const struct mail_message_row *m, struct compose_message *c)
{
	const char **out = arena_array(a, const char *, COMPOSE_REFERENCES_MAX);
	size_t skip = m->refs.count > COMPOSE_REFERENCES_MAX
			      ? m->refs.count - COMPOSE_REFERENCES_MAX + 1
			      : 0;

	for (size_t i = 0; i < m->refs.count; i++) {
		const char *id =
			i && i < skip ? NULL : bare_id(a, ((const char *const *)m->refs.at)[i]);

		if (id)
			out[c->reference_count++] = id;
	}
	c->references = out;
}

static void sign_letter(struct mail_outgoing *l, struct arena *a, const char **ret_fault)
{
	const char *header;
	size_t n;

	if (!l->key.domain)
		return;
	header = mail_dkim_sign(a, &l->key, l->bytes.at + SIGNATURE_ROOM,
		l->bytes.len - SIGNATURE_ROOM, l->send.created_at);
	n = header ? strlen(header) : 0;
	if (!n || n > SIGNATURE_ROOM) {
		*ret_fault = "it cannot be signed";
		return;
	}
	l->first = SIGNATURE_ROOM - n;
	memcpy(l->bytes.at + l->first, header, n);
}

int mail_outgoing_write(
	struct mail_outgoing *l, struct bucket *bucket, struct arena *a, const char **ret_fault)
{
	static const char room[SIGNATURE_ROOM];
	struct letter_sink sink = { .sink = { sink_put }, .to = &l->bytes };
	struct compose_message c = { .to = people_of(a, &l->m.recipients),
		.cc = people_of(a, &l->m.cc),
		.subject = l->m.subject,
		.text = l->m.body,
		.html = l->m.html,
		.message_id = bare_id(a, l->m.message_id_header),
		.in_reply_to = bare_id(a, l->m.in_reply_to),
		.date_us = l->send.created_at,
		.origin = !l->m.automatic    ? COMPOSE_BY_PERSON
			  : l->m.in_reply_to ? COMPOSE_AUTO_REPLIED
					     : COMPOSE_AUTO_GENERATED,
		.hops = (int)l->m.hops,
		.attachments = attached(l, bucket, a),
		.attachment_count = l->file_count,
		.boundary = l->m.id };
	struct mail_address reply_to;
	int err;

	*ret_fault = NULL;
	if (!mail_address_parse(
		    l->from.address, strlen(l->from.address), &c.from.address, ret_fault))
		return ERR_INVALID;
	c.from.name = l->agent_name;
	if (!c.to.count && !c.cc.count) /* whoever has it has it as a blind copy */
		c.to = (struct mail_people){ &c.from, 1 };
	if (mail_thread_make(mail_token_key(), &c.from.address, l->m.thread_id, &reply_to))
		c.reply_to = &reply_to;
	/* At the mailbox's own domain: whoever takes what comes back finds the tenant by it. */
	if (!mail_verp_make(mail_token_key(), l->send.id, c.from.address.domain, &l->envelope)) {
		*ret_fault = "the mailbox has no domain that bounces could come back to";
		return ERR_INVALID;
	}
	refer(a, &l->m, &c);
	buf_init(&l->bytes, MAIL_LETTER_MAX);
	buf_put(&l->bytes, room, sizeof room);
	l->first = SIGNATURE_ROOM;
	err = mail_compose(&c, &sink.sink, ret_fault);
	if (!err)
		sign_letter(l, a, ret_fault);
	return !err && *ret_fault ? ERR_UPSTREAM : err;
}
