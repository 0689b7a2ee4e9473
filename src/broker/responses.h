/* responses.h - what the two files of the responses provider share; nobody else includes it. */
#pragma once
#include "broker/provider.h"

void responses_read_event(struct reply *r, const char *name, struct slice data);
void responses_read_whole(struct reply *r, struct slice body);
