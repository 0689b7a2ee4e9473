/* mail_place.c - see mail_place.h. */
#include "serve/mail_place.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket, or -1 with errno. */
static int connect_to(int family, const void *at, socklen_t len, int wait_s)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), err;
	struct timeval wait = { .tv_sec = wait_s };

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	if (connect(fd, at, len) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

int mail_place_connect(const char *where, int wait_s)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char host[256], *port;
	int fd;

	if (strncmp(where, "unix:", 5) == 0) {
		snprintf(at.sun_path, sizeof at.sun_path, "%s", where + 5);
		return connect_to(AF_UNIX, &at, sizeof at, wait_s);
	}
	snprintf(host, sizeof host, "%s", *where == '[' ? where + 1 : where);
	port = strrchr(host, ':');
	*port++ = '\0';
	host[strcspn(host, "]")] = '\0';
	if (getaddrinfo(host, port, &hints, &found)) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	fd = connect_to(found->ai_family, found->ai_addr, found->ai_addrlen, wait_s);
	freeaddrinfo(found);
	return fd;
}

const char *mail_place_greets(const char *where, int wait_s, struct arena *a)
{
	int fd = mail_place_connect(where, wait_s);
	char line[400];
	ssize_t n;

	if (fd < 0)
		return arena_strdup(a, strerror(errno));
	do
		n = recv(fd, line, sizeof line - 1, 0);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n <= 0)
		return "it says nothing";
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return strncmp(line, "220", 3) == 0 ? NULL : arena_strdup(a, line);
}
