/* export.c - all of a list as lines of JSON, or several lists as one document, sent while they are read.
 *
 * A page is read in a transaction of its own, off the loops: on SQLite by
 * the slow threads on a connection the export has to itself, on PostgreSQL by
 * the store's own.  The next page is asked for when the peer has taken the
 * one before, so an export costs two pages of memory and no thread however
 * long it is and however slowly it is read.  It was permitted once, like any
 * request.  Once its head is sent a fault can only break it off. */
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "call/maintenance.h"
#include "call/steps.h"
#include "store/pool.h"
#include "contract/encode.h"

/* A page ends at so many rows, or after the row that brings it to so many bytes; what one row may
 * come to; and how many exports may be under way at a time. */
enum {
	PAGE_ROWS = 200,
	PAGE_BYTES = 256 * 1024,
	ROW_MAX = 16 * 1024 * 1024,
	EXPORTS_MAX = 8,
	EXPORT_ARGS_MAX = 24,
	KEY_MAX = 64,
};

struct export_run {
	struct work work; /* first: it is handed back */
	struct call *c;
	const char *type;
	const struct export_part *parts, *part, *next_part;
	size_t part_count;
	struct value args[EXPORT_ARGS_MAX];
	size_t count;
	struct db *db;	   /* on SQLite */
	struct arena page; /* of the rows being read */
	struct buf text;
	char after[KEY_MAX], last[KEY_MAX]; /* within the part; empty: at its beginning */
	bool begun, more;
	bool stale; /* its pages are read from a replica, as long as that does */
};

static void write_export_line(struct buf *out, const struct schema *s, const void *row)
{
	encode_object(out, s, row);
	buf_putc(out, '\n');
}

int call_export_parts(struct call *c, const char *type, const struct export_part *parts,
	size_t part_count, const struct value *args, size_t count)
{
	struct export_run *e = arena_new(c->arena, struct export_run);

	if (count > EXPORT_ARGS_MAX)
		return call_fail(c, ERR_INTERNAL, "An export has too many arguments.");
	e->c = c;
	e->type = type;
	e->parts = e->part = parts;
	e->part_count = part_count;
	memcpy(e->args, args, count * sizeof *args);
	e->count = count;
	buf_init(&e->text, PAGE_BYTES + ROW_MAX);
	c->export = e;
	c->deferred = export_begin;
	return 0;
}

int call_export(struct call *c, const struct statement *st, const struct value *args, size_t count)
{
	struct export_part *lines = arena_new(c->arena, struct export_part);

	*lines = (struct export_part){ .st = st, .write = write_export_line };
	return call_export_parts(c, "application/x-ndjson", lines, 1, args, count);
}

static const char *export_row_key(const struct schema *s, const void *row)
{
	return *(const char *const *)((const char *)row + schema_field(s, "id", 2)->at);
}

static void put_export_text(struct buf *out, const char *text)
{
	if (text)
		buf_puts(out, text);
}

/* Some rows of the part; *ret_more if there may be further ones. */
static int read_export_rows(struct export_run *e, struct db *db, bool *ret_more)
{
	const struct export_part *part = e->part;
	const struct schema *s = part->st->row;
	struct db_page page = { .rows = PAGE_ROWS, .bytes = PAGE_BYTES, .after = e->after };
	struct list rows;
	size_t i = 0;
	bool cut;
	int err;

	err = db_page(db, &e->page, part->st, &rows, &page, &cut, e->args, e->count);
	for (; !err && i < rows.count && e->text.len < PAGE_BYTES; i++) {
		const void *row = (const char *)rows.at + i * s->size;
		const char *key = export_row_key(s, row);

		if (i || *e->after)
			put_export_text(&e->text, part->between);
		(part->write ? part->write : encode_object)(&e->text, s, row);
		if (strlen(key) < sizeof e->last)
			strcpy(e->last, key);
		else /* not one of our making: the walk could not go on after it */
			err = ERR_INTERNAL;
	}
	*ret_more = !err && (cut || i < rows.count || i == PAGE_ROWS);
	return err;
}

/* Inside its transaction, perhaps not for the first time. */
static int read_export_page(struct work *w, struct db *db)
{
	struct export_run *e = (struct export_run *)w;
	bool rest = false;
	int err;

	e->text.len = 0;
	strcpy(e->last, e->after);
	if (!*e->after)
		put_export_text(&e->text, e->part->before);
	err = read_export_rows(e, db, &rest);
	e->next_part = rest ? e->part : e->part + 1;
	e->more = e->next_part < e->parts + e->part_count;
	if (!err && !rest) {
		put_export_text(&e->text, e->part->after);
		*e->last = '\0';
	}
	arena_reset(&e->page);
	return !err && e->text.overflow ? ERR_INTERNAL : err;
}

/* On a slow thread: the same on the export's own connection. */
static int read_beside(struct work *w, struct db *none)
{
	struct export_run *e = (struct export_run *)w;
	struct app *app = e->c->app;
	struct problem p = { 0 };
	int err = 0;

	(void)none;
	if (!e->db)
		err = store_connect(app->store, &e->db, &e->page, &p);
	if (err)
		return err;
	w->run = read_export_page;
	err = store_read_here(app->store, e->db, w);
	store_rest(e->db);
	w->run = read_beside;
	return err;
}

static int next_page(struct export_run *e)
{
	struct app *app = e->c->app;

	if (e->stale && !store_submit_stale(app->store, &e->work))
		return 0;
	e->stale = false;
	if (store_is_sqlite(app->store))
		return pool_submit(app->reading, e->c->caller.tenant_id, &e->work);
	return store_submit(app->store, &e->work);
}

static void release_export(struct export_run *e)
{
	db_close(e->db);
	arena_free(&e->page);
	buf_free(&e->text);
	atomic_fetch_sub(&e->c->app->exports, 1);
}

static void finish_export(struct export_run *e, bool whole)
{
	struct http_exchange *x = e->c->x;

	release_export(e);
	http_stream_end(x, whole);
}

/* Before the head is sent the peer is told; after it the stream breaks off. */
static void fail_export(struct export_run *e, int err)
{
	struct call *c = e->c;

	if (!e->begun) {
		release_export(e);
		call_conclude(c, err);
		http_finish(c->x);
		return;
	}
	log_error("an export broke off", LOG_S("operation", c->op->id),
		LOG_S("request_id", c->x->request_id), LOG_S("error", error_row(err)->title));
	finish_export(e, false);
}

/* On the loop: the peer has taken what there was, or is gone. */
static void on_export_room(struct http_exchange *x)
{
	struct export_run *e = ((struct call *)x->data)->export;
	int err = e->more ? next_page(e) : 0;

	if (err)
		fail_export(e, err);
}

static void page_read(struct work *w, int err)
{
	struct export_run *e = (struct export_run *)w;
	struct http_exchange *x = e->c->x;
	bool more = e->more;

	if (err && e->stale) { /* the primary may know better */
		e->stale = false;
		err = next_page(e);
		if (!err)
			return;
	}
	if (err) {
		fail_export(e, err);
		return;
	}
	if (!e->begun) {
		e->begun = true;
		x->reply.status = e->c->route->status;
		x->reply.type = e->type;
		if (!http_stream_begin(x, on_export_room)) {
			finish_export(e, true);
			return;
		}
	}
	memcpy(e->after, e->last, sizeof e->after);
	e->part = e->next_part;
	switch (http_stream_write(x, e->text.at, e->text.len)) {
	case HTTP_STREAM_GONE:
		finish_export(e, false);
		return;
	case HTTP_STREAM_FULL: /* on_export_room() may be at work already, unless this was the end */
		if (!more)
			finish_export(e, true);
		return;
	case HTTP_STREAM_OPEN:
		break;
	}
	if (!more)
		finish_export(e, true);
	else if ((err = next_page(e)))
		fail_export(e, err);
}

enum http_verdict export_begin(struct call *c)
{
	struct export_run *e = c->export;
	int err = ERR_BUSY;

	e->work = (struct work){ .run = store_is_sqlite(c->app->store) ? read_beside
								       : read_export_page,
		.done = page_read,
		.mode = READ_ONLY };
	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	e->stale = c->op->stale_ok;
	if (atomic_fetch_add(&c->app->exports, 1) < EXPORTS_MAX)
		err = next_page(e);
	if (!err)
		return HTTP_KEPT;
	release_export(e);
	call_conclude(c, err);
	return HTTP_REPLIED;
}
