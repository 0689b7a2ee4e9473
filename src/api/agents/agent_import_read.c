/* agent_import_read.c - from the bytes of a file to an agent that could be made: see agent_import.h.  No store is seen. */
#include <stdarg.h>
#include <string.h>

#include "api/agents/agent_import.h"
#include "api/agents/agent_row.h"
#include "base/crypto.h"
#include "base/utf8_cut.h"
#include "contract/decode.h"
#include "media/picture.h"

enum { SIDE = 192, PNG_MAX = 512 * 1024, NAME_LONGEST = 255 };

static void note_unread(struct arena *a, struct agent_bundle *b, const char *sentence)
{
	*BUNDLE_ADD(a, &b->warnings, const char *) = arena_strdup(a, sentence);
}

void agent_import_warn(
	const struct agent_importer *who, struct AgentImportResult *out, const char *fmt, ...)
{
	va_list ap;

	if (out->warnings.count >= CEILING_LIST)
		return;
	va_start(ap, fmt);
	*BUNDLE_ADD(who->a, &out->warnings, const char *) = arena_vprintf(who->a, fmt, ap);
	va_end(ap);
}

/* ---- settings ---- */

/* Names of other platforms hold any sign; ours do not. */
static const char *plain_name(struct arena *a, const char *name)
{
	char *out = arena_alloc(a, NAME_LONGEST + 1);
	size_t n = 0;

	for (const char *s = name; *s && n < NAME_LONGEST; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			     (*s >= '0' && *s <= '9') || *s == '-';

		if (plain)
			out[n++] = *s;
		else if (n && out[n - 1] != ' ' && ((unsigned char)*s & 0xc0) != 0x80)
			out[n++] = ' ';
	}
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	return n ? out : NULL;
}

/* Another platform's agent has the settings that a new one has. */
static void foreign_settings(struct arena *a, const char *name, struct agent_import *ret)
{
	struct agent_bundle *b = &ret->bundle;
	const char *said = b->name ? plain_name(a, b->name) : NULL;

	schema_init(&AgentBundleSettings_schema, a, &ret->settings);
	ret->settings.name = name ? name : said ? said : "Imported agent";
	ret->settings.slug = agent_slug_of(a, ret->settings.name);
	ret->settings.description = b->description;
	ret->settings.initial_greeting = b->greeting;
	if (!name && b->name && (!said || strcmp(said, b->name) != 0))
		note_unread(a, b,
			arena_printf(a,
				"The name \"%.*s\" has signs that names here do not have; it became \"%s\".",
				UTF8_SHOWN(100, b->name), ret->settings.name));
}

static void check_length(
	struct arena *a, const char *field, const char *text, size_t most, struct problem *p)
{
	if (text && strlen(text) > most)
		problem_field(p, a, field, "too_long", "has more than %zu bytes", most);
}

static int read_settings(struct arena *a, const struct patterns *patterns, const char *name,
	struct agent_import *ret, struct problem *p)
{
	struct AgentBundleSettings *s = &ret->settings;

	if (ret->bundle.settings)
		decode_part(patterns, a, &AgentBundleSettings_schema, "agent", ret->bundle.settings,
			s, p);
	else
		foreign_settings(a, name, ret);
	if (ret->bundle.settings && name) {
		s->name = name;
		s->slug = agent_slug_of(a, name);
	}
	if (name) { /* by the rule of the table */
		struct AgentClone named;
		struct buf b;

		buf_init(&b, 8 * 1024);
		buf_lit(&b, "{\"name\":");
		json_write_string(&b, name, strlen(name));
		buf_putc(&b, '}');
		decode_body(
			patterns, a, &AgentClone_schema, UNKNOWN_REFUSED, b.at, b.len, &named, p);
		buf_free(&b);
	}
	check_length(a, "description", s->description, CEILING_TEXT, p);
	check_length(a, "initial_greeting", s->initial_greeting, CEILING_PROMPT, p);
	check_length(a, "description_prompt", ret->bundle.prompt, CEILING_PROMPT, p);
	return p->err;
}

static int read_chat(struct arena *a, const struct patterns *patterns, struct agent_import *ret,
	struct problem *p)
{
	struct chat_config row = { 0 };

	if (!ret->bundle.chat)
		return 0;
	ret->has_chat = true;
	if (decode_part(patterns, a, &AgentChatConfigUpdate_schema, "chat", ret->bundle.chat,
		    &ret->chat, p))
		return p->err;
	schema_init(&chat_config_schema, a, &row);
	schema_patch(&AgentChatConfigUpdate_schema, &ret->chat, &chat_config_schema, &row);
	if (chat_config_end(&row) <= chat_config_start(&row))
		problem_field(p, a, "chat.working_hours_end", "order",
			"must be later than working_hours_start");
	return p->err;
}

/* ---- skills and the picture ---- */

static void read_import_skill(struct arena *a, const struct patterns *patterns,
	struct helper *helper, const struct bundle_skill *from, struct import_skill *to)
{
	struct helper_file *entries = arena_array(a, struct helper_file, from->count + 1);
	struct problem own = { 0 };

	for (size_t i = 0; i < from->count; i++)
		entries[i] = (struct helper_file){ from->files[i].name, from->files[i].bytes,
			from->files[i].len };
	to->folder = from->folder;
	to->is_enabled = from->is_enabled;
	if (skill_bundle_read(a, patterns, helper, entries, from->count, &to->bundle, &own))
		to->fault = arena_printf(a, "%s %s", own.first ? own.first->field : "",
			own.first    ? own.first->message
			: own.detail ? own.detail
				     : "cannot be read");
}

static void read_picture(struct arena *a, struct agent_import *ret)
{
	const struct bundle_file *f = &ret->bundle.avatar;
	char why[PICTURE_WHY_MAX];
	struct buf png;

	if (!f->bytes)
		return;
	buf_init(&png, PNG_MAX);
	if (picture_square(f->bytes, f->len, "image/png", SIDE, &png, why)) {
		note_unread(a, &ret->bundle, arena_printf(a, "The picture stays behind: %s", why));
		buf_free(&png);
		return;
	}
	ret->png_len = png.len;
	ret->png = arena_take(a, &png);
}

int agent_import_read(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const struct bundle_file *file, const char *name, struct agent_import *ret,
	struct problem *p)
{
	const struct bundle_skill *skill;
	uint8_t digest[SHA256_LEN];
	int err;

	*ret = (struct agent_import){ 0 };
	sha256(file->bytes, file->len, digest);
	hex_write(digest, sizeof digest, ret->sha256);
	err = bundle_read(a, patterns, helper, file, &ret->bundle, p);
	if (!err)
		err = read_settings(a, patterns, name && *name ? name : NULL, ret, p);
	if (!err)
		err = read_chat(a, patterns, ret, p);
	if (err)
		return err;
	skill = ret->bundle.skills.at;
	for (size_t i = 0; i < ret->bundle.skills.count; i++)
		read_import_skill(a, patterns, helper, &skill[i],
			BUNDLE_ADD(a, &ret->skills, struct import_skill));
	read_picture(a, ret);
	if (ret->bundle.unsaid)
		note_unread(a, &ret->bundle,
			arena_printf(a, "And %zu warnings more.", ret->bundle.unsaid));
	return 0;
}
