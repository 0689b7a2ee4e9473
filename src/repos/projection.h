/* projection.h - whether a prompt of an agent, or its file on the main branch, or both have moved since they were last the
 * same; and reading such a file. */
#pragma once
#include "git/bare.h"
#include "repos/prompt_base.h"

enum prompt_side {
	PROMPT_ABSENT,	   /* there is no such file; a link or a folder is none */
	PROMPT_UNREADABLE, /* it is no text, or too long to be a prompt */
	PROMPT_READ,
};

/* A prompt in the repository. */
struct prompt_reading {
	enum prompt_side side;
	const char *text;
};

/* The three sides of the question: the file, the live text (NULL: none), and the digest of what both were last ("": they never
 * were the same). */
struct prompt_sides {
	struct prompt_reading file;
	const char *live, *base;
};

struct prompt_verdict {
	bool present;
	bool diverged; /* the live text was changed here: it is left alone */
	bool pending;  /* it was not: the file's text is to take its place */
	bool settles;  /* both are the same: that is the new base */
};

struct prompt_verdict projection_judge(const struct prompt_sides *sides);

/* The file of a prompt at a commit. */
int projection_read(struct bare *b, const char *commit, int file, struct prompt_reading *ret,
	struct arena *a, struct problem *p);
