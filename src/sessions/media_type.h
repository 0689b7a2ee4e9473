/* media_type.h - what bytes are, told by themselves wherever that can be. */
#pragma once
#include "base/arena.h"

/* One of the kinds of image that every provider reads, or NULL. */
const char *media_image_type(const unsigned char *bytes, size_t len);
const char *media_sound_type(const unsigned char *bytes, size_t len);
/* Of any file: `claimed` counts where the bytes do not tell, NULL where they tell otherwise. */
const char *media_file_type(
	struct arena *a, const char *claimed, const unsigned char *bytes, size_t len);
/* What a file that somebody kept is shown to models as: never NULL, and a sound only if it is one. */
const char *media_shown_type(
	struct arena *a, const char *claimed, const unsigned char *bytes, size_t len);
