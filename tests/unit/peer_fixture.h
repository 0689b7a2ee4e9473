/* peer_fixture.h - a service on the loopback that answers as a test has it: one thread a connection, one request
 * a connection. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct peer {
	/* Answers on the socket, which is closed after it.  The request is whole and NUL-terminated. */
	void (*answer)(struct peer *p, int fd, const char *request);
	int listener, port;
	pthread_t thread;
	atomic_bool over;	/* those who hang look here */
	atomic_int asked, open; /* requests so far; under way */
};

void peer_open(struct peer *p, void (*answer)(struct peer *p, int fd, const char *request));
void peer_close(struct peer *p);
/* False once the other side takes no more. */
bool peer_say(int fd, const char *bytes, size_t len);
/* A whole reply with this type and body. */
void peer_reply(int fd, int status, const char *type, const char *body, size_t len);
/* Says nothing until the other side goes away, or the test is over. */
void peer_hang(struct peer *p, int fd);
