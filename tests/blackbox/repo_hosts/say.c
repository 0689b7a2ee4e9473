/* say.c - asks a host of repositories one thing, as the service does, and prints how it ended: a word, how long to wait, a sentence, and what
 * came of it, with tabs between.
 *
 *   host-say KIND URL TOKEN SPACE look | project TENANT AGENT ID | user NAME ID | avatar NAME ID FILE | key NAME ID KEY | letin NAME ID PROJECT |
 *                                 hook PROJECT URL SECRET | refs | ref NAME
 *
 * For the last two the URL is that of a repository. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/host.h"
#include "outside/remote_refs.h"

static struct remote_said ask_user(
	const struct host *h, struct arena *a, char **args, struct host_user *user)
{
	const struct host_wanted want = host_user_of(a, args[0], args[1]);

	return h->kind->ensure_user(h, a, &want, user);
}

static struct remote_said put_file(
	const struct host *h, struct arena *a, const struct host_user *user, const char *path)
{
	enum { MOST = 1 << 20 };
	char *bytes = arena_alloc(a, MOST);
	FILE *f = fopen(path, "rb");
	size_t len = f ? fread(bytes, 1, MOST, f) : 0;

	if (f)
		fclose(f);
	return h->kind->put_avatar(h, a, user, bytes, len);
}

static struct remote_said ask_refs(
	const struct host *h, struct arena *a, const char *name, const char **ret)
{
	const struct remote r = { .url = h->url, .token = h->token, .egress = h->egress };
	struct remote_said said;
	struct remote_ref one;
	struct ls_refs refs;

	if (name) {
		said = remote_ref_exact(&r, a, name, &one);
		*ret = arena_printf(a, "%d %d", one.is_branch, one.is_tag);
		return said;
	}
	said = remote_refs_list(&r, a, &refs);
	*ret = arena_printf(a, "%zu %d %s", refs.count, refs.complete, refs.head ? refs.head : "-");
	return said;
}

static struct remote_said run(
	const struct host *h, struct arena *a, const char *verb, char **args, const char **ret)
{
	struct host_project project = { 0 };
	struct host_about about = { 0 };
	struct host_user user = { 0 };
	struct host_wanted want;
	struct remote_said said;

	*ret = "";
	if (strcmp(verb, "look") == 0) {
		said = h->kind->look(h, a, &about);
		*ret = arena_printf(a, "%s %d", about.user ? about.user : "-", about.manages_users);
	} else if (strcmp(verb, "project") == 0) {
		want = host_project_of(a, args[0], args[1], args[2]);
		said = host_make(h, a, &want, &project);
		if (!said.end)
			*ret = arena_printf(a, "%s %s %s %d", project.path, project.clone_url,
				h->kind->commit_url(a, project.web_url, "abc"), project.was_there);
	} else if (strcmp(verb, "hook") == 0) {
		said = h->kind->put_hook(h, a, args[0], args[1], args[2]);
	} else if (strcmp(verb, "refs") == 0 || strcmp(verb, "ref") == 0) {
		said = ask_refs(h, a, verb[3] ? NULL : args[0], ret);
	} else {
		said = ask_user(h, a, args, &user);
		*ret = arena_printf(a, "%lld", (long long)user.id);
		if (!said.end && strcmp(verb, "avatar") == 0)
			said = put_file(h, a, &user, args[2]);
		else if (!said.end && strcmp(verb, "letin") == 0)
			said = h->kind->let_in(h, a, args[2], &user);
		else if (!said.end && strcmp(verb, "key") == 0)
			said = h->kind->put_key(h, a, &user, "Lodge", args[2]);
	}
	return said;
}

int main(int argc, char **argv)
{
	enum { KIND = 1, URL, TOKEN, SPACE, VERB, ARGS, LEAST = ARGS, MOST = ARGS + 3 };
	char *args[MOST + 1] = { NULL };
	struct arena a = { 0 };
	struct remote_said said;
	const char *came;
	struct host h;

	if (argc < LEAST || argc > MOST || !fetch_init())
		return 2;
	memcpy(args, argv, (size_t)argc * sizeof *args);
	h = (struct host){ .kind = host_kind(args[KIND]),
		.url = args[URL],
		.token = args[TOKEN],
		.space = args[SPACE],
		.egress = getenv("PUBLIC_ONLY") ? EGRESS_PUBLIC : EGRESS_LOOPBACK };
	if (!h.kind)
		return 2;
	said = run(&h, &a, args[VERB], args + ARGS, &came);
	printf("%s\t%lld\t%s\t%s\n", remote_end_words[said.end], (long long)said.retry_after_s,
		said.why ? said.why : "", came);
	arena_free(&a);
	return 0;
}
