/* stream_fixture.h - the service on real sockets, sessions to write in, and a client for server-sent events. */
#pragma once
#include "fixture.h"
#include "events/hub.h"

struct stream_fixture {
	struct fixture *f;
	struct http_server *server;
	const char *agent_id;
	char address[64];
};

void stream_fixture_open(struct stream_fixture *s, int reply_ms);
void stream_fixture_close(struct stream_fixture *s);
/* A session of the fixture's agent; user_id takes part in it, or NULL. */
const char *stream_session(struct stream_fixture *s, const char *user_id);
/* Adds an event in a transaction of its own; from any thread. */
void stream_add(struct stream_fixture *s, const char *session_id, enum session_event kind,
	const char *data);

struct reader {
	int fd;
	struct buf raw;	     /* as it came, from raw_at on not yet taken out of its chunks */
	size_t raw_at, left; /* of the chunk under way */
	struct buf text;     /* from text_at on not yet read */
	size_t text_at;
	int status;
	bool over;  /* the end has come */
	bool whole; /* with its last chunk */
	char last_id[160];
	char id[160], event[32];
	struct buf data;
};

/* Opens a stream; last_id may be NULL. */
void reader_open(struct reader *c, const struct stream_fixture *s, const char *token,
	const char *last_id, const char *path, ...) __attribute__((format(printf, 5, 6)));
/* The next event, within so many milliseconds: false if there was none, or the stream is over. */
bool reader_next(struct reader *c, int ms);
/* Until the stream is over. */
bool reader_await_end(struct reader *c, int ms);
void reader_close(struct reader *c);
