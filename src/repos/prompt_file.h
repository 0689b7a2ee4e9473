/* prompt_file.h - the prompts of an agent as files of its repository: which file is which, and what the text of a file is. */
#pragma once
#include "base/arena.h"
#include "contract/schema.h"

enum { PROMPT_FILES = 3, PROMPT_FILE_MAX = CEILING_PROMPT + 4 /* a mark and a newline besides */ };

struct prompt_file {
	const char *path, *field; /* in the repository; of the agent */
};
extern const struct prompt_file prompt_files[PROMPT_FILES];
/* By its path; -1: it is none. */
int prompt_file_of(const char *path);

/* The prompts of an agent, in that order; NULL: it has none. */
struct prompt_texts {
	const char *of[PROMPT_FILES];
};

/* What a file says: without a byte order mark and its last newline, with newlines alone.  NULL if it is not UTF-8, has a NUL
 * in it, or is longer than a prompt may be. */
const char *prompt_file_text(struct arena *a, const char *bytes, size_t len);
/* A prompt as a file: with a newline at its end. */
const char *prompt_file_bytes(struct arena *a, const char *text);
