/* builtin_words.c - what built-in tools share: their arguments, and words that are looked for; see builtin_run.h. */
#include <string.h>

#include "base/fold.h"
#include "sessions/builtin_run.h"
#include "sessions/tool_text.h"

bool builtin_arguments_read(struct builtin_call *c)
{
	if (c->in.fault)
		tool_answer_fail(c->arena, c->answer, "%s", c->in.fault);
	return !c->in.fault;
}

struct builtin_words builtin_words(struct arena *a, const char *query)
{
	struct builtin_words out = { .count = 0 };
	char *save = NULL, *folded = fold_words(a, query);

	for (char *word = strtok_r(folded, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (out.count == BUILTIN_WORDS_MAX) {
			out.too_many = true;
			break;
		}
		out.list[out.count++] = word;
	}
	return out;
}

static bool begins_word(const char *text, const char *word)
{
	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		if (p == text || p[-1] == ' ')
			return true;
	return false;
}

bool builtin_words_in(const struct builtin_words *w, const char *folded)
{
	for (size_t i = 0; i < w->count; i++)
		if (!begins_word(folded, w->list[i]))
			return false;
	return w->count > 0;
}
