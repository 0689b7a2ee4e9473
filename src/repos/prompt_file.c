/* prompt_file.c - see prompt_file.h. */
#include "repos/prompt_file.h"

#include <string.h>

#include "base/utf8.h"

#define PROMPT(name)                        \
	{                                   \
		"prompts/" name ".md", name \
	}

const struct prompt_file prompt_files[PROMPT_FILES] = {
	PROMPT("description_prompt"),
	PROMPT("bootstrap_instructions"),
	PROMPT("initial_greeting"),
};

int prompt_file_of(const char *path)
{
	for (int i = 0; i < PROMPT_FILES; i++)
		if (strcmp(prompt_files[i].path, path) == 0)
			return i;
	return -1;
}

const char *prompt_file_text(struct arena *a, const char *bytes, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf";
	char *text, *to;

	if (!utf8_valid(bytes, len) || memchr(bytes, '\0', len))
		return NULL;
	if (len >= 3 && memcmp(bytes, mark, 3) == 0) {
		bytes += 3;
		len -= 3;
	}
	to = text = arena_raw(a, len + 1, 1);
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != '\r' || i + 1 == len || bytes[i + 1] != '\n')
			*to++ = bytes[i];
	if (to > text && to[-1] == '\n')
		to--;
	*to = '\0';
	return (size_t)(to - text) <= CEILING_PROMPT ? text : NULL;
}

const char *prompt_file_bytes(struct arena *a, const char *text)
{
	return arena_printf(a, "%s\n", text);
}
