/* messages_note.c - what the reader of messages notes beside the chat: what is wrong and where, what is left out, what
 * goes out otherwise than it came; see messages_parts.h. */
#include "anthropic/messages_parts.h"
#include "base/utf8_cut.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAMED_MAX = 512 };

/* ---- what is wrong, and where ---- */

bool messages_wrong(struct messages_reader *in, const char *key, const char *fmt, ...)
{
	char sentence[sizeof in->e->message], *at = in->e->param;
	const size_t room = sizeof in->e->param;
	size_t n = 0;
	va_list ap;

	if (in->wrong)
		return false;
	in->wrong = true;
	if (in->member)
		n = (size_t)snprintf(at, room, "%.*s", UTF8_SHOWN(40, in->member));
	if (in->item != NOWHERE)
		n += (size_t)snprintf(at + n, room - n, ".%d", in->item);
	if (in->block != NOWHERE)
		n += (size_t)snprintf(at + n, room - n, ".content.%d", in->block);
	if (in->inner != NOWHERE)
		n += (size_t)snprintf(at + n, room - n, ".content.%d", in->inner);
	if (key)
		snprintf(at + n, room - n, "%s%.*s", n ? "." : "", UTF8_SHOWN(24, key));
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof sentence, fmt, ap);
	va_end(ap);
	utf8_trim(sentence);
	snprintf(in->e->message, sizeof in->e->message, "%s%s%.*s", at, *at ? ": " : "",
		UTF8_SHOWN(150, sentence));
	return false;
}

bool messages_expect(
	struct messages_reader *in, struct json_reader *r, const char *key, enum json_type want)
{
	static const char *const names[] = { "", "null", "boolean", "number", "string", "array",
		"object" };
	enum json_type got = json_peek(r);

	if (got == want)
		return true;
	if (got != JSON_FAULT)
		messages_wrong(in, key, "Input should be a valid %s", names[want]);
	return false;
}

bool messages_plain_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-",
			    *p))
			return false;
	return *name && strlen(name) <= MEMBER_NAME_MAX;
}

static void name_once(struct arena *a, const char **list, const char *name)
{
	const char *found = *list ? strstr(*list, name) : NULL;
	size_t len = strlen(name);

	if (found && (found == *list || found[-1] == ' ') && (!found[len] || found[len] == ','))
		return;
	if (!*list || strlen(*list) < NAMED_MAX)
		*list = arena_printf(a, "%s%s%s", *list ? *list : "", *list ? ", " : "", name);
}

void messages_dropped(struct messages_reader *in, const char *name)
{
	name_once(in->c->arena, &in->c->dropped, name);
}

void messages_elsewhere(struct messages_reader *in, const char *name)
{
	name_once(in->c->arena, &in->c->elsewhere, messages_plain_name(name) ? name : "other");
}

void messages_unbounded(struct messages_reader *in)
{
	if (!in->c->unbounded)
		in->c->unbounded = arena_strdup(in->c->arena, in->member);
}

/* By their place: what is read later may stand before. */
void messages_patch(struct messages_reader *in, struct slice at, struct slice with)
{
	struct chat_patch *p = arena_new(in->c->arena, struct chat_patch), **to = &in->c->patches;

	*p = (struct chat_patch){ .at = at, .with = with };
	while (*to && (*to)->at.at < at.at)
		to = &(*to)->next;
	p->next = *to;
	*to = p;
}

/* How long something stays in the cache has its price: there is one for writing it there. */
void messages_cache(struct messages_reader *in, struct json_reader *r, struct slice *ret)
{
	const char *key, *start;
	struct slice life = { 0 };
	size_t len;

	if (json_peek(r) == JSON_NULL) {
		json_read_null(r);
		return;
	}
	if (!messages_expect(in, r, "cache_control", JSON_OBJECT))
		return;
	start = r->at;
	json_enter_object(r);
	while (json_next_key(r, &key, &len)) {
		if (strcmp(key, "ttl") == 0)
			text_read(r, &life);
		else
			json_skip(r, NULL, NULL);
	}
	if (life.at && !text_is(life, "5m")) {
		messages_patch(in, life, SLICE("5m"));
		messages_dropped(in, "cache_control.ttl");
	}
	*ret = (struct slice){ start, (size_t)(r->at - start) };
}

struct chat_message *messages_begin(struct messages_reader *in, enum chat_role role)
{
	struct chat_message *m = arena_new(in->c->arena, struct chat_message);

	m->role = role;
	m->last_part = &m->parts;
	m->last_call = &m->calls;
	m->last_thought = &m->thoughts;
	return m;
}

void messages_end(struct messages_reader *in, struct chat_message *m)
{
	*in->c->last_message = m;
	in->c->last_message = &m->next;
}
