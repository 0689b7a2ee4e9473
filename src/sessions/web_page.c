/* web_page.c - the work of http_fetch: a page or document from the web, as text a model can read.
 *
 * Where it may go is judged for the first address and for each one it is sent
 * on to, by name and by the address that is really connected to. */
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/html_text.h"
#include "base/utf8_cut.h"
#include "outside/http_tool.h"
#include "sessions/tool_outside.h"
#include "sessions/tool_text.h"

enum { PAGE_READ_MAX = 4 << 20, REFUSAL_SHOWN = 2000 };

/* Ours to follow: without what only a browser looks at. */
static const char *without_fragment(struct arena *a, const char *url)
{
	return arena_strndup(a, url, strcspn(url, "#"));
}

static int read_address(
	struct arena *a, const struct web_page *in, struct fetched *ret, const char **ret_why)
{
	static const struct fetch_header headers[] = {
		{ "Accept", "text/html, text/plain, application/json;q=0.9, */*;q=0.5" },
	};
	struct fetch request = { .url = without_fragment(a, in->url),
		.egress = in->egress,
		.headers = headers,
		.header_count = 1,
		.answer_max = PAGE_READ_MAX,
		.cut = true,
		.stop = in->stop };
	int64_t end = clock_mono_ms() + TOOL_MS;

	for (int turn = 0; turn <= HTTP_TOOL_REDIRECTS_MAX; turn++) {
		int64_t left = end - clock_mono_ms();
		int err;

		request.total_ms = (int)(left > 1 ? left : 1);
		err = fetch_run(&request, a, ret, ret_why);
		if (err || !http_is_redirect(ret))
			return err;
		request.url = without_fragment(a, ret->location);
	}
	*ret_why = "it redirects too often";
	return ERR_UPSTREAM;
}

/* ---- is it text? ---- */

static bool page_type_is(const char *type, const char *what)
{
	return strncasecmp(type, what, strlen(what)) == 0;
}

static bool is_text_page(const struct fetched *f)
{
	static const char *const known[] = { "application/json", "application/xml",
		"application/xhtml", "application/javascript", "application/x-javascript",
		"application/ecmascript", "application/yaml", "application/x-yaml",
		"application/toml", "application/x-ndjson", "application/x-sh", "application/sql",
		"application/graphql", "application/x-www-form-urlencoded" };
	const char *type = f->content_type;

	if (!type || !*type)
		return !memchr(f->body, '\0', f->len);
	if (page_type_is(type, "text/"))
		return true;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (page_type_is(type, known[i]))
			return true;
	return strcasestr(type, "+json") || strcasestr(type, "+xml");
}

static bool is_html(const struct fetched *f)
{
	return f->content_type && (page_type_is(f->content_type, "text/html") ||
					  page_type_is(f->content_type, "application/xhtml"));
}

static bool is_latin1(const struct fetched *f)
{
	const char *set = f->content_type ? strcasestr(f->content_type, "charset=") : NULL;

	if (!set)
		return false;
	set += 8 + (set[8] == '"');
	return page_type_is(set, "iso-8859-1") || page_type_is(set, "windows-1252") ||
	       page_type_is(set, "latin1");
}

static const char *readable_page_text(struct arena *a, const struct fetched *f, size_t *ret_len)
{
	const char *text = f->body;
	size_t len = f->len;

	if (is_latin1(f))
		text = latin1_text(a, text, len, &len);
	text = tool_text_clean(a, text, len, &len);
	if (is_html(f))
		text = html_text(a, text, len, &len);
	*ret_len = len;
	return text;
}

bool web_page_read(struct arena *a, const struct web_page *in, struct tool_answer *ret)
{
	struct fetched f;
	const char *why = "", *text;
	size_t len, most;

	if (read_address(a, in, &f, &why)) {
		tool_answer_fail(a, ret, "The address could not be read: %s.", why);
		return false;
	}
	if (!is_text_page(&f)) {
		const char *type = f.content_type ? f.content_type : "bytes of no stated type";

		tool_answer_fail(a, ret,
			"The address answered %d with %.*s, which is not text and cannot be read.",
			f.status, UTF8_SHOWN(100, type));
		return true;
	}
	text = readable_page_text(a, &f, &len);
	if (f.status < 200 || f.status > 299) {
		tool_answer_fail(a, ret, "The address answered %d: %.*s", f.status,
			(int)utf8_cut(text, len, REFUSAL_SHOWN), text);
		return true;
	}
	most = in->max_bytes && in->max_bytes < len ? utf8_cut(text, len, in->max_bytes) : len;
	if (most < len && most < TOOL_OUTPUT_MAX / 2) {
		tool_answer_text(a,
			arena_printf(a, "%.*s\n\n[Cut at max_bytes: %zu of %zu bytes are shown.]",
				(int)most, text, most, len),
			ret);
		return true;
	}
	tool_answer_give(a,
		&(struct tool_said){ .bytes = text, .len = most, .more = f.was_cut || most < len },
		ret);
	return true;
}
