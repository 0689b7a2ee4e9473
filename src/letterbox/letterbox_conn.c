/* letterbox_conn.c - one connection: bytes from the socket to the machine, and what the machine asks for.
 *
 * Its thread waits for the peer, for the disk and for the store, each with an
 * end.  Nothing of a message is in memory but the piece at hand. */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "letterbox/letterbox_parts.h"
#include "mail/lmtp.h"
#include "mailboxes/mail_intake.h"

enum { IN_MAX = 32 * 1024, OUT_MAX = 8 * 1024, SEND_MS = 60 * 1000 };

struct talk {
	struct letterbox *box;
	struct letterbox_conn *conn;
	int fd;
	struct lmtp machine;
	struct mail_incoming *letter;
	struct lmtp_sender sender;
	unsigned lines;		/* of which was waited for the next */
	int64_t command_end_ms; /* by when that must be there */
	int64_t message_end_ms; /* by when a message must begin, and when it does, end */
	int64_t data_ms;	/* when it began */
	int64_t brought_ms;	/* when a message, or a recipient of one, was last brought */
	bool gone;		/* the peer */
	size_t out_len;
	char out[OUT_MAX], in[IN_MAX];
};

/* ---- the peer ---- */

static void flush_out(struct talk *t)
{
	size_t sent = 0;

	while (!t->gone && sent < t->out_len) {
		ssize_t n = send(t->fd, t->out + sent, t->out_len - sent, MSG_NOSIGNAL);
		struct pollfd ready = { .fd = t->fd, .events = POLLOUT };

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			t->gone = poll(&ready, 1, SEND_MS) <= 0;
		else if (n < 0 && errno != EINTR)
			t->gone = true;
	}
	t->out_len = 0;
}

static void talk_send(void *owner, const char *at, size_t len)
{
	struct talk *t = owner;

	if (t->out_len + len > sizeof t->out)
		flush_out(t);
	memcpy(t->out + t->out_len, at, len); /* a line is shorter than the room */
	t->out_len += len;
}

/* ---- the store, from a thread of our own ---- */

struct errand {
	struct work work; /* first */
	sem_t over;
	int err;
	struct arena arena;
	struct talk *talk;
	const struct mail_address *to;
	struct mail_found found;
	size_t tenant, tenants; /* from which on, and how many in one transaction */
	int64_t now;
};

static void errand_done(struct work *w, int err)
{
	struct errand *e = (struct errand *)w;

	e->err = err;
	sem_post(&e->over);
}

static int run_errand(struct errand *e, int (*run)(struct work *w, struct db *db), bool writes)
{
	struct store *store = e->talk->box->store;
	int err;

	if (store_closed(store))
		return ERR_STORE;
	e->work = (struct work){
		.run = run, .done = errand_done, .mode = writes ? READ_WRITE : READ_ONLY
	};
	sem_init(&e->over, 0, 0);
	err = store_submit(store, &e->work);
	if (!err) {
		while (sem_wait(&e->over) && errno == EINTR)
			;
		err = e->err;
	}
	sem_destroy(&e->over);
	arena_free(&e->arena);
	return err;
}

/* ---- what the machine asks ---- */

static const struct lmtp_reply at_recipient[MAIL_TAKINGS] = {
	[MAIL_TAKES] = { 250, "2.1.5", "Recipient ok" },
	[MAIL_KNOWN] = { 250, "2.1.5", "Recipient ok" },
	[MAIL_NOBODY] = { 550, "5.1.1", "There is no such mailbox" },
	[MAIL_OFF] = { 550, "5.2.1", "The mailbox takes no mail" },
	[MAIL_BARRED] = { 550, "5.7.1", "The mailbox takes no mail of this sender" },
	[MAIL_FULL] = { 452, "4.2.2", "There is no room for more mail now" },
	[MAIL_AWAY] = { 451, "4.3.0", "Not now; try again later" },
};

static void count_taking(struct letterbox *b, enum mail_taking taking)
{
	_Atomic uint64_t *counts[MAIL_TAKINGS] = { [MAIL_TAKES] = &b->taken,
		[MAIL_KNOWN] = &b->known,
		[MAIL_NOBODY] = &b->refused,
		[MAIL_OFF] = &b->refused,
		[MAIL_BARRED] = &b->refused,
		[MAIL_FULL] = &b->later,
		[MAIL_AWAY] = &b->later };

	++*counts[taking];
}

static struct lmtp_reply talk_mail(void *owner, const struct lmtp_sender *from)
{
	struct talk *t = owner;

	t->sender = *from;
	return (struct lmtp_reply){ 250, "2.1.0", "Sender ok" };
}

static int find_run(struct work *w, struct db *db)
{
	struct errand *e = (struct errand *)w;

	arena_reset(&e->arena);
	return mail_find(db, &e->arena, e->talk->sender.address.text, e->to,
		bucket_tenant_max(e->talk->box->bucket), (int64_t)e->talk->sender.size, &e->found);
}

static struct lmtp_reply talk_rcpt(void *owner, const struct mail_address *to)
{
	struct talk *t = owner;
	struct errand e = { .talk = t, .to = to };
	enum mail_taking taking;

	if (!t->letter)
		t->letter = mail_incoming_new(t->box->bucket, t->sender.address.text,
			(int64_t)t->sender.size, !t->machine.smtp);
	taking = run_errand(&e, find_run, false) ? MAIL_AWAY
						 : mail_incoming_add(t->letter, &e.found);
	if (taking != MAIL_TAKES)
		count_taking(t->box, taking);
	else
		t->brought_ms = clock_mono_ms();
	return at_recipient[taking];
}

static void talk_data(void *owner)
{
	struct talk *t = owner;

	t->data_ms = clock_mono_ms();
	t->message_end_ms = t->data_ms + t->box->message_ms;
}

/* The next one has its own time. */
static void message_over(struct talk *t)
{
	t->brought_ms = clock_mono_ms();
	t->message_end_ms = t->brought_ms + t->box->message_ms;
}

static void talk_bytes(void *owner, const char *at, size_t len)
{
	mail_incoming_write(((struct talk *)owner)->letter, at, len);
}

static void talk_forget(void *owner)
{
	struct talk *t = owner;

	mail_incoming_free(t->letter, t->box->disk);
	t->letter = NULL;
}

/* SMTP has one answer: then all recipients have it, or nothing is kept. */
static int keep_run(struct work *w, struct db *db)
{
	struct errand *e = (struct errand *)w;
	struct mail_incoming *l = e->talk->letter;
	int err = 0;

	arena_reset(&e->arena);
	for (size_t i = 0; !err && i < e->tenants; i++)
		err = mail_incoming_keep(l, db, &e->arena, e->tenant + i, e->now);
	for (size_t i = 0; !err && e->talk->machine.smtp && i < mail_incoming_count(l); i++)
		if (mail_incoming_recipient(l, i)->taking > MAIL_KNOWN)
			err = ERR_CONFLICT;
	return err;
}

static void keep_tenants(struct talk *t, size_t from, size_t count)
{
	struct errand e = { .talk = t, .tenant = from, .tenants = count, .now = clock_now_us() };
	int err = run_errand(&e, keep_run, true);

	for (size_t i = 0; err && i < count; i++)
		mail_incoming_failed(t->letter, from + i, err);
}

static struct lmtp_reply at_end(const struct mail_recipient *r, char text[64])
{
	if (r->taking > MAIL_KNOWN)
		return at_recipient[r->taking];
	if (r->taking == MAIL_KNOWN)
		return (struct lmtp_reply){ 250, "2.0.0", "Taken before" };
	snprintf(text, 64, "Taken as %s", r->arrival_id);
	return (struct lmtp_reply){ 250, "2.0.0", text };
}

/* Where there is one answer for all, that of who fared worst. */
static size_t worst_of(const struct mail_incoming *l)
{
	size_t worst = 0;

	for (size_t i = 1; i < mail_incoming_count(l); i++)
		if (mail_incoming_recipient(l, i)->taking >
			mail_incoming_recipient(l, worst)->taking)
			worst = i;
	return worst;
}

static void talk_end(void *owner)
{
	struct talk *t = owner;
	size_t tenants = mail_incoming_tenants(t->letter), count = mail_incoming_count(t->letter),
	       taken = 0, first = 0, said;

	mail_incoming_finish(t->letter);
	message_over(t);
	if (t->machine.smtp)
		keep_tenants(t, 0, tenants);
	for (size_t i = 0; !t->machine.smtp && i < tenants; i++)
		keep_tenants(t, i, 1);
	for (size_t i = 0; i < count; i++) {
		enum mail_taking taking = mail_incoming_recipient(t->letter, i)->taking;

		count_taking(t->box, taking);
		taken += taking <= MAIL_KNOWN;
	}
	log_info("mail was handed over", LOG_S("by", t->machine.smtp ? "smtp" : "lmtp"),
		LOG_N("bytes", (int64_t)t->machine.size), LOG_N("recipients", (int64_t)count),
		LOG_N("taken", (int64_t)taken));
	if (t->machine.smtp)
		first = worst_of(t->letter);
	said = t->machine.smtp ? 1 : count; /* the last answer has the letter forgotten */
	for (size_t i = 0; i < said; i++) {
		char text[64];

		lmtp_decide(
			&t->machine, at_end(mail_incoming_recipient(t->letter, first + i), text));
	}
}

static void talk_dropped(void *owner)
{
	talk_forget(owner);
	message_over(owner);
}

static const struct lmtp_calls calls = { .mail = talk_mail,
	.rcpt = talk_rcpt,
	.data = talk_data,
	.bytes = talk_bytes,
	.end = talk_end,
	.dropped = talk_dropped,
	.forget = talk_forget,
	.send = talk_send };

/* ---- its turns ---- */

static int64_t least(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

/* How long the peer may say nothing more: a message keeps to a rate on the whole, and a command comes to its end. */
static int64_t time_left(struct talk *t, bool in_data, int64_t now)
{
	int64_t slow =
		t->data_ms + t->box->slow_ms + (int64_t)t->machine.size * 1000 / LETTERBOX_RATE;

	if (in_data)
		return least(least(t->message_end_ms, slow) - now, t->box->idle_ms);
	if (t->lines != t->machine.lines || !t->command_end_ms) {
		t->lines = t->machine.lines;
		t->command_end_ms = now + t->box->idle_ms;
	}
	return least(t->command_end_ms, t->message_end_ms) - now;
}

/* Until there are bytes, or a reason to leave; false: it is over. */
static bool wait_for_bytes(struct talk *t)
{
	struct pollfd fds[2] = { { .fd = t->fd, .events = POLLIN },
		{ .fd = t->box->stop, .events = POLLIN } };
	bool in_data = t->machine.state == LMTP_DATA;
	int64_t now = clock_mono_ms(), left = time_left(t, in_data, now);
	int ready;

	if (t->box->stopping && !in_data) {
		lmtp_leave(&t->machine, "4.3.0", "The service stops");
		return false;
	}
	/* Commands that bring nothing are no reason to stay. */
	t->conn->waits_since_ms = in_data ? 0 : t->brought_ms;
	/* A message under way is waited for, whether the service stops or not. */
	ready = left > 0 ? poll(fds, in_data ? 1 : 2, (int)left) : 0;
	t->conn->waits_since_ms = 0;
	if (t->conn->gives_way) {
		lmtp_leave(&t->machine, "4.3.2", "Others wait for this connection");
		return false;
	}
	if (ready == 0)
		lmtp_leave(&t->machine, "4.4.2",
			in_data ? "The message comes too slowly" : "Nothing came for too long");
	return ready > 0 || (ready < 0 && errno == EINTR);
}

static void push_all(struct talk *t, size_t len)
{
	int64_t before = clock_mono_ms(), took;
	size_t used = 0;

	while (used < len && t->machine.state != LMTP_CLOSED)
		used += lmtp_push(&t->machine, t->in + used, len - used);
	took = clock_mono_ms() - before; /* what our disk and store take is not the peer's */
	t->data_ms += took;
	t->brought_ms = least(t->brought_ms + took, before + took);
}

void letterbox_talk(struct letterbox_conn *c)
{
	struct letterbox *b = c->box;
	struct talk *t = memory_zeroed(sizeof *t);

	t->box = b;
	t->conn = c;
	t->fd = c->fd;
	t->brought_ms = clock_mono_ms();
	t->message_end_ms = t->brought_ms + b->message_ms;
	lmtp_begin(&t->machine, &calls, t, b->host, (uint64_t)b->bytes_max, c->smtp);
	flush_out(t);
	while (!t->gone && t->machine.state != LMTP_CLOSED && wait_for_bytes(t)) {
		ssize_t n = recv(t->fd, t->in, sizeof t->in, 0);

		if (n > 0)
			push_all(t, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			t->gone = true;
		flush_out(t);
	}
	flush_out(t);
	lmtp_gone(&t->machine);
	talk_forget(t);
	free(t);
}
