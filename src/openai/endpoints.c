/* endpoints.c - POST /v1/embeddings, /v1/audio/speech and /v1/audio/transcriptions, as OpenAI's.
 *
 * The body is read once; `look` decides who may have what called.  The rest
 * is a model call like any other (endpoint_call.h). */
#include "openai/endpoints.h"

#include <string.h>

#include "broker/openai_out.h"
#include "call/operation.h"
#include "openai/endpoint_call.h"
#include "openai/openai_events.h"

static void note_fault(struct endpoint_call *e, int err)
{
	if (err && !*e->fault.message)
		strcpy(e->fault.message, "The body could not be read.");
}

static void read_embeddings(struct call *c)
{
	struct endpoint_call *e = c->own = arena_new(c->arena, struct endpoint_call);

	note_fault(e, endpoint_read_json(&e->request, ModelEndpoint_embeddings, c->arena, c->raw,
			      c->raw_len, &e->fault));
}

static void read_speech(struct call *c)
{
	struct endpoint_call *e = c->own = arena_new(c->arena, struct endpoint_call);

	note_fault(e, endpoint_read_json(&e->request, ModelEndpoint_speech, c->arena, c->raw,
			      c->raw_len, &e->fault));
}

static void read_transcription(struct call *c)
{
	struct endpoint_call *e = c->own = arena_new(c->arena, struct endpoint_call);

	note_fault(e, endpoint_read_form(&e->request, c->arena,
			      http_header(&c->x->request, "content-type"), c->raw, c->raw_len,
			      &e->fault));
}

static enum http_verdict answer_endpoint_fault(struct call *c)
{
	const struct endpoint_call *e = c->own;

	c->x->reply.status = 400;
	c->x->reply.type = "application/json";
	openai_write_error(400, e->fault.message, *e->fault.param ? e->fault.param : NULL,
		"invalid_request", &c->x->reply.body);
	buf_putc(&c->x->reply.body, '\n');
	return HTTP_REPLIED;
}

static int endpoint_look(struct call *c)
{
	struct endpoint_call *e = c->own;
	const char *model;
	int err;

	if (*e->fault.message && arena_full(c->arena))
		return ERR_BUSY; /* it is not the body's fault */
	if (*e->fault.message) {
		c->deferred = answer_endpoint_fault;
		return 0;
	}
	model = text_plain(c->arena, e->request.model);
	err = gateway_tenant(c);
	if (!err)
		err = gateway_find(c, model, PERM_SESSION_WRITE, &e->named);
	if (!err && e->request.endpoint == ModelEndpoint_speech)
		err = speech_permitted(c);
	if (err)
		return err;
	e->request.voice = e->named.voice;
	err = endpoint_call_begin(e, c);
	/* What the tenant does not reach is not there. */
	if (err && !e->named.agent_id && c->problem.code &&
		strcmp(c->problem.code, "model_not_reached") == 0)
		return gateway_unknown(c, model);
	return err;
}

#define JSON_BODY                        \
	.takes = (const char *const[])   \
	{                                \
		"application/json", NULL \
	}

OPERATION(createEmbedding, NONE, NONE, JSON_BODY, .gives = "application/json",
	.raw_body = &EmbeddingCreate_schema, .raw_reply = &EmbeddingList_schema,
	.header = "Lodge-Dropped", .open_query = true, .read = read_embeddings,
	.look = endpoint_look)
{
	return call_fail(c, ERR_INTERNAL, "A model call has no second step.");
}

OPERATION(createSpeech, NONE, NONE, JSON_BODY, .gives = "audio/mpeg", .may_give = endpoint_sounds,
	.raw_body = &SpeechCreate_schema, .header = "Lodge-Dropped", .streams = true,
	.events = &speech_event_stream, .open_query = true, .read = read_speech,
	.look = endpoint_look)
{
	return call_fail(c, ERR_INTERNAL, "A model call has no second step.");
}

OPERATION(createTranscription, NONE, NONE,
	.takes = (const char *const[]){ "multipart/form-data", NULL }, .gives = "application/json",
	.may_give = (const char *const[]){ "text/plain", NULL },
	.raw_body = &TranscriptionCreate_schema, .raw_reply = &Transcription_schema,
	.header = "Lodge-Dropped", .streams = true, .events = &transcript_event_stream,
	.open_query = true, .read = read_transcription, .look = endpoint_look)
{
	return call_fail(c, ERR_INTERNAL, "A model call has no second step.");
}

#define CALL_OF_MODEL                                                                           \
	.unaudited = "each call is entered in the ledger", .tag = "OpenAI", .as_printed = true, \
	.openai = true, .patient = true

static const struct route routes[] = {
	{ METHOD_POST, "/v1/embeddings", &createEmbedding, PERM_LOGIN, 200, CALL_OF_MODEL,
		.max_body = (size_t)32 << 20,
		.doc = "Have a model turn texts into vectors, as OpenAI's embeddings do." },
	{ METHOD_POST, "/v1/audio/speech", &createSpeech, PERM_LOGIN, 200, CALL_OF_MODEL,
		.max_body = (size_t)1 << 20,
		.doc = "Have a text spoken, as OpenAI's speech does: sound as it is made, or a stream "
		       "of events." },
	{ METHOD_POST, "/v1/audio/transcriptions", &createTranscription, PERM_LOGIN, 200,
		CALL_OF_MODEL, .max_body = ENDPOINT_FILE_MAX + ((size_t)1 << 20),
		.doc = "Have sound written down, as OpenAI's transcriptions do: whole, or as a stream "
		       "of events." },
};
RESOURCE(endpoints, routes, NULL, &endpoint_call_sql);
