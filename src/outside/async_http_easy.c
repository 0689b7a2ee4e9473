/* async_http_easy.c - one request as libcurl is asked for it; see async_http.h.
 *
 * Setting a handle up and parsing an address cost more than sending a short
 * request, so a handle keeps what it was set to, and a transfer takes one that
 * went to the same address, if there is one.  No header stays behind: they
 * hold keys, belong to the transfer, and are chained anew for each. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "outside/address.h"
#include "outside/async_http_parts.h"

/* ---- what libcurl asks for ---- */

/* The name has been resolved: this is the address that would be connected to. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct easy *e = ctx;
	int fd;

	(void)purpose;
	if (!e->named && !egress_allows_address(e->t->egress, &to->addr)) {
		e->t->refused = true;
		return CURL_SOCKET_BAD;
	}
	fd = socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
	if (fd >= 0)
		watch_opened(e->http, fd);
	return fd;
}

/* A connection may outlive the handle that opened it, so this is given the traffic. */
static int on_close(void *ctx, curl_socket_t fd)
{
	watch_closed(ctx, fd);
	return close(fd);
}

static int64_t retry_after(CURL *curl)
{
	struct curl_header *h;
	char *end;
	long long s;

	if (curl_easy_header(curl, "retry-after", 0, CURLH_HEADER, -1, &h))
		return -1;
	s = strtoll(h->value, &end, 10);
	return end == h->value || *end || s < 0 ? -1 : s;
}

bool easy_tell_head(struct transfer *t)
{
	CURL *curl = ((struct easy *)t->easy)->curl;
	struct transfer_head head = { .type = "", .retry_after_s = -1 };
	const char *type = NULL;
	long status = 0;

	if (t->headed)
		return true;
	t->headed = true;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
	head.status = (int)status;
	head.type = type ? type : "";
	if (status >= 300) /* nobody waits after a success */
		head.retry_after_s = retry_after(curl);
	return t->head(t, &head);
}

static size_t on_transfer_bytes(char *bytes, size_t size, size_t count, void *ctx)
{
	struct transfer *t = ((struct easy *)ctx)->t;
	size_t n = size * count;

	t->heard_ms = clock_mono_ms();
	if (!easy_tell_head(t) || (n && !t->bytes(t, bytes, n))) {
		t->stopped = true;
		return n + 1;
	}
	if (t->held)
		curl_easy_pause(((struct easy *)ctx)->curl, CURLPAUSE_RECV);
	return n;
}

enum transfer_end easy_end(const struct transfer *t, CURLcode code)
{
	if (t->stopped)
		return TRANSFER_CANCELLED;
	if (code == CURLE_OK)
		return TRANSFER_WHOLE;
	if (t->refused) /* all its addresses were, or the others did not answer */
		return TRANSFER_FORBIDDEN;
	if (code == CURLE_URL_MALFORMAT)
		return TRANSFER_FORBIDDEN;
	/* The only time limit of libcurl's is that for connecting. */
	return why_is_before(code) ? TRANSFER_CONNECT : TRANSFER_CUT;
}

/* ---- a handle ---- */

static void set_once(struct easy *e)
{
	CURL *curl = e->curl;

	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "lodge");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_transfer_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, e);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, e);
	curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, e->http);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, e);
}

static struct easy *easy_new(struct async_http *tr)
{
	struct easy *e = calloc(1, sizeof *e);

	if (e && !(e->curl = curl_easy_init())) {
		free(e);
		return NULL;
	}
	if (e) {
		e->http = tr;
		set_once(e);
	}
	return e;
}

void easy_free(struct easy *e)
{
	curl_easy_cleanup(e->curl);
	free(e->url);
	free(e->lines);
	free(e);
}

static bool goes_there(const struct easy *e, const struct transfer *t)
{
	return e->url && e->egress == t->egress && strcmp(e->url, t->url) == 0;
}

/* One that went to the same address, else any, else a new one. */
static struct easy *find_easy(struct async_http *tr, const struct transfer *t)
{
	int at = tr->spares - 1;
	struct easy *e;

	for (int i = tr->spares; i-- > 0;) {
		if (goes_there(tr->spare[i], t)) {
			at = i;
			break;
		}
	}
	if (at < 0)
		return easy_new(tr);
	e = tr->spare[at];
	tr->spare[at] = tr->spare[--tr->spares];
	return e;
}

static bool set_address(struct easy *e, const struct transfer *t)
{
	if (goes_there(e, t))
		return true;
	free(e->url);
	e->url = NULL;
	if (!fetch_permits(t->url, t->egress))
		return false;
	e->named = fetch_is_listed(t->url);
	curl_easy_setopt(e->curl, CURLOPT_URL, t->url);
	curl_easy_setopt(e->curl, CURLOPT_PROTOCOLS_STR,
		t->egress == EGRESS_PUBLIC && !e->named ? "https" : "http,https");
	e->url = strdup(t->url);
	e->egress = t->egress;
	return true;
}

/* Chains the transfer's own texts, after one that has libcurl add nothing for a large body. */
static bool set_headers(struct easy *e, const struct transfer *t)
{
	static char expect[] = "Expect:";
	size_t count = 0;

	while (t->headers && t->headers[count])
		count++;
	if (count + 1 > e->room) {
		struct curl_slist *lines = realloc(e->lines, (count + 8) * sizeof *lines);

		if (!lines)
			return false;
		e->lines = lines;
		e->room = count + 8;
	}
	e->lines[0] = (struct curl_slist){ expect, NULL };
	for (size_t i = 0; i < count; i++) {
		e->lines[i + 1] = (struct curl_slist){ (char *)t->headers[i], NULL };
		e->lines[i].next = &e->lines[i + 1];
	}
	curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, e->lines);
	return true;
}

static void set_easy_request(struct easy *e, const struct transfer *t)
{
	if (t->body) {
		curl_easy_setopt(e->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(e->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body_len);
		curl_easy_setopt(e->curl, CURLOPT_POSTFIELDS, t->body);
	} else {
		curl_easy_setopt(e->curl, CURLOPT_HTTPGET, 1L);
	}
	if (e->connect_ms != t->connect_ms)
		curl_easy_setopt(e->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)t->connect_ms);
	e->connect_ms = t->connect_ms;
}

struct easy *easy_take(
	struct async_http *tr, struct transfer *t, enum transfer_end *ret_end, const char **ret_why)
{
	struct easy *e = find_easy(tr, t);
	bool permitted = e && set_address(e, t);

	if (permitted && set_headers(e, t)) {
		set_easy_request(e, t);
		e->t = t;
		return e;
	}
	*ret_end = e && !permitted ? TRANSFER_FORBIDDEN : TRANSFER_CONNECT;
	*ret_why = e && !permitted ? WHY_ADDRESS_NOT_ALLOWED : "out of memory";
	if (e)
		easy_put(tr, e);
	return NULL;
}

void easy_put(struct async_http *tr, struct easy *e)
{
	e->t = NULL;
	curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, NULL);
	if (tr->spares < SPARE_MAX)
		tr->spare[tr->spares++] = e;
	else
		easy_free(e);
}
