/* tool_outside.c - see tool_outside.h. */
#include "sessions/tool_outside.h"

#include <string.h>

#include "base/json_tree.h"
#include "base/clock.h"
#include "base/log.h"
#include "outside/http_tool.h"
#include "outside/sql_tool.h"
#include "sessions/mcp_keep.h"
#include "sessions/tool_arguments.h"
#include "sessions/tool_pins.h"
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

/* Config and secrets; false, with the answer filled, if they are not to be had. */
static bool open_config(struct visit *v, enum tool_kind kind)
{
	const struct held_tool *tool = v->asked->tool;
	struct tool_pinned pinned;
	struct problem p = { 0 };
	const char *secrets = NULL, *fault;

	if (tool->sealed && *tool->sealed) {
		secrets = vault_open_text(v->outside->vault, v->arena, tool->id, tool->sealed);
		if (!secrets) {
			tool_answer_fail(v->arena, v->answer,
				"The tool was not called: its secrets cannot be opened with the present master key. "
				"Somebody who may change tools has to enter them anew.");
			return false;
		}
	}
	if (tool_config_read(
		    v->arena, kind, tool->config, v->outside->egress, NULL, &v->config, &p) ||
		tool_config_keep(v->arena, &v->config, secrets, true, &p)) {
		tool_answer_fail(v->arena, v->answer,
			"The tool was not called: its %s %s. Somebody who may change tools has to "
			"mend it.",
			p.first ? p.first->field : "config",
			p.first ? p.first->message : "is wrong");
		return false;
	}
	if (v->asked->most_s && tool_config_ms(&v->config) > INT64_C(1000) * v->asked->most_s)
		v->config.timeout_s = v->asked->most_s;
	fault = tool_pin(v->outside->vault, v->arena, tool, v->asked->arguments, &pinned);
	if (fault)
		tool_answer_fail(v->arena, v->answer, "%s", fault);
	v->arguments = pinned.arguments;
	v->settings = pinned.settings;
	return !fault;
}

/* ---- after ---- */

enum { SECRET_LEAST = 8 /* bytes: what is shorter may be any word */ };

static void hide_secret(char *text, size_t *len, const char *secret, size_t n)
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
		hide_secret(text, len, value, strlen(value));
		if (blank) /* "Bearer x": the x alone, too */
			hide_secret(text, len, blank + 1, strlen(blank + 1));
	}
	for (size_t i = 0; v->settings && i < v->settings->count; i++)
		if (v->settings->members[i].value->type == JSON_STRING)
			hide_secret(text, len, v->settings->members[i].value->text,
				v->settings->members[i].value->len);
	text[*len] = '\0';
	return text;
}

/* For whoever runs the service: what the model is told, and whose call it was. */
static void log_failure(const struct visit *v, const char *why)
{
	log_warn("a tool could not be called", LOG_S("tool", v->asked->tool->name),
		LOG_S("kind", v->asked->tool->kind), LOG_S("why", why),
		LOG_S("call", v->asked->call_id), LOG_S("tenant_id", v->asked->tenant_id),
		LOG_S("agent_id", v->asked->agent_id), LOG_S("session_id", v->asked->session_id));
}

/* ---- http tools ---- */

static void run_http(struct visit *v)
{
	struct fetched f;
	const char *why = "", *text;
	size_t len;
	bool good;
	int err = http_tool_run(&v->config, v->arguments, strlen(v->arguments), v->outside->egress,
		v->stop, fetch_run, v->arena, &f, &why);

	if (err) {
		len = strlen(why);
		why = without_secrets(v, why, &len);
		tool_answer_fail(v->arena, v->answer,
			err == ERR_INVALID ? "The tool was not called: %s" : "The call failed: %s.",
			why);
		if (err != ERR_INVALID)
			log_failure(v, why);
		return;
	}
	len = f.len;
	text = without_secrets(v, f.body, &len);
	good = f.status >= 200 && f.status < 300;
	if (good && !len)
		tool_answer_text(v->arena,
			arena_printf(v->arena, "The service answered %d without a body.", f.status),
			v->answer);
	else
		tool_answer_give(v->arena,
			&(struct tool_said){ text, len, f.content_type, f.was_cut,
				good ? NULL
				     : arena_printf(
					       v->arena, "The service answered %d.", f.status) },
			v->answer);
}

/* ---- mcp tools ---- */

static struct mcp_way way_of(const struct visit *v)
{
	return (struct mcp_way){ .url = v->config.url,
		.headers = v->config.headers,
		.header_count = v->config.header_count,
		.egress = v->outside->egress,
		.stop = v->stop,
		.end_ms = clock_mono_ms() + tool_config_ms(&v->config) };
}

/* What is no text is described in the answer, and kept with the whole.  Not every provider has a place to say
 * that a tool failed, and so its words say it. */
static void give_result(struct visit *v, const struct mcp_result *got)
{
	struct tool_said said = { .len = got->len,
		.failed = !got->failed ? NULL
			  : got->len   ? "The call failed:"
				       : "The call failed, and the tool does not say why." };

	said.bytes = without_secrets(v, got->text, &said.len);
	tool_answer_give(v->arena, &said, v->answer);
	if (got->more) {
		v->answer->whole_len = got->raw_len;
		v->answer->whole = without_secrets(v, got->raw, &v->answer->whole_len);
		v->answer->content_type = "application/json";
	}
}

static void run_mcp(struct visit *v)
{
	struct mcp_way way = way_of(v);
	struct mcp_peer peer = { 0 };
	struct mcp_keep *keep = v->outside->mcp;
	struct mcp_result got;
	const char *why = "";
	size_t len;
	int err;

	if (keep)
		mcp_keep_find(keep, v->asked, &v->config, &peer);
	err = mcp_call(v->arena, &way, &peer, v->config.tool, v->arguments,
		v->asked->tool->input_schema, &got, &why);
	if (!keep || !mcp_keep_put(keep, v->asked, &v->config, &peer))
		mcp_end(v->arena, &way, &peer);
	if (!err) {
		give_result(v, &got);
		return;
	}
	len = strlen(why);
	why = without_secrets(v, why, &len);
	tool_answer_fail(v->arena, v->answer, "The call failed: %s.", why);
	log_failure(v, why);
}

/* ---- sql tools ---- */

static void run_sql(struct visit *v)
{
	struct sql_answer got;
	size_t len;
	const char *text;

	sql_tool_run(&v->config, v->arguments, strlen(v->arguments), v->outside->egress, v->stop,
		v->arena, &got);
	len = got.len;
	text = without_secrets(v, got.text, &len);
	if (got.outcome == SQL_TOOL_DONE) {
		tool_answer_give(
			v->arena, &(struct tool_said){ text, len, "application/json" }, v->answer);
		return;
	}
	tool_answer_fail(v->arena, v->answer, "%s%s",
		got.outcome == SQL_TOOL_UNCALLED ? "The tool was not called: "
						 : "The call failed: ",
		text);
	if (got.outcome == SQL_TOOL_FAILED)
		log_failure(v, v->answer->text);
}

/* Takes out what is over at `now_ms` and ends it, before `end_ms` unless that is 0. */
static bool end_one(
	const struct tool_outside *o, const _Atomic bool *stop, int64_t now_ms, int64_t end_ms)
{
	struct arena a = { 0 };
	struct mcp_over over;
	struct tool_answer answer;
	struct tool_asked asked = { .tool = &over.tool, .arguments = "{}" };
	struct visit v = {
		.outside = o, .arena = &a, .asked = &asked, .stop = stop, .answer = &answer
	};
	bool any = mcp_keep_over(o->mcp, &a, now_ms, &over);

	if (any && *over.peer.session && open_config(&v, TOOL_MCP)) {
		struct mcp_way way = way_of(&v);

		way.end_ms = end_ms ? end_ms : way.end_ms;
		mcp_end(&a, &way, &over.peer);
	}
	arena_wipe(&a);
	return any;
}

bool tool_outside_tidy(const struct tool_outside *o, const _Atomic bool *stop)
{
	return end_one(o, stop, clock_mono_ms(), 0);
}

void tool_outside_end(const struct tool_outside *o, int ms)
{
	int64_t end = clock_mono_ms() + ms;

	while (clock_mono_ms() < end && end_one(o, NULL, INT64_MAX, end))
		;
}

/* ---- http_fetch ---- */

static void run_fetch(struct visit *v)
{
	enum { URL_MAX = 16384, READ_MAX = 1 << 20 };
	struct tool_arguments in = tool_arguments_open(v->arena, v->asked->arguments);
	struct web_page page = { .url = tool_argument_text(&in, "url", URL_MAX),
		.max_bytes = (size_t)tool_argument_number(&in, "max_bytes", 0, 1, READ_MAX),
		.egress = v->outside->egress,
		.stop = v->stop };

	if (in.fault)
		tool_answer_fail(v->arena, v->answer, "%s", in.fault);
	else if (!web_page_read(v->arena, &page, v->answer))
		log_failure(v, v->answer->text);
}

void tool_outside_run(const struct tool_outside *o, struct arena *a, const struct tool_asked *in,
	const _Atomic bool *stop, struct tool_answer *ret)
{
	struct visit v = { .outside = o, .arena = a, .asked = in, .stop = stop, .answer = ret };
	const char *fault = tool_check(a, in->tool, in->arguments);

	if (fault) {
		tool_answer_fail(a, ret, "%s", fault);
	} else if (strcmp(in->tool->kind, "http") == 0) {
		if (open_config(&v, TOOL_HTTP))
			run_http(&v);
	} else if (strcmp(in->tool->kind, "mcp") == 0) {
		if (open_config(&v, TOOL_MCP))
			run_mcp(&v);
	} else if (strcmp(in->tool->kind, "sql") == 0) {
		if (open_config(&v, TOOL_SQL))
			run_sql(&v);
	} else if (strcmp(in->tool->name, "http_fetch") == 0) {
		run_fetch(&v);
	} else {
		tool_answer_fail(a, ret, "The tool %s cannot be run.", in->tool->name);
	}
}
