/* tool_outside.c - see tool_outside.h. */
#include "sessions/tool_outside.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json_tree.h"
#include "base/clock.h"
#include "outside/http_tool.h"
#include "sessions/mcp_keep.h"
#include "sessions/tool_text.h"

/* One call, with its secrets opened. */
struct visit {
	const struct tool_outside *outside;
	struct arena *arena;
	const struct tool_asked *asked;
	const _Atomic bool *stop;
	struct tool_config config;
	const char *arguments;		  /* with the agent's own settings in their places */
	const struct json_node *settings; /* of the tool for this agent, or NULL */
	struct tool_answer *answer;
};

/* ---- before ---- */

/* What is set for the agent takes the place of what the model says, where the tool has such an argument. */
static bool put_settings(struct visit *v)
{
	const struct held_tool *tool = v->asked->tool;
	struct json_violations faults;
	const struct json_node *given;
	const char *text, *wrong;
	struct json_schema *schema;
	struct buf b;

	v->arguments = v->asked->arguments;
	if (!tool->configuration || !*tool->configuration)
		return true;
	text = vault_open_text(v->outside->vault, v->arena, tool->grant_id, tool->configuration);
	v->settings = text ? json_tree(v->arena, text, strlen(text), NULL, NULL) : NULL;
	schema = json_schema_compile(
		v->arena, tool->input_schema, strlen(tool->input_schema), &faults);
	given = json_tree(v->arena, v->arguments, strlen(v->arguments), NULL, NULL);
	if (!v->settings || !schema || !given)
		return false;
	buf_init(&b, TOOL_ARGUMENTS_MAX * 2);
	buf_putc(&b, '{');
	for (int own = 1; own >= 0; own--) {
		const struct json_node *from = own ? v->settings : given;

		for (size_t i = 0; from->type == JSON_OBJECT && i < from->count; i++) {
			const struct json_member *m = &from->members[i];

			if (!json_schema_has_property(schema, m->name, m->len)
					? own
					: !own && json_tree_member(v->settings, m->name, m->len))
				continue;
			if (b.len > 1)
				buf_putc(&b, ',');
			json_write_string(&b, m->name, m->len);
			buf_putc(&b, ':');
			json_tree_write(&b, m->value);
		}
	}
	buf_putc(&b, '}');
	v->arguments = arena_strndup(v->arena, b.at, b.len);
	wrong = b.overflow ? "" : tool_check(v->arena, tool, v->arguments);
	wipe(b.at, b.len);
	buf_free(&b);
	return !wrong;
}

/* Config and secrets; false, with the answer filled, if they are not to be had. */
static bool open_config(struct visit *v, enum tool_kind kind)
{
	const struct held_tool *tool = v->asked->tool;
	struct problem p = { 0 };
	const char *secrets = NULL;

	if (tool->sealed && *tool->sealed) {
		secrets = vault_open_text(v->outside->vault, v->arena, tool->id, tool->sealed);
		if (!secrets) {
			tool_answer_fail(v->arena, v->answer,
				"The tool was not called: its secrets cannot be opened. Somebody who may "
				"change tools has to enter them again.");
			return false;
		}
	}
	if (tool_config_read(
		    v->arena, kind, tool->config, v->outside->reach, NULL, &v->config, &p) ||
		tool_config_keep(v->arena, &v->config, secrets, true, &p)) {
		tool_answer_fail(v->arena, v->answer,
			"The tool was not called: its %s %s. Somebody who may change tools has to "
			"mend it.",
			p.first ? p.first->field : "config",
			p.first ? p.first->message : "is wrong");
		return false;
	}
	if (!put_settings(v)) {
		tool_answer_fail(v->arena, v->answer,
			"The tool was not called: what is set for this agent as its configuration "
			"does not suit it.");
		return false;
	}
	return true;
}

/* ---- behind ---- */

enum { SECRET_LEAST = 8 /* bytes: what is shorter may be any word */ };

static void hide(char *text, size_t *len, const char *secret, size_t n)
{
	static const char mask[] = TOOL_MASK;
	size_t masked = sizeof mask - 1;
	char *p = text;

	if (n < SECRET_LEAST)
		return;
	while ((p = memmem(p, *len - (size_t)(p - text), secret, n)) != NULL) {
		memcpy(p, mask, masked);
		memmove(p + masked, p + n, *len - (size_t)(p + n - text));
		*len -= n - masked;
		p += masked;
	}
}

/* A service that says back what it was sent gives nothing away. */
static const char *without_secrets(struct visit *v, const char *bytes, size_t *len)
{
	char *text = arena_strndup(v->arena, bytes, *len);

	for (size_t i = 0; i < v->config.header_count; i++) {
		const char *value = v->config.headers[i].value, *blank = strchr(value, ' ');

		if (strstr(value, "{{"))
			continue;
		hide(text, len, value, strlen(value));
		if (blank) /* "Bearer x": the x alone, too */
			hide(text, len, blank + 1, strlen(blank + 1));
	}
	for (size_t i = 0; v->settings && i < v->settings->count; i++)
		if (v->settings->members[i].value->type == JSON_STRING)
			hide(text, len, v->settings->members[i].value->text,
				v->settings->members[i].value->len);
	text[*len] = '\0';
	return text;
}

/* ---- http tools ---- */

static void run_http(struct visit *v)
{
	struct fetched f;
	const char *why = "", *text;
	size_t len;
	int err = http_tool_run(&v->config, v->arguments, strlen(v->arguments), v->outside->reach,
		v->stop, fetch_run, v->arena, &f, &why);

	if (err) {
		len = strlen(why);
		tool_answer_fail(v->arena, v->answer,
			err == ERR_INVALID ? "The tool was not called: %s" : "The call failed: %s.",
			without_secrets(v, why, &len));
		return;
	}
	len = f.len;
	text = without_secrets(v, f.body, &len);
	if (f.status >= 200 && f.status < 300 && !len)
		tool_answer_text(v->arena,
			arena_printf(v->arena, "The service answered %d without a body.", f.status),
			v->answer);
	else
		tool_answer_give(v->arena,
			&(struct tool_said){ text, len, f.content_type, f.was_cut }, v->answer);
	if (f.status < 200 || f.status > 299) {
		struct tool_answer body = *v->answer;

		tool_answer_fail(v->arena, v->answer, "The service answered %d.", f.status);
		if (len) {
			v->answer->text = arena_printf(v->arena, "%s\n%.*s", v->answer->text,
				(int)tool_text_cut(
					body.text, strlen(body.text), TOOL_OUTPUT_MAX / 2),
				body.text);
		}
	}
}

/* ---- mcp tools ---- */

static struct mcp_way way_of(const struct visit *v)
{
	return (struct mcp_way){ .url = v->config.url,
		.headers = v->config.headers,
		.header_count = v->config.header_count,
		.reach = v->outside->reach,
		.stop = v->stop,
		.end_ms = clock_mono_ms() + tool_config_ms(&v->config) };
}

/* What is no text is described in the answer, and kept with the whole. */
static void give_result(struct visit *v, const struct mcp_result *got)
{
	struct tool_said said = { .len = got->len };

	said.bytes = without_secrets(v, got->text, &said.len);
	tool_answer_give(v->arena, &said, v->answer);
	v->answer->failed = got->failed;
	if (got->more) {
		v->answer->whole_len = got->raw_len;
		v->answer->whole = without_secrets(v, got->raw, &v->answer->whole_len);
		v->answer->content_type = "application/json";
	}
}

static void run_mcp(struct visit *v)
{
	struct mcp_way way = way_of(v);
	struct mcp_peer peer;
	struct mcp_result got;
	const char *why = "";
	size_t len;
	int err;

	mcp_keep_find(v->outside->mcp, v->asked, &v->config, &peer);
	err = mcp_call(v->arena, &way, &peer, v->config.tool, v->arguments,
		v->asked->tool->input_schema, &got, &why);
	if (!mcp_keep_put(v->outside->mcp, v->asked, &v->config, &peer))
		mcp_end(v->arena, &way, &peer);
	len = strlen(why);
	if (err)
		tool_answer_fail(
			v->arena, v->answer, "The call failed: %s.", without_secrets(v, why, &len));
	else
		give_result(v, &got);
}

bool tool_outside_tidy(const struct tool_outside *o, const _Atomic bool *stop)
{
	struct arena a = { 0 };
	struct mcp_over over;
	struct tool_answer answer;
	struct tool_asked asked = { .tool = &over.tool, .arguments = "{}" };
	struct visit v = {
		.outside = o, .arena = &a, .asked = &asked, .stop = stop, .answer = &answer
	};
	bool any = mcp_keep_over(o->mcp, &a, clock_mono_ms(), &over);

	if (any && *over.peer.session && open_config(&v, TOOL_MCP)) {
		struct mcp_way way = way_of(&v);

		mcp_end(&a, &way, &over.peer);
	}
	arena_wipe(&a);
	return any;
}

/* ---- http_fetch ---- */

static void run_fetch(struct visit *v)
{
	const struct json_node *in =
		json_tree(v->arena, v->asked->arguments, strlen(v->asked->arguments), NULL, NULL);
	const struct json_node *most = in ? json_tree_member(in, "max_bytes", 9) : NULL;
	struct web_page page = { .url = in ? json_tree_text(in, "url") : NULL,
		.max_bytes = most && most->type == JSON_NUMBER ? (size_t)most->number : 0,
		.reach = v->outside->reach,
		.stop = v->stop };

	if (!page.url)
		tool_answer_fail(v->arena, v->answer, "The argument url is missing.");
	else
		web_page_read(v->arena, &page, v->answer);
}

void tool_outside_run(const struct tool_outside *o, struct arena *a, const struct tool_asked *in,
	const _Atomic bool *stop, struct tool_answer *ret)
{
	struct visit v = { .outside = o, .arena = a, .asked = in, .stop = stop, .answer = ret };

	if (strcmp(in->tool->kind, "http") == 0) {
		if (open_config(&v, TOOL_HTTP))
			run_http(&v);
	} else if (strcmp(in->tool->kind, "mcp") == 0) {
		if (open_config(&v, TOOL_MCP))
			run_mcp(&v);
	} else if (strcmp(in->tool->name, "http_fetch") == 0) {
		run_fetch(&v);
	} else {
		tool_answer_fail(a, ret, "The tool %s cannot be run.", in->tool->name);
	}
}
