/* spf.c - see spf.h. */
#include "mail/spf.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static const char mark[] = "v=spf1";

enum spf_value { VALUE_NONE, VALUE_DOMAIN, VALUE_MAY_BE_DOMAIN, VALUE_IP4, VALUE_IP6 };

static const struct {
	const char *word;
	enum spf_value value;
} mechanisms[] = {
	{ "include", VALUE_DOMAIN },
	{ "exists", VALUE_DOMAIN },
	{ "a", VALUE_MAY_BE_DOMAIN },
	{ "mx", VALUE_MAY_BE_DOMAIN },
	{ "ptr", VALUE_MAY_BE_DOMAIN },
	{ "ip4", VALUE_IP4 },
	{ "ip6", VALUE_IP6 },
	{ "all", VALUE_NONE },
};

bool spf_is_record(const char *text)
{
	size_t n = sizeof mark - 1;

	return strncasecmp(text, mark, n) == 0 && (!text[n] || text[n] == ' ');
}

/* A name with a dot in it, which a word that stands for one has not; one with macros is not looked into. */
static bool is_domain(const char *text, size_t len)
{
	bool dot = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '%')
			return true;
		dot |= c == '.' && i && i + 1 < len;
		if (!(c == '.' || c == '-' || c == '_' || (c >= '0' && c <= '9') ||
			    ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')))
			return false;
	}
	return dot;
}

static bool is_address(const char *text, size_t len, int family)
{
	unsigned char bytes[16];
	char copy[64];

	if (!len || len >= sizeof copy)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return inet_pton(family, copy, bytes) == 1;
}

static bool is_value(enum spf_value kind, const char *at, size_t len)
{
	size_t name = 0;

	while (name < len && at[name] != '/') /* what follows is how many bits count */
		name++;
	switch (kind) {
	case VALUE_NONE:
		return !len;
	case VALUE_IP4:
		return is_address(at, name, AF_INET);
	case VALUE_IP6:
		return is_address(at, name, AF_INET6);
	case VALUE_MAY_BE_DOMAIN:
		return !name || is_domain(at, name);
	case VALUE_DOMAIN:
		break;
	}
	return is_domain(at, len);
}

/* One term without what stands before it; false: there is no such term. */
static bool is_mechanism(const char *at, size_t len, bool *ret_all)
{
	size_t word = 0;

	while (word < len && at[word] != ':' && at[word] != '/')
		word++;
	for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
		size_t skip = word < len && at[word] == ':' ? word + 1 : word;

		if (strlen(mechanisms[i].word) != word ||
			strncasecmp(at, mechanisms[i].word, word) != 0)
			continue;
		*ret_all = mechanisms[i].value == VALUE_NONE;
		return is_value(mechanisms[i].value, at + skip, len - skip) &&
		       (skip == word || skip < len);
	}
	return false;
}

const char *spf_fault(struct arena *a, const char *text)
{
	static const char redirect[] = "redirect=";
	size_t named = 0, len;
	bool ended = false;

	for (const char *p = text + sizeof mark - 1; *(p += strspn(p, " ")); p += len) {
		size_t word = strcspn(p, "=:/ "), sign = strcspn(p, "+-~?") == 0;
		bool modifies = p[word] == '=', passes = !sign || *p == '+', all = false, good;

		len = strcspn(p, " ");
		if (modifies) { /* of which there may be any; one is of use here */
			passes = strncasecmp(p, redirect, sizeof redirect - 1) == 0;
			good = !passes || is_domain(p + word + 1, len - word - 1);
		} else {
			good = is_mechanism(p + sign, len - sign, &all);
		}
		if (!good)
			return arena_printf(a, "has \"%.*s\", which is no term of SPF",
				(int)(len < 80 ? len : 80), p);
		if (ended && (passes || !modifies)) /* a redirection, too */
			return arena_printf(a, "has \"%.*s\" after all, where nobody reads on",
				(int)(len < 80 ? len : 80), p);
		ended |= all;
		if (all && passes)
			return "lets everybody send (+all)";
		named += !all && passes;
	}
	return named ? NULL : "names nobody who may send";
}
