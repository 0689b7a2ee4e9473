/* fault.c - telling the faults of model calls apart; see fault.h.
 *
 * Providers agree on little: a status, and somewhere in the body a sentence
 * and perhaps a word.  What is recognised by its words stands in a table. */
#include "broker/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/utf8_cut.h"

const struct fault_row fault_rows[FAULT_COUNT] = {
#define X(name, word, over, status, title) [FAULT_##name] = { word, over, status, title },
	FAULTS(X)
#undef X
};

/* Copies without control characters, cut at a whole character. */
static void copy_text(char *out, size_t room, const char *text)
{
	size_t len = utf8_cut(text, strlen(text), room - 1), n = 0;

	if (!utf8_valid(text, len))
		len = 0;
	for (; n < len; n++)
		out[n] = (unsigned char)text[n] < 0x20 || text[n] == 0x7f ? ' ' : text[n];
	out[n] = '\0';
}

void fault_set(struct fault *f, enum fault_class class, const char *fmt, ...)
{
	char text[FAULT_TEXT_MAX * 2];
	va_list ap;

	*f = (struct fault){ .class = class };
	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof text, fmt, ap);
		va_end(ap);
		utf8_trim(text);
		copy_text(f->sentence, sizeof f->sentence, text);
	}
	if (!*f->sentence)
		snprintf(f->sentence, sizeof f->sentence, "%s.", fault_rows[class].title);
}

/* Words in an error's type, code or message that say more than its status; the first row that
 * matches holds.  A row for one place only does not look into the other. */
static const struct word_row {
	const char *needle;
	bool in_message; /* else in type and code, as a whole */
	enum fault_class class;
} words[] = {
	{ "context_length_exceeded", false, FAULT_CONTEXT_LENGTH },
	{ "exceed_context_size_error", false, FAULT_CONTEXT_LENGTH },
	{ "model_context_window_exceeded", false, FAULT_CONTEXT_LENGTH },
	{ "string_above_max_length", false, FAULT_CONTEXT_LENGTH },
	{ "content_filter", false, FAULT_CONTENT_FILTER },
	{ "content_policy_violation", false, FAULT_CONTENT_FILTER },
	{ "invalid_prompt", false, FAULT_CONTENT_FILTER },
	{ "rate_limit_exceeded", false, FAULT_RATE_LIMITED },
	{ "rate_limit_error", false, FAULT_RATE_LIMITED },
	{ "insufficient_quota", false, FAULT_RATE_LIMITED },
	{ "billing_error", false, FAULT_AUTH },
	{ "invalid_api_key", false, FAULT_AUTH },
	{ "authentication_error", false, FAULT_AUTH },
	{ "permission_error", false, FAULT_AUTH },
	{ "overloaded_error", false, FAULT_SERVER },
	{ "api_error", false, FAULT_SERVER },
	{ "server_error", false, FAULT_SERVER },
	{ "internal_server_error", false, FAULT_SERVER },
	{ "timeout_error", false, FAULT_TIMEOUT },
	{ "not_found_error", false, FAULT_REFUSED },
	{ "invalid_request_error", false, FAULT_COUNT }, /* the message may say more */
	{ "maximum context length", true, FAULT_CONTEXT_LENGTH },
	{ "prompt is too long", true, FAULT_CONTEXT_LENGTH },
	{ "exceeds the available context size", true, FAULT_CONTEXT_LENGTH },
	{ "exceed context limit", true, FAULT_CONTEXT_LENGTH },
	{ "context window", true, FAULT_CONTEXT_LENGTH },
	{ "credit balance is too low", true, FAULT_AUTH },
	{ "content management policy", true, FAULT_CONTENT_FILTER },
};

static enum fault_class class_of_status(int status)
{
	switch (status) {
	case 401:
	case 402:
	case 403:
		return FAULT_AUTH;
	case 408:
	case 504:
		return FAULT_TIMEOUT;
	case 429:
		return FAULT_RATE_LIMITED;
	default:
		return status >= 400 && status < 500   ? FAULT_REFUSED
		       : status >= 300 && status < 400 ? FAULT_MALFORMED
						       : FAULT_SERVER;
	}
}

void fault_from_words(
	struct fault *f, int status, const char *type, const char *code, const char *message)
{
	enum fault_class class = class_of_status(status);

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const struct word_row *w = &words[i];

		if (w->in_message ? !strcasestr(message, w->needle)
				  : strcmp(type, w->needle) != 0 && strcmp(code, w->needle) != 0)
			continue;
		/* A 5xx is the provider's own fault whatever it calls it. */
		if (status >= 500)
			break;
		class = w->class == FAULT_COUNT ? FAULT_REFUSED : w->class;
		if (w->class != FAULT_COUNT)
			break;
	}
	if (*message && !fault_rows[class].fails_over)
		fault_set(f, class, "%s: %s", fault_rows[class].title, message);
	else
		fault_set(f, class, NULL);
	f->status = status;
	copy_text(f->words, sizeof f->words, message);
	copy_text(f->code, sizeof f->code, *code ? code : type);
}

struct said {
	const char *type, *code, *message;
	int status; /* some give it as a number in the body */
};

static void read_said(struct json_reader *r, struct said *s);

static void read_status(struct json_reader *r, struct said *s)
{
	struct json_number n;

	if (json_read_number(r, &n) && n.is_integer && n.integer >= 400 && n.integer <= 599)
		s->status = (int)n.integer;
}

/* NOLINTNEXTLINE(misc-no-recursion): the reader bounds the depth */
static void read_fault_member(struct json_reader *r, const char *key, struct said *s)
{
	bool text = json_peek(r) == JSON_STRING;

	if (strcmp(key, "error") == 0 && !text)
		read_said(r, s);
	else if (text && (strcmp(key, "message") == 0 || strcmp(key, "error") == 0 ||
				 strcmp(key, "detail") == 0))
		text_read_word(r, &s->message);
	else if (text && strcmp(key, "type") == 0)
		text_read_word(r, &s->type);
	else if (text && (strcmp(key, "code") == 0 || strcmp(key, "status") == 0))
		text_read_word(r, &s->code);
	else if (strcmp(key, "code") == 0 && json_peek(r) == JSON_NUMBER)
		read_status(r, s);
	else
		json_skip(r, NULL, NULL);
}

static void read_said(struct json_reader *r, struct said *s) /* NOLINT(misc-no-recursion) */
{
	const char *key;
	size_t len;

	if (json_peek(r) == JSON_STRING) {
		text_read_word(r, &s->message);
	} else if (json_peek(r) == JSON_ARRAY) { /* some wrap the object */
		json_enter_array(r);
		while (json_next_item(r))
			read_said(r, s);
	} else if (json_peek(r) == JSON_OBJECT) {
		json_enter_object(r);
		while (json_next_key(r, &key, &len))
			read_fault_member(r, key, s);
	} else {
		json_skip(r, NULL, NULL);
	}
}

void fault_read_value(struct fault *f, int status, struct json_reader *r)
{
	struct said s = { "", "", "", 0 };

	read_said(r, &s);
	fault_from_words(f, status ? status : s.status, s.type, s.code, s.message);
}

void fault_read(struct fault *f, int status, const char *retry_after, const char *body, size_t len,
	int64_t now_us)
{
	struct said s = { "", "", "", 0 };
	struct arena a = { 0 };
	struct json_reader r;

	json_open(&r, &a, body, len < FAULT_BODY_MAX ? len : FAULT_BODY_MAX);
	if (len)
		read_said(&r, &s);
	/* What is not JSON is not quoted: it may be a page of markup. */
	fault_from_words(f, status, s.type, s.code, s.message);
	if (!*s.message || fault_rows[f->class].fails_over)
		snprintf(f->sentence, sizeof f->sentence, "%s: it answered with status %d.",
			fault_rows[f->class].title, status);
	f->retry_after_s = retry_after_read(retry_after, now_us);
	arena_free(&a);
}

int retry_after_read(const char *value, int64_t now_us)
{
	struct tm tm = { 0 };
	char *end;
	double s;

	if (!value || !*value)
		return 0;
	s = strtod(value, &end);
	if (end == value) {
		const char *rest = strptime(value, "%a, %d %b %Y %H:%M:%S", &tm);

		if (!rest)
			return 0;
		s = (double)timegm(&tm) - (double)now_us / SECOND_US;
	}
	if (!(s > 0))
		return 0;
	return s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : (int)(s + 0.999);
}
