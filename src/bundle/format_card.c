/* format_card.c - character cards: JSON of version 1, 2 or 3, by itself or in a PNG, where it is a text chunk `chara` or
 * `ccv3` of base64.  The picture becomes the agent's. */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "bundle/format_parts.h"

enum { PNG_MAGIC_LEN = 8, CHUNK_FRAME = 12, CARD_MAX = 8 * 1024 * 1024 };

static const uint8_t png_magic[PNG_MAGIC_LEN] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

static bool is_card(const struct json_node *n)
{
	const char *spec = bundle_text(n, "spec");

	if (spec)
		return strncmp(spec, "chara_card_v", 12) == 0 && bundle_at(n, "data");
	return bundle_text(n, "name") && bundle_at(n, "first_mes") && bundle_at(n, "personality");
}

/* ---- in a picture ---- */

static size_t png_u32(const uint8_t *p)
{
	return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

/* The text of the chunk `tEXt` with this keyword; NULL if there is none. */
static const char *png_text(const struct bundle_file *f, const char *keyword, size_t *ret_len)
{
	const uint8_t *at = (const uint8_t *)f->bytes + PNG_MAGIC_LEN;
	size_t left = f->len - PNG_MAGIC_LEN, key = strlen(keyword) + 1;

	while (left >= CHUNK_FRAME && png_u32(at) <= left - CHUNK_FRAME) {
		size_t len = png_u32(at);

		if (memcmp(at + 4, "tEXt", 4) == 0 && len > key &&
			memcmp(at + 8, keyword, key) == 0) {
			*ret_len = len - key;
			return (const char *)at + 8 + key;
		}
		at += len + CHUNK_FRAME;
		left -= len + CHUNK_FRAME;
	}
	return NULL;
}

/* What lies beside an agent in an archive may be any picture. */
static bool holds_card(const struct bundle_file *f)
{
	size_t len;

	return png_text(f, "ccv3", &len) || png_text(f, "chara", &len);
}

static bool is_png(const struct bundle_reading *r)
{
	return !r->archive && r->files[0].len > PNG_MAGIC_LEN &&
	       memcmp(r->files[0].bytes, png_magic, PNG_MAGIC_LEN) == 0;
}

bool card_sniff(const struct bundle_reading *r)
{
	if (is_png(r))
		return !r->member || holds_card(&r->files[0]);
	return r->json && is_card(r->json);
}

static const struct json_node *card_in_png(struct bundle_reading *r)
{
	const char *fault = "there is none";
	size_t len = 0, got = 0;
	const char *text = png_text(&r->files[0], "ccv3", &len);
	const struct json_node *n = NULL;
	unsigned char *bytes;

	if (!text)
		text = png_text(&r->files[0], "chara", &len);
	if (text && len <= CARD_MAX) {
		bytes = arena_raw(r->a, base64_bytes(len) + 1, 1);
		if (base64_decode(text, len, bytes, &got))
			n = json_tree(r->a, (char *)bytes, got, &fault, NULL);
		else
			fault = "it is not base64";
	}
	bundle_tell_nuls(r, n);
	if (n && is_card(n))
		return n;
	problem_field(r->p, r->a, "body", "format",
		"is a PNG without a character card in it (a text chunk chara or ccv3): %s",
		n ? "what is there is no card" : fault);
	return NULL;
}

/* ---- the card ---- */

/* {{char}} is the character and {{user}} whoever talks to it, in any case. */
static const char *named(struct bundle_reading *r, const char *text)
{
	static const char *const marks[] = { "{{char}}", "<BOT>", "{{user}}", "<USER>" };
	const char *words[] = { r->out->name, r->out->name, "the user", "the user" };
	struct buf b;

	if (!text)
		return NULL;
	buf_init(&b, CARD_MAX * 2);
	while (*text) {
		size_t hit = 0;

		while (hit < 4 && strncasecmp(text, marks[hit], strlen(marks[hit])) != 0)
			hit++;
		if (hit < 4) {
			buf_puts(&b, words[hit] ? words[hit] : "the character");
			text += strlen(marks[hit]);
		} else {
			buf_putc(&b, *text++);
		}
	}
	return arena_take(r->a, &b);
}

static void add_section(
	struct bundle_reading *r, const struct json_node *n, const char *field, const char *title)
{
	const char *text = named(r, bundle_text(n, field)), *before = r->out->prompt;

	if (!text)
		return;
	r->out->prompt = arena_printf(r->a, "%s%s%s%s%s", before ? before : "",
		before ? "\n\n" : "", title, *title ? "\n" : "", text);
}

/* Each entry of the book is a memory under its keys. */
static void read_book(struct bundle_reading *r, const struct json_node *book)
{
	const struct json_node *entries = bundle_at(book, "entries");

	for (size_t i = 0; entries && entries->type == JSON_ARRAY && i < entries->count; i++) {
		const struct json_node *e = entries->items[i], *keys = bundle_at(e, "keys"),
				       *enabled = bundle_at(e, "enabled");
		const char *content = named(r, bundle_text(e, "content"));
		const char *key = keys && keys->type == JSON_ARRAY && keys->count
					  ? bundle_text(keys->items[0], "")
					  : NULL;

		if (enabled && enabled->type == JSON_BOOL && !enabled->flag)
			continue;
		if (content)
			bundle_add_memory(
				r, key ? arena_printf(r->a, "%s: %s", key, content) : content, NIL);
	}
}

int card_read(struct bundle_reading *r)
{
	const struct json_node *n = is_png(r) ? card_in_png(r) : r->json;
	struct agent_bundle *b = r->out;

	if (!n)
		return r->p->err;
	if (is_png(r))
		b->avatar = r->files[0];
	if (bundle_text(n, "spec"))
		n = bundle_at(n, "data");
	b->name = bundle_text(n, "name");
	b->description = bundle_text(n, "creator_notes");
	b->greeting = named(r, bundle_text(n, "first_mes"));
	add_section(r, n, "system_prompt", "");
	add_section(r, n, "description", "# Character");
	add_section(r, n, "personality", "# Personality");
	add_section(r, n, "scenario", "# Scenario");
	add_section(r, n, "mes_example", "# Examples of how the character talks");
	add_section(r, n, "post_history_instructions", "# Keep in mind");
	read_book(r, bundle_at(n, "character_book"));
	bundle_drop(r, n, "alternate_greetings",
		"Alternate greetings stay behind: an agent has one greeting.");
	bundle_drop(r, n, "extensions", "Extensions of the card stay behind.");
	bundle_drop(r, n, "tags", "Tags of the card stay behind.");
	return 0;
}
