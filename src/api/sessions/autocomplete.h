/* autocomplete.h - finding what a caller may mention, for whoever asks in another way than the operation does. */
#pragma once
#include "api/sessions/sessions.h"
#include "call/call.h"

/* At most so many struct AutocompleteItem, best first; `types` are enum MentionType, none for all. */
int autocomplete_find(
	struct call *c, const char *q, const struct list *types, size_t limit, struct list *ret);
