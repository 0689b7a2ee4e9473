/* mail_hook.c - raw mail by HTTP: a message as it is, signed by a service that receives it elsewhere.
 *
 *   head: the domain's secret, the envelope -> bytes into a file without a name, and into the signature
 *     -> verified, and only then looked at whose mailboxes they are -> into the buckets -> rows, in one transaction
 *
 * Whoever has no secret takes no room of a tenant, and learns nothing of who
 * is here. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/service.h"
#include "call/operation.h"
#include "mailboxes/mail_intake.h"
#include "mailboxes/mail_secret.h"
#include "mailboxes/mailbox.h"
#include "outside/webhook.h"

enum { AT_ONCE = 64 * 1024, BEYOND = 1 << 20 };

enum MailIntakeStatus {
	MailIntakeStatus_accepted,
	MailIntakeStatus_duplicate,
	MailIntakeStatus_unknown,
	MailIntakeStatus_inactive
};
static const struct words MailIntakeStatus_words = {
	.list = (const char *const[]){ "accepted", "duplicate", "unknown", "inactive", NULL },
	.doc = "What became of a message for one recipient.",
};

struct MailIntakeResult {
	const char *recipient;
	int status;
	const char *id;
};

FIELDS(MailIntakeResult) = {
	FIELD(MailIntakeResult, recipient, .required = true,
		.example = "\"desk@demo.mail.example.org\"",
		.doc = "The address, as it was given."),
	FIELD(MailIntakeResult, status, .required = true, .words = &MailIntakeStatus_words,
		.doc = "Whether the mailbox has it now, had it before, is not there, or takes no mail."),
	FIELD(MailIntakeResult, id, .required = true, .nullable = true, .id = true,
		.doc = "Of its arrival, where it was accepted."),
};
static SCHEMA(MailIntakeResult, .doc = "What became of a message for one recipient.");

struct MailIntakeAnswer {
	struct list results; /* struct MailIntakeResult */
};

FIELDS(MailIntakeAnswer) = {
	FIELD(MailIntakeAnswer, results, .required = true, .item = OBJECT,
		.of = &MailIntakeResult_schema, BOUNDS(1, MAIL_LETTER_RECIPIENTS_MAX),
		.doc = "One for each recipient, in their order."),
};
static SCHEMA(MailIntakeAnswer, .doc = "A message was handed over.");

/* A message on its way through the steps. */
struct mail_bringing {
	struct app *app;
	struct mail_people to;
	struct mail_address from; /* text "": the null path */
	struct mail_found *found;
	struct webhook_stream *signature; /* until it is known whether it holds */
	bool holds;
	int spool;
	int64_t size;
	struct mail_incoming *letter;
	bool bare, after_cr; /* a CR, LF or NUL stands alone; the last byte was a CR */
};

static void end_bringing(void *data)
{
	struct mail_bringing *m = data;

	if (m->signature)
		webhook_stream_end(m->signature);
	if (m->spool >= 0)
		close(m->spool);
	mail_incoming_free(m->letter, m->app->disk);
}

/* ---- with the head ---- */

static const char *hook_header(const void *ctx, const char *name, size_t *ret_count)
{
	*ret_count = http_header_count(ctx, name);
	return http_header(ctx, name);
}

static int find_secret(struct call *c, const char *domain, const char **ret)
{
	size_t len;
	int err = mail_domain_is_ours(domain)
			  ? mail_secret_read(c->db, c->arena, c->app->vault,
				    arena_printf(c->arena, "intake:%s", domain), ret, &len)
			  : ERR_NOT_FOUND;

	return err == ERR_NOT_FOUND ? call_fail(c, err, "No mail is taken for this domain.") : err;
}

static bool lies_in(const char *domain, const char *of)
{
	size_t len = strlen(domain), own = strlen(of);

	return len >= own && strcmp(domain + len - own, of) == 0 &&
	       (len == own || domain[len - own - 1] == '.');
}

static int read_envelope(struct call *c, const char *domain, struct mail_bringing *m)
{
	const struct http_request *r = &c->x->request;
	const char *to = http_header(r, "x-lodge-recipient"),
		   *from = http_header(r, "x-lodge-sender"), *fault = NULL;

	if (!to || http_header_count(r, "x-lodge-recipient") != 1)
		return call_field(c, "X-Lodge-Recipient", "required", "must be given, once");
	if (!mail_people_parse(
		    c->arena, to, strlen(to), MAIL_LETTER_RECIPIENTS_MAX, &m->to, &fault) ||
		!m->to.count)
		return call_field(c, "X-Lodge-Recipient", "address", "%s",
			fault ? fault : "must have an address");
	for (size_t i = 0; i < m->to.count; i++)
		if (!lies_in(m->to.at[i].address.domain, domain))
			return call_field(c, "X-Lodge-Recipient", "address",
				"has an address outside the domain");
	if (from && *from && !mail_address_parse(from, strlen(from), &m->from, &fault))
		return call_field(c, "X-Lodge-Sender", "address", "%s", fault);
	return 0;
}

static int too_large(struct call *c)
{
	return call_fail(c, ERR_TOO_LARGE, "A message may have %lld bytes.",
		(long long)mailbox_policy()->bytes_max);
}

/* As LMTP has it: what one reader takes for the end of a line, all must. */
static void look_at_lines(struct mail_bringing *m, const char *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (at[i] == '\0' || (at[i] == '\n') != m->after_cr)
			m->bare = true;
		m->after_cr = at[i] == '\r';
	}
}

static int take_mail_bytes(struct call *c, const void *bytes, size_t n)
{
	struct mail_bringing *m = c->own;
	const char *at = bytes;

	m->size += (int64_t)n;
	if (m->size > mailbox_policy()->bytes_max)
		return too_large(c);
	look_at_lines(m, at, n);
	webhook_stream_add(m->signature, bytes, n);
	if (m->spool < 0)
		m->spool = bucket_spool(service_of(c->app)->bucket);
	if (m->spool < 0) /* a file system that has no files without a name */
		m->spool =
			open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* NOLINT: likewise */
	while (n && m->spool >= 0) {
		ssize_t wrote = write(m->spool, at, n);

		if (wrote < 0 && errno != EINTR)
			break;
		at += wrote > 0 ? wrote : 0;
		n -= wrote > 0 ? (size_t)wrote : 0;
	}
	return n ? call_fail(c, ERR_STORE, "The message cannot be kept just now.") : 0;
}

static int receiveMail_intake(struct call *c)
{
	const char *domain = call_param(c, "domain"), *secret = "";
	struct mail_bringing *m = c->own;
	struct webhook_in in = { .header = hook_header, .ctx = &c->x->request, .now_us = c->now };
	int err = find_secret(c, domain, &secret);

	if (err)
		return err;
	if (!m) {
		m = c->own = arena_new(c->arena, struct mail_bringing);
		m->app = c->app;
		m->spool = -1;
		arena_defer(c->arena, end_bringing, m);
	}
	err = read_envelope(c, domain, m);
	if (err)
		return err;
	if (m->signature)
		webhook_stream_end(m->signature);
	m->signature = webhook_stream_begin(c->arena, &in, secret);
	c->take = take_mail_bytes;
	c->x->max_body = (uint64_t)mailbox_policy()->bytes_max +
			 BEYOND; /* we say ourselves what it may have */
	return !c->x->request.chunked &&
			       c->x->request.content_length > (uint64_t)mailbox_policy()->bytes_max
		       ? too_large(c)
		       : 0;
}

/* ---- once it is whole ---- */

static int receiveMail_look(struct call *c)
{
	struct mail_bringing *m = c->own;
	int err = 0;

	if (m->signature)
		m->holds = webhook_stream_end(m->signature);
	m->signature = NULL;
	if (!m->holds)
		return call_fail(c, ERR_UNAUTHENTICATED, "This message could not be verified.");
	if (m->bare || m->after_cr)
		return call_fail(c, ERR_INVALID,
			"The message has a CR or LF that stands alone, or a NUL: send it with lines that end in CR LF.");
	m->found = arena_array(c->arena, struct mail_found, m->to.count);
	for (size_t i = 0; !err && i < m->to.count; i++) {
		err = mail_find(c->db, c->arena, m->from.text, &m->to.at[i].address,
			bucket_tenant_max(service_of(c->app)->bucket), m->size, &m->found[i]);
		if (!err && m->found[i].recipient.taking == MAIL_FULL)
			err = call_fail(
				c, ERR_NO_SPACE, "The bucket of a recipient's tenant is full.");
	}
	return err;
}

static int receiveMail_prepare(struct call *c)
{
	struct mail_bringing *m = c->own;
	char *bytes = arena_raw(c->arena, AT_ONCE, 1);
	off_t at = 0;

	m->letter = mail_incoming_new(service_of(c->app)->bucket, m->from.text, m->size, false);
	for (size_t i = 0; i < m->to.count; i++)
		if (mail_incoming_add(m->letter, &m->found[i]) == MAIL_FULL)
			return call_fail(
				c, ERR_NO_SPACE, "The bucket of a recipient's tenant is full.");
	while (at < m->size) {
		ssize_t n = pread(m->spool, bytes, AT_ONCE, at);

		if (n <= 0)
			return call_fail(c, ERR_STORE, "The message cannot be read just now.");
		mail_incoming_write(m->letter, bytes, (size_t)n);
		at += n;
	}
	mail_incoming_finish(m->letter);
	return 0;
}

static int status_of(enum mail_taking taking)
{
	return taking == MAIL_TAKES			     ? MailIntakeStatus_accepted
	       : taking == MAIL_KNOWN			     ? MailIntakeStatus_duplicate
	       : taking == MAIL_OFF || taking == MAIL_BARRED ? MailIntakeStatus_inactive
							     : MailIntakeStatus_unknown;
}

OPERATION(receiveMail, NONE, MailIntakeAnswer, .may_stand = true, .on_disk = true,
	.bounded_intake = true, .takes = (const char *const[]){ "message/rfc822", "*/*", NULL },
	.intake = receiveMail_intake, .look = receiveMail_look, .prepare = receiveMail_prepare)
{
	struct mail_bringing *m = c->own;
	struct MailIntakeResult *results =
		arena_array(c->arena, struct MailIntakeResult, m->to.count);
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; !err && i < mail_incoming_tenants(m->letter); i++)
		err = mail_incoming_keep(m->letter, c->db, c->arena, i, c->now);
	if (err == ERR_NO_SPACE)
		return call_fail(c, err, "The bucket of a recipient's tenant is full.");
	c->standing = true;
	for (size_t i = 0; !err && i < m->to.count; i++) {
		const struct mail_recipient *r = &m->found[i].recipient;

		if (r->taking == MAIL_TAKES)
			r = mail_incoming_recipient(m->letter, next++);
		results[i] = (struct MailIntakeResult){ .recipient = r->address,
			.status = status_of(r->taking),
			.id = r->taking == MAIL_TAKES ? r->arrival_id : NULL };
		c->standing &= r->taking != MAIL_TAKES;
	}
	out->results = (struct list){ results, m->to.count };
	return err;
}

static const struct route routes[] = {
	{ METHOD_POST, "/hooks/mail/{domain}", &receiveMail, PERM_PUBLIC, 202,
		.unaudited = "each message has an arrival of its own", .as_printed = true,
		.patient = true, .tag = "Webhooks",
		.doc = "Take a message of mail that a service has signed, with its envelope in the "
		       "headers X-Lodge-Recipient and X-Lodge-Sender." },
};
RESOURCE(mail_hook, routes, NULL);
