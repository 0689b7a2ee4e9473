/* hook_text.h - how an event is put before a model: as data that strangers wrote, never as orders. */
#pragma once
#include <stddef.h>

#include "base/arena.h"

enum { HOOK_RAW_MAX = 64 * 1024 }; /* bytes of the event itself in a message */

struct hook_said {
	const char *source;	  /* "GitHub"; NULL: a program, through a skill's webhook */
	const char *label;	  /* of the integration or webhook */
	const char *skill;	  /* its name, or NULL */
	const char *instructions; /* of whoever set the integration up, or NULL */
	const char *digest;	  /* may be empty */
	const char *body;	  /* JSON */
};

/* The message, and what the model is told beside its prompt.  What was sent stands between two lines
 * with a mark that nobody could have known. */
void hook_text(struct arena *a, const struct hook_said *in, const char **ret_message,
	const char **ret_rules);
