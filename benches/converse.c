/* converse.c - people who talk to agents, each with one of their own: converse PORT TOKEN SECONDS <AGENTS
 *
 * Each asks for a turn with one call of a tool, waits until the run is over,
 * and asks again; after ten turns they begin another session.  Prints the
 * turns that were completed, the seconds they took, and the median and the
 * 99th percentile of a turn in microseconds. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PEOPLE_MAX = 256, TURNS_MAX = 1000000, TURNS_A_SESSION = 10, REPLY_MAX = 1 << 20 };

static int port;
static const char *token;
static double end_s;
static _Atomic int turns;
static int *took_us;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what, const char *reply)
{
	fprintf(stderr, "%s: %.2000s\n", what, reply);
	exit(1);
}

static int dial(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (connect(fd, (struct sockaddr *)&to, sizeof to))
		fail("connect", "no");
	return fd;
}

/* One request; the reply is whole when its length, or its last chunk, is there. */
static void ask(int fd, const char *path, const char *accept, const char *body, char *reply)
{
	char request[2048];
	size_t len = 0, head;
	int n = snprintf(request, sizeof request,
		"POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nAccept: %s\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		path, token, accept, strlen(body), body);
	const char *blank, *length;

	if (write(fd, request, (size_t)n) != n)
		fail("write", path);
	for (;;) {
		ssize_t got = read(fd, reply + len, REPLY_MAX - 1 - len);

		if (got <= 0)
			fail("the connection ended", reply);
		len += (size_t)got;
		reply[len] = '\0';
		blank = strstr(reply, "\r\n\r\n");
		if (!blank)
			continue;
		head = (size_t)(blank - reply) + 4;
		length = strcasestr(reply, "\ncontent-length:");
		if (length && length < blank) {
			if (len - head >= strtoul(length + 16, NULL, 10))
				return;
		} else if (len >= 5 && memcmp(reply + len - 5, "0\r\n\r\n", 5) == 0) {
			return;
		}
	}
}

static void one_turn(int fd, const char *path, char *reply)
{
	double began = now_s();
	int mine;

	ask(fd, path, "text/event-stream",
		"{\"content\":\"use tool calculator with {\\\"expression\\\":\\\"6*7\\\"}\"}",
		reply);
	if (!strstr(reply, "\"status\":\"completed\"") || !strstr(reply, "answered: 42"))
		fail("a turn was not completed", reply);
	mine = atomic_fetch_add(&turns, 1);
	if (mine < TURNS_MAX)
		took_us[mine] = (int)((now_s() - began) * 1e6);
}

static void *person(void *agent)
{
	char path[128], *reply = malloc(REPLY_MAX), *id;
	int fd = dial();

	while (now_s() < end_s) {
		snprintf(path, sizeof path, "/agents/%s/sessions", (const char *)agent);
		ask(fd, path, "application/json", "{}", reply);
		id = strstr(reply, "{\"id\":\"");
		if (!id)
			fail("no session", reply);
		snprintf(path, sizeof path, "/sessions/%.25s/messages", id + 7);
		for (int i = 0; i < TURNS_A_SESSION && now_s() < end_s; i++)
			one_turn(fd, path, reply);
	}
	close(fd);
	free(reply);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int main(int argc, char **argv)
{
	static char agents[PEOPLE_MAX][32];
	pthread_t people[PEOPLE_MAX];
	int count = 0, done;
	double began = now_s();

	if (argc != 4)
		return 2;
	port = atoi(argv[1]);
	token = argv[2];
	end_s = began + atof(argv[3]);
	took_us = calloc(TURNS_MAX, sizeof *took_us);
	while (count < PEOPLE_MAX && scanf("%31s", agents[count]) == 1)
		count++;
	for (int i = 0; i < count; i++)
		pthread_create(&people[i], NULL, person, agents[i]);
	for (int i = 0; i < count; i++)
		pthread_join(people[i], NULL);
	done = turns < TURNS_MAX ? turns : TURNS_MAX;
	if (!done)
		fail("no turn was completed", "");
	qsort(took_us, (size_t)done, sizeof *took_us, by_size);
	printf("%d %.3f %d %d\n", turns, now_s() - began, took_us[done / 2],
		took_us[done * 99 / 100]);
	free(took_us);
	return 0;
}
