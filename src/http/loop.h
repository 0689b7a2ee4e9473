/* loop.h - what belongs to one thread: its connections, their deadlines, its pools, its mailbox.
 *
 * Everything here is touched by the loop's own thread alone, but for the
 * mailbox and the counters.  A loop knows connections by their source and
 * their deadline; what they are doing is conn.c's matter. */
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "http/http.h"
#include "http/parse.h"
#include "http/share.h"

struct http_conn;

/* A message: an exchange that is finished, or a connection handed over. */
struct http_mail {
	struct http_mail *next;
	void (*open)(struct http_loop *loop, struct http_mail *m);
	void (*discard)(struct http_loop *loop, struct http_mail *m); /* the loop has ended */
};

/* One list each, first in first out: within a class every wait is equally long. */
enum http_deadline {
	DEADLINE_HEADER,
	DEADLINE_BODY,
	DEADLINE_IDLE,
	DEADLINE_REPLY,
	DEADLINE_DEFERRED,
	DEADLINE_PATIENT,
	DEADLINE_PROMPT,
	DEADLINE_LINGER,
	DEADLINE_COUNT,
};

/* A buffer of loop->page_size bytes, of which at..len are yet to be used. */
struct http_page {
	struct http_page *next;
	size_t at, len;
	char bytes[];
};

/* What passes between the maker of a stream and the loop. */
struct http_stream {
	pthread_mutex_t lock; /* over the next eight */
	struct buf waiting;   /* written, not yet taken by the loop */
	void (*room)(struct http_exchange *x);
	bool begun, posted, wants_room;
	bool pressed; /* who is charged for it has no room: nothing is to be made before what is here is sent */
	bool left;	       /* the peer says nothing more */
	bool gone;	       /* there is no connection any more */
	bool cut;	       /* it is not whole */
	struct http_mail mail; /* there is something to take */
	/* The loop's, in words of their own: the head is put into bytes; the maker is done. */
	bool headed, ended;
};

/* An exchange with what the listener keeps beside it. */
struct http_box {
	struct http_exchange x; /* first: http_finish() is given this */
	struct http_mail mail;
	struct http_conn *conn; /* NULL: gone, or already answered in its place */
	struct http_box *next;	/* in the pool */
	struct http_head head;
	struct http_chunked chunked;
	struct http_stream stream;
	struct buf body;
	struct buf piece;   /* of a body that is handed on: what the handler has of it */
	uint64_t body_left; /* of Content-Length */
	uint64_t sunk;	    /* bytes that were handed on */
	uint64_t file_left; /* of the reply's file */
	uint64_t file_warm; /* of it, so many bytes more are known to be in memory */
	size_t body_sent;   /* of the reply's body */
	size_t held;	    /* bytes it is charged for */
	size_t metered;	    /* of them, those that the arena tells the house */
	size_t made;	    /* of them, those of its body and arena when they were last looked at */
	bool at_head;	    /* kept before its body was taken */
	bool goes_on;	    /* and then it is; or the piece's verdict */
	bool lent;	    /* the handler has a piece of the body, or of the file */
	bool whole;	    /* all of the body has come */
	bool spared;	    /* it was refused for what it held */
	struct http_header headers[];
};

struct http_loop {
	struct http_source source; /* the mailbox */
	int index, epoll, wake;
	void *data; /* the handler's */
	struct http_guest *guest;
	const struct http_handler *handler;
	struct http_limits limits;
	_Atomic size_t
		*total; /* connections of the whole server, or NULL in the in-process server */
	struct http_shares *shares; /* of the whole server, or NULL */
	struct http_loop *beside;   /* the next loop of the server, in a ring */
	int loop_count;
	int64_t held;		    /* bytes, by this loop's exchanges */
	_Atomic int64_t held_aside; /* beside that, what was counted on other threads */
	_Atomic int64_t told_aside; /* what of that the house knows */
	int64_t told;		    /* what of that the house knows */
	pthread_t thread, self;	    /* as its maker knows it, and as it knows itself */
	_Atomic bool alive;	    /* self is set */
	bool mail_here;		    /* mail that was posted on this thread, which needs no waking */
	sem_t ready_to_serve;

	int64_t now_us, now_ms; /* read once a turn */
	int64_t date_s;
	char date[29];

	struct http_list {
		struct http_conn *first, *last;
		int64_t ms;
	} deadlines[DEADLINE_COUNT];
	struct http_conn *ready, **ready_last; /* have more to do, but others come first */
	struct http_conn *dead;		       /* freed at the end of the turn */

	size_t page_size, page_count, box_count;
	struct http_page *pages;
	struct http_box *boxes;
	size_t open, kept;

	bool draining;
	int64_t drain_due;
	_Atomic bool stop;
	int grace_ms;
	struct http_listener *listeners; /* in the first loop */
	int64_t accept_due;		 /* when to try accepting again, or 0 */
	int64_t accept_warn;		 /* when to complain of that again */

	pthread_mutex_t mail_lock;
	struct http_mail *mail, **mail_last;
	bool woken; /* wake has been written to since the mail was taken */

	_Atomic uint64_t accepted, refused, replaced, timeouts, faults, connections;
};

bool http_loop_init(struct http_loop *l, int index, const struct http_limits *limits,
	const struct http_handler *handler);
/* Gives everything back; false (and nothing is freed) while kept exchanges are unfinished. */
bool http_loop_fini(struct http_loop *l);
void *http_loop_main(void *loop);

/* Whether it runs on another thread than this.  The in-process server's loop runs on whichever thread knocks. */
bool http_loop_is_elsewhere(struct http_loop *l);
/* Reads the clocks. */
void http_loop_tick(struct http_loop *l);
/* Opens what has come in the mail. */
void http_loop_mail(struct http_loop *l);
/* From any thread. */
void http_loop_post(struct http_loop *l, struct http_mail *m);
/* Gives the connections in the ready list, as it stands, their next turn. */
void http_loop_run_ready(struct http_loop *l);
void http_loop_expire(struct http_loop *l);
void http_loop_reap(struct http_loop *l);
/* Milliseconds until something is due; -1 for never. */
int http_loop_timeout(const struct http_loop *l);

void http_loop_arm(struct http_conn *c, enum http_deadline class);
void http_loop_disarm(struct http_conn *c);
void http_loop_ready(struct http_conn *c);

/* exchange.c: the pools. */
struct http_page *http_page_take(struct http_loop *l);
void http_page_put(struct http_loop *l, struct http_page *p);
struct http_box *http_box_take(struct http_loop *l);
/* Clears the reply, for a fault to be put in its place. */
void http_box_clear_reply(struct http_box *b);
void http_box_put(struct http_loop *l, struct http_box *b);
/* Of a reply that is a stream: its two buffers beside what the exchange held when it began, whose arena may
 * be its maker's now.  False as http_charge() says it. */
bool http_box_charge_stream(struct http_box *b, size_t waiting);
/* Under the stream's lock, on its maker's thread: its buffer has grown by so much. */
void http_box_charge_more(struct http_box *b, size_t grown);
/* Finds out whose account it is, though it may hold little yet. */
void http_box_name_account(struct http_box *b);
/* Whether whoever is charged for it, and the house, have room for more. */
bool http_box_has_room(const struct http_box *b);
/* What it takes as it stands, without its body and reply. */
size_t http_box_size(const struct http_box *b);
/* On its own thread: so many bytes more, or less, are held than before.  False if the house has no room. */
bool http_loop_hold(struct http_loop *l, int64_t by);
/* It holds nothing any more: its account is about to go. */
void http_box_discharge(struct http_box *b);
void http_pools_free(struct http_loop *l);

/* server.c */
void http_listeners_close(struct http_loop *l);
void http_listeners_resume(struct http_loop *l);

static inline void http_count(_Atomic uint64_t *counter, int by)
{
	/* One writer: no need for a locked instruction. */
	atomic_store_explicit(counter,
		atomic_load_explicit(counter, memory_order_relaxed) + (uint64_t)(int64_t)by,
		memory_order_relaxed);
}
