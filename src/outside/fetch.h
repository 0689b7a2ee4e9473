/* fetch.h - one request to a service outside, with every limit set.
 *
 * It waits, so it belongs on the slow pool.  HTTPS with a verified
 * certificate, no redirects (where one leads is told), no proxy, a bounded
 * answer, an end in time; and the address that is really connected to must be
 * one the caller may reach. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "outside/address.h"

struct fetch_header {
	const char *name, *value; /* neither holds a control character */
};

/* A part of a file that is sent as a body. */
struct fetch_file {
	int fd;
	uint64_t at, len;
};

struct fetched;
struct fetch_line;

struct fetch {
	const char *url;
	enum egress egress;
	const char *form;	     /* a body to POST, form-encoded; NULL: GET */
	const char *user, *password; /* Basic, or NULL */
	const char *bearer;	     /* a token, or NULL */
	const char *method;	     /* NULL: POST with a form, else GET */
	const char *body;	     /* instead of a form, of any kind; or NULL */
	size_t body_len;
	const struct fetch_file *file; /* instead of both, by PUT; or NULL */
	const struct fetch_header *headers;
	size_t header_count;
	size_t answer_max;  /* bytes; 0: 1 MiB */
	bool cut;	    /* what is longer is cut there; else it is refused */
	int total_ms;	    /* until the whole answer is here; 0: 10 seconds */
	int silence_s;	    /* it ends when nothing has moved for so long; 0: only total_ms does */
	const char *wanted; /* a header of the answer, for fetched.header; or NULL */
	const _Atomic bool
		*stop; /* once another thread has set it, the request ends soon; or NULL */
	struct fetch_line *line; /* connections of this thread that may be used again; or NULL */
	/* Sees what arrives of the body, with status and type known; false: it has seen enough, and what
	 * is here is the answer.  NULL: nobody needs to. */
	bool (*see)(void *ctx, const struct fetched *head, const char *bytes, size_t n);
	void *see_ctx;
	/* Is given the bytes of an answer of 200 to 299, or only of this status, which are then not kept; false ends it.  Or NULL. */
	bool (*take)(void *ctx, const char *bytes, size_t n);
	int take_status; /* 0: any of them */
	void *take_ctx;
};

struct fetched {
	int status;
	const char *body; /* NUL-terminated */
	size_t len;
	int64_t max_age_s;	  /* as Cache-Control says; -1: it does not */
	const char *content_type; /* or NULL */
	const char *location;	  /* where a redirect leads, as a whole URL; or NULL */
	const char *header;	  /* the one that was wanted, or NULL */
	const char *date;	  /* as it is said, or NULL */
	int64_t length;		  /* as Content-Length says; -1: it does not */
	bool was_cut;
	bool late; /* of one that failed: it took too long */
};

/* Once, before any thread. */
bool fetch_init(void);
/* 0 whatever the status, or ERR_UPSTREAM with a few words in *ret_why, for the log. */
typedef int fetch_fn(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why);
fetch_fn fetch_run;

/* For a few requests to one place, one after the other. */
struct fetch_line *fetch_line_new(void);
void fetch_line_free(struct fetch_line *line);

/* The parts of a URL that say who is asked; false if it is no absolute URL. */
struct fetch_origin {
	const char *scheme, *host; /* in lower case */
	int port;
};
bool fetch_origin(struct arena *a, const char *url, struct fetch_origin *ret);

/* True if host and port of the URL are on the list of private places that may be called (address.h). */
bool fetch_is_listed(const char *url);
/* True for an absolute URL that the reach permits, without user, password or fragment. */
bool fetch_permits(const char *url, enum egress egress);
/* NULL if paths of an API may be put after the URL and the reach permits it; else what is wrong with
 * it, as the end of a sentence that begins with its name. */
const char *fetch_base_fault(const char *url, enum egress egress);
/* Such a URL without slashes at its end, so that paths can be put after it. */
const char *fetch_base_trimmed(struct arena *a, const char *url);
/* Percent-encodes all but letters, digits and -._~ */
char *fetch_escape(struct arena *a, const char *text);
