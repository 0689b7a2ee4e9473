/* webhook_read.c - what a verified event says: its id, who did what to what, and a few lines about it.
 *
 * See webhook.h.  Where things lie is in the tables of webhook.c; here they
 * are looked up.  Whatever is found was written by strangers and is only
 * ever handed on as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/utf8_cut.h"
#include "contract/decode.h"
#include "outside/webhook.h"

enum {
	FIELDS_MAX = 200, /* of a form */
	PATHS_MAX = 12 + 5 * WEBHOOK_PLACES + 1,
	ITEMS_SHOWN = 10,
	PIECE_MAX = 300, /* bytes of one text in a digest */
	SHORT_MAX = 20,	 /* what is cut to fewer was meant to be: a commit's id */
	LINE_MAX = 1200,
	SUMMARY_MAX = 240,
};

bool webhook_word(const char *text, size_t most)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return len && len <= most && text[0] != ' ' && text[len - 1] != ' ';
}

/* ---- looking things up ---- */

static const struct json_node *node_step(const struct json_node *n, const char *name, size_t len)
{
	char *end;
	unsigned long i;

	if (n->type != JSON_ARRAY)
		return json_tree_member(n, name, len);
	i = strtoul(name, &end, 10);
	return end == name + len && i < n->count ? n->items[i] : NULL;
}

static const struct json_node *node_at(const struct json_node *n, const char *path, size_t len)
{
	const char *end = path + len;

	while (n && path < end) {
		const char *dot = memchr(path, '.', (size_t)(end - path));
		size_t part = dot ? (size_t)(dot - path) : (size_t)(end - path);

		n = node_step(n, path, part);
		path += part + 1;
	}
	return n;
}

static const char *node_text_of(struct arena *a, const struct json_node *n)
{
	if (!n)
		return NULL;
	switch (n->type) {
	case JSON_STRING:
		return n->len && strlen(n->text) == n->len ? n->text : NULL;
	case JSON_NUMBER:
		return arena_strndup(a, n->text, n->len);
	case JSON_BOOL:
		return n->flag ? "true" : "false";
	default:
		return NULL;
	}
}

const char *webhook_text_at(struct arena *a, const struct json_node *n, const char *path)
{
	return node_text_of(a, node_at(n, path, strlen(path)));
}

static const char *first_at(
	struct arena *a, const struct json_node *n, const char *const paths[WEBHOOK_PLACES])
{
	const char *text = NULL;

	for (int i = 0; !text && i < WEBHOOK_PLACES && paths[i]; i++)
		text = webhook_text_at(a, n, paths[i]);
	return text;
}

/* ---- the body ---- */

/* A form as an object of texts; of a name that comes twice the first. */
static const char *form_object(struct arena *a, const char *body, size_t len, size_t *ret_len)
{
	const char *names[FIELDS_MAX], *at = body, *end = body + len;
	size_t count = 0;
	struct buf b;
	char *text;

	buf_init(&b, len * 6 + 16);
	buf_putc(&b, '{');
	while (at < end && count < FIELDS_MAX) {
		const char *amp = memchr(at, '&', (size_t)(end - at)), *stop = amp ? amp : end;
		const char *is = memchr(at, '=', (size_t)(stop - at));
		char *name = percent_decode(a, at, (size_t)((is ? is : stop) - at), true);
		char *value = is ? percent_decode(a, is + 1, (size_t)(stop - is - 1), true) : "";
		bool known = false;

		for (size_t i = 0; name && i < count; i++)
			known |= strcmp(names[i], name) == 0;
		at = stop + 1;
		if (!name || !value) {
			buf_free(&b);
			return NULL;
		}
		if (known)
			continue;
		if (count)
			buf_putc(&b, ',');
		names[count++] = name;
		json_write_string(&b, name, strlen(name));
		buf_putc(&b, ':');
		json_write_string(&b, value, strlen(value));
	}
	buf_putc(&b, '}');
	text = b.overflow ? NULL : arena_strndup(a, b.at, b.len);
	*ret_len = b.len;
	buf_free(&b);
	return text;
}

/* What is looked at before an event is accepted; the rest waits for whoever tells it. */
static size_t paths_of(const struct webhook_provider *p, const char *out[PATHS_MAX])
{
	static const char *const all[] = { "payload", "sender.type", "actor.type", "event.subtype",
		"event.bot_id", "event.app_id", "event.bot_profile.app_id", "api_app_id",
		"authorizations.0.user_id", "authorizations.0.is_bot", "type", "challenge" };
	const char *const *const facts[] = { p->id_paths, p->facts.event, p->facts.action,
		p->facts.sender, p->facts.place };
	size_t n = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		out[n++] = all[i];
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		for (int k = 0; k < WEBHOOK_PLACES && facts[i][k]; k++)
			out[n++] = facts[i][k];
	if (p->time_in_ms)
		out[n++] = p->time_in_ms;
	return n;
}

static bool read_tree(const struct webhook_provider *p, struct arena *a, struct webhook_event *e)
{
	const char *paths[PATHS_MAX];
	size_t count = paths_of(p, paths);

	e->tree = e->payload ? json_tree_pick(a, e->payload, e->payload_len, paths, count, NULL)
			     : NULL;
	return e->tree && e->tree->type == JSON_OBJECT;
}

/* JSON as it stands, or inside the form's field `payload`, or the form itself. */
static bool read_payload(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, struct webhook_event *e)
{
	const char *inside;

	e->payload = in->body;
	e->payload_len = in->len;
	if (!in->form)
		return read_tree(p, a, e);
	e->payload = form_object(a, in->body, in->len, &e->payload_len);
	if (!read_tree(p, a, e))
		return false;
	inside = webhook_text_at(a, e->tree, "payload");
	if (!inside)
		return true;
	e->payload = inside;
	e->payload_len = strlen(inside);
	return read_tree(p, a, e);
}

/* ---- the id ---- */

static const char *id_by_body(struct arena *a, const struct webhook_in *in)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];

	sha256(in->body, in->len, digest);
	hex_write(digest, sizeof digest, hex);
	return arena_printf(a, "sha256:%s", hex);
}

static const char *find_id(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, const char *id_header, const struct webhook_event *e)
{
	const char *id = NULL;
	size_t count = 0;

	if (id_header)
		id = in->header(in->ctx, id_header, &count);
	for (int i = 0; !id && i < WEBHOOK_PLACES && p->id_headers[i]; i++)
		id = in->header(in->ctx, p->id_headers[i], &count);
	if (id)
		return count == 1 ? id : NULL;
	id = first_at(a, e->tree, p->id_paths);
	return id ? id : p->id_by_body ? id_by_body(a, in) : NULL;
}

static bool event_is_timely(const struct webhook_provider *p, const struct webhook_in *in,
	const struct webhook_event *e)
{
	const struct json_node *n;
	double off;

	if (!p->time_in_ms)
		return true;
	n = node_at(e->tree, p->time_in_ms, strlen(p->time_in_ms));
	if (!n || n->type != JSON_NUMBER)
		return false;
	off = (double)in->now_us / 1000.0 - n->number;
	return off <= p->tolerance_s * 1000.0 && -off <= p->tolerance_s * 1000.0;
}

/* ---- who ---- */

static bool text_ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_at(struct arena *a, const struct json_node *n, const char *path, const char *want)
{
	const char *text = webhook_text_at(a, n, path);

	return text && strcmp(text, want) == 0;
}

/* What services say of senders that are programs. */
static bool by_machine(struct arena *a, const struct webhook_event *e)
{
	const struct json_node *n = e->tree;

	return is_at(a, n, "sender.type", "Bot") || is_at(a, n, "actor.type", "application") ||
	       is_at(a, n, "actor.type", "OauthClient") || is_at(a, n, "actor.type", "app") ||
	       is_at(a, n, "event.subtype", "bot_message") ||
	       webhook_text_at(a, n, "event.bot_id") ||
	       (e->sender && (text_ends_in(e->sender, "[bot]") || strstr(e->sender, "_bot_")));
}

/* Slack names the user under whom the app itself acts, and the app that wrote a message. */
static bool by_us(const struct webhook_provider *p, struct arena *a, const struct webhook_event *e)
{
	const char *us = webhook_text_at(a, e->tree, "authorizations.0.user_id");
	const char *app = webhook_text_at(a, e->tree, "api_app_id");

	if (p != &webhook_providers[WEBHOOK_SLACK])
		return false;
	return (us && e->sender && is_at(a, e->tree, "authorizations.0.is_bot", "true") &&
		       strcmp(us, e->sender) == 0) ||
	       (app && is_at(a, e->tree, "event.app_id", app)) ||
	       (app && is_at(a, e->tree, "event.bot_profile.app_id", app));
}

static const char *find_event(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, const struct webhook_event *e)
{
	size_t count = 0;
	const char *event = p->event_header ? in->header(in->ctx, p->event_header, &count) : NULL;

	if (!event || count != 1)
		event = first_at(a, e->tree, p->facts.event);
	return event && webhook_word(event, WEBHOOK_WORD_MAX) ? event : NULL;
}

enum webhook_reading webhook_read(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, const char *id_header, struct webhook_event *ret)
{
	const char *id;

	*ret = (struct webhook_event){ 0 };
	if (!read_payload(p, a, in, ret))
		return WEBHOOK_NOT_JSON;
	if (!event_is_timely(p, in, ret))
		return WEBHOOK_STALE;
	ret->event = find_event(p, a, in, ret);
	if (p == &webhook_providers[WEBHOOK_SLACK] &&
		is_at(a, ret->tree, "type", "url_verification")) {
		ret->challenge = webhook_text_at(a, ret->tree, "challenge");
		if (ret->challenge)
			return WEBHOOK_READ;
	}
	id = find_id(p, a, in, id_header, ret);
	if (!id || !webhook_word(id, WEBHOOK_ID_MAX))
		return WEBHOOK_NO_ID;
	ret->delivery_id = id;
	ret->ping = p->ping && ret->event && strcmp(ret->event, p->ping) == 0;
	ret->action = first_at(a, ret->tree, p->facts.action);
	if (ret->action && !webhook_word(ret->action, WEBHOOK_WORD_MAX))
		ret->action = NULL;
	ret->sender = first_at(a, ret->tree, p->facts.sender);
	ret->place = first_at(a, ret->tree, p->facts.place);
	ret->by_machine = by_machine(a, ret);
	ret->by_us = by_us(p, a, ret);
	return WEBHOOK_READ;
}

bool webhook_reread(const struct webhook_provider *p, struct arena *a, const char *event,
	const char *payload, struct webhook_event *ret)
{
	*ret = (struct webhook_event){ .event = event,
		.payload = payload,
		.payload_len = strlen(payload),
		.tree = json_tree(a, payload, strlen(payload), NULL, NULL) };
	if (!ret->tree)
		return false;
	ret->action = first_at(a, ret->tree, p->facts.action);
	ret->sender = first_at(a, ret->tree, p->facts.sender);
	ret->place = first_at(a, ret->tree, p->facts.place);
	ret->link = first_at(a, ret->tree, p->facts.link);
	return true;
}

/* ---- a digest for people and models ---- */

/* At most `most` bytes, whole characters, control characters as spaces. */
static void put_clean_text(struct buf *out, const char *text, size_t most)
{
	size_t len = strlen(text), n = utf8_cut(text, len, most);

	for (size_t i = 0; i < n; i++)
		buf_putc(out, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i]);
	if (n < len && most > SHORT_MAX)
		buf_lit(out, "...");
}

static const char *event_fact(const struct webhook_event *e, const char *name, size_t len)
{
	const struct {
		const char *name, *value;
	} facts[] = { { "event", e->event }, { "action", e->action }, { "sender", e->sender },
		{ "place", e->place }, { "link", e->link } };

	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (strlen(facts[i].name) == len && memcmp(facts[i].name, name, len) == 0)
			return facts[i].value;
	return NULL;
}

struct filling {
	struct arena *arena;
	const struct webhook_event *event;
	const struct json_node *root;
};

/* What {place} stands for, or NULL. */
static const char *lookup_place(const struct filling *f, const char *at, size_t len)
{
	while (len) {
		const char *bar = memchr(at, '|', len);
		size_t n = bar ? (size_t)(bar - at) : len;
		const char *text = event_fact(f->event, at, n);

		if (!text && n && *at == '#') {
			const struct json_node *list = node_at(f->root, at + 1, n - 1);

			text = list && list->type == JSON_ARRAY
				       ? arena_printf(f->arena, "%zu", list->count)
				       : NULL;
		} else if (!text) {
			text = node_text_of(f->arena, node_at(f->root, at, n));
		}
		if (text)
			return text;
		at += n + !!bar;
		len -= n + !!bar;
	}
	return NULL;
}

/* False, and nothing written, if something it names is not there. */
static bool fill_pattern(const struct filling *f, const char *pattern, struct buf *out)
{
	size_t before = out->len;

	for (const char *at = pattern; *at;) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL, *colon, *text;
		size_t most = PIECE_MAX;

		if (!end) {
			buf_putc(out, *at++);
			continue;
		}
		colon = memchr(at, ':', (size_t)(end - at));
		if (colon)
			most = strtoul(colon + 1, NULL, 10);
		text = lookup_place(f, at + 1, (size_t)((colon ? colon : end) - at - 1));
		if (!text) {
			out->len = before;
			return false;
		}
		put_clean_text(out, text, most);
		at = end + 1;
	}
	return true;
}

static bool phrase_suits(const struct webhook_phrase *ph, const struct webhook_event *e)
{
	return (!ph->event || (e->event && strcmp(ph->event, e->event) == 0)) &&
	       (!ph->action || (e->action && strcmp(ph->action, e->action) == 0));
}

/* The first phrase that suits and can be said whole; the last can always. */
static const struct webhook_phrase *write_phrase(
	const struct webhook_provider *p, const struct filling *f, struct buf *out)
{
	const struct webhook_phrase *ph = p->phrases;

	while (!phrase_suits(ph, f->event) || (ph->event && !fill_pattern(f, ph->sentence, out))) {
		if (!ph->event)
			break;
		ph++;
	}
	if (!ph->event) {
		put_clean_text(out, f->event->sender ? f->event->sender : p->title, PIECE_MAX);
		buf_lit(out, ": ");
		put_clean_text(out, f->event->event ? f->event->event : "an event", PIECE_MAX);
		if (f->event->action) {
			buf_putc(out, ' ');
			put_clean_text(out, f->event->action, PIECE_MAX);
		}
		if (f->event->place) {
			buf_lit(out, " in ");
			put_clean_text(out, f->event->place, PIECE_MAX);
		}
	}
	return ph;
}

static const char *take_digest_text(struct arena *a, struct buf *b, size_t most)
{
	b->len = utf8_cut(b->at, b->len, most);
	return arena_take(a, b);
}

const char *webhook_summary(
	const struct webhook_provider *p, struct arena *a, const struct webhook_event *e)
{
	const struct filling f = { a, e, e->tree };
	struct buf b, cut;

	buf_init(&b, WEBHOOK_DIGEST_MAX);
	write_phrase(p, &f, &b);
	buf_putc(&b, '\0');
	buf_init(&cut, SUMMARY_MAX + 8);
	put_clean_text(&cut, b.at ? b.at : "", SUMMARY_MAX);
	buf_free(&b);
	return take_digest_text(a, &cut, SUMMARY_MAX + 8);
}

const char *webhook_digest(
	const struct webhook_provider *p, struct arena *a, const struct webhook_event *e)
{
	struct filling f = { a, e, e->tree };
	const struct webhook_phrase *ph;
	const struct json_node *list;
	struct buf b;

	buf_init(&b, WEBHOOK_DIGEST_MAX + LINE_MAX);
	ph = write_phrase(p, &f, &b);
	buf_putc(&b, '\n');
	for (size_t i = 0; i < sizeof ph->lines / sizeof *ph->lines && ph->lines[i]; i++)
		if (fill_pattern(&f, ph->lines[i], &b))
			buf_putc(&b, '\n');
	list = ph->each ? node_at(e->tree, ph->each, strlen(ph->each)) : NULL;
	for (size_t i = 0; list && list->type == JSON_ARRAY && i < list->count; i++) {
		if (i == ITEMS_SHOWN) {
			buf_printf(&b, "- and %zu more\n", list->count - i);
			break;
		}
		f.root = list->items[i];
		if (fill_pattern(&f, ph->row, &b))
			buf_putc(&b, '\n');
	}
	f.root = e->tree;
	if (fill_pattern(&f, "Link: {link:1000}", &b))
		buf_putc(&b, '\n');
	return take_digest_text(a, &b, WEBHOOK_DIGEST_MAX);
}
