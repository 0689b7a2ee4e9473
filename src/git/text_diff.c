/* text_diff.c - see text_diff.h. */
#include "git/text_diff.h"

#include <string.h>

#include "base/utf8_cut.h"
#include "git/bare_parts.h"

/* A line that is longer than all that is shown is cut in its middle. */
static const char *cut_lines(struct arena *a, const char *text, size_t len, size_t most)
{
	size_t n = most;

	if (len <= most)
		return arena_strndup(a, text, len);
	while (n && text[n - 1] != '\n')
		n--;
	return arena_strndup(a, text, n ? n : utf8_cut(text, len, most));
}

static bool has_many_lines(const char *text)
{
	size_t n = 0;

	while (n <= TEXT_DIFF_LINES && (text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n > TEXT_DIFF_LINES;
}

const char *text_diff(const struct text_change *change, struct arena *a, bool *ret_cut)
{
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	git_patch *patch = NULL;
	git_buf text = { 0 };
	const char *shown = NULL;

	*ret_cut = true;
	if (has_many_lines(change->was) || has_many_lines(change->is))
		return NULL;
	bare_begin();
	options.flags = GIT_DIFF_FORCE_TEXT;
	if (!git_patch_from_buffers(&patch, change->was, strlen(change->was), change->path,
		    change->is, strlen(change->is), change->path, &options) &&
		!git_patch_to_buf(&text, patch)) {
		*ret_cut = text.size > change->most;
		shown = cut_lines(a, text.ptr, text.size, change->most);
	}
	git_buf_dispose(&text);
	git_patch_free(patch);
	return shown;
}
