/* model_import.c - see model_import.h. */
#include "api/models/model_import.h"

#include <string.h>

#include "api/models/price_list.h"

struct importing {
	struct model_editor editor;
	struct model_import *report;
	int64_t now;
};

/* "pricing.prompt must be ...; name is required" */
static const char *price_entry_faults(struct arena *a, const struct problem *p)
{
	const char *out = p->first ? "" : p->detail ? p->detail : error_row(p->err)->title;

	for (const struct field_error *f = p->first; f; f = f->next)
		out = arena_printf(a, "%s%s%s %s", out, *out ? "; " : "", f->field, f->message);
	return out;
}

/* The line is read on a terminal, and the list comes from elsewhere: what could steer one becomes a
 * question mark, and a slug that is too long to be one is cut. */
static int refuse_price_entry(struct importing *im, const char *slug, const char *why)
{
	enum { SHOWN = 128 };
	char *line = arena_printf(
		im->editor.arena, "refused %.*s: %s", SHOWN, slug ? slug : "an entry", why);

	for (char *p = line; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	im->report->refused++;
	buf_printf(im->report->lines, "%s\n", line);
	return 0;
}

/* What differs, by the names people know. */
static const char *model_differences(
	struct arena *a, const struct model_row *before, const struct model_row *after)
{
	const char *out = "";
	bool priced = false;

	for (size_t i = 0; i < model_row_schema.count; i++) {
		const struct field *f = &model_row_schema.fields[i];
		bool price = f->name_len > 3 && strcmp(f->name + f->name_len - 3, "_pd") == 0;

		if (field_same(f, before, after) || (price && priced))
			continue;
		priced |= price;
		out = arena_printf(a, "%s%s%s", out, *out ? ", " : "", price ? "pricing" : f->name);
	}
	return out;
}

static int change_priced_model(struct importing *im, const struct price_entry *entry,
	const struct ModelCreate *whole, const struct model_row *before)
{
	const struct model_editor *e = &im->editor;
	struct AdminModelUpdate update;
	struct model_row after = *before;
	const char *what;
	int err;

	if (whole->kind != before->kind)
		return refuse_price_entry(im, entry->slug,
			arena_printf(e->arena, "it is of the kind %s, which cannot be changed",
				ModelKind_words.list[before->kind]));
	err = decode_body(e->patterns, e->arena, &AdminModelUpdate_schema, UNKNOWN_IGNORED,
		entry->update, strlen(entry->update), &update, e->problem);
	if (!err)
		err = model_change(e, &update, &after);
	if (err)
		return err;
	if (whole->context_window != NIL)
		after.context_window = whole->context_window;
	if (whole->supports_tools >= 0)
		after.supports_tools = whole->supports_tools;
	if (whole->supports_vision >= 0)
		after.supports_vision = whole->supports_vision;
	what = model_differences(e->arena, before, &after);
	if (!*what) {
		im->report->same++;
		return 0;
	}
	after.updated_at.us = im->now > before->updated_at.us ? im->now : before->updated_at.us + 1;
	im->report->changed++;
	buf_printf(im->report->lines, "changed %s: %s\n", entry->slug, what);
	return model_update(e->db, &after);
}

/* Nobody should be offered a model that cannot be called yet. */
static bool lacks_key(const struct ModelCreate *in)
{
	return model_kind_is_hosted(in->kind) && (!in->config || !in->config->api_key);
}

static int make_priced_model(
	struct importing *im, const struct price_entry *entry, struct ModelCreate *in)
{
	const struct model_editor *e = &im->editor;
	struct AdminModelUpdate said;
	struct model_row row;
	int err = decode_body(e->patterns, e->arena, &AdminModelUpdate_schema, UNKNOWN_IGNORED,
		entry->create, strlen(entry->create), &said, e->problem);
	bool rests = !err && lacks_key(in) && said.status < 0;

	if (rests)
		in->status = ModelStatus_disabled;
	if (!err)
		err = model_create(e, in, &row);
	if (err)
		return err;
	im->report->made++;
	buf_printf(im->report->lines, "made %s: %s, %s%s\n", row.slug,
		ModelKind_words.list[row.kind], ModelStatus_words.list[row.status],
		rests ? " until it has a key" : "");
	return 0;
}

static int import_price_entry(void *ctx, const struct price_entry *entry)
{
	struct importing *im = ctx;
	const struct model_editor *e = &im->editor;
	struct ModelCreate in;
	struct model_row before;
	int err;

	switch (entry->kind) {
	case PRICE_NO_CHAT:
		im->report->no_chat++;
		return 0;
	case PRICE_NO_PROVIDER:
		im->report->no_provider++;
		return 0;
	case PRICE_FAULTY:
		return refuse_price_entry(im, entry->slug, entry->fault);
	case PRICE_ENTRY:
		break;
	}
	*e->problem = (struct problem){ 0 };
	err = decode_body(e->patterns, e->arena, &ModelCreate_schema, UNKNOWN_REFUSED,
		entry->create, strlen(entry->create), &in, e->problem);
	if (!err) {
		err = model_by_slug(e->db, e->arena, in.slug, &before);
		if (!err)
			err = change_priced_model(im, entry, &in, &before);
		else if (err == ERR_NOT_FOUND)
			err = make_priced_model(im, entry, &in);
	}
	if (err == ERR_INVALID || err == ERR_CONFLICT)
		return refuse_price_entry(
			im, entry->slug, price_entry_faults(e->arena, e->problem));
	return err;
}

int model_import(const struct model_editor *e, const char *text, size_t len, int64_t now,
	struct model_import *ret)
{
	struct problem each = { 0 }, whole = { 0 };
	struct importing im = { *e, ret, now };
	struct buf *lines = ret->lines;
	int err;

	*ret = (struct model_import){ .lines = lines };
	lines->len = 0;
	im.editor.problem = &each;
	im.editor.may_lack_config = true;
	err = price_list_read(text, len, e->arena, import_price_entry, &im, &whole);
	if (err)
		*e->problem = whole.err ? whole : each;
	return err;
}
