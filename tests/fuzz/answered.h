/* answered.h - lodge-helper's half and the server's in one process, with a buffer between them. */
#pragma once
#include "base/buf.h"
#include "helper/answer.h"
#include "helper/inside/inside.h"

struct answered {
	struct outlet outlet;
	struct answer_source source;
	struct buf bytes;
	size_t read;
};

static inline bool answered_put(
	struct outlet *o, const struct helper_record *r, const char *name, const void *bytes)
{
	struct answered *a =
		(struct answered *)(void *)((char *)o - offsetof(struct answered, outlet));

	buf_put(&a->bytes, r, sizeof *r);
	buf_put(&a->bytes, name, r->name_len);
	buf_put(&a->bytes, bytes, r->len);
	return !a->bytes.overflow;
}

static inline bool answered_pull(struct answer_source *s, void *into, size_t len)
{
	struct answered *a =
		(struct answered *)(void *)((char *)s - offsetof(struct answered, source));

	if (len > a->bytes.len - a->read)
		return false;
	if (len)
		memcpy(into, a->bytes.at + a->read, len);
	a->read += len;
	return true;
}

static inline void answered_begin(struct answered *a)
{
	*a = (struct answered){ .outlet.put = answered_put, .source.pull = answered_pull };
	buf_init(&a->bytes, 64 << 20);
}

static inline void answered_end(struct answered *a)
{
	buf_free(&a->bytes);
}
