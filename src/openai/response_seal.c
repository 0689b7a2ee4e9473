/* response_seal.c - encrypted_content of a thought, whoever's it is: what another than OpenAI sealed has our mark before it. */
#include <string.h>

#include "openai/responses.h"

#define SIGNED "anthropic.signed:"
#define REDACTED "anthropic.redacted:"

const char *response_seal(struct arena *a, const char *maker, const char *sealed, bool redacted)
{
	if (!maker || strcmp(maker, "anthropic") != 0)
		return sealed;
	return arena_printf(a, "%s%s", redacted ? REDACTED : SIGNED, sealed);
}

static const char *after_mark(const char *sealed, const char *mark)
{
	return strncmp(sealed, mark, strlen(mark)) == 0 ? sealed + strlen(mark) : NULL;
}

const char *response_unseal(const char *encrypted, const char **ret_maker, bool *ret_redacted)
{
	const char *given = after_mark(encrypted, SIGNED),
		   *hidden = after_mark(encrypted, REDACTED);

	*ret_maker = given || hidden ? "anthropic" : "openai_responses";
	*ret_redacted = hidden != NULL;
	return given ? given : hidden ? hidden : encrypted;
}
