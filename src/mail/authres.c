/* authres.c - see authres.h.  The header is read from left to right, comments passed over; what is not understood says
 * nothing. */
#include "mail/authres.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/slice.h"

enum { AUTHRES_MAX = 16 * 1024 };

const char *mail_verdict_name(enum mail_verdict v)
{
	static const char *const names[] = { "none", "pass", "fail" };

	return names[v];
}

struct authres_reader {
	const char *at, *end;
	bool open; /* a comment or a quoted text has no end */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Blanks and comments, which nest. */
static void skip(struct authres_reader *r)
{
	size_t depth = 0;

	for (; r->at < r->end; r->at++) {
		if (*r->at == '(')
			depth++;
		else if (*r->at == ')' && depth)
			depth--;
		else if (*r->at == '\\' && depth && r->at + 1 < r->end)
			r->at++;
		else if (!depth && !is_blank(*r->at))
			return;
	}
	r->open |= depth > 0;
}

/* A word, or a quoted text without its quotes. */
static struct slice word(struct authres_reader *r)
{
	const char *from;

	skip(r);
	from = r->at;
	if (r->at < r->end && *r->at == '"') {
		struct slice text = { ++r->at, 0 };

		while (r->at < r->end && *r->at != '"')
			r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
		if (r->at > r->end)
			r->at = r->end;
		text.len = (size_t)(r->at - text.at);
		r->open |= r->at == r->end;
		r->at += r->at < r->end;
		return text;
	}
	while (r->at < r->end && !is_blank(*r->at) && !strchr(";=()\"", *r->at))
		r->at++;
	return (struct slice){ from, (size_t)(r->at - from) };
}

static bool is_word(struct slice s, const char *text)
{
	return s.len == strlen(text) && strncasecmp(s.at, text, s.len) == 0;
}

/* One result by DMARC, with its properties so far. */
struct dmarc_said {
	bool there;
	enum mail_verdict verdict;
	char from[MAIL_AUTHRES_FROM]; /* "": nobody yet */
};

static enum mail_verdict worse(enum mail_verdict a, enum mail_verdict b)
{
	return a == MAIL_FAIL || b == MAIL_FAIL ? MAIL_FAIL : a == MAIL_PASS ? b : a;
}

/* It has ended: the worse of all counts, and none is good that does not say of whom, or says it of another than the one before. */
static void close_dmarc(struct authres *a, struct dmarc_said *d, bool *first)
{
	enum mail_verdict v = d->verdict;

	if (!d->there)
		return;
	if (v == MAIL_PASS && (!*d->from || (!*first && strcasecmp(a->dmarc_from, d->from) != 0)))
		v = MAIL_NONE;
	a->dmarc = *first ? v : worse(a->dmarc, v);
	if (*first)
		memcpy(a->dmarc_from, d->from, sizeof a->dmarc_from);
	*first = false;
	*d = (struct dmarc_said){ 0 };
}

static void take_result(
	struct authres *a, struct dmarc_said *d, struct slice method, struct slice result)
{
	enum mail_verdict v = is_word(result, "pass")					? MAIL_PASS
			      : is_word(result, "fail") || is_word(result, "permerror") ? MAIL_FAIL
											: MAIL_NONE;

	if (is_word(method, "dmarc"))
		*d = (struct dmarc_said){ .there = true, .verdict = v };
	else if (is_word(method, "spf"))
		a->spf = a->spf == MAIL_FAIL ? MAIL_FAIL : v;
	else if (is_word(method, "dkim") && a->dkim != MAIL_PASS)
		a->dkim = v; /* one good signature is enough */
}

/* "header.from=example.org" of DMARC: whose policy it was.  Two of them are nobody. */
static void read_property(struct authres_reader *r, struct dmarc_said *d)
{
	const char *before = r->at;
	struct slice name = word(r), value;

	r->at += r->at == before;
	if (!d->there || !is_word(name, "header.from"))
		return;
	skip(r);
	if (r->at == r->end || *r->at != '=')
		return;
	r->at++;
	value = word(r);
	if (!value.len || value.len >= sizeof d->from || *d->from)
		d->verdict = worse(d->verdict, MAIL_NONE);
	else
		snprintf(d->from, sizeof d->from, "%.*s", (int)value.len, value.at);
}

/* After a semicolon: "method[/version]=result", and then properties up to the next one. */
static void read_results(struct authres_reader *r, struct authres *a)
{
	struct dmarc_said said = { 0 };
	bool first = true;

	while (skip(r), r->at < r->end) {
		struct slice method, result;

		if (*r->at != ';') { /* a property, or what nobody knows */
			read_property(r, &said);
			continue;
		}
		close_dmarc(a, &said, &first);
		r->at++;
		method = word(r);
		for (size_t i = 0; i < method.len; i++)
			if (method.at[i] == '/')
				method.len = i;
		skip(r);
		if (r->at == r->end || *r->at != '=')
			continue;
		r->at++;
		result = word(r);
		take_result(a, &said, method, result);
	}
	close_dmarc(a, &said, &first);
}

struct authres authres_read(const struct mail_header *headers, size_t count, const char *id)
{
	struct authres a = { 0 };

	for (size_t i = 0; id && *id && i < count; i++) {
		struct authres_reader r = { .at = headers[i].value };

		if (strcmp(headers[i].name, "authentication-results") != 0)
			continue;
		if (strnlen(headers[i].value, AUTHRES_MAX + 1) > AUTHRES_MAX)
			break; /* it may be the topmost: what is below it is not */
		r.end = headers[i].value + strlen(headers[i].value);
		if (!is_word(word(&r), id))
			continue;
		a.found = true;
		skip(&r);
		if (r.at < r.end && *r.at >= '0' && *r.at <= '9')
			word(&r); /* the version */
		read_results(&r, &a);
		if (r.open) /* something was put into it: nothing of it is believed */
			a = (struct authres){ .found = true };
		break;
	}
	return a;
}

bool authres_vouches(const struct authres *a, const char *domain)
{
	return a->found && a->dmarc == MAIL_PASS && strcasecmp(a->dmarc_from, domain) == 0;
}
