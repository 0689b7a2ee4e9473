/* chat_terms.c - the table of chat_terms.h. */
#include "broker/chat_terms.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define SEARCHES                                                                          \
	"searching the web is charged by the search, which is not in the model's price. " \
	"Leave it out, and give the agent a tool for it."
#define ELSEWHERE \
	"the request is answered by the model it names, at that model's price. Leave it out."
#define ONE_LIMIT "the limit is said once, by max_tokens or max_completion_tokens"

const struct chat_term chat_terms[] = {
	{ "n", TERM_REFUSED,
		"one choice is given here, for each is paid like an answer of its own. Ask again for "
		"another.",
		{ "1" } },
	{ "best_of", TERM_REFUSED,
		"one answer is made here, for each that is thrown away is paid as well. Leave it out.",
		{ "1" } },
	{ "num_return_sequences", TERM_REFUSED,
		"one choice is given here, for each is paid like an answer of its own. Leave it out.",
		{ "1" } },
	{ "use_beam_search", TERM_REFUSED,
		"one answer is made here, and not several at once. Leave it out.", { "false" } },
	{ "modalities", TERM_REFUSED,
		"answers are text here: sound and pictures have other prices than the model's.",
		{ "[\"text\"]" } },
	{ "audio", TERM_REFUSED,
		"answers are text here: sound has another price than the model's. Leave it out." },
	{ "web_search_options", TERM_REFUSED, SEARCHES },
	{ "search_parameters", TERM_REFUSED, SEARCHES, { "{\"mode\":\"off\"}" } },
	{ "enable_search", TERM_REFUSED, SEARCHES, { "false" } },
	{ "web_search", TERM_REFUSED, SEARCHES, { "false" } },
	{ "plugins", TERM_REFUSED,
		"what a go-between adds is not in the model's price. Leave it out.", { "[]" } },
	{ "compound_custom", TERM_REFUSED, ELSEWHERE },
	{ "models", TERM_REFUSED, ELSEWHERE, { "[]" } },
	{ "fallbacks", TERM_REFUSED, ELSEWHERE, { "[]" } },
	{ "provider", TERM_REFUSED, ELSEWHERE, { "{}" } },
	{ "preset", TERM_REFUSED, ELSEWHERE },
	{ "cached_content", TERM_REFUSED,
		"what is stored at the provider cannot be reckoned before it is read. Send the text "
		"itself." },

	{ "service_tier", TERM_DROPPED, "a tier has a price of its own",
		{ "\"auto\"", "\"default\"" } },
	{ "speed", TERM_DROPPED, "haste has a price of its own", { "\"standard\"" } },
	{ "inference_geo", TERM_DROPPED, "a place has a price of its own" },
	{ "prediction", TERM_DROPPED,
		"what was predicted wrongly is charged as output, beyond any limit" },
	{ "max_output_tokens", TERM_DROPPED, ONE_LIMIT },
	{ "max_new_tokens", TERM_DROPPED, ONE_LIMIT },
	{ "max_gen_len", TERM_DROPPED, ONE_LIMIT },
	{ "max_length", TERM_DROPPED, ONE_LIMIT },
	{ "max_tokens_to_sample", TERM_DROPPED, ONE_LIMIT },
	{ "extra_body", TERM_DROPPED, "its members are members of the body itself" },
	{ "n_predict", TERM_DROPPED, ONE_LIMIT },
	{ "num_predict", TERM_DROPPED, ONE_LIMIT },
};
const size_t chat_term_count = sizeof chat_terms / sizeof *chat_terms;

/* Is it this value, however it is spaced? */
static bool term_value_is(struct slice raw, const char *value)
{
	for (size_t i = 0; i < raw.len; i++) {
		if (memchr(" \t\r\n", raw.at[i], 4))
			continue;
		if (!*value || raw.at[i] != *value++)
			return false;
	}
	return !*value;
}

bool chat_name_like(const char *name, const char *known)
{
	for (;; name++, known++) {
		name += strspn(name, "_-");
		known += strspn(known, "_-");
		if (tolower((unsigned char)*name) != tolower((unsigned char)*known))
			return false;
		if (!*name)
			return true;
	}
}

const struct chat_term *chat_term_of(const char *name, struct slice raw)
{
	for (size_t i = 0; i < chat_term_count; i++) {
		const struct chat_term *t = &chat_terms[i];

		if (!chat_name_like(name, t->name))
			continue;
		if (term_value_is(raw, "null"))
			return NULL;
		for (size_t j = 0; j < TERM_HARMLESS_MAX && t->harmless[j]; j++)
			if (term_value_is(raw, t->harmless[j]))
				return NULL;
		return t;
	}
	return NULL;
}
