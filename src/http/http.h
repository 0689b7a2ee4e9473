/* http.h - what the rooms above see of HTTP: a request, a reply, and the exchange that joins them.
 *
 * The listener owns sockets, TLS, parsing and deadlines.  It calls the
 * handler on the thread of the connection's loop.  The handler either fills
 * the reply at once or keeps the exchange and finishes it later from any
 * thread.  This room knows nothing of routes, tenants or the store. */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/id.h"
#include "contract/route.h"

struct http_exchange;

struct http_header {
	const char *name;  /* lower case, NUL-terminated */
	const char *value; /* UTF-8: what was not has question marks in its place */
	size_t name_len, value_len;
};

struct http_address {
	char text[INET6_ADDRSTRLEN];
	uint16_t port;
	bool loopback;
};

/* What counts as one address: whoever has one of IPv6 has its whole network of 64 bits. */
void http_network(const char *address, char out[INET6_ADDRSTRLEN]);

struct http_request {
	enum method method;
	const char *method_text; /* as sent; for METHOD_OTHER */
	const char *path;	 /* as sent, still percent-encoded, without the query */
	size_t path_len;
	const char *query; /* after the question mark, or "" */
	size_t query_len;
	int minor; /* HTTP/1.x */
	bool keep_alive;
	bool tls;
	bool has_body; /* Content-Length above 0, or chunked */
	bool chunked;
	uint64_t content_length; /* if not chunked */
	const struct http_header *headers;
	size_t header_count;
	const char *body; /* whole, when the handler's request() is called */
	size_t body_len;
	struct http_address peer;
	int64_t began_us; /* monotonic: when its first byte came */
};

/* The value of a header that comes at most once, or NULL; of several, the first. */
const char *http_header(const struct http_request *r, const char *lower_name);
/* How often the header comes. */
size_t http_header_count(const struct http_request *r, const char *lower_name);

/* A part of a file, sent from where it lies.  The descriptor is the reply's from here on and is closed with it; -1 where
 * only the head is asked for.  What is not in memory would hold up the loop: warm(), on its thread, has it read
 * elsewhere and says http_piece_done(), once, from any thread.  A file that is shorter than was said breaks the
 * connection off.  One that grows says how many bytes it has so far, and warm() is asked to wait for the rest. */
struct http_file {
	int fd;
	uint64_t at, len;
	const _Atomic uint64_t *there; /* NULL: it has them all */
	void (*warm)(struct http_exchange *x, int fd, uint64_t at, uint64_t len);
};

struct http_reply {
	int status;
	const char *type; /* Content-Type, or NULL for none */
	struct buf extra; /* further header lines, each "Name: value\r\n" */
	struct buf body;
	bool close;		/* close the connection after it */
	struct http_file *file; /* what follows the head in the place of a body; or NULL */

	/* Of one that is sent while it is made: see http_stream_begin(). */
	bool streams;
	uint64_t streamed; /* bytes of it so far */
};

struct http_loop;

/* Whatever a loop's epoll may report on: the pointer that is given to epoll_ctl(). */
struct http_source {
	void (*event)(struct http_source *s, uint32_t events);
};

/* Somebody else who lives on a loop's thread and has the loop wait for his descriptors. */
struct http_guest {
	void (*turn)(struct http_guest *g); /* in every turn, after its events */
	int64_t due_ms; /* by clock_mono_ms(): when the next turn must come; NIL: when it may */
};

/* What is sent in the place of an answer that must not be waited for. */
struct http_late {
	int err;
	const char *sentence;
};

struct http_exchange {
	struct http_request request;
	struct http_reply reply;
	struct arena arena; /* lives until the reply is sent */
	struct http_loop *loop;
	uint64_t max_body;		/* the limit's; head() may set another */
	struct memory_account *account; /* of those who hold much; until sent() */
	bool patient; /* head() may set it: patient_ms holds instead of deferred_ms */
	bool vouched; /* head() may set it: whoever sends the body was looked at */
	/* head() may set it: the body is not gathered but handed on while it comes, see http_piece_done(). */
	void (*sink)(struct http_exchange *x, const char *bytes, size_t n);
	const struct http_late
		*late; /* head() may set it: not waited for longer than two seconds */
	void *data;    /* the handler's own */
	char request_id[ID_LEN + 1];
};

enum http_verdict {
	HTTP_REPLIED, /* the reply is filled in: send it */
	/* http_finish() will be called, once, from any thread; if head() says so, http_finish_head() */
	HTTP_KEPT,
	HTTP_GO_ON, /* head() only: read the body, then call request() */
};

struct http_handler {
	/* The head is complete.  May answer at once (the connection closes if a body is still to come). */
	enum http_verdict (*head)(void *ctx, struct http_exchange *x);
	enum http_verdict (*request)(void *ctx, struct http_exchange *x);
	/* A reply for a fault found below the handler (400, 408, 413, 431, 503 ...). err is an ERR_. */
	void (*fault)(void *ctx, struct http_exchange *x, int err, const char *sentence);
	/* The exchange is over (sent, or the connection died): count and log it.  The arena still lives.
	 * Complete means that the last byte was handed to the transport.  May be NULL, as may all
	 * below; the three above may not. */
	void (*sent)(void *ctx, struct http_exchange *x, bool complete);
	/* The exchange has come to hold more than HTTP_UNCHARGED bytes: whose account is it?  May be NULL,
	 * as may the answer.  On the thread of whoever has the exchange. */
	struct memory_account *(*account)(void *ctx, struct http_exchange *x);
	/* The loop has done what there was to do and may now wait: let go of what must not be held. */
	void (*rest)(void *ctx, struct http_loop *loop);
	/* Called on the loop's own thread when it starts and when it ends. */
	void (*loop_begin)(void *ctx, struct http_loop *loop);
	void (*loop_end)(void *ctx, struct http_loop *loop);
	void *ctx;
	/* What all exchanges hold is added to this account; others may add to it, too.  NULL:
	 * it is not counted. */
	struct memory_account *house;
	/* Whether many stand behind this address, as behind a proxy: it has no share of the connections then, but as
	 * many as there are.  NULL: none has.  On any loop's thread. */
	bool (*gathers)(void *ctx, const char *address);
};

/* Every wait has an end: milliseconds, above 0. */
struct http_limits {
	size_t max_head;    /* bytes of request line and headers together */
	size_t max_headers; /* how many */
	uint64_t max_body;  /* bytes; the most a request may carry, unless head() says otherwise */
	size_t max_arena;   /* bytes in the arena of an exchange; 0: any number */
	size_t max_connections; /* over all loops; for one more, another goes, or it is answered 503 */
	size_t max_address; /* of them, those of one address while there is no room; 0: a quarter */
	size_t max_address_head; /* bytes of one address's heads that are not whole; 0: any number */
	int header_ms;	 /* from a request's first byte (or the handshake) to the end of its head */
	int body_ms;	 /* from there to the end of its body */
	int idle_ms;	 /* between requests */
	int reply_ms;	 /* without the peer taking a byte of the reply */
	int deferred_ms; /* from a kept exchange to http_finish(): then 504 is sent in its place */
	int patient_ms;	 /* the same for an exchange that says it takes long */
	int stalled_ms;	 /* while there is no room, what is this slow may go; 0: five seconds */
};

struct http_settings {
	const char *listen;		/* "127.0.0.1:8080", "[::1]:8080", several with commas */
	const char *tls_cert, *tls_key; /* PEM files, or NULL for plain HTTP */
	int loops;			/* 0: one a core */
	struct http_limits limits;
};

struct http_stats {
	uint64_t accepted, refused, replaced, timeouts, faults;
	uint64_t open;
};

struct http_server;

/* Binds and reads the certificate.  0, or an ERR_ with a sentence in p. */
int http_server_new(struct http_server **ret, const struct http_settings *settings,
	const struct http_handler *handler, struct arena *a, struct problem *p);
/* Serves another certificate to the connections to come; on an error the one in use stays.  Only for a
 * server that has one. */
int http_server_renew(struct http_server *s, const char *cert, const char *key, struct arena *a,
	struct problem *p);
/* When a certificate holds; ERR_USAGE with a sentence if it or its key cannot be used. */
struct http_certificate {
	int64_t from_s, until_s; /* since 1970 */
};
int http_certificate_read(const char *cert, const char *key, struct http_certificate *ret,
	struct arena *a, struct problem *p);
/* Starts the loops; returns when they answer.  From here on the process ignores SIGPIPE. */
int http_server_start(struct http_server *s);
/* The address bound first, as "127.0.0.1:8080"; for port 0 the one that was given. */
const char *http_server_address(const struct http_server *s);
/* Stops listening, lets what is in flight finish (at most grace_ms), closes all, joins the loops.
 * An exchange still kept then has lost its connection: http_finish() stays allowed until
 * http_server_free(), but sent() is no longer called for it. */
void http_server_stop(struct http_server *s, int grace_ms);
/* The same, with a function that is called now and then, at least every second, until it has stopped. */
void http_server_drain(
	struct http_server *s, int grace_ms, void (*meanwhile)(void *ctx), void *ctx);
/* Stops at once what still runs.  With a kept exchange still unfinished the memory is left
 * standing, so that a late http_finish() finds its mailbox. */
void http_server_free(struct http_server *s);
struct http_stats http_server_stats(const struct http_server *s);

/* Sends the reply of a kept exchange.  From any thread, once. */
void http_finish(struct http_exchange *x);

/* The same where it was head() that kept the exchange: the reply is filled in, or the body is taken. */
void http_finish_head(struct http_exchange *x, bool go_on);

/* A body of any length that is handed on while it comes: sink() is given a piece, on the loop's thread, must not
 * wait, and has it until http_piece_done() is said, once, from any thread, perhaps before it returns.  Only
 * then comes the next, and after the last one request(), with an empty body.  One piece fills meanwhile, and no
 * more is read than that, so that a sender is as fast as what takes its bytes.  Each piece has body_ms to come.
 * If it does not go on, the reply is filled in and sent in the place of the rest.  Where the sender goes or
 * errs, nothing more is called but sent(): what was begun belongs to the arena (arena_defer()). */
enum { HTTP_PIECE = 256 * 1024 };
void http_piece_done(struct http_exchange *x, bool goes_on);

/* Counts what the exchange holds now: its body, its arena, its reply.  False if that is more than its
 * account or the house has room for.  By whoever has the exchange, on any thread.  The buffers of
 * a stream are counted as they fill. */
bool http_charge(struct http_exchange *x);
enum { HTTP_UNCHARGED = 64 * 1024 };
#define HTTP_HOLDS_TOO_MUCH \
	"Requests that are under way hold all the memory there is for them: try again in a moment."

/* A reply that is sent while it is made, of any length: the export of a table, events as they happen.
 *
 * The exchange is kept (HTTP_KEPT).  Its maker, one thread at a time, fills in status, type and extra
 * lines and calls http_stream_begin(); from then on the reply is the listener's.  http_stream_write()
 * copies bytes and never waits.  http_stream_end() takes the place of http_finish().
 *
 *   HTTP_STREAM_OPEN   write on
 *   HTTP_STREAM_FULL   the bytes were taken, but the peer is behind, or whoever is charged for them has no
 *                      room for more: write no more until room() is called, once, on the loop's
 *                      thread, perhaps before this call returns
 *   HTTP_STREAM_GONE   nobody listens (any more): end it
 *
 * room() must not wait; it is also called when the peer goes while the stream is full.  A maker that
 * ignores HTTP_STREAM_FULL is the only one that can make memory grow.  The peer is cut off when it
 * takes no byte for reply_ms, or the maker writes none for deferred_ms: who has nothing to say for long
 * says something empty now and then.  HTTP/1.1 gets chunks; HTTP/1.0 the bytes and then the end of
 * the connection.  HEAD gets the head. */
enum http_flow { HTTP_STREAM_OPEN, HTTP_STREAM_FULL, HTTP_STREAM_GONE };
enum { HTTP_STREAM_HIGH = 64 * 1024 };
/* False if there is no use in writing; http_stream_end() is owed all the same.  room may be NULL. */
bool http_stream_begin(struct http_exchange *x, void (*room)(struct http_exchange *x));
enum http_flow http_stream_write(struct http_exchange *x, const void *bytes, size_t n);
/* Whether whoever is charged for the stream, and the house, have room for more.  For makers of large pieces who can
 * end before the next one. */
bool http_stream_has_room(struct http_exchange *x);
/* Not whole: the peer sees the connection break off instead of an end. */
void http_stream_end(struct http_exchange *x, bool whole);

/* True once the peer of a kept exchange has gone, or has said that it will say nothing more: a maker
 * for whom each further second costs money may stop.  From any thread. */
bool http_left(struct http_exchange *x);
/* Only once it has gone.  One that has shut its writing side alone still reads, as HTTP allows; but so does, until something is sent to
 * it, one that has closed. */
bool http_gone(struct http_exchange *x);

/* A place for what the handler keeps a loop (its store connection). */
void http_loop_set(struct http_loop *loop, void *data);
void *http_loop_get(const struct http_loop *loop);
int http_loop_index(const struct http_loop *loop);
/* On the loop's own thread, from loop_begin() on.  The guest is NULL when he leaves.  The descriptor is
 * the one to which he adds his own, or -1 where a loop has none: then nobody can be its guest. */
void http_loop_invite(struct http_loop *loop, struct http_guest *guest);
int http_loop_epoll(const struct http_loop *loop);

/* Whether Accept-Encoding, taken as one list over all its lines, has room for this coding. */
bool http_takes(const struct http_request *r, const char *coding);
/* Compresses the body if the caller takes gzip and it is worth it.  Once the body is final. */
void http_gzip(struct http_exchange *x);

/* The server without sockets: bytes in, bytes out, on the caller's thread.  For tests and fuzzing. */
struct http_inproc;
struct http_inproc *http_inproc_new(
	const struct http_limits *limits, const struct http_handler *handler);
/* Feeds bytes as a client would, waits for kept exchanges, and appends all that was answered.
 * False once the server has closed the connection; the next call opens a new one. */
bool http_inproc_send(struct http_inproc *d, const char *bytes, size_t n, struct buf *out);
/* The client shuts its side; what is still owed is answered. */
bool http_inproc_half_close(struct http_inproc *d, struct buf *out);
void http_inproc_free(struct http_inproc *d);
