/* chat.c - building a chat and looking at it; see chat.h. */
#include "broker/chat.h"

#include <string.h>

#include "base/few.h"
#include "broker/endpoint.h"
#include "broker/tokens.h"

const char *const chat_effort_names[EFFORT_COUNT] = {
	[EFFORT_NONE] = "none",
	[EFFORT_MINIMAL] = "minimal",
	[EFFORT_LOW] = "low",
	[EFFORT_MEDIUM] = "medium",
	[EFFORT_HIGH] = "high",
	[EFFORT_XHIGH] = "xhigh",
	[EFFORT_MAX] = "max",
};

void chat_open(struct chat *c, struct arena *a)
{
	*c = (struct chat){ .arena = a, .temperature = NAN, .top_p = NAN, .parallel_calls = -1 };
	c->last_message = &c->messages;
	c->last_tool = &c->tools;
	c->last_stop = &c->stop;
	c->last_field = &c->fields;
	c->last_hosted = &c->hosted;
	c->last_patch = &c->patches;
}

struct slice chat_text(struct chat *c, const char *plain)
{
	return text_escape(c->arena, plain, strlen(plain));
}

struct chat_message *chat_message_add(struct chat *c, enum chat_role role, const char *text)
{
	struct chat_message *m = arena_new(c->arena, struct chat_message);

	m->role = role;
	m->last_part = &m->parts;
	m->last_call = &m->calls;
	m->last_thought = &m->thoughts;
	*c->last_message = m;
	c->last_message = &m->next;
	if (text)
		chat_part_add(c, m, PART_TEXT)->text = chat_text(c, text);
	return m;
}

void chat_put_prompt(struct chat *c, const char *prompt)
{
	struct chat_message *first = c->messages, **last = c->last_message;

	if (!prompt || !*prompt || c->prompt)
		return;
	c->messages = NULL;
	c->last_message = &c->messages;
	c->prompt = chat_message_add(c, CHAT_SYSTEM, prompt);
	c->prompt->next = first;
	if (first)
		c->last_message = last;
}

struct chat_part *chat_part_add(struct chat *c, struct chat_message *m, enum chat_part_kind kind)
{
	struct chat_part *p = arena_new(c->arena, struct chat_part);

	p->kind = kind;
	*m->last_part = p;
	m->last_part = &p->next;
	return p;
}

struct chat_call *chat_call_add(struct chat *c, struct chat_message *m, const char *id,
	const char *name, const char *arguments)
{
	struct chat_call *call = arena_new(c->arena, struct chat_call);

	if (id)
		call->id = chat_text(c, id);
	if (name)
		call->name = chat_text(c, name);
	if (arguments)
		call->arguments = chat_text(c, arguments);
	*m->last_call = call;
	m->last_call = &call->next;
	return call;
}

struct chat_message *chat_result_add(struct chat *c, const char *call_id, const char *text)
{
	struct chat_message *m = chat_message_add(c, CHAT_TOOL, text);

	m->call_id = chat_text(c, call_id);
	return m;
}

struct chat_thought *chat_thought_add(struct chat *c, struct chat_message *m)
{
	struct chat_thought *t = arena_new(c->arena, struct chat_thought);

	t->maker = "";
	*m->last_thought = t;
	m->last_thought = &t->next;
	return t;
}

struct chat_tool *chat_tool_add(
	struct chat *c, const char *name, const char *description, const char *parameters)
{
	struct chat_tool *t = arena_new(c->arena, struct chat_tool);

	if (name)
		t->name = chat_text(c, name);
	if (description)
		t->description = chat_text(c, description);
	if (parameters)
		t->parameters = (struct slice){ parameters, strlen(parameters) };
	*c->last_tool = t;
	c->last_tool = &t->next;
	return t;
}

void chat_stop_add(struct chat *c, struct slice text)
{
	struct chat_stop *s = arena_new(c->arena, struct chat_stop);

	s->text = text;
	*c->last_stop = s;
	c->last_stop = &s->next;
}

/* True if it was a data: URL, which is taken apart. */
static bool take_data(struct chat_part *p, struct slice url)
{
	static const char base64[] = ";base64,";
	enum { HEAD_MAX = 128 };
	const char *mark;

	p->text = url;
	if (url.len < 5 || strncasecmp(url.at, "data:", 5) != 0)
		return false;
	mark = memmem(url.at, url.len < HEAD_MAX ? url.len : HEAD_MAX, base64, sizeof base64 - 1);
	if (!mark)
		return false;
	p->media = (struct slice){ url.at + 5, (size_t)(mark - url.at) - 5 };
	mark += sizeof base64 - 1;
	p->text = (struct slice){ mark, url.len - (size_t)(mark - url.at) };
	return true;
}

void chat_image(struct chat_part *p, struct slice url)
{
	p->kind = take_data(p, url) ? PART_IMAGE_DATA : PART_IMAGE_URL;
}

void chat_file(struct chat_part *p, struct slice url)
{
	p->kind = take_data(p, url) ? PART_FILE_DATA : PART_FILE_URL;
}

void chat_hosted_add(struct chat *c, const char *shape, const char *type, struct slice raw)
{
	struct chat_hosted *h = arena_new(c->arena, struct chat_hosted);

	h->shape = shape;
	h->type = type;
	h->raw = raw;
	*c->last_hosted = h;
	c->last_hosted = &h->next;
}

void chat_field_add(struct chat *c, const char *name, struct slice raw, const char *shape)
{
	struct chat_field *f = arena_new(c->arena, struct chat_field);

	f->name = chat_text(c, name);
	f->raw = raw;
	f->shape = shape;
	*c->last_field = f;
	c->last_field = &f->next;
}

const struct chat_field *chat_field_find(const struct chat *c, const char *name, const char *shape)
{
	for (const struct chat_field *f = c->fields; f; f = f->next)
		if (text_is(f->name, name) &&
			(f->shape == shape || (f->shape && shape && strcmp(f->shape, shape) == 0)))
			return f;
	return NULL;
}

static unsigned part_needs(const struct chat_part *p)
{
	switch (p->kind) {
	case PART_FILE_DATA:
		return CHAT_FILES;
	case PART_FILE_URL:
		return CHAT_FILE_URLS;
	case PART_AUDIO:
		return CHAT_AUDIO;
	case PART_OTHER:
		return CHAT_OTHER_PARTS;
	default:
		return 0;
	}
}

unsigned chat_needs(const struct chat *c)
{
	unsigned needs = 0;

	for (const struct chat_message *m = c->messages; m; m = m->next)
		for (const struct chat_part *p = m->parts; p; p = p->next)
			needs |= part_needs(p);
	return needs;
}

const char *chat_need_place(const struct chat *c, struct arena *a, unsigned needs)
{
	int i = 0;

	for (const struct chat_message *m = c->messages; m; m = m->next, i++)
		for (const struct chat_part *p = m->parts; p; p = p->next)
			if (part_needs(p) & needs)
				return p->place ? p->place
						: arena_printf(a, "messages[%d].content",
							  c->prompt ? i - 1 : i);
	return "messages";
}

const char *chat_left_out(const struct chat *c, struct arena *a, const char *kind)
{
	struct few left = { 0 };

	for (const struct chat_hosted *h = c->hosted; h; h = h->next)
		if (strcmp(h->shape, kind) != 0)
			few_add(&left, h->type, strlen(h->type));
	return few_text(&left, a);
}

bool chat_has_images(const struct chat *c)
{
	for (const struct chat_message *m = c->messages; m; m = m->next)
		for (const struct chat_part *p = m->parts; p; p = p->next)
			if (p->kind == PART_IMAGE_URL || p->kind == PART_IMAGE_DATA)
				return true;
	return false;
}

const char *chat_image_place(const struct chat *c)
{
	for (const struct chat_message *m = c->messages; m; m = m->next)
		for (const struct chat_part *p = m->parts; p; p = p->next)
			if ((p->kind == PART_IMAGE_URL || p->kind == PART_IMAGE_DATA) && p->place)
				return p->place;
	return "messages";
}

/* Around each message stand a few tokens of the model's own; an image is taken for a middling one. */
enum { TOKENS_A_MESSAGE = 4, TOKENS_A_TOOL = 8, TOKENS_AN_IMAGE = 1200 };

int64_t chat_tokens(const struct chat *c)
{
	struct tokens t = { 0 };
	int64_t more = 0;

	if (c->request)
		return c->request->tokens;
	for (const struct chat_message *m = c->messages; m; m = m->next) {
		more += TOKENS_A_MESSAGE;
		tokens_add(&t, m->name);
		for (const struct chat_part *p = m->parts; p; p = p->next) {
			if (p->kind == PART_IMAGE_URL || p->kind == PART_IMAGE_DATA)
				more += TOKENS_AN_IMAGE;
			else if (p->tokens)
				more += p->tokens;
			else
				tokens_add(&t, p->kind == PART_OTHER ? p->raw : p->text);
		}
		for (const struct chat_call *call = m->calls; call; call = call->next) {
			more += TOKENS_A_MESSAGE;
			tokens_add(&t, call->name);
			tokens_add(&t, call->arguments);
		}
		for (const struct chat_thought *th = m->thoughts; th; th = th->next)
			tokens_add(&t, th->text);
	}
	for (const struct chat_tool *tool = c->tools; tool; tool = tool->next) {
		more += TOKENS_A_TOOL;
		tokens_add(&t, tool->name);
		tokens_add(&t, tool->description);
		tokens_add(&t, tool->parameters);
	}
	for (const struct chat_hosted *h = c->hosted; h; h = h->next)
		tokens_add(&t, h->raw);
	tokens_add(&t, c->format_schema);
	return tokens_count(&t) + more;
}

/* Image data is found again in what any provider is sent, except in an assistant's words, where some leave
 * images out: there nothing is taken off. */
static bool is_image_data(const struct chat_message *m, const struct chat_part *p)
{
	return p->kind == PART_IMAGE_DATA && m->role != CHAT_ASSISTANT && p->media.len > 6 &&
	       strncasecmp(p->media.at, "image/", 6) == 0;
}

int64_t chat_tokens_written(const struct chat *c, struct slice body)
{
	struct tokens all = { 0 }, data = { 0 };
	int64_t images = 0;

	if (c->request)
		return c->request->tokens;
	tokens_add(&all, body);
	for (const struct chat_message *m = c->messages; m; m = m->next)
		for (const struct chat_part *p = m->parts; p; p = p->next) {
			images += p->kind == PART_IMAGE_URL || p->kind == PART_IMAGE_DATA;
			if (is_image_data(m, p))
				tokens_add(&data, p->text);
		}
	all.eighths -= data.eighths;
	return tokens_count(&all) + images * TOKENS_AN_IMAGE;
}
