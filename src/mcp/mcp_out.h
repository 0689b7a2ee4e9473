/* mcp_out.h - what clients of the Model Context Protocol are answered: results, errors, notices. */
#pragma once
#include "call/call.h"
#include "mcp/mcp_post.h"

/* One message that is being answered. */
struct mcp_turn {
	struct call *c;
	const struct mcp_post *post;
	const struct mcp_spoken *said;
	struct buf *out;
	int status; /* of HTTP, were it the only one */
};

/* The beginning of a result, up to its members; each result has at least one of its own.  And its end. */
void mcp_result_begin(struct buf *out, bool modern, const char *id);
void mcp_result_end(struct buf *out);
/* How long a client may keep it, for the caller alone: a member after another. */
void mcp_put_cache(struct buf *out, bool modern, int ttl_ms);
/* A member: a comma where one is due, the name, and a text; NULL is none at all. */
void mcp_put_text(struct buf *out, const char *name, const char *text);

void mcp_put_error(struct buf *out, const char *id, const struct mcp_fault *f);
/* The status that goes with an error. */
int mcp_error_status(bool modern, enum mcp_code code);
/* Answers a turn with an error, which is an answer: 0. */
int mcp_turn_fail(struct mcp_turn *t, enum mcp_code code, const char *message);

/* The cursor of a list's next page, which goes on after `after`; and what one that was handed out for this list in this
 * tenant goes on after, NULL if it is none. */
const char *mcp_cursor(struct call *c, const char *list, const char *after);
const char *mcp_cursor_read(struct call *c, const char *list, const char *cursor);

/* The whole result of a tool that failed: a sentence that the model reads. */
void mcp_put_tool_error(struct buf *out, bool modern, const char *id, const char *sentence);
/* The whole result of a tool whose structured content, JSON text, is all that it says. */
void mcp_put_tool_json(struct buf *out, bool modern, const char *id, const char *json);

/* A problem in one text: the sentence, and what is wrong with which field. */
const char *mcp_problem_text(struct arena *a, const struct problem *p);
