/* openai.h - what the files of the two OpenAI providers share; nobody else includes it. */
#pragma once
#include "broker/provider.h"

void openai_read_event(struct reply *r, const char *name, struct slice data);
void openai_read_whole(struct reply *r, struct slice body);

/* The members of a function: name, description, parameters, strict. */
void openai_write_tool(const struct chat_tool *t, struct buf *out);
/* Tools that are no functions, for providers of this kind; false: there are none.  Unless it is the first of the
 * list, a comma goes before it. */
bool openai_write_hosted(const struct chat *c, const char *kind, bool first, struct buf *out);
/* tool_choice and parallel_tool_calls, each with a comma before it; what stands around the name of a
 * chosen tool is another in each API. */
void openai_write_choice(const struct chat *c, const char *kind, const char *before,
	const char *after, struct buf *out);
/* temperature and top_p, each with a comma before it. */
void openai_write_sampling(const struct chat *c, struct buf *out);
/* A usage object of either API, or whatever stands in its place, at j; which figures were said. */
unsigned openai_read_usage(struct json_reader *j, struct usage *ret);
