/* format_openai.c - assistants as OpenAI's API showed them: one object, an array, or a page of a list; with threads, if
 * whoever saved them put them in. */
#include <string.h>

#include "bundle/format_parts.h"

static bool is_assistant(const struct json_node *n)
{
	const char *object = bundle_text(n, "object"), *id = bundle_text(n, "id");

	if (object)
		return strcmp(object, "assistant") == 0;
	return id && strncmp(id, "asst_", 5) == 0 && bundle_at(n, "model");
}

/* The assistants of the file; one alone is its own list. */
static const struct json_node *assistants_of(const struct json_node *n)
{
	const struct json_node *data = bundle_at(n, "data");

	if (n->type == JSON_ARRAY)
		return n;
	return data && data->type == JSON_ARRAY ? data : NULL;
}

static const struct json_node *first_assistant(const struct json_node *n)
{
	const struct json_node *list = assistants_of(n);

	if (!list)
		return is_assistant(n) ? n : NULL;
	return list->count && is_assistant(list->items[0]) ? list->items[0] : NULL;
}

bool openai_sniff(const struct bundle_reading *r)
{
	return r->json && first_assistant(r->json);
}

static void read_tools(struct bundle_reading *r, const struct json_node *tools)
{
	for (size_t i = 0; tools && tools->type == JSON_ARRAY && i < tools->count; i++) {
		const char *type = bundle_text(tools->items[i], "type");
		const char *name = bundle_text(tools->items[i], "function.name");

		if (name)
			bundle_add_tool(r, name);
		else if (type)
			bundle_warn(r, "OpenAI's own tool %s has no counterpart here.", type);
	}
}

/* Texts of a content that is a text or a list of parts {type, text: {value}} or {type, text}. */
static const char *thread_text(struct bundle_reading *r, const struct json_node *m)
{
	const struct json_node *content = bundle_at(m, "content");
	const char *all = bundle_text(m, "content");
	struct buf b;

	if (all || !content || content->type != JSON_ARRAY)
		return all;
	buf_init(&b, BUNDLE_PACKED_MAX);
	for (size_t i = 0; i < content->count; i++) {
		const char *part = bundle_text(content->items[i], "text.value");

		part = part ? part : bundle_text(content->items[i], "text");
		if (part)
			bundle_glue(&b, "\n", part);
	}
	return b.len ? bundle_glued(r, &b) : NULL;
}

/* A page of a list is newest first, as the API gave it; a plain array is in its own order. */
static void read_thread(struct bundle_reading *r, const struct json_node *thread)
{
	const struct json_node *list = bundle_at(thread, "messages"), *page;
	struct bundle_session *s;
	size_t count;

	page = bundle_at(list, "data");
	list = page ? page : list;
	if (!list || list->type != JSON_ARRAY || !list->count)
		return;
	s = bundle_add_session(r, bundle_text(thread, "title"), bundle_time(thread, "created_at"));
	count = s ? list->count : 0;
	for (size_t i = 0; i < count; i++) {
		const struct json_node *m = list->items[page ? count - 1 - i : i];
		const char *role = bundle_text(m, "role"), *text = thread_text(r, m);
		struct BundleMessage *to;

		if (!role || !text)
			continue;
		to = bundle_add_message(
			r, s, strcmp(role, "user") == 0 ? BUNDLE_USER : BUNDLE_ASSISTANT, text);
		if (to)
			to->created_at.us = bundle_time(m, "created_at");
	}
}

int openai_read(struct bundle_reading *r)
{
	const struct json_node *n = first_assistant(r->json), *all = assistants_of(r->json),
			       *threads = bundle_at(n, "threads");
	struct agent_bundle *b = r->out;

	b->name = bundle_text(n, "name");
	b->description = bundle_text(n, "description");
	b->prompt = bundle_text(n, "instructions");
	bundle_add_model(r, bundle_text(n, "model"));
	read_tools(r, bundle_at(n, "tools"));
	if (!threads)
		threads = bundle_at(r->json, "threads");
	for (size_t i = 0; threads && threads->type == JSON_ARRAY && i < threads->count; i++)
		read_thread(r, threads->items[i]);
	bundle_drop(
		r, n, "tool_resources", "Vector stores and files of the assistant stay behind.");
	bundle_drop(
		r, n, "temperature", "temperature is set with each request here and stays behind.");
	bundle_drop(r, n, "top_p", "top_p is set with each request here and stays behind.");
	bundle_drop(r, n, "metadata", "The assistant's metadata stays behind.");
	for (size_t i = 1; all && i < all->count; i++)
		bundle_warn(r,
			"The assistant \"%s\" stays behind: an import makes one agent, the first.",
			bundle_text(all->items[i], "name") ? bundle_text(all->items[i], "name")
							   : "");
	return 0;
}
