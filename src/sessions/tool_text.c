/* tool_text.c - see tool_text.h. */
#include "sessions/tool_text.h"

#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8_cut.h"

enum { NOTE_MAX = 256 };

#define REPLACEMENT "\xef\xbf\xbd"

/* The length of the character at the beginning; 0 if it is none, or NUL. */
static size_t character_len(const unsigned char *p, size_t left)
{
	size_t len = *p < 0x80	 ? 1
		     : *p < 0xc2 ? 0
		     : *p < 0xe0 ? 2
		     : *p < 0xf0 ? 3
		     : *p < 0xf5 ? 4
				 : 0;

	return *p && len && len <= left && utf8_valid((const char *)p, len) ? len : 0;
}

const char *tool_text_clean(struct arena *a, const char *bytes, size_t len, size_t *ret_len)
{
	const unsigned char *p = (const unsigned char *)bytes, *end = p + len;
	struct buf out;
	const char *text;

	if (!len || (utf8_valid(bytes, len) && !memchr(bytes, '\0', len))) {
		*ret_len = len;
		return arena_strndup(a, len ? bytes : "", len);
	}
	buf_init(&out, len * (sizeof REPLACEMENT - 1));
	while (p < end) {
		size_t n = character_len(p, (size_t)(end - p));

		if (n)
			buf_put(&out, p, n);
		else
			buf_lit(&out, REPLACEMENT);
		p += n ? n : 1;
	}
	*ret_len = out.len;
	text = arena_strndup(a, out.at, out.len);
	buf_free(&out);
	return text;
}

void tool_answer_give(struct arena *a, const struct tool_said *said, struct tool_answer *ret)
{
	size_t len, shown, room = TOOL_OUTPUT_MAX - (said->failed ? strlen(said->failed) + 1 : 0);
	const char *text = tool_text_clean(a, said->bytes, said->len, &len);
	const char *before = said->failed ? said->failed : "",
		   *feed = said->failed && len ? "\n" : "";

	*ret = (struct tool_answer){ .failed = said->failed != NULL };
	if (len <= room && !said->more) {
		ret->text = arena_printf(a, "%s%s%s", before, feed, text);
		return;
	}
	shown = utf8_cut(text, len, room - NOTE_MAX);
	ret->whole = said->bytes;
	ret->whole_len = said->len < TOOL_WHOLE_MAX ? said->len : TOOL_WHOLE_MAX;
	ret->content_type = said->type ? said->type : "text/plain; charset=utf-8";
	ret->text = arena_printf(a,
		"%s%s%.*s\n\n[The answer was cut: this is the first %zu bytes of %s%zu. %s is kept in the "
		"files of this session.]",
		before, feed, (int)shown, text, shown, said->more ? "more than " : "", said->len,
		said->more || ret->whole_len < said->len ? "What was read of it" : "The whole");
}

void tool_answer_text(struct arena *a, const char *text, struct tool_answer *ret)
{
	tool_answer_give(a, &(struct tool_said){ .bytes = text, .len = strlen(text) }, ret);
}

void tool_answer_fail(struct arena *a, struct tool_answer *ret, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(a, fmt, ap);
	va_end(ap);
	tool_answer_text(a, text, ret);
	ret->failed = true;
}
