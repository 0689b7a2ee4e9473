/* bucket_carry.c - see bucket_carry.h. */
#include "bucket/bucket_carry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* One run of bytes, on its way in (`upload`) or out. */
struct carried {
	struct carried *next;
	const void *bytes;
	size_t len;
	struct bucket_upload *upload;
	struct bucket_stored stored; /* of what goes in */
	struct bucket_row row;	     /* of what comes out */
	bool out, done;
	int err;
};

struct bucket_carry {
	struct bucket *bucket;
	char tenant_id[ID_LEN + 1];
	struct arena arena;
	struct carried *list;
	int runs;
};

struct bucket_carry *bucket_carry_new(struct bucket *b, const char *tenant_id)
{
	struct bucket_carry *c = memory_zeroed(sizeof *c);

	c->bucket = b;
	snprintf(c->tenant_id, sizeof c->tenant_id, "%s", tenant_id);
	return c;
}

void bucket_carry_free(struct bucket_carry *c, struct pool *disk)
{
	if (!c)
		return;
	for (struct carried *e = c->list; e; e = e->next)
		if (e->upload)
			bucket_upload_end(e->upload, disk);
	arena_free(&c->arena);
	free(c);
}

struct bucket *bucket_carry_bucket(const struct bucket_carry *c)
{
	return c->bucket;
}

static struct carried *note(struct bucket_carry *c)
{
	struct carried *e = arena_new(&c->arena, struct carried);

	e->next = c->list;
	c->list = e;
	return e;
}

int bucket_carry_put(struct bucket_carry *c, const void *bytes, size_t n, bool stays,
	const struct bucket_stored **ret)
{
	struct carried *e = c->list;

	while (e && (e->out || e->len != n || memcmp(e->bytes, bytes, n) != 0))
		e = e->next;
	if (e && e->done) {
		*ret = &e->stored;
		return e->err;
	}
	if (e)
		return ERR_BRING;
	if (c->runs >= BUCKET_CARRY_RUNS || (!stays && !arena_room(&c->arena, n)))
		return ERR_BUSY;
	e = note(c);
	e->len = n;
	e->bytes = bytes;
	if (!stays) {
		void *copy = arena_raw(&c->arena, n, 1);

		memcpy(copy, bytes, n);
		e->bytes = copy;
	}
	return ERR_BRING;
}

void bucket_carry_named(struct bucket_carry *c, const struct bucket_stored *stored)
{
	for (struct carried *e = c->list; e; e = e->next)
		if (&e->stored == stored)
			bucket_upload_keep(e->upload, true);
}

int bucket_carry_get(
	struct bucket_carry *c, const struct bucket_row *row, const void **ret, size_t *ret_len)
{
	struct carried *e = c->list;

	while (e && (!e->out || strcmp(e->row.blob, row->blob) != 0))
		e = e->next;
	if (e && e->done) {
		*ret = e->bytes;
		*ret_len = e->len;
		return e->err;
	}
	if (e)
		return ERR_BRING;
	if (c->runs >= BUCKET_CARRY_RUNS)
		return ERR_BUSY;
	e = note(c);
	e->out = true;
	e->row = (struct bucket_row){ .tenant_id = c->tenant_id,
		.key = arena_strdup(&c->arena, row->key),
		.blob = arena_strdup(&c->arena, row->blob),
		.sha256 = arena_strdup(&c->arena, row->sha256),
		.size_bytes = row->size_bytes };
	return ERR_BRING;
}

int bucket_carry_run(struct bucket_carry *c, struct arena *a, struct problem *p)
{
	int err = 0;

	c->runs++;
	for (struct carried *e = c->list; e; e = e->next) {
		struct problem ignored = { 0 };

		if (e->done)
			continue;
		e->done = true;
		if (e->out) {
			e->err = bucket_load(c->bucket, &e->row, (size_t)e->row.size_bytes,
				&c->arena, &e->bytes, &e->len, &ignored);
			continue;
		}
		e->upload = bucket_upload_new(c->bucket, c->tenant_id);
		e->err = bucket_store(
			e->upload, e->bytes, e->len, &e->stored, a, err ? &ignored : p);
		if (!err)
			err = e->err;
	}
	return err;
}

void bucket_carry_give_up(struct bucket_carry *c, int err)
{
	for (struct carried *e = c->list; e; e = e->next)
		if (!e->done) {
			e->done = true;
			e->err = err;
		}
}
