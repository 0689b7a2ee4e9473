/* answer_mail.c - a message as lodge-helper read it, held against the limits and the forms once more; see answer.h. */
#include <string.h>

#include "base/entry_names.h"
#include "base/utf8.h"
#include "helper/answer.h"

struct mail_reader {
	struct answer_source *source;
	struct arena *arena;
	struct helper_mail *mail;
	size_t field_cap, person_cap, part_cap, status_cap, decoded;
};

/* UTF-8, and of control characters only those that lines of a text have. */
static bool is_text(const char *text, size_t len, bool lines)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < ' ' && !(lines && (c == '\n' || c == '\t'))) || c == 0x7f)
			return false;
	}
	return utf8_valid(text, len);
}

/* A header's name: small letters, digits, hyphens. */
static bool is_name(const char *text, size_t len)
{
	return len && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

/* Room for one more of `size` bytes at the end of *at. */
static void *one_more(struct mail_reader *m, void *at, size_t count, size_t *cap, size_t size)
{
	char *more = at;

	if (count == *cap) {
		*cap = 2 * *cap + 8;
		more = arena_alloc(m->arena, *cap * size);
		if (count)
			memcpy(more, at, count * size);
	}
	return more;
}

static char *pull_name(struct mail_reader *m, const struct helper_record *r, enum answer *ret)
{
	return answer_bytes(m->source, m->arena, r->name_len, ret);
}

static char *pull_value(struct mail_reader *m, const struct helper_record *r, enum answer *ret)
{
	return answer_bytes(m->source, m->arena, r->len, ret);
}

static enum answer read_field(struct mail_reader *m, const struct helper_record *r, bool status)
{
	struct helper_mail *mail = m->mail;
	struct helper_mail_field f = { .group = r->line };
	size_t count = status ? mail->status_count : mail->field_count;
	enum answer why;
	char *name, *value;

	if (count >= (status ? HELPER_MIME_STATUS_MAX : HELPER_MIME_FIELDS_MAX) ||
		r->name_len > HELPER_MIME_NAME_MAX || r->len > HELPER_MIME_VALUE_MAX ||
		r->line > (status ? HELPER_MIME_STATUS_MAX : 0))
		return ANSWER_NONSENSE;
	name = pull_name(m, r, &why);
	value = name ? pull_value(m, r, &why) : NULL;
	if (!value)
		return why;
	if (!is_name(name, r->name_len) || !is_text(value, r->len, false))
		return ANSWER_NONSENSE;
	f.name = name;
	f.value = value;
	if (status) {
		mail->status = one_more(m, mail->status, count, &m->status_cap, sizeof f);
		mail->status[mail->status_count++] = f;
	} else {
		mail->fields = one_more(m, mail->fields, count, &m->field_cap, sizeof f);
		mail->fields[mail->field_count++] = f;
	}
	return ANSWER_WHOLE;
}

static enum answer read_person(struct mail_reader *m, const struct helper_record *r)
{
	static const char *const fields[] = { "from", "to", "cc", "reply-to" };
	struct helper_mail *mail = m->mail;
	struct helper_mail_person p = { 0 };
	enum answer why;
	char *name, *value;
	size_t address;

	if (mail->person_count >= HELPER_MIME_PEOPLE_MAX || r->name_len > HELPER_MIME_NAME_MAX ||
		r->len > HELPER_MIME_ADDRESS_MAX + 1 + HELPER_MIME_NAME_MAX)
		return ANSWER_NONSENSE;
	name = pull_name(m, r, &why);
	value = name ? pull_value(m, r, &why) : NULL;
	if (!value)
		return why;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strcmp(fields[i], name) == 0)
			p.field = fields[i];
	address = strnlen(value, r->len);
	if (!p.field || address == r->len || address > HELPER_MIME_ADDRESS_MAX ||
		!is_text(value, address, false) ||
		!is_text(value + address + 1, r->len - address - 1, false))
		return ANSWER_NONSENSE;
	p.address = value;
	p.name = value + address + 1;
	mail->people = one_more(m, mail->people, mail->person_count, &m->person_cap, sizeof p);
	mail->people[mail->person_count++] = p;
	return ANSWER_WHOLE;
}

static enum answer read_text(struct mail_reader *m, const struct helper_record *r)
{
	struct helper_mail *mail = m->mail;
	enum answer why;
	char *name, *text;
	bool html;

	if (r->name_len > HELPER_MIME_NAME_MAX || r->len > HELPER_MIME_TEXT_MAX)
		return ANSWER_NONSENSE;
	name = pull_name(m, r, &why);
	text = name ? pull_value(m, r, &why) : NULL;
	if (!text)
		return why;
	html = strcmp(name, "html") == 0;
	if ((!html && strcmp(name, "plain") != 0) || (html ? mail->html : mail->plain) ||
		!is_text(text, r->len, true))
		return ANSWER_NONSENSE;
	*(html ? &mail->html : &mail->plain) = text;
	*(html ? &mail->html_len : &mail->plain_len) = r->len;
	return ANSWER_WHOLE;
}

/* The three texts of an attachment's name. */
static bool split_names(char *names, size_t len, struct helper_mail_part *ret)
{
	size_t first = strnlen(names, len), second, third;

	if (first == len)
		return false;
	second = strnlen(names + first + 1, len - first - 1);
	if (first + 1 + second == len)
		return false;
	third = len - first - second - 2;
	ret->name = names;
	ret->type = names + first + 1;
	ret->content_id = ret->type + second + 1;
	return entry_name_valid(ret->name, first, HELPER_MIME_NAME_MAX, 1) &&
	       is_text(ret->name, first, false) && is_text(ret->type, second, false) &&
	       is_text(ret->content_id, third, false) && strlen(ret->content_id) == third &&
	       second <= HELPER_MIME_NAME_MAX && third <= HELPER_MIME_NAME_MAX;
}

static enum answer read_part(struct mail_reader *m, const struct helper_record *r)
{
	struct helper_mail *mail = m->mail;
	struct helper_mail_part p = { .len = r->len };
	enum answer why;
	char *names;

	if (mail->part_count >= HELPER_MIME_ATTACHED_MAX ||
		r->name_len > 3 * HELPER_MIME_NAME_MAX + 2 ||
		r->len > HELPER_MIME_DECODED_MAX - m->decoded)
		return ANSWER_NONSENSE;
	names = pull_name(m, r, &why);
	p.bytes = names ? pull_value(m, r, &why) : NULL;
	if (!p.bytes)
		return why;
	if (!split_names(names, r->name_len, &p))
		return ANSWER_NONSENSE;
	m->decoded += r->len;
	mail->parts = one_more(m, mail->parts, mail->part_count, &m->part_cap, sizeof p);
	mail->parts[mail->part_count++] = p;
	return ANSWER_WHOLE;
}

enum answer answer_mail(struct answer_source *s, struct arena *a, struct helper_mail *ret)
{
	struct mail_reader m = { .source = s, .arena = a, .mail = ret };
	enum answer got = ANSWER_WHOLE;

	*ret = (struct helper_mail){ 0 };
	while (got == ANSWER_WHOLE) {
		struct helper_record r;

		if (!s->pull(s, &r, sizeof r))
			return ANSWER_CUT;
		switch (r.kind) {
		case RECORD_FAULT:
			return answer_fault(s, a, &r, &ret->fault);
		case RECORD_END:
			return !r.name_len && !r.len ? ANSWER_WHOLE : ANSWER_NONSENSE;
		case RECORD_FIELD:
		case RECORD_STATUS:
			got = read_field(&m, &r, r.kind == RECORD_STATUS);
			break;
		case RECORD_PERSON:
			got = read_person(&m, &r);
			break;
		case RECORD_TEXT:
			got = read_text(&m, &r);
			break;
		case RECORD_ATTACHED:
			got = read_part(&m, &r);
			break;
		default:
			got = ANSWER_NONSENSE;
		}
	}
	return got;
}
