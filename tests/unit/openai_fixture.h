/* openai_fixture.h - an assistant whose model is the program's own, and what its tests ask again and again. */
#pragma once
#include "fixture.h"

struct openai_fixture {
	struct fixture *f;
	const char *agent_id, *slug;
};

void openai_open(struct openai_fixture *s);
void openai_close(struct openai_fixture *s);
/* A request in that shape; `request` as in ask(). */
struct answer openai_ask(struct openai_fixture *s, const char *body, const char *request, ...)
	__attribute__((format(printf, 3, 4)));
/* Reads the run until it rests; fails the test if that takes too long. */
struct answer openai_rest(struct openai_fixture *s, const char *thread_id, const char *run_id);
/* A streamed answer: the names of its events with spaces between, those that repeat said once. */
const char *openai_told(struct openai_fixture *s, const struct answer *r);
/* The data of the last event of that name, or NULL. */
json_t *openai_event(struct openai_fixture *s, const struct answer *r, const char *name);
