/* image_build.h - a commit of an image repository becomes an image, by buildah. */
#pragma once
#include "git/bare.h"
#include "serve/image_child.h"

struct image_order {
	struct bare *repo;
	const char *commit;
	const char *base; /* another base image; NULL: the one that the commit names */
	const char *push; /* HOST/NAME:TAG to push it to; NULL: it goes to the archive */
	int archive;	  /* open for writing; -1: none */
	struct image_user user;
};

/* What the machine lacks for that user to build, with what mends it; 0 if nothing. */
int image_build_check(struct image_user user, struct arena *a, struct problem *p);
/* *ret_digest is that of the image, sha256:...; waits for the whole build. */
int image_build(const struct image_order *order, const char **ret_digest, struct arena *a,
	struct problem *p);
