/* openai_media.c - see openai_media.h. */
#include "openai/openai_media.h"

#include <string.h>

#include "api/sessions/session_rows.h"
#include "base/json.h"
#include "openai/openai_page.h"

struct media_reader {
	struct call *c;
	struct arena
		*own; /* of the part that is read: its text is long, and goes when it is decoded */
	struct session_parts *to;
	const char *field; /* of the part */
	size_t place;	   /* in the text so far */
};

/* What a data: URL holds, in base64; NULL: it is none. */
static const char *data_of(struct arena *a, const char *url, const char **ret_type)
{
	enum { HEAD_MAX = 128 };
	const char *comma = NULL;
	size_t head;

	*ret_type = NULL;
	if (strncasecmp(url, "data:", 5) != 0)
		return NULL;
	comma = memchr(url, ',', strnlen(url, HEAD_MAX));
	head = comma ? (size_t)(comma - url) : 0;
	if (head < 12 || strncasecmp(comma - 7, ";base64", 7) != 0)
		return NULL;
	*ret_type = arena_strndup(a, url + 5, head - 12);
	return comma + 1;
}

static int add_media(
	struct media_reader *m, int type, const char *url, const char *name, const char *detail)
{
	struct call *c = m->c;
	const char *claimed, *data = data_of(m->own, url, &claimed);
	struct session_part part = { .told = { .type = type, .place = (int64_t)m->place },
		.field = m->field };

	/* What outlives the text of the part. */
	part.told.name = name ? arena_strdup(c->arena, name) : NULL;
	part.told.detail = detail ? arena_strdup(c->arena, detail) : NULL;
	if (!data)
		part.told.url =
			arena_strndup(c->arena, url, strnlen(url, SESSION_PART_URL_MAX + 1));
	return session_part_add(
		c->arena, m->to, &part, claimed, data, data ? strlen(data) : 0, &c->problem);
}

static int add_image_media(struct media_reader *m, const char *object, const char *url)
{
	const char *detail = openai_text(m->own, object, "detail");
	static const char *const details[] = { "auto", "low", "high", "original" };
	bool known = !detail;

	for (size_t i = 0; detail && i < sizeof details / sizeof *details; i++)
		known |= strcmp(details[i], detail) == 0;
	if (!url)
		return call_field(m->c, m->field, "required",
			"must have an image as an address or as data: files of a provider are not known here");
	if (!known)
		return call_field(
			m->c, m->field, "choice", "must have detail auto, low, high or original");
	return add_media(m, MessagePartType_image, url, NULL, detail);
}

static int add_file_media(struct media_reader *m, const char *part)
{
	struct arena *a = m->own;
	const char *data = openai_text(a, part, "file_data"), *type;
	const char *url = data ? data : openai_text(a, part, "file_url");

	if (!url)
		return call_field(m->c, m->field, "required",
			"must have file_data or file_url: files of a provider are not known here");
	if (data && !data_of(a, data, &type))
		return call_field(m->c, m->field, "format",
			"must have file_data as a data: URL, such as data:application/pdf;base64,...");
	return add_media(m, MessagePartType_file, url, openai_text(a, part, "filename"), NULL);
}

static int add_sound_media(struct media_reader *m, const char *part)
{
	struct arena *a = m->own;
	const char *sound = openai_member(a, part, "input_audio");
	const char *data = sound ? openai_text(a, sound, "data") : NULL;
	const struct session_part told = { .told = { .type = MessagePartType_audio,
						   .place = (int64_t)m->place },
		.field = m->field };

	if (!data)
		return call_field(m->c, m->field, "required", "must have data and format");
	return session_part_add(
		m->c->arena, m->to, &told, NULL, data, strlen(data), &m->c->problem);
}

static int read_media_part(struct media_reader *m, const char *part, enum media_shape shape)
{
	struct arena *a = m->own;
	const char *type = openai_text(a, part, "type"), *inner, *text;

	if (!type)
		return 0;
	if (shape == MEDIA_RESPONSES && strcmp(type, "input_image") == 0)
		return add_image_media(m, part, openai_text(a, part, "image_url"));
	if (shape == MEDIA_RESPONSES && strcmp(type, "input_file") == 0)
		return add_file_media(m, part);
	if (shape == MEDIA_RESPONSES && strcmp(type, "input_audio") == 0)
		return add_sound_media(m, part);
	if (shape == MEDIA_THREADS && strcmp(type, "image_url") == 0) {
		inner = openai_member(a, part, "image_url");
		return add_image_media(m, inner && *inner == '{' ? inner : "{}",
			inner && *inner == '{' ? openai_text(a, inner, "url") : NULL);
	}
	text = openai_text(a, part, strcmp(type, "refusal") == 0 ? "refusal" : "text");
	if (text)
		m->place += strlen(text) + (m->place > 0);
	return 0;
}

int openai_media(struct call *c, const char *field, const char *parts, enum media_shape shape,
	struct session_parts *ret)
{
	struct media_reader m = { .c = c, .to = ret };
	struct json_reader r;
	const char *item;
	size_t len, i = 0;
	int err = 0;

	json_open(&r, c->arena, parts, strlen(parts));
	json_enter_array(&r);
	while (!err && json_next_item(&r) && json_skip(&r, &item, &len)) {
		struct arena own = { 0 };

		m.field = arena_printf(c->arena, "%s[%zu]", field, i++);
		m.own = &own;
		err = read_media_part(&m, arena_strndup(&own, item, len), shape);
		arena_free(&own);
	}
	if (!err && ret->count) {
		ret->carry = session_carry(c);
		session_parts_note(ret);
	}
	return err;
}
