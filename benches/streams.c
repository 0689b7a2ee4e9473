/* streams.c - many event streams open while sessions run, and what that costs the service.
 *
 *   streams PORT PID TOKEN SESSIONS COUNT ROUNDS
 *
 * SESSIONS is a file of ids.  Opens COUNT streams over them in turn, then has
 * somebody say something in every session, ROUNDS times, each time until all
 * have answered.  Prints the events received, the CPU of the process in
 * microseconds, its memory in kB before and after the opening, and the
 * milliseconds it took. */
#include <arpa/inet.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SPEAKERS = 8, ID = 25, TAIL = 8 };

struct stream {
	int fd;
	char tail[TAIL]; /* the last bytes of what came, so that no line is cut */
	int tail_len;
};

static struct sockaddr_in where = { .sin_family = AF_INET };
static const char *token;
static char (*sessions)[ID + 1];
static int session_count;
static _Atomic uint64_t events;
static _Atomic int quit;
static int poller;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&where, sizeof where) < 0)
		die("connect");
	return fd;
}

static void say(int fd, const char *bytes, size_t n)
{
	if (send(fd, bytes, n, 0) != (ssize_t)n)
		die("send");
}

/* Reads until `until` stands in the text; the text begins with its status. */
static void hear(int fd, char *text, size_t room, const char *until)
{
	size_t len = 0;

	do {
		ssize_t n = recv(fd, text + len, room - 1 - len, 0);

		if (n <= 0)
			die("recv");
		text[len += (size_t)n] = '\0';
	} while (!strstr(text, until));
}

/* ---- the process that is measured ---- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Nanoseconds on a processor, of all its threads. */
static uint64_t cpu_of(const char *pid)
{
	char path[512];
	uint64_t all = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%s/task", pid);
	d = opendir(path);
	if (!d)
		die(path);
	while ((e = readdir(d))) {
		unsigned long long one = 0;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/task/%.32s/schedstat", pid, e->d_name);
		f = *e->d_name == '.' ? NULL : fopen(path, "r");
		if (f && fscanf(f, "%llu", &one) == 1)
			all += one;
		if (f)
			fclose(f);
	}
	closedir(d);
	return all;
}

static long memory_of(const char *pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
	f = fopen(path, "r");
	if (!f)
		die(path);
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "Rss: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

/* ---- streams ---- */

static void open_stream(struct stream *s, const char *session)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = s };
	char text[4096];
	int n = snprintf(text, sizeof text,
		"GET /sessions/%s/events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n",
		session, token);

	s->fd = dial();
	say(s->fd, text, (size_t)n);
	hear(s->fd, text, sizeof text, "retry: ");
	if (epoll_ctl(poller, EPOLL_CTL_ADD, s->fd, &e) < 0)
		die("epoll_ctl");
}

/* Counts lines that begin with "data:". */
static void count(struct stream *s, const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *p = text; (p = memmem(p, (size_t)(end - p), "\ndata: ", 7)); p += 7)
		atomic_fetch_add_explicit(&events, 1, memory_order_relaxed);
	s->tail_len = len < 6 ? (int)len : 6;
	memcpy(s->tail, end - s->tail_len, (size_t)s->tail_len);
}

static void *listen_to_all(void *none)
{
	struct epoll_event got[256];
	static char text[TAIL + 65536];

	while (!atomic_load(&quit)) {
		int n = epoll_wait(poller, got, 256, 100);

		for (int i = 0; i < n; i++) {
			struct stream *s = got[i].data.ptr;
			ssize_t len;

			memcpy(text, s->tail, (size_t)s->tail_len);
			len = recv(s->fd, text + s->tail_len, 65536, 0);
			if (len <= 0) {
				fprintf(stderr, "a stream broke off\n");
				exit(1);
			}
			count(s, text, (size_t)(s->tail_len + len));
		}
	}
	return none;
}

/* ---- people ---- */

static int ask(int fd, const char *method, const char *session, const char *path, const char *body,
	char *text, size_t room)
{
	int n = snprintf(text, room,
		"%s /sessions/%s%s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		method, session, path, token, strlen(body), body);
	const char *end, *length;

	say(fd, text, (size_t)n);
	hear(fd, text, room, "\r\n\r\n");
	end = strstr(text, "\r\n\r\n") + 4;
	length = strstr(text, "Content-Length: ");
	if (length && strlen(end) < strtoul(length + 16, NULL, 10))
		hear(fd, text + strlen(text), room - strlen(text), "}");
	return atoi(text + 9);
}

/* Speaks in its share of the sessions, then waits for their answers. */
static void *speak(void *arg)
{
	int number = (int)(intptr_t)arg, fd = dial();
	static _Thread_local char text[256 * 1024];

	for (int i = number; i < session_count; i += SPEAKERS)
		if (ask(fd, "POST", sessions[i], "/messages",
			    "{\"content\":\"Please say a little.\"}", text, sizeof text) != 202) {
			fprintf(stderr, "%s\n", text);
			exit(1);
		}
	for (int i = number; i < session_count; i += SPEAKERS) {
		for (;;) {
			if (ask(fd, "GET", sessions[i], "", "", text, sizeof text) != 200)
				die("read a session");
			if (strstr(text, "\"status\":\"completed\""))
				break;
			if (strstr(text, "\"status\":\"failed\"")) {
				fprintf(stderr, "%s\n", text);
				exit(1);
			}
			usleep(20000);
		}
	}
	close(fd);
	return NULL;
}

static void read_sessions(const char *path)
{
	FILE *f = fopen(path, "r");

	sessions = calloc(100000, sizeof *sessions);
	if (!f || !sessions)
		die(path);
	while (session_count < 100000 && fscanf(f, "%25s", sessions[session_count]) == 1)
		session_count++;
	fclose(f);
}

int main(int argc, char **argv)
{
	pthread_t listener, speakers[SPEAKERS];
	struct stream *streams;
	int stream_count, rounds;
	uint64_t cpu, seen;
	int64_t began;
	long before, after;

	if (argc != 7)
		return fprintf(stderr, "streams PORT PID TOKEN SESSIONS COUNT ROUNDS\n"), 2;
	where.sin_port = htons((uint16_t)atoi(argv[1]));
	where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	token = argv[3];
	read_sessions(argv[4]);
	stream_count = atoi(argv[5]);
	rounds = atoi(argv[6]);
	streams = calloc((size_t)stream_count + 1, sizeof *streams);
	poller = epoll_create1(0);
	if (!streams || poller < 0)
		die("epoll_create1");
	before = memory_of(argv[2]);
	for (int i = 0; i < stream_count; i++)
		open_stream(&streams[i], sessions[i % session_count]);
	pthread_create(&listener, NULL, listen_to_all, NULL);
	sleep(1);
	cpu = cpu_of(argv[2]);
	began = now_ms();
	for (int r = 0; r < rounds; r++) {
		for (intptr_t i = 0; i < SPEAKERS; i++)
			pthread_create(&speakers[i], NULL, speak, (void *)i);
		for (int i = 0; i < SPEAKERS; i++)
			pthread_join(speakers[i], NULL);
	}
	do { /* the last of it */
		seen = atomic_load(&events);
		usleep(300000);
	} while (atomic_load(&events) != seen);
	cpu = cpu_of(argv[2]) - cpu;
	after = memory_of(argv[2]);
	printf("%llu %llu %ld %ld %lld\n", (unsigned long long)seen,
		(unsigned long long)(cpu / 1000), before, after, (long long)(now_ms() - began));
	atomic_store(&quit, 1);
	pthread_join(listener, NULL);
	return 0;
}
