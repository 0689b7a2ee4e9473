/* quoted.c - see quoted.h.  A line looks at most so many bytes and lines ahead, so that the time is a small multiple of the
 * text's length. */
#include "mail/quoted.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
	INTRO_LINES = 4, /* over which "On … wrote:" may be folded */
	INTRO_MAX = 600,
	BLOCK_LINES = 8, /* in which the headers of a block stand */
	UNDERSCORES = 20,
	BLANKS_MAX = 1, /* between paragraphs */
};

/* What stands before a quotation: how it begins (NULL: anyhow) and what is in it. */
static const struct {
	const char *begins, *has;
} intros[] = {
	{ "On ", " wrote" }, { "Am ", " schrieb" }, { NULL, " schrieb am " },
	{ "Le ", " a \u00e9crit" }, { "El ", " escribi\xc3\xb3" }, { "Il ", " ha scritto" },
	{ "Em ", " escreveu" }, { "Op ", " schreef" }, { "Den ", " skrev" },
	{ "P\xc3\xa5 ", " skrev" }, { NULL, " kirjoitti" }, { "W dniu ", " napisa\xc5\x82" },
	{ NULL, " napisa\xc5\x82(a)" }, { "Dne ", " napsal" }, { NULL, " ezt \xc3\xadrta" },
	{ NULL, " a scris" }, { NULL, "\xd0\xbf\xd0\xb8\xd1\x88\xd0\xb5\xd1\x82" }, /* пишет */
	{ NULL, "\xd0\xbd\xd0\xb0\xd0\xbf\xd0\xb8\xd1\x81\xd0\xb0\xd0\xbb" }, /* написал */
	{ NULL, "\xd0\xbf\xd0\xb8\xd1\x88\xd0\xb5" },			      /* пише */
	{ NULL, " yazd\xc4\xb1" },
	{ NULL, "\xce\xad\xce\xb3\xcf\x81\xce\xb1\xcf\x88\xce\xb5" },		  /* έγραψε */
	{ NULL, "\xe5\x86\x99\xe9\x81\x93" },					  /* 写道 */
	{ NULL, "\xe5\xaf\xab\xe9\x81\x93" },					  /* 寫道 */
	{ NULL, "\xe6\x9b\xb8\xe3\x81\x8d\xe3\x81\xbe\xe3\x81\x97\xe3\x81\x9f" }, /* 書きました */
	{ NULL, "\xec\x9e\x91\xec\x84\xb1" },					  /* 작성 */
};

/* The headers of a block, by what they say: who, when, to whom, about what. */
static const char *const senders[] = { "From", "Von", "De", "Da", "Van", "Fr\xc3\xa5n", "Fra",
	"L\xc3\xa4hett\xc3\xa4j\xc3\xa4", "Od", "\xd0\x9e\xd1\x82", "Kimden", "Felad\xc3\xb3",
	"\xe5\x8f\x91\xe4\xbb\xb6\xe4\xba\xba", "\xe5\xb7\xae\xe5\x87\xba\xe4\xba\xba", NULL };
static const char *const times[] = { "Sent", "Date", "Gesendet", "Datum", "Envoy\xc3\xa9",
	"Enviado", "Enviado el", "Fecha", "Inviato", "Data", "Verzonden", "Skickat", "Sendt",
	"Dato", "L\xc3\xa4hetetty", "Wys\u0142ano", "Odesl\xc3\xa1no",
	"\xd0\x94\xd0\xb0\xd1\x82\xd0\xb0",
	"\xd0\x9e\xd1\x82\xd0\xbf\xd1\x80\xd0\xb0\xd0\xb2\xd0\xbb\xd0\xb5\xd0\xbd\xd0\xbe", "Tarih",
	"K\xc3\xbcldve", "\xe5\x8f\x91\xe9\x80\x81\xe6\x97\xb6\xe9\x97\xb4",
	"\xe9\x80\x81\xe4\xbf\xa1\xe6\x97\xa5\xe6\x99\x82", NULL };
static const char *const recipients[] = { "To", "An", "\xc3\x80", "Para", "A", "Aan", "Till", "Til",
	"Vastaanottaja", "Do", "Komu", "\xd0\x9a\xd0\xbe\xd0\xbc\xd1\x83", "Kime", "C\xc3\xadmzett",
	"\xe6\x94\xb6\xe4\xbb\xb6\xe4\xba\xba", "\xe5\xae\x9b\xe5\x85\x88", NULL };
static const char *const subjects[] = { "Subject", "Betreff", "Objet", "Asunto", "Oggetto",
	"Assunto", "Onderwerp", "\xc3\x84mne", "Emne", "Aihe", "Temat", "P\u0159edm\u011bt",
	"\xd0\xa2\xd0\xb5\xd0\xbc\xd0\xb0", "Konu", "T\xc3\xa1rgy", "\xe4\xb8\xbb\xe9\xa2\x98",
	"\xe4\xbb\xb6\xe5\x90\x8d", NULL };

/* Between dashes. */
static const char *const originals[] = { "Original Message", "Original message",
	"Urspr\xc3\xbcngliche Nachricht", "Message d'origine", "Message original",
	"Mensaje original", "Mensagem original", "Messaggio originale", "Messaggio Originale",
	"Oorspronkelijk bericht", "Ursprungligt meddelande", "Oprindelig meddelelse",
	"Opprinnelig melding", "Reply Message", "Wiadomo\xc5\x9b\xc4\x87 oryginalna", NULL };
static const char *const forwards[] = { "Forwarded message", "Forwarded Message",
	"Weitergeleitete Nachricht", "Message transf\xc3\xa9r\xc3\xa9", "Mensaje reenviado",
	"Mensagem encaminhada", "Messaggio inoltrato", "Doorgestuurd bericht",
	"Vidarebefordrat meddelande", NULL };
static const char *const footers[] = { "Sent from my ", "Sent from Mail for ", "Get Outlook for ",
	"Von meinem ", "Envoy\xc3\xa9 de mon ", "Enviado desde mi ", "Inviato da ", NULL };

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The line at *at, without its end, and *at behind it. */
static struct slice next_line(const char **at, const char *end)
{
	const char *from = *at, *stop = memchr(from, '\n', (size_t)(end - from));
	struct slice line = { from, (size_t)((stop ? stop : end) - from) };

	*at = stop ? stop + 1 : end;
	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

static struct slice trimmed(struct slice s)
{
	while (s.len && is_blank(s.at[s.len - 1]))
		s.len--;
	while (s.len && is_blank(*s.at)) {
		s.at++;
		s.len--;
	}
	return s;
}

static bool begins_with(struct slice s, const char *text)
{
	return s.len >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

static bool is_quoted(struct slice line)
{
	return begins_with(trimmed(line), ">");
}

static struct slice next_written(const char *at, const char *end)
{
	struct slice line = { at, 0 };

	while (at < end && !line.len)
		line = trimmed(next_line(&at, end));
	return line;
}

/* ---- what stands before a quotation ---- */

static bool ends_with_colon(struct slice s)
{
	static const char wide[] = "\xef\xbc\x9a";

	return s.len &&
	       (s.at[s.len - 1] == ':' || (s.len >= 3 && memcmp(s.at + s.len - 3, wide, 3) == 0));
}

static bool has_digit(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] >= '0' && s.at[i] <= '9')
			return true;
	return false;
}

static bool is_intro(struct slice s)
{
	if (!ends_with_colon(s) || !has_digit(s))
		return false;
	for (size_t i = 0; i < sizeof intros / sizeof *intros; i++)
		if ((!intros[i].begins || begins_with(s, intros[i].begins)) &&
			memmem(s.at, s.len, intros[i].has, strlen(intros[i].has)))
			return true;
	return false;
}

/* Where an intro that begins with this line ends, or NULL.  Its lines are looked at as one. */
static const char *intro_end(struct slice line, const char *at, const char *end)
{
	char joined[INTRO_MAX];
	struct slice whole = { joined, 0 }, more = trimmed(line);

	for (int i = 0; i < INTRO_LINES; i++) {
		if (!more.len || *more.at == '>' || whole.len + more.len + 1 > INTRO_MAX)
			return NULL;
		if (whole.len)
			joined[whole.len++] = ' ';
		memcpy(joined + whole.len, more.at, more.len);
		whole.len += more.len;
		if (is_intro(whole))
			return at;
		if (ends_with_colon(whole) || at == end)
			return NULL;
		more = trimmed(next_line(&at, end));
	}
	return NULL;
}

/* "From: x", "*Von:* x" of one of these names. */
static bool is_header(struct slice line, const char *const *names)
{
	struct slice s = trimmed(line);

	while (s.len && (*s.at == '*' || *s.at == '>')) {
		s.at++;
		s.len--;
	}
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (s.len <= n || memcmp(s.at, *names, n) != 0)
			continue;
		/* In French a blank that does not break comes before the colon. */
		while (n < s.len && (s.at[n] == ' ' || s.at[n] == '*' || s.at[n] == '\xc2' ||
					    s.at[n] == '\xa0'))
			n++;
		if (n < s.len && (s.at[n] == ':' || s.at[n] == '\xef'))
			return true;
	}
	return false;
}

/* A sender, and two of time, recipient and subject soon after it. */
static bool is_block(struct slice line, const char *at, const char *end)
{
	bool time = false, to = false, subject = false;

	if (!is_header(line, senders))
		return false;
	for (int i = 0; i < BLOCK_LINES && at < end; i++) {
		line = next_line(&at, end);
		time |= is_header(line, times);
		to |= is_header(line, recipients);
		subject |= is_header(line, subjects);
	}
	return time + to + subject >= 2;
}

/* "----- text -----" with one of these. */
static bool is_between_dashes(struct slice line, const char *const *texts)
{
	struct slice s = trimmed(line);
	size_t dashes = 0;

	while (s.len && (*s.at == '-' || *s.at == '_')) {
		s.at++;
		s.len--;
		dashes++;
	}
	s = trimmed(s);
	if (dashes < 2 || !s.len || (s.at[s.len - 1] != '-' && s.at[s.len - 1] != '_'))
		return false;
	for (; *texts; texts++)
		if (begins_with(s, *texts))
			return true;
	return false;
}

static bool is_rule(struct slice line)
{
	struct slice s = trimmed(line);

	if (s.len < UNDERSCORES)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] != '_')
			return false;
	return true;
}

/* Everything from here on is the other letter. */
static bool is_cut(struct slice line, const char *at, const char *end)
{
	struct slice next;
	const char *after = at;

	if (is_between_dashes(line, originals) || is_block(line, at, end))
		return true;
	if (!is_rule(line))
		return false;
	next = next_line(&after, end);
	if (!trimmed(next).len && after < end)
		next = next_line(&after, end);
	return is_block(next, after, end);
}

static bool is_signature(struct slice line)
{
	return line.len >= 2 && memcmp(line.at, "--", 2) == 0 && trimmed(line).len == 2;
}

/* "Sent from my …", with nothing behind it but a quotation. */
static bool is_footer(struct slice line, const char *at, const char *end)
{
	struct slice s = trimmed(line), next = { at, 0 };
	bool known = false;

	for (const char *const *text = footers; *text; text++)
		known |= begins_with(s, *text);
	if (!known)
		return false;
	while (at < end && !next.len)
		next = trimmed(next_line(&at, end));
	return !next.len || *next.at == '>' || is_signature(next) || intro_end(next, at, end) ||
	       is_cut(next, at, end);
}

/* ---- the text ---- */

struct extract {
	struct buf out;
	size_t blanks;
};

static void put_line(struct extract *e, struct slice line)
{
	while (line.len && is_blank(line.at[line.len - 1]))
		line.len--;
	if (!line.len) {
		e->blanks++;
		return;
	}
	if (e->out.len)
		for (size_t i = 0; i <= (e->blanks < BLANKS_MAX ? e->blanks : BLANKS_MAX); i++)
			buf_putc(&e->out, '\n');
	e->blanks = 0;
	buf_put(&e->out, line.at, line.len);
}

/* All that is left, as it is. */
static void put_rest(struct extract *e, const char *at, const char *end)
{
	while (at < end)
		put_line(e, next_line(&at, end));
}

static void extract(struct extract *e, const char *at, const char *end)
{
	while (at < end) {
		const char *from = at, *behind;
		struct slice line = next_line(&at, end);

		if (is_between_dashes(line, forwards)) {
			put_rest(e, from, end);
			return;
		}
		if (is_signature(line) || is_cut(line, at, end))
			return;
		behind = intro_end(line, at, end);
		if (behind) {
			struct slice next = next_written(behind, end);

			if (!next.len || *next.at != '>')
				return;
			at = behind;
		} else if (is_quoted(line) || is_footer(line, at, end)) {
			e->blanks++;
		} else {
			put_line(e, line);
		}
	}
}

const char *mail_extract_reply(struct arena *a, const char *text, size_t len, size_t *ret_len)
{
	struct extract e = { 0 };
	const char *out;

	buf_init(&e.out, len + 1);
	extract(&e, text, text + len);
	if (!e.out.len) {
		e.blanks = 0;
		put_rest(&e, text, text + len);
	}
	*ret_len = e.out.len;
	out = arena_strndup(a, e.out.len ? e.out.at : "", e.out.len);
	buf_free(&e.out);
	return out;
}
