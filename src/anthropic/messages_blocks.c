/* messages_blocks.c - what a message consists of: text, images, documents, thoughts, calls and results of tools; see
 * messages_read.h. */
#include "anthropic/messages_parts.h"

#include <string.h>

#include "broker/provider.h"

/* The members of a block, wherever they stand. */
struct message_block {
	const char *type;
	struct slice text, thinking, signature, data, id, name, call_id, title, context, origin;
	struct slice input;   /* JSON text */
	struct slice content; /* a text */
	struct slice within;  /* or blocks, as JSON text */
	bool failed;
	struct slice cache;
	/* Of its source. */
	const char *source;
	struct slice media, bytes, url, source_text;
	struct slice source_within;
};

static void messages_block(
	struct messages_reader *in, struct json_reader *r, struct chat_message *m, bool *foreign);

/* A text, or blocks that are read once their kind is known. */
static void read_nested(struct json_reader *r, struct slice *text, struct slice *within)
{
	if (json_peek(r) == JSON_STRING)
		text_read(r, text);
	else if (json_peek(r) == JSON_ARRAY)
		text_read_raw(r, within);
	else
		json_skip(r, NULL, NULL);
}

static void read_source(struct messages_reader *in, struct json_reader *r, struct message_block *b)
{
	const char *key;
	size_t len;

	if (json_peek(r) == JSON_STRING) { /* of a search result: where it is from */
		text_read(r, &b->origin);
		return;
	}
	if (!messages_expect(in, r, "source", JSON_OBJECT))
		return;
	json_enter_object(r);
	while (!in->wrong && json_next_key(r, &key, &len)) {
		if (strcmp(key, "type") == 0)
			text_read_word(r, &b->source);
		else if (strcmp(key, "media_type") == 0)
			text_read(r, &b->media);
		else if (strcmp(key, "data") == 0)
			text_read(r, &b->bytes);
		else if (strcmp(key, "url") == 0)
			text_read(r, &b->url);
		else if (strcmp(key, "content") == 0)
			read_nested(r, &b->source_text, &b->source_within);
		else
			json_skip(r, NULL, NULL);
	}
}

static void read_text_member(struct json_reader *r, struct slice *ret)
{
	if (json_peek(r) == JSON_STRING)
		text_read(r, ret);
	else
		json_skip(r, NULL, NULL);
}

static void read_block_members(
	struct messages_reader *in, struct json_reader *r, struct message_block *b)
{
	static const struct {
		const char *name;
		size_t at;
	} texts[] = {
		{ "text", offsetof(struct message_block, text) },
		{ "thinking", offsetof(struct message_block, thinking) },
		{ "signature", offsetof(struct message_block, signature) },
		{ "data", offsetof(struct message_block, data) },
		{ "id", offsetof(struct message_block, id) },
		{ "name", offsetof(struct message_block, name) },
		{ "tool_use_id", offsetof(struct message_block, call_id) },
		{ "title", offsetof(struct message_block, title) },
		{ "context", offsetof(struct message_block, context) },
	};
	const char *key;
	size_t len, i;

	json_enter_object(r);
	while (!in->wrong && json_next_key(r, &key, &len)) {
		for (i = 0; i < sizeof texts / sizeof *texts; i++)
			if (strcmp(key, texts[i].name) == 0)
				break;
		if (i < sizeof texts / sizeof *texts)
			read_text_member(r, (struct slice *)((char *)b + texts[i].at));
		else if (strcmp(key, "type") == 0 && messages_expect(in, r, "type", JSON_STRING))
			text_read_word(r, &b->type);
		else if (strcmp(key, "input") == 0)
			text_read_raw(r, &b->input);
		else if (strcmp(key, "source") == 0)
			read_source(in, r, b);
		else if (strcmp(key, "content") == 0)
			read_nested(r, &b->content, &b->within);
		else if (strcmp(key, "is_error") == 0 && json_peek(r) == JSON_BOOL)
			json_read_bool(r, &b->failed);
		else if (strcmp(key, "cache_control") == 0)
			messages_cache(in, r, &b->cache);
		else
			json_skip(r, NULL, NULL);
	}
}

/* ---- each kind ---- */

static void add_text(struct messages_reader *in, struct chat_message *m, struct slice text)
{
	if (text.len)
		chat_part_add(in->c, m, PART_TEXT)->text = text;
}

static void messages_text(
	struct messages_reader *in, const struct message_block *b, struct chat_message *m)
{
	struct chat_part *p;

	if (!b->text.at) {
		messages_wrong(in, "text", "Field required");
		return;
	}
	p = chat_part_add(in->c, m, PART_TEXT);
	p->text = b->text;
	p->cache = b->cache;
}

static void messages_image(
	struct messages_reader *in, const struct message_block *b, struct chat_message *m)
{
	struct chat_part *p;

	if (strcmp(b->source, "base64") == 0 && b->bytes.len && b->media.len) {
		p = chat_part_add(in->c, m, PART_IMAGE_DATA);
		p->media = b->media;
		p->text = b->bytes;
	} else if (strcmp(b->source, "url") == 0 && b->url.len) {
		p = chat_part_add(in->c, m, PART_IMAGE_URL);
		p->text = b->url;
	} else if (strcmp(b->source, "base64") == 0 || strcmp(b->source, "url") == 0) {
		messages_wrong(in, "source", "Field required");
	} else if (!*b->source) {
		messages_wrong(in, "source.type", "Field required");
	} else {
		messages_unbounded(in);
		messages_elsewhere(in, "image");
	}
}

/* Blocks within a block, of its message. */
static void messages_within(struct messages_reader *in, struct slice blocks, struct chat_message *m)
{ /* NOLINT(misc-no-recursion): three deep */
	struct json_reader r;
	int outer = in->inner;
	bool foreign;

	if (!blocks.at)
		return;
	in->depth++;
	json_open(&r, in->c->arena, blocks.at, blocks.len);
	json_enter_array(&r);
	for (in->inner = 0; !in->wrong && json_next_item(&r); in->inner++) {
		messages_block(in, &r, m, &foreign);
		if (in->wrong)
			return;
	}
	if (r.fault)
		text_refuse(&in->r, r.fault);
	in->inner = outer;
	in->depth--;
}

static void messages_document(
	struct messages_reader *in, const struct message_block *b, struct chat_message *m)
{ /* NOLINT(misc-no-recursion): three deep */
	bool bytes = strcmp(b->source, "base64") == 0;
	struct chat_part *p;

	if (!bytes)
		add_text(in, m, b->title);
	add_text(in, m, b->context);
	if (bytes && b->bytes.len && b->media.len) {
		p = chat_part_add(in->c, m, PART_FILE_DATA);
		p->media = b->media;
		p->text = b->bytes;
		p->name = b->title;
		messages_unbounded(in);
	} else if (strcmp(b->source, "url") == 0 && b->url.len) {
		chat_part_add(in->c, m, PART_FILE_URL)->text = b->url;
		messages_unbounded(in);
	} else if (bytes || strcmp(b->source, "url") == 0) {
		messages_wrong(in, "source", "Field required");
	} else if (strcmp(b->source, "text") == 0) {
		add_text(in, m, b->bytes);
	} else if (strcmp(b->source, "content") == 0) {
		add_text(in, m, b->source_text);
		messages_within(in, b->source_within, m);
	} else if (!*b->source) {
		messages_wrong(in, "source.type", "Field required");
	} else { /* what lies elsewhere, or at the provider */
		messages_unbounded(in);
		messages_elsewhere(in, "document");
	}
}

static void messages_search_result(
	struct messages_reader *in, const struct message_block *b, struct chat_message *m)
{ /* NOLINT(misc-no-recursion): three deep */
	add_text(in, m, b->title);
	add_text(in, m, b->origin);
	add_text(in, m, b->content);
	messages_within(in, b->within, m);
}

/* The kind of a provider that a client has the name of, as its own string. */
static const char *maker_of(struct slice name)
{
	for (size_t i = 0; providers[i]; i++)
		if (text_is(name, providers[i]->name))
			return providers[i]->name;
	return NULL;
}

/* Up to the next colon, which is passed. */
static struct slice until_colon(struct slice *rest)
{
	const char *colon = rest->len ? memchr(rest->at, ':', rest->len) : NULL;
	struct slice part = { rest->at, colon ? (size_t)(colon - rest->at) : rest->len };
	size_t passed = part.len + (colon != NULL);

	if (passed)
		*rest = (struct slice){ rest->at + passed, rest->len - passed };
	return part;
}

/* True if another provider than Anthropic had it: it is not sent to one. */
static bool messages_thought(
	struct messages_reader *in, const struct message_block *b, struct chat_message *m)
{
	static const char prefix[] = FOREIGN_SIGNATURE;
	struct chat_thought *t = chat_thought_add(in->c, m);
	struct slice rest = b->signature;

	t->text = b->thinking;
	t->signature = b->signature;
	t->maker = "anthropic";
	if (rest.len &&
		(rest.len < sizeof prefix - 1 || memcmp(rest.at, prefix, sizeof prefix - 1) != 0))
		return false;
	if (rest.len) {
		rest.at += sizeof prefix - 1;
		rest.len -= sizeof prefix - 1;
	}
	t->maker = maker_of(until_colon(&rest));
	t->id = until_colon(&rest);
	t->signature = rest;
	if (!t->maker)
		t->maker = "openai"; /* whoever thinks without a signature */
	return true;
}

static void messages_call(
	struct messages_reader *in, const struct message_block *b, struct chat_message *m)
{
	struct chat_call *call;

	if (!b->id.len || !b->name.len) {
		messages_wrong(in, b->id.len ? "name" : "id", "Field required");
		return;
	}
	call = chat_call_add(in->c, m, NULL, NULL, NULL);
	call->id = b->id;
	call->name = b->name;
	if (b->input.at)
		call->arguments = text_escape(in->c->arena, b->input.at, b->input.len);
}

/* A message of its own, before what else the user's side says. */
static void messages_result(struct messages_reader *in, const struct message_block *b)
{ /* NOLINT(misc-no-recursion): three deep */
	struct chat_message *m;

	if (!b->call_id.len) {
		messages_wrong(in, "tool_use_id", "Field required");
		return;
	}
	m = messages_begin(in, CHAT_TOOL);
	m->call_id = b->call_id;
	m->failed = b->failed;
	add_text(in, m, b->content);
	messages_within(in, b->within, m);
	messages_end(in, m);
}

static void messages_block(
	struct messages_reader *in, struct json_reader *r, struct chat_message *m, bool *foreign)
{ /* NOLINT(misc-no-recursion): three deep */
	struct message_block b = { .type = "", .source = "" };
	bool said = m->role == CHAT_ASSISTANT, within = in->depth > 0,
	     deep = in->depth >= DEPTH_MAX;

	*foreign = false;
	if (!messages_expect(in, r, NULL, JSON_OBJECT))
		return;
	read_block_members(in, r, &b);
	if (in->wrong || r->fault)
		return;
	if (!*b.type)
		messages_wrong(in, "type", "Field required");
	else if (strcmp(b.type, "text") == 0)
		messages_text(in, &b, m);
	else if (strcmp(b.type, "image") == 0)
		messages_image(in, &b, m);
	else if (strcmp(b.type, "document") == 0 && !deep)
		messages_document(in, &b, m);
	else if (strcmp(b.type, "search_result") == 0 && !deep)
		messages_search_result(in, &b, m);
	else if (strcmp(b.type, "thinking") == 0 && said)
		*foreign = messages_thought(in, &b, m);
	else if (strcmp(b.type, "redacted_thinking") == 0 && said) {
		struct chat_thought *t = chat_thought_add(in->c, m);

		t->signature = b.data;
		t->redacted = true;
		t->maker = "anthropic";
	} else if (strcmp(b.type, "tool_use") == 0 && said)
		messages_call(in, &b, m);
	else if (strcmp(b.type, "tool_result") == 0 && m->role == CHAT_USER && !within)
		messages_result(in, &b);
	else
		messages_elsewhere(in, b.type);
}

/* ---- all of it ---- */

/* Blocks that are not sent to who speaks this protocol, in a row: with the commas that would be too many. */
struct block_cut {
	const char *from;     /* of the row under way, or NULL */
	const char *kept_end; /* of the last block before it that is sent, or NULL */
	const char *last_end;
};

static void cut_until(struct messages_reader *in, struct block_cut *cut, const char *start)
{
	if (cut->from)
		messages_patch(
			in, (struct slice){ cut->from, (size_t)(start - cut->from) }, SLICE(""));
	cut->from = NULL;
}

static void cut_rest(struct messages_reader *in, const struct block_cut *cut)
{
	if (cut->from && cut->kept_end)
		messages_patch(in,
			(struct slice){ cut->kept_end, (size_t)(cut->last_end - cut->kept_end) },
			SLICE(""));
	else if (cut->from)
		messages_patch(in, (struct slice){ cut->from, (size_t)(cut->last_end - cut->from) },
			SLICE("{\"type\":\"text\",\"text\":\"(no message)\"}"));
}

static void messages_array(struct messages_reader *in, struct chat_message *m)
{
	struct block_cut cut = { 0 };
	bool foreign;

	json_enter_array(&in->r);
	for (in->block = 0; !in->wrong && json_next_item(&in->r); in->block++) {
		const char *start;

		json_peek(&in->r); /* passes the white space */
		start = in->r.at;
		messages_block(in, &in->r, m, &foreign);
		if (in->wrong || in->r.fault)
			return;
		if (foreign && !cut.from)
			cut.from = start;
		if (!foreign)
			cut_until(in, &cut, start);
		cut.last_end = in->r.at;
		if (!foreign)
			cut.kept_end = in->r.at;
	}
	in->block = NOWHERE;
	if (!in->r.fault)
		cut_rest(in, &cut);
}

void messages_content(struct messages_reader *in, const char *key, struct chat_message *m)
{
	switch (json_peek(&in->r)) {
	case JSON_STRING:
		text_read(&in->r, &chat_part_add(in->c, m, PART_TEXT)->text);
		return;
	case JSON_ARRAY:
		messages_array(in, m);
		return;
	default:
		if (!in->r.fault)
			messages_wrong(in, key, "Input should be a valid string or array");
	}
}
