/* chat.h - a request to a model as the service means it, whoever asks and whoever answers.
 *
 * It is read from an OpenAI chat-completions body in one pass (chat_read), from
 * a body of Anthropic's messages elsewhere, or built by the functions below.  Text is escaped JSON text (text.h) that lies
 * in the body or the arena, both of which must outlive the chat.  It keeps
 * what every provider can be told; members of the body that it does not know
 * are kept aside, for providers of the same kind. */
#pragma once
#include <math.h>

#include "base/arena.h"
#include "broker/text.h"

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT, CHAT_TOOL };

enum chat_part_kind {
	PART_TEXT,
	PART_IMAGE_URL,	 /* text: its address */
	PART_IMAGE_DATA, /* text: base64; media: its type */
	PART_FILE_URL,	 /* text: its address */
	PART_FILE_DATA,	 /* text: base64; media: its type; name: the file's, or absent */
	PART_AUDIO,	 /* text: base64; media: its format, such as wav */
	PART_OTHER,	 /* raw: the whole part, for providers of the same kind */
};

struct chat_part {
	struct chat_part *next;
	enum chat_part_kind kind;
	struct slice text, media, detail, name;
	struct slice cache; /* a cache_control object as JSON text, or absent */
	struct slice raw;
	const char *place; /* where in the request it stood, for what is said of it; or NULL */
	int64_t tokens;	   /* an estimate of what a model reads in it; 0: by its bytes */
};

/* A tool call that an assistant message made. */
struct chat_call {
	struct chat_call *next;
	struct slice id, name, arguments; /* the arguments: JSON text, escaped as a string */
	struct slice
		extra; /* extra_content as JSON text, to be given back to who sent it; or absent */
	struct slice item; /* as in a message */
};

/* What the model thought before, with the signature that proves it (EVENT_SIGNATURE). */
struct chat_thought {
	struct chat_thought *next;
	struct slice text, signature, id;
	bool redacted;
	const char *maker; /* the kind of provider that made it: no other understands it */
};

struct chat_message {
	struct chat_message *next;
	enum chat_role role;
	struct slice name;
	struct slice call_id; /* CHAT_TOOL: the call that this answers */
	bool failed;	      /* CHAT_TOOL: the call came to nothing, and the text says why */
	struct slice item; /* the same as an item of OpenAI's responses, which goes there as it is;
			       * or absent.  A message of nothing else is for them alone. */
	struct chat_part *parts, **last_part;
	struct chat_call *calls, **last_call;
	struct chat_thought *thoughts, **last_thought;
};

struct chat_tool {
	struct chat_tool *next;
	struct slice name, description;
	struct slice parameters; /* a JSON schema as JSON text, or absent */
	struct slice cache;
	bool strict, has_strict;
};

/* A tool that is no function: its provider runs it, or calls it in a way of its own. */
struct chat_hosted {
	struct chat_hosted *next;
	const char *shape; /* the kind of provider whose shape it has: no other is offered it */
	const char *type;  /* plain */
	struct slice raw;
};

enum chat_choice { CHOICE_UNSAID, CHOICE_AUTO, CHOICE_NONE, CHOICE_REQUIRED, CHOICE_NAMED };
enum chat_effort {
	EFFORT_UNSAID,
	EFFORT_NONE,
	EFFORT_MINIMAL,
	EFFORT_LOW,
	EFFORT_MEDIUM,
	EFFORT_HIGH,
	EFFORT_XHIGH,
	EFFORT_MAX,
	EFFORT_COUNT
};
extern const char *const chat_effort_names[EFFORT_COUNT];

enum chat_format { FORMAT_TEXT, FORMAT_OBJECT, FORMAT_SCHEMA };

struct chat_stop {
	struct chat_stop *next;
	struct slice text;
};

/* A member of the body.  Those that are dropped (chat_terms.h) are not among them. */
struct chat_field {
	struct chat_field *next;
	struct slice name, raw; /* the name is escaped text */
	const char *
		shape; /* the one kind of provider that knows it; NULL: OpenAI's chat completions */
	bool understood; /* it is in the chat: only a body that goes out as it came needs it */
};

/* Whose shape the body has: providers of that kind are sent it as it came. */
enum chat_shape { SHAPE_OPENAI, SHAPE_ANTHROPIC };

/* A piece of the body that does not go out as it came. */
struct chat_patch {
	struct chat_patch *next;
	struct slice at, with;
};
struct endpoint_request;

struct chat {
	struct arena *arena;
	struct slice model; /* as asked for */
	struct chat_message *messages, **last_message;
	struct chat_tool *tools, **last_tool;
	struct chat_hosted *hosted, **last_hosted;
	enum chat_choice tool_choice;
	struct slice
		choice_raw; /* a choice that is none of these, in the shape of ...; or absent */
	const char *choice_shape;
	struct slice tool_chosen;  /* CHOICE_NAMED */
	int64_t max_tokens;	   /* 0: not said */
	double temperature, top_p; /* NAN: not said */
	struct chat_stop *stop, **last_stop;
	bool stream, include_usage;
	enum chat_format format;
	struct slice format_name, format_schema; /* FORMAT_SCHEMA; the schema as JSON text */
	bool format_strict;
	int64_t seed;
	bool has_seed;
	int parallel_calls; /* -1: not said */
	enum chat_effort effort;
	struct chat_field *fields, **last_field;

	struct endpoint_request
		*request;      /* it is no chat, but what endpoint.h says; NULL: it is one */
	const char *dropped;   /* members of the body that go to nobody, as in "a, b"; NULL: none */
	const char *unbounded; /* a part whose tokens its bytes do not bound, or NULL: its place */
	struct chat_message *prompt; /* the first message, put before those of the body; or NULL */

	/* The body it was read from, and where in it usage is asked for; absent if it was built. */
	struct slice body, include_usage_at;
	enum chat_shape shape;

	/* SHAPE_ANTHROPIC: what is left out for providers of another kind, as in "a, b"; NULL: nothing. */
	const char *elsewhere;
	int64_t thinking_budget; /* tokens; 0: none was said */
	/* By their place in the body. */
	struct chat_patch *patches, **last_patch;
	const char *version,
		*beta; /* of the protocol, for providers that speak it; NULL: not said */
};

/* What is wrong with a body, as OpenAI would say it. */
struct chat_error {
	char message[256];
	char param[96]; /* "" for none */
};

void chat_open(struct chat *c, struct arena *a);
/* Reads an OpenAI chat-completions body; ERR_BAD_JSON or ERR_INVALID with *e filled. */
int chat_read(struct chat *c, struct arena *a, const char *body, size_t len, struct chat_error *e);

/* Building by hand.  Text given here is plain; it is escaped into the chat's arena. */
struct chat_message *chat_message_add(struct chat *c, enum chat_role role, const char *text);
/* An agent speaks with its own words before the caller's: once, however often it is said; NULL or "": none. */
void chat_put_prompt(struct chat *c, const char *prompt);
struct chat_part *chat_part_add(struct chat *c, struct chat_message *m, enum chat_part_kind kind);
struct chat_call *chat_call_add(struct chat *c, struct chat_message *m, const char *id,
	const char *name, const char *arguments);
struct chat_message *chat_result_add(struct chat *c, const char *call_id, const char *text);
struct chat_thought *chat_thought_add(struct chat *c, struct chat_message *m);
struct chat_tool *chat_tool_add(
	struct chat *c, const char *name, const char *description, const char *parameters);
struct slice chat_text(struct chat *c, const char *plain);
/* An image's address, or a data: URL taken apart, into the part; the same for a file. */
void chat_image(struct chat_part *p, struct slice url);
void chat_file(struct chat_part *p, struct slice url);
void chat_hosted_add(struct chat *c, const char *shape, const char *type, struct slice raw);
/* A member of the body for the providers that know it; `shape` as in chat_field. */
void chat_field_add(struct chat *c, const char *name, struct slice raw, const char *shape);
/* The member of that name and shape, or NULL. */
const struct chat_field *chat_field_find(const struct chat *c, const char *name, const char *shape);
void chat_stop_add(struct chat *c, struct slice text);

/* An estimate (tokens.h) of everything the model will read, before it is written for anybody. */
int64_t chat_tokens(const struct chat *c);
/* The same of the request itself: every byte of what was written of this chat counts, known or not, but
 * for the data of images, each of which counts as an image. */
int64_t chat_tokens_written(const struct chat *c, struct slice body);
/* What the request needs of a model. */
bool chat_has_images(const struct chat *c);
/* Where the first image stood, if its part says. */
const char *chat_image_place(const struct chat *c);
/* What a provider must take, as bits. */
enum { CHAT_FILES = 1, CHAT_FILE_URLS = 2, CHAT_AUDIO = 4, CHAT_OTHER_PARTS = 8 };
unsigned chat_needs(const struct chat *c);
/* The place of the first part that needs one of these, as in "messages[2].content[0]". */
const char *chat_need_place(const struct chat *c, struct arena *a, unsigned needs);
/* The tools that a provider of this kind is not offered, as in "web_search, custom"; NULL: none. */
const char *chat_left_out(const struct chat *c, struct arena *a, const char *kind);
