/* remote_end.c - see remote_end.h. */
#include "outside/remote_end.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

const char *const remote_end_words[REMOTE_END_COUNT] = {
#define X(name, word) [REMOTE_##name] = word,
	REMOTE_ENDS(X)
#undef X
};

int64_t remote_retry_after(const char *text, int64_t now)
{
	int64_t left;
	char *end;

	if (!text)
		return -1;
	if (*text >= '0' && *text <= '9') {
		left = strtoll(text, &end, 10);
		if (*end)
			return -1;
	} else {
		time_t then = curl_getdate(text, NULL);

		if (then < 0)
			return -1;
		left = (int64_t)then > now ? (int64_t)then - now : 0;
	}
	return left > REMOTE_RETRY_MAX_S ? REMOTE_RETRY_MAX_S : left;
}

/* A name and a password stand in the address where the one that was asked had them. */
static const char *without_user(struct arena *a, const char *url)
{
	const char *host = strstr(url, "://");
	size_t len = host ? strcspn(host + 3, "/?#") : 0;
	const char *at = host ? memrchr(host + 3, '@', len) : NULL;

	return at ? arena_printf(a, "%.*s%s", (int)(host + 3 - url), url, at + 1) : url;
}

const char *remote_moved_to(struct arena *a, const char *asked, const struct fetched *got)
{
	struct fetch_origin from, to;

	if (got->status < 300 || got->status > 399 || !got->location ||
		!fetch_origin(a, asked, &from) || !fetch_origin(a, got->location, &to))
		return NULL;
	return strcmp(from.scheme, to.scheme) == 0 && strcmp(from.host, to.host) == 0 &&
			       from.port == to.port
		       ? without_user(a, got->location)
		       : NULL;
}

struct remote_said remote_unreached(struct arena *a, const char *why)
{
	return (struct remote_said){ REMOTE_UNREACHABLE, -1,
		arena_printf(a, "The host cannot be reached: %s.", why) };
}

struct remote_said remote_garbage(struct arena *a, const char *why)
{
	return (struct remote_said){ REMOTE_GARBAGE, -1,
		arena_printf(a, "The host's answer cannot be read: %s.", why) };
}

struct remote_said remote_said_of(
	struct arena *a, const struct fetched *got, bool had_token, int64_t now)
{
	struct remote_said said = { REMOTE_OK, remote_retry_after(got->header, now), NULL };
	int status = got->status;

	if (status >= 200 && status < 300)
		return said;
	if (status == 401 || status == 403) {
		said.end = REMOTE_REFUSED;
		said.why = arena_printf(a,
			had_token ? "The host refused the token (%d)."
				  : "The host wants a token, and there is none (%d).",
			status);
	} else if (status == 404 || status == 410) {
		said.end = REMOTE_MISSING;
		said.why = arena_printf(a,
			had_token
				? "The project is missing on the host, or the token may not see it (%d)."
				: "The project is missing on the host, or may not be seen without a token (%d).",
			status);
	} else if (status >= 300 && status < 400) {
		said.end = REMOTE_MISSING;
		said.why = "The project is missing at its address: the host points to another one.";
	} else if (status == 429) {
		said.end = REMOTE_LIMITED;
		said.why =
			said.retry_after_s < 0
				? "The host asks for fewer requests (429)."
				: arena_printf(a,
					  "The host asks for fewer requests, and to wait for %lld seconds (429).",
					  (long long)said.retry_after_s);
	} else if (status >= 500) {
		said.end = REMOTE_UNREACHABLE;
		said.why = arena_printf(a, "The host is out of order: it answered %d.", status);
	} else {
		said.end = REMOTE_GARBAGE;
		said.why = arena_printf(
			a, "The host's answer cannot be read: its status is %d.", status);
	}
	return said;
}
