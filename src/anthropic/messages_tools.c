/* messages_tools.c - the tools of a body of messages, and which of them is to be called; see messages_read.h.
 *
 * Tools that the caller describes are known to every provider.  Those with a
 * type of Anthropic's own go to who speaks its protocol; of what the provider
 * runs itself nobody knows beforehand how much it will read. */
#include "anthropic/messages_parts.h"

#include <string.h>

/* Types that only the caller runs: the request bounds them. */
static bool is_run_by_caller(const char *type)
{
	static const char *const prefixes[] = { "bash_", "text_editor_", "computer_", "memory_" };

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(type, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void messages_tool(struct messages_reader *in)
{
	struct chat_tool t = { 0 }, *added;
	const char *key, *type = "";
	size_t len;

	if (!messages_expect(in, &in->r, NULL, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &key, &len)) {
		if (strcmp(key, "type") == 0)
			text_read_word(&in->r, &type);
		else if (strcmp(key, "name") == 0 &&
			 messages_expect(in, &in->r, "name", JSON_STRING))
			text_read(&in->r, &t.name);
		else if (strcmp(key, "description") == 0)
			text_read(&in->r, &t.description);
		else if (strcmp(key, "input_schema") == 0 &&
			 messages_expect(in, &in->r, "input_schema", JSON_OBJECT))
			text_read_raw(&in->r, &t.parameters);
		else if (strcmp(key, "strict") == 0 && json_peek(&in->r) == JSON_BOOL)
			t.has_strict = json_read_bool(&in->r, &t.strict);
		else if (strcmp(key, "cache_control") == 0)
			messages_cache(in, &in->r, &t.cache);
		else
			json_skip(&in->r, NULL, NULL);
	}
	if (in->wrong || in->r.fault)
		return;
	if (*type && strcmp(type, "custom") != 0) {
		messages_elsewhere(in, type);
		if (!is_run_by_caller(type))
			messages_unbounded(in);
		return;
	}
	if (!t.name.len) {
		messages_wrong(in, "name", "Field required");
	} else if (!t.parameters.at) {
		messages_wrong(in, "input_schema", "Field required");
	} else {
		added = chat_tool_add(in->c, NULL, NULL, NULL);
		*added = t;
	}
}

void messages_tools(struct messages_reader *in, const char *key)
{
	(void)key;
	if (!messages_expect(in, &in->r, NULL, JSON_ARRAY))
		return;
	json_enter_array(&in->r);
	for (in->item = 0; !in->wrong && json_next_item(&in->r); in->item++) {
		messages_tool(in);
		if (in->wrong)
			return;
	}
	in->item = NOWHERE;
}

void messages_choice(struct messages_reader *in, const char *key)
{
	static const struct {
		const char *word;
		enum chat_choice choice;
	} choices[] = {
		{ "auto", CHOICE_AUTO },
		{ "any", CHOICE_REQUIRED },
		{ "tool", CHOICE_NAMED },
		{ "none", CHOICE_NONE },
	};
	const char *name, *type = "";
	struct slice chosen = { 0 };
	bool alone = false;
	size_t len;

	(void)key;
	if (!messages_expect(in, &in->r, NULL, JSON_OBJECT))
		return;
	json_enter_object(&in->r);
	while (!in->wrong && json_next_key(&in->r, &name, &len)) {
		if (strcmp(name, "type") == 0 && messages_expect(in, &in->r, "type", JSON_STRING))
			text_read_word(&in->r, &type);
		else if (strcmp(name, "name") == 0)
			text_read(&in->r, &chosen);
		else if (strcmp(name, "disable_parallel_tool_use") == 0 &&
			 messages_expect(in, &in->r, "disable_parallel_tool_use", JSON_BOOL))
			json_read_bool(&in->r, &alone);
		else
			json_skip(&in->r, NULL, NULL);
	}
	if (in->wrong || in->r.fault)
		return;
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		if (strcmp(type, choices[i].word) == 0)
			in->c->tool_choice = choices[i].choice;
	if (!in->c->tool_choice)
		messages_wrong(in, "type", "Input should be 'auto', 'any', 'tool' or 'none'");
	else if (in->c->tool_choice == CHOICE_NAMED && !chosen.len)
		messages_wrong(in, "tool.name", "Field required");
	in->c->tool_chosen = chosen;
	if (alone)
		in->c->parallel_calls = 0;
}
