/* transport.h - how bytes come and go: a plain socket, TLS, or the memory of the in-process server.
 *
 * Siblings of one shape.  A transport moves bytes and says when it would have
 * to wait; it knows nothing of requests. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/error.h"

struct arena;
struct http_tls;

/* Instead of a count of bytes; 0 is the end of the peer's bytes. */
enum { HTTP_AGAIN = -1, HTTP_DEAD = -2 };

struct http_link {
	const struct http_transport *transport;
	void *state; /* the TLS session, or the in-process server's memory */
	int fd;
	bool readable,
		writable; /* worth trying; epoll sets them, a call that would wait clears them */
	bool ending;	  /* the peer has shut its side: read on until 0 */
};

struct http_transport {
	bool lingers; /* unread bytes would make closing destroy what was sent */
	/* 0 when done, or HTTP_AGAIN, HTTP_DEAD; NULL if there is none. */
	int (*handshake)(struct http_link *l);
	ssize_t (*read)(struct http_link *l, void *at, size_t n);
	ssize_t (*write)(struct http_link *l, const struct iovec *iov, int count);
	/* Of a file, without a copy; NULL where bytes must pass through our hands. */
	ssize_t (*send_file)(struct http_link *l, int fd, off_t at, size_t n);
	/* Says that nothing more will be written. */
	void (*shut)(struct http_link *l);
	/* Reads to throw away, after shut(). */
	ssize_t (*drain)(struct http_link *l, void *at, size_t n);
	void (*close)(struct http_link *l);
};

extern const struct http_transport http_plain, http_secure, http_memory;

/* What the memory transport's state points to. */
struct http_memory {
	const char *at; /* what the client has sent and we have not read */
	size_t len;
	bool shut;	 /* nothing will follow it */
	struct buf *out; /* what we have answered */
};

/* 0, or ERR_USAGE with a sentence in p. */
int http_tls_new(struct http_tls **ret, const char *cert, const char *key, struct arena *a,
	struct problem *p);
/* Another certificate for the sessions to come; on an error the one in use stays. */
int http_tls_renew(
	struct http_tls *t, const char *cert, const char *key, struct arena *a, struct problem *p);
void http_tls_free(struct http_tls *t);
/* Gives the link a session of its own; false if there is no memory for it. */
bool http_tls_attach(struct http_tls *t, struct http_link *l);
