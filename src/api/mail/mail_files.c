/* mail_files.c - see mail_files.h.
 *
 * Bytes lie in the bucket by their digest, once.  So their digest comes first:
 * what is there already is not written again, and for the rest room is claimed
 * before its first byte is. */
#include "api/mail/mail_files.h"

#include <string.h>

#include "api/bucket/bucket_object.h"
#include "api/mail/mail.h"
#include "api/service.h"
#include "base/base64.h"
#include "base/crypto.h"

/* A file on its way through the steps. */
struct bringing {
	struct bucket_row object; /* that is named by key */
	const void *bytes;	  /* else */
	size_t len;
	const char *object_key;
	int64_t size_bytes;
	bool stands; /* the bucket has its bytes, or will have them with an earlier one */
	struct object_made *made;
	bool brought;
};

struct writing {
	const struct MailAttachmentCreate *asked;
	struct bringing *files;
	size_t count;
};

/* ---- before anything is looked up ---- */

void mail_check_files(struct call *c, const struct list *attachments)
{
	const struct MailAttachmentCreate *f = attachments->at;

	for (size_t i = 0; i < attachments->count; i++) {
		const char *field = arena_printf(c->arena, "attachments[%zu]", i);

		if (!f[i].content == !f[i].key)
			call_field(c, arena_printf(c->arena, "%s.content", field), "combination",
				"give either content or key");
		if (f[i].filename && strpbrk(f[i].filename, "/\\\r\n"))
			call_field(c, arena_printf(c->arena, "%s.filename", field), "filename",
				"must be one name without a folder");
	}
}

/* ---- look ---- */

static int find_key(struct call *c, struct writing *w, size_t i)
{
	const char *field = arena_printf(c->arena, "attachments[%zu].key", i),
		   *key = w->asked[i].key;
	struct bringing *f = &w->files[i];
	int err = caller_also(&c->caller, c->arena, PERM_BUCKET_READ, &c->problem);

	if (!err && (bucket_key_fault(key) || bucket_key_is_reserved(key)))
		return call_field(c, field, "unknown", "names no object");
	if (!err)
		err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, &f->object);
	if (err)
		return err == ERR_NOT_FOUND ? call_field(c, field, "unknown", "names no object")
					    : err;
	f->size_bytes = f->object.size_bytes;
	f->object_key = mail_object_key(c->arena, f->object.sha256);
	return 0;
}

static int decode_content(struct call *c, struct writing *w, size_t i)
{
	const char *text = w->asked[i].content;
	struct bringing *f = &w->files[i];
	size_t len = strlen(text);
	unsigned char *out = arena_alloc(c->arena, base64_bytes(len) + 1);
	char hex[2 * SHA256_LEN + 1];
	uint8_t digest[SHA256_LEN];

	if (!base64_decode(text, len, out, &f->len))
		return call_field(c, arena_printf(c->arena, "attachments[%zu].content", i),
			"base64", "is not base64");
	sha256(out, f->len, digest);
	hex_write(digest, sizeof digest, hex);
	f->bytes = out;
	f->size_bytes = (int64_t)f->len;
	f->object_key = mail_object_key(c->arena, hex);
	return 0;
}

static bool comes_with_another(const struct writing *w, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(w->files[k].object_key, w->files[i].object_key) == 0)
			return true;
	return false;
}

static int is_there(struct call *c, const char *key, bool *ret)
{
	struct bucket_row row;
	int err = bucket_row_find(c->db, c->arena, c->caller.tenant_id, key, &row);

	*ret = !err;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int claim_room(struct call *c, struct writing *w, size_t i)
{
	struct bringing *f = &w->files[i];
	int err = 0;

	f->stands = comes_with_another(w, i);
	if (!f->stands)
		err = is_there(c, f->object_key, &f->stands);
	if (err || f->stands)
		return err;
	f->made = object_make_begin(c);
	return object_make_claim(c, f->made, f->object_key, (size_t)f->size_bytes);
}

static struct writing *begin_writing(struct call *c, const struct list *attachments)
{
	struct writing *w = c->own = arena_new(c->arena, struct writing);

	*w = (struct writing){ .asked = attachments->at,
		.files = arena_array(c->arena, struct bringing, attachments->count + 1),
		.count = attachments->count };
	return w;
}

int mail_look_at_files(struct call *c, const struct list *attachments)
{
	struct writing *w;
	int64_t all = 0;
	int err = 0;

	if (attachments->count && call_step_aside(c))
		return 0;
	w = begin_writing(c, attachments);
	for (size_t i = 0; !err && i < w->count; i++) {
		err = w->asked[i].key ? find_key(c, w, i) : decode_content(c, w, i);
		all += w->files[i].size_bytes;
	}
	if (!err && all > MAIL_BYTES_MAX)
		return call_field(c, "attachments", "too_large", "have more than %d MiB together",
			MAIL_BYTES_MAX >> 20);
	for (size_t i = 0; !err && i < w->count; i++)
		err = claim_room(c, w, i);
	return err;
}

/* ---- prepare ---- */

int mail_bring_files(struct call *c)
{
	struct writing *w = c->own;
	int err = 0;

	for (size_t i = 0; !err && i < w->count; i++) {
		struct bringing *f = &w->files[i];

		if (f->stands || f->brought)
			continue;
		if (!f->bytes)
			err = bucket_load(service_of(c->app)->bucket, &f->object, MAIL_BYTES_MAX,
				c->arena, &f->bytes, &f->len, &c->problem);
		if (!err && !f->made)
			f->made = object_make_begin(c);
		if (!err)
			err = object_make(c, f->made, f->bytes, f->len);
		f->brought = !err;
	}
	return err;
}

/* ---- apply ---- */

static int keep_file(struct call *c, struct bringing *f)
{
	struct bucket_row row;
	bool there = false;
	int err = is_there(c, f->object_key, &there);

	if (err || there)
		return err;
	if (f->brought)
		return object_make_row(c, f->made, f->object_key, "application/octet-stream", &row);
	f->stands = false; /* the last message that had it has gone meanwhile */
	c->bring = mail_bring_files;
	return ERR_BRING;
}

int mail_keep_files(struct call *c, struct mail_posting *o)
{
	const struct writing *w = c->own;
	struct mail_file *files = arena_array(c->arena, struct mail_file, w->count + 1);
	int err = 0;

	for (size_t i = 0; !err && i < w->count; i++) {
		files[i] = (struct mail_file){ .filename = w->asked[i].filename,
			.content_type = w->asked[i].content_type,
			.size_bytes = w->files[i].size_bytes,
			.object_key = w->files[i].object_key };
		err = keep_file(c, &w->files[i]);
	}
	c->standing = false; /* that bytes were there already is nobody's business */
	o->files = files;
	o->file_count = w->count;
	return err;
}
