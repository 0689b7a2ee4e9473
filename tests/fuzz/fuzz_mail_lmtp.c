/* fuzz_mail_lmtp.c - any bytes to the receiving side of LMTP: however they are cut, the same is heard and handed on; no message
 * with a bare CR or LF comes through. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "mail/lmtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct talk {
	struct buf said, got, message;
	bool in_data;
};

static struct lmtp_reply on_mail(void *owner, const struct lmtp_sender *from)
{
	buf_puts(&((struct talk *)owner)->got, from->address.text);
	return strlen(from->address.text) % 2 ? (struct lmtp_reply){ 0 }
					      : (struct lmtp_reply){ 250, "2.1.0", "ok" };
}

static struct lmtp_reply on_rcpt(void *owner, const struct mail_address *to)
{
	buf_puts(&((struct talk *)owner)->got, to->text);
	return strlen(to->text) % 2 ? (struct lmtp_reply){ 0 }
				    : (struct lmtp_reply){ 550, "5.1.1", "no" };
}

static void on_data(void *owner)
{
	struct talk *t = owner;

	if (t->in_data)
		abort();
	t->in_data = true;
	buf_clear(&t->message);
}

static void on_bytes(void *owner, const char *at, size_t len)
{
	struct talk *t = owner;

	if (!t->in_data)
		abort();
	buf_put(&t->message, at, len);
}

static void on_end(void *owner)
{
	struct talk *t = owner;

	if (!t->in_data || t->message.len > 300)
		abort();
	t->in_data = false;
	for (size_t i = 0; i < t->message.len; i++) {
		char c = t->message.at[i];

		if (!c || (c == '\n' && (!i || t->message.at[i - 1] != '\r')) ||
			(c == '\r' && (i + 1 == t->message.len || t->message.at[i + 1] != '\n')))
			abort();
	}
	buf_put(&t->got, t->message.at, t->message.len);
}

static void on_dropped(void *owner)
{
	struct talk *t = owner;

	if (!t->in_data)
		abort();
	t->in_data = false;
}

static void on_forget(void *owner)
{
	buf_putc(&((struct talk *)owner)->got, '!');
}

static void on_send(void *owner, const char *at, size_t len)
{
	buf_put(&((struct talk *)owner)->said, at, len);
}

static const struct lmtp_calls calls = { on_mail, on_rcpt, on_data, on_bytes, on_end, on_dropped,
	on_forget, on_send };

static void run(struct talk *t, const char *bytes, size_t len, size_t piece, bool smtp)
{
	struct lmtp m;

	*t = (struct talk){ 0 };
	buf_init(&t->said, 4 << 20);
	buf_init(&t->got, 4 << 20);
	buf_init(&t->message, 4 << 20);
	lmtp_begin(&m, &calls, t, "x", 300, smtp);
	while (len && m.state != LMTP_CLOSED) {
		size_t n = lmtp_push(&m, bytes, len < piece ? len : piece);

		bytes += n;
		len -= n;
		while (lmtp_waits(&m))
			lmtp_decide(&m, (struct lmtp_reply){ 250, "2.0.0", "ok" });
	}
	lmtp_gone(&m);
	if (t->in_data)
		abort();
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (!a->len || memcmp(a->at, b->at, a->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct talk whole, cut;
	bool smtp = size && data[0] & 1;

	run(&whole, (const char *)data, size, size + 1, smtp);
	run(&cut, (const char *)data, size, 1 + size % 3, smtp);
	if (!same(&whole.said, &cut.said) || !same(&whole.got, &cut.got))
		abort();
	for (struct talk *t = &whole;; t = &cut) {
		buf_free(&t->said);
		buf_free(&t->got);
		buf_free(&t->message);
		if (t == &cut)
			break;
	}
	return 0;
}
