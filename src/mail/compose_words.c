/* compose_words.c - header lines: words that are folded, texts in encoded words (RFC 2047), names of files (RFC 2231). */
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "mail/compose_parts.h"

enum { LINE = 76, ENCODED_BYTES = 39 /* 52 of base64, 64 with =?utf-8?B? and ?= */ };

void compose_put(struct compose_out *o, const void *bytes, size_t len)
{
	if (len && !o->failed)
		o->failed = !o->sink->put(o->sink, bytes, len);
}

void compose_puts(struct compose_out *o, const char *text)
{
	compose_put(o, text, strlen(text));
	o->column += strlen(text);
}

void compose_word(struct compose_out *o, const char *word)
{
	if (o->column + 1 + strlen(word) > LINE) {
		compose_put(o, "\r\n", 2);
		o->column = 0;
	}
	compose_puts(o, " ");
	compose_puts(o, word);
}

void compose_end_header(struct compose_out *o)
{
	compose_put(o, "\r\n", 2);
	o->column = 0;
}

/* ---- free text ---- */

/* Plain words that fit on a line and that nobody could take for something else. */
static bool is_plain(const char *text)
{
	size_t word = 0;

	if (*text == ' ' || strstr(text, "=?") || strstr(text, "  "))
		return false;
	for (const char *p = text; *p; p++) {
		word = *p == ' ' ? 0 : word + 1;
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f || word > LINE - 2 ||
			(*p == ' ' && !p[1]))
			return false;
	}
	return true;
}

/* Whole characters, so that each word can be read alone; what is no UTF-8 has become question marks. */
static void put_encoded(struct compose_out *o, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		char piece[ENCODED_BYTES], word[80] = "=?utf-8?B?";
		size_t n = 0, head = strlen(word);

		while (text < end) {
			size_t step = utf8_step(text, end);

			if (n + (step ? step : 1) > sizeof piece)
				break;
			if (step)
				memcpy(piece + n, text, step);
			else
				piece[n] = '?';
			n += step ? step : 1;
			text += step ? step : 1;
		}
		base64_encode(piece, n, word + head);
		memcpy(word + head + base64_length(n), "?=", 3);
		compose_word(o, word);
	}
}

void compose_text(struct compose_out *o, const char *text)
{
	if (!is_plain(text)) {
		put_encoded(o, text, strlen(text));
		return;
	}
	while (*text) {
		char word[LINE];
		size_t n = strcspn(text, " ");

		memcpy(word, text, n);
		word[n] = '\0';
		compose_word(o, word);
		text += n + (text[n] == ' ');
	}
}

/* ---- people ---- */

static bool is_phrase(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9') || strchr(" !#$%&'*+-/=?^_`{|}~", *p)))
			return false;
	return is_plain(text);
}

/* In quotes, which stay on one line. */
static bool put_quoted_name(struct compose_out *o, const char *name)
{
	char text[LINE];
	size_t n = 0;

	text[n++] = '"';
	for (const char *p = name; *p; p++) {
		if (n + 4 > sizeof text || (unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			return false;
		if (*p == '"' || *p == '\\')
			text[n++] = '\\';
		text[n++] = *p;
	}
	text[n++] = '"';
	text[n] = '\0';
	compose_word(o, text);
	return true;
}

void compose_person(struct compose_out *o, const struct mail_person *p, bool more)
{
	const char *name = p->name ? p->name : "";
	char text[MAIL_ADDRESS_MAX + 8];

	if (*name && is_phrase(name))
		compose_text(o, name);
	else if (*name && (strstr(name, "=?") || !put_quoted_name(o, name)))
		put_encoded(o, name, strlen(name));
	snprintf(text, sizeof text, *name ? "<%s>%s" : "%s%s", p->address.text, more ? "," : "");
	compose_word(o, text);
}

/* ---- names of files ---- */

static bool is_token_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$&+-.^_`{}~", c));
}

void compose_filename(struct compose_out *o, const char *name, const char *text)
{
	char word[LINE];
	bool plain = strlen(text) < 50;
	size_t section = 0;

	for (const char *p = text; *p; p++)
		plain &= is_token_byte((unsigned char)*p) || *p == ' ';
	compose_puts(o, ";");
	if (plain) {
		snprintf(word, sizeof word, "%s=\"%s\"", name, text);
		compose_word(o, word);
		return;
	}
	for (const char *p = text, *end = text + strlen(text); p < end; section++) {
		size_t n = (size_t)snprintf(
			word, sizeof word, "%s*%zu*=%s", name, section, section ? "" : "utf-8''");

		while (p < end && n < 64) {
			unsigned char c = (unsigned char)*p++;

			n += (size_t)snprintf(
				word + n, sizeof word - n, is_token_byte(c) ? "%c" : "%%%02X", c);
		}
		if (p < end)
			snprintf(word + n, sizeof word - n, ";");
		compose_word(o, word);
	}
}
