/* race.h - requests that arrive at the same moment, each on a thread and a connection of its own. */
#pragma once
#include "fixture.h"

enum { RACERS_MAX = 64 };

struct racer {
	const char *token, *body;
	const char *request; /* "PATCH /agents/c123\nIf-Match: ..." */
	struct answer answer;
};

/* Sends them all at once and waits for the answers. */
void race(struct fixture *f, struct racer *racers, size_t count);
/* How many were answered so. */
int race_count(const struct racer *racers, size_t count, int status);
