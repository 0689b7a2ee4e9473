/* mail_entry.c - see mail_entry.h.
 *
 * The message has the arrival's id: what was taken once is there once, whoever
 * reads it again.  It joins a thread only of its own mailbox, by the Message-IDs
 * that it names or the signed part of the address that it came to, since anybody
 * can write any Message-ID.  Files that find no room are left out, and the
 * message says so: its raw bytes have them still. */
#include "mailboxes/mail_entry.h"

#include "mailboxes/mail_send.h"

#include <string.h>
#include <strings.h>

#include "access/audit.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/log.h"
#include "base/utf8_cut.h"
#include "mailboxes/mail_objects.h"
#include "mailboxes/mail_wake.h"

struct entering {
	struct db *db;
	struct arena *a;
	const struct mail_entry *e;
	struct mail_message_row m;
	struct mailbox_row box;
	struct mail_rules_held rules;
	struct mail_file *files;
	size_t file_count;
	const char *no_room; /* why the files are not there, or NULL */
	int64_t now;
};

static int (*on_bounce)(struct db *db, struct arena *a, const char *tenant_id,
	const char *message_id, const struct mail_delivery *told, const char *words, int64_t now);

void mail_on_bounce(int (*fn)(struct db *db, struct arena *a, const char *tenant_id,
	const char *message_id, const struct mail_delivery *told, const char *words, int64_t now))
{
	on_bounce = fn;
}

/* ---- the row ---- */

static const char *key_of(struct arena *a, const struct mail_address *address)
{
	char key[MAIL_ADDRESS_MAX + 1];

	mail_address_key(address, key);
	return arena_strdup(a, key);
}

static struct list keys_of(struct arena *a, const struct mail_people *people)
{
	size_t count =
		people->count < MAIL_ENTRY_PEOPLE_MAX ? people->count : MAIL_ENTRY_PEOPLE_MAX;
	const char **out = arena_array(a, const char *, count + 1);

	for (size_t i = 0; i < count; i++)
		out[i] = key_of(a, &people->at[i].address);
	return (struct list){ out, count };
}

static const char *bracketed(struct arena *a, const char *id)
{
	return id ? arena_printf(a, "<%s>", id) : NULL;
}

/* The first is kept, and the last. */
static struct list references_of(struct arena *a, const struct mail_read *r)
{
	struct list out = { 0 };
	size_t over = r->reference_count > MAIL_REFERENCES_MAX
			      ? r->reference_count - MAIL_REFERENCES_MAX
			      : 0;

	for (size_t i = 0; i < r->reference_count; i++)
		if (!i || i > over)
			mail_list_add(a, &out, bracketed(a, r->references[i]), MAIL_REFERENCES_MAX);
	return out;
}

/* At most MAIL_SUBJECT_MAX characters; the raw bytes have the rest. */
static const char *subject_of(struct arena *a, const char *text)
{
	size_t chars = 0, n = 0;

	for (; text[n] && chars < MAIL_SUBJECT_MAX; n++)
		chars += ((unsigned char)text[n + 1] & 0xc0) != 0x80;
	return text[n] ? arena_printf(a, "%.*s\u2026", (int)n, text) : text;
}

static void fill_read(struct entering *v)
{
	const struct mail_read *r = v->e->read;
	struct mail_message_row *m = &v->m;

	m->recipients = keys_of(v->a, &r->to);
	m->cc = keys_of(v->a, &r->cc);
	m->subject = subject_of(v->a, r->subject);
	m->body = r->text;
	m->extracted_text = strcmp(r->extracted_text, r->text) == 0 ? NULL : r->extracted_text;
	m->html_text = r->html_text == r->text ? r->html_text : NULL;
	m->in_reply_to = bracketed(v->a, r->in_reply_to);
	m->refs = references_of(v->a, r);
	m->hops = mail_hops(r->headers, r->header_count);
	m->verdict = v->e->judged.verdict == MAIL_PASS	 ? MailVerdict_pass
		     : v->e->judged.verdict == MAIL_FAIL ? MailVerdict_fail
							 : MailVerdict_none;
	if (v->e->judged.doubt)
		m->error = m->error ? arena_printf(v->a, "%s %s", m->error, v->e->judged.doubt)
				    : v->e->judged.doubt;
	if (r->from)
		m->sender = key_of(v->a, &r->from->address);
	if (r->message_id)
		m->message_id_header = bracketed(v->a, r->message_id);
}

static void fill_row(struct entering *v)
{
	const struct mail_arrival_row *in = v->e->arrival;

	v->m = (struct mail_message_row){ .tenant_id = in->tenant_id,
		.agent_id = in->agent_id,
		.id = in->id,
		.mailbox_id = in->mailbox_id,
		.direction = MailDirection_in,
		.state = v->e->read ? MailState_received : MailState_unreadable,
		.verdict = MailVerdict_none,
		.sender = fold_ascii(v->a, in->sender),
		.subject = "",
		.body = "",
		.unread = true,
		.message_id_header =
			arena_printf(v->a, "<%s%s>", in->id, strchr(v->box.address, '@')),
		.object_key = in->object_key,
		.error = v->e->read ? v->no_room : v->e->fault,
		.created_at = in->created_at,
		.sent_at = NIL };
	if (v->e->read)
		fill_read(v);
	if (v->m.state == MailState_received && mail_rules_block(&v->rules, v->m.sender))
		v->m.state = MailState_blocked;
}

/* ---- the thread ---- */

/* The signed part of its address named it. */
static int thread_by_address(struct entering *v)
{
	const char *id = v->e->judged.open_address ? NULL : v->e->arrival->thread_id;
	struct mail_thread_row t;
	int err = id ? mail_thread_find(v->db, v->a, v->m.tenant_id, v->m.agent_id, id, &t)
		     : ERR_NOT_FOUND;

	v->m.thread_id = !err && strcmp(t.mailbox_id, v->m.mailbox_id) == 0 ? t.id : NULL;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* The thread of what came back, if this mailbox has sent it. */
static int thread_of_bounce(struct entering *v, bool *ret)
{
	const char *id = v->e->arrival->bounced_id;
	struct mail_message_row sent;
	struct mail_send_row to;
	int err = id ? mail_send_find(v->db, v->a, v->m.tenant_id, id, &to) : ERR_NOT_FOUND;

	if (!err)
		err = mail_message_find(
			v->db, v->a, v->m.tenant_id, v->m.agent_id, to.message_id, &sent);
	*ret = !err && strcmp(sent.mailbox_id, v->m.mailbox_id) == 0;
	if (*ret)
		v->m.thread_id = sent.thread_id;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int find_thread(struct entering *v, bool *ret_bounced)
{
	int err = thread_of_bounce(v, ret_bounced);

	if (err || *ret_bounced)
		return err;
	err = v->e->judged.open_references ? ERR_NOT_FOUND
					   : mail_thread_of(v->db, v->a, &v->m, &v->m.thread_id);
	return err == ERR_NOT_FOUND ? thread_by_address(v) : err;
}

/* ---- files ---- */

static const char *type_of(const char *type)
{
	const char *slash = strchr(type, '/');

	return slash && slash > type && slash[1] && strlen(type) <= BUCKET_TYPE_MAX
		       ? type
		       : "application/octet-stream";
}

/* The row that names the bytes of one, made where there is none. */
static int keep_file(struct entering *v, const struct mail_file *f, const void *bytes)
{
	const char *tenant_id = v->e->arrival->tenant_id;
	const struct bucket_stored *stored;
	struct bucket_row row;
	bool stood;
	int err = bucket_row_find(v->db, v->a, tenant_id, f->object_key, &row);

	if (err != ERR_NOT_FOUND)
		return err;
	err = bucket_carry_put(v->e->carry, bytes, (size_t)f->size_bytes, true, &stored);
	if (!err)
		err = bucket_row_put(v->db, v->a,
			&(struct bucket_putting){ .tenant_id = tenant_id,
				.key = f->object_key,
				.content_type = "application/octet-stream",
				.stored = stored,
				.tenant_max = bucket_tenant_max(bucket_carry_bucket(v->e->carry)),
				.now = v->now },
			&row, &stood);
	if (!err)
		bucket_carry_named(v->e->carry, stored);
	return err;
}

static void list_files(struct entering *v)
{
	const struct mail_read *r = v->e->read;
	char hex[2 * SHA256_LEN + 1];
	uint8_t digest[SHA256_LEN];

	v->file_count = r->attachment_count < MAIL_ATTACHMENTS_MAX ? r->attachment_count
								   : MAIL_ATTACHMENTS_MAX;
	v->files = arena_array(v->a, struct mail_file, v->file_count + 1);
	for (size_t i = 0; i < v->file_count; i++) {
		const struct helper_mail_part *part = &r->attachments[i];

		sha256(part->bytes, part->len, digest);
		hex_write(digest, sizeof digest, hex);
		v->files[i] = (struct mail_file){ .filename = part->name,
			.content_type = type_of(part->type),
			.size_bytes = (int64_t)part->len,
			.object_key = mail_object_key(v->a, hex) };
	}
}

/* All of them are looked at before any is waited for. */
static int keep_files(void *entering)
{
	struct entering *v = entering;
	bool bring = false;
	int err = 0;

	for (size_t i = 0; i < v->file_count && (!err || err == ERR_BRING); i++) {
		err = keep_file(v, &v->files[i], v->e->read->attachments[i].bytes);
		bring |= err == ERR_BRING;
	}
	return err && err != ERR_BRING ? err : bring ? ERR_BRING : 0;
}

/* How many bytes they have together is asked for before any of them is written. */
static int take_files(struct entering *v)
{
	int64_t bytes = 0;
	int said = 0, err;

	if (!v->e->read || !v->e->read->attachment_count)
		return 0;
	if (v->e->read->from &&
		mail_rules_block(&v->rules, key_of(v->a, &v->e->read->from->address))) {
		v->no_room = "Its sender is blocked: its files are in its raw bytes only.";
		return 0;
	}
	list_files(v);
	for (size_t i = 0; i < v->file_count; i++)
		bytes += v->files[i].size_bytes;
	err = bucket_room(v->db, v->e->arrival->tenant_id,
		bucket_tenant_max(bucket_carry_bucket(v->e->carry)), bytes, 0);
	if (!err)
		err = db_attempt(v->db, keep_files, v, true, &said);
	if (!err && said && said != ERR_NO_SPACE)
		err = said;
	if (err != ERR_NO_SPACE && said != ERR_NO_SPACE)
		return err;
	v->file_count = 0;
	v->no_room = "The bucket has no room for its files; they are in its raw bytes only.";
	return 0;
}

/* ---- what follows ---- */

static const char *header_of(const struct mail_read *r, const char *name)
{
	for (size_t i = 0; r && i < r->header_count; i++)
		if (strcmp(r->headers[i].name, name) == 0)
			return r->headers[i].value;
	return "";
}

/* "failed", or "failed (a comment)". */
static bool is_failure(const char *action)
{
	static const char failed[] = "failed";
	size_t n = sizeof failed - 1;

	return strncasecmp(action, failed, n) == 0 && (!action[n] || strchr(" \t(;", action[n]));
}

/* A server's word on a recipient decides; without any, that nobody wants to hear of the message, and that it is no answer
 * of somebody who is away. */
static bool came_back(const struct entering *v, const struct mail_delivery **ret_told)
{
	const struct mail_read *r = v->e->read;

	*ret_told = NULL;
	for (size_t i = 0; r && i < r->delivery_count; i++)
		if (is_failure(r->deliveries[i].action)) {
			*ret_told = &r->deliveries[i];
			return true;
		}
	return !(r && r->delivery_count) && !*v->e->arrival->sender &&
	       strncasecmp(header_of(r, "auto-submitted"), "auto-replied", 12) != 0;
}

static int tell_bounce(struct entering *v)
{
	const struct mail_delivery *told;
	const char *words = v->e->read ? v->e->read->preview : "";

	if (!on_bounce || !came_back(v, &told))
		return 0;
	return on_bounce(v->db, v->a, v->m.tenant_id, v->e->arrival->bounced_id, told,
		told && *told->diagnostic ? told->diagnostic : words, v->now);
}

/* Under the domain of the house's own mail, or what no mail from outside comes from. */
static bool is_ours(const struct entering *v)
{
	const struct mailbox_policy *policy = mailbox_policy();
	const struct mail_person *from = v->e->read->from;
	const char *domain = from ? from->address.domain : "";
	size_t len = strlen(domain), own = strlen(policy->domain);

	if (!from)
		return false;
	if (mail_address_is_internal(&from->address) || strcasecmp(v->m.sender, policy->house) == 0)
		return true;
	return own && len >= own && strcasecmp(domain + len - own, policy->domain) == 0 &&
	       (len == own || domain[len - own - 1] == '.');
}

static int wake(struct entering *v)
{
	const struct mail_read *r = v->e->read;
	const struct mail_waking facts = { .headers = r->headers,
		.count = r->header_count,
		.return_path = v->e->arrival->sender,
		.from = r->from ? v->m.sender : NULL,
		.own = is_ours(v) };
	const char *bar = mail_wake_bar(&facts);

	if (!bar && !mailbox_is_active(&v->box))
		bar = "The mailbox is paused.";
	return mail_wake_outside(v->db, v->a, &v->m, &v->rules, bar, v->now);
}

/* Whoever reads the tenant's audit log is told, and whoever reads the service's. */
static int tell_unreadable(struct entering *v)
{
	log_warn("mail cannot be read, and is kept as it came", LOG_S("tenant_id", v->m.tenant_id),
		LOG_S("agent_id", v->m.agent_id), LOG_S("message_id", v->m.id),
		LOG_S("reason", v->e->fault));
	return audit_write(v->db, v->a,
		&(struct audit_entry){ .action = "mail.unreadable",
			.resource_id = v->m.id,
			.agent_id = v->m.agent_id,
			.tenant_id = v->m.tenant_id });
}

int mail_entry(struct db *db, struct arena *a, const struct mail_entry *e, int64_t now)
{
	struct entering v = { .db = db, .a = a, .e = e, .now = now };
	const struct mail_arrival_row *in = e->arrival;
	bool bounced = false;
	int err = mailbox_find(db, a, in->tenant_id, in->mailbox_id, &v.box);

	if (!err)
		err = mail_rules_held(db, a, in->tenant_id, in->agent_id, &v.rules);
	if (!err)
		err = take_files(&v);
	if (err)
		return err;
	fill_row(&v);
	err = find_thread(&v, &bounced);
	if (!err)
		err = mail_files_add(db, a, &v.m, v.files, v.file_count);
	v.m.size_bytes = in->size_bytes;
	if (!err)
		err = mail_message_take(db, a, &v.m);
	if (!err && bounced)
		err = tell_bounce(&v);
	else if (!err && e->read)
		err = wake(&v);
	if (!err && !e->read)
		err = tell_unreadable(&v);
	return err ? err : mail_arrival_done(db, in->tenant_id, in->id, now);
}
