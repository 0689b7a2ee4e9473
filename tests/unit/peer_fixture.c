/* peer_fixture.c - see peer_fixture.h. */
#include "peer_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t.h"

enum { REQUEST_MAX = 1 << 20 };

struct visitor {
	struct peer *peer;
	int fd;
};

bool peer_say(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

void peer_reply(int fd, int status, const char *type, const char *body, size_t len)
{
	char head[512];

	snprintf(head, sizeof head,
		"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		status, type, len);
	if (peer_say(fd, head, strlen(head)))
		peer_say(fd, body, len);
}

void peer_hang(struct peer *p, int fd)
{
	struct pollfd at = { .fd = fd, .events = POLLIN | POLLRDHUP };
	char byte;

	while (!p->over && (poll(&at, 1, 20) == 0 || recv(fd, &byte, 1, MSG_DONTWAIT) > 0))
		;
}

static bool is_whole(const char *text, size_t len)
{
	const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "content-length: ");

	return end && len >= (size_t)(end - text) + 4 +
				      (length && length < end ? strtoul(length + 16, NULL, 10) : 0);
}

static void *visit(void *arg)
{
	struct visitor v = *(struct visitor *)arg;
	char *text = calloc(1, REQUEST_MAX + 1);
	size_t len = 0;
	ssize_t n;

	free(arg);
	while (len < REQUEST_MAX && (n = read(v.fd, text + len, REQUEST_MAX - len)) > 0) {
		len += (size_t)n;
		if (is_whole(text, len))
			break;
	}
	if (len) {
		v.peer->asked++;
		v.peer->answer(v.peer, v.fd, text);
	}
	free(text);
	shutdown(v.fd, SHUT_WR);
	close(v.fd);
	v.peer->open--;
	return NULL;
}

static void *serve(void *arg)
{
	struct peer *p = arg;

	while (!p->over) {
		struct pollfd at = { .fd = p->listener, .events = POLLIN };
		struct visitor *v;
		pthread_t thread;
		int fd;

		if (poll(&at, 1, 20) <= 0 || (fd = accept(p->listener, NULL, NULL)) < 0)
			continue;
		v = malloc(sizeof *v);
		*v = (struct visitor){ p, fd };
		p->open++;
		CHECK(pthread_create(&thread, NULL, visit, v) == 0);
		pthread_detach(thread);
	}
	return NULL;
}

void peer_open(struct peer *p, void (*answer)(struct peer *p, int fd, const char *request))
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof at;

	*p = (struct peer){ .answer = answer };
	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(p->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
		listen(p->listener, 256) == 0);
	getsockname(p->listener, (struct sockaddr *)&at, &len);
	p->port = ntohs(at.sin_port);
	CHECK(pthread_create(&p->thread, NULL, serve, p) == 0);
}

void peer_close(struct peer *p)
{
	p->over = true;
	pthread_join(p->thread, NULL);
	while (p->open)
		usleep(1000);
	close(p->listener);
}
