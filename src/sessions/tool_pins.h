/* tool_pins.h - the arguments a tool is given: the model's, with what is set for the agent in their places.
 *
 * Whoever shows a call and whoever makes it asks here, so that both have the
 * same.  What is secret of it is masked in what is shown. */
#pragma once
#include "access/vault.h"
#include "base/json_tree.h"
#include "sessions/agent_tools.h"

enum { TOOL_PIN_MARK = 65 };

struct tool_pinned {
	const char *arguments;		  /* to be sent: they may hold secrets */
	const char *shown;		  /* the same with secrets masked */
	const char *names;		  /* of those that are set for the agent, a JSON list */
	const struct json_node *settings; /* all that is set for the agent; NULL: nothing */
	bool masked;
};

/* NULL, or a sentence for the model why the tool cannot be called.  The arena holds secrets from then on: wipe it. */
const char *tool_pin(struct vault *vault, struct arena *a, const struct held_tool *tool,
	const char *arguments, struct tool_pinned *ret);

/* Another one if what is sent, or the tool, is another.  It gives no secret away: of a masked value it holds the seal. */
void tool_pin_mark(
	const struct held_tool *tool, const struct tool_pinned *pinned, char out[TOOL_PIN_MARK]);
