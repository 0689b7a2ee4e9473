/* tool_config_sql.c - see tool_config_sql.h. */
#include "outside/tool_config_sql.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* The safest first. */
static const char *const sslmodes[] = { "verify-full", "require", "disable" };

static size_t sslmode_rank(const char *mode)
{
	size_t i = 0;

	while (strcmp(sslmodes[i], mode) != 0)
		i++;
	return i;
}

bool sql_database_named(const char *url)
{
	return strncmp(url, "postgres://", 11) == 0 || strncmp(url, "postgresql://", 13) == 0;
}

/* NULL if it is not there. */
static const char *url_part(struct arena *a, CURLU *u, CURLUPart which, unsigned how)
{
	char *part = NULL;
	const char *kept = NULL;

	if (!curl_url_get(u, which, &part, how))
		kept = arena_strdup(a, part);
	curl_free(part);
	return kept;
}

/* Of what may stand after the question mark; NULL if it is anything else. */
static const char *sslmode_of(const char *query)
{
	if (!query)
		return sslmodes[0];
	if (strncmp(query, "sslmode=", 8) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof sslmodes / sizeof *sslmodes; i++)
		if (strcmp(query + 8, sslmodes[i]) == 0)
			return sslmodes[i];
	return NULL;
}

static const char *fill_database(struct arena *a, CURLU *u, struct sql_database *ret)
{
	const char *host = url_part(a, u, CURLUPART_HOST, 0), *path;
	size_t len = host ? strlen(host) : 0;

	if (len > 2 && *host == '[')
		host = arena_strndup(a, host + 1, len - 2);
	path = url_part(a, u, CURLUPART_PATH, CURLU_URLDECODE);
	*ret = (struct sql_database){ .host = host,
		.port = url_part(a, u, CURLUPART_PORT, 0),
		.user = url_part(a, u, CURLUPART_USER, CURLU_URLDECODE),
		.password = url_part(a, u, CURLUPART_PASSWORD, CURLU_URLDECODE),
		.name = path ? path + 1 : "",
		.sslmode = sslmode_of(url_part(a, u, CURLUPART_QUERY, 0)) };
	if (!ret->port)
		ret->port = "5432";
	if (!host || !*host || strchr(host, '/') || strchr(host, ',') || strchr(host, '%'))
		return "names no host";
	if (!ret->user || !*ret->user)
		return "names no user";
	if (!*ret->name || strchr(ret->name, '/'))
		return "names no database";
	if (!ret->sslmode)
		return "may end in ?sslmode= with verify-full (which is meant without it), require or disable, and nothing else";
	return url_part(a, u, CURLUPART_FRAGMENT, 0) ? "must not have a fragment" : NULL;
}

/* Spelled so that nobody reads another user, password or host in it than we: to some, postgres:///u:p@h is postgres://u:p@h. */
static bool is_spelled_plainly(const char *url)
{
	const char *at = sql_database_named(url) ? strstr(url, "://") + 3 : "/";

	if (*at == '/' || strchr(at, '\\'))
		return false;
	for (; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return true;
}

const char *sql_database_read(
	struct arena *a, const char *url, enum egress egress, struct sql_database *ret)
{
	CURLU *u = curl_url();
	const char *fault, *literal;

	if (!u)
		abort();
	if (!is_spelled_plainly(url) ||
		curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME))
		fault = "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE";
	else
		fault = fill_database(a, u, ret);
	curl_url_cleanup(u);
	if (fault)
		return fault;
	literal = strchr(ret->host, ':') ? arena_printf(a, "[%s]", ret->host) : ret->host;
	if (!egress_lists_host(literal, (int)strtol(ret->port, NULL, 10)) &&
		!egress_allows(egress, address_kind_of_host(literal)))
		return "is of a private address (the setting allow_private_addresses permits those)";
	return NULL;
}

const char *sql_database_masked(struct arena *a, const char *url, const char *mask)
{
	const char *from = strstr(url, "://") + 3, *end = from + strcspn(from, "/?#"), *at = end,
		   *colon;

	while (at > from && *at != '@')
		at--;
	colon = memchr(from, ':', (size_t)(at - from));
	if (at == from || !colon)
		return url;
	return arena_printf(a, "%.*s%s%s", (int)(colon + 1 - url), url, mask, at);
}

bool sql_database_same(struct arena *a, const char *url, const char *former)
{
	struct sql_database x, y;

	return !sql_database_read(a, url, EGRESS_ANY, &x) &&
	       !sql_database_read(a, former, EGRESS_ANY, &y) && strcmp(x.host, y.host) == 0 &&
	       strcmp(x.port, y.port) == 0 && strcmp(x.user, y.user) == 0 &&
	       sslmode_rank(x.sslmode) <= sslmode_rank(y.sslmode);
}
