/* mail_intake.c - see mail_intake.h. */
#include "mailboxes/mail_intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/log.h"
#include "base/memory.h"
#include "mail/known.h"
#include "mail/reserved.h"
#include "mail/token.h"
#include "mailboxes/mail_arrival.h"
#include "mailboxes/mail_objects.h"
#include "mailboxes/mail_rules.h"
#include "mailboxes/mail_secret.h"
#include "mailboxes/mailbox.h"
#include "store/row.h"

#define RAW_TYPE "message/rfc822"

/* What decides whether a mailbox takes mail. */
struct mail_place {
	const char *tenant_id, *agent_id, *mailbox_id;
	bool takes; /* mailbox, agent and tenant */
};

FIELDS(mail_place) = { ROW_FIELDS(mail_place, tenant_id, agent_id, mailbox_id, takes) };
static SCHEMA(mail_place, .internal = true);

enum { PLACE_AT, PLACE_OF, PLACE_SENT };

#define PLACE                                                                                           \
	"select b.tenant_id, b.agent_id, b.id as mailbox_id, case when b.enabled = 1 and b.paused = 0 " \
	"and a.is_active = 1 and t.status not in ('suspended', 'closed') then 1 else 0 end as takes "   \
	"from mailboxes b join agents a on a.tenant_id = b.tenant_id and a.id = b.agent_id "            \
	"join tenants t on t.id = b.tenant_id "

static const struct statement sql[] = {
	[PLACE_AT] = { "mail_place_at", PLACE "where b.address = $1 and b.kind = 'external'",
		.row = &mail_place_schema,
		.across = "whose it is, is what is asked: an address is there once in the house" },
	[PLACE_OF] = { "mail_place_of", PLACE "where b.tenant_id = $1 and b.id = $2",
		.row = &mail_place_schema },
	[PLACE_SENT] = { "mail_place_sent",
		PLACE
		"join mail_sends s on s.tenant_id = b.tenant_id and s.id = $2 "
		"join mail_messages m on m.tenant_id = b.tenant_id and m.agent_id = b.agent_id "
		"and m.id = s.message_id and m.mailbox_id = b.id and m.direction = 'out' "
		"where t.slug = $1 and b.tenant_id = t.id and b.kind = 'external' "
		"union all " PLACE "join mail_sends s on s.tenant_id = b.tenant_id and s.id = $2 "
		"join mail_messages m on m.tenant_id = b.tenant_id and m.agent_id = b.agent_id "
		"and m.id = s.message_id and m.mailbox_id = b.id and m.direction = 'out' "
		"where t.id = $1 and b.tenant_id = t.id and b.kind = 'external'",
		.row = &mail_place_schema,
		.across = "the tenant is named by the domain of the address" },
};
STATEMENT_SET(mail_intake_sql, sql);

/* The bytes of a tenant. */
struct letter_part {
	char tenant_id[ID_LEN + 1];
	struct bucket_upload *upload;
	struct bucket_stored stored;
	int64_t used; /* what the tenant's bucket held when it was asked for */
	int err;
};

struct mail_incoming {
	struct bucket *bucket;
	char sender[MAIL_ADDRESS_MAX + 1];
	int64_t announced, size;
	bool by_lmtp;
	struct mail_known known;
	char known_by[MAIL_KNOWN_LEN + 1];
	struct mail_recipient *recipients;
	struct letter_part *parts;
	size_t count, part_count;
};

struct mail_incoming *mail_incoming_new(
	struct bucket *bucket, const char *sender, int64_t size, bool by_lmtp)
{
	struct mail_incoming *l = memory_zeroed(sizeof *l);

	l->bucket = bucket;
	l->announced = size > 0 ? size : 1;
	l->by_lmtp = by_lmtp;
	l->recipients = memory_zeroed(MAIL_LETTER_RECIPIENTS_MAX * sizeof *l->recipients);
	l->parts = memory_zeroed(MAIL_LETTER_RECIPIENTS_MAX * sizeof *l->parts);
	snprintf(l->sender, sizeof l->sender, "%s", sender);
	mail_known_begin(&l->known);
	return l;
}

void mail_incoming_free(struct mail_incoming *l, struct pool *disk)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->part_count; i++)
		bucket_upload_end(l->parts[i].upload, disk);
	if (!*l->known_by)
		mail_known_end(&l->known, NULL);
	free(l->recipients);
	free(l->parts);
	free(l);
}

size_t mail_incoming_count(const struct mail_incoming *l)
{
	return l->count;
}

const struct mail_recipient *mail_incoming_recipient(const struct mail_incoming *l, size_t i)
{
	return &l->recipients[i];
}

size_t mail_incoming_tenants(const struct mail_incoming *l)
{
	return l->part_count;
}

/* ---- whose it is ---- */

const char *mail_tenant_label(struct arena *a, const char *domain)
{
	const char *own = mailbox_policy()->domain;
	size_t len = strlen(domain), own_len = strlen(own);

	if (!own_len || len < own_len || strcmp(domain + len - own_len, own) != 0)
		return NULL;
	if (len == own_len)
		return "";
	return domain[len - own_len - 1] == '.' ? arena_strndup(a, domain, len - own_len - 1)
						: NULL;
}

bool mail_domain_is_ours(const char *domain)
{
	struct arena scratch = { 0 };
	bool ours = mail_tenant_label(&scratch, domain) != NULL;

	arena_free(&scratch);
	return ours;
}

/* The address without its plus part, as mailboxes are found by. */
static const char *plain_address(struct arena *a, const struct mail_address *to)
{
	struct slice base, plus;
	char *out;

	mail_address_plus(to, &base, &plus);
	out = arena_printf(a, "%.*s@%s", (int)base.len, base.at, to->domain);
	for (char *c = out; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
	return out;
}

/* One of a time before they were reserved may still have its mailbox there. */
static bool is_reserved(const char *plain)
{
	char local[MAILBOX_LOCAL_MAX + 1];

	snprintf(local, sizeof local, "%.*s", (int)strcspn(plain, "@"), plain);
	return mail_reserved_local(local);
}

static void copy_id(char ret[ID_LEN + 1], const char *id)
{
	snprintf(ret, ID_LEN + 1, "%s", id);
}

static int find_place(struct db *db, struct arena *a, const struct mail_address *to,
	struct mail_recipient *r, struct mail_place *ret)
{
	const char *tenant = mail_tenant_label(a, to->domain), *plain;
	struct id token;

	if (!tenant)
		return ERR_NOT_FOUND;
	if (*tenant && mail_verp_read(mail_token_key(), to, to->domain, &token)) {
		copy_id(r->bounced_id, token.text);
		return db_one(db, a, &sql[PLACE_SENT], ret, ARGS(T(tenant), T(token.text)));
	}
	if (mail_thread_read(mail_token_key(), to, &token))
		copy_id(r->thread_id, token.text);
	plain = plain_address(a, to);
	return is_reserved(plain) ? ERR_NOT_FOUND
				  : db_one(db, a, &sql[PLACE_AT], ret, ARGS(T(plain)));
}

/* Before anything of it is taken: who is kept out fills nobody's bucket, and their own server tells them. */
static int find_barred(struct db *db, struct arena *a, const struct mail_place *place,
	const char *sender, enum mail_taking *ret)
{
	struct mail_rules_held rules;
	int err = *sender ? mail_rules_held(db, a, place->tenant_id, place->agent_id, &rules) : 0;

	if (!err && *sender && mail_rules_block(&rules, fold_ascii(a, sender)))
		*ret = MAIL_BARRED;
	return err;
}

int mail_find(struct db *db, struct arena *a, const char *sender, const struct mail_address *to,
	int64_t tenant_max, int64_t size, struct mail_found *ret)
{
	struct mail_recipient *r = &ret->recipient;
	struct mail_place place;
	int err;

	*ret = (struct mail_found){ .recipient.taking = MAIL_NOBODY };
	snprintf(r->address, sizeof r->address, "%s", to->text);
	err = find_place(db, a, to, r, &place);
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	copy_id(r->tenant_id, place.tenant_id);
	copy_id(r->agent_id, place.agent_id);
	copy_id(r->mailbox_id, place.mailbox_id);
	r->taking = place.takes ? MAIL_TAKES : MAIL_OFF;
	if (!place.takes)
		return 0;
	err = find_barred(db, a, &place, sender, &r->taking);
	if (err || r->taking != MAIL_TAKES)
		return err;
	err = bucket_room(db, place.tenant_id, tenant_max, size > 0 ? size : 1, 0);
	if (err == ERR_NO_SPACE)
		r->taking = MAIL_FULL;
	return err && err != ERR_NO_SPACE ? err : bucket_used(db, place.tenant_id, &ret->used);
}

/* ---- room ---- */

static struct letter_part *part_of(const struct mail_incoming *l, const char *tenant_id)
{
	for (size_t i = 0; i < l->part_count; i++)
		if (strcmp(l->parts[i].tenant_id, tenant_id) == 0)
			return &l->parts[i];
	return NULL;
}

/* Room in the tenant's bucket, which is claimed when the first byte comes: who announces a message and does not send it keeps nobody
 * else's out.  One that has been asked for it already needs no more. */
static int enter_part(struct mail_incoming *l, const char *tenant_id, int64_t used)
{
	struct letter_part *part = &l->parts[l->part_count];
	int64_t room = 0;
	int err;

	if (part_of(l, tenant_id))
		return 0;
	part->upload = bucket_upload_new(l->bucket, tenant_id);
	err = bucket_upload_claim(part->upload, used, 0, l->announced, &room);
	if (err) {
		bucket_upload_end(part->upload, NULL); /* nothing was written */
		*part = (struct letter_part){ 0 };
		return err;
	}
	bucket_upload_claim(part->upload, used, 0, 0, &room);
	copy_id(part->tenant_id, tenant_id);
	part->used = used;
	l->part_count++;
	return 0;
}

enum mail_taking mail_incoming_add(struct mail_incoming *l, const struct mail_found *found)
{
	const struct mail_recipient *r = &found->recipient;

	if (r->taking != MAIL_TAKES)
		return r->taking;
	if (l->count == MAIL_LETTER_RECIPIENTS_MAX)
		return MAIL_AWAY;
	if (enter_part(l, r->tenant_id, found->used))
		return MAIL_FULL;
	l->recipients[l->count++] = *r;
	return MAIL_TAKES;
}

/* ---- bytes ---- */

void mail_incoming_write(struct mail_incoming *l, const char *bytes, size_t n)
{
	struct arena scratch = { 0 };
	bool first = !l->size;

	l->size += (int64_t)n;
	mail_known_push(&l->known, bytes, n);
	for (size_t i = 0; i < l->part_count; i++) {
		struct letter_part *part = &l->parts[i];
		struct problem p = { 0 };
		int64_t room;

		if (first)
			part->err = bucket_upload_claim(
				part->upload, part->used, 0, l->announced, &room);
		if (!part->err)
			part->err = bucket_upload_write(part->upload, bytes, n, &scratch, &p);
	}
	arena_free(&scratch);
}

void mail_incoming_finish(struct mail_incoming *l)
{
	struct arena scratch = { 0 };

	mail_known_end(&l->known, l->known_by);
	for (size_t i = 0; i < l->part_count; i++) {
		struct letter_part *part = &l->parts[i];
		struct problem p = { 0 };

		if (!part->err)
			part->err = bucket_upload_finish(part->upload, &part->stored, &scratch, &p);
	}
	arena_free(&scratch);
}

/* ---- rows ---- */

static const char *or_null(const char *id)
{
	return *id ? id : NULL;
}

static int add_arrival(const struct mail_incoming *l, struct db *db, struct arena *a,
	const struct letter_part *part, struct mail_recipient *r, int64_t now)
{
	char known_by[MAIL_KNOWN_LEN + 1];
	struct mail_arrival_row row = { .tenant_id = r->tenant_id,
		.id = r->arrival_id,
		.agent_id = r->agent_id,
		.mailbox_id = r->mailbox_id,
		.known_by = known_by,
		.sender = l->sender,
		.recipient = r->address,
		.thread_id = or_null(r->thread_id),
		.bounced_id = or_null(r->bounced_id),
		.by_lmtp = l->by_lmtp,
		.object_key = mail_object_key(a, part->stored.sha256),
		.size_bytes = l->size,
		.read_at = NIL,
		.created_at = now };
	struct mail_place place;
	bool known = false;
	int err = db_one(db, a, &sql[PLACE_OF], &place, ARGS(T(r->tenant_id), T(r->mailbox_id)));

	if (err == ERR_NOT_FOUND || (!err && !place.takes)) { /* since it was asked for */
		r->taking = err ? MAIL_NOBODY : MAIL_OFF;
		return 0;
	}
	copy_id(r->arrival_id, id_new(NULL).text);
	memcpy(known_by, l->known_by, sizeof known_by);
	mail_known_envelope(
		known_by, l->sender, *r->bounced_id ? r->bounced_id : r->thread_id, l->by_lmtp);
	if (!err)
		err = mail_arrival_add(db, a, &row, &known);
	r->taking = known ? MAIL_KNOWN : MAIL_TAKES;
	return err;
}

/* The object that the arrivals name: the one that is there with the same bytes, or a new one. */
static int name_object(struct mail_incoming *l, struct db *db, struct arena *a,
	struct letter_part *part, int64_t now)
{
	const char *key = mail_object_key(a, part->stored.sha256);
	struct bucket_row row;
	int64_t used = 0;
	bool stood;
	int err = bucket_row_find(db, a, part->tenant_id, key, &row);

	if (err != ERR_NOT_FOUND)
		return err;
	err = bucket_row_put(db, a,
		&(struct bucket_putting){ .tenant_id = part->tenant_id,
			.key = key,
			.content_type = RAW_TYPE,
			.stored = &part->stored,
			.tenant_max = bucket_tenant_max(l->bucket),
			.now = now },
		&row, &stood);
	if (!err)
		err = bucket_used(db, part->tenant_id, &used);
	if (err)
		return err;
	/* A commit whose end nobody hears of may have been made: bytes that no row names are collected. */
	bucket_upload_keep(part->upload, true);
	bucket_upload_came_to(part->upload, used);
	return 0;
}

int mail_incoming_keep(
	struct mail_incoming *l, struct db *db, struct arena *a, size_t tenant, int64_t now)
{
	struct letter_part *part = &l->parts[tenant];
	bool any = false;
	int err = part->err;

	bucket_upload_keep(part->upload, false); /* an earlier run has come to nothing */
	for (size_t i = 0; !err && i < l->count; i++) {
		struct mail_recipient *r = &l->recipients[i];

		if (strcmp(r->tenant_id, part->tenant_id) != 0)
			continue;
		err = add_arrival(l, db, a, part, r, now);
		any |= !err && r->taking == MAIL_TAKES;
	}
	return err || !any ? err : name_object(l, db, a, part, now);
}

void mail_incoming_failed(struct mail_incoming *l, size_t tenant, int err)
{
	const char *tenant_id = l->parts[tenant].tenant_id;

	log_warn("mail was not taken", LOG_S("tenant_id", tenant_id),
		LOG_S("why", error_row(err)->code));
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->recipients[i].tenant_id, tenant_id) == 0)
			l->recipients[i].taking = err == ERR_NO_SPACE ? MAIL_FULL : MAIL_AWAY;
}
