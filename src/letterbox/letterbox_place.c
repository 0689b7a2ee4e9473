/* letterbox_place.c - the sockets at which mail is taken: in the file system, or an address and a port. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "letterbox/letterbox_parts.h"

enum { WAITING = 64, GREETING_S = 2, LOW_PORTS = 1024 };

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

static int bind_at_address(struct letterbox_place *place, const struct addrinfo *ai)
{
	int on = 1;

	place->fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (place->fd < 0)
		return errno;
	setsockopt(place->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (ai->ai_family == AF_INET6)
		setsockopt(place->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
	return bind(place->fd, ai->ai_addr, ai->ai_addrlen) ? errno : 0;
}

/* NULL with the problem set. */
static struct addrinfo *address_of(const char *where, struct arena *a, struct problem *p)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE },
			*found = NULL;
	char *host = arena_strdup(a, where), *port = strrchr(host, ':');
	int number;

	if (!port) {
		place_fault(a, p, where, "it has no port");
		return NULL;
	}
	*port++ = '\0';
	if (*host == '[') {
		host[strlen(host) - 1] = '\0';
		host++;
	}
	number = getaddrinfo(host, port, &hints, &found);
	if (number)
		place_fault(a, p, where, gai_strerror(number));
	return number ? NULL : found;
}

static int listen_tcp(
	struct letterbox *b, const char *where, bool smtp, struct arena *a, struct problem *p)
{
	struct letterbox_place *place = &b->places[b->place_count];
	struct addrinfo *found = address_of(where, a, p);
	int number;

	if (!found)
		return ERR_USAGE;
	number = bind_at_address(place, found);
	if (!number && listen(place->fd, WAITING))
		number = errno;
	freeaddrinfo(found);
	place->smtp = smtp;
	b->place_count++;
	if (number)
		return place_fault(a, p, where, strerror(number));
	say_address(place);
	return 0;
}

/* Does a letterbox of that name greet there? */
static bool is_ours(const struct addrinfo *ai, const char *host)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval wait = { .tv_sec = GREETING_S };
	char said[300] = "";
	size_t n = strlen(host), len = 0;
	ssize_t got = 1;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) == 0)
		while (got > 0 && len < sizeof said - 1 && !strchr(said, '\n')) {
			got = recv(fd, said + len, sizeof said - 1 - len, 0);
			len += got > 0 ? (size_t)got : 0;
		}
	close(fd);
	return strncmp(said, "220 ", 4) == 0 && strncmp(said + 4, host, n) == 0 &&
	       said[4 + n] == '\r';
}

/* As above, and nobody is taken there. */
static int check_tcp(struct letterbox *b, const char *where, struct arena *a, struct problem *p)
{
	struct letterbox_place *place = &b->places[b->place_count];
	struct addrinfo *found = address_of(where, a, p);
	int number, err = 0;

	if (!found)
		return ERR_USAGE;
	number = bind_at_address(place, found);
	b->place_count++;
	if (number && !(number == EADDRINUSE && is_ours(found, b->host)))
		err = place_fault(a, p, where, strerror(number));
	freeaddrinfo(found);
	return err;
}

static bool is_unix(const char *where)
{
	return strncmp(where, UNIX_PLACE, strlen(UNIX_PLACE)) == 0;
}

/* The next of the places with commas between; NULL: there are no more. */
static const char *next_place(const char **list, struct arena *a)
{
	size_t len;
	const char *at;

	*list += strspn(*list, ", ");
	len = strcspn(*list, ", ");
	at = len ? arena_strndup(a, *list, len) : NULL;
	*list += len;
	return at;
}

int letterbox_listen(
	struct letterbox *b, const char *lmtp, const char *smtp, struct arena *a, struct problem *p)
{
	const char *at;
	int err = 0;

	if (*lmtp)
		err = is_unix(lmtp) ? listen_unix(b, lmtp, a, p) : listen_tcp(b, lmtp, false, a, p);
	while (!err && (at = next_place(&smtp, a)))
		err = b->place_count == LETTERBOX_PLACES_MAX
			      ? place_fault(a, p, at, "there are too many places")
			      : listen_tcp(b, at, true, a, p);
	return err;
}

int letterbox_check(const struct letterbox_settings *settings, struct arena *a, struct problem *p)
{
	struct letterbox b = { .host = arena_strdup(a, settings->host) };
	const char *smtp = settings->smtp, *at;
	int err = 0;

	for (size_t i = 0; i < LETTERBOX_PLACES_MAX; i++)
		b.places[i].fd = -1;
	if (*settings->lmtp && !is_unix(settings->lmtp))
		err = check_tcp(&b, settings->lmtp, a, p);
	while (!err && (at = next_place(&smtp, a)))
		err = b.place_count == LETTERBOX_PLACES_MAX
			      ? place_fault(a, p, at, "there are too many places")
			      : check_tcp(&b, at, a, p);
	letterbox_close(&b);
	return err;
}

int letterbox_low_port(const struct letterbox_settings *settings)
{
	const char *lists[] = { is_unix(settings->lmtp) ? "" : settings->lmtp, settings->smtp },
		   *at;
	struct arena a = { 0 };
	int low = 0;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		while (!low && (at = next_place(&lists[i], &a))) {
			long port = strtol(strrchr(at, ':') + 1, NULL, 10);

			low = port > 0 && port < LOW_PORTS ? (int)port : 0;
		}
	arena_free(&a);
	return low;
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
