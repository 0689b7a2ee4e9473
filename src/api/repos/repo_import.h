/* repo_import.h - the files of a new repository: its first commit, or a copy of one on another host. */
#pragma once
#include "api/repos/repo_remote.h"
#include "repos/prompt_file.h"

/* What is carried from one step to the next. */
struct repo_making {
	struct prompt_texts prompts; /* as they went into it */
	const char *name, *email;
	struct id id;
	char tip[BARE_ID_LEN + 1];
	int64_t size_bytes;
	bool taken_over;	 /* it is a project that was there */
	bool same[PROMPT_FILES]; /* the prompt is what its file says */
};

/* Both wait: the first for the disk, the second for the host too. */
int repo_make_first(struct call *c, struct repo_making *m);
int repo_make_copy(struct call *c, struct repo_making *m, const char *url, const char *token);
