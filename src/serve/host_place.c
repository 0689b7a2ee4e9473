/* host_place.c - see host_place.h. */
#include "serve/host_place.h"

#include <stdio.h>
#include <string.h>

#include "outside/secret_file.h"
#include "serve/setting_value.h"

int host_of(const struct host **ret, const struct settings *s, struct arena *a, struct problem *p)
{
	const char *word = setting_named("repo_host")->words[s->repo_host], *fault = NULL;
	const struct repo_host *kind = host_kind(word);
	struct host *h;

	*ret = NULL;
	if (!kind)
		return 0;
	h = arena_new(a, struct host);
	*h = (struct host){ .kind = kind,
		.url = fetch_base_trimmed(a, s->repo_host_url),
		.token = secret_file_read(a, s->repo_host_token_file, &fault),
		.space = s->repo_host_namespace,
		.egress = s->private_all ? EGRESS_ANY : EGRESS_PUBLIC };
	if (!h->token)
		return problem_set(p, a, ERR_USAGE, "repo_host_token_file: the file %s: %s",
			s->repo_host_token_file, fault);
	settings_open_places(s);
	fault = fetch_base_fault(h->url, h->egress);
	if (fault)
		return problem_set(p, a, ERR_USAGE, "repo_host_url %s", fault);
	*ret = h;
	return 0;
}

int host_check(const struct settings *s, struct arena *a, struct problem *p)
{
	struct host_about about = { 0 };
	const struct host *h = NULL;
	struct remote_said said;
	int err = host_of(&h, s, a, p);

	if (err || !h)
		return err;
	if (!fetch_init())
		return problem_set(p, a, ERR_INTERNAL, "libcurl does not start");
	said = h->kind->look(h, a, &about);
	if (said.end == REMOTE_UNREACHABLE || said.end == REMOTE_LIMITED) {
		printf("# warning: repo_host_url %s: %s\n", h->url, said.why);
		return 0; /* the service starts all the same */
	}
	if (said.end)
		return problem_set(p, a, ERR_UPSTREAM, "repo_host_url %s: %s", h->url, said.why);
	printf("Repositories are on %s at %s, as the user %s.\n", h->kind->title, h->url,
		about.user);
	if (!about.manages_users)
		printf("# warning: the token of repo_host_token_file is not an administrator's, so that agents have no users of "
		       "their own there: no picture and no key\n");
	return 0;
}
