/* tool_pins.c - see tool_pins.h. */
#include "sessions/tool_pins.h"

#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "outside/tool_config.h"
#include "sessions/tool_run.h"

enum { MERGED_MAX = TOOL_ARGUMENTS_MAX * 2, MARKED_MAX = 4 << 20 };

#define UNSUITED \
	"The tool was not called: what is set for this agent as its configuration does not suit it."

/* What is called so is a secret, whatever the schema says of it. */
static const char *const secret_words[] = { "key", "token", "secret", "passw", "passphrase",
	"credential", "auth", "bearer", "cookie", "signature", "private" };

static bool is_secret(struct arena *a, const struct json_node *schema, const struct json_member *m)
{
	const struct json_node *properties =
		json_tree_member(schema, "properties", strlen("properties"));
	const struct json_node *property =
		properties ? json_tree_member(properties, m->name, m->len) : NULL;
	const struct json_node *write_only =
		property ? json_tree_member(property, "writeOnly", strlen("writeOnly")) : NULL;
	const char *format = property ? json_tree_text(property, "format") : NULL;
	const char *name = fold(a, arena_strndup(a, m->name, m->len));

	if ((write_only && write_only->type == JSON_BOOL && write_only->flag) ||
		(format && strcmp(format, "password") == 0))
		return true;
	for (size_t i = 0; i < sizeof secret_words / sizeof *secret_words; i++)
		if (strstr(name, secret_words[i]))
			return true;
	return false;
}

/* One object of two, written twice: as it is sent, and as it is shown. */
struct merge {
	struct arena *arena;
	const struct json_node *schema, *settings, *given;
	struct json_schema *compiled;
	struct buf sent, shown, names;
	bool masked;
};

static void put_pinned_member(struct buf *b, const struct json_member *m, bool mask)
{
	buf_puts(b, b->len > 1 ? "," : "");
	json_write_string(b, m->name, m->len);
	buf_putc(b, ':');
	if (mask)
		json_write_string(b, TOOL_MASK, strlen(TOOL_MASK));
	else
		json_tree_write(b, m->value);
}

static void put_own(struct merge *g)
{
	const struct json_node *from = g->settings;

	for (size_t i = 0; from->type == JSON_OBJECT && i < from->count; i++) {
		const struct json_member *m = &from->members[i];
		bool mask;

		if (!json_schema_has_property(g->compiled, m->name, m->len))
			continue;
		mask = is_secret(g->arena, g->schema, m);
		g->masked |= mask;
		put_pinned_member(&g->sent, m, false);
		put_pinned_member(&g->shown, m, mask);
		buf_puts(&g->names, g->names.len > 1 ? "," : "");
		json_write_string(&g->names, m->name, m->len);
	}
}

static void put_given(struct merge *g)
{
	const struct json_node *from = g->given;

	for (size_t i = 0; from->type == JSON_OBJECT && i < from->count; i++) {
		const struct json_member *m = &from->members[i];

		if (json_schema_has_property(g->compiled, m->name, m->len) &&
			json_tree_member(g->settings, m->name, m->len))
			continue;
		put_pinned_member(&g->sent, m, false);
		put_pinned_member(&g->shown, m, false);
	}
}

static const char *take_pinned_text(struct merge *g, struct buf *b, char end)
{
	const char *text;

	buf_putc(b, end);
	text = arena_strndup(g->arena, b->at, b->len);
	wipe(b->at, b->len);
	buf_free(b);
	return text;
}

static const char *merge_pins(
	struct merge *g, const struct held_tool *tool, struct tool_pinned *ret)
{
	const char *wrong;
	bool overflow;

	buf_init(&g->sent, MERGED_MAX);
	buf_init(&g->shown, MERGED_MAX);
	buf_init(&g->names, MERGED_MAX);
	buf_putc(&g->sent, '{');
	buf_putc(&g->shown, '{');
	buf_putc(&g->names, '[');
	put_own(g);
	put_given(g);
	overflow = g->sent.overflow || g->shown.overflow || g->names.overflow;
	ret->arguments = take_pinned_text(g, &g->sent, '}');
	ret->shown = take_pinned_text(g, &g->shown, '}');
	ret->names = take_pinned_text(g, &g->names, ']');
	ret->masked = g->masked;
	wrong = overflow ? "It is too long." : tool_check(g->arena, tool, ret->arguments);
	return wrong ? arena_printf(g->arena,
			       UNSUITED " %s Somebody who may give tools has to mend it.", wrong)
		     : NULL;
}

const char *tool_pin(struct vault *vault, struct arena *a, const struct held_tool *tool,
	const char *arguments, struct tool_pinned *ret)
{
	struct merge g = { .arena = a };
	struct json_violations faults;
	const char *text, *input = tool->input_schema;

	*ret = (struct tool_pinned){ .arguments = arguments, .shown = arguments, .names = "[]" };
	if (!tool->configuration || !*tool->configuration || strcmp(tool->kind, "builtin") == 0)
		return NULL;
	text = vault_open_text(vault, a, tool->grant_id, tool->configuration);
	if (!text)
		return "The tool was not called: what is set for this agent as its configuration cannot be opened "
		       "with the present master key. Somebody who may give tools has to set it anew.";
	g.settings = json_tree(a, text, strlen(text), NULL, NULL);
	g.schema = json_tree(a, input, strlen(input), NULL, NULL);
	g.compiled = json_schema_compile(a, input, strlen(input), &faults);
	g.given = json_tree(a, arguments, strlen(arguments), NULL, NULL);
	if (!g.settings || !g.schema || !g.compiled || !g.given)
		return UNSUITED;
	ret->settings = g.settings;
	return merge_pins(&g, tool, ret);
}

void tool_pin_mark(
	const struct held_tool *tool, const struct tool_pinned *pinned, char out[TOOL_PIN_MARK])
{
	bool builtin = strcmp(tool->kind, "builtin") == 0;
	const char *parts[] = { tool->id, tool->kind, builtin ? "" : tool->config,
		builtin ? "" : tool->input_schema, pinned->shown,
		pinned->masked ? tool->configuration : "" };
	uint8_t digest[SHA256_LEN];
	struct buf b;

	buf_init(&b, MARKED_MAX);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		buf_put(&b, parts[i] ? parts[i] : "", strlen(parts[i] ? parts[i] : "") + 1);
	sha256(b.at, b.len, digest);
	buf_free(&b);
	hex_write(digest, sizeof digest, out);
}
