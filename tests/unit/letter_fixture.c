/* letter_fixture.c - see letter_fixture.h. */
#include "letter_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mailboxes/letter_post.h"
#include "mailboxes/mailbox.h"

enum { WAIT_S = 20, BYTES_MAX = 1 << 16 };

/* Quoted-printable, if it is that; CR goes either way. */
static char *as_read(const char *raw)
{
	bool quoted = strcasestr(raw, "content-transfer-encoding: quoted-printable");
	char *text = calloc(1, strlen(raw) + 1), *to = text;
	unsigned code;

	for (; *raw; raw++) {
		if (quoted && *raw == '=' && raw[1] == '\r' && raw[2] == '\n')
			raw += 2;
		else if (quoted && *raw == '=' && sscanf(raw + 1, "%2X", &code) == 1) {
			*to++ = (char)code;
			raw += 2;
		} else if (*raw != '\r')
			*to++ = *raw;
	}
	return text;
}

static void keep(struct letter_tray *b, const char *to, const char *raw)
{
	pthread_mutex_lock(&b->lock);
	if (b->count < LETTERBOX_MAX) {
		b->letters[b->count].to = strdup(to);
		b->letters[b->count++].text = as_read(raw);
	}
	pthread_cond_broadcast(&b->came);
	pthread_mutex_unlock(&b->lock);
}

static void talk(struct letter_tray *b, FILE *io)
{
	char line[4096], to[4096] = "", *raw = calloc(1, BYTES_MAX);
	size_t len = 0;
	bool data = false;

	fputs("220 box\r\n", io);
	while (fflush(io) == 0 && fgets(line, sizeof line, io)) {
		if (data && strcmp(line, ".\r\n") == 0) {
			keep(b, to, raw);
			data = false;
			if (!b->silent)
				fputs("250 Ok\r\n", io);
		} else if (data) {
			len += (size_t)snprintf(raw + len, BYTES_MAX - len, "%s", line);
		} else if (strncasecmp(line, "RCPT", 4) == 0 && b->refusal) {
			fprintf(io, "%s\r\n", b->refusal);
		} else if (strncasecmp(line, "DATA", 4) == 0) {
			data = true;
			fputs("354 Go on\r\n", io);
		} else if (strncasecmp(line, "QUIT", 4) == 0) {
			fputs("221 Bye\r\n", io);
			break;
		} else {
			if (strncasecmp(line, "RCPT", 4) == 0)
				memcpy(to, line, sizeof to);
			fputs("250 Ok\r\n", io);
		}
	}
	free(raw);
}

static void *serve(void *arg)
{
	struct letter_tray *b = arg;
	int fd;

	while ((fd = accept(b->listener, NULL, NULL)) >= 0) {
		FILE *io = fdopen(fd, "r+");

		setvbuf(io, NULL, _IOLBF, 0);
		talk(b, io);
		fclose(io);
	}
	return NULL;
}

void letter_tray_open(struct letter_tray *b, struct fixture *f)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct mailbox_policy policy = *mailbox_policy();
	socklen_t n = sizeof at;

	*b = (struct letter_tray){ .lock = PTHREAD_MUTEX_INITIALIZER,
		.came = PTHREAD_COND_INITIALIZER };
	b->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(b->listener, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(listen(b->listener, 8) == 0);
	CHECK(getsockname(b->listener, (struct sockaddr *)&at, &n) == 0);
	b->port = ntohs(at.sin_port);
	CHECK(pthread_create(&b->thread, NULL, serve, b) == 0);
	policy.house = "lodge@lodge.example";
	mailbox_policy_set(&policy);
	f->relay =
		(struct smtp_relay){ .url = arena_printf(&f->arena, "smtp://127.0.0.1:%d", b->port),
			.hello = "lodge.example" };
}

void letter_tray_close(struct letter_tray *b, struct fixture *f)
{
	letter_post_stop(f->service.letters);
	f->relay.url = NULL;
	shutdown(b->listener, SHUT_RDWR);
	pthread_join(b->thread, NULL);
	close(b->listener);
	for (size_t i = 0; i < b->count; i++) {
		free(b->letters[i].to);
		free(b->letters[i].text);
	}
}

const char *letter_tray_letter(struct letter_tray *b, size_t number)
{
	struct timespec until;
	const char *text = "";

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&b->lock);
	while (b->count < number && !pthread_cond_timedwait(&b->came, &b->lock, &until))
		;
	if (b->count >= number)
		text = b->letters[number - 1].text;
	else
		test_fail(__FILE__, __LINE__, "letter %zu did not come", number);
	pthread_mutex_unlock(&b->lock);
	return text;
}

size_t letter_tray_settled(struct letter_tray *b, struct fixture *f)
{
	size_t count;

	for (int i = 0; i < WAIT_S * 100 && fixture_count(f, "select count(*) from letters"); i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, "select count(*) from letters"), 0);
	pthread_mutex_lock(&b->lock);
	count = b->count;
	pthread_mutex_unlock(&b->lock);
	return count;
}

const char *letter_tray_token(struct fixture *f, const char *letter, const char *page)
{
	const char *link = arena_printf(&f->arena, "http://lodge.test/%s#", page),
		   *at = strstr(letter, link);

	if (!at) {
		test_fail(__FILE__, __LINE__, "no link to %s in: %s", page, letter);
		return "";
	}
	at += strlen(link);
	return arena_strndup(&f->arena, at, strcspn(at, "\n"));
}
