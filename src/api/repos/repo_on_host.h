/* repo_on_host.h - a new repository on the host that the settings name: its project there, what it begins with, and that the host
 * tells of pushes.
 *
 * A project that is this agent's by its mark is taken over as it stands, so that
 * whoever asks again after a process died in the middle, or after the repository
 * was let go of, has it.  It is made and filled with the operator's token, which
 * no row keeps. */
#pragma once
#include "api/repos/repo_import.h"
#include "hosts/host.h"

/* What is carried from one step to the next. */
struct repo_project {
	struct host host; /* its kind is NULL where the service itself is the host */
	struct host_wanted want;
	struct host_project made;
	const char *hook; /* the secret with which the host tells of pushes; NULL: it does not */
};

/* In `look`: what is to be made, and on whose threads `prepare` waits. */
int repo_project_look(
	struct call *c, const char *agent_slug, enum RepoPurpose purpose, struct repo_project *p);

/* All of these wait for the host and for git.  409 where the names are somebody else's or the project holds something else, 502
 * where the host does not do it; no folder is left then. */

/* The agent's prompts as the first commit, or with an address a copy of what is there. */
int repo_make_on_host(struct call *c, struct repo_making *m, struct repo_project *p,
	const char *import_url, const char *token);
/* The project for an image; `first` makes the first commit here, which is pushed unless the project has a main branch. */
int repo_make_image_on_host(struct call *c, struct repo_project *p, struct id *id,
	char tip[BARE_ID_LEN + 1], int (*first)(struct call *c));

/* In the transaction: what the row has of the host, and its user there is let in. */
int repo_project_put(struct call *c, const struct repo_project *p, struct repository *row);
