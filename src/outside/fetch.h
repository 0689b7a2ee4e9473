/* fetch.h - one request to a service outside, with every limit set.
 *
 * It waits, so it belongs on the slow pool.  HTTPS with a verified
 * certificate, no redirects, no proxy, a bounded answer, an end in time; and
 * the address that is really connected to must be one the caller may reach. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* How far a request may go.  Plain HTTP is only for what is not the Internet. */
enum reach {
	REACH_PUBLIC,	/* public addresses by HTTPS */
	REACH_LOOPBACK, /* also this machine, and that by plain HTTP too */
	REACH_ANY,	/* also private addresses, and any by plain HTTP too */
};

struct fetch {
	const char *url;
	enum reach reach;
	const char *form;	     /* a body to POST, form-encoded; NULL: GET */
	const char *user, *password; /* Basic, or NULL */
	const char *bearer;	     /* a token, or NULL */
};

struct fetched {
	int status;
	const char *body; /* NUL-terminated */
	size_t len;
	int64_t max_age_s; /* as Cache-Control says; -1: it does not */
};

/* Once, before any thread. */
bool fetch_init(void);
/* 0 whatever the status, or ERR_UPSTREAM with a few words in *ret_why, for the log. */
typedef int fetch_fn(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why);
fetch_fn fetch_run;

/* True for an absolute URL that the reach permits, without user, password or fragment. */
bool fetch_permits(const char *url, enum reach reach);
/* Percent-encodes all but letters, digits and -._~ */
char *fetch_escape(struct arena *a, const char *text);
