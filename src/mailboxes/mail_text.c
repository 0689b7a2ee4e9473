/* mail_text.c - see mail_text.h. */
#include "mailboxes/mail_text.h"

#include <string.h>

#include "base/crypto.h"
#include "base/html_text.h"
#include "base/utf8.h"

/* Of a sequence of UTF-8 with this many bytes. */
static uint32_t sign_of(const unsigned char *at, size_t len)
{
	uint32_t sign = len == 1 ? at[0] : at[0] & (0x7fU >> len);

	for (size_t i = 1; i < len; i++)
		sign = sign << 6 | (at[i] & 0x3fU);
	return sign;
}

/* Marks of direction, and what shows nothing or breaks a line. */
static bool misleads(uint32_t sign)
{
	return sign == 0x61c || sign == 0x200b || sign == 0x200e || sign == 0x200f ||
	       (sign >= 0x2028 && sign <= 0x202e) || (sign >= 0x2066 && sign <= 0x2069) ||
	       sign == 0xfeff;
}

const char *mail_line(struct arena *a, const char *text)
{
	size_t len = strlen(text), n = 0, step;
	char *out = arena_alloc(a, len + 1);

	for (const char *p = text; *p; p += step) {
		uint32_t sign;

		step = utf8_step(p, text + len);
		step = step ? step : 1;
		sign = sign_of((const unsigned char *)p, step);
		if (misleads(sign))
			continue;
		if (sign < ' ' || (sign >= 0x7f && sign < 0xa0))
			out[n++] = ' ';
		else
			for (size_t i = 0; i < step; i++)
				out[n++] = p[i];
	}
	out[n] = '\0';
	return out;
}

const char *mail_preview(struct arena *a, const char *text)
{
	char *out = arena_alloc(a, MAIL_PREVIEW_MAX + 1);
	size_t n = 0;

	for (const unsigned char *p = (const unsigned char *)text; *p && n < MAIL_PREVIEW_MAX;
		p++) {
		bool blank = *p <= ' ';

		if (!blank)
			out[n++] = (char)*p;
		else if (n && out[n - 1] != ' ')
			out[n++] = ' ';
	}
	if (n == MAIL_PREVIEW_MAX) { /* no sign is cut in two */
		while (n && ((unsigned char)out[n - 1] & 0xc0) == 0x80)
			n--;
		n -= n && (unsigned char)out[n - 1] >= 0xc0;
	}
	n -= n && out[n - 1] == ' ';
	out[n] = '\0';
	return out;
}

/* Where so many code points end. */
static size_t bytes_of(const char *text, size_t len, size_t most)
{
	size_t at = 0;

	while (at < len && most--) {
		size_t step = utf8_step(text + at, text + len);

		at += step ? step : 1;
	}
	return at;
}

const char *mail_cut(struct arena *a, const char *text, size_t most)
{
	size_t len = strlen(text), end = len > most ? bytes_of(text, len, most) : len;

	if (end == len)
		return text;
	return arena_printf(a, "%.*s…", (int)bytes_of(text, end, most - 1), text);
}

const char *mail_forwarded(struct arena *a, const char *before, const char *sender,
	const char *subject, const char *body)
{
	static const char left_out[] = "\n[The rest of the message was left out: it is too long.]";
	const char *head = arena_printf(a,
		"%s%s---------- Forwarded message ----------\nFrom: %s\nSubject: %s\n\n", before,
		*before ? "\n\n" : "", sender, subject);
	size_t used = utf8_count(head, strlen(head)) + sizeof left_out, len = strlen(body);
	size_t room = used < MAIL_TEXT_MAX ? MAIL_TEXT_MAX - used : 0;
	size_t end = len > room ? bytes_of(body, len, room) : len;

	if (used > MAIL_TEXT_MAX)
		return NULL;
	return arena_printf(a, "%s%.*s%s", head, (int)end, body, end < len ? left_out : "");
}

static bool is_in(const char *mark, const char *const *texts)
{
	for (; *texts; texts++)
		if (strstr(*texts, mark))
			return true;
	return false;
}

const char *mail_mark(struct arena *a, const char *const *texts)
{
	enum { MARK_BYTES = 12 };
	uint8_t bytes[MARK_BYTES];
	char *mark = arena_alloc(a, 2 * MARK_BYTES + 1);

	do {
		random_bytes(bytes, sizeof bytes);
		hex_write(bytes, sizeof bytes, mark);
	} while (is_in(mark, texts));
	return mark;
}

const char *mail_shown(struct arena *a, const char *html)
{
	size_t len = 0;
	const char *text = html ? html_letter_text(a, html, strlen(html), &len) : NULL;

	return text ? mail_cut(a, text, MAIL_TEXT_MAX) : NULL;
}
