/* unpack.c - an archive, told by its first bytes.
 *
 * ZIP is read by base/zip.h, which wants both headers of an entry to agree;
 * libarchive's reader takes the one before the bytes alone, so that it and
 * other programs could see two archives in one file. */
#include <string.h>

#include "base/zip.h"
#include "helper/inside/inside.h"

static bool put_entry(void *data, const struct zip_entry *e)
{
	return outlet_file(data, e->name, e->bytes, e->len);
}

static bool unpack_zip(
	struct arena *a, const struct helper_task *t, const void *bytes, struct outlet *o)
{
	const struct zip_limits limits = { .entries = t->entries,
		.one = t->one,
		.all = t->all,
		.ratio = t->ratio,
		.ratio_from = t->ratio_from,
		.path = t->path,
		.depth = t->depth };
	const char *fault;

	if (zip_walk(a, bytes, t->len, &limits, put_entry, o, &fault))
		return outlet_end(o);
	return fault ? outlet_fault(o, 0, "%s", fault) : false;
}

bool unpack_archive(
	struct arena *a, const struct helper_task *t, const void *bytes, struct outlet *o)
{
	if (!t->ratio || !t->path)
		return outlet_fault(o, 0, "The task has no limits.");
	if (t->len >= 2 && memcmp(bytes, "PK", 2) == 0)
		return unpack_zip(a, t, bytes, o);
	if (t->len >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
		return unpack_tar(a, t, bytes, o);
	return outlet_fault(
		o, 0, "This is neither a ZIP archive nor a tar archive packed with gzip.");
}
