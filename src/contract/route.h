/* route.h - the vocabulary in which operations are declared.
 *
 * A route is a row: method, path, operation, permission, status, audit verb,
 * words for people.  Routing, authorisation, audit, idempotency, metrics
 * labels and the published document are walkers over these rows. */
#pragma once
#include "contract/schema.h"

enum method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_PUT,
	METHOD_PATCH,
	METHOD_DELETE,
	METHOD_OTHER
};

#define METHOD_COUNT METHOD_OTHER

struct call;
struct event_stream;
struct problem;

/* An operation runs in up to three steps.  `look` and `apply` see the store in one transaction
 * each and never wait; `prepare` sees no store and may take its time.  Only `apply` is required.
 * What must be counted before `prepare` spends it is reserved: `reserve` changes the store in a
 * transaction of its own between `look` and `prepare`, and where `prepare` could not be run
 * `release` takes that back. */
struct operation {
	const char *id; /* operationId, metrics label */
	const struct schema *body, *query, *reply;
	const struct words *sorts; /* a list: what it may be sorted by besides the default */
	/* What a body or a reply holds that passes through as it is: for the document. */
	const struct schema *raw_body, *raw_reply;
	bool or_nothing;    /* where there is nothing to show it answers 204 instead */
	bool may_stand;	    /* where what it makes stood already it answers 200 instead */
	const char *header; /* one it sends besides, of those in openapi_shared.c */
	bool list;	    /* the reply is a page of `reply` */
	bool exports;	    /* a list that may also be had whole, as lines of JSON */
	/* The field that names one: for `after` of a list, for the Location and the audit log of an object;
	 * NULL: id. */
	const char *key;
	bool harmless; /* a POST that done twice does no more than once, so that it takes no Idempotency-Key */
	bool body_optional; /* without a body it is as if {} had been sent */
	/* Types of a body that is taken as it comes, NULL-terminated; the last may be any type and none. */
	const char *const *takes;
	const char
		*gives; /* the type of a reply that is not JSON; beside `reply`, its other form */
	const char *const *may_give;	   /* further such types, NULL-terminated; NULL: none */
	const struct event_stream *events; /* what its server-sent events are: contract/event.h */
	bool streams;	/* answers with server-sent events where the request asks for them */
	bool unseals;	/* opens a stored secret; where the key for it is gone it answers 409 */
	bool untagged;	/* sent while it is read, or never the same twice: no ETag */
	bool storeless; /* answers without the store */
	bool unstored;	/* while the store is away it answers too, with call.db NULL */
	/* Its ETag is its own, and what is asked of it by If-Match and If-None-Match too. */
	bool own_tag;
	bool gives_file; /* the answer is a file, of which a part may be asked for (call_send_file()) */
	bool on_disk; /* `prepare` writes files: on the threads for disks */
	bool unpacks; /* `prepare` waits for lodge-helper, or for a bucket: on the threads of imports */
	bool takes_room;   /* what it keeps counts towards what a tenant's bucket may hold */
	bool brings_files; /* what it keeps may go to the bucket (call.bring) */
	bool reads_files; /* it reads beside the store: 502 while that cannot be read, 413 for what is too large */
	bool spawns;	 /* `prepare` waits for another program: on the threads for those */
	bool asks_tools; /* `prepare` waits for hosts that a tenant names: on the threads of tools */
	bool long_read;	 /* reads so much that others on its loop should not wait for it */
	bool stale_ok; /* a report: what it reads may be STALE_MAX_MS old, but not who may read it */
	bool bounded_intake; /* what `intake` takes has a most of its own: 413 */
	bool open_query;     /* ignores parameters it does not know */
	/* For git's clients: the credential may be the password of Basic, none comes by cookie, and a problem is told in plain words. */
	bool basic;
	bool browsed;	    /* people come here by a link: a problem is a page to who takes HTML */
	const char *awaits; /* what it cannot succeed without yet, or NULL */
	/* Called for a body that the tables refuse, once the caller is permitted: adds what the operation
	 * itself would say of the fields that are sound.  Those that are not are as if absent, also where
	 * they are needed. */
	void (*check)(struct call *c);
	/* Writes a problem as its protocol's clients know it: false, and it is written as everywhere. */
	bool (*tell)(struct call *c, const struct problem *p);
	/* Tokens that another service gave are taken here.  Before any step: fills in whom call.credential means.  Without
	 * `waits` on the loop, ERR_BUSY where that takes longer; then again with it, on a slow thread.  Sees no store. */
	int (*vouch)(struct call *c, bool waits);
	/* Reads a body that is taken as it comes, once and before any step; sees no store.  The tables do it
	 * for all others.  What is wrong with it is said later, to those who are permitted. */
	void (*read)(struct call *c);
	/* Takes a body of any length while it comes.  With the head alone, in the transaction that permits the call, and
	 * before the first byte is taken; it sets call.take, and max_body of the exchange.  Like all work it may run more
	 * than once.  All other steps follow when the body is whole. */
	int (*intake)(struct call *c);
	int (*look)(struct call *c);
	int (*reserve)(struct call *c);
	int (*release)(struct call *c);
	int (*prepare)(struct call *c);
	/* Removes what `prepare` made outside the store, on a thread for disks, where nothing came of it: the change was
	 * refused, or ended well without setting call.took. */
	void (*discard)(struct call *c);
	int (*apply)(struct call *c);
};

struct route {
	enum method method;
	const char *path; /* as published; {name} stands for one segment */
	const struct operation *op;
	int permission;	       /* one of access/permission.h; 0 is refused at start-up */
	int status;	       /* on success */
	const char *audit;     /* "agent.update"; NULL: changes nothing */
	const char *unaudited; /* why a route that is no read has no audit verb */
	const char *tag, *doc;
	bool as_printed;   /* answers only under the path as written */
	bool unpublished;  /* not in the document */
	bool writes;	   /* a GET that changes something: it runs, and is audited, like a POST */
	const char *agent; /* the parameter that names the agent; NULL: agent_id */
	/* The path names its tenant by {tenant_slug} and the agent by the beginning of {repository}, up to the first dot. */
	bool by_slug;
	int also;	  /* a further permission in the same place, or 0 */
	bool finds_agent; /* its operation answers ERR_NOT_FOUND by itself if the agent is not there */
	bool patient;	  /* it may wait for a model: the longer deadline holds */
	bool openai;	  /* errors have the shape that OpenAI's clients know */
	/* The same for Anthropic's.  Where a row of OpenAI's has the same path, this one answers those who send the header
	 * of Anthropic's clients. */
	bool anthropic;
	bool agent_in_body; /* the permission is decided on the agent that the body's agent_id names */
	size_t max_body;    /* lower or higher than the setting; 0: the setting */
};

/* A type that is published before any operation takes or gives it. */
struct to_come {
	const struct schema *schema; /* of the last: NULL */
	const char *reason;	     /* why its operation is not there yet: a sentence */
};

/* What the operations of one tag are about. */
struct tag {
	const char *name; /* of the last: NULL */
	const char *doc;
};

/* A resource's rows; every resource exports one. */
struct statement_set;

struct resource {
	const char *name;
	const struct route *routes;
	size_t route_count;
	const struct to_come *to_come; /* NULL: none */
	/* NULL-terminated: what it asks of the store, which alone knows more of them. */
	const struct statement_set *const *statements;
	const struct tag *tags; /* what it says of tags, its own or others'; NULL */
};

const char *method_name(enum method m);

/* True if Idempotency-Key makes a request act once.  Of what is answered only under its own path that is what
 * OpenAI's clients ask for and changes something; a call to a model is no change. */
static inline bool route_repeatable(const struct route *r)
{
	return r->method == METHOD_POST && !r->op->harmless &&
	       (!r->as_printed || (r->openai && r->audit));
}

/* What tells Anthropic's clients from OpenAI's. */
#define ANTHROPIC_HEADER "anthropic-version"

/* True if it answers as somebody else's service does: what it does not know it overlooks. */
static inline bool route_foreign(const struct route *r)
{
	return r->openai || r->anthropic;
}

/* True if what it answers with 200 is one object, which carries an ETag. */
bool route_tags(const struct route *r);

/* True unless the route only reads. */
static inline bool route_changes(const struct route *r)
{
	return r->writes || (r->method != METHOD_GET && r->method != METHOD_HEAD);
}
