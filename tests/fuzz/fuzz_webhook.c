/* fuzz_webhook.c - events as a stranger could send them.  The first byte chooses the service, and whether
 * the body is a form; lines up to an empty one are headers, the rest is the body.  Nothing holds without
 * its secret; what is read is well-formed text within its bounds; and what holds when it is signed does
 * not hold any more with another byte after it. */
#include "setup.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "outside/webhook.h"

enum { LINES_MAX = 16 };

struct sent {
	struct {
		const char *name, *value;
	} lines[LINES_MAX];
	size_t count;
};

static const char *header(const void *ctx, const char *name, size_t *ret_count)
{
	const struct sent *s = ctx;
	const char *first = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->lines[i].name, name) == 0) {
			first = first ? first : s->lines[i].value;
			++*ret_count;
		}
	return first;
}

static void check_text(const char *text, size_t most)
{
	if (text && (strlen(text) > most || !utf8_valid(text, strlen(text))))
		abort();
}

static void check_read(
	const struct webhook_provider *p, struct arena *a, const struct webhook_in *in)
{
	struct webhook_event e;
	const char *digest;

	if (webhook_read(p, a, in, NULL, &e) != WEBHOOK_READ || e.challenge)
		return;
	if (!e.delivery_id || !webhook_word(e.delivery_id, WEBHOOK_ID_MAX))
		abort();
	check_text(e.event, WEBHOOK_WORD_MAX);
	check_text(e.action, WEBHOOK_WORD_MAX);
	if (!webhook_reread(p, a, e.event, arena_strndup(a, e.payload, e.payload_len), &e))
		abort();
	check_text(webhook_summary(p, a, &e), 300);
	digest = webhook_digest(p, a, &e);
	check_text(digest, WEBHOOK_DIGEST_MAX);
	for (const char *at = digest; *at; at++)
		if ((unsigned char)*at < ' ' && *at != '\n')
			abort();
}

/* With a code of our own it holds, and not with a byte more. */
static void check_signed(struct arena *a, struct webhook_in in)
{
	static const char *const secret[] = { "a secret of ours" };
	uint8_t mac[SHA256_LEN];
	char code[8 + 2 * SHA256_LEN] = "sha256=";
	struct sent own = { { { "x-hub-signature-256", code } }, 1 };
	char *longer = arena_alloc(a, in.len + 2);

	memcpy(longer, in.body, in.len);
	hmac_sha256(secret[0], strlen(secret[0]), in.body, in.len, mac);
	hex_write(mac, sizeof mac, code + 7);
	in.ctx = &own;
	if (!webhook_verify(&webhook_providers[WEBHOOK_GITHUB], a, &in, secret, 1))
		abort();
	in.body = longer;
	in.len++;
	if (webhook_verify(&webhook_providers[WEBHOOK_GITHUB], a, &in, secret, 1))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const secrets[] = { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"nobody can guess this" };
	struct arena a = { 0 };
	struct sent sent = { .count = 0 };
	struct webhook_in in = { .header = header, .ctx = &sent, .now_us = 1700000000 * SECOND_US };
	char *text, *at;

	if (!size)
		return 0;
	text = arena_strndup(&a, (const char *)data + 1, size - 1);
	at = text;
	while (sent.count < LINES_MAX && *at && *at != '\n') {
		char *end = strchr(at, '\n'), *colon = strchr(at, ':');

		if (!end || !colon || colon > end)
			break;
		*end = *colon = '\0';
		sent.lines[sent.count].name = at;
		sent.lines[sent.count++].value = colon + 1;
		at = end + 1;
	}
	in.body = at;
	in.len = (size_t)(text + size - 1 - at);
	in.form = *data & 0x80;
	for (int p = 0; p < WEBHOOK_SERVICES; p++) {
		if ((*data & 0x0f) != p && (*data & 0x0f) < WEBHOOK_SERVICES)
			continue;
		if (webhook_verify(&webhook_providers[p], &a, &in, secrets, 2))
			abort();
		check_read(&webhook_providers[p], &a, &in);
	}
	check_signed(&a, in);
	arena_free(&a);
	return 0;
}
