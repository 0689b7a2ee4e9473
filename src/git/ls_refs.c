/* ls_refs.c - see ls_refs.h. */
#include "git/ls_refs.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/utf8.h"
#include "git/pkt_line.h"

enum { ROOM = 64 };

static const char service_line[] = "# service=git-upload-pack";
static const char peeled_end[] = "^{}";

static bool ls_fails(struct ls_refs *r, const char *why)
{
	r->fault = why;
	r->state = LS_BAD;
	return false;
}

static bool says(struct slice line, const char *word)
{
	return line.len == strlen(word) && memcmp(line.at, word, line.len) == 0;
}

/* What follows a beginning; absent if the line has another one. */
static struct slice rest_of(struct slice line, const char *start)
{
	size_t n = strlen(start);

	if (line.len < n || memcmp(line.at, start, n) != 0)
		return (struct slice){ NULL, 0 };
	return (struct slice){ line.at + n, line.len - n };
}

/* Takes the word up to the next blank off. */
static struct slice next_word(struct slice *line)
{
	const char *blank = line->len ? memchr(line->at, ' ', line->len) : NULL;
	size_t n = blank ? (size_t)(blank - line->at) : line->len;
	struct slice word = { line->at, n };

	line->at += blank ? n + 1 : n;
	line->len -= blank ? n + 1 : n;
	return word;
}

/* ---- what a line says ---- */

static bool is_object_id(struct slice word)
{
	if (word.len != GIT_ID_LEN)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if (!strchr("0123456789abcdef", word.at[i]) || !word.at[i])
			return false;
	return true;
}

/* As it may stand on the wire: it has an end, and nothing that a line or a terminal would take for something else. */
static bool is_name(struct slice word)
{
	if (!word.len || word.len > LS_REF_NAME_MAX)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if ((unsigned char)word.at[i] <= ' ' || word.at[i] == 0x7f)
			return false;
	return true;
}

static bool is_asked_for(const struct ls_refs *r, struct slice name)
{
	for (size_t i = 0; i < r->ask.count; i++)
		if (rest_of(name, r->ask.prefixes[i]).at)
			return true;
	return false;
}

static struct ls_ref *add_ref(struct ls_refs *r, struct slice name, struct slice id)
{
	struct ls_ref *one;

	if (r->count == r->room) {
		struct ls_ref *grown = arena_array(r->a, struct ls_ref, 2 * r->room);

		memcpy(grown, r->at, r->count * sizeof *grown);
		r->at = grown;
		r->room *= 2;
	}
	one = &r->at[r->count++];
	*one = (struct ls_ref){ .name = arena_strndup(r->a, name.at, name.len) };
	memcpy(one->id, id.at, GIT_ID_LEN);
	return one;
}

/* False where there is no room for one more; a name that is not UTF-8 is left out, and so the list is not complete. */
static bool take_name(struct ls_refs *r, struct slice name, struct slice id, struct ls_ref **ret)
{
	*ret = NULL;
	if (!is_asked_for(r, name))
		return true;
	if (!utf8_valid(name.at, name.len)) {
		r->complete = false;
		return true;
	}
	if (r->count == LS_REFS_MAX) {
		r->complete = false;
		r->state = LS_ENOUGH;
		return false;
	}
	*ret = add_ref(r, name, id);
	return true;
}

static bool take_head(struct ls_refs *r, struct slice target)
{
	if (!is_name(target) || !utf8_valid(target.at, target.len))
		return ls_fails(r, "HEAD stands for something that is no ref");
	r->head = arena_strndup(r->a, target.at, target.len);
	return true;
}

/* ID or "unborn", NAME, and what is told of it beside. */
static bool take_listed(struct ls_refs *r, struct slice line)
{
	struct slice id = next_word(&line), name = next_word(&line);
	bool is_unborn = says(id, "unborn");
	struct ls_ref *one = NULL;

	if ((!is_unborn && !is_object_id(id)) || !is_name(name))
		return ls_fails(r, "a line of the list is none of a ref");
	if (!is_unborn && !take_name(r, name, id, &one))
		return false;
	while (line.len) {
		struct slice word = next_word(&line), target = rest_of(word, "symref-target:"),
			     peeled = rest_of(word, "peeled:");

		if (target.at && says(name, "HEAD") && !take_head(r, target))
			return false;
		if (peeled.at && !is_object_id(peeled))
			return ls_fails(r, "a tag stands for something that is no object");
		if (peeled.at && one)
			memcpy(one->peeled, peeled.at, GIT_ID_LEN);
	}
	return true;
}

/* What a server of the older versions can do, after the NUL of its first line. */
static bool take_able_words(struct ls_refs *r, struct slice words)
{
	while (words.len) {
		struct slice word = next_word(&words), head = rest_of(word, "symref=HEAD:"),
			     format = rest_of(word, "object-format=");

		if (head.at && !take_head(r, head))
			return false;
		if (format.at && !says(format, "sha1"))
			return ls_fails(r, "its objects are not named by SHA-1");
	}
	return true;
}

/* ID NAME, with ^{} behind the name where it is what the tag before it stands for. */
static bool take_older(struct ls_refs *r, struct slice line)
{
	const size_t end = sizeof peeled_end - 1;
	struct slice id = next_word(&line), name = line;
	struct ls_ref *one;

	if (says(id, "shallow"))
		return true;
	if (!is_object_id(id) || !is_name(name))
		return ls_fails(r, "a line of the list is none of a ref");
	if (name.len <= end || memcmp(name.at + name.len - end, peeled_end, end) != 0)
		return take_name(r, name, id, &one);
	name.len -= end;
	one = r->count ? &r->at[r->count - 1] : NULL;
	if (one && says(name, one->name))
		memcpy(one->peeled, id.at, GIT_ID_LEN);
	return true;
}

/* ---- the advertisement ---- */

static bool take_able(struct ls_refs *r, struct slice line)
{
	struct slice format = rest_of(line, "object-format="), list = rest_of(line, "ls-refs=");

	if (format.at && !says(format, "sha1"))
		return ls_fails(r, "its objects are not named by SHA-1");
	if (format.at)
		r->says_format = true;
	if (says(line, "ls-refs") || list.at)
		r->room = ROOM;
	while (list.len)
		if (says(next_word(&list), "unborn"))
			r->can_unborn = true;
	return true;
}

static void begin_list(struct ls_refs *r)
{
	r->state = LS_LISTS;
	r->at = arena_array(r->a, struct ls_ref, ROOM);
	r->count = 0;
	r->room = ROOM;
}

/* The first line of the older versions: a ref, or the place of one, and what the server can do. */
static bool take_first_older(struct ls_refs *r, struct slice line)
{
	const char *nul = memchr(line.at, '\0', line.len);
	struct slice words = { NULL, 0 };

	if (nul) {
		words = (struct slice){ nul + 1, line.len - (size_t)(nul + 1 - line.at) };
		line.len = (size_t)(nul - line.at);
	}
	begin_list(r);
	return take_older(r, line) && take_able_words(r, words);
}

static bool take_begin(struct ls_refs *r, struct slice line)
{
	if (r->state == LS_BEGINS && says(line, service_line)) {
		r->state = LS_SERVICE;
		return true;
	}
	if (says(line, "version 2")) {
		r->version = 2;
		r->room = 0;
		r->state = LS_ABLE;
		return true;
	}
	if (says(line, "version 1") && !r->version) {
		r->version = 1;
		return true;
	}
	return take_first_older(r, line);
}

/* ---- lines ---- */

static bool take_line(struct ls_refs *r, struct slice line)
{
	line = pkt_text(line);
	if (rest_of(line, "ERR ").at)
		return ls_fails(r, "the server says that something is wrong");
	switch (r->state) {
	case LS_BEGINS:
	case LS_SERVICE:
		return take_begin(r, line);
	case LS_ABLE:
		return take_able(r, line);
	default:
		return r->version == 2 ? take_listed(r, line) : take_older(r, line);
	}
}

/* A line without words between others, or at the end of all. */
static bool take_mark(struct ls_refs *r, enum pkt kind)
{
	if (kind != PKT_FLUSH)
		return ls_fails(r, "a mark stands where none may");
	if (r->state == LS_SERVICE) {
		r->state = LS_BEGINS;
		return true;
	}
	if (r->state == LS_BEGINS)
		begin_list(r); /* of an older server that has nothing at all */
	r->state = LS_ENDED;
	return true;
}

static bool take_held(struct ls_refs *r)
{
	struct pkt_reader at = { r->held.at, r->held.len };
	bool goes_on = true;

	while (goes_on) {
		struct slice line;
		enum pkt kind = pkt_next(&at, &line);

		if (kind == PKT_MORE)
			break;
		if (r->state == LS_ENDED)
			goes_on = ls_fails(r, "something follows its end");
		else if (kind == PKT_BAD)
			goes_on = ls_fails(r, "it is not made of git's lines");
		else
			goes_on = kind == PKT_LINE ? take_line(r, line) : take_mark(r, kind);
	}
	memmove(r->held.at, at.at, at.len);
	r->held.len = at.len;
	return goes_on;
}

bool ls_refs_feed(struct ls_refs *r, const char *bytes, size_t n)
{
	while (n && r->state < LS_ENOUGH) {
		size_t part = n < PKT_MAX ? n : PKT_MAX;

		r->taken += part;
		if (r->version == 2 && r->state == LS_ABLE && r->taken > LS_ADVERT_MAX)
			return ls_fails(r, "what it can do takes more than 64 kB to say");
		if (r->taken > LS_REFS_BYTES_MAX) {
			r->complete = false;
			r->state = LS_ENOUGH;
			return false;
		}
		buf_put(&r->held, bytes, part);
		if (r->held.overflow)
			return ls_fails(r, "there is no memory for it");
		if (!take_held(r))
			return false;
		bytes += part;
		n -= part;
	}
	return r->state < LS_ENOUGH;
}

/* ---- beginning and end ---- */

static int by_ref_name(const void *one, const void *other)
{
	return strcmp(((const struct ls_ref *)one)->name, ((const struct ls_ref *)other)->name);
}

static const char *in_order(struct ls_refs *r)
{
	if (r->count)
		qsort(r->at, r->count, sizeof *r->at, by_ref_name);
	for (size_t i = 1; i < r->count; i++)
		if (strcmp(r->at[i - 1].name, r->at[i].name) == 0)
			return "it lists a ref twice";
	return NULL;
}

static void forget_held(struct ls_refs *r)
{
	r->taken = 0;
	r->held.len = 0;
}

void ls_refs_begin(struct ls_refs *r, struct arena *a, const struct ls_ask *ask)
{
	INVARIANT(ask->count <= LS_PREFIXES_MAX);
	*r = (struct ls_refs){ .a = a, .ask = *ask, .complete = true };
	buf_init(&r->held, 2 * (size_t)PKT_MAX);
}

const char *ls_refs_end(struct ls_refs *r)
{
	if (r->state == LS_BAD)
		return r->fault;
	if (r->state == LS_BEGINS || r->state == LS_SERVICE)
		return "it is empty";
	if (r->state != LS_ENOUGH && (r->state != LS_ENDED || r->held.len))
		return "it breaks off";
	if (r->version == 2 && !r->at)
		return r->room ? NULL : "the server does not list refs";
	return in_order(r);
}

void ls_refs_write(const struct ls_refs *r, struct buf *out)
{
	pkt_puts(out, "command=ls-refs\n");
	pkt_puts(out, "agent=lodge\n");
	if (r->says_format)
		pkt_puts(out, "object-format=sha1\n");
	buf_lit(out, "0001");
	pkt_puts(out, "peel\n");
	pkt_puts(out, "symrefs\n");
	if (r->can_unborn)
		pkt_puts(out, "unborn\n");
	pkt_puts(out, "ref-prefix HEAD\n");
	for (size_t i = 0; i < r->ask.count; i++) {
		pkt_puts(out, arena_printf(r->a, "ref-prefix %s\n", r->ask.prefixes[i]));
	}
	pkt_flush(out);
}

void ls_refs_again(struct ls_refs *r)
{
	INVARIANT(r->version == 2);
	forget_held(r);
	begin_list(r);
}

const struct ls_ref *ls_refs_find(const struct ls_refs *r, const char *name)
{
	const struct ls_ref key = { .name = name };

	return r->count ? bsearch(&key, r->at, r->count, sizeof *r->at, by_ref_name) : NULL;
}

void ls_refs_drop(struct ls_refs *r)
{
	buf_free(&r->held);
}
