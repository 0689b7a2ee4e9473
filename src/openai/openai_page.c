/* openai_page.c - see openai_page.h. */
#include "openai/openai_page.h"
#include "contract/shape.h"

#include <string.h>

#include "base/json.h"

enum { METADATA_PAIRS = 16, METADATA_KEY = 64, METADATA_VALUE = 512, ORDER_ASC = 0, ORDER_DESC };

static const struct words order_words = { .list = (const char *const[]){ "asc", "desc", NULL } };

FIELDS(OpenAIPage) = {
	FIELD(OpenAIPage, limit, .preset = "20", BOUNDS(1, OPENAI_PAGE_MAX),
		.doc = "How many at most."),
	FIELD(OpenAIPage, order, .preset = "\"desc\"", .words = &order_words,
		.doc = "By creation: asc, oldest first, or desc."),
	FIELD(OpenAIPage, after, .nullable = true, BOUNDS(1, 64),
		.doc = "Those after the one with this id."),
	FIELD(OpenAIPage, before, .nullable = true, BOUNDS(1, 64),
		.doc = "Those before the one with this id."),
};
SCHEMA(OpenAIPage, .doc = "What the OpenAI-style lists take.");

FIELDS(OpenAIDeleted) = {
	FIELD(OpenAIDeleted, id, .required = true, .doc = "What was deleted."),
	FIELD(OpenAIDeleted, object, .required = true, .example = "\"thread.deleted\"",
		.doc = "What it was."),
	FIELD(OpenAIDeleted, deleted, .required = true, .doc = "Always true."),
};
SCHEMA(OpenAIDeleted, .doc = "Something that is gone.");

FIELDS(OpenAIMetadataUpdate) = {
	FIELD(OpenAIMetadataUpdate, metadata, .shape = &pairs_shape, .nullable = true,
		.doc = "Up to 16 pairs of text, in place of those there were; null leaves them."),
};
SCHEMA(OpenAIMetadataUpdate, .doc = "A change of the metadata alone.");

/* Ids are of small letters and digits: these lie below and above them all. */
#define LOWEST ""
#define HIGHEST "~"

static void reverse_rows(struct list *rows, size_t size, struct arena *a)
{
	char *at = rows->at, *other = arena_alloc(a, size);

	for (size_t i = 0, k = rows->count; i + 1 < k; i++) {
		k--;
		memcpy(other, at + i * size, size);
		memcpy(at + i * size, at + k * size, size);
		memcpy(at + k * size, other, size);
	}
}

int openai_page_read(struct call *c, const struct OpenAIPage *in, const struct statement *pair,
	const struct value *args, size_t count, struct openai_page *ret)
{
	bool down = in->order == ORDER_DESC;
	/* The page before an id is read backwards from it. */
	bool backwards = in->before && !in->after;
	const char *low = down ? in->before : in->after, *high = down ? in->after : in->before;
	const struct statement *st = &pair[down != backwards ? PAGE_DOWN : PAGE_UP];
	struct db_page page = { .rows = (size_t)in->limit + 1,
		.bytes = CALL_PAGE_BYTES,
		.after = low ? low : LOWEST,
		.before = high ? high : HIGHEST };
	bool cut;
	int err;

	*ret = (struct openai_page){ 0 };
	err = db_page(c->db, c->arena, st, &ret->rows, &page, &cut, args, count);
	if (err)
		return err;
	ret->more = cut || ret->rows.count > (size_t)in->limit;
	if (ret->rows.count > (size_t)in->limit)
		ret->rows.count--;
	if (backwards)
		reverse_rows(&ret->rows, st->row->size, c->arena);
	return 0;
}

/* A sentence about what is wrong with it, or NULL. */
static const char *metadata_fault(struct arena *a, const char *json)
{
	struct json_reader r;
	const char *key, *text;
	size_t pairs = 0, len;

	json_open(&r, a, json, strlen(json));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &len)) {
		if (++pairs > METADATA_PAIRS)
			return "must have at most 16 pairs";
		if (utf8_count(key, len) > METADATA_KEY)
			return "must have keys of at most 64 characters";
		if (json_peek(&r) != JSON_STRING)
			return "must have texts as values";
		if (!json_read_string(&r, &text, &len))
			break;
		if (utf8_count(text, len) > METADATA_VALUE || memchr(text, '\0', len))
			return "must have values of at most 512 characters, without U+0000";
	}
	return json_end(&r) ? NULL : "must be an object of texts";
}

int openai_metadata(struct call *c, const char *field, const char *json, const char **ret)
{
	const char *fault = json ? metadata_fault(c->arena, json) : NULL;

	*ret = json ? json : "{}";
	return fault ? call_field(c, field, "format", "%s", fault) : 0;
}

const char *openai_member(struct arena *a, const char *object, const char *name)
{
	struct arena names = {
		0
	}; /* what reading takes goes with it: there may be a million objects */
	struct json_reader r;
	const char *key, *text, *ret = NULL;
	size_t len;
	bool found = false;

	if (!object)
		return NULL;
	json_open(&r, &names, object, strlen(object));
	if (json_peek(&r) == JSON_OBJECT && json_enter_object(&r)) {
		while (!found && json_next_key(&r, &key, &len)) {
			found = len == strlen(name) && memcmp(key, name, len) == 0;
			if (!json_skip(&r, &text, &len))
				break;
			if (found && strncmp(text, "null", len) != 0)
				ret = arena_strndup(a, text, len);
		}
	}
	arena_free(&names);
	return ret;
}

/* What a provider said with U+0000 in it is not cut there. */
static const char *without_nul(struct arena *a, const char *text, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd";
	struct buf b;

	buf_init(&b, 3 * len + 1);
	for (size_t i = 0; i < len; i++)
		if (text[i])
			buf_putc(&b, text[i]);
		else
			buf_puts(&b, replacement);
	return arena_take(a, &b);
}

const char *openai_text(struct arena *a, const char *object, const char *name)
{
	const char *json = openai_member(a, object, name), *text;
	struct json_reader r;
	size_t len;

	if (!json || *json != '"')
		return NULL;
	json_open(&r, a, json, strlen(json));
	if (!json_read_string(&r, &text, &len))
		return NULL;
	return strlen(text) == len ? text : without_nul(a, text, len);
}

const char *openai_quoted(struct arena *a, const char *text)
{
	struct buf b;

	buf_init(&b, 6 * strlen(text) + 2);
	json_write_string(&b, text, strlen(text));
	return arena_take(a, &b);
}

const char *openai_header_word(struct arena *a, const char *word)
{
	enum { WORD_MAX = 64 };
	char *out = arena_strndup(a, word, strnlen(word, WORD_MAX));

	for (char *s = out; *s; s++)
		if (!((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') ||
			    (*s >= 'a' && *s <= 'z') || *s == '_' || *s == '-' || *s == '.'))
			*s = '_';
	return out;
}
