/* supervisor.c - see supervisor.h.  The protocol is one datagram with lines of NAME=VALUE; that is too
 * little to link libsystemd for. */
#include "serve/supervisor.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* With the time of a reload systemd can tell its end from the end of another one. */
static void write_state(enum supervisor_state state, char *out, size_t room)
{
	switch (state) {
	case SUPERVISOR_READY:
		snprintf(out, room, "READY=1");
		return;
	case SUPERVISOR_RELOADING:
		snprintf(out, room, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)clock_mono_us());
		return;
	case SUPERVISOR_STOPPING:
		snprintf(out, room, "STOPPING=1");
		return;
	}
}

bool supervisor_tell(enum supervisor_state state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	char text[64] = "";
	ssize_t sent;
	int fd;

	if (!len || (*path != '/' && *path != '@') || len >= sizeof to.sun_path)
		return false;
	memcpy(to.sun_path, path, len);
	if (*path == '@') /* a name without a file */
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	write_state(state, text, sizeof text);
	sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL,
		(const struct sockaddr *)(const void *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
	return sent == (ssize_t)strlen(text);
}
