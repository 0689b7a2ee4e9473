/* run_events.h - a run told as the events that OpenAI's assistants know, in the order their clients demand. */
#pragma once
#include "openai/run_watch.h"

struct run_story;

/* A story of the run as it is now; all in the call's arena.  `thread` is told first where the run made it, or
 * NULL.  `going_on`: it is one that rested, and `words` are those it had until then. */
struct run_story *run_story_new(struct call *c, const struct RunObject *run,
	const struct ThreadObject *thread, bool going_on, const struct list *words);
extern const struct run_listener run_story_listener;
