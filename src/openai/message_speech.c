/* message_speech.c - GET .../messages/{message_id}/speech: a message of a session read aloud, in the agent's
 * voice, by the first model of its chain that speaks. */
#include <string.h>

#include "api/sessions/session_rows.h"
#include "call/operation.h"
#include "openai/endpoint_call.h"

/* The voice of who has none: the first of OpenAI's, which those who speak like it know too. */
#define PLAIN_VOICE "alloy"

static const char *const SpeechFormat_list[] = { "mp3", "opus", "aac", "flac", "wav", "pcm", NULL };
static const struct words SpeechFormat_words = { .list = SpeechFormat_list,
	.doc = "How sound is written." };

struct speech_query {
	const char *voice;
	int response_format;
};

FIELDS(speech_query) = {
	FIELD(speech_query, voice, BOUNDS(1, 128), .example = "\"alloy\"",
		.doc = "Whose voice; the agent's unless said, and alloy for one that has none."),
	FIELD(speech_query, response_format, .words = &SpeechFormat_words, .otherwise = "\"mp3\"",
		.doc = "How the sound is written."),
};
static SCHEMA(speech_query, .doc = "How a message is read aloud.");

enum { AGENT_VOICE };

static const struct statement sql[] = {
	[AGENT_VOICE] = { "speech_agent_voice",
		"select coalesce(voice, '') as value from agents where tenant_id = $1 and id = $2",
		.row = &one_text_schema },
};
STATEMENT_SET(message_speech_sql, sql);

static int find_voice(struct call *c, const char *asked, const char **ret)
{
	struct one_text row;
	int err;

	*ret = asked;
	if (asked)
		return 0;
	err = db_one(c->db, c->arena, &sql[AGENT_VOICE], &row,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
	*ret = !err && *row.value ? row.value : PLAIN_VOICE;
	return err;
}

/* The words of the message, if there are any. */
static int read_words(struct call *c, const char **ret)
{
	struct TaskMessageRead message;
	int err = message_row_read(c, c->caller.session_id, call_param(c, "message_id"), &message);

	if (err)
		return err;
	if (message.status == MessageStatus_streaming)
		return call_fail(c, ERR_CONFLICT, "The message is still being written.");
	if (!message.content || !*message.content)
		return call_fail(c, ERR_CONFLICT, "The message has no words to read aloud.");
	*ret = message.content;
	return 0;
}

/* Whoever only asks what would come has nothing spoken. */
static enum http_verdict answer_head(struct call *c)
{
	const struct endpoint_call *e = c->own;

	c->x->reply.status = 200;
	c->x->reply.type = endpoint_sound_type(e->request.format);
	return HTTP_REPLIED;
}

QUERY_OPERATION(readMessageAloud, speech_query, NONE, .gives = "audio/mpeg",
	.may_give = endpoint_sounds, .untagged = true)
{
	struct endpoint_call *e = c->own = arena_new(c->arena, struct endpoint_call);
	const char *words = NULL, *voice = NULL;
	int err = speech_permitted(c);

	if (!err)
		err = read_words(c, &words);
	if (!err)
		err = find_voice(c, in->voice, &voice);
	if (err)
		return err;
	if (endpoint_speak(&e->request, c->arena, words, voice,
		    SpeechFormat_list[in->response_format], &e->fault))
		return call_fail(c, ERR_CONFLICT, "%s", e->fault.message);
	if (c->x->request.method == METHOD_HEAD) {
		c->deferred = answer_head;
		return 0;
	}
	e->named.agent_id = c->caller.agent_id;
	e->session_id = c->caller.session_id;
	return endpoint_call_begin(e, c);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/messages/{message_id}/speech",
		&readMessageAloud, PERM_SESSION_WRITE, 200, .tag = "Sessions", .patient = true,
		.doc = "Read a message aloud, in the agent's voice, by the first model of its chain that "
		       "speaks; the sound comes as it is made." },
};
RESOURCE(message_speech, routes, NULL, &message_speech_sql);
