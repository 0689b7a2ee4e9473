/* endpoint.h - a request to a model that is no chat: embeddings, speech, transcription.
 *
 * It is read from a body in OpenAI's shape (JSON, or a form with a file) and
 * travels inside a chat that says nothing else, so that candidates, budgets,
 * failover and the ledger are those of every call.  Its members go out as they
 * came, but for the model; what would change the price is refused or dropped
 * as in a chat (chat_terms.h).  Memory is the body's and the arena's. */
#pragma once
#include "broker/chat.h"
#include "broker/model.h"

enum {
	ENDPOINT_INPUTS_MAX = 2048,	 /* texts of one request for embeddings */
	ENDPOINT_CHARACTERS_MAX = 16384, /* of a text that is spoken */
	ENDPOINT_FILE_MAX = 25 << 20,	 /* bytes of a file that is written down */
	ENDPOINT_FIELD_MAX = 64 << 10,	 /* bytes of any other field of a form */
	ENDPOINT_PARTS_MAX = 64,
	ENDPOINT_MEDIA_MAX = 96, /* bytes of a type of content */
};

/* How the answer comes. */
enum endpoint_form {
	ENDPOINT_OBJECT,    /* JSON */
	ENDPOINT_SOUND,	    /* bytes of sound */
	ENDPOINT_EVENTS,    /* server-sent events, if the model does it */
	ENDPOINT_PLAIN,	    /* the text alone: asked for as JSON, which says what was used */
	ENDPOINT_SUBTITLES, /* text with times */
};

/* A member of a JSON body. */
struct endpoint_member {
	struct endpoint_member *next;
	struct slice name, raw; /* the name is escaped text */
};

/* A field of a form; file and type are NULL for one that is none. */
struct endpoint_part {
	struct endpoint_part *next;
	const char *name, *file, *type;
	struct slice data;
};

struct endpoint_request {
	enum ModelEndpoint endpoint;
	enum endpoint_form form;
	struct slice model; /* as asked for, escaped */
	struct endpoint_member *members, **last_member;
	struct endpoint_part *parts, **last_part;
	const char *type;     /* of the body that is sent */
	const char *boundary; /* of the form */
	const char *format;   /* response_format, or "" */
	int64_t inputs;	      /* of embeddings: how many vectors are wanted */
	bool has_voice;
	const char *voice;   /* for who names none, or NULL */
	const char *dropped; /* members that go to nobody, as in "a, b"; NULL: none */

	/* What it may take at most, and what it likely takes where nobody says. */
	int64_t tokens, tokens_most, output, output_most, seconds, seconds_most;
	int64_t characters; /* exactly */
};

/* Reads a body of embeddings or speech; ERR_BAD_JSON or ERR_INVALID with *e filled. */
int endpoint_read_json(struct endpoint_request *e, enum ModelEndpoint endpoint, struct arena *a,
	const char *body, size_t len, struct chat_error *error);
/* Reads a form of transcriptions; `type` is its Content-Type. */
int endpoint_read_form(struct endpoint_request *e, struct arena *a, const char *type,
	const char *body, size_t len, struct chat_error *error);
/* A text to be spoken, from inside the service; the format is a word such as mp3. */
int endpoint_speak(struct endpoint_request *e, struct arena *a, const char *text, const char *voice,
	const char *format, struct chat_error *error);
/* The type of the sound that has this name in OpenAI's API; "" is mp3. */
const char *endpoint_sound_type(const char *format);
/* All but that of mp3, NULL-terminated. */
extern const char *const endpoint_sounds[];

/* endpoint_form.c, endpoint_write.c: for the providers' rows. */
struct target;
void endpoint_write_json(const struct chat *c, const struct target *t, struct buf *out);
void endpoint_write_form(const struct chat *c, const struct target *t, struct buf *out);
/* What is wrong, in OpenAI's manner. */
int endpoint_wrong(struct chat_error *e, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
