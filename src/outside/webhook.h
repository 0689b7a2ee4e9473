/* webhook.h - events that other services send here: are they theirs, and what do they say?
 *
 * Each service is a row of one table: which header holds the signature, which
 * bytes are signed, how old they may be, where its id of the delivery is and
 * where the facts of an event lie.  Verifying looks at raw bytes only; nothing
 * is parsed before it has succeeded.  Bytes in, verdict out: this room knows
 * no store and no tenant. */
#pragma once
#include "base/json_tree.h"

enum webhook_service {
	WEBHOOK_GITHUB,
	WEBHOOK_GITLAB,
	WEBHOOK_SLACK,
	WEBHOOK_STRIPE,
	WEBHOOK_LINEAR,
	WEBHOOK_SENTRY,
	WEBHOOK_STANDARD,
	WEBHOOK_GENERIC,
	WEBHOOK_SERVICES,
};

enum {
	WEBHOOK_PLACES = 6,	/* ways to find one fact */
	WEBHOOK_ID_MAX = 255,	/* bytes of a sender's id */
	WEBHOOK_WORD_MAX = 128, /* of an event's name */
	WEBHOOK_SECRET_MIN = 8, /* of one that somebody chose */
	WEBHOOK_SECRET_MAX = 4 * 255,
	WEBHOOK_DIGEST_MAX = 6000, /* bytes */
};

/* What is signed, and how the signature is written. */
enum webhook_scheme {
	SIGNS_BODY,	/* hex of the body, after `prefix` */
	SIGNS_SLACK,	/* v0=hex of v0:{time}:{body} */
	SIGNS_STRIPE,	/* t=time,v1=hex[,v1=hex] of {time}.{body} */
	SIGNS_STANDARD, /* v1,base64[ v1,base64] of {id}.{time}.{body} */
	SIGNS_GITLAB, /* as Standard Webhooks with a whsec_ secret; or the secret itself, as before 19.0 */
};

/* A fact is at the first of these paths ("repository.full_name") that has it. */
struct webhook_facts {
	const char *event[WEBHOOK_PLACES], *action[WEBHOOK_PLACES], *sender[WEBHOOK_PLACES],
		*place[WEBHOOK_PLACES], *link[WEBHOOK_PLACES];
};

/* What an event is in a sentence: {path}, {a|b} for the first that is there, {#list} for a count,
 * {path:7} for so many letters; {event}, {action}, {sender}, {place} are the facts. */
struct webhook_phrase {
	const char *event, *action; /* NULL: any */
	const char *sentence;
	const char *lines[4];	/* each only if what it names is there */
	const char *each, *row; /* a list, and a line for each of its first items */
};

struct webhook_provider {
	const char *name, *title;
	enum webhook_scheme scheme;
	const char *signature, *prefix; /* header, lower case; what stands before the digits */
	const char *time_header;
	int tolerance_s;	/* 0: the time is not checked */
	const char *time_in_ms; /* its time is in the signed body, in milliseconds */
	const char *id_headers[WEBHOOK_PLACES], *id_paths[WEBHOOK_PLACES];
	bool id_by_body; /* a delivery without an id is known by its body */
	const char *event_header;
	const char *ping; /* the event by which it tries the address, and which says nothing */
	struct webhook_facts facts;
	const struct webhook_phrase *phrases; /* the last one takes any event */
};
extern const struct webhook_provider webhook_providers[WEBHOOK_SERVICES];

/* A request as it came. */
struct webhook_in {
	const char *body;
	size_t len;
	bool form; /* its type is application/x-www-form-urlencoded */
	/* The header by its lower-case name, or NULL; how often it came. */
	const char *(*header)(const void *ctx, const char *name, size_t *ret_count);
	const void *ctx;
	int64_t now_us;
};

/* Signed with one of these secrets, and not too old or from the future as far as the headers tell.
 * Without a secret nothing is.  Takes as long whatever is wrong with the signature. */
bool webhook_verify(const struct webhook_provider *p, struct arena *a, const struct webhook_in *in,
	const char *const *secrets, size_t count);

/* The same of Standard Webhooks for a body that is not in memory: with the headers of `in`, whose body is not looked at, then its bytes as
 * they come.  end() frees it. */
struct webhook_stream;
struct webhook_stream *webhook_stream_begin(
	struct arena *a, const struct webhook_in *in, const char *secret);
void webhook_stream_add(struct webhook_stream *s, const void *bytes, size_t n);
bool webhook_stream_end(struct webhook_stream *s);

/* A fresh secret in the service's form, and a sentence about what is wrong with one that was given. */
const char *webhook_secret_new(const struct webhook_provider *p, struct arena *a);
const char *webhook_secret_fault(const struct webhook_provider *p, const char *text);

/* What a verified request says.  Texts are UTF-8 and were written by strangers. */
struct webhook_event {
	const char *delivery_id;
	const char *event, *action, *sender, *place; /* each may be NULL */
	const char *link;			     /* webhook_reread() only */
	bool by_machine;			     /* the sender is no person */
	bool ping;				     /* the service tries the address */
	bool by_us;	       /* the service says that we caused it ourselves */
	const char *challenge; /* to be answered with, and nothing else; or NULL */
	const char *payload;   /* the JSON text */
	size_t payload_len;
	const struct json_node *tree; /* of webhook_reread() whole, else what was looked at */
};

enum webhook_reading {
	WEBHOOK_READ,
	WEBHOOK_NOT_JSON, /* no JSON object */
	WEBHOOK_NO_ID,	  /* the service's id of the delivery is missing, or no id */
	WEBHOOK_STALE,	  /* the time in the signed body is too far off */
};

/* Of a request that webhook_verify() accepted.  id_header, if not NULL, is where a generic sender puts its
 * id, in lower case. */
enum webhook_reading webhook_read(const struct webhook_provider *p, struct arena *a,
	const struct webhook_in *in, const char *id_header, struct webhook_event *ret);

/* The event of a stored payload, whole, to be told; false if it is not JSON. */
bool webhook_reread(const struct webhook_provider *p, struct arena *a, const char *event,
	const char *payload, struct webhook_event *ret);

/* The event in a sentence, and then in a few lines for whoever has to act on it. */
const char *webhook_summary(
	const struct webhook_provider *p, struct arena *a, const struct webhook_event *e);
const char *webhook_digest(
	const struct webhook_provider *p, struct arena *a, const struct webhook_event *e);

/* The text at a path of names with dots between (a number counts, in a list), or NULL. */
const char *webhook_text_at(struct arena *a, const struct json_node *n, const char *path);
/* Visible ASCII of at most `most` bytes, not empty. */
bool webhook_word(const char *text, size_t most);
