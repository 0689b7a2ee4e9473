/* format_markdown.c - agents that are written as Markdown: AGENTS.md, and *.agent.md with a head. */
#include <string.h>

#include "bundle/format_parts.h"

#define AGENTS_FILE "AGENTS.md"
#define AGENT_END ".agent.md"

const struct bundle_file *markdown_in(const struct bundle_reading *r)
{
	const struct bundle_file *plain = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const char *name = r->files[i].name;

		if (bundle_name_ends(name, AGENT_END))
			return &r->files[i];
		if (strcmp(name, AGENTS_FILE) == 0 || bundle_name_ends(name, "/" AGENTS_FILE))
			plain = plain ? plain : &r->files[i];
	}
	return plain;
}

static bool has_head(const struct bundle_file *f)
{
	const char *text = f->bytes;

	return (f->len > 4 && memcmp(text, "---\n", 4) == 0) ||
	       (f->len > 5 && memcmp(text, "---\r\n", 5) == 0);
}

/* By its name, or by a head or a heading: what has none of them is any text. */
static bool is_markdown(const struct bundle_file *f)
{
	const char *text = f->bytes, *end = text + f->len;

	if (!utf8_valid(text, f->len) || memchr(text, '\0', f->len))
		return false;
	if (has_head(f) || bundle_name_ends(f->name, ".md"))
		return true;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t marks = 0, len = (size_t)((stop ? stop : end) - text);

		while (marks < len && text[marks] == '#')
			marks++;
		if (marks && marks <= 6 && marks < len && text[marks] == ' ')
			return true;
		text += len + 1;
	}
	return false;
}

bool markdown_sniff(const struct bundle_reading *r)
{
	return !r->archive && !r->json && r->files[0].len && is_markdown(&r->files[0]);
}

/* ---- agents ---- */

/* A list, or words between commas. */
static void read_head_tools(struct bundle_reading *r, const struct json_node *tools)
{
	if (!tools)
		return;
	for (size_t i = 0; tools->type == JSON_ARRAY && i < tools->count; i++)
		bundle_add_tool(r, bundle_text(tools->items[i], ""));
	for (const char *s = tools->type == JSON_STRING ? tools->text : ""; *s;) {
		size_t n;

		s += strspn(s, " ,\t");
		n = strcspn(s, ",");
		while (n && strchr(" \t", s[n - 1]))
			n--;
		if (n)
			bundle_add_tool(r, arena_strndup(r->a, s, n));
		s += strcspn(s, ",");
	}
}

int markdown_read(struct bundle_reading *r)
{
	const struct bundle_file *f = &r->files[0];
	struct slice body = { f->bytes, f->len };
	const struct json_node *head = NULL;
	const char *fault = NULL, *field = r->member ? f->name : "body";

	if (!utf8_valid(f->bytes, f->len) || memchr(f->bytes, '\0', f->len))
		return problem_field(r->p, r->a, field, "syntax", "is no text");
	if (has_head(f)) {
		int err = bundle_head(r, f->bytes, f->len, &head, &body, &fault);

		if (err == ERR_INVALID)
			return problem_field(
				r->p, r->a, field, "syntax", "%s", fault ? fault : "has no head");
		if (err)
			return problem_set(r->p, r->a, err, "%s", fault);
	}
	r->out->prompt = body.len ? arena_strndup(r->a, body.at, body.len) : NULL;
	r->out->name = bundle_text(head, "name");
	r->out->description = bundle_text(head, "description");
	bundle_add_model(r, bundle_text(head, "model"));
	read_head_tools(r, bundle_at(head, "tools"));
	bundle_drop(r, head, "mcp-servers",
		"MCP servers stay behind: connect them as tools of the tenant.");
	if (!r->out->name && bundle_name_ends(f->name, AGENT_END)) {
		const char *slash = strrchr(f->name, '/'), *base = slash ? slash + 1 : f->name;

		r->out->name = arena_strndup(r->a, base, strlen(base) - strlen(AGENT_END));
	}
	return 0;
}
