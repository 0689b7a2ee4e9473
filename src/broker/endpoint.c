/* endpoint.c - requests for embeddings and speech, as JSON; see endpoint.h. */
#include "broker/endpoint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8_cut.h"
#include "broker/chat_terms.h"
#include "broker/provider.h"
#include "broker/tokens.h"

int endpoint_wrong(struct chat_error *e, const char *param, const char *fmt, ...)
{
	va_list ap;

	snprintf(e->param, sizeof e->param, "%s", param);
	utf8_trim(e->param);
	va_start(ap, fmt);
	vsnprintf(e->message, sizeof e->message, fmt, ap);
	va_end(ap);
	utf8_trim(e->message);
	return ERR_INVALID;
}

/* ---- the members that are known ---- */

struct endpoint_reading {
	struct endpoint_request *request;
	struct arena *arena;
	struct chat_error *error;
	struct slice input;
	const char *name;  /* of the member at hand */
	struct slice raw;  /* and its value */
	enum json_type is; /* and what that is */
};

static bool refuse_member(struct endpoint_reading *r, const char *what)
{
	endpoint_wrong(
		r->error, r->name, "Invalid '%.*s': it must be %s.", UTF8_SHOWN(64, r->name), what);
	return false;
}

static bool has_text(struct endpoint_reading *r)
{
	return r->is == JSON_STRING && r->raw.len > 2
		       ? true
		       : refuse_member(r, "a text that is not empty");
}

static const char *word_of(const struct endpoint_reading *r)
{
	struct json_reader j;
	const char *word = "";

	json_open(&j, r->arena, r->raw.at, r->raw.len);
	return r->is == JSON_STRING && text_read_word(&j, &word) ? word : "";
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

static bool number_within(struct endpoint_reading *r, double least, double most, bool whole)
{
	struct json_number n = { 0 };
	struct json_reader j;

	json_open(&j, r->arena, r->raw.at, r->raw.len);
	return r->is == JSON_NUMBER && json_read_number(&j, &n) && n.value >= least &&
	       n.value <= most && (!whole || n.is_integer);
}

/* An array of tokens, which are whole numbers. */
static bool are_tokens(struct json_reader *j)
{
	struct json_number n;
	size_t count = 0;

	if (!json_enter_array(j))
		return false;
	for (; json_next_item(j); count++)
		if (json_peek(j) != JSON_NUMBER || !json_read_number(j, &n) || !n.is_integer ||
			n.integer < 0)
			return false;
	return count && !j->fault;
}

/* A text, texts, tokens, or several such; never two kinds in one. */
static bool check_inputs(struct endpoint_reading *r)
{
	static const char what[] = "a text, tokens, or up to 2,048 of either, none of them empty";
	const char *text;
	struct json_reader j;
	enum json_type kind;
	size_t count = 0, len;

	r->request->inputs = 1;
	if (r->is == JSON_STRING)
		return has_text(r);
	json_open(&j, r->arena, r->raw.at, r->raw.len);
	if (r->is != JSON_ARRAY || !json_enter_array(&j) || !json_next_item(&j))
		return refuse_member(r, what);
	kind = json_peek(&j);
	if (kind == JSON_NUMBER) {
		json_open(&j, r->arena, r->raw.at, r->raw.len);
		return are_tokens(&j) ? true : refuse_member(r, what);
	}
	do {
		bool good = json_peek(&j) == kind &&
			    (kind == JSON_STRING	 ? json_read_escaped(&j, &text, &len) && len
				    : kind == JSON_ARRAY ? are_tokens(&j)
							 : false);

		if (!good || ++count > ENDPOINT_INPUTS_MAX)
			return refuse_member(r, what);
	} while (json_next_item(&j));
	r->request->inputs = (int64_t)count;
	return true;
}

static bool check_dimensions(struct endpoint_reading *r)
{
	return number_within(r, 1, 1 << 20, true) ? true
						  : refuse_member(r, "a whole number from 1 on");
}

static bool check_encoding(struct endpoint_reading *r)
{
	static const char *const words[] = { "float", "base64", NULL };

	return is_one_of(word_of(r), words) ? true : refuse_member(r, "float or base64");
}

static bool check_spoken(struct endpoint_reading *r)
{
	size_t len;
	const char *text;

	if (!has_text(r))
		return false;
	r->input = (struct slice){ r->raw.at + 1, r->raw.len - 2 };
	text = text_decode(r->arena, r->input, &len);
	for (size_t i = 0; i < len; i++)
		r->request->characters += ((unsigned char)text[i] & 0xc0) != 0x80;
	if (r->request->characters <= ENDPOINT_CHARACTERS_MAX)
		return true;
	endpoint_wrong(r->error, r->name, "Invalid 'input': it may have %d characters at most.",
		ENDPOINT_CHARACTERS_MAX);
	return false;
}

static bool check_voice(struct endpoint_reading *r)
{
	r->request->has_voice = true;
	return (r->is == JSON_STRING && r->raw.len > 2 && r->raw.len <= 258) ||
			       (r->is == JSON_OBJECT && r->raw.len <= 512)
		       ? true
		       : refuse_member(r, "the name of a voice, or {id}");
}

static const struct sound {
	const char *format, *type;
} sounds[] = {
	{ "mp3", "audio/mpeg" },
	{ "opus", "audio/ogg" },
	{ "aac", "audio/aac" },
	{ "flac", "audio/flac" },
	{ "wav", "audio/wav" },
	{ "pcm", "audio/pcm" },
};

const char *const endpoint_sounds[] = { "audio/ogg", "audio/aac", "audio/flac", "audio/wav",
	"audio/pcm", NULL };

const char *endpoint_sound_type(const char *format)
{
	for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++)
		if (strcmp(sounds[i].format, *format ? format : "mp3") == 0)
			return sounds[i].type;
	return NULL;
}

static bool check_sound(struct endpoint_reading *r)
{
	r->request->format = word_of(r);
	return *r->request->format && endpoint_sound_type(r->request->format)
		       ? true
		       : refuse_member(r, "mp3, opus, aac, flac, wav or pcm");
}

static bool check_speed(struct endpoint_reading *r)
{
	return number_within(r, 0.25, 4, false) ? true
						: refuse_member(r, "a number from 0.25 to 4");
}

static bool check_events(struct endpoint_reading *r)
{
	static const char *const words[] = { "audio", "sse", NULL };
	const char *word = word_of(r);

	if (!is_one_of(word, words))
		return refuse_member(r, "audio or sse");
	if (strcmp(word, "sse") == 0)
		r->request->form = ENDPOINT_EVENTS;
	return true;
}

static const struct endpoint_row {
	enum ModelEndpoint of;
	const char *name;
	bool (*check)(struct endpoint_reading *r); /* false: it is not what it must be */
} endpoint_rows[] = {
	{ ModelEndpoint_embeddings, "input", check_inputs },
	{ ModelEndpoint_embeddings, "dimensions", check_dimensions },
	{ ModelEndpoint_embeddings, "encoding_format", check_encoding },
	{ ModelEndpoint_embeddings, "user", has_text },
	{ ModelEndpoint_speech, "input", check_spoken },
	{ ModelEndpoint_speech, "voice", check_voice },
	{ ModelEndpoint_speech, "instructions", has_text },
	{ ModelEndpoint_speech, "response_format", check_sound },
	{ ModelEndpoint_speech, "speed", check_speed },
	{ ModelEndpoint_speech, "stream_format", check_events },
};

/* ---- the body ---- */

static void keep_member(struct endpoint_reading *r)
{
	struct endpoint_member *m = arena_new(r->arena, struct endpoint_member);

	m->name = text_escape(r->arena, r->name, strlen(r->name));
	m->raw = r->raw;
	*r->request->last_member = m;
	r->request->last_member = &m->next;
}

/* What nobody here knows goes out as it came, unless it is a known one to some, or hangs on the price. */
static bool take_unknown(struct endpoint_reading *r)
{
	const struct chat_term *term = chat_term_of(r->name, r->raw);
	struct endpoint_request *e = r->request;

	if (chat_name_like(r->name, "model"))
		return refuse_member(r, "spelled as the API does");
	for (size_t i = 0; i < sizeof endpoint_rows / sizeof *endpoint_rows; i++)
		if (endpoint_rows[i].of == e->endpoint &&
			chat_name_like(r->name, endpoint_rows[i].name))
			return refuse_member(r, "spelled as the API does");
	if (term && term->rule == TERM_REFUSED) {
		endpoint_wrong(r->error, r->name, "Invalid '%.*s': %s", UTF8_SHOWN(64, r->name),
			term->why);
		return false;
	}
	if (term)
		e->dropped = e->dropped && !strstr(e->dropped, term->name)
				     ? arena_printf(r->arena, "%s, %s", e->dropped, term->name)
			     : e->dropped ? e->dropped
					  : term->name;
	else
		keep_member(r);
	return true;
}

static bool take_member(struct endpoint_reading *r)
{
	if (r->is == JSON_NULL)
		return true;
	if (strcmp(r->name, "model") == 0) {
		r->request->model = (struct slice){ r->raw.at + 1, r->raw.len - 2 };
		return has_text(r);
	}
	for (size_t i = 0; i < sizeof endpoint_rows / sizeof *endpoint_rows; i++) {
		const struct endpoint_row *row = &endpoint_rows[i];

		if (row->of != r->request->endpoint || strcmp(row->name, r->name) != 0)
			continue;
		if (strcmp(row->name, "input") == 0)
			r->input = r->raw;
		if (!row->check(r))
			return false;
		keep_member(r);
		return true;
	}
	return take_unknown(r);
}

/* A text that is spoken takes no more than so many tokens of sound a character, likely a quarter. */
static void reckon_speech(struct endpoint_request *e)
{
	enum { LIKELY = 2, MOST = 8 };

	e->output = e->characters * LIKELY;
	e->output_most = e->characters * MOST;
}

static void reckon(struct endpoint_request *e, struct slice body)
{
	struct tokens t = { 0 };

	tokens_add(&t, body);
	e->tokens = e->tokens_most = tokens_count(&t);
	if (e->endpoint == ModelEndpoint_speech)
		reckon_speech(e);
}

int endpoint_read_json(struct endpoint_request *e, enum ModelEndpoint endpoint, struct arena *a,
	const char *body, size_t len, struct chat_error *error)
{
	struct endpoint_reading r = { .request = e, .arena = a, .error = error };
	struct json_reader j;
	size_t name_len;

	*e = (struct endpoint_request){ .endpoint = endpoint,
		.form = endpoint == ModelEndpoint_speech ? ENDPOINT_SOUND : ENDPOINT_OBJECT,
		.type = "application/json",
		.format = "" };
	e->last_member = &e->members;
	json_open(&j, a, body, len);
	if (json_peek(&j) != JSON_OBJECT) {
		endpoint_wrong(error, "", "The body must be a JSON object.");
		return ERR_BAD_JSON;
	}
	json_enter_object(&j);
	while (json_next_key(&j, &r.name, &name_len)) {
		r.is = json_peek(&j);
		if (strlen(r.name) != name_len)
			return endpoint_wrong(error, "", "The name of a member has U+0000 in it.");
		if (!json_skip(&j, &r.raw.at, &r.raw.len))
			break;
		if (!take_member(&r))
			return ERR_INVALID;
	}
	if (!json_end(&j)) {
		endpoint_wrong(error, "", "The body is not valid JSON: %.150s.",
			j.fault ? j.fault : "something follows it");
		return ERR_BAD_JSON;
	}
	if (!e->model.at)
		return endpoint_wrong(error, "model", "Missing required parameter: 'model'.");
	if (!r.input.at)
		return endpoint_wrong(error, "input", "Missing required parameter: 'input'.");
	reckon(e, (struct slice){ body, len });
	return 0;
}

int endpoint_speak(struct endpoint_request *e, struct arena *a, const char *text, const char *voice,
	const char *format, struct chat_error *error)
{
	struct buf b;
	const char *body;
	size_t len;

	buf_init(&b, (size_t)ENDPOINT_CHARACTERS_MAX * 64);
	buf_lit(&b, "{\"model\":\"agent\",\"input\":");
	json_write_string(&b, text, strlen(text));
	buf_lit(&b, ",\"voice\":");
	json_write_string(&b, voice, strlen(voice));
	buf_lit(&b, ",\"response_format\":");
	json_write_string(&b, format, strlen(format));
	buf_putc(&b, '}');
	if (b.overflow || b.starved) {
		buf_free(&b);
		return endpoint_wrong(error, "input", "The text may have %d characters at most.",
			ENDPOINT_CHARACTERS_MAX);
	}
	len = b.len;
	body = arena_take(a, &b);
	return endpoint_read_json(e, ModelEndpoint_speech, a, body, len, error);
}

void endpoint_write_json(const struct chat *c, const struct target *t, struct buf *out)
{
	const struct endpoint_request *e = c->request;

	buf_lit(out, "{\"model\":");
	json_write_string(out, t->model, strlen(t->model));
	for (const struct endpoint_member *m = e->members; m; m = m->next) {
		buf_putc(out, ',');
		text_put_quoted(out, m->name);
		buf_putc(out, ':');
		text_put(out, m->raw);
	}
	if (e->endpoint == ModelEndpoint_speech && !e->has_voice && e->voice) {
		buf_lit(out, ",\"voice\":");
		json_write_string(out, e->voice, strlen(e->voice));
	}
	buf_putc(out, '}');
}
