/* encode.c - see encode.h.  Written straight into the buffer: no tree, no copies. */
#include "contract/encode.h"

#include "base/json.h"
#include "contract/value.h"

static void encode_value(struct buf *out, const struct field *f, const void *object);

static void encode_list(struct buf *out, const struct field *f, const struct list *list)
{ /* NOLINT(misc-no-recursion): as deep as the tables */
	struct field item = value_item_field(f);
	size_t size = value_item_size(f);

	buf_putc(out, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			buf_putc(out, ',');
		if (f->item == OBJECT)
			encode_object(out, f->of, (const char *)list->at + i * size);
		else
			encode_value(out, &item, (const char *)list->at + i * size);
	}
	buf_putc(out, ']');
}

static void encode_value(struct buf *out, const struct field *f, const void *object)
{ /* NOLINT(misc-no-recursion): as deep as the tables */
	const void *at = (const char *)object + f->at;

	if (field_is_null(f, object)) {
		if (f->kind == LIST && !f->nullable)
			buf_lit(out, "[]");
		else if (f->kind == JSON && !f->nullable)
			buf_puts(out, f->array ? "[]" : "{}");
		else
			buf_lit(out, "null");
		return;
	}
	switch (f->kind) {
	case FLAG:
		if (*(const tri *)at)
			buf_lit(out, "true");
		else
			buf_lit(out, "false");
		break;
	case INTEGER:
		buf_put_int(out, *(const int64_t *)at);
		break;
	case NUMBER:
		json_write_number(out, *(const double *)at);
		break;
	case MONEY:
		json_write_money(out, ((const struct money *)at)->pd);
		break;
	case TEXT:
		json_write_string(out, *(const char *const *)at, strlen(*(const char *const *)at));
		break;
	case CHOICE:
		buf_putc(out, '"');
		buf_puts(out, f->words->list[*(const int *)at]);
		buf_putc(out, '"');
		break;
	case MOMENT:
		json_write_time(out, ((const struct moment *)at)->us);
		break;
	case JSON: /* a column that holds nothing is an object without members */
		buf_puts(out,
			*((const struct json *)at)->text ? ((const struct json *)at)->text : "{}");
		break;
	case OBJECT:
		encode_object(out, f->of, *(const void *const *)at);
		break;
	case LIST:
		encode_list(out, f, at);
		break;
	}
}

static void encode_name(struct buf *out, const struct field *f, bool first)
{
	if (!first)
		buf_putc(out, ',');
	buf_putc(out, '"');
	buf_put(out, f->name, f->name_len);
	buf_put(out, "\":", 2);
}

void encode_object(struct buf *out, const struct schema *s, const void *object)
{ /* NOLINT(misc-no-recursion): as deep as the tables */
	bool first = true;

	buf_putc(out, '{');
	for (const struct field *f = s->fields; f < s->fields + s->count; f++) {
		if (f->secret || (f->left_out && field_is_null(f, object)))
			continue;
		encode_name(out, f, first);
		encode_value(out, f, object);
		first = false;
	}
	buf_putc(out, '}');
}

static void encode_brief(struct buf *out, const struct field *f, const void *object)
{
	enum { SHOWN = 1024 };
	const char *text = f->kind == TEXT || f->kind == JSON
				   ? *(const char *const *)((const char *)object + f->at)
				   : NULL;
	size_t start = out->len;

	if (text && strlen(text) > SHOWN) { /* too long to be written even for a moment */
		buf_printf(out, "\"(%zu bytes)\"", strlen(text));
		return;
	}
	encode_value(out, f, object);
	if (out->len - start > SHOWN) {
		size_t len = out->len - start;

		out->len = start;
		buf_printf(out, "\"(%zu bytes)\"", len);
	}
}

void encode_changes(struct buf *out, const struct schema *s, const void *before, const void *after)
{
	bool first = true;

	buf_putc(out, '{');
	for (const struct field *f = s->fields; f < s->fields + s->count; f++) {
		if (f->derived || field_same(f, before, after))
			continue;
		encode_name(out, f, first);
		first = false;
		if (f->secret) {
			buf_lit(out, "\"(secret)\"");
			continue;
		}
		buf_lit(out, "{\"from\":");
		encode_brief(out, f, before);
		buf_lit(out, ",\"to\":");
		encode_brief(out, f, after);
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
}
