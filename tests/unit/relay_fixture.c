/* relay_fixture.c - see relay_fixture.h. */
#include "relay_fixture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t.h"

enum { TAKEN_MAX = 100, RULES_MAX = 16, LINE_MAX_BYTES = 512, MESSAGE_MAX = 1 << 20 };

struct relay_taken {
	char from[LINE_MAX_BYTES], to[LINE_MAX_BYTES];
	char *message;
};

struct relay_peer {
	int listener, port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t fewer;
	size_t open;
	struct {
		char address[LINE_MAX_BYTES];
		const char *reply;
	} rules[RULES_MAX];
	size_t rule_count;
	struct relay_taken taken[TAKEN_MAX];
	size_t count;
};

struct relay_talk {
	struct relay_peer *r;
	FILE *in;
	int fd;
};

static bool say(const struct relay_talk *t, const char *text)
{
	char line[LINE_MAX_BYTES];
	int n = snprintf(line, sizeof line, "%s\r\n", text);

	return send(t->fd, line, (size_t)n, MSG_NOSIGNAL) == n;
}

/* What stands between < and >. */
static void path_of(const char *line, char out[LINE_MAX_BYTES])
{
	const char *at = strchr(line, '<'), *end = at ? strchr(at, '>') : NULL;

	snprintf(out, LINE_MAX_BYTES, "%.*s", end ? (int)(end - at - 1) : 0, end ? at + 1 : "");
}

static const char *reply_for(struct relay_peer *r, const char *address)
{
	const char *reply = NULL;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->rule_count; i++)
		if (strcasecmp(r->rules[i].address, address) == 0)
			reply = r->rules[i].reply;
	pthread_mutex_unlock(&r->lock);
	return reply ? reply : "250 2.1.5 Ok";
}

/* Without the dots that protect. */
static char *take_message(const struct relay_talk *t)
{
	char *out = calloc(1, MESSAGE_MAX), line[2048];
	size_t n = 0;

	while (fgets(line, sizeof line, t->in) && strcmp(line, ".\r\n") != 0) {
		const char *from = line[0] == '.' ? line + 1 : line;

		if (n + strlen(from) < MESSAGE_MAX)
			n += (size_t)sprintf(out + n, "%s", from);
	}
	return out;
}

static void keep(struct relay_peer *r, struct relay_taken *one)
{
	pthread_mutex_lock(&r->lock);
	if (r->count < TAKEN_MAX)
		r->taken[r->count++] = *one;
	else
		free(one->message);
	pthread_mutex_unlock(&r->lock);
}

static void talk(const struct relay_talk *t)
{
	struct relay_taken one = { 0 };
	char line[LINE_MAX_BYTES];
	bool on = say(t, "220 relay ESMTP");

	while (on && fgets(line, sizeof line, t->in)) {
		if (strncasecmp(line, "MAIL", 4) == 0) {
			path_of(line, one.from);
			on = say(t, "250 2.1.0 Ok");
		} else if (strncasecmp(line, "RCPT", 4) == 0) {
			path_of(line, one.to);
			on = say(t, reply_for(t->r, one.to));
		} else if (strncasecmp(line, "DATA", 4) == 0) {
			on = say(t, "354 Go on");
			one.message = take_message(t);
			keep(t->r, &one);
			on = on && say(t, "250 2.0.0 Ok: queued");
		} else {
			on = say(t, "250 Ok");
		}
	}
}

static void *talk_thread(void *arg)
{
	struct relay_talk *t = arg;

	talk(t);
	pthread_mutex_lock(&t->r->lock);
	t->r->open--;
	pthread_cond_signal(&t->r->fewer);
	pthread_mutex_unlock(&t->r->lock);
	fclose(t->in);
	free(t);
	return NULL;
}

static void *serve_thread(void *arg)
{
	struct relay_peer *r = arg;
	int fd;

	while ((fd = accept(r->listener, NULL, NULL)) >= 0) {
		struct relay_talk *t = calloc(1, sizeof *t);
		pthread_t thread;

		*t = (struct relay_talk){ r, fdopen(fd, "r"), fd };
		pthread_mutex_lock(&r->lock);
		r->open++;
		pthread_mutex_unlock(&r->lock);
		CHECK(pthread_create(&thread, NULL, talk_thread, t) == 0);
		pthread_detach(thread);
	}
	return NULL;
}

struct relay_peer *relay_peer_open(void)
{
	struct relay_peer *r = calloc(1, sizeof *r);
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;

	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->fewer, NULL);
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(listen(r->listener, 64) == 0);
	CHECK(getsockname(r->listener, (struct sockaddr *)&at, &n) == 0);
	r->port = ntohs(at.sin_port);
	CHECK(pthread_create(&r->thread, NULL, serve_thread, r) == 0);
	return r;
}

/* After everybody who could be talking with it has gone. */
void relay_peer_close(struct relay_peer *r)
{
	shutdown(r->listener, SHUT_RDWR);
	pthread_join(r->thread, NULL);
	close(r->listener);
	pthread_mutex_lock(&r->lock);
	while (r->open)
		pthread_cond_wait(&r->fewer, &r->lock);
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < r->count; i++)
		free(r->taken[i].message);
	pthread_cond_destroy(&r->fewer);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

const char *relay_peer_url(const struct relay_peer *r, struct arena *a)
{
	return arena_printf(a, "smtp://127.0.0.1:%d", r->port);
}

void relay_peer_says(struct relay_peer *r, const char *address, const char *reply)
{
	pthread_mutex_lock(&r->lock);
	CHECK(r->rule_count < RULES_MAX);
	snprintf(r->rules[r->rule_count].address, LINE_MAX_BYTES, "%s", address);
	r->rules[r->rule_count++].reply = reply; /* the last one for an address holds */
	pthread_mutex_unlock(&r->lock);
}

size_t relay_peer_count(struct relay_peer *r)
{
	size_t count;

	pthread_mutex_lock(&r->lock);
	count = r->count;
	pthread_mutex_unlock(&r->lock);
	return count;
}

static const struct relay_taken *taken_for(struct relay_peer *r, const char *address)
{
	const struct relay_taken *found = NULL;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->count; i++)
		if (strcasecmp(r->taken[i].to, address) == 0)
			found = &r->taken[i];
	pthread_mutex_unlock(&r->lock);
	return found;
}

const char *relay_peer_message(struct relay_peer *r, const char *address)
{
	const struct relay_taken *one = taken_for(r, address);

	return one ? one->message : NULL;
}

const char *relay_peer_sender(struct relay_peer *r, const char *address)
{
	const struct relay_taken *one = taken_for(r, address);

	return one ? one->from : NULL;
}
