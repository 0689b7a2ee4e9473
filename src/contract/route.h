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

/* An operation runs in up to three steps.  `look` and `apply` see the store in one transaction
 * each and never wait; `prepare` sees no store and may take its time.  Only `apply` is required. */
struct operation {
	const char *id; /* operationId, metrics label */
	const struct schema *body, *query, *reply;
	const struct words *sorts; /* a list: what it may be sorted by besides the default */
	bool list;		   /* the reply is a page of `reply` */
	bool exports;		   /* a list that may also be had whole, as lines of JSON */
	const char *key;	   /* the field that `after` names; NULL: id */
	bool body_optional;	   /* without a body it is as if {} had been sent */
	/* Types of a body that is taken as it comes, NULL-terminated; the last may be any type and none. */
	const char *const *takes;
	const char
		*gives;	 /* the type of a reply that is not JSON; beside `reply`, its other form */
	bool streams;	 /* answers with server-sent events where the request asks for them */
	bool storeless;	 /* answers without the store */
	bool long_read;	 /* reads so much that others on its loop should not wait for it */
	bool open_query; /* ignores parameters it does not know */
	const char *awaits; /* what it cannot succeed without yet, or NULL */
	int (*look)(struct call *c);
	int (*prepare)(struct call *c);
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
	int also;	   /* a further permission in the same place, or 0 */
	bool finds_agent; /* its operation answers ERR_NOT_FOUND by itself if the agent is not there */
	bool patient;	  /* it may wait for a model: the longer deadline holds */
	bool openai;	  /* errors have the shape that OpenAI's clients know */
	bool agent_in_body; /* the permission is decided on the agent that the body's agent_id names */
	size_t max_body;    /* lower or higher than the setting; 0: the setting */
};

/* A resource's rows; every resource exports one. */
struct resource {
	const char *name;
	const struct route *routes;
	size_t route_count;
	const struct schema *const
		*schemas; /* NULL-terminated: what it publishes beyond its routes */
};

const char *method_name(enum method m);

/* True unless the route only reads. */
static inline bool route_changes(const struct route *r)
{
	return r->writes || (r->method != METHOD_GET && r->method != METHOD_HEAD);
}
