/* anthropic_input.h - the arguments of a call as Anthropic's shape has them: an object, and not its text. */
#pragma once
#include "base/arena.h"
#include "broker/text.h"

/* The arguments (JSON text, escaped as a string) as an object.  A model that wrote something else is shown what it
 * wrote. */
void anthropic_write_input(struct arena *a, struct slice arguments, struct buf *out);
