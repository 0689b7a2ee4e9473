/* repo_fixture.h - agents with repositories, and commits to them as whoever pushes makes them: by git itself. */
#pragma once
#include "fixture.h"

/* An agent with the prompts "Be kind.", none, "Hello." and a repository with them. */
const char *repo_agent(struct fixture *f, const char *slug);
/* The folder of its repository. */
const char *repo_folder_of(struct fixture *f, const char *agent_id);
/* What a command of the shell prints, run there. */
const char *repo_said(struct fixture *f, const char *agent_id, const char *command, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of its image repository. */
const char *image_folder_of(struct fixture *f, const char *agent_id);
const char *image_said(struct fixture *f, const char *agent_id, const char *command);
/* Commits a file to the main branch; NULL removes it. */
void repo_push(struct fixture *f, const char *agent_id, const char *path, const char *text);
/* The steps of the job, with a change of the agent between the reading and the writing; or NULL. */
void repo_converge(struct fixture *f, const char *agent_id, const char *patch_between);
/* Whether there is anything for it to do. */
bool repo_follows(struct fixture *f, const char *agent_id);
/* Folders of repositories on the disk, whoever names them. */
int repo_folders(const struct fixture *f);
