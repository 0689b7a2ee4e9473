/* letterbox_place.c - the sockets at which mail is taken: in the file system, or an address and a port. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "letterbox/letterbox_parts.h"

enum { WAITING = 64 };

#define UNIX_PLACE "unix:"

static int place_fault(struct arena *a, struct problem *p, const char *where, const char *why)
{
	return problem_set(p, a, ERR_USAGE, "cannot take mail at %s: %s", where, why);
}

/* Whether somebody answers there. */
static bool is_live(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool live = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;

	if (fd >= 0)
		close(fd);
	return live;
}

/* A socket that a process left behind is removed, and nothing else. */
static const char *make_way(const struct sockaddr_un *at)
{
	struct stat st;

	if (lstat(at->sun_path, &st))
		return NULL;
	if (!S_ISSOCK(st.st_mode))
		return "there is something else, which is no socket";
	if (is_live(at))
		return "another process takes mail there";
	return unlink(at->sun_path) ? strerror(errno) : NULL;
}

static int listen_unix(struct letterbox *b, const char *where, struct arena *a, struct problem *p)
{
	struct letterbox_place *place = &b->places[b->place_count];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *path = where + strlen(UNIX_PLACE), *fault;

	if (strlen(path) >= sizeof at.sun_path)
		return place_fault(a, p, where, "the path is too long");
	strcpy(at.sun_path, path); /* NOLINT: it has the room */
	fault = make_way(&at);
	if (fault)
		return place_fault(a, p, where, fault);
	place->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (place->fd < 0)
		return place_fault(a, p, where, strerror(errno));
	b->place_count++;
	/* Nobody can connect before it listens. */
	if (bind(place->fd, (struct sockaddr *)&at, sizeof at) || chmod(path, 0660) ||
		stat(path, &place->own) || listen(place->fd, WAITING))
		return place_fault(a, p, where, strerror(errno));
	place->path = memory_must(strlen(path) + 1);
	strcpy(place->path, path); /* NOLINT: likewise */
	snprintf(place->said, sizeof place->said, "%s", where);
	return 0;
}

static void say_address(struct letterbox_place *place)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof at;
	char host[100], port[10];

	if (getsockname(place->fd, (struct sockaddr *)&at, &len) == 0 &&
		getnameinfo((struct sockaddr *)&at, len, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		snprintf(place->said, sizeof place->said, "%s%s%s:%s", strchr(host, ':') ? "[" : "",
			host, strchr(host, ':') ? "]" : "", port);
}

static int listen_at_address(struct letterbox_place *place, const struct addrinfo *ai)
{
	int on = 1;

	place->fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (place->fd < 0)
		return errno;
	setsockopt(place->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (ai->ai_family == AF_INET6)
		setsockopt(place->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
	return bind(place->fd, ai->ai_addr, ai->ai_addrlen) || listen(place->fd, WAITING) ? errno
											  : 0;
}

static int listen_tcp(
	struct letterbox *b, const char *where, bool smtp, struct arena *a, struct problem *p)
{
	struct letterbox_place *place = &b->places[b->place_count];
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
	char *host = arena_strdup(a, where), *port = strrchr(host, ':');
	int number;

	if (!port)
		return place_fault(a, p, where, "it has no port");
	*port++ = '\0';
	if (*host == '[') {
		host[strlen(host) - 1] = '\0';
		host++;
	}
	number = getaddrinfo(host, port, &hints, &found);
	if (number)
		return place_fault(a, p, where, gai_strerror(number));
	number = listen_at_address(place, found);
	freeaddrinfo(found);
	place->smtp = smtp;
	b->place_count++;
	if (number)
		return place_fault(a, p, where, strerror(number));
	say_address(place);
	return 0;
}

int letterbox_listen(
	struct letterbox *b, const char *lmtp, const char *smtp, struct arena *a, struct problem *p)
{
	int err = 0;

	if (*lmtp)
		err = strncmp(lmtp, UNIX_PLACE, strlen(UNIX_PLACE)) == 0
			      ? listen_unix(b, lmtp, a, p)
			      : listen_tcp(b, lmtp, false, a, p);
	while (!err && *(smtp += strspn(smtp, ", "))) {
		size_t len = strcspn(smtp, ", ");

		err = b->place_count == LETTERBOX_PLACES_MAX
			      ? place_fault(a, p, smtp, "there are too many places")
			      : listen_tcp(b, arena_strndup(a, smtp, len), true, a, p);
		smtp += len;
	}
	return err;
}

void letterbox_close(struct letterbox *b)
{
	for (size_t i = 0; i < b->place_count; i++) {
		struct letterbox_place *place = &b->places[i];
		struct stat st;

		/* Another's may be there by now. */
		if (place->path && stat(place->path, &st) == 0 && st.st_ino == place->own.st_ino &&
			st.st_dev == place->own.st_dev)
			unlink(place->path);
		if (place->fd >= 0)
			close(place->fd);
		free(place->path);
		place->path = NULL;
		place->fd = -1;
	}
}
