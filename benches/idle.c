/* idle.c - many connections that have each made one request and then rest.
 *
 *   idle PORT COUNT PATH TOKEN
 *
 * Prints "resting" when all have their reply, holds them until standard input
 * ends, and then says whether all were still open. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* One reply with a Content-Length, 200 or nothing. */
static void read_reply(int fd)
{
	char text[64 * 1024], *end = NULL, *length;
	size_t len = 0;

	while (!end || len < (size_t)(end - text) + 4 + strtoul(length + 16, NULL, 10)) {
		ssize_t n = recv(fd, text + len, sizeof text - 1 - len, 0);

		if (n <= 0)
			die("recv");
		text[len += (size_t)n] = '\0';
		end = strstr(text, "\r\n\r\n");
		length = end ? strstr(text, "\r\nContent-Length:") : NULL;
		if (end && (!length || strncmp(text, "HTTP/1.1 200", 12) != 0)) {
			fprintf(stderr, "%.200s\n", text);
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in where = { .sin_family = AF_INET };
	char request[1024];
	int count, *fds, len, open = 0;

	if (argc != 5)
		return fprintf(stderr, "idle PORT COUNT PATH TOKEN\n"), 2;
	where.sin_port = htons((uint16_t)atoi(argv[1]));
	where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	count = atoi(argv[2]);
	fds = calloc((size_t)count, sizeof *fds);
	if (!fds)
		die("calloc");
	len = snprintf(request, sizeof request,
		"GET %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", argv[3],
		argv[4]);
	for (int i = 0; i < count; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (fds[i] < 0 || connect(fds[i], (struct sockaddr *)&where, sizeof where))
			die("connect");
		if (send(fds[i], request, (size_t)len, MSG_NOSIGNAL) != len)
			die("send");
		read_reply(fds[i]);
	}
	puts("resting");
	fflush(stdout);
	while (read(0, request, sizeof request) > 0)
		;
	for (int i = 0; i < count; i++)
		open += recv(fds[i], request, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
	if (open != count)
		fprintf(stderr, "only %d of %d were still open\n", open, count);
	free(fds);
	return open != count;
}
