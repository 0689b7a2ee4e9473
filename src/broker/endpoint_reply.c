/* endpoint_reply.c - what comes of embeddings, speech and transcriptions; the providers of endpoints.
 *
 * Sound is handed on as it comes, and not held.  Everything else is read
 * first: only what is of the type that was asked for and well formed is
 * handed on.  What was used is what the provider says, as far as that can be;
 * characters are counted here, and are exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "broker/endpoint.h"
#include "broker/openai.h"
#include "broker/price.h"

#define BASE64_SIGNS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#define TYPE_JSON "application/json"
#define TYPE_EVENTS "text/event-stream"
#define TYPE_TEXT "text/plain; charset=utf-8"

static size_t endpoint_headers(
	const struct target *t, struct provider_header out[PROVIDER_HEADERS_MAX])
{
	size_t n = 0;

	out[n++] = (struct provider_header){ "Content-Type", "", t->body_type };
	if (t->api_key && *t->api_key)
		out[n++] = (struct provider_header){ "Authorization", "Bearer ", t->api_key };
	return n;
}

/* ---- types ---- */

static bool endpoint_type_is(const char *type, const char *want)
{
	size_t n = strlen(want);

	return strncasecmp(type, want, n) == 0 &&
	       (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

static enum reply_mode handed_on_as(struct reply *r, enum reply_mode mode, const char *type)
{
	snprintf(r->media, sizeof r->media, "%s", type);
	return mode;
}

/* A type of sound, as far as it does no harm in a head: audio, its kind, and perhaps parameters. */
static bool is_sound(const char *type)
{
	static const char kind[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_";
	size_t len = strlen(type), named;

	if (strncasecmp(type, "audio/", 6) != 0 || len >= ENDPOINT_MEDIA_MAX)
		return false;
	named = strspn(type + 6, kind);
	if (!named || (type[6 + named] && type[6 + named] != ';'))
		return false;
	for (const char *at = type + 6 + named; *at; at++)
		if (*at != ';' && *at != '=' && *at != ' ' && !strchr(kind, *at))
			return false;
	return true;
}

static enum reply_mode embeddings_mode(struct reply *r, const char *type)
{
	return !*type || endpoint_type_is(type, TYPE_JSON) ? handed_on_as(r, REPLY_WHOLE, TYPE_JSON)
							   : REPLY_HEAD;
}

static enum reply_mode speech_mode(struct reply *r, const char *type)
{
	if (endpoint_type_is(type, TYPE_EVENTS))
		return r->request->form == ENDPOINT_EVENTS
			       ? handed_on_as(r, REPLY_STREAM, TYPE_EVENTS)
			       : REPLY_HEAD;
	if (is_sound(type))
		return handed_on_as(r, REPLY_BYTES, type);
	return !*type || endpoint_type_is(type, "application/octet-stream")
		       ? handed_on_as(r, REPLY_BYTES, endpoint_sound_type(r->request->format))
		       : REPLY_HEAD;
}

static enum reply_mode transcription_mode(struct reply *r, const char *type)
{
	enum endpoint_form form = r->request->form;

	if (endpoint_type_is(type, TYPE_EVENTS))
		return form == ENDPOINT_EVENTS ? handed_on_as(r, REPLY_STREAM, TYPE_EVENTS)
					       : REPLY_HEAD;
	if (endpoint_type_is(type, TYPE_JSON) && form != ENDPOINT_SUBTITLES)
		return handed_on_as(r, REPLY_WHOLE, form == ENDPOINT_PLAIN ? TYPE_TEXT : TYPE_JSON);
	if ((form == ENDPOINT_PLAIN || form == ENDPOINT_SUBTITLES) &&
		!endpoint_type_is(type, "text/html"))
		return handed_on_as(r, REPLY_TEXT, TYPE_TEXT);
	return REPLY_HEAD;
}

/* ---- what was used ---- */

/* A begun second counts whole.  No sound takes none, and none takes more than was reserved for. */
static void note_seconds(struct reply *r, double seconds)
{
	double most = (double)r->request->seconds_most;

	if (seconds > 0)
		r->seconds_said = seconds < most ? (int64_t)ceil(seconds) : (int64_t)most;
}

/* Seconds as a number, or a number in quotes. */
static void read_seconds(struct reply *r, struct json_reader *j)
{
	struct json_number n = { 0 };
	struct json_reader inner;
	const char *text;
	size_t len;

	if (json_peek(j) == JSON_STRING && json_read_string(j, &text, &len)) {
		json_open(&inner, &r->scratch, text, len);
		if (json_peek(&inner) != JSON_NUMBER || !json_read_number(&inner, &n))
			return;
	} else if (json_peek(j) != JSON_NUMBER) {
		json_skip(j, NULL, NULL);
		return;
	} else if (!json_read_number(j, &n)) {
		return;
	}
	note_seconds(r, n.value);
}

static void read_usage(struct reply *r, struct slice raw)
{
	struct json_reader j;
	const char *key;
	struct usage u;
	size_t len;
	unsigned said;

	json_open(&j, &r->scratch, raw.at, raw.len);
	said = openai_read_usage(&j, &u);
	if (u.input + u.cache_read + u.cache_write == 0) /* of what was sent none was read? */
		said &= ~(unsigned)USAGE_INPUT;
	if (u.output == 0)
		said &= ~(unsigned)USAGE_OUTPUT;
	if (said)
		reply_usage(r, &u, said);
	json_open(&j, &r->scratch, raw.at, raw.len);
	if (json_peek(&j) != JSON_OBJECT)
		return;
	json_enter_object(&j);
	while (json_next_key(&j, &key, &len))
		if (strcmp(key, "seconds") == 0)
			read_seconds(r, &j);
		else
			json_skip(&j, NULL, NULL);
}

static bool is_priced(int64_t price)
{
	return price > 0;
}

/* What nobody says counts only where it is paid for. */
static struct usage endpoint_used(const struct reply *r)
{
	const struct endpoint_request *e = r->request;
	bool by_token = is_priced(r->price->prompt) || is_priced(r->price->completion);
	bool by_second = is_priced(r->price->second);
	struct usage u = r->usage;

	u.characters = e->characters;
	if (!(r->usage_said & USAGE_INPUT) &&
		(by_token || e->endpoint == ModelEndpoint_embeddings)) {
		u.input = e->tokens;
		u.estimated = true;
	}
	if (!(r->usage_said & USAGE_OUTPUT) && e->output_most && by_token) {
		int64_t counted = tokens_count(&r->spoken);

		u.output = counted ? counted : e->output;
		u.estimated = true;
	}
	u.seconds = r->seconds_said;
	u.estimated |= by_second && u.seconds == e->seconds_most; /* it said more, perhaps */
	if (r->seconds_said < 0) {
		u.seconds = by_second ? e->seconds : 0;
		u.estimated |= by_second && e->seconds;
	}
	return u;
}

/* ---- embeddings ---- */

/* How many numbers a vector has: a list of them, or 32-bit floats in base64; 0 if it is neither. */
static size_t vector_length(struct json_reader *j)
{
	const char *text;
	size_t len, count = 0;

	if (json_peek(j) == JSON_STRING) {
		size_t signs, padding;

		if (!json_read_string(j, &text, &len))
			return 0;
		signs = strspn(text, BASE64_SIGNS);
		padding = signs < len ? len - signs : 0;
		if (len % 4 || padding > 2 || memcmp(text + signs, "==", padding) != 0)
			return 0;
		len = len / 4 * 3 - padding;
		return len % sizeof(float) ? 0 : len / sizeof(float);
	}
	if (json_peek(j) != JSON_ARRAY || !json_enter_array(j))
		return 0;
	for (; json_next_item(j); count++)
		if (json_peek(j) != JSON_NUMBER || !json_skip(j, NULL, NULL))
			return 0;
	return j->fault ? 0 : count;
}

/* One item: its place, and how long its vector is.  False if it is none. */
static bool read_vector(struct json_reader *j, int64_t *ret_index, size_t *ret_length)
{
	struct json_number n;
	const char *key;
	size_t len;

	*ret_index = -1;
	*ret_length = 0;
	if (json_peek(j) != JSON_OBJECT || !json_enter_object(j))
		return false;
	while (json_next_key(j, &key, &len)) {
		if (strcmp(key, "index") == 0) {
			if (json_peek(j) != JSON_NUMBER || !json_read_number(j, &n) ||
				!n.is_integer)
				return false;
			*ret_index = n.integer;
		} else if (strcmp(key, "embedding") == 0) {
			*ret_length = vector_length(j);
			if (!*ret_length)
				return false;
		} else {
			json_skip(j, NULL, NULL);
		}
	}
	return !j->fault;
}

/* As many vectors as there were inputs, each at its own place and all of one length; a sentence if they are not. */
static const char *vectors_wrong(struct reply *r, struct slice data)
{
	int64_t inputs = r->request->inputs, count = 0, index;
	bool *seen = arena_alloc(&r->scratch, (size_t)inputs * sizeof *seen);
	size_t length, first = 0;
	struct json_reader j;

	json_open(&j, &r->scratch, data.at, data.len);
	json_enter_array(&j);
	for (; json_next_item(&j); count++) {
		if (!read_vector(&j, &index, &length) || !length)
			return "The model provider's reply has an embedding that is none.";
		if (index < 0 || index >= inputs || seen[index])
			return "The model provider's reply has an embedding in a place that is none.";
		if (first && length != first)
			return "The model provider's reply has embeddings of several lengths.";
		seen[index] = true;
		first = length;
	}
	return count == inputs ? NULL
			       : "The model provider's reply has fewer embeddings than inputs.";
}

/* What was used is written by whoever sees what the ledger is told: the end of the object is theirs. */
static void embeddings_read_whole(struct reply *r, struct slice body)
{
	struct slice data = { 0 }, usage = { 0 };
	const char *wrong;
	struct json_reader j;
	const char *key;
	struct buf b;
	size_t len;

	json_open(&j, &r->scratch, body.at, body.len);
	json_enter_object(&j);
	while (json_next_key(&j, &key, &len))
		if (strcmp(key, "data") == 0 && json_peek(&j) == JSON_ARRAY)
			json_skip(&j, &data.at, &data.len);
		else if (strcmp(key, "usage") == 0)
			text_read_raw(&j, &usage);
		else
			json_skip(&j, NULL, NULL);
	if (usage.at)
		read_usage(r, usage);
	if (!data.at) {
		reply_fail(r, FAULT_MALFORMED, "The model provider's reply has no embeddings.");
		return;
	}
	wrong = vectors_wrong(r, data);
	if (wrong) {
		reply_fail(r, FAULT_MALFORMED, "%s", wrong);
		return;
	}
	reply_bytes(r, SLICE("{\"object\":\"list\",\"data\":"));
	reply_bytes(r, data);
	buf_init(&b, 4096);
	buf_lit(&b, ",\"model\":");
	text_put_quoted(&b, r->request->model);
	reply_bytes(r, (struct slice){ b.at, b.len });
	buf_free(&b);
	reply_reason(r, FINISH_STOP);
	reply_finish(r);
}

/* ---- transcriptions ---- */

static void hand_on_text(struct reply *r, struct slice escaped)
{
	size_t len;
	const char *plain = text_decode(&r->scratch, escaped, &len);

	reply_bytes(r, (struct slice){ plain, len });
	reply_bytes(r, SLICE("\n"));
}

static void hand_on_json(struct reply *r, struct slice body)
{
	reply_bytes(r, body);
	reply_bytes(r, SLICE("\n"));
}

static void transcription_read_whole(struct reply *r, struct slice body)
{
	struct slice text = { 0 }, usage = { 0 };
	struct json_reader j;
	const char *key;
	size_t len;

	json_open(&j, &r->scratch, body.at, body.len);
	json_enter_object(&j);
	while (json_next_key(&j, &key, &len))
		if (strcmp(key, "text") == 0 && json_peek(&j) == JSON_STRING)
			text_read(&j, &text);
		else if (strcmp(key, "duration") == 0)
			read_seconds(r, &j);
		else if (strcmp(key, "usage") == 0)
			text_read_raw(&j, &usage);
		else
			json_skip(&j, NULL, NULL);
	if (usage.at) /* which holds, where both are said */
		read_usage(r, usage);
	if (!text.at) {
		reply_fail(r, FAULT_MALFORMED, "The model provider's reply has no text.");
		return;
	}
	tokens_add(&r->spoken, text);
	if (r->request->form == ENDPOINT_PLAIN)
		hand_on_text(r, text);
	else
		hand_on_json(r, body);
	reply_reason(r, FINISH_STOP);
	reply_finish(r);
}

/* "01:02:03,450" or "02:03.450" in seconds; -1 if it is none. */
static int64_t moment_of(const char *at, const char *end)
{
	int64_t total = 0, part = 0;
	bool any = false, more = false;

	for (; at < end && ((*at >= '0' && *at <= '9') || *at == ':'); at++) {
		if (*at == ':') {
			total = (total + part) * 60;
			part = 0;
		} else if (part < 100000) {
			part = part * 10 + (*at - '0');
			any = true;
		}
		if (total > 100000000)
			return -1;
	}
	if (at < end && (*at == ',' || *at == '.'))
		for (at++; at < end && *at >= '0' && *at <= '9'; at++)
			more |= *at != '0';
	return any ? total + part + more : -1;
}

/* Subtitles end about where the sound does: the only thing they tell of it. */
static void note_last_moment(struct reply *r, struct slice text)
{
	const char *at = text.at, *end = text.at + text.len;
	int64_t last = -1;

	while ((at = memmem(at, (size_t)(end - at), "-->", 3))) {
		int64_t moment;

		for (at += 3; at < end && *at == ' ';)
			at++;
		moment = moment_of(at, end);
		if (moment > last)
			last = moment;
	}
	note_seconds(r, (double)last);
	r->usage.estimated |= last > 0 && is_priced(r->price->second);
}

static void transcription_read_text(struct reply *r, struct slice body)
{
	if (!body.len) {
		reply_fail(r, FAULT_CUT, "The model provider's reply is empty.");
		return;
	}
	if (!utf8_valid(body.at, body.len)) {
		reply_fail(r, FAULT_MALFORMED, "The model provider's text is not UTF-8.");
		return;
	}
	note_last_moment(r, body);
	tokens_add(&r->spoken, body);
	reply_bytes(r, body);
	reply_reason(r, FINISH_STOP);
	reply_finish(r);
}

/* ---- events ---- */

struct endpoint_event {
	const char *type;
	struct slice usage, error, delta;
};

static bool read_event_members(struct reply *r, struct slice data, struct endpoint_event *e)
{
	struct json_reader j;
	const char *key;
	size_t len;

	json_open(&j, &r->scratch, data.at, data.len);
	if (json_peek(&j) != JSON_OBJECT) {
		reply_unreadable(r, &j);
		return false;
	}
	json_enter_object(&j);
	while (json_next_key(&j, &key, &len))
		if (strcmp(key, "type") == 0 && json_peek(&j) == JSON_STRING)
			text_read_word(&j, &e->type);
		else if (strcmp(key, "usage") == 0)
			text_read_raw(&j, &e->usage);
		else if (strcmp(key, "error") == 0)
			text_read_raw(&j, &e->error);
		else if (strcmp(key, "delta") == 0 && json_peek(&j) == JSON_STRING)
			text_read(&j, &e->delta);
		else
			json_skip(&j, NULL, NULL);
	if (json_end(&j))
		return true;
	reply_unreadable(r, &j);
	return false;
}

static void fail_by_event(struct reply *r, struct slice error)
{
	struct json_reader j;
	struct fault f;

	json_open(&j, &r->scratch, error.at, error.len);
	fault_read_value(&f, 0, &j);
	reply_fail_with(r, &f);
}

/* Written anew on one line, so that what it holds cannot be taken for another event. */
static void hand_on_event(struct reply *r, struct slice data)
{
	struct buf b;

	buf_init(&b, data.len + 16);
	buf_lit(&b, "data: ");
	json_write_compact(&b, data.at, data.len);
	buf_lit(&b, "\n\n");
	if (b.starved)
		reply_fail(r, FAULT_MEMORY, NULL);
	else
		reply_bytes(r, (struct slice){ b.at, b.len });
	buf_free(&b);
}

static void endpoint_read_event(struct reply *r, const char *name, struct slice data)
{
	static const char done[] = ".done";
	bool speech = r->request->endpoint == ModelEndpoint_speech;
	const char *kind = speech ? "speech.audio." : "transcript.text.";
	struct endpoint_event e = { .type = "" };
	size_t len;

	(void)name;
	if (data.len == 6 && memcmp(data.at, "[DONE]", 6) == 0)
		return;
	if (!read_event_members(r, data, &e))
		return;
	len = strlen(e.type);
	if (e.error.at || strcmp(e.type, "error") == 0) {
		fail_by_event(r, e.error.at ? e.error : data);
		return;
	}
	if (strncmp(e.type, kind, strlen(kind)) != 0) /* none of what was asked for */
		return;
	if (e.usage.at)
		read_usage(r, e.usage);
	tokens_add(&r->spoken, e.delta);
	hand_on_event(r, data);
	if (len > strlen(done) && strcmp(e.type + len - strlen(done), done) == 0) {
		reply_reason(r, FINISH_STOP);
		reply_finish(r);
	}
}

/* ---- the rows ---- */

#define HOME "https://api.openai.com/v1"

const struct provider endpoint_providers[] = {
	[ModelEndpoint_embeddings] = { .name = "openai",
		.base_url = HOME,
		.path = "/embeddings",
		.headers = endpoint_headers,
		.write = endpoint_write_json,
		.mode = embeddings_mode,
		.read_whole = embeddings_read_whole,
		.used = endpoint_used },
	[ModelEndpoint_speech] = { .name = "openai",
		.base_url = HOME,
		.path = "/audio/speech",
		.headers = endpoint_headers,
		.write = endpoint_write_json,
		.mode = speech_mode,
		.read_event = endpoint_read_event,
		.used = endpoint_used },
	[ModelEndpoint_transcriptions] = { .name = "openai",
		.base_url = HOME,
		.path = "/audio/transcriptions",
		.headers = endpoint_headers,
		.write = endpoint_write_form,
		.mode = transcription_mode,
		.read_event = endpoint_read_event,
		.read_whole = transcription_read_whole,
		.read_text = transcription_read_text,
		.used = endpoint_used },
};
