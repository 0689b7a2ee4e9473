/* price_list.h - reads lists of models and their prices, in two forms.
 *
 *   [ {"name": ..., "slug": ..., "kind": ..., "pricing": {...}, ...}, ... ]
 *       what POST /admin/models takes, one object a model;
 *   { "gpt-4o": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-06, ...}, ... }
 *       LiteLLM's model_prices_and_context_window.json.
 *
 * Both come out as the same entries.  Nothing here knows the store. */
#pragma once
#include "base/arena.h"
#include "base/error.h"

enum price_entry_kind {
	PRICE_ENTRY,	   /* to be made, or changed */
	PRICE_NO_CHAT,	   /* skipped: not a chat model */
	PRICE_NO_PROVIDER, /* skipped: of a provider whose protocol is not spoken here */
	PRICE_FAULTY,	   /* `fault` says why it cannot be taken */
};

struct price_entry {
	enum price_entry_kind kind;
	const char *slug;   /* as far as it is known */
	const char *create; /* JSON: the body of POST /admin/models */
	const char *update; /* JSON: what of it changes a model that is there already */
	const char *fault;
};

/* Calls each() for every entry; what it returns ends the reading.  ERR_BAD_JSON with a sentence if the
 * text is neither form. */
int price_list_read(const char *text, size_t len, struct arena *a,
	int (*each)(void *ctx, const struct price_entry *entry), void *ctx, struct problem *p);
