/* push_relay.h - a push that comes as a conversation, over ssh: git speaks first, the client's commands are judged before git sees
 * them, and then both are passed on to each other. */
#pragma once
#include "git/git_child.h"
#include "git/push_commands.h"

enum push_relay_end {
	RELAY_DONE,    /* git heard the push; what it did stands in `push` */
	RELAY_REFUSED, /* by us; the client has been told */
	RELAY_BROKEN,  /* git or the client went, or it took too long; what was done is not known */
};

/* Asked once the commands are judged, and before git hears them: how many bytes may follow.  Or why it is not to be, as git shows it
 * beside each ref.  May wait. */
struct push_gate {
	const char *(*enter)(void *ctx, struct push *p, int64_t *ret_room);
	void *ctx;
};

/* From `from` to git and from git to `to`; complaints go to standard error. */
enum push_relay_end push_relay(const struct git_setup *setup, const struct push_gate *gate,
	const int ends[2], int wall_ms, struct push *ret, struct arena *a, const char **ret_fault);
