/* fetch.c - see fetch.h.  libcurl does the talking; this file says how far it may go. */
#include "outside/fetch.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/error.h"
#include "outside/why.h"

enum {
	ANSWER_MAX = 1 << 20,
	CONNECT_MS = 5000,
	TOTAL_MS = 10000,
	AGE_MAX = 86400,
	POLL_MS = 1000,
	STOP_MS = 50
};

/* What one request needs while it is under way. */
struct fetch_state {
	enum egress egress;
	bool refused; /* an address was */
	bool named;   /* its host and port are on the list of private places that may be called */
	bool enough;  /* no more of the answer is wanted */
	bool was_cut;
	uint64_t sent; /* of its file */
	const struct fetch *in;
	CURL *handle;
	struct buf body;
};

/* libcurl keeps connections with the handle that drives transfers. */
struct fetch_line {
	CURLM *multi;
};

bool fetch_init(void)
{
	return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* ---- how far ---- */

/* The name has been resolved: this is the address that would be connected to. */
static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct fetch_state *w = ctx;

	(void)purpose;
	if (!w->named && !egress_allows_address(w->egress, &to->addr)) {
		w->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* ---- the request ---- */

static bool seen_enough(struct fetch_state *w, const char *bytes, size_t n)
{
	struct fetched head = { .max_age_s = -1 };
	char *type = NULL;
	long status = 0;

	if (!w->in->see)
		return false;
	curl_easy_getinfo(w->handle, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(w->handle, CURLINFO_CONTENT_TYPE, &type);
	head.status = (int)status;
	head.content_type = type;
	return !w->in->see(w->in->see_ctx, &head, bytes, n);
}

static bool is_taken(const struct fetch_state *w)
{
	long status = 0;

	if (!w->in->take)
		return false;
	curl_easy_getinfo(w->handle, CURLINFO_RESPONSE_CODE, &status);
	return w->in->take_status ? status == w->in->take_status : status >= 200 && status < 300;
}

static size_t take_fetched_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct fetch_state *w = ctx;
	size_t len = size * n, room = w->body.max - w->body.len;

	if (is_taken(w))
		return w->in->take(w->in->take_ctx, bytes, len) ? len : 0;
	if (w->in->cut && len > room) {
		buf_put(&w->body, bytes, room);
		w->was_cut = w->enough = true;
		return 0;
	}
	buf_put(&w->body, bytes, len);
	if (w->body.overflow)
		return 0;
	w->enough = seen_enough(w, bytes, len);
	return w->enough ? 0 : len;
}

static size_t give_file(char *bytes, size_t size, size_t n, void *ctx)
{
	struct fetch_state *w = ctx;
	const struct fetch_file *f = w->in->file;
	uint64_t left = f->len - w->sent;
	size_t most = size * n < left ? size * n : (size_t)left;
	ssize_t got = most ? pread(f->fd, bytes, most, (off_t)(f->at + w->sent)) : 0;

	if (got < 0 || (most && !got))
		return CURL_READFUNC_ABORT;
	w->sent += (uint64_t)got;
	return (size_t)got;
}

/* A connection that had been closed by the other side is tried anew, from the beginning. */
static int rewind_file(void *ctx, curl_off_t to, int origin)
{
	struct fetch_state *w = ctx;

	if (origin != SEEK_SET || to < 0 || (uint64_t)to > w->in->file->len)
		return CURL_SEEKFUNC_FAIL;
	w->sent = (uint64_t)to;
	return CURL_SEEKFUNC_OK;
}

/* "public, max-age=300" */
static int64_t max_age(CURL *h)
{
	struct curl_header *header;
	const char *at;
	int64_t age;

	if (curl_easy_header(h, "cache-control", 0, CURLH_HEADER, -1, &header))
		return -1;
	if (strcasestr(header->value, "no-store") || strcasestr(header->value, "no-cache"))
		return 0;
	at = strcasestr(header->value, "max-age=");
	if (!at || at[8] < '0' || at[8] > '9')
		return -1;
	age = strtoll(at + 8, NULL, 10);
	return age > AGE_MAX ? AGE_MAX : age;
}

static void set_limits(CURL *h, struct fetch_state *w, const struct fetch *in)
{
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR,
		w->egress == EGRESS_PUBLIC && !w->named ? "https" : "http,https");
	curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(h, CURLOPT_PROXY, "");
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)(in->total_ms ? in->total_ms : TOTAL_MS));
	if (in->silence_s) {
		curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
		curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, (long)in->silence_s);
	}
	if (!in->cut && !in->take)
		curl_easy_setopt(h, CURLOPT_MAXFILESIZE, (long)w->body.max);
	curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(h, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, w);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take_fetched_body);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, w);
}

/* Our own, without those that libcurl would add for a body. */
static struct curl_slist *headers_of(const struct fetch *in, struct arena *a)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; list && i < in->header_count; i++) {
		const struct fetch_header *f = &in->headers[i];
		struct curl_slist *more = curl_slist_append(
			list, *f->value ? arena_printf(a, "%s: %s", f->name, f->value)
					: arena_printf(a, "%s;", f->name));

		if (!more)
			curl_slist_free_all(list);
		list = more;
	}
	return list;
}

static void set_fetch_request(CURL *h, struct fetch_state *w, const struct fetch *in)
{
	curl_easy_setopt(h, CURLOPT_URL, in->url);
	curl_easy_setopt(h, CURLOPT_USERAGENT, "lodge");
	if (in->form) {
		curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE, (long)strlen(in->form));
		curl_easy_setopt(h, CURLOPT_POSTFIELDS, in->form);
	} else if (in->body) {
		curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)in->body_len);
		curl_easy_setopt(h, CURLOPT_POSTFIELDS, in->body);
	} else if (in->file) {
		curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, (curl_off_t)in->file->len);
		curl_easy_setopt(h, CURLOPT_READFUNCTION, give_file);
		curl_easy_setopt(h, CURLOPT_READDATA, w);
		curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, rewind_file);
		curl_easy_setopt(h, CURLOPT_SEEKDATA, w);
	}
	if (in->method && strcmp(in->method, "HEAD") == 0)
		curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
	else if (in->method)
		curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, in->method);
	if (in->user) {
		curl_easy_setopt(h, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(h, CURLOPT_USERNAME, in->user);
		curl_easy_setopt(h, CURLOPT_PASSWORD, in->password);
	} else if (in->bearer) {
		curl_easy_setopt(h, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(h, CURLOPT_XOAUTH2_BEARER, in->bearer);
	}
}

static void take_answer(CURL *h, const struct fetch_state *w, struct arena *a, struct fetched *out)
{
	char *type = NULL, *location = NULL;
	struct curl_header *header;
	curl_off_t length = -1;
	long status = 0;

	curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(h, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(h, CURLINFO_REDIRECT_URL, &location);
	out->status = (int)status;
	out->body = arena_strndup(a, w->body.len ? w->body.at : "", w->body.len);
	out->len = w->body.len;
	out->max_age_s = max_age(h);
	out->content_type = type ? arena_strdup(a, type) : NULL;
	out->location = location ? arena_strdup(a, location) : NULL;
	out->was_cut = w->was_cut;
	curl_easy_getinfo(h, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	out->length = length;
	if (!curl_easy_header(h, "date", 0, CURLH_HEADER, -1, &header))
		out->date = arena_strdup(a, header->value);
	if (w->in->wanted && !curl_easy_header(h, w->in->wanted, 0, CURLH_HEADER, -1, &header))
		out->header = arena_strdup(a, header->value);
}

/* ---- under way ---- */

struct fetch_line *fetch_line_new(void)
{
	struct fetch_line *line = calloc(1, sizeof *line);

	if (!line)
		abort();
	line->multi = curl_multi_init();
	if (!line->multi)
		abort();
	return line;
}

void fetch_line_free(struct fetch_line *line)
{
	if (line)
		curl_multi_cleanup(line->multi);
	free(line);
}

/* Until the transfer is over, or its answer is no longer wanted. */
static CURLcode drive_fetch(CURLM *multi, CURL *h, const _Atomic bool *stop)
{
	CURLcode code = CURLE_ABORTED_BY_CALLBACK;
	int open = 1, left;
	CURLMsg *m;

	if (curl_multi_add_handle(multi, h))
		return CURLE_FAILED_INIT;
	while (open && !(stop && *stop)) {
		if (curl_multi_perform(multi, &open) ||
			(open && curl_multi_poll(multi, NULL, 0, stop ? STOP_MS : POLL_MS, NULL)))
			break;
	}
	while ((m = curl_multi_info_read(multi, &left)) != NULL)
		if (m->msg == CURLMSG_DONE && m->easy_handle == h)
			code = m->data.result;
	curl_multi_remove_handle(multi, h);
	return code;
}

static CURLcode perform_fetch(CURL *h, const struct fetch *in)
{
	struct fetch_line *line = in->line ? in->line : fetch_line_new();
	CURLcode code = drive_fetch(line->multi, h, in->stop);

	if (!in->line)
		fetch_line_free(line);
	return code;
}

static void forget_headers(struct curl_slist *headers)
{
	for (struct curl_slist *p = headers; p; p = p->next)
		wipe(p->data, strlen(p->data));
	curl_slist_free_all(headers);
}

int fetch_run(const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	CURL *h = curl_easy_init();
	struct fetch_state w = { .egress = in->egress, .in = in, .handle = h };
	struct curl_slist *headers = headers_of(in, a);
	CURLcode code;

	*out = (struct fetched){ .max_age_s = -1, .length = -1 };
	if (!h || !headers || !fetch_permits(in->url, in->egress)) {
		forget_headers(headers);
		curl_easy_cleanup(h);
		*ret_why = WHY_ADDRESS_NOT_ALLOWED;
		return ERR_UPSTREAM;
	}
	w.named = fetch_is_listed(in->url);
	buf_init(&w.body, in->answer_max ? in->answer_max : ANSWER_MAX);
	set_limits(h, &w, in);
	set_fetch_request(h, &w, in);
	curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	code = perform_fetch(h, in);
	if (w.enough)
		code = CURLE_OK;
	if (!code)
		take_answer(h, &w, a, out);
	else if (w.refused)
		*ret_why = WHY_RESOLVES_TO_PRIVATE;
	else if (w.body.overflow || code == CURLE_FILESIZE_EXCEEDED)
		*ret_why = arena_printf(a, "the answer is larger than %zu KiB", w.body.max / 1024);
	else if (in->stop && *in->stop)
		*ret_why = "it is no longer wanted";
	else {
		char text[WHY_TEXT_MAX];

		out->late = code == CURLE_OPERATION_TIMEDOUT;
		why_tell(h, code, text);
		*ret_why = arena_strdup(a, text);
	}
	if (w.body.len)
		wipe(w.body.at, w.body.len);
	buf_free(&w.body);
	forget_headers(headers);
	curl_easy_cleanup(h);
	return code ? ERR_UPSTREAM : 0;
}
