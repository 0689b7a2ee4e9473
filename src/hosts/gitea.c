/* gitea.c - the REST of Gitea and of Forgejo, version 1; see host.h.
 *
 * What is done for an agent's user is done by an administrator's token in its
 * name (the header Sudo). */
#include <string.h>

#include "base/base64.h"
#include "base/crypto.h"
#include "hosts/host_call.h"

#define API "/api/v1"
enum { PAGE = 50 };

struct gitea_project {
	const char *full_name, *description, *default_branch;
};
FIELDS(gitea_project) = {
	FIELD(gitea_project, full_name, .required = true, BOUNDS(1, HOST_PATH_MAX)),
	FIELD(gitea_project, description, .nullable = true),
	FIELD(gitea_project, default_branch, .nullable = true, BOUNDS(0, 1024)),
};
static SCHEMA(gitea_project, .internal = true);

struct gitea_user {
	int64_t id;
	const char *login, *email;
	bool is_admin;
};
FIELDS(gitea_user) = {
	FIELD(gitea_user, id, .required = true),
	FIELD(gitea_user, login, .required = true, BOUNDS(1, 255)),
	FIELD(gitea_user, email, .nullable = true, BOUNDS(0, 512)),
	FIELD(gitea_user, is_admin, .otherwise = "false"),
};
static SCHEMA(gitea_user, .internal = true);

struct gitea_key {
	const char *key;
};
FIELDS(gitea_key) = {
	FIELD(gitea_key, key, .required = true, BOUNDS(1, 16384)),
};
static SCHEMA(gitea_key, .internal = true);

struct gitea_hook_config {
	const char *url;
};
FIELDS(gitea_hook_config) = {
	FIELD(gitea_hook_config, url, .nullable = true, BOUNDS(0, 4096)),
};
static SCHEMA(gitea_hook_config, .internal = true);

struct gitea_hook {
	int64_t id;
	const struct gitea_hook_config *config;
};
FIELDS(gitea_hook) = {
	FIELD(gitea_hook, id, .required = true),
	FIELD(gitea_hook, config, .nullable = true, .of = &gitea_hook_config_schema),
};
static SCHEMA(gitea_hook, .internal = true);

/* ---- asking ---- */

static struct fetch_header gitea_auth(const struct host *h, struct arena *a)
{
	return (struct fetch_header){ "Authorization", arena_printf(a, "token %s", h->token) };
}

static struct remote_said gitea_ask(const struct host *h, struct arena *a, const char *method,
	const char *path, struct buf *body, const struct schema *s, void *ret,
	struct host_answer *ret_answer)
{
	struct fetch_header auth = gitea_auth(h, a);
	struct host_call call = { .method = method,
		.path = arena_printf(a, API "%s", path),
		.body = body,
		.auth = &auth };

	return s ? host_ask_one(h, a, &call, s, ret, ret_answer)
		 : host_ask(h, a, &call, ret_answer);
}

static struct remote_said gitea_look(const struct host *h, struct arena *a, struct host_about *ret)
{
	struct host_answer answer;
	struct gitea_user me;
	struct remote_said said =
		gitea_ask(h, a, NULL, "/user", NULL, &gitea_user_schema, &me, NULL);

	if (said.end)
		return said;
	*ret = (struct host_about){ me.login, me.is_admin };
	if (!*h->space)
		return said;
	said = gitea_ask(h, a, NULL, arena_printf(a, "/orgs/%s", fetch_escape(a, h->space)), NULL,
		NULL, NULL, &answer);
	if (said.end == REMOTE_MISSING)
		said.why = arena_printf(a,
			"The host has no organisation %s, or the token may not see it.", h->space);
	return said;
}

/* ---- projects ---- */

static struct remote_said take_project(const struct host *h, struct arena *a,
	const struct gitea_project *got, struct host_project *ret)
{
	if (!host_path_valid(got->full_name))
		return remote_garbage(a, "its project has an odd path");
	host_set_project(h, a, got->full_name, got->default_branch, ret);
	return (struct remote_said){ REMOTE_OK, -1, NULL };
}

static struct remote_said adopt_project(const struct host *h, struct arena *a,
	const struct host_wanted *want, const struct host_answer *refusal,
	struct remote_said refused, struct host_project *ret)
{
	const char *owner = h->space;
	struct gitea_project got;
	struct gitea_user me;
	struct remote_said said = { REMOTE_OK, -1, NULL };

	if (!*owner) {
		said = gitea_ask(h, a, NULL, "/user", NULL, &gitea_user_schema, &me, NULL);
		owner = said.end ? "" : me.login;
	}
	if (!said.end)
		said = gitea_ask(h, a, NULL,
			arena_printf(a, "/repos/%s/%s", fetch_escape(a, owner),
				fetch_escape(a, want->name)),
			NULL, &gitea_project_schema, &got, NULL);
	if (said.end == REMOTE_MISSING)
		return host_refused(a, "make the project", refusal, refused);
	if (said.end)
		return said;
	if (!got.description || strcmp(got.description, want->mark) != 0)
		return host_taken(a, "project", arena_printf(a, "%s/%s", owner, want->name));
	said = take_project(h, a, &got, ret);
	ret->was_there = true;
	return said;
}

static struct remote_said gitea_make_project(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct host_project *ret)
{
	const char *path = *h->space ? arena_printf(a, "/orgs/%s/repos", fetch_escape(a, h->space))
				     : "/user/repos";
	struct gitea_project got;
	struct host_answer answer;
	struct remote_said said;
	struct buf body;

	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "name", want->name);
	host_put_text(&body, "description", want->mark);
	host_put_text(&body, "default_branch", "main");
	host_put_raw(&body, "private", "true");
	host_put_raw(&body, "auto_init", "false");
	host_end(&body);
	said = gitea_ask(h, a, "POST", path, &body, &gitea_project_schema, &got, &answer);
	buf_free(&body);
	if (answer.status == 409 || answer.status == 422)
		return adopt_project(h, a, want, &answer, said, ret);
	if (said.end == REMOTE_MISSING)
		said.why = arena_printf(a,
			"The host has no organisation %s, or the token may not see it.", h->space);
	return said.end ? host_refused(a, "make the project", &answer, said)
			: take_project(h, a, &got, ret);
}

static const char *gitea_commit_url(struct arena *a, const char *web_url, const char *commit)
{
	return arena_printf(a, "%s/commit/%s", web_url, commit);
}

/* ---- users ---- */

static struct remote_said find_user(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct gitea_user *ret)
{
	struct remote_said said =
		gitea_ask(h, a, NULL, arena_printf(a, "/users/%s", fetch_escape(a, want->name)),
			NULL, &gitea_user_schema, ret, NULL);

	if (!said.end && (!ret->email || strcmp(ret->email, want->mark) != 0))
		return host_taken(a, "user", want->name);
	return said;
}

/* Nobody signs in with the password. */
static struct remote_said add_user(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct gitea_user *ret, struct host_answer *answer)
{
	enum { RANDOM = 24 };
	struct remote_said said;
	uint8_t random[RANDOM];
	char password[2 * RANDOM + 1];
	struct buf body;

	random_bytes(random, sizeof random);
	hex_write(random, sizeof random, password);
	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "username", want->name);
	host_put_text(&body, "full_name", want->title);
	host_put_text(&body, "email", want->mark);
	host_put_text(&body, "password", arena_printf(a, "Aa1-%s", password));
	host_put_raw(&body, "must_change_password", "false");
	host_put_raw(&body, "send_notify", "false");
	host_end(&body);
	said = gitea_ask(h, a, "POST", "/admin/users", &body, &gitea_user_schema, ret, answer);
	buf_free(&body);
	return said;
}

static struct remote_said gitea_ensure_user(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct host_user *ret)
{
	struct host_answer answer;
	struct gitea_user user;
	struct remote_said said = find_user(h, a, want, &user);

	if (said.end == REMOTE_MISSING) {
		said = add_user(h, a, want, &user, &answer);
		if (said.end == REMOTE_REFUSED)
			said.why = "The host does not let the token manage users: it is not an "
				   "administrator's.";
		if (answer.status == 422) { /* another process was faster */
			said = find_user(h, a, want, &user);
			if (said.end == REMOTE_MISSING)
				said = host_refused(a, "make the user", &answer,
					remote_garbage(a, "it has no user that it says is taken"));
		}
	}
	if (!said.end)
		*ret = (struct host_user){ user.id, want->name };
	return said;
}

static struct remote_said gitea_put_avatar(const struct host *h, struct arena *a,
	const struct host_user *user, const void *png, size_t len)
{
	struct fetch_header auth = gitea_auth(h, a), as = { "Sudo", user->name };
	char *image = arena_alloc(a, 4 * (len / 3 + 1) + 1);
	struct host_answer answer;
	struct remote_said said;
	struct buf body;

	base64_encode(png, len, image);
	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "image", image);
	host_end(&body);
	said = host_ask(h, a,
		&(struct host_call){ .method = "POST",
			.path = API "/user/avatar",
			.body = &body,
			.auth = &auth,
			.extra = &as },
		&answer);
	buf_free(&body);
	return host_refused(a, "take the picture", &answer, said);
}

/* ---- keys ---- */

static bool gitea_key_is(const void *item, const void *sought)
{
	return host_key_same(((const struct gitea_key *)item)->key, sought);
}

static struct remote_said gitea_put_key(const struct host *h, struct arena *a,
	const struct host_user *user, const char *title, const char *key)
{
	struct fetch_header auth = gitea_auth(h, a);
	const char *name = fetch_escape(a, user->name);
	struct host_answer answer;
	const void *found = NULL;
	struct buf body;
	struct remote_said said = host_find(h, a,
		&(struct host_search){ .auth = &auth,
			.path = arena_printf(a, API "/users/%s/keys?limit=%d&page=", name, PAGE),
			.page_items = PAGE,
			.s = &gitea_key_schema,
			.item_size = sizeof(struct gitea_key),
			.is_it = gitea_key_is,
			.sought = key },
		&found);

	if (said.end || found)
		return said;
	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "title", title);
	host_put_text(&body, "key", key);
	host_put_raw(&body, "read_only", "false");
	host_end(&body);
	said = gitea_ask(h, a, "POST", arena_printf(a, "/admin/users/%s/keys", name), &body, NULL,
		NULL, &answer);
	buf_free(&body);
	if (answer.status == 422)
		return host_taken(a, "key", "like it");
	return host_refused(a, "take the key", &answer, said);
}

static struct remote_said gitea_let_in(
	const struct host *h, struct arena *a, const char *project, const struct host_user *user)
{
	struct host_answer answer;
	struct remote_said said;
	struct buf body;

	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "permission", "write");
	host_end(&body);
	said = gitea_ask(h, a, "PUT",
		arena_printf(a, "/repos/%s/collaborators/%s", project, fetch_escape(a, user->name)),
		&body, NULL, NULL, &answer);
	buf_free(&body);
	return host_refused(a, "let the user in", &answer, said);
}

/* ---- hooks ---- */

static bool gitea_hook_is(const void *item, const void *sought)
{
	const struct gitea_hook *hook = item;

	return hook->config && hook->config->url && strcmp(hook->config->url, sought) == 0;
}

static struct remote_said gitea_put_hook(const struct host *h, struct arena *a, const char *project,
	const char *url, const char *secret)
{
	struct fetch_header auth = gitea_auth(h, a);
	const char *path = arena_printf(a, "/repos/%s/hooks", project);
	struct host_answer answer;
	const void *found = NULL;
	struct buf body, config;
	struct remote_said said = host_find(h, a,
		&(struct host_search){ .auth = &auth,
			.path = arena_printf(a, API "%s?limit=%d&page=", path, PAGE),
			.page_items = PAGE,
			.s = &gitea_hook_schema,
			.item_size = sizeof(struct gitea_hook),
			.is_it = gitea_hook_is,
			.sought = url },
		&found);

	if (said.end)
		return said;
	buf_init(&config, HOST_BODY_MAX);
	host_put_text(&config, "url", url);
	host_put_text(&config, "content_type", "json");
	host_put_text(&config, "secret", secret);
	host_end(&config);
	buf_init(&body, HOST_BODY_MAX);
	if (!found)
		host_put_text(&body, "type", "gitea");
	host_put_raw(&body, "active", "true");
	host_put_raw(&body, "events", "[\"push\",\"create\",\"delete\"]");
	host_put_raw(&body, "config", buf_text(&config));
	host_end(&body);
	if (found)
		path = arena_printf(
			a, "%s/%lld", path, (long long)((const struct gitea_hook *)found)->id);
	said = gitea_ask(h, a, found ? "PATCH" : "POST", path, &body, NULL, NULL, &answer);
	buf_free(&config);
	buf_free(&body);
	return host_refused(a, "take the address for pushes", &answer, said);
}

const struct repo_host host_gitea = {
	.word = "gitea",
	.title = "Gitea",
	.look = gitea_look,
	.make_project = gitea_make_project,
	.commit_url = gitea_commit_url,
	.ensure_user = gitea_ensure_user,
	.put_avatar = gitea_put_avatar,
	.put_key = gitea_put_key,
	.let_in = gitea_let_in,
	.put_hook = gitea_put_hook,
};
