/* reading.c - see reading.h. */
#include "mail/reading.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/html_text.h"
#include "base/utf8.h"
#include "mail/compose.h"
#include "mail/prescan.h"
#include "mail/quoted.h"

static const char *field_value(const struct helper_mail *m, const char *name)
{
	for (size_t i = 0; i < m->field_count; i++)
		if (strcmp(m->fields[i].name, name) == 0)
			return m->fields[i].value;
	return NULL;
}

/* ---- people ---- */

static struct mail_people people_of(struct arena *a, const struct helper_mail *m, const char *field)
{
	struct mail_people all = { arena_array(a, struct mail_person, m->person_count + 1), 0 };

	for (size_t i = 0; i < m->person_count; i++) {
		const struct helper_mail_person *p = &m->people[i];
		const char *fault;

		if (strcmp(p->field, field) != 0 ||
			!mail_address_parse(
				p->address, strlen(p->address), &all.at[all.count].address, &fault))
			continue;
		all.at[all.count++].name = p->name;
	}
	return all;
}

/* Outside of quotes nothing that parts addresses, groups them, or is said beside them. */
static bool is_plain(const char *value)
{
	bool quoted = false;

	for (const char *p = value; *p; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted && *p == '\\' && p[1])
			p++;
		else if (!quoted && strchr("(),:;\\", *p))
			return false;
	}
	return !quoted;
}

/* Whether the name has an address in it that is another one. */
static bool is_misleading(const struct mail_person *p)
{
	static const char around[] = " \t\"'`<>()[]{},;:|";
	const char *at = p->name;

	while (*(at += strspn(at, around))) {
		size_t n = strcspn(at, around);
		const char *sign = memchr(at, '@', n);

		if (sign && sign > at && sign + 1 < at + n &&
			(n != strlen(p->address.text) || strncasecmp(at, p->address.text, n) != 0))
			return true;
		at += n;
	}
	return false;
}

/* As strict as can be: a parser that is kind to what is written badly takes the first of several addresses, and whoever judged
 * the message before took another. */
static bool is_one_mailbox(struct arena *a, const char *value, const struct mail_person *found)
{
	struct mail_people strict;
	const char *fault;

	return value && is_plain(value) &&
	       mail_people_parse(a, value, strlen(value), 1, &strict, &fault) &&
	       strict.count == 1 && mail_address_same(&strict.at[0].address, &found->address) &&
	       !is_misleading(found);
}

/* The one who wrote it: two, or a From that is there twice, are nobody that could be trusted. */
static const struct mail_person *author_of(struct arena *a, const struct helper_mail *m)
{
	struct mail_people from = people_of(a, m, "from");
	size_t headers = 0, named = 0;

	for (size_t i = 0; i < m->field_count; i++)
		headers += strcmp(m->fields[i].name, "from") == 0;
	for (size_t i = 0; i < m->person_count; i++)
		named += strcmp(m->people[i].field, "from") == 0;
	return headers == 1 && named == 1 && from.count == 1 &&
			       is_one_mailbox(a, field_value(m, "from"), &from.at[0])
		       ? &from.at[0]
		       : NULL;
}

/* ---- ids ---- */

/* The next <…> of the text that is an id; *at behind it.  NULL: there is none any more. */
static const char *next_id(struct arena *a, const char **at)
{
	while (**at) {
		const char *open = strchr(*at, '<'), *close = open ? strchr(open, '>') : NULL;

		*at = close ? close + 1 : *at + strlen(*at);
		if (close && mail_message_id_valid(open + 1, (size_t)(close - open - 1)))
			return arena_strndup(a, open + 1, (size_t)(close - open - 1));
	}
	return NULL;
}

static const char *first_id(struct arena *a, const char *value)
{
	return value ? next_id(a, &value) : NULL;
}

static void read_references(struct arena *a, const char *value, struct mail_read *ret)
{
	const char **ids = arena_array(a, const char *, MAIL_READ_REFERENCES_MAX);
	const char *id;

	ret->references = ids;
	while (value && (id = next_id(a, &value))) {
		if (ret->reference_count == MAIL_READ_REFERENCES_MAX) {
			memmove(ids, ids + 1, (MAIL_READ_REFERENCES_MAX - 1) * sizeof *ids);
			ret->reference_count--;
		}
		ids[ret->reference_count++] = id;
	}
}

/* ---- texts ---- */

static const char *make_preview(struct arena *a, const char *text)
{
	char *out = arena_raw(a, MAIL_READ_PREVIEW_MAX + 1, 1);
	const char *end = text + strlen(text);
	size_t n = 0;
	bool blank = false;

	while (text < end) {
		size_t step = utf8_step(text, end);

		step = step ? step : 1;
		if (*text == ' ' || *text == '\n' || *text == '\t') {
			blank = n > 0;
		} else {
			if (n + blank + step > MAIL_READ_PREVIEW_MAX)
				break;
			if (blank)
				out[n++] = ' ';
			blank = false;
			memcpy(out + n, text, step);
			n += step;
		}
		text += step;
	}
	out[n] = '\0';
	return out;
}

static void read_texts(struct arena *a, const struct helper_mail *m, struct mail_read *ret)
{
	size_t len;

	if (m->html)
		ret->html_text = html_letter_text(a, m->html, m->html_len, &len);
	ret->text = m->plain ? m->plain : ret->html_text ? ret->html_text : "";
	ret->extracted_text = mail_extract_reply(a, ret->text, strlen(ret->text), &len);
	ret->preview = make_preview(a, ret->extracted_text);
}

/* ---- headers, delivery status ---- */

static void read_headers(struct arena *a, const struct helper_mail *m, struct mail_read *ret)
{
	struct mail_header *headers = arena_array(a, struct mail_header, m->field_count + 1);

	for (size_t i = 0; i < m->field_count; i++)
		headers[i] = (struct mail_header){ m->fields[i].name, m->fields[i].value };
	ret->headers = headers;
	ret->header_count = m->field_count;
}

/* "rfc822; a@b" without its type. */
static const char *behind_type(const char *value)
{
	const char *semicolon = strchr(value, ';');

	value = semicolon ? semicolon + 1 : value;
	return value + strspn(value, " \t");
}

static void take_status(struct mail_delivery *d, const struct helper_mail_field *f)
{
	if (strcmp(f->name, "final-recipient") == 0 ||
		(strcmp(f->name, "original-recipient") == 0 && !*d->recipient))
		d->recipient = behind_type(f->value);
	else if (strcmp(f->name, "action") == 0)
		d->action = f->value;
	else if (strcmp(f->name, "status") == 0)
		d->status = f->value;
	else if (strcmp(f->name, "diagnostic-code") == 0)
		d->diagnostic = behind_type(f->value);
}

/* A group for each recipient, behind the one about the message. */
static void read_deliveries(struct arena *a, const struct helper_mail *m, struct mail_read *ret)
{
	struct mail_delivery *all = arena_array(a, struct mail_delivery, m->status_count + 1);
	size_t group = 0, count = 0;

	for (size_t i = 0; i < m->status_count; i++) {
		const struct helper_mail_field *f = &m->status[i];

		if (!f->group)
			continue;
		if (f->group != group)
			all[count++] = (struct mail_delivery){ "", "", "", "" };
		group = f->group;
		take_status(&all[count - 1], f);
	}
	ret->deliveries = all;
	ret->delivery_count = count;
}

int mail_read(struct helper *h, struct arena *a, const char *raw, size_t len, size_t bytes_max,
	struct mail_read *ret)
{
	struct helper_mail *m = arena_new(a, struct helper_mail);
	int err;

	*ret = (struct mail_read){ .fault = prescan_fault(raw, len, bytes_max) };
	if (ret->fault)
		return ERR_INVALID;
	err = helper_mime(h, a, raw, len, m);
	if (err) {
		ret->fault = m->fault;
		return err;
	}
	ret->from = author_of(a, m);
	ret->to = people_of(a, m, "to");
	ret->cc = people_of(a, m, "cc");
	ret->reply_to = people_of(a, m, "reply-to");
	ret->subject = field_value(m, "subject");
	ret->subject = ret->subject ? ret->subject : "";
	ret->message_id = first_id(a, field_value(m, "message-id"));
	ret->in_reply_to = first_id(a, field_value(m, "in-reply-to"));
	read_references(a, field_value(m, "references"), ret);
	read_texts(a, m, ret);
	read_headers(a, m, ret);
	read_deliveries(a, m, ret);
	ret->attachments = m->parts;
	ret->attachment_count = m->part_count;
	return 0;
}
