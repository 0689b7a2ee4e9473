/* mcp_resources.c - see mcp_resources.h.
 *
 * The list holds the sessions that the caller takes part in, then the skills
 * that they see, each newest first; whatever else they may read has an address
 * all the same.  A cursor names the part of the list and the id that the page
 * before ended with. */
#include "mcp/mcp_resources.h"

#include <string.h>

#include "api/sessions/session_rows.h"
#include "api/skills/skill_store.h"
#include "base/id.h"
#include "mcp/mcp_tools.h"

#define SESSIONS_AT "lodge://sessions/"
#define SKILLS_AT "lodge://skills/"
#define FILES_AT "/files/"
#define BEFORE_AT "?before="

enum { RESOURCES_PAGE = 100, TEMPLATES_TTL_MS = 3600 * 1000, READ_MESSAGES = 100 };

/* ---- addresses ---- */

static bool address_id(struct arena *a, const char *text, size_t len, const char **ret)
{
	*ret = arena_strndup(a, text, len);
	return id_valid(text, len);
}

bool mcp_address_read(struct arena *a, const char *uri, struct mcp_address *ret)
{
	size_t sessions = strlen(SESSIONS_AT), skills = strlen(SKILLS_AT), len;

	*ret = (struct mcp_address){ .kind = MCP_ADDRESS_SESSION };
	if (strncmp(uri, SESSIONS_AT, sessions) == 0) {
		uri += sessions;
		len = strcspn(uri, "?");
		if (!address_id(a, uri, len, &ret->id))
			return false;
		uri += len;
		if (!*uri)
			return true;
		return strncmp(uri, BEFORE_AT, strlen(BEFORE_AT)) == 0 &&
		       address_id(a, uri + strlen(BEFORE_AT), strlen(uri + strlen(BEFORE_AT)),
			       &ret->before);
	}
	if (strncmp(uri, SKILLS_AT, skills) != 0)
		return false;
	uri += skills;
	len = strcspn(uri, "/");
	if (!address_id(a, uri, len, &ret->id))
		return false;
	ret->kind = uri[len] ? MCP_ADDRESS_FILE : MCP_ADDRESS_SKILL;
	if (!uri[len])
		return true;
	if (strncmp(uri + len, FILES_AT, strlen(FILES_AT)) != 0)
		return false;
	uri += len + strlen(FILES_AT);
	ret->path = percent_decode(a, uri, strlen(uri), false);
	return ret->path && *ret->path;
}

/* ---- the list ---- */

static void put_resource(struct buf *out, const char *uri, const char *name, const char *title,
	const char *description, const char *type)
{
	buf_puts(out, out->at[out->len - 1] == '[' ? "{" : ",{");
	mcp_put_text(out, "uri", uri);
	mcp_put_text(out, "name", name);
	mcp_put_text(out, "title", title);
	mcp_put_text(out, "description", description);
	mcp_put_text(out, "mimeType", type);
	buf_putc(out, '}');
}

/* One part of the list; *ret_count is how many it came to, *ret_last the id of the last. */
struct resource_part {
	const char *after;
	size_t most, count;
	const char *last;
	bool more;
};

static int put_sessions(struct mcp_turn *t, struct resource_part *p)
{
	const struct TaskSessionRead *row;
	struct list rows;
	int err = session_rows_mine(t->c, NULL, p->after, p->most, &rows, &p->more);

	if (err)
		return err;
	row = rows.at;
	for (size_t i = 0; i < rows.count; i++)
		put_resource(t->out, arena_printf(t->c->arena, SESSIONS_AT "%s", row[i].id),
			row[i].id, row[i].title, NULL, "application/json");
	p->count = rows.count;
	p->last = rows.count ? row[rows.count - 1].id : NULL;
	return 0;
}

static int put_skills(struct mcp_turn *t, struct resource_part *p)
{
	const struct SkillListRead *row;
	struct list rows;
	int err = skill_rows_seen(t->c, p->after, p->most, &rows, &p->more);

	if (err)
		return err;
	row = rows.at;
	for (size_t i = 0; i < rows.count; i++)
		put_resource(t->out, arena_printf(t->c->arena, SKILLS_AT "%s", row[i].id),
			row[i].slug, row[i].name, row[i].description, "text/markdown");
	p->count = rows.count;
	p->last = rows.count ? row[rows.count - 1].id : NULL;
	return 0;
}

/* The parts in their order, each by the letter that its cursors begin with. */
static const struct {
	char letter;
	int (*put)(struct mcp_turn *t, struct resource_part *p);
} parts[] = { { 's', put_sessions }, { 'k', put_skills } };

enum { PARTS = sizeof parts / sizeof *parts };

/* Which part a cursor goes on in, and after what; PARTS if it is no cursor. */
static size_t cursor_part(struct mcp_turn *t, const char **ret_after)
{
	const struct mcp_spoken *said = t->said;
	const char *place = said->cursor ? mcp_cursor_read(t->c, "resources", said->cursor) : NULL;

	*ret_after = NULL;
	if (!said->cursor)
		return said->bad_cursor ? PARTS : 0;
	for (size_t i = 0; place && i < PARTS; i++) {
		if (*place != parts[i].letter)
			continue;
		*ret_after = place[1] ? place + 1 : NULL;
		return i;
	}
	return PARTS;
}

int mcp_resources_list(struct mcp_turn *t)
{
	size_t room = RESOURCES_PAGE, i;
	const char *after, *next = NULL;
	int err = 0;

	i = cursor_part(t, &after);
	if (i == PARTS)
		return mcp_turn_fail(t, MCP_INVALID_PARAMS, "cursor is none that was handed out");
	mcp_result_begin(t->out, t->post->modern, t->said->id);
	buf_lit(t->out, "\"resources\":[");
	for (; !err && !next && i < PARTS; i++, after = NULL) {
		struct resource_part p = { .after = after, .most = room };

		if (!room) { /* the next part begins on the next page */
			next = arena_printf(t->c->arena, "%c", parts[i].letter);
			break;
		}
		err = parts[i].put(t, &p);
		room -= p.count;
		if (!err && p.more)
			next = arena_printf(t->c->arena, "%c%s", parts[i].letter, p.last);
	}
	buf_putc(t->out, ']');
	mcp_put_text(t->out, "nextCursor", next ? mcp_cursor(t->c, "resources", next) : NULL);
	mcp_put_cache(t->out, t->post->modern, 0);
	mcp_result_end(t->out);
	return err;
}

int mcp_resource_templates(struct mcp_turn *t)
{
	if (t->said->cursor || t->said->bad_cursor)
		return mcp_turn_fail(t, MCP_INVALID_PARAMS, "cursor is none that was handed out");
	mcp_result_begin(t->out, t->post->modern, t->said->id);
	buf_lit(t->out,
		"\"resourceTemplates\":["
		"{\"uriTemplate\":\"" SESSIONS_AT "{session_id}{?before}\",\"name\":\"session\","
		"\"title\":\"Session\",\"description\":\"A session with an agent and its newest "
		"messages, or those before one of them.\",\"mimeType\":\"application/json\"},"
		"{\"uriTemplate\":\"" SKILLS_AT "{skill_id}\",\"name\":\"skill\","
		"\"title\":\"Skill\",\"description\":\"The SKILL.md of a skill.\","
		"\"mimeType\":\"text/markdown\"},"
		"{\"uriTemplate\":\"" SKILLS_AT "{skill_id}" FILES_AT "{+path}\","
		"\"name\":\"skill_file\",\"title\":\"File of a skill\","
		"\"description\":\"A file of a skill, by its path there.\"}]");
	mcp_put_cache(t->out, t->post->modern, TEMPLATES_TTL_MS);
	mcp_result_end(t->out);
	return 0;
}

/* ---- one of them ---- */

/* What it holds: a text, or bytes in base64. */
struct resource_content {
	const char *type, *text, *blob;
};

static int read_skill(struct call *c, const char *id, struct resource_content *ret)
{
	struct SkillRead skill;
	struct buf b;
	int err = skill_find(c, id, &skill);

	if (err)
		return err;
	buf_init(&b, CEILING_PROMPT * 2);
	skill_md_write(&b, c->arena, &skill);
	*ret = (struct resource_content){ "text/markdown", arena_take(c->arena, &b), NULL };
	return 0;
}

static int read_skill_file(
	struct call *c, const struct mcp_address *at, struct resource_content *ret)
{
	const char *tenant = NULL;
	struct skill_file file;
	const char *bytes;
	size_t len;
	int err = skill_seen(c, at->id, &tenant);

	if (!err && !tenant)
		return ERR_NOT_FOUND;
	if (!err)
		err = skill_file_one(c->db, c->arena, tenant, at->id, at->path, &file);
	if (err)
		return err;
	bytes = skill_file_bytes(c->arena, &file, &len);
	if (utf8_valid(bytes, len) && !memchr(bytes, '\0', len))
		*ret = (struct resource_content){ "text/plain", arena_strndup(c->arena, bytes, len),
			NULL };
	else
		*ret = (struct resource_content){ "application/octet-stream", NULL, file.content };
	return 0;
}

static int read_address(struct call *c, const struct mcp_address *at, struct resource_content *ret)
{
	switch (at->kind) {
	case MCP_ADDRESS_SESSION:
		ret->type = "application/json";
		return mcp_session_text(c, at->id, at->before, READ_MESSAGES, &ret->text);
	case MCP_ADDRESS_SKILL:
		return read_skill(c, at->id, ret);
	case MCP_ADDRESS_FILE:
		break;
	}
	return read_skill_file(c, at, ret);
}

int mcp_resource_read(struct mcp_turn *t)
{
	struct resource_content content = { 0 };
	struct mcp_address at;
	int err = ERR_NOT_FOUND;

	if (!t->said->uri)
		return mcp_turn_fail(t, MCP_INVALID_PARAMS, "params.uri must name a resource");
	if (mcp_address_read(t->c->arena, t->said->uri, &at))
		err = read_address(t->c, &at, &content);
	if (err == ERR_NOT_FOUND || err == ERR_FORBIDDEN)
		return mcp_turn_fail(t,
			t->post->modern ? MCP_INVALID_PARAMS : MCP_RESOURCE_NOT_FOUND,
			"There is no such resource.");
	if (err)
		return err;
	mcp_result_begin(t->out, t->post->modern, t->said->id);
	buf_lit(t->out, "\"contents\":[{");
	mcp_put_text(t->out, "uri", t->said->uri);
	mcp_put_text(t->out, "mimeType", content.type);
	mcp_put_text(t->out, "text", content.text);
	mcp_put_text(t->out, "blob", content.blob);
	buf_lit(t->out, "}]");
	mcp_put_cache(t->out, t->post->modern, 0);
	mcp_result_end(t->out);
	return 0;
}
