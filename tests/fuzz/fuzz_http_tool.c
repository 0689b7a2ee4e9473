/* fuzz_http_tool.c - configs of http tools, and arguments that try to get out of their places.  The text
 * up to the first line end is the config, the rest the arguments.  Whatever they are: the request goes
 * where the config says, with no more segments or parameters than it has, no header of two lines, and
 * a body that is JSON if it says so. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "outside/http_tool.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!crypto_init() || !fetch_init())
		abort();
	return 0;
}

static size_t count(const char *text, const char *characters)
{
	size_t n = 0;

	for (; *text; text++)
		n += strchr(characters, *text) != NULL;
	return n;
}

/* A pair without its argument is left out, with whatever is in it: only the path keeps its number. */
static const char *path_of(struct arena *a, const char *url)
{
	return arena_strndup(a, url, strcspn(url, "?"));
}

static void check_request(struct arena *a, const struct tool_config *c, const struct fetch *f)
{
	const char *why = NULL;

	if (!tool_config_same_origin(a, c->url, f->url))
		abort();
	if (count(path_of(a, f->url), "/") != count(path_of(a, c->url), "/") ||
		count(f->url, "?&") > count(c->url, "?&") ||
		count(f->url, "#") != count(c->url, "#"))
		abort();
	for (size_t i = 0; i < f->header_count; i++)
		for (const char *p = f->headers[i].value; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				abort();
	/* an argument inside the config's own lists may be deeper than the reader goes */
	if (c->body_kind == TOOL_BODY_JSON && !json_tree(a, f->body, f->body_len, &why, NULL) &&
		!strstr(why, "nested too deeply"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = memchr(text, '\n', size), *why = NULL;
	size_t len = end ? (size_t)(end - text) : size;
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct tool_config c;
	const struct json_node *arguments =
		end ? json_tree(&a, end + 1, size - len - 1, NULL, NULL) : NULL;
	const char *config = arena_strndup(&a, text, len);
	struct fetch f;

	if (!tool_config_read(&a, TOOL_HTTP, config, EGRESS_PUBLIC, NULL, &c, &p)) {
		const char *shown = tool_config_shown(&a, config);
		struct tool_config again;

		if (tool_config_read(&a, TOOL_HTTP, shown, EGRESS_PUBLIC, NULL, &again, &p) ||
			again.header_count != c.header_count)
			abort();
		if (arguments && !http_tool_render(&c, arguments, &a, &f, &why))
			check_request(&a, &c, &f);
		else if (arguments && !why)
			abort();
	}
	arena_free(&a);
	return 0;
}
