/* compose.c - see compose.h: the head of a message and the parts in it. */
#include "mail/compose.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "mail/compose_parts.h"

bool mail_message_id_valid(const char *text, size_t len)
{
	const char *at = len ? memchr(text, '@', len) : NULL;

	if (!at || at == text || at == text + len - 1 || len > COMPOSE_ID_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || c >= 0x7f || strchr("<>()\"\\,;:", c) ||
			(c == '@' && text + i != at))
			return false;
	}
	return true;
}

/* ---- what is wrong with it ---- */

static bool is_text(const char *text, size_t most)
{
	size_t len = text ? strnlen(text, most + 1) : most + 1;

	return len <= most && utf8_valid(text, len);
}

static bool is_id(const char *text)
{
	return text && mail_message_id_valid(text, strlen(text));
}

static bool is_boundary(const char *text)
{
	size_t len = text ? strnlen(text, 41) : 0;

	return len && len <= 40 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") == len;
}

static const char *find_fault(const struct compose_message *m)
{
	if (!*m->from.address.text || (!m->to.count && !m->cc.count))
		return "A message has a sender and recipients.";
	if (m->to.count + m->cc.count > COMPOSE_PEOPLE_MAX)
		return "A message has at most 100 recipients.";
	if (!is_text(m->subject, COMPOSE_SUBJECT_MAX))
		return "The subject is too long, or is not UTF-8.";
	if (!is_text(m->text, COMPOSE_TEXT_MAX) || (m->html && !is_text(m->html, COMPOSE_TEXT_MAX)))
		return "The text is too long, or is not UTF-8.";
	if (!is_id(m->message_id) || (m->in_reply_to && !is_id(m->in_reply_to)) ||
		m->reference_count > COMPOSE_REFERENCES_MAX || !is_boundary(m->boundary))
		return "An id of the message is none.";
	for (size_t i = 0; i < m->reference_count; i++)
		if (!is_id(m->references[i]))
			return "An id of a message before it is none.";
	if (m->attachment_count > COMPOSE_ATTACHED_MAX)
		return "A message has at most 50 attachments.";
	for (size_t i = 0; i < m->attachment_count; i++)
		if (!is_text(m->attachments[i].filename, COMPOSE_FILENAME_MAX) ||
			!*m->attachments[i].filename)
			return "The name of an attachment has 1 to 1024 bytes of UTF-8.";
	return NULL;
}

/* ---- the head ---- */

static void put_header(struct compose_out *o, const char *name)
{
	o->column = 0;
	compose_puts(o, name);
	compose_puts(o, ":");
}

static void put_people(struct compose_out *o, const char *name, const struct mail_people *p)
{
	if (!p->count)
		return;
	put_header(o, name);
	for (size_t i = 0; i < p->count; i++)
		compose_person(o, &p->at[i], i + 1 < p->count);
	compose_end_header(o);
}

static void put_id(struct compose_out *o, const char *id)
{
	char text[COMPOSE_ID_MAX + 4];

	snprintf(text, sizeof text, "<%s>", id);
	compose_word(o, text);
}

static void put_one_id(struct compose_out *o, const char *name, const char *id)
{
	if (!id)
		return;
	put_header(o, name);
	put_id(o, id);
	compose_end_header(o);
}

/* Tue, 17 Nov 2026 17:00:00 +0000 */
static void put_date(struct compose_out *o, int64_t us)
{
	char http[30] = "", text[40];

	time_write_http(us, http);
	snprintf(text, sizeof text, "%.25s +0000", http);
	put_header(o, "Date");
	compose_word(o, text);
	compose_end_header(o);
}

static void put_head(struct compose_out *o, const struct compose_message *m)
{
	const struct mail_people from = { (struct mail_person *)&m->from, 1 };
	char hops[16];

	put_people(o, "From", &from);
	put_people(o, "To", &m->to);
	put_people(o, "Cc", &m->cc);
	if (m->reply_to) {
		put_header(o, "Reply-To");
		compose_word(o, m->reply_to->text);
		compose_end_header(o);
	}
	put_header(o, "Subject");
	compose_text(o, m->subject);
	compose_end_header(o);
	put_date(o, m->date_us);
	put_one_id(o, "Message-ID", m->message_id);
	put_one_id(o, "In-Reply-To", m->in_reply_to);
	if (m->reference_count) {
		put_header(o, "References");
		for (size_t i = 0; i < m->reference_count; i++)
			put_id(o, m->references[i]);
		compose_end_header(o);
	}
	if (m->origin != COMPOSE_BY_PERSON)
		compose_puts(o, m->origin == COMPOSE_AUTO_REPLIED
					? "Auto-Submitted: auto-replied\r\n"
					: "Auto-Submitted: auto-generated\r\n");
	if (m->hops > 0) {
		snprintf(hops, sizeof hops, "%d", m->hops);
		put_header(o, "X-Lodge-Hops");
		compose_word(o, hops);
		compose_end_header(o);
	}
	compose_puts(o, "MIME-Version: 1.0\r\n");
}

/* ---- parts ---- */

/* The mark of a multipart, to which the end of the line before it belongs: `=_` is in no text that quoted-printable or base64
 * writes. */
static void put_mark(struct compose_out *o, const struct compose_message *m, char level, bool last)
{
	char text[64];

	snprintf(text, sizeof text, "\r\n--=_%c%s%s\r\n", level, m->boundary, last ? "--" : "");
	compose_puts(o, text);
}

static void put_multipart(
	struct compose_out *o, const struct compose_message *m, const char *kind, char level)
{
	char text[128];

	snprintf(text, sizeof text, "Content-Type: multipart/%s;\r\n boundary=\"=_%c%s\"\r\n\r\n",
		kind, level, m->boundary);
	compose_puts(o, text);
}

static void put_texts(struct compose_out *o, const struct compose_message *m)
{
	if (!m->html) {
		compose_body(o, "plain", m->text);
		return;
	}
	put_multipart(o, m, "alternative", 'a');
	put_mark(o, m, 'a', false);
	compose_body(o, "plain", m->text);
	put_mark(o, m, 'a', false);
	compose_body(o, "html", m->html);
	put_mark(o, m, 'a', true);
}

/* type/subtype of plain characters; a multipart or a message would need another encoding. */
static const char *safe_type(const char *type)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "!#$&-^_.+";
	size_t first = type ? strspn(type, chars) : 0, second;

	if (!first || type[first] != '/' || strncasecmp(type, "multipart", first) == 0 ||
		strncasecmp(type, "message", first) == 0)
		return "application/octet-stream";
	second = strspn(type + first + 1, chars);
	return second && !type[first + 1 + second] && first + second < 100
		       ? type
		       : "application/octet-stream";
}

static bool put_attachment(struct compose_out *o, const struct compose_attachment *a)
{
	put_header(o, "Content-Type");
	compose_word(o, safe_type(a->content_type));
	compose_filename(o, "name", a->filename);
	compose_end_header(o);
	put_header(o, "Content-Disposition");
	compose_word(o, "attachment");
	compose_filename(o, "filename", a->filename);
	compose_end_header(o);
	compose_puts(o, "Content-Transfer-Encoding: base64\r\n\r\n");
	return compose_attached(o, a->bytes);
}

static bool put_parts(struct compose_out *o, const struct compose_message *m)
{
	bool good = true;

	if (!m->attachment_count) {
		put_texts(o, m);
		return true;
	}
	put_multipart(o, m, "mixed", 'm');
	put_mark(o, m, 'm', false);
	put_texts(o, m);
	for (size_t i = 0; good && i < m->attachment_count; i++) {
		put_mark(o, m, 'm', false);
		good = put_attachment(o, &m->attachments[i]);
	}
	put_mark(o, m, 'm', true);
	return good;
}

int mail_compose(const struct compose_message *m, struct compose_sink *sink, const char **ret_fault)
{
	struct compose_out o = { .sink = sink };
	bool good;

	*ret_fault = find_fault(m);
	if (*ret_fault)
		return ERR_INVALID;
	put_head(&o, m);
	good = put_parts(&o, m);
	if (good && !o.failed)
		return 0;
	*ret_fault = good ? "The message could not be written." : "An attachment cannot be read.";
	return ERR_UPSTREAM;
}
