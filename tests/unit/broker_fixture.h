/* broker_fixture.h - replies of providers as they are recorded, and events written down as text. */
#pragma once
#include "broker/provider.h"
#include "t.h"

/* A reply as bytes, and the events it must become, one a line:
 *   start ID MODEL | text T | thought T | seal T [redacted] | call N ID NAME | args N T | end N
 *   usage IN READ WRITTEN OUT REASONING [estimated] | finish REASON | error CLASS */
struct recording {
	const char *name;
	const struct provider *provider;
	const char *type; /* of the content */
	const char *bytes;
	const char *events;
};

extern const struct recording recordings[];
extern const size_t recording_count;

struct transcript {
	struct buf text;
	struct fault fault; /* of the last error */
	int ends;	    /* how often it finished or failed */
	bool failed;
};

void transcript_open(struct transcript *t);
void transcript_close(struct transcript *t);
/* A sink's function. */
void transcript_take(void *transcript, const struct event *e);
const char *transcript_text(struct transcript *t);

enum { BROKER_FIXTURE_PROMPT = 100 }; /* the estimate of the prompt that the fixture hands over */

/* Feeds the bytes in two pieces, cut at `at`. */
void broker_fixture_read(struct transcript *t, const struct provider *p, const char *type,
	const char *bytes, size_t len, size_t at);
/* All of a recording at once; true if the events are as they must be. */
bool broker_fixture_agrees(const struct recording *rec);
