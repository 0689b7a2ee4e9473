/* host_call.c - see host_call.h. */
#include "hosts/host_call.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "contract/decode.h"

static struct remote_said ask_once(const struct host *h, struct arena *a,
	const struct host_call *call, const char *url, struct fetched *got)
{
	struct fetch_header headers[4] = { { "Accept", "application/json" } };
	struct fetch in = { .url = url,
		.egress = h->egress,
		.method = call->method,
		.headers = headers,
		.header_count = 1,
		.answer_max = HOST_ANSWER_MAX,
		.total_ms = HOST_TOTAL_MS,
		.wanted = "retry-after",
		.stop = h->stop };
	const char *why = NULL;

	headers[in.header_count++] = *call->auth;
	if (call->extra)
		headers[in.header_count++] = *call->extra;
	if (call->body) {
		in.body = call->body->at;
		in.body_len = call->body->len;
		headers[in.header_count++] = (struct fetch_header){ "Content-Type",
			call->type ? call->type : "application/json" };
	}
	if ((h->fetch ? h->fetch : fetch_run)(&in, a, got, &why))
		return remote_unreached(a, why);
	return remote_said_of(a, got, true, clock_now_us() / SECOND_US);
}

struct remote_said host_ask(const struct host *h, struct arena *a, const struct host_call *call,
	struct host_answer *ret)
{
	const char *url = arena_printf(a, "%s%s", h->url, call->path), *moved;
	struct fetched got = { 0 };
	struct remote_said said = ask_once(h, a, call, url, &got);

	moved = call->method || call->body ? NULL : remote_moved_to(a, url, &got);
	if (moved)
		said = ask_once(h, a, call, moved, &got);
	*ret = (struct host_answer){ got.status, got.body, got.len };
	return said;
}

/* ---- reading ---- */

const char *host_read_one(
	struct arena *a, const struct schema *s, const char *text, size_t len, void *ret)
{
	struct problem p = { 0 };

	schema_init(s, a, ret);
	return decode_body(NULL, a, s, UNKNOWN_IGNORED, text, len, ret, &p)
		       ? "it is not what this host's documents say"
		       : NULL;
}

const char *host_read_list(struct arena *a, const struct schema *s, const char *text, size_t len,
	size_t item_size, struct list *ret)
{
	struct json_reader r;
	char *items = arena_alloc(a, item_size * HOST_ITEMS_MAX);

	*ret = (struct list){ items, 0 };
	json_open(&r, a, text, len);
	if (!json_enter_array(&r))
		return "it is no list";
	while (json_next_item(&r)) {
		const char *item, *fault;
		size_t n;

		if (!json_skip(&r, &item, &n))
			break;
		if (ret->count == HOST_ITEMS_MAX)
			return "it lists more than it was asked for";
		fault = host_read_one(a, s, item, n, items + ret->count * item_size);
		if (fault)
			return fault;
		ret->count++;
	}
	return json_end(&r) ? NULL : "it is not JSON";
}

struct remote_said host_ask_one(const struct host *h, struct arena *a, const struct host_call *call,
	const struct schema *s, void *ret, struct host_answer *ret_answer)
{
	struct host_answer answer;
	struct remote_said said = host_ask(h, a, call, ret_answer ? ret_answer : &answer);
	const struct host_answer *got = ret_answer ? ret_answer : &answer;
	const char *fault = said.end ? NULL : host_read_one(a, s, got->body, got->len, ret);

	return fault ? remote_garbage(a, fault) : said;
}

struct remote_said host_find(
	const struct host *h, struct arena *a, const struct host_search *in, const void **ret)
{
	struct remote_said said = { REMOTE_OK, -1, NULL };

	*ret = NULL;
	for (int page = 1; page <= HOST_PAGES_MAX; page++) {
		struct host_call call = { .path = arena_printf(a, "%s%d", in->path, page),
			.auth = in->auth };
		struct host_answer answer;
		struct list items;
		const char *fault;

		said = host_ask(h, a, &call, &answer);
		if (said.end)
			return said;
		fault = host_read_list(a, in->s, answer.body, answer.len, in->item_size, &items);
		if (fault)
			return remote_garbage(a, fault);
		for (size_t i = 0; i < items.count; i++) {
			*ret = (const char *)items.at + i * in->item_size;
			if (in->is_it(*ret, in->sought))
				return said;
		}
		*ret = NULL;
		if (items.count < in->page_items)
			break;
	}
	return said;
}

/* ---- bodies ---- */

static void put_name(struct buf *b, const char *name)
{
	buf_putc(b, b->len ? ',' : '{');
	json_write_string(b, name, strlen(name));
	buf_putc(b, ':');
}

void host_put_text(struct buf *b, const char *name, const char *value)
{
	put_name(b, name);
	json_write_string(b, value, strlen(value));
}

void host_put_raw(struct buf *b, const char *name, const char *json)
{
	put_name(b, name);
	buf_puts(b, json);
}

void host_end(struct buf *b)
{
	buf_putc(b, '}');
}

/* ---- answers ---- */

struct remote_said host_refused(struct arena *a, const char *what, const struct host_answer *answer,
	struct remote_said said)
{
	if (said.end == REMOTE_GARBAGE && answer->status >= 400)
		said.why = arena_printf(a, "The host did not %s (%d).", what, answer->status);
	return said;
}

struct remote_said host_taken(struct arena *a, const char *what, const char *name)
{
	return (struct remote_said){ REMOTE_TAKEN, -1,
		arena_printf(a, "The host has a %s %s already, which is not this agent's.", what,
			name) };
}

bool host_path_valid(const char *path)
{
	size_t n =
		strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./");

	return n && !path[n] && n <= HOST_PATH_MAX && *path != '/' && path[n - 1] != '/' &&
	       !strstr(path, "//") && !strstr(path, "..") && *path != '.' && !strstr(path, "/.");
}

/* "ssh-ed25519 AAAA..." */
static size_t key_len(const char *key)
{
	size_t n = strcspn(key, " ");

	return key[n] ? n + 1 + strcspn(key + n + 1, " \r\n") : n;
}

bool host_key_same(const char *one, const char *other)
{
	size_t n = key_len(one);

	return n == key_len(other) && memcmp(one, other, n) == 0;
}

void host_set_project(const struct host *h, struct arena *a, const char *path, const char *main,
	struct host_project *ret)
{
	*ret = (struct host_project){ .path = path,
		.clone_url = arena_printf(a, "%s/%s.git", h->url, path),
		.web_url = arena_printf(a, "%s/%s", h->url, path),
		.main = main && *main ? main : NULL };
}
