/* service.h - what the operations of all families share, besides what every call has: the engines that serve/ starts.
 *
 * Whoever serves makes a struct service and gives calls its first member, so
 * that the way from a call to the engines is service_of(c->app). */
#pragma once
#include "call/call.h"

struct oidc;
struct broker;
struct runner;
struct sessions;
struct hook_log;
struct hook_post;
struct batches;
struct helper;
struct bucket;
struct repos;
struct mirrors;
struct host;
struct file_mover;
struct smtp_relay;
struct letterbox;
struct letter_post;

enum removal { REMOVE_GONE, REMOVE_TENANTS, REMOVE_ACCOUNTS, REMOVALS };

struct service {
	struct app app;
	struct oidc *oidc;	   /* where people may sign in besides here; NULL: nowhere */
	struct broker *broker;	   /* calls to models */
	struct runner *runner;	   /* jobs of the queue */
	struct sessions *sessions; /* agents at work */
	struct helper *helper;	   /* formats of strangers */
	struct bucket *bucket;	   /* the bytes of tenants' buckets */
	struct repos *repos;	   /* the git repositories of agents */
	struct mirrors *mirrors;   /* of those on other hosts */
	const struct host *host;   /* keeps them instead, where that is another program; or NULL */
	struct file_mover *mover;  /* large files of sessions on their way there */
	const struct smtp_relay
		*relay; /* takes mail to the outside; its url is NULL where none is set */
	struct letterbox *letterbox; /* where mail comes in; NULL: nowhere */
	struct letter_post *letters; /* to people, on their way to the relay */
	struct hook_log *hook_log;   /* calls of webhooks that were refused */
	struct hook_post *hook_post; /* events on their way to agents */
	/* The rows of what was deleted, on their way out. */
	struct batches *removals[REMOVALS];
};
_Static_assert(offsetof(struct service, app) == 0, "an app is the beginning of its service");

static inline struct service *service_of(const struct app *app)
{
	return (struct service *)app;
}
