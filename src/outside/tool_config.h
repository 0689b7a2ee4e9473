/* tool_config.h - how a tool outside is called: the `config` of a tool, read and checked.
 *
 * An http tool has a method, a URL, headers and a body with {{argument}}
 * places; an mcp tool the URL of a server, headers, and the name of the tool
 * there; an sql tool the address of a database, and perhaps its statement with
 * places for parameters.  The values of headers and the password of an address are secrets: what is stored
 * and shown of them is a mask, and the values themselves are kept apart, to be sealed. */
#pragma once
#include "base/error.h"
#include "base/json_schema.h"
#include "base/json_tree.h"
#include "outside/fetch.h"
#include "outside/tool_config_sql.h"

#define TOOL_MASK "********"

enum {
	TOOL_HEADERS_MAX = 32,
	TOOL_HEADER_VALUE_MAX = 8192,
	TOOL_URL_MAX = 4096,
	TOOL_HOSTS_MAX = 32,
	TOOL_TIMEOUT_S = 30, /* unless the config says another */
	TOOL_TIMEOUT_S_MAX = 120,
	TOOL_SQL_MAX = 64 * 1024, /* bytes of a statement */
	TOOL_SQL_ROWS = 200,	  /* unless the config says another */
};

enum tool_kind { TOOL_BUILTIN, TOOL_HTTP, TOOL_MCP, TOOL_SQL };

/* How arguments are put into a body. */
enum tool_body {
	TOOL_BODY_NONE,
	TOOL_BODY_JSON, /* into the strings of a JSON value */
	TOOL_BODY_FORM, /* percent-encoded into text */
	TOOL_BODY_TEXT, /* as they are */
};

struct tool_config {
	enum tool_kind kind;
	const char *method, *url;
	/* The secrets, too: of an sql tool the one is its password. */
	struct fetch_header headers[TOOL_HEADERS_MAX];
	size_t header_count;
	enum tool_body body_kind;
	const struct json_node *body; /* a string unless TOOL_BODY_JSON */
	const char *allowed_hosts[TOOL_HOSTS_MAX];
	size_t host_count;
	const char *tool; /* mcp */
	struct sql_database database;
	const char *statement; /* NULL: the caller's */
	bool writes;
	int rows_max;
	int timeout_s; /* 0: not said */
};

/* How long a call may take, in milliseconds. */
static inline int64_t tool_config_ms(const struct tool_config *c)
{
	return INT64_C(1000) * (c->timeout_s ? c->timeout_s : TOOL_TIMEOUT_S);
}

/* Reads a config and lists everything that is wrong with it, as fields below "config".  The places must
 * be properties of `input`; NULL: it was checked when it was stored. */
int tool_config_read(struct arena *a, enum tool_kind kind, const char *text, enum egress egress,
	const struct json_schema *input, struct tool_config *ret, struct problem *p);
/* Puts stored values in place of masks; `stored` is what tool_config_secrets() gave, or NULL.  They are
 * for the origin they were stored for: under another one a mask is a fault, as is a mask for nothing. */
int tool_config_keep(struct arena *a, struct tool_config *config, const char *stored,
	bool same_origin, struct problem *p);
/* The config as JSON text with masks, and its headers with their values. */
const char *tool_config_shown(struct arena *a, const char *text);
const char *tool_config_secrets(struct arena *a, const struct tool_config *config);
/* Of an sql tool: the same host, port and user, and as safe a way there. */
bool tool_config_same_origin(struct arena *a, const char *url, const char *other);

/* The next place at or after `text`: its beginning, with *ret_name and *ret_len; NULL if there is none.
 * *ret_end is after it.  A brace pair that is no place has a NULL name. */
const char *tool_place(
	const char *text, const char **ret_name, size_t *ret_len, const char **ret_end);
