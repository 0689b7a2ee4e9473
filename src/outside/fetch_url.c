/* fetch_url.c - what of a URL decides whether it may be called, and what of a text may stand in one. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "outside/fetch.h"

/* Host and port of a URL on the list; the strings are libcurl's. */
static bool url_is_listed(CURLU *u, const char *host)
{
	char *port = NULL;
	bool listed = !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) &&
		      egress_lists_host(host, (int)strtol(port, NULL, 10));

	curl_free(port);
	return listed;
}

bool fetch_is_listed(const char *url)
{
	char *host = NULL;
	CURLU *u = curl_url();
	bool listed = u && !curl_url_set(u, CURLUPART_URL, url, 0) &&
		      !curl_url_get(u, CURLUPART_HOST, &host, 0) && url_is_listed(u, host);

	curl_free(host);
	curl_url_cleanup(u);
	return listed;
}

bool fetch_permits(const char *url, enum egress egress)
{
	static const CURLUPart unwanted[] = { CURLUPART_USER, CURLUPART_PASSWORD,
		CURLUPART_FRAGMENT };
	char *scheme = NULL, *host = NULL, *part = NULL;
	CURLU *u = curl_url();
	bool good = u && !curl_url_set(u, CURLUPART_URL, url, 0) &&
		    !curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) &&
		    !curl_url_get(u, CURLUPART_HOST, &host, 0);
	enum address_kind kind = good ? address_kind_of_host(host) : ADDRESS_PRIVATE;

	for (size_t i = 0; good && i < sizeof unwanted / sizeof *unwanted; i++) {
		good = curl_url_get(u, unwanted[i], &part, 0) != CURLUE_OK;
		curl_free(part);
		part = NULL;
	}
	if (good && strcmp(scheme, "http") == 0)
		good = egress == EGRESS_ANY ||
		       (egress == EGRESS_LOOPBACK && kind == ADDRESS_LOOPBACK) ||
		       url_is_listed(u, host);
	else if (good)
		good = strcmp(scheme, "https") == 0 &&
		       (egress_allows(egress, kind) || url_is_listed(u, host));
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return good;
}

const char *fetch_base_fault(const char *url, enum egress egress)
{
	bool plain = strncasecmp(url, "http://", 7) == 0;
	size_t head = plain ? 7 : 8;
	CURLU *u;
	bool parses;

	if (!plain && strncasecmp(url, "https://", 8) != 0)
		return "must begin with https://";
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '\\')
			return "must not have blanks, backslashes or characters outside ASCII";
	if (memchr(url + head, '@', strcspn(url + head, "/?#")))
		return "must not have a user or a password";
	if (strpbrk(url, "?#"))
		return "must not have a query or a fragment";
	u = curl_url();
	parses = u && !curl_url_set(u, CURLUPART_URL, url, 0);
	curl_url_cleanup(u);
	if (!parses)
		return "must be a URL such as https://models.example.org/v1";
	if (fetch_permits(url, egress))
		return NULL;
	return plain ? "must begin with https://; plain http needs the setting "
		       "allow_private_addresses"
		     : "is a private or loopback address, which needs the setting "
		       "allow_private_addresses";
}

bool fetch_origin(struct arena *a, const char *url, struct fetch_origin *ret)
{
	char *scheme = NULL, *host = NULL, *port = NULL;
	CURLU *u = curl_url();
	bool good = u && !curl_url_set(u, CURLUPART_URL, url, 0) &&
		    !curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) &&
		    !curl_url_get(u, CURLUPART_HOST, &host, 0) &&
		    !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);

	if (good) {
		char *lower = arena_strdup(a, host);

		for (char *p = lower; *p; p++)
			if (*p >= 'A' && *p <= 'Z')
				*p = (char)(*p | 0x20);
		*ret = (struct fetch_origin){ arena_strdup(a, scheme), lower,
			(int)strtol(port, NULL, 10) };
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return good;
}

const char *fetch_base_trimmed(struct arena *a, const char *url)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	return arena_strndup(a, url, len);
}

char *fetch_escape(struct arena *a, const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	char *escaped = arena_alloc(a, strlen(text) * 3 + 1), *out = escaped;

	for (; *text; text++) {
		if (strchr(plain, *text)) {
			*out++ = *text;
			continue;
		}
		*out++ = '%';
		*out++ = "0123456789ABCDEF"[(unsigned char)*text >> 4];
		*out++ = "0123456789ABCDEF"[(unsigned char)*text & 15];
	}
	*out = '\0';
	return escaped;
}
