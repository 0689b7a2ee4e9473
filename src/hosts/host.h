/* host.h - hosts of repositories that are other programs, as siblings: one table of functions for each kind.
 *
 * What git's own wire can do is not here: refs, files and commits are read from
 * a mirror.  These are the few things that only the host's REST can: make a project,
 * a user for an agent, its picture and its key, and say where it is to tell of
 * pushes.  Nothing is ever removed there.  Everything waits: never on a loop. */
#pragma once
#include "outside/remote_end.h"

enum {
	HOST_ANSWER_MAX = 8 << 20,
	HOST_TOTAL_MS = 10000,
	HOST_PAGES_MAX = 50,
	HOST_NAME_MAX = 100, /* of a project or user */
	HOST_PATH_MAX = 512, /* with what it lies in */
};

struct repo_host;

/* One of them, as whoever runs the service has set it. */
struct host {
	const struct repo_host *kind;
	const char *url;   /* of its front page, without a slash at its end */
	const char *token; /* that may make projects and, for users, is an administrator's */
	const char *
		space; /* the group or organisation in which projects are made; "": the token's own user */
	enum egress egress;
	const _Atomic bool *stop;
	fetch_fn *fetch; /* NULL: fetch_run() */
};

struct host_about {
	const char *user;
	bool manages_users; /* the token may */
};

/* What is asked for.  The mark tells ours from others': what is there already is taken over if it has the same one. */
struct host_wanted {
	const char *name;
	const char *other; /* a name for where the first is somebody else's; NULL: none */
	const char *title; /* for people */
	const char *mark;  /* of a project its description, of a user the address of mail */
};

struct host_project {
	const char *path; /* group/name, by which the host knows it */
	const char *clone_url, *web_url;
	const char *main; /* its main branch, or NULL while it has none */
	bool was_there;
};

struct host_user {
	int64_t id;
	const char *name;
};

struct repo_host {
	const char *word, *title;
	/* Whose the token is, and whether projects may be put where they are to be. */
	struct remote_said (*look)(const struct host *h, struct arena *a, struct host_about *ret);
	/* Makes a project, or takes over one that is ours; REMOTE_TAKEN where the name is somebody else's. */
	struct remote_said (*make_project)(const struct host *h, struct arena *a,
		const struct host_wanted *want, struct host_project *ret);
	const char *(*commit_url)(struct arena *a, const char *web_url, const char *commit);
	struct remote_said (*ensure_user)(const struct host *h, struct arena *a,
		const struct host_wanted *want, struct host_user *ret);
	struct remote_said (*put_avatar)(const struct host *h, struct arena *a,
		const struct host_user *user, const void *png, size_t len);
	/* Does nothing where the user has it. */
	struct remote_said (*put_key)(const struct host *h, struct arena *a,
		const struct host_user *user, const char *title, const char *key);
	/* The user may read and push there; does nothing where it may. */
	struct remote_said (*let_in)(const struct host *h, struct arena *a, const char *project,
		const struct host_user *user);
	/* Pushes are told to the URL with the secret; one that is set to the same URL is changed. */
	struct remote_said (*put_hook)(const struct host *h, struct arena *a, const char *project,
		const char *url, const char *secret);
};
extern const struct repo_host host_gitlab, host_gitea;
/* NULL where there is no such kind. */
const struct repo_host *host_kind(const char *word);

/* The names and marks of what is made for an agent. */
struct host_wanted host_project_of(
	struct arena *a, const char *tenant_slug, const char *agent_slug, const char *agent_id);
struct host_wanted host_image_of(
	struct arena *a, const char *tenant_slug, const char *agent_slug, const char *agent_id);
struct host_wanted host_user_of(struct arena *a, const char *agent_name, const char *agent_id);
/* The path of a project, of the address that it is cloned from; NULL: it is not on this host. */
const char *host_path_of(const struct host *h, struct arena *a, const char *clone_url);
/* Makes the project of an agent; where its name is somebody else's, by the other one. */
struct remote_said host_make(const struct host *h, struct arena *a, const struct host_wanted *want,
	struct host_project *ret);
