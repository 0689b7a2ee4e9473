/* image_files.h - what the image repository of an agent begins with: four files, which say how a container image is made of the
 * platform's base image and of the packages that the agent needs.  Texts alone: nothing here reads or writes any. */
#pragma once
#include "base/arena.h"
#include "git/bare.h"

/* Whose pipelines build it. */
enum image_pipeline { IMAGE_GITLAB, IMAGE_GITEA, IMAGE_GITHUB };
extern const char *const image_pipelines[]; /* their words; the last is NULL */

struct image_choice {
	const char *base; /* image_base_is_pinned() */
	int pipeline;	  /* enum image_pipeline */
};

/* A plain Python, for all machines: the digest is that of its index. */
#define IMAGE_BASE                                          \
	"docker.io/library/python:3.12.14-slim-bookworm@"   \
	"sha256:782412e85d0f0984994c290652577d4018aff08145" \
	"c85b262bb63dc0c7522254"

/* How long HOST[:PORT]/NAME is at the beginning of the text; 0: it is none. */
size_t image_name_length(const char *text);
/* Nothing but that, or with a tag. */
bool image_name_is_whole(const char *text, bool *ret_tagged);
/* HOST[:PORT]/NAME:TAG@sha256:DIGEST, all of it. */
bool image_base_is_pinned(const char *text);

enum { IMAGE_FILES = 4, IMAGE_BASE_MAX = 500 };
void image_files(
	struct arena *a, const struct image_choice *choice, struct bare_file ret[IMAGE_FILES]);
