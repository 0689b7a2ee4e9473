/* anthropic.h - what the two files of the Anthropic provider share; nobody else includes it. */
#pragma once
#include "broker/provider.h"

void anthropic_read_event(struct reply *r, const char *name, struct slice data);
void anthropic_read_whole(struct reply *r, struct slice body);
