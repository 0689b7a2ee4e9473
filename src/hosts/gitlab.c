/* gitlab.c - GitLab's REST, version 4; see host.h.
 *
 * A name that is taken is answered with 400 and not with 409 as its documents
 * say, so that what is there is looked at.  A project that was moved is told by a
 * redirect. */
#include <string.h>

#include "hosts/host_call.h"

#define API "/api/v4"
enum { PAGE = 100 };

struct gitlab_project {
	const char *path_with_namespace, *description, *default_branch;
};
FIELDS(gitlab_project) = {
	FIELD(gitlab_project, path_with_namespace, .required = true, BOUNDS(1, HOST_PATH_MAX)),
	FIELD(gitlab_project, description, .nullable = true),
	FIELD(gitlab_project, default_branch, .nullable = true, BOUNDS(0, 1024)),
};
static SCHEMA(gitlab_project, .internal = true);

struct gitlab_user {
	int64_t id;
	const char *username, *email;
	bool is_admin;
};
FIELDS(gitlab_user) = {
	FIELD(gitlab_user, id, .required = true),
	FIELD(gitlab_user, username, .required = true, BOUNDS(1, 255)),
	FIELD(gitlab_user, email, .nullable = true, BOUNDS(0, 512)),
	FIELD(gitlab_user, is_admin, .otherwise = "false"),
};
static SCHEMA(gitlab_user, .internal = true);

struct gitlab_space {
	int64_t id;
	const char *full_path;
};
FIELDS(gitlab_space) = {
	FIELD(gitlab_space, id, .required = true),
	FIELD(gitlab_space, full_path, .required = true, BOUNDS(1, HOST_PATH_MAX)),
};
static SCHEMA(gitlab_space, .internal = true);

struct gitlab_key {
	const char *key;
};
FIELDS(gitlab_key) = {
	FIELD(gitlab_key, key, .required = true, BOUNDS(1, 16384)),
};
static SCHEMA(gitlab_key, .internal = true);

struct gitlab_hook {
	int64_t id;
	const char *url;
};
FIELDS(gitlab_hook) = {
	FIELD(gitlab_hook, id, .required = true),
	FIELD(gitlab_hook, url, .required = true, BOUNDS(1, 4096)),
};
static SCHEMA(gitlab_hook, .internal = true);

/* ---- asking ---- */

static struct fetch_header gitlab_auth(const struct host *h)
{
	return (struct fetch_header){ "PRIVATE-TOKEN", h->token };
}

static struct remote_said gitlab_ask(const struct host *h, struct arena *a, const char *method,
	const char *path, struct buf *body, const struct schema *s, void *ret,
	struct host_answer *ret_answer)
{
	struct fetch_header auth = gitlab_auth(h);
	struct host_call call = { .method = method,
		.path = arena_printf(a, API "%s", path),
		.body = body,
		.auth = &auth };

	return s ? host_ask_one(h, a, &call, s, ret, ret_answer)
		 : host_ask(h, a, &call, ret_answer);
}

/* Who the token is, and where projects go; its id is NIL for the user's own. */
static struct remote_said gitlab_space(
	const struct host *h, struct arena *a, struct gitlab_user *me, struct gitlab_space *space)
{
	struct remote_said said =
		gitlab_ask(h, a, NULL, "/user", NULL, &gitlab_user_schema, me, NULL);

	if (said.end)
		return said;
	*space = (struct gitlab_space){ NIL, me->username };
	if (!*h->space)
		return said;
	said = gitlab_ask(h, a, NULL, arena_printf(a, "/namespaces/%s", fetch_escape(a, h->space)),
		NULL, &gitlab_space_schema, space, NULL);
	if (said.end == REMOTE_MISSING)
		said.why = arena_printf(
			a, "The host has no group %s, or the token may not see it.", h->space);
	return said;
}

static struct remote_said gitlab_look(const struct host *h, struct arena *a, struct host_about *ret)
{
	struct gitlab_space space;
	struct gitlab_user me;
	struct remote_said said = gitlab_space(h, a, &me, &space);

	if (!said.end)
		*ret = (struct host_about){ me.username, me.is_admin };
	return said;
}

/* ---- projects ---- */

static struct remote_said take_project(const struct host *h, struct arena *a,
	const struct gitlab_project *got, struct host_project *ret)
{
	if (!host_path_valid(got->path_with_namespace))
		return remote_garbage(a, "its project has an odd path");
	host_set_project(h, a, got->path_with_namespace, got->default_branch, ret);
	return (struct remote_said){ REMOTE_OK, -1, NULL };
}

/* 400 may mean that it is taken: then it is there, and is ours or not. */
static struct remote_said adopt_project(const struct host *h, struct arena *a, const char *path,
	const struct host_wanted *want, const struct host_answer *refusal,
	struct remote_said refused, struct host_project *ret)
{
	struct gitlab_project got;
	struct remote_said said =
		gitlab_ask(h, a, NULL, arena_printf(a, "/projects/%s", fetch_escape(a, path)), NULL,
			&gitlab_project_schema, &got, NULL);

	if (said.end == REMOTE_MISSING)
		return host_refused(a, "make the project", refusal, refused);
	if (said.end)
		return said;
	if (!got.description || strcmp(got.description, want->mark) != 0)
		return host_taken(a, "project", path);
	said = take_project(h, a, &got, ret);
	ret->was_there = true;
	return said;
}

static struct remote_said gitlab_make_project(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct host_project *ret)
{
	struct gitlab_space space;
	struct gitlab_project got;
	struct host_answer answer;
	struct gitlab_user me;
	struct buf body;
	struct remote_said said = gitlab_space(h, a, &me, &space);

	if (said.end)
		return said;
	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "name", want->name);
	host_put_text(&body, "path", want->name);
	host_put_text(&body, "description", want->mark);
	host_put_text(&body, "visibility", "private");
	host_put_text(&body, "default_branch", "main");
	host_put_raw(&body, "initialize_with_readme", "false");
	if (space.id != NIL)
		host_put_raw(&body, "namespace_id", arena_printf(a, "%lld", (long long)space.id));
	host_end(&body);
	said = gitlab_ask(h, a, "POST", "/projects", &body, &gitlab_project_schema, &got, &answer);
	buf_free(&body);
	if (answer.status == 400 || answer.status == 409)
		return adopt_project(h, a, arena_printf(a, "%s/%s", space.full_path, want->name),
			want, &answer, said, ret);
	return said.end ? host_refused(a, "make the project", &answer, said)
			: take_project(h, a, &got, ret);
}

static const char *gitlab_commit_url(struct arena *a, const char *web_url, const char *commit)
{
	return arena_printf(a, "%s/-/commit/%s", web_url, commit);
}

/* ---- users ---- */

static bool has_username(const void *item, const void *sought)
{
	return strcmp(((const struct gitlab_user *)item)->username, sought) == 0;
}

static struct remote_said find_user(const struct host *h, struct arena *a,
	const struct host_wanted *want, const struct gitlab_user **ret)
{
	struct fetch_header auth = gitlab_auth(h);
	const void *found = NULL;
	struct remote_said said = host_find(h, a,
		&(struct host_search){ .auth = &auth,
			.path = arena_printf(a, API "/users?username=%s&per_page=%d&page=",
				fetch_escape(a, want->name), PAGE),
			.page_items = PAGE,
			.s = &gitlab_user_schema,
			.item_size = sizeof(struct gitlab_user),
			.is_it = has_username,
			.sought = want->name },
		&found);

	*ret = found;
	if (said.end || !found)
		return said;
	if (!(*ret)->email)
		return (struct remote_said){
			REMOTE_REFUSED, -1,
			"The host does not let the token manage users: it is not an administrator's."
		};
	return strcmp((*ret)->email, want->mark) == 0 ? said : host_taken(a, "user", want->name);
}

static struct remote_said add_user(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct gitlab_user *ret, struct host_answer *answer)
{
	struct remote_said said;
	struct buf body;

	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "username", want->name);
	host_put_text(&body, "name", want->title);
	host_put_text(&body, "email", want->mark);
	host_put_raw(&body, "force_random_password", "true");
	host_put_raw(&body, "skip_confirmation", "true");
	host_put_raw(&body, "can_create_group", "false");
	host_put_raw(&body, "projects_limit", "0");
	host_end(&body);
	said = gitlab_ask(h, a, "POST", "/users", &body, &gitlab_user_schema, ret, answer);
	buf_free(&body);
	return said;
}

static struct remote_said gitlab_ensure_user(const struct host *h, struct arena *a,
	const struct host_wanted *want, struct host_user *ret)
{
	const struct gitlab_user *found;
	struct gitlab_user made;
	struct host_answer answer;
	struct remote_said said = find_user(h, a, want, &found);

	if (!said.end && !found) {
		said = add_user(h, a, want, &made, &answer);
		found = &made;
		if (answer.status == 400 || answer.status == 409) /* another process was faster */
			said = find_user(h, a, want, &found);
		if (!said.end && !found)
			said = host_refused(a, "make the user", &answer,
				remote_garbage(a, "it has no user that it says is taken"));
	}
	if (!said.end)
		*ret = (struct host_user){ found->id, want->name };
	return said;
}

static struct remote_said gitlab_put_avatar(const struct host *h, struct arena *a,
	const struct host_user *user, const void *png, size_t len)
{
	static const char mark[] = "lodge-7d1f0a52c3e94b68";
	struct fetch_header auth = gitlab_auth(h);
	struct host_answer answer;
	struct remote_said said;
	struct buf body;

	buf_init(&body, HOST_BODY_MAX);
	buf_printf(&body,
		"--%s\r\nContent-Disposition: form-data; name=\"avatar\"; filename=\"avatar.png\"\r\n"
		"Content-Type: image/png\r\n\r\n",
		mark);
	buf_put(&body, png, len);
	buf_printf(&body, "\r\n--%s--\r\n", mark);
	said = host_ask(h, a,
		&(struct host_call){ .method = "PUT",
			.path = arena_printf(a, API "/users/%lld", (long long)user->id),
			.body = &body,
			.type = arena_printf(a, "multipart/form-data; boundary=%s", mark),
			.auth = &auth },
		&answer);
	buf_free(&body);
	return host_refused(a, "take the picture", &answer, said);
}

/* ---- keys ---- */

static bool gitlab_key_is(const void *item, const void *sought)
{
	return host_key_same(((const struct gitlab_key *)item)->key, sought);
}

static struct remote_said gitlab_put_key(const struct host *h, struct arena *a,
	const struct host_user *user, const char *title, const char *key)
{
	struct fetch_header auth = gitlab_auth(h);
	const char *path = arena_printf(a, "/users/%lld/keys", (long long)user->id);
	struct host_answer answer;
	const void *found = NULL;
	struct buf body;
	struct remote_said said = host_find(h, a,
		&(struct host_search){ .auth = &auth,
			.path = arena_printf(a, API "%s?per_page=%d&page=", path, PAGE),
			.page_items = PAGE,
			.s = &gitlab_key_schema,
			.item_size = sizeof(struct gitlab_key),
			.is_it = gitlab_key_is,
			.sought = key },
		&found);

	if (said.end || found)
		return said;
	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "title", title);
	host_put_text(&body, "key", key);
	host_end(&body);
	said = gitlab_ask(h, a, "POST", path, &body, NULL, NULL, &answer);
	buf_free(&body);
	if (answer.status == 400)
		return host_taken(a, "key", "like it");
	return host_refused(a, "take the key", &answer, said);
}

static struct remote_said gitlab_let_in(
	const struct host *h, struct arena *a, const char *project, const struct host_user *user)
{
	enum { DEVELOPER = 30 };
	struct host_answer answer;
	struct remote_said said;
	struct buf body;

	buf_init(&body, HOST_BODY_MAX);
	host_put_raw(&body, "user_id", arena_printf(a, "%lld", (long long)user->id));
	host_put_raw(&body, "access_level", arena_printf(a, "%d", DEVELOPER));
	host_end(&body);
	said = gitlab_ask(h, a, "POST",
		arena_printf(a, "/projects/%s/members", fetch_escape(a, project)), &body, NULL,
		NULL, &answer);
	buf_free(&body);
	if (answer.status == 409) /* it is one already */
		return (struct remote_said){ REMOTE_OK, -1, NULL };
	return host_refused(a, "let the user in", &answer, said);
}

/* ---- hooks ---- */

static bool gitlab_hook_is(const void *item, const void *sought)
{
	return strcmp(((const struct gitlab_hook *)item)->url, sought) == 0;
}

static struct remote_said gitlab_put_hook(const struct host *h, struct arena *a,
	const char *project, const char *url, const char *secret)
{
	struct fetch_header auth = gitlab_auth(h);
	const char *path = arena_printf(a, "/projects/%s/hooks", fetch_escape(a, project));
	struct host_answer answer;
	const void *found = NULL;
	struct buf body;
	struct remote_said said = host_find(h, a,
		&(struct host_search){ .auth = &auth,
			.path = arena_printf(a, API "%s?per_page=%d&page=", path, PAGE),
			.page_items = PAGE,
			.s = &gitlab_hook_schema,
			.item_size = sizeof(struct gitlab_hook),
			.is_it = gitlab_hook_is,
			.sought = url },
		&found);

	if (said.end)
		return said;
	if (found)
		path = arena_printf(
			a, "%s/%lld", path, (long long)((const struct gitlab_hook *)found)->id);
	buf_init(&body, HOST_BODY_MAX);
	host_put_text(&body, "url", url);
	host_put_text(&body, "token", secret);
	host_put_raw(&body, "push_events", "true");
	host_put_raw(&body, "tag_push_events", "true");
	host_put_raw(&body, "enable_ssl_verification", "true");
	host_end(&body);
	said = gitlab_ask(h, a, found ? "PUT" : "POST", path, &body, NULL, NULL, &answer);
	buf_free(&body);
	return host_refused(a, "take the address for pushes", &answer, said);
}

const struct repo_host host_gitlab = {
	.word = "gitlab",
	.title = "GitLab",
	.look = gitlab_look,
	.make_project = gitlab_make_project,
	.commit_url = gitlab_commit_url,
	.ensure_user = gitlab_ensure_user,
	.put_avatar = gitlab_put_avatar,
	.put_key = gitlab_put_key,
	.let_in = gitlab_let_in,
	.put_hook = gitlab_put_hook,
};
