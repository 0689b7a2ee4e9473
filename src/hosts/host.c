/* host.c - the kinds of hosts, and what things are called there; see host.h. */
#include "hosts/host.h"

#include <string.h>

const struct repo_host *host_kind(const char *word)
{
	static const struct repo_host *const kinds[] = { &host_gitlab, &host_gitea };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i]->word, word) == 0)
			return kinds[i];
	return NULL;
}

struct host_wanted host_project_of(
	struct arena *a, const char *tenant_slug, const char *agent_slug, const char *agent_id)
{
	enum { TAIL = 8, ROOM = HOST_NAME_MAX - 1 - TAIL };
	const char *name = arena_printf(a, "%s-%s", tenant_slug, agent_slug);
	size_t len = strlen(agent_id);

	if (strlen(name) > ROOM)
		name = arena_printf(a, "agent-%s", agent_id);
	return (struct host_wanted){
		.name = name,
		.other = arena_printf(
			a, "%s-%s", name, len > TAIL ? agent_id + len - TAIL : agent_id),
		.title = agent_slug,
		.mark = arena_printf(a, "Repository of the agent %s of Lodge", agent_id),
	};
}

struct host_wanted host_image_of(
	struct arena *a, const char *tenant_slug, const char *agent_slug, const char *agent_id)
{
	struct host_wanted want =
		host_project_of(a, tenant_slug, arena_printf(a, "%s-image", agent_slug), agent_id);

	want.mark = arena_printf(a, "Image repository of the agent %s of Lodge", agent_id);
	return want;
}

const char *host_path_of(const struct host *h, struct arena *a, const char *clone_url)
{
	size_t n = strlen(h->url), len = strlen(clone_url);

	if (len < n + 6 || strncmp(clone_url, h->url, n) != 0 || clone_url[n] != '/' ||
		strcmp(clone_url + len - 4, ".git") != 0)
		return NULL;
	return arena_strndup(a, clone_url + n + 1, len - n - 5);
}

struct host_wanted host_user_of(struct arena *a, const char *agent_name, const char *agent_id)
{
	return (struct host_wanted){
		.name = arena_printf(a, "lodge-%s", agent_id),
		.title = agent_name,
		.mark = arena_printf(a, "%s@lodge.internal", agent_id),
	};
}

struct remote_said host_make(const struct host *h, struct arena *a, const struct host_wanted *want,
	struct host_project *ret)
{
	struct remote_said said = h->kind->make_project(h, a, want, ret);
	struct host_wanted second = *want;

	if (said.end != REMOTE_TAKEN || !want->other)
		return said;
	second.name = want->other;
	return h->kind->make_project(h, a, &second, ret);
}
