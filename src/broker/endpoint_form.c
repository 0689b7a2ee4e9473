/* endpoint_form.c - requests for transcriptions: a form (multipart/form-data) with a file; see endpoint.h.
 *
 * The form is taken apart where it lies and put together anew with the
 * provider's name for the model.  Its own boundary serves again: no field can
 * hold it, or the form would have been cut there. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/utf8.h"
#include "broker/chat_terms.h"
#include "broker/endpoint.h"
#include "broker/provider.h"
#include "broker/tokens.h"

enum { BOUNDARY_MAX = 70, NAME_MAX_LEN = 64, FILE_NAME_MAX = 255, HEAD_MAX = 4096 };

/* ---- words of heads ---- */

static bool is_word_char(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');
}

static bool is_all(const char *s, size_t len, const char *besides)
{
	for (size_t i = 0; i < len; i++)
		if (!s[i] || (!is_word_char(s[i]) && !strchr(besides, s[i])))
			return false;
	return len;
}

/* The value of a parameter such as name="file" in the line; false if it is not there. */
static bool parameter_of(struct slice line, const char *name, struct slice *ret)
{
	const char *at = line.at, *end = line.at + line.len;
	size_t n = strlen(name);

	while ((at = memchr(at, ';', (size_t)(end - at)))) {
		at++;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if ((size_t)(end - at) <= n || strncasecmp(at, name, n) != 0 || at[n] != '=')
			continue;
		at += n + 1;
		if (at < end && *at == '"') {
			const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));

			if (!close)
				return false;
			*ret = (struct slice){ at + 1, (size_t)(close - at - 1) };
		} else {
			const char *stop = at;

			while (stop < end && *stop != ';' && *stop != ' ')
				stop++;
			*ret = (struct slice){ at, (size_t)(stop - at) };
		}
		return true;
	}
	return false;
}

static const char *boundary_of(struct arena *a, const char *type)
{
	struct slice found;

	if (!type || !parameter_of((struct slice){ type, strlen(type) }, "boundary", &found) ||
		found.len > BOUNDARY_MAX || !is_all(found.at, found.len, "'()+_,-./:=?"))
		return NULL;
	return arena_strndup(a, found.at, found.len);
}

/* A name that does no harm between quotes. */
static const char *file_name(struct arena *a, struct slice s)
{
	char *name;

	if (!s.len || s.len > FILE_NAME_MAX || !utf8_valid(s.at, s.len))
		return "file";
	name = arena_strndup(a, s.at, s.len);
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127 || strchr("\"\\/", *c))
			*c = '_';
	return name;
}

static void read_head_line(struct arena *a, struct slice line, struct endpoint_part *p)
{
	static const char disposition[] = "content-disposition:", type[] = "content-type:";
	struct slice name, file;

	if (line.len > sizeof disposition &&
		strncasecmp(line.at, disposition, sizeof disposition - 1) == 0) {
		if (parameter_of(line, "name", &name) && name.len <= NAME_MAX_LEN &&
			is_all(name.at, name.len, "_-[]"))
			p->name = arena_strndup(a, name.at, name.len);
		if (parameter_of(line, "filename", &file))
			p->file = file_name(a, file);
	} else if (line.len > sizeof type && strncasecmp(line.at, type, sizeof type - 1) == 0) {
		size_t from = sizeof type - 1, len;

		while (from < line.len && line.at[from] == ' ')
			from++;
		len = line.len - from;
		if (len <= ENDPOINT_MEDIA_MAX && is_all(line.at + from, len, "/.+-_;= "))
			p->type = arena_strndup(a, line.at + from, len);
	}
}

/* ---- the form ---- */

struct form_reading {
	struct endpoint_request *request;
	struct arena *arena;
	struct chat_error *error;
	const char *at, *end;
	const char *mark; /* "\r\n--" and the boundary */
	size_t count;
	const struct endpoint_part *file;
};

static int form_broken(struct form_reading *f, const char *why)
{
	return endpoint_wrong(f->error, "", "The form could not be read: %s.", why);
}

static int read_head(struct form_reading *f, struct endpoint_part *p)
{
	size_t left = (size_t)(f->end - f->at);
	const char *stop = memmem(f->at, left < HEAD_MAX ? left : HEAD_MAX, "\r\n\r\n", 4);

	if (!stop)
		return form_broken(f, "the head of a field does not end");
	while (f->at < stop) {
		const char *line = memmem(f->at, (size_t)(stop - f->at), "\r\n", 2);

		line = line ? line : stop;
		read_head_line(f->arena, (struct slice){ f->at, (size_t)(line - f->at) }, p);
		f->at = line == stop ? stop : line + 2;
	}
	f->at = stop + 4;
	return p->name ? 0 : form_broken(f, "a field has no name, or one that no API has");
}

static bool is_list(const char *name)
{
	size_t len = strlen(name);

	return len > 2 && strcmp(name + len - 2, "[]") == 0;
}

static const char *const form_known[] = { "file", "model", "response_format", "stream", "language",
	"prompt", "temperature", NULL };

/* Some providers read names without regard to case. */
static const char *known_as(const char *name)
{
	for (size_t i = 0; form_known[i]; i++)
		if (chat_name_like(name, form_known[i]))
			return form_known[i];
	return NULL;
}

static const char *part_text(const struct form_reading *f, const struct endpoint_part *p)
{
	return arena_strndup(f->arena, p->data.at, p->data.len);
}

static int take_format(struct form_reading *f, const struct endpoint_part *p)
{
	static const struct {
		const char *word;
		enum endpoint_form form;
	} forms[] = {
		{ "json", ENDPOINT_OBJECT },
		{ "verbose_json", ENDPOINT_OBJECT },
		{ "diarized_json", ENDPOINT_OBJECT },
		{ "text", ENDPOINT_PLAIN },
		{ "srt", ENDPOINT_SUBTITLES },
		{ "vtt", ENDPOINT_SUBTITLES },
	};
	struct endpoint_request *e = f->request;

	e->format = part_text(f, p);
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].word, e->format) == 0) {
			e->form = e->form == ENDPOINT_EVENTS ? ENDPOINT_EVENTS : forms[i].form;
			return 0;
		}
	return endpoint_wrong(f->error, "response_format",
		"Invalid 'response_format': it must be json, verbose_json, diarized_json, text, srt or "
		"vtt.");
}

static int take_known(struct form_reading *f, struct endpoint_part *p)
{
	struct endpoint_request *e = f->request;

	if (strcmp(p->name, "file") == 0) {
		f->file = p;
		if (!p->data.len || p->data.len > ENDPOINT_FILE_MAX)
			return endpoint_wrong(f->error, "file",
				"Invalid 'file': it must have 1 to %d bytes.", ENDPOINT_FILE_MAX);
		p->file = p->file ? p->file : "file";
		p->type = p->type ? p->type : "application/octet-stream";
	} else if (strcmp(p->name, "model") == 0) {
		if (!p->data.len)
			return endpoint_wrong(f->error, "model", "Invalid 'model': it is empty.");
		e->model = text_escape(f->arena, p->data.at, p->data.len);
	} else if (strcmp(p->name, "response_format") == 0) {
		return take_format(f, p);
	} else if (strcmp(p->name, "stream") == 0) {
		const char *word = part_text(f, p);

		if (strcasecmp(word, "true") == 0)
			e->form = ENDPOINT_EVENTS;
		else if (strcasecmp(word, "false") != 0)
			return endpoint_wrong(
				f->error, "stream", "Invalid 'stream': it must be true or false.");
	}
	return 0;
}

/* Without the [] of a list. */
static const char *plain_name(struct arena *a, const char *name)
{
	return arena_strndup(a, name, strcspn(name, "["));
}

/* A field says without quotes what a member of JSON says with them. */
static const struct chat_term *form_term_of(
	const struct form_reading *f, const char *name, const struct endpoint_part *p)
{
	const char *quoted;

	if (!chat_term_of(name, p->data) || strcmp(p->name, name) != 0)
		return chat_term_of(name, p->data);
	quoted = arena_printf(f->arena, "\"%.*s\"",
		(int)(p->data.len < ENDPOINT_FIELD_MAX ? p->data.len : ENDPOINT_FIELD_MAX),
		p->data.at);
	return chat_term_of(name, (struct slice){ quoted, strlen(quoted) });
}

static int take_part(struct form_reading *f, struct endpoint_part *p)
{
	struct endpoint_request *e = f->request;
	/* A list of what costs costs too. */
	const char *plain = plain_name(f->arena, p->name), *known = known_as(plain);
	const struct chat_term *term = form_term_of(f, plain, p);

	for (const struct endpoint_part *q = e->parts; q; q = q->next)
		if (!is_list(p->name) && strcmp(q->name, p->name) == 0)
			return endpoint_wrong(
				f->error, p->name, "Invalid '%s': it comes twice.", p->name);
	if (known && strcmp(known, p->name) != 0)
		return endpoint_wrong(
			f->error, p->name, "Invalid '%s': it must be spelled %s.", p->name, known);
	if (strcmp(p->name, "file") != 0) {
		if (p->data.len > ENDPOINT_FIELD_MAX || !utf8_valid(p->data.at, p->data.len))
			return endpoint_wrong(f->error, p->name,
				"Invalid '%s': it must be a text of %d bytes at most.", p->name,
				ENDPOINT_FIELD_MAX);
		p->file = p->type = NULL;
	}
	if (term && term->rule == TERM_DROPPED && strcmp(plain, p->name) == 0) {
		e->dropped = e->dropped && !strstr(e->dropped, term->name)
				     ? arena_printf(f->arena, "%s, %s", e->dropped, term->name)
			     : e->dropped ? e->dropped
					  : term->name;
		return 0;
	}
	if (term)
		return endpoint_wrong(f->error, p->name, "Invalid '%s': %s", p->name, term->why);
	*e->last_part = p;
	e->last_part = &p->next;
	return known ? take_known(f, p) : 0;
}

static int read_part(struct form_reading *f)
{
	struct endpoint_part *p = arena_new(f->arena, struct endpoint_part);
	int err = read_head(f, p);
	const char *stop;

	if (err)
		return err;
	if (++f->count > ENDPOINT_PARTS_MAX)
		return form_broken(f, "it has too many fields");
	/* An empty field: its mark begins with the end of its head. */
	stop = memmem(f->at - 2, (size_t)(f->end - f->at) + 2, f->mark, strlen(f->mark));
	if (!stop)
		return form_broken(f, "a field does not end");
	p->data = (struct slice){ f->at, stop < f->at ? 0 : (size_t)(stop - f->at) };
	f->at = stop + strlen(f->mark);
	return take_part(f, p);
}

/* After a mark: the end of the form, or of the line before the next field. */
static int read_parts(struct form_reading *f)
{
	int err = 0;

	while (!err) {
		if (f->end - f->at >= 2 && memcmp(f->at, "--", 2) == 0)
			return 0;
		if (f->end - f->at < 2 || memcmp(f->at, "\r\n", 2) != 0)
			return form_broken(f, "its boundary is not where it should be");
		f->at += 2;
		err = read_part(f);
	}
	return err;
}

/* ---- what it may take ---- */

static uint32_t le32(const char *at)
{
	const unsigned char *b = (const unsigned char *)at;

	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Bytes of a second of this sound: as a WAV says at its beginning, or as speech commonly has. */
static int64_t bytes_a_second(struct slice file)
{
	enum { USUAL = 4000, MOST = 1536000, FORMAT_AT = 12, RATE_AT = 28, HEAD = 44 };
	int64_t said = 0;

	if (file.len >= HEAD && memcmp(file.at, "RIFF", 4) == 0 &&
		memcmp(file.at + FORMAT_AT, "fmt ", 4) == 0)
		said = le32(file.at + RATE_AT);
	return said >= USUAL && said <= MOST ? said : USUAL;
}

/* No speech that anybody can follow has fewer than 500 bytes a second.  A second of sound is ten tokens to the models
 * that count them so, and no speaker says more. */
static void reckon_sound(struct endpoint_request *e, struct slice file)
{
	enum { LEAST = 500, TOKENS = 10 };
	struct tokens t = { 0 };
	int64_t texts, size = (int64_t)file.len, rate = bytes_a_second(file);

	for (const struct endpoint_part *p = e->parts; p; p = p->next)
		if (!p->file)
			tokens_add(&t, p->data);
	texts = tokens_count(&t);
	e->seconds = (size + rate - 1) / rate;
	e->seconds_most = size / LEAST + 60;
	e->tokens = e->seconds * TOKENS + texts;
	e->tokens_most = e->seconds_most * TOKENS + texts;
	e->output_most = e->seconds_most * TOKENS;
}

int endpoint_read_form(struct endpoint_request *e, struct arena *a, const char *type,
	const char *body, size_t len, struct chat_error *error)
{
	struct form_reading f = {
		.request = e, .arena = a, .error = error, .at = body, .end = body + len
	};
	size_t first;
	int err;

	*e = (struct endpoint_request){ .endpoint = ModelEndpoint_transcriptions,
		.form = ENDPOINT_OBJECT,
		.format = "",
		.boundary = boundary_of(a, type) };
	e->last_part = &e->parts;
	if (!e->boundary)
		return form_broken(&f, "its Content-Type names no boundary");
	e->type = arena_printf(a, "multipart/form-data; boundary=\"%s\"", e->boundary);
	f.mark = arena_printf(a, "\r\n--%s", e->boundary);
	first = strlen(f.mark) - 2;
	if (len < first || memcmp(body, f.mark + 2, first) != 0)
		return form_broken(&f, "it does not begin with its boundary");
	f.at += first;
	err = read_parts(&f);
	if (err)
		return err;
	if (!e->model.at)
		return endpoint_wrong(error, "model", "Missing required parameter: 'model'.");
	if (!f.file)
		return endpoint_wrong(error, "file", "Missing required parameter: 'file'.");
	reckon_sound(e, f.file->data);
	return 0;
}

/* ---- as it is sent ---- */

static void write_field(struct buf *out, const struct endpoint_request *e, const char *name,
	const struct endpoint_part *p, struct slice data)
{
	buf_printf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", e->boundary, name);
	if (p && p->file)
		buf_printf(out, "; filename=\"%s\"\r\nContent-Type: %s", p->file, p->type);
	buf_lit(out, "\r\n\r\n");
	buf_put(out, data.at, data.len);
	buf_lit(out, "\r\n");
}

void endpoint_write_form(const struct chat *c, const struct target *t, struct buf *out)
{
	const struct endpoint_request *e = c->request;

	write_field(out, e, "model", NULL, (struct slice){ t->model, strlen(t->model) });
	for (const struct endpoint_part *p = e->parts; p; p = p->next) {
		if (strcmp(p->name, "model") == 0)
			continue;
		if (e->form == ENDPOINT_PLAIN && strcmp(p->name, "response_format") == 0)
			write_field(out, e, p->name, NULL, SLICE("json"));
		else
			write_field(out, e, p->name, p, p->data);
	}
	buf_printf(out, "--%s--\r\n", e->boundary);
}
