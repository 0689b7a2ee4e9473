/* provider.h - the kinds of model providers, siblings of one shape.
 *
 * A provider turns a chat into the bytes of a request, and the bytes of a
 * reply into events (event.h).  It opens no socket and knows no price, tenant
 * or key but the one it is handed.  A row in the table is all that the rest
 * of the broker sees of it: nobody else asks which kind a model is. */
#pragma once
#include "broker/chat.h"
#include "broker/model.h"
#include "broker/reply.h"

/* Whom the request goes to. */
struct target {
	const char *model;	    /* the provider's own name for the model */
	const char *base_url;	    /* NULL: the provider's own */
	const char *api_key;	    /* NULL: none is sent */
	int64_t max_tokens;	    /* the most it may write; 0: as the chat says */
	const char *body_type;	    /* of an request's body */
	int64_t default_max_tokens; /* where the provider demands one and nobody said; 0: 4,096 */
	/* Of Anthropic's protocol, as the caller said; NULL: not said. */
	const char *version, *beta;
};

enum { PROVIDER_HEADERS_MAX = 4, DEFAULT_MAX_TOKENS = 4096 };

/* A header of the request; its value is `before` and `value` joined, so that a key is not copied. */
struct provider_header {
	const char *name, *before, *value;
};

struct provider {
	const char *name; /* the kind, as in a model's row */
	const char *
		base_url; /* where it lives if nobody says otherwise; NULL: it is inside the program */
	const char *path; /* after the base URL */
	/* The members of a chat-completions body that reach it, ending with NULL; NULL: all, or none matters. */
	const char *const *carries;
	unsigned takes;	      /* parts of messages besides text and images: CHAT_FILES, ... */
	int64_t least_output; /* it refuses a lower limit than this, and is sent none; 0: 1 */
	size_t (*headers)(const struct target *t, struct provider_header out[PROVIDER_HEADERS_MAX]);
	/* The body of the request.  `out` may overflow, which the caller asks at the end. */
	void (*write)(const struct chat *c, const struct target *t, struct buf *out);
	/* One event of a stream; `name` is "" for none. */
	void (*read_event)(struct reply *r, const char *name, struct slice data);
	/* For endpoints (endpoint.h): how a reply of that type is read, REPLY_HEAD for one that is none; a whole text that
	 * is no JSON; and what was used. */
	enum reply_mode (*mode)(struct reply *r, const char *type);
	void (*read_text)(struct reply *r, struct slice body);
	struct usage (*used)(const struct reply *r);
	/* A whole reply, which is known to be well-formed JSON. */
	void (*read_whole)(struct reply *r, struct slice body);
	/* A model inside the program instead: its state for one answer, in the arena ... */
	void *(*open)(struct arena *a, const struct chat *c, const struct target *t);
	/* ... and its next piece into the reply; false when that was the last. */
	bool (*speak)(void *state, struct reply *r);
};

extern const struct provider provider_openai, provider_openai_responses, provider_anthropic,
	provider_demo;

/* All of them, ending with NULL. */
extern const struct provider *const providers[];
/* The provider of that kind, or NULL (as for "router", which is none). */
const struct provider *provider_find(const char *kind);
/* The one that does what is asked of models of that kind, or NULL. */
const struct provider *provider_for(const char *kind, enum ModelEndpoint endpoint);
/* By ModelEndpoint; the chat is none of them. */
extern const struct provider endpoint_providers[];
/* The address of a request: the base URL, with /v1 after it if it has no path, and the path. */
const char *provider_url(struct arena *a, const struct provider *p, const struct target *t);

/* The most that may be written: the least of what the chat and the target say; 0: neither. */
int64_t provider_max_tokens(const struct chat *c, const struct target *t);

/* Members of the request that do not reach this provider, as in "seed, logit_bias"; NULL: all do. */
const char *provider_loses(struct arena *a, const struct provider *p, const struct chat *c);

/* True if the request came in OpenAI's shape and goes out in it: then each member is what came in, but
 * for the model, stream_options.include_usage and the limit, of which there is one; nothing is encoded
 * again, and what is dropped (chat_terms.h) is not there. */
bool chat_splices(const struct chat *c);
void chat_splice(const struct chat *c, const struct target *t, struct buf *out);
/* The member for the limit: max_completion_tokens where OpenAI itself answers, which wants the new
 * name, and max_tokens elsewhere, where many know only the old one. */
const char *chat_limit_name(const struct target *t);
