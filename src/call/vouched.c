/* vouched.c - who calls by a token that another service gave.
 *
 * Whether such a token holds may take a question to that service, and takes a
 * signature in any case, so it is found out before the call begins: from
 * memory on the loop, else on the threads that ask where people sign in, where
 * those who wait stand in the lane of their address.  What was found is in the
 * credential; who that is here, the store says in each transaction.  The way
 * goes on with the head or with the whole request, whichever it was. */
#include "call/steps.h"
#include "store/pool.h"

bool call_is_unproven(const struct call *c)
{
	return c->credential.kind == CREDENTIAL_ISSUED && !c->credential.subject;
}

static struct call *vouched_call_of(struct work *w)
{
	return (struct call *)((char *)w - offsetof(struct call, work));
}

static int ask_issuer(struct work *w, struct db *none)
{
	struct call *c = vouched_call_of(w);

	(void)none;
	if (w->withdrawn || http_left(c->x)) /* nobody would read the answer */
		return ERR_STOPPING;
	return c->route->op->vouch(c, true);
}

static void issuer_answered(struct work *w, int err)
{
	struct call *c = vouched_call_of(w);
	enum http_verdict verdict;

	c->work = (struct work){ 0 };
	verdict = c->proven(c, err);
	if (verdict != HTTP_KEPT)
		http_finish_head(c->x, verdict == HTTP_GO_ON);
}

enum http_verdict call_prove(struct call *c, enum http_verdict (*then)(struct call *c, int err))
{
	char network[INET6_ADDRSTRLEN];
	int err = c->route->op->vouch(c, false);

	if (err != ERR_BUSY)
		return then(c, err);
	http_network(c->ip, network);
	c->aside = true;
	c->proven = then;
	c->work = (struct work){ .run = ask_issuer, .done = issuer_answered };
	err = pool_submit(c->app->slow, network, &c->work);
	if (!err)
		return HTTP_KEPT;
	c->aside = false;
	return then(c, err);
}
