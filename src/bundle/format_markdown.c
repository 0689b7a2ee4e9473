/* format_markdown.c - agents and skills that are written as Markdown: AGENTS.md, *.agent.md with a head, and folders with a
 * SKILL.md, which may lie in one archive. */
#include <string.h>

#include "bundle/format_parts.h"

#define SKILL_FILE "SKILL.md"
#define AGENTS_FILE "AGENTS.md"
#define AGENT_END ".agent.md"

static bool name_ends(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

/* "skills/x/" of "skills/x/SKILL.md"; its length, or -1 for a file that is none. */
static int folder_of_skill(const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t at = slash ? (size_t)(slash - name) + 1 : 0;

	return strcmp(name + at, SKILL_FILE) == 0 ? (int)at : -1;
}

static const struct bundle_file *agent_file(const struct bundle_reading *r)
{
	const struct bundle_file *plain = NULL;

	if (!r->archive)
		return &r->files[0];
	for (size_t i = 0; i < r->count; i++) {
		const char *name = r->files[i].name;

		if (name_ends(name, AGENT_END))
			return &r->files[i];
		if (strcmp(name, AGENTS_FILE) == 0 || name_ends(name, "/" AGENTS_FILE))
			plain = plain ? plain : &r->files[i];
	}
	return plain;
}

static bool has_skill(const struct bundle_reading *r)
{
	for (size_t i = 0; r->archive && i < r->count; i++)
		if (folder_of_skill(r->files[i].name) >= 0)
			return true;
	return false;
}

static bool has_head(const struct bundle_file *f)
{
	const char *text = f->bytes;

	return (f->len > 4 && memcmp(text, "---\n", 4) == 0) ||
	       (f->len > 5 && memcmp(text, "---\r\n", 5) == 0);
}

/* A head, or a heading: what has neither is any text. */
static bool is_markdown(const struct bundle_file *f)
{
	const char *text = f->bytes, *end = text + f->len;

	if (!utf8_valid(text, f->len) || memchr(text, '\0', f->len))
		return false;
	if (has_head(f))
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
	if (r->archive)
		return has_skill(r) || agent_file(r);
	return !r->json && r->files[0].len && is_markdown(&r->files[0]);
}

/* ---- agents ---- */

/* A list, or words between commas. */
static void read_head_tools(struct bundle_reading *r, const struct json_node *tools)
{
	if (!tools)
		return;
	for (size_t i = 0; tools->type == JSON_ARRAY && i < tools->count; i++)
		if (tools->items[i]->type == JSON_STRING && tools->items[i]->len)
			bundle_add_tool(r, tools->items[i]->text);
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

static int read_agent_file(struct bundle_reading *r, const struct bundle_file *f)
{
	struct slice body = { f->bytes, f->len };
	const struct json_node *head = NULL;
	const char *fault = NULL, *field = *f->name ? f->name : "body";

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
	if (!r->out->name && name_ends(f->name, AGENT_END)) {
		const char *slash = strrchr(f->name, '/'), *base = slash ? slash + 1 : f->name;

		r->out->name = arena_strndup(r->a, base, strlen(base) - strlen(AGENT_END));
	}
	return 0;
}

/* ---- skills ---- */

/* The files of one folder, without those of another skill that lies in it. */
static void take_folder(struct bundle_reading *r, size_t md, int len)
{
	struct bundle_skill *s;

	if (r->out->skills.count == BUNDLE_SKILLS_MAX) {
		bundle_warn(r, "The skill in %s stays behind: an import takes %d.",
			r->files[md].name, BUNDLE_SKILLS_MAX);
		return;
	}
	s = BUNDLE_ADD(r->a, &r->out->skills, struct bundle_skill);
	s->folder = len ? arena_strndup(r->a, r->files[md].name, (size_t)len - 1) : SKILL_FILE;
	s->is_enabled = true;
	s->files = arena_array(r->a, struct bundle_file, r->count);
	for (size_t i = 0; i < r->count; i++) {
		const char *name = r->files[i].name;
		bool others = false;

		if (strncmp(name, r->files[md].name, (size_t)len) != 0)
			continue;
		for (size_t k = 0; !others && k < r->count; k++) {
			int inner = folder_of_skill(r->files[k].name);

			others = inner > len && strncmp(name, r->files[k].name, (size_t)inner) == 0;
		}
		if (!others && !(len == 0 && &r->files[i] == agent_file(r))) {
			s->files[s->count] = r->files[i];
			s->files[s->count++].name += len;
		}
	}
}

int markdown_read(struct bundle_reading *r)
{
	const struct bundle_file *f = agent_file(r);
	size_t other = 0;
	int err = f ? read_agent_file(r, f) : 0;

	r->out->platform = f ? "agent-md" : "agent-skills";
	for (size_t i = 0; !err && r->archive && i < r->count; i++) {
		int len = folder_of_skill(r->files[i].name);

		if (len >= 0)
			take_folder(r, i, len);
		else if (&r->files[i] != f && (name_ends(r->files[i].name, AGENT_END) ||
						      name_ends(r->files[i].name, AGENTS_FILE)))
			other++;
	}
	if (other)
		bundle_warn(r,
			"%zu more files that describe agents stay behind: an import makes one.",
			other);
	return err;
}
