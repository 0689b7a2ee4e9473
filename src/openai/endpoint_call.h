/* endpoint_call.h - embeddings, speech and transcriptions: a call that is no chat, from its candidates to its last
 * byte.
 *
 * Until a model answers the reply is open, so that a failure has its status.
 * Sound and events are sent as they come and not held; everything else goes
 * out whole.  Who asks, and in which shape errors are told, is the
 * operation's. */
#pragma once
#include "broker/endpoint.h"
#include "openai/gateway.h"
#include "openai/model_stream.h"

struct endpoint_call {
	struct model_stream stream; /* first */
	struct chat chat;
	struct endpoint_request request;
	struct chat_error fault; /* of the body */
	struct candidates candidates;
	struct gateway_named named;
	const char *session_id; /* whose message it is about, or NULL */
	const char *media;	/* of what comes, once a model answers */
};

/* Finds who may answer, and has the call answered by them; from `look` or at the end of `apply`. */
int endpoint_call_begin(struct endpoint_call *e, struct call *c);
/* ERR_FORBIDDEN with a sentence, where the tenant has no speech. */
int speech_permitted(struct call *c);

extern const struct statement_set endpoint_call_sql;
