/* say.c - what the service reads in messages, for tests that compare it with what others read: the paths of files come
 * line by line, and for each goes out a line of JSON.  An argument names the DNS server; without one nobody is judged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/json.h"
#include "mailboxes/mail_verdict.h"
#include "mailboxes/mailbox.h"

enum { FILE_MAX = 32 << 20, PATH_MAX_BYTES = 4096 };

static void put(struct buf *b, const char *name, const char *text)
{
	buf_printf(b, "%s\"%s\":", b->len > 1 ? "," : "", name);
	if (text)
		json_write_string(b, text, strlen(text));
	else
		buf_puts(b, "null");
}

static void put_lists(struct buf *b, const struct mail_read *m)
{
	buf_puts(b, ",\"to\":[");
	for (size_t i = 0; i < m->to.count; i++) {
		buf_puts(b, i ? "," : "");
		json_write_string(b, m->to.at[i].address.text, strlen(m->to.at[i].address.text));
	}
	buf_puts(b, "],\"attachments\":[");
	for (size_t i = 0; i < m->attachment_count; i++) {
		buf_puts(b, i ? ",{\"name\":" : "{\"name\":");
		json_write_string(b, m->attachments[i].name, strlen(m->attachments[i].name));
		buf_printf(b, ",\"size\":%zu}", m->attachments[i].len);
	}
	buf_puts(b, "],\"deliveries\":[");
	for (size_t i = 0; i < m->delivery_count; i++) {
		buf_puts(b, i ? ",{\"recipient\":" : "{\"recipient\":");
		json_write_string(
			b, m->deliveries[i].recipient, strlen(m->deliveries[i].recipient));
		buf_puts(b, ",\"action\":");
		json_write_string(b, m->deliveries[i].action, strlen(m->deliveries[i].action));
		buf_puts(b, "}");
	}
	buf_puts(b, "]");
}

static void say(struct helper *h, const char *raw, size_t len, bool judges)
{
	struct arena a = { 0 };
	struct mail_read m;
	struct mail_coming how = { .recipient = "desk@example.net", .at = clock_now_us() };
	struct mail_judged judged;
	struct buf b;
	int err = mail_read(h, &a, raw, len, FILE_MAX, &m);

	buf_init(&b, FILE_MAX);
	buf_putc(&b, '{');
	put(&b, "fault", err ? (m.fault ? m.fault : error_row(err)->title) : NULL);
	put(&b, "error", err ? error_row(err)->code : NULL);
	if (!err) {
		put(&b, "subject", m.subject);
		put(&b, "from", m.from ? m.from->address.text : NULL);
		put(&b, "name", m.from ? m.from->name : NULL);
		put(&b, "message_id", m.message_id);
		put(&b, "text", m.text);
		put_lists(&b, &m);
	}
	if (!err && judges) {
		err = mail_verdict(&a, &m, raw, len, &how, &judged);
		put(&b, "verdict", err ? error_row(err)->code : mail_verdict_name(judged.verdict));
	}
	printf("%s}\n", buf_text(&b));
	buf_free(&b);
	arena_free(&a);
}

int main(int argc, char **argv)
{
	struct helper *h = helper_new(NULL);
	struct mailbox_policy policy = *mailbox_policy();
	char path[PATH_MAX_BYTES], *raw = malloc(FILE_MAX);

	if (!crypto_init())
		return 1;
	policy.resolver = argc > 1 ? argv[1] : "";
	mailbox_policy_set(&policy);
	while (raw && fgets(path, sizeof path, stdin)) {
		FILE *f;

		path[strcspn(path, "\n")] = '\0';
		f = fopen(path, "rb");
		if (!f)
			return 1;
		say(h, raw, fread(raw, 1, FILE_MAX, f), argc > 1);
		fclose(f);
	}
	free(raw);
	helper_free(h);
	return 0;
}
