/* tokens.c - a provider that streams at a pace, and clients that see when its tokens arrive.
 *
 *   tokens provider PORT TOKENS PACE_MS     answers every POST with a stream of that many tokens
 *   tokens first PORT KEY BODY COUNT        one stream after the other: how long until its first token
 *   tokens many PORT KEY BODY STREAMS SECONDS   so many streams at once, begun within the first second
 *
 * A token is the moment at which it was sent, by the monotonic clock, so that whoever reads it on the same
 * machine knows how long it was under way.  `first` prints the median and the 99th percentile in microseconds;
 * `many` prints how many tokens came, the median, the 99th percentile and the longest of their delays, and
 * the median delay in the first and in the last third of the time, in microseconds. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, HEAD_MAX = 64 * 1024, DELAYS_MAX = 1 << 24 };

static const char opening[] = "\"content\":\"t";

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static void write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return; /* the peer has gone; reading will tell */
		bytes += sent;
		n -= (size_t)sent;
	}
}

/* ---- the provider ---- */

struct stream {
	int fd, left; /* tokens to send; 0: it waits for a request */
	int64_t due;  /* when the next is */
	size_t have;  /* bytes of the request */
	char request[HEAD_MAX];
};

static void send_chunk(int fd, const char *text)
{
	char chunk[512];

	write_all(fd, chunk,
		(size_t)snprintf(chunk, sizeof chunk, "%zx\r\n%s\r\n", strlen(text), text));
}

static void send_token(struct stream *s, int pace_ms)
{
	char text[256];

	snprintf(text, sizeof text,
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
		"\"choices\":[{\"index\":0,\"delta\":{%st%lld \"},\"finish_reason\":null}]}\n\n",
		"\"content\":\"", (long long)now_us());
	send_chunk(s->fd, text);
	s->due += (int64_t)pace_ms * 1000;
	if (--s->left)
		return;
	send_chunk(s->fd,
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
	send_chunk(s->fd,
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":20,\"total_tokens\":60}}\n\n");
	write_all(s->fd, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n", 24);
}

/* A request is whole when its body is; it says its length. */
static int is_whole(struct stream *s)
{
	char *end, *length;

	s->request[s->have] = '\0';
	end = strstr(s->request, "\r\n\r\n");
	length = strcasestr(s->request, "content-length:");
	return end && length &&
	       s->have >= (size_t)(end + 4 - s->request) + strtoul(length + 15, NULL, 10);
}

/* False: the peer has gone. */
static int hear(struct stream *s, int tokens, int pace_ms)
{
	static const char head[] =
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
		"Transfer-Encoding: chunked\r\n\r\n";
	ssize_t got = read(s->fd, s->request + s->have, HEAD_MAX - 1 - s->have);

	if (got <= 0)
		return 0;
	s->have += (size_t)got;
	if (!is_whole(s))
		return 1;
	s->have = 0;
	s->left = tokens;
	s->due = now_us();
	write_all(s->fd, head, sizeof head - 1);
	send_token(s, pace_ms);
	return 1;
}

static void provide(int port, int tokens, int pace_ms)
{
	struct sockaddr_in at = loopback(port);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1,
	    epoll = epoll_create1(0);
	struct stream **all = NULL;
	size_t count = 0;
	struct epoll_event e = { .events = EPOLLIN }, events[EVENTS];

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4096))
		die("listen");
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int64_t now = now_us(), due = INT64_MAX;
		int n;

		for (size_t i = 0; i < count; i++)
			if (all[i]->left && all[i]->due < due)
				due = all[i]->due;
		n = epoll_wait(epoll, events, EVENTS,
			due == INT64_MAX ? -1
			: due <= now	 ? 0
					 : (int)((due - now) / 1000));
		for (int i = 0; i < n; i++) {
			struct stream *s = events[i].data.ptr;

			if (!s) {
				s = calloc(1, sizeof *s);
				s->fd = accept(listener, NULL, NULL);
				setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				e.data.ptr = s;
				epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &e);
				all = realloc(all, (count + 1) * sizeof *all);
				all[count++] = s;
			} else if (!hear(s, tokens, pace_ms)) {
				epoll_ctl(epoll, EPOLL_CTL_DEL, s->fd, NULL);
				s->left = 0;
			}
		}
		now = now_us();
		for (size_t i = 0; i < count; i++)
			while (all[i]->left && all[i]->due <= now)
				send_token(all[i], pace_ms);
	}
}

/* ---- the clients ---- */

static char *make_request(const char *key, const char *path, size_t *ret_len)
{
	static char body[HEAD_MAX], request[2 * HEAD_MAX];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(body, 1, sizeof body - 1, f) : 0;

	if (!n)
		die(path);
	fclose(f);
	*ret_len = (size_t)snprintf(request, sizeof request,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
		key, n, (int)n, body);
	return request;
}

static int dial(int port)
{
	struct sockaddr_in at = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (connect(fd, (struct sockaddr *)&at, sizeof at))
		die("connect");
	return fd;
}

static int by_size(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int32_t part_of(int32_t *all, size_t count, double part)
{
	qsort(all, count, sizeof *all, by_size);
	return count ? all[(size_t)((double)(count - 1) * part)] : 0;
}

/* Reads one reply to the end of its last chunk; the moment of its first token. */
static int64_t read_reply(int fd)
{
	static char text[1 << 20];
	size_t have = 0;
	int64_t first = 0;

	for (;;) {
		ssize_t got = read(fd, text + have, sizeof text - 1 - have);

		if (got <= 0)
			die("a stream broke off");
		have += (size_t)got;
		text[have] = '\0';
		if (!first && strstr(text, opening))
			first = now_us();
		if (have >= 5 && memcmp(text + have - 5, "0\r\n\r\n", 5) == 0)
			break;
	}
	if (!first) {
		fprintf(stderr, "no token came: %.300s\n", text);
		exit(1);
	}
	return first;
}

static void first_tokens(int port, const char *request, size_t len, int count)
{
	int32_t *took = calloc((size_t)count, sizeof *took);
	int fd = dial(port);

	for (int i = -count / 10; i < count; i++) {
		int64_t began = now_us(), first;

		write_all(fd, request, len);
		first = read_reply(fd);
		if (i >= 0)
			took[i] = (int32_t)(first - began);
	}
	printf("%d %d\n", part_of(took, (size_t)count, 0.5), part_of(took, (size_t)count, 0.99));
}

/* Tokens in what has just come; one that lies across two reads is put together. */
struct client {
	int fd;
	size_t kept;
	char text[1 << 16];
};

static void many_streams(int port, const char *request, size_t len, int streams, int seconds)
{
	struct client **all = calloc((size_t)streams, sizeof *all);
	int32_t *delays = malloc(DELAYS_MAX * sizeof *delays);
	size_t count = 0, third[2] = { 0, 0 };
	int epoll = epoll_create1(0), begun = 0;
	int64_t began = now_us(), end = began + (int64_t)seconds * 1000000;
	struct epoll_event e = { .events = EPOLLIN }, events[EVENTS];

	while (now_us() < end) {
		int64_t now = now_us();
		int n;

		for (; begun < streams && (now - began) * streams >= (int64_t)begun * 1000000;
			begun++) {
			all[begun] = calloc(1, sizeof **all);
			all[begun]->fd = dial(port);
			e.data.ptr = all[begun];
			epoll_ctl(epoll, EPOLL_CTL_ADD, all[begun]->fd, &e);
			write_all(all[begun]->fd, request, len);
		}
		n = epoll_wait(epoll, events, EVENTS, 1);
		now = now_us();
		for (int i = 0; i < n; i++) {
			struct client *c = events[i].data.ptr;
			ssize_t got = read(c->fd, c->text + c->kept, sizeof c->text - 1 - c->kept);
			char *at = c->text, *token;

			if (got <= 0)
				die("a stream broke off");
			c->text[c->kept + (size_t)got] = '\0';
			while ((token = strstr(at, opening)) && strchr(token, ' ')) {
				int64_t sent = strtoll(token + sizeof opening - 1, &at, 10);

				if (count < DELAYS_MAX)
					delays[count++] = (int32_t)(now - sent);
			}
			if (strstr(at, "0\r\n\r\n")) { /* it is over: again */
				write_all(c->fd, request, len);
				c->kept = 0;
				continue;
			}
			c->kept = strlen(at);
			if (c->kept > 256) {
				at += c->kept - 256;
				c->kept = 256;
			}
			memmove(c->text, at, c->kept + 1);
		}
		if (now < began + (int64_t)seconds * 1000000 / 3)
			third[0] = count;
		if (now < began + (int64_t)seconds * 2000000 / 3)
			third[1] = count;
	}
	{
		int32_t early = part_of(delays, third[0], 0.5),
			late = part_of(delays + third[1], count - third[1], 0.5);
		int32_t p50 = part_of(delays, count, 0.5);

		printf("%zu %d %d %d %d %d\n", count, p50, delays[(size_t)((double)count * 0.99)],
			count ? delays[count - 1] : 0, early, late);
	}
}

int main(int argc, char **argv)
{
	size_t len;
	char *request;

	if (argc == 5 && strcmp(argv[1], "provider") == 0)
		provide(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	if (argc < 6)
		return fprintf(stderr, "see the head of tokens.c\n"), 2;
	request = make_request(argv[3], argv[4], &len);
	if (strcmp(argv[1], "first") == 0)
		first_tokens(atoi(argv[2]), request, len, atoi(argv[5]));
	else if (argc == 7 && strcmp(argv[1], "many") == 0)
		many_streams(atoi(argv[2]), request, len, atoi(argv[5]), atoi(argv[6]));
	return 0;
}
