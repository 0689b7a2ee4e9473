/* anthropic.h - what the two files of the Anthropic provider share; nobody else includes it. */
#pragma once
#include "broker/provider.h"

void anthropic_read_event(struct reply *r, const char *name, struct slice data);
void anthropic_read_whole(struct reply *r, struct slice body);

/* A chat that came in this very shape goes out as it came (anthropic_splice.c), but for the model, the limit, what is
 * patched and what goes before the system. */
bool anthropic_splices(const struct chat *c);
void anthropic_splice(const struct chat *c, const struct target *t, struct buf *out);
