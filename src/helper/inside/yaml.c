/* yaml.c - a YAML text becomes JSON, and the line of each of its nodes.
 *
 * libyaml's events are written down as they come, and it is left at the first
 * that is not taken: its loader of whole documents would follow aliases, half
 * a kilobyte of which can stand for more nodes than there is memory, and its
 * scanner needs a minute for 200 kB of brackets that nest.  A plain text that
 * is a number, true, false or null as JSON has them stays that; everything
 * else is a text, also yes, 0x10 and 2026-01-01. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/json.h"
#include "helper/inside/inside.h"

#define CORE "tag:yaml.org,2002:"

/* A key of a mapping that is open. */
struct yaml_key {
	const char *text;
	size_t len, line;
};

struct level {
	bool mapping, want_key;
	size_t count;	  /* of items or members */
	size_t first_key; /* of its keys in the stack of keys */
	size_t line;	  /* of the key that stands open */
};

struct yaml_reader {
	struct arena *arena;
	struct outlet *out;
	yaml_parser_t parser;
	yaml_event_t event;
	struct buf json, lines, keys; /* keys: struct yaml_key, of all mappings that are open */
	struct level levels[HELPER_YAML_DEPTH_MAX];
	size_t depth, events, documents;
};

/* What libyaml says, in words that tell what to do; `began`: the line to look at is where the thing began. */
static const struct complaint {
	const char *theirs, *ours;
	bool began;
} complaints[] = {
	{ "mapping values are not allowed",
		"a plain text has a colon with a blank after it: put the text in quotes" },
	{ "found character that cannot start any token",
		"a plain text cannot begin with this character: put the text in quotes" },
	{ "found a tab character", "indent with blanks, not with a tab" },
	{ "did not find expected key",
		"a key with its value is wanted here, indented like those before it" },
	{ "did not find expected ','", "a bracket is not closed, or a comma is missing in it",
		true },
	{ "did not find expected comment or line break",
		"after | or > stand only a digit, a sign and a comment" },
	{ "found unexpected end of stream", "a quoted text is not closed", true },
	{ "found unknown escape character", "a quoted text has an escape that is not known" },
	{ "found invalid Unicode character escape code", "an escape stands for no character" },
	{ "control characters are not allowed", "a control character stands in the text" },
	{ "could not find expected ':'", "a key is followed by a colon and a blank", true },
};

static bool parser_fault(struct yaml_reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct complaint said = { .ours = p->problem ? p->problem : "this is no YAML" };
	size_t line = p->problem_mark.line + 1;

	if (p->error == YAML_MEMORY_ERROR)
		return outlet_fault(r->out, 0, "this takes more memory than there is for it");
	if (p->error == YAML_READER_ERROR) {
		const char *bytes = (const char *)p->input.string.start;

		line = 1;
		for (size_t i = 0; i < p->problem_offset; i++)
			line += bytes[i] == '\n';
	}
	for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
		if (p->problem && strstr(p->problem, complaints[i].theirs) == p->problem)
			said = complaints[i];
	if (said.began && p->context)
		line = p->context_mark.line + 1;
	return outlet_fault(r->out, line, "%s", said.ours);
}

static size_t event_line(const struct yaml_reader *r)
{
	return r->event.start_mark.line + 1;
}

static bool fault_here(struct yaml_reader *r, const char *sentence)
{
	return outlet_fault(r->out, event_line(r), "%s", sentence);
}

/* ---- nodes ---- */

/* What comes before a node: a comma, or nothing after a key.  Its line is that of its key. */
static void begin_node(struct yaml_reader *r)
{
	struct level *l = r->depth ? &r->levels[r->depth - 1] : NULL;
	uint32_t line = (uint32_t)(l && l->mapping ? l->line : event_line(r));

	if (l && !l->mapping && l->count++)
		buf_putc(&r->json, ',');
	if (l)
		l->want_key = l->mapping;
	buf_put(&r->lines, &line, sizeof line);
}

static const char *past_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* True if JSON has a number that is written like this, and a double for it.  The text is terminated. */
static bool is_json_number(const char *text, size_t len)
{
	const char *p = text + (*text == '-'), *digits = p;

	p = *p == '0' ? p + 1 : past_digits(p);
	if (p == digits)
		return false;
	if (*p == '.' && past_digits(p + 1) > p + 1)
		p = past_digits(p + 1);
	if (*p == 'e' || *p == 'E') {
		digits = p + 1 + (p[1] == '+' || p[1] == '-');
		if (past_digits(digits) > digits)
			p = past_digits(digits);
	}
	return p == text + len && isfinite(strtod(text, NULL));
}

static void write_plain(struct yaml_reader *r, const char *text, size_t len)
{
	if (!len || (len == 1 && *text == '~') || (len == 4 && memcmp(text, "null", 4) == 0))
		buf_lit(&r->json, "null");
	else if ((len == 4 && memcmp(text, "true", 4) == 0) ||
		 (len == 5 && memcmp(text, "false", 5) == 0) || is_json_number(text, len))
		buf_put(&r->json, text, len);
	else
		json_write_string(&r->json, text, len);
}

static bool take_key(struct yaml_reader *r, const char *text, size_t len)
{
	struct level *l = &r->levels[r->depth - 1];
	struct yaml_key key = { arena_strndup(r->arena, text, len), len, event_line(r) };

	/* More would not be taken as JSON. */
	if (r->keys.len / sizeof key == JSON_NAMES_MAX)
		return fault_here(r, "the text has too many keys in one place");
	if (l->count++)
		buf_putc(&r->json, ',');
	json_write_string(&r->json, text, len);
	buf_putc(&r->json, ':');
	buf_put(&r->keys, &key, sizeof key);
	l->line = key.line;
	l->want_key = false;
	return true;
}

static bool tag_taken(struct yaml_reader *r, const yaml_char_t *tag, const char *const *names)
{
	const char *t = (const char *)tag;

	if (!t || strcmp(t, "!") == 0)
		return true;
	if (strncmp(t, CORE, strlen(CORE)) == 0)
		for (t += strlen(CORE); *names; names++)
			if (strcmp(*names, t) == 0)
				return true;
	return fault_here(r, "tags are not taken: put the text in quotes");
}

static bool take_scalar(struct yaml_reader *r)
{
	static const char *const tags[] = { "str", "int", "float", "bool", "null", NULL };
	const char *text = (const char *)r->event.data.scalar.value;
	const char *tag = (const char *)r->event.data.scalar.tag;
	size_t len = r->event.data.scalar.length;
	bool plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		     (!tag || (strcmp(tag, "!") != 0 && strcmp(tag, CORE "str") != 0));

	if (!tag_taken(r, r->event.data.scalar.tag, tags))
		return false;
	if (memchr(text, '\0', len))
		return fault_here(r, "an escape stands for no character");
	if (r->depth && r->levels[r->depth - 1].want_key)
		return take_key(r, text, len);
	begin_node(r);
	if (plain)
		write_plain(r, text, len);
	else
		json_write_string(&r->json, text, len);
	return true;
}

static bool open_level(struct yaml_reader *r, bool mapping, const yaml_char_t *tag)
{
	static const char *const of_map[] = { "map", NULL }, *const of_list[] = { "seq", NULL };

	if (r->depth && r->levels[r->depth - 1].want_key)
		return fault_here(r, "a key must be a text");
	if (!tag_taken(r, tag, mapping ? of_map : of_list))
		return false;
	if (r->depth == HELPER_YAML_DEPTH_MAX)
		return fault_here(r, "this nests too deeply");
	begin_node(r);
	buf_putc(&r->json, mapping ? '{' : '[');
	r->levels[r->depth++] = (struct level){ .mapping = mapping,
		.want_key = mapping,
		.first_key = r->keys.len / sizeof(struct yaml_key) };
	return true;
}

static int by_text(const void *a, const void *b)
{
	const struct yaml_key *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	if (order || x->len != y->len)
		return order ? order : x->len < y->len ? -1 : 1;
	return x->line < y->line ? -1 : 1;
}

static bool close_level(struct yaml_reader *r)
{
	struct level *l = &r->levels[--r->depth];
	size_t first = l->first_key * sizeof(struct yaml_key);
	size_t count = (r->keys.len - first) / sizeof(struct yaml_key);
	struct yaml_key *keys = count ? (struct yaml_key *)(void *)(r->keys.at + first) : NULL;

	buf_putc(&r->json, l->mapping ? '}' : ']');
	if (count > 1)
		qsort(keys, count, sizeof *keys, by_text);
	for (size_t i = 1; i < count; i++)
		if (keys[i].len == keys[i - 1].len &&
			memcmp(keys[i].text, keys[i - 1].text, keys[i].len) == 0)
			return outlet_fault(r->out, keys[i].line, "this key is there already");
	r->keys.len = first;
	return true;
}

/* ---- the text ---- */

static bool take_event(struct yaml_reader *r)
{
	const yaml_event_t *e = &r->event;
	const yaml_char_t *anchor = NULL;

	if (e->type == YAML_SCALAR_EVENT)
		anchor = e->data.scalar.anchor;
	else if (e->type == YAML_SEQUENCE_START_EVENT)
		anchor = e->data.sequence_start.anchor;
	else if (e->type == YAML_MAPPING_START_EVENT)
		anchor = e->data.mapping_start.anchor;
	if (anchor || e->type == YAML_ALIAS_EVENT)
		return fault_here(r, "anchors and aliases are not taken: put the text in quotes");
	if (++r->events > HELPER_YAML_EVENTS_MAX)
		return fault_here(r, "the text has too many parts");
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		return !r->documents++ || fault_here(r, "there is more than one document");
	case YAML_SCALAR_EVENT:
		return take_scalar(r);
	case YAML_SEQUENCE_START_EVENT:
		return open_level(r, false, e->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return open_level(r, true, e->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_level(r);
	default:
		return true;
	}
}

static bool read_events(struct yaml_reader *r)
{
	for (bool last = false, ok = true; !last; yaml_event_delete(&r->event)) {
		if (!yaml_parser_parse(&r->parser, &r->event))
			return parser_fault(r);
		last = r->event.type == YAML_STREAM_END_EVENT;
		ok = take_event(r);
		if (ok && (r->json.overflow || r->lines.overflow || r->keys.overflow))
			ok = fault_here(r, "this takes more memory than there is for it");
		if (!ok) {
			yaml_event_delete(&r->event);
			return false;
		}
	}
	return true;
}

static bool put_tree(struct yaml_reader *r)
{
	static const uint32_t first = 1;

	if (!r->documents) { /* nothing is null */
		buf_lit(&r->json, "null");
		buf_put(&r->lines, &first, sizeof first);
	}
	return r->out->put(r->out,
		       &(struct helper_record){ .kind = RECORD_TREE, .len = r->json.len }, "",
		       r->json.at) &&
	       r->out->put(r->out,
		       &(struct helper_record){ .kind = RECORD_LINES, .len = r->lines.len }, "",
		       r->lines.at) &&
	       outlet_end(r->out);
}

/* The line of the first % that begins one, by any of the line breaks that libyaml knows; 0: there is none.  It holds each %TAG
 * against all before it, as many as there are, and tells nobody before it is done. */
static size_t directive_line(const char *text, size_t len)
{
	static const char *const breaks[] = { "\n", "\r", "\xc2\x85", "\xe2\x80\xa8",
		"\xe2\x80\xa9" };
	size_t line = 1;

	for (size_t i = 0; i < len; i++) {
		line += text[i] == '\n';
		if (text[i] != '%')
			continue;
		if (i == 0)
			return line;
		for (size_t k = 0; k < sizeof breaks / sizeof *breaks; k++) {
			size_t n = strlen(breaks[k]);

			if (i >= n && memcmp(text + i - n, breaks[k], n) == 0)
				return line;
		}
	}
	return 0;
}

bool read_yaml(struct arena *a, const char *text, size_t len, struct outlet *o)
{
	struct yaml_reader *r = arena_new(a, struct yaml_reader);
	size_t line = directive_line(text, len);
	bool ok;

	if (line)
		return outlet_fault(o, line,
			"a line that begins with %% is a directive, which is not taken: indent it if it is text");

	r->arena = a;
	r->out = o;
	if (!yaml_parser_initialize(&r->parser))
		return outlet_fault(o, 0, "this takes more memory than there is for it");
	buf_init(&r->json, HELPER_JSON_MAX);
	buf_init(&r->lines, HELPER_YAML_EVENTS_MAX * sizeof(uint32_t));
	buf_init(&r->keys, JSON_NAMES_MAX * sizeof(struct yaml_key));
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
	ok = read_events(r) && put_tree(r);
	yaml_parser_delete(&r->parser);
	buf_free(&r->json);
	buf_free(&r->lines);
	buf_free(&r->keys);
	return ok;
}
