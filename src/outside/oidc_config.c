/* oidc_config.c - the setting that lists providers, and the files with their secrets; see oidc.h. */
#include <string.h>

#include "outside/oidc.h"
#include "outside/secret_file.h"

/* The text up to one of the characters, or NULL if it is empty or the character is not there. */
static const char *cut_item_part(struct arena *a, const char **at, char end)
{
	size_t n = 0;
	const char *from = *at;

	while (from[n] && from[n] != end)
		n++;
	if (!n || (end && from[n] != end))
		return NULL;
	*at = from + n + (end != '\0');
	return arena_strndup(a, from, n);
}

static bool name_valid(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n && !name[n] && n <= OIDC_NAME_MAX;
}

/* An address that may turn out to be plain HTTP to this machine; what is permitted is seen later. */
static bool issuer_valid(const char *issuer)
{
	return fetch_permits(issuer, EGRESS_ANY) && !strchr(issuer, '?');
}

static bool read_oidc_item(struct arena *a, const char *item, struct oidc_config *ret)
{
	*ret = (struct oidc_config){ .name = cut_item_part(a, &item, '=') };
	ret->issuer = ret->name ? cut_item_part(a, &item, ',') : NULL;
	ret->client_id = ret->issuer ? cut_item_part(a, &item, ',') : NULL;
	ret->secret_file = ret->client_id ? cut_item_part(a, &item, '\0') : NULL;
	return ret->secret_file && !strchr(ret->secret_file, ',') && name_valid(ret->name) &&
	       issuer_valid(ret->issuer);
}

int oidc_config_list(struct arena *a, const char *text, struct oidc_config *list)
{
	int count = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t n = strcspn(text, " \t");

		if (count == OIDC_PROVIDERS_MAX ||
			!read_oidc_item(a, arena_strndup(a, text, n), &list[count]))
			return -1;
		for (int i = 0; i < count; i++)
			if (strcmp(list[i].name, list[count].name) == 0)
				return -1;
		count++;
		text += n;
	}
	return count;
}

bool oidc_config_valid(const char *text)
{
	struct oidc_config list[OIDC_PROVIDERS_MAX];
	struct arena a = { 0 };
	int count = oidc_config_list(&a, text, list);

	arena_free(&a);
	return count >= 0;
}

int oidc_config_read(const char *text, struct arena *a, struct oidc_config *ret, size_t *ret_count,
	struct problem *p)
{
	const char *fault = NULL;
	int count = oidc_config_list(a, text, ret);

	if (count < 0)
		return problem_set(p, a, ERR_USAGE, "oidc is not a list of providers");
	for (int i = 0; i < count; i++) {
		ret[i].secret = secret_file_read(a, ret[i].secret_file, &fault);
		if (!ret[i].secret)
			return problem_set(p, a, ERR_USAGE,
				"oidc: the secret file %s of the provider %s: %s",
				ret[i].secret_file, ret[i].name, fault);
	}
	*ret_count = (size_t)count;
	return 0;
}
