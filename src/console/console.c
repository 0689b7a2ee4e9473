/* console.c - serving the console's files; see console.h.
 *
 * A name that contains the hash of its content is kept by browsers for a
 * year; whatever else stands below /console/ is a screen, and every screen is
 * the same page, which is asked for anew each time and mostly answered 304.
 * The policy lets a page run our scripts, and nothing else: no text becomes
 * script or style, nobody frames it, and it speaks to this service alone. */
#include "console/console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"

#define ROOT "/console/"
#define PAGE "index.html"

enum { PATH_MOST = 200, TAG_MOST = 80 };

#define POLICY                                                                                     \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "       \
	"img-src 'self' blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; "           \
	"manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "       \
	"require-trusted-types-for 'script'; trusted-types lodge\r\n"                              \
	"Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n" \
	"Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"

static int compare_file(const void *key, const void *file)
{
	return strcmp(key, ((const struct console_file *)file)->path);
}

static const struct console_file *file_at(const char *path)
{
	return bsearch(
		path, console_files, console_file_count, sizeof *console_files, compare_file);
}

/* The form that the caller takes and that has the fewest bytes, with its own tag. */
static const struct console_body *choose_form(
	struct http_exchange *x, const struct console_file *f, char *tag, const char **ret_coding)
{
	const struct console_body *body = &f->plain;

	*ret_coding = NULL;
	if (f->brotli.at && http_takes(&x->request, "br")) {
		body = &f->brotli;
		*ret_coding = "br";
	} else if (f->gzip.at && http_takes(&x->request, "gzip")) {
		body = &f->gzip;
		*ret_coding = "gzip";
	}
	snprintf(tag, TAG_MOST, "\"%s%s%s\"", f->hash, *ret_coding ? "-" : "",
		*ret_coding ? *ret_coding : "");
	return body;
}

static void send_file(struct http_exchange *x, const struct console_file *f)
{
	const char *known = http_header(&x->request, "if-none-match"), *coding;
	struct http_reply *r = &x->reply;
	char tag[TAG_MOST];
	const struct console_body *body = choose_form(x, f, tag, &coding);

	buf_lit(&r->extra, POLICY "Vary: Accept-Encoding\r\n");
	buf_printf(&r->extra, "Cache-Control: %s\r\nETag: %s\r\n",
		f->named_by_hash ? "public, max-age=31536000, immutable" : "no-cache", tag);
	if (known && (strcmp(known, "*") == 0 || strstr(known, tag))) {
		r->status = 304;
		return;
	}
	r->status = 200;
	r->type = f->type;
	if (coding)
		buf_printf(&r->extra, "Content-Encoding: %s\r\n", coding);
	buf_put(&r->body, body->at, body->len);
}

static void send_there(struct http_exchange *x)
{
	x->reply.status = 302;
	buf_lit(&x->reply.extra, "Location: " ROOT "\r\nCache-Control: no-cache\r\n");
}

static bool is_path(const struct http_request *r, const char *path)
{
	return r->path_len == strlen(path) && memcmp(r->path, path, r->path_len) == 0;
}

static bool is_read(const struct http_request *r)
{
	return r->method == METHOD_GET || r->method == METHOD_HEAD;
}

bool console_answer(struct http_exchange *x)
{
	const struct http_request *r = &x->request;
	size_t root = sizeof(ROOT) - 1;
	const struct console_file *f = NULL;
	char path[PATH_MOST];

	if (!is_read(r))
		return false;
	if (is_path(r, "/") || is_path(r, "/console")) {
		send_there(x);
		return true;
	}
	if (r->path_len < root || memcmp(r->path, ROOT, root) != 0)
		return false;
	if (r->path_len - root < sizeof path) {
		memcpy(path, r->path + root, r->path_len - root);
		path[r->path_len - root] = '\0';
		f = file_at(path);
		/* A file of an older program: a page in its place would be run as a script. */
		if (!f && strncmp(path, "assets/", 7) == 0)
			return false;
	}
	f = f ? f : file_at(PAGE);
	if (!f)
		return false;
	send_file(x, f);
	return true;
}

bool console_absent(struct http_exchange *x)
{
	if (!is_read(&x->request) || !is_path(&x->request, "/"))
		return false;
	x->reply.status = 200;
	x->reply.type = "text/plain; charset=utf-8";
	buf_lit(&x->reply.body,
		"This is Lodge, without its console. What can be asked of it is described at "
		"/openapi.json.\n");
	return true;
}
