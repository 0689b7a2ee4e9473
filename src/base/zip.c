/* zip.c - see zip.h.  The directory at the end of the file says what there is; the header before each
 * entry must say the same. */
#include "base/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/entry_names.h"
#include "base/memory.h"
#include "base/utf8.h"

enum {
	END_MARK = 0x06054b50,
	END_LEN = 22,
	DIR_MARK = 0x02014b50,
	DIR_LEN = 46,
	HEAD_MARK = 0x04034b50,
	BEHIND_MARK = 0x08074b50,
	HEAD_LEN = 30,

	FLAG_ENCRYPTED = 1,
	FLAG_SIZES_BEHIND = 1 << 3,
	FLAG_STRONG = 1 << 6,
	FLAG_UTF8 = 1 << 11,
	FLAG_HIDDEN = 1 << 13,

	STORED = 0,
	DEFLATED = 8,

	MODE_KIND = 0170000,
	MODE_FILE = 0100000,
	MODE_FOLDER = 0040000,

	DIRECTORY_MAX = 1024 * 1024,
};

static unsigned zip_u16(const uint8_t *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

static uint32_t zip_u32(const uint8_t *p)
{
	return zip_u16(p) | (uint32_t)zip_u16(p + 2) << 16;
}

/* An entry as the directory describes it. */
struct record {
	const char *name;
	size_t name_len;
	unsigned flags, method, mode;
	uint32_t crc, packed, size;
	size_t from, to; /* header and bytes in the file */
	const uint8_t *bytes;
};

struct zip_reader {
	struct arena *arena;
	const uint8_t *at;
	size_t len, directory; /* where the directory begins */
	const struct zip_limits *limits;
	struct record *records;
	size_t count;
	const char *fault;
};

static bool zip_fault(struct zip_reader *r, const struct record *e, const char *sentence)
{
	if (!r->fault && e)
		r->fault =
			arena_printf(r->arena, "\"%.*s\" %s", (int)e->name_len, e->name, sentence);
	else if (!r->fault)
		r->fault = sentence;
	return false;
}

bool zip_name_valid(const char *name, size_t len)
{
	return entry_name_valid(name, len, ZIP_NAME_MAX, 0);
}

static bool is_folder(const struct record *e)
{
	return e->name_len && e->name[e->name_len - 1] == '/';
}

static size_t path_max(const struct zip_reader *r)
{
	return r->limits->path ? r->limits->path : ZIP_NAME_MAX;
}

static bool check_record(struct zip_reader *r, const struct record *e)
{
	unsigned kind = e->mode & MODE_KIND;

	if (!utf8_valid(e->name, e->name_len))
		return zip_fault(r, NULL, "A name in the archive is not UTF-8.");
	if (!entry_name_valid(e->name, e->name_len - is_folder(e), path_max(r), r->limits->depth))
		return zip_fault(r, NULL,
			arena_printf(r->arena,
				"A name in the archive is not a relative path of plain parts, is longer "
				"than %zu bytes, or lies too deep.",
				path_max(r)));
	if (e->flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_HIDDEN))
		return zip_fault(r, e, "is encrypted.");
	if (kind && kind != MODE_FILE && kind != MODE_FOLDER)
		return zip_fault(r, e, "is a link or a device, not a file.");
	if ((kind == MODE_FOLDER) != is_folder(e) && kind)
		return zip_fault(r, e, "is not what its name says: a folder ends in a slash.");
	if (is_folder(e) && e->size)
		return zip_fault(r, e, "is a folder with bytes of its own.");
	if (e->method != STORED && e->method != DEFLATED)
		return zip_fault(r, e, "is packed in a way that is not known here: use deflate.");
	if (e->method == STORED && e->packed != e->size)
		return zip_fault(r, e, "is stored with two different sizes.");
	if (e->size > r->limits->one)
		return zip_fault(r, e, "is too large.");
	if (e->size > r->limits->ratio_from && e->size / r->limits->ratio > e->packed)
		return zip_fault(r, e, "unpacks to far more than it is packed.");
	return true;
}

/* One record of the directory at *at. */
static bool read_record(struct zip_reader *r, size_t *at, size_t end, struct record *e)
{
	const uint8_t *p = r->at + *at;
	size_t tail;

	if (end - *at < DIR_LEN || zip_u32(p) != DIR_MARK)
		return zip_fault(r, NULL, "The archive's directory is broken.");
	e->flags = zip_u16(p + 8);
	e->method = zip_u16(p + 10);
	e->crc = zip_u32(p + 16);
	e->packed = zip_u32(p + 20);
	e->size = zip_u32(p + 24);
	e->name_len = zip_u16(p + 28);
	tail = zip_u16(p + 30) + (size_t)zip_u16(p + 32);
	e->mode = zip_u32(p + 38) >> 16;
	e->from = zip_u32(p + 42);
	e->name = (const char *)p + DIR_LEN;
	if (end - *at - DIR_LEN < e->name_len + tail || zip_u16(p + 34))
		return zip_fault(r, NULL, "The archive's directory is broken.");
	*at += DIR_LEN + e->name_len + tail;
	return check_record(r, e);
}

static uint64_t zip_size(const uint8_t *p, size_t width)
{
	return width == 4 ? zip_u32(p) : zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32;
}

/* The checksum and the sizes behind an entry's bytes, with or without their mark, of 4 or 8 bytes each, as the directory says
 * them; how long they are, or 0. */
static size_t behind_len(const struct zip_reader *r, const struct record *e, size_t at)
{
	for (size_t width = 4; width <= 8; width += 4)
		for (size_t mark = 0; mark <= 4; mark += 4) {
			const uint8_t *p = r->at + at + mark;
			size_t len = mark + 4 + 2 * width;

			if (r->directory - at >= len && (!mark || zip_u32(p - 4) == BEHIND_MARK) &&
				zip_u32(p) == e->crc && zip_size(p + 4, width) == e->packed &&
				zip_size(p + 4 + width, width) == e->size)
				return len;
		}
	return 0;
}

/* What a header says for a number that may follow behind the bytes instead: 0 then. */
static bool header_says(const struct record *e, const uint8_t *p, uint32_t wanted)
{
	uint32_t said = zip_u32(p);

	return said == wanted || (e->flags & FLAG_SIZES_BEHIND && !said);
}

/* The header before the bytes must not tell another story than the directory. */
static bool read_entry_header(struct zip_reader *r, struct record *e)
{
	const uint8_t *p = r->at + e->from;
	size_t names;

	if (e->from > r->directory || r->directory - e->from < HEAD_LEN || zip_u32(p) != HEAD_MARK)
		return zip_fault(r, e, "is not where the directory says.");
	names = zip_u16(p + 26) + (size_t)zip_u16(p + 28);
	if (r->directory - e->from - HEAD_LEN < names + e->packed)
		return zip_fault(r, e, "is cut off.");
	if (zip_u16(p + 26) != e->name_len || memcmp(p + HEAD_LEN, e->name, e->name_len) != 0 ||
		zip_u16(p + 8) != e->method ||
		((zip_u16(p + 6) ^ e->flags) & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_SIZES_BEHIND)))
		return zip_fault(r, e, "has two headers that disagree.");
	if (!header_says(e, p + 14, e->crc) || !header_says(e, p + 18, e->packed) ||
		!header_says(e, p + 22, e->size))
		return zip_fault(r, e, "has two headers that disagree.");
	e->bytes = p + HEAD_LEN + names;
	e->to = e->from + HEAD_LEN + names + e->packed;
	if (e->flags & FLAG_SIZES_BEHIND) {
		size_t len = behind_len(r, e, e->to);

		if (!len)
			return zip_fault(r, e, "has not behind it what its header says.");
		e->to += len;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct record *const *x = a, *const *y = b;

	return (*x)->from < (*y)->from ? -1 : (*x)->from > (*y)->from;
}

/* No two entries have the same name or the same bytes, and there are no bytes that the directory does not name: another reader
 * might find an entry in them. */
static bool check_pairs(struct zip_reader *r)
{
	struct entry_name *names = arena_array(r->arena, struct entry_name, r->count + 1);
	const struct record **order = arena_array(r->arena, const struct record *, r->count + 1);
	size_t twice;

	for (size_t i = 0; i < r->count; i++) {
		const struct record *e = order[i] = &r->records[i];

		names[i] = (struct entry_name){ e->name, e->name_len - is_folder(e), is_folder(e) };
	}
	twice = entry_names_clash(r->arena, names, r->count);
	if (twice < r->count)
		return zip_fault(r, &r->records[twice], "is there twice.");
	qsort(order, r->count, sizeof *order, by_place);
	for (size_t i = 1; i < r->count; i++)
		if (order[i]->from < order[i - 1]->to)
			return zip_fault(r, order[i], "shares its bytes with another entry.");
	for (size_t i = 0; i <= r->count; i++)
		if ((i ? order[i - 1]->to : 0) != (i < r->count ? order[i]->from : r->directory))
			return zip_fault(
				r, NULL, "The archive has bytes that its directory does not name.");
	return true;
}

/* The end of the file says where the directory is. */
static bool read_directory(struct zip_reader *r)
{
	size_t end, at, total = 0;
	const uint8_t *p;

	for (size_t back = END_LEN;; back++) {
		if (back > r->len || back > END_LEN + 0xffff)
			return zip_fault(r, NULL, "This is not a ZIP archive.");
		p = r->at + r->len - back;
		if (zip_u32(p) == END_MARK && zip_u16(p + 20) == back - END_LEN) {
			end = r->len - back;
			break;
		}
	}
	r->count = zip_u16(p + 10);
	r->directory = at = zip_u32(p + 16);
	if (zip_u16(p + 4) || zip_u16(p + 6) || zip_u16(p + 8) != r->count)
		return zip_fault(r, NULL, "The archive is one of several parts.");
	if (r->count == 0xffff || at > end || end - at != zip_u32(p + 12))
		return zip_fault(r, NULL, "The archive's directory is broken, or beyond 4 GiB.");
	if (r->count > r->limits->entries)
		return zip_fault(r, NULL,
			arena_printf(r->arena, "The archive has more than %zu entries.",
				r->limits->entries));
	r->records = arena_array(r->arena, struct record, r->count + 1);
	for (size_t i = 0; i < r->count; i++) {
		if (!read_record(r, &at, end, &r->records[i]) ||
			!read_entry_header(r, &r->records[i]))
			return false;
		total += r->records[i].size;
		if (total > r->limits->all)
			return zip_fault(r, NULL, "The archive unpacks to too many bytes.");
	}
	if (at != end)
		return zip_fault(r, NULL, "The archive's directory is broken.");
	return check_pairs(r);
}

static bool inflate_into(const struct record *e, uint8_t *out)
{
	z_stream z = {
		.next_in = (uint8_t *)e->bytes, .avail_in = e->packed, .avail_out = e->size
	};
	uint8_t spare;
	int got;

	z.next_out = out;
	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return false;
	if (!e->size) {
		z.next_out = &spare;
		z.avail_out = 1;
	}
	got = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return got == Z_STREAM_END && z.total_out == e->size && z.avail_in == 0;
}

/* Into `room`, which has a byte more than the entry. */
static bool unpack_entry(struct zip_reader *r, const struct record *e, uint8_t *room)
{
	if (e->method == STORED)
		memcpy(room, e->bytes, e->size);
	else if (!inflate_into(e, room))
		return zip_fault(r, e, "does not unpack to what the archive says.");
	room[e->size] = '\0';
	if (crc32(0, room, e->size) != e->crc)
		return zip_fault(r, e, "is damaged.");
	return true;
}

bool zip_walk(struct arena *a, const void *bytes, size_t len, const struct zip_limits *limits,
	zip_sink *sink, void *data, const char **ret_fault)
{
	struct zip_reader r = { .arena = a, .at = bytes, .len = len, .limits = limits };
	bool ok = read_directory(&r);
	uint8_t *room = NULL;
	size_t most = 0;

	for (size_t i = 0; ok && i < r.count; i++)
		most = r.records[i].size > most ? r.records[i].size : most;
	if (ok && !(room = memory_try(most + 1)))
		ok = zip_fault(&r, NULL, "The archive is more than there is memory for.");
	for (size_t i = 0; ok && i < r.count; i++) {
		const struct record *e = &r.records[i];

		if (is_folder(e))
			continue;
		ok = unpack_entry(&r, e, room) &&
		     sink(data, &(struct zip_entry){
					arena_strndup(a, e->name, e->name_len), room, e->size });
	}
	free(room);
	*ret_fault = r.fault;
	return ok;
}

struct kept {
	struct arena *arena;
	struct zip_entries *all;
	size_t cap;
};

static bool keep_entry(void *data, const struct zip_entry *e)
{
	struct kept *k = data;
	char *copy;

	if (k->all->count == k->cap) {
		struct zip_entry *more = arena_array(k->arena, struct zip_entry, 2 * k->cap + 8);

		if (k->cap)
			memcpy(more, k->all->at, k->cap * sizeof *more);
		k->all->at = more;
		k->cap = 2 * k->cap + 8;
	}
	if (!arena_room(k->arena, e->len)) {
		k->all->fault =
			arena_printf(k->arena, "\"%s\" is more than there is memory for.", e->name);
		return false;
	}
	copy = arena_raw(k->arena, e->len + 1, 1);
	memcpy(copy, e->bytes, e->len + 1);
	k->all->at[k->all->count++] = (struct zip_entry){ e->name, copy, e->len };
	return true;
}

bool zip_read(struct arena *a, const void *bytes, size_t len, const struct zip_limits *limits,
	struct zip_entries *ret)
{
	struct kept kept = { .arena = a, .all = ret };
	const char *fault;
	bool ok;

	*ret = (struct zip_entries){ 0 };
	ok = zip_walk(a, bytes, len, limits, keep_entry, &kept, &fault);
	if (fault)
		ret->fault = fault;
	return ok;
}

/* ---- the writer ---- */

static void zip_put16(struct buf *b, unsigned v)
{
	buf_putc(b, (char)(v & 0xff));
	buf_putc(b, (char)(v >> 8 & 0xff));
}

static void zip_put32(struct buf *b, uint32_t v)
{
	zip_put16(b, v & 0xffff);
	zip_put16(b, v >> 16);
}

void zip_begin(struct zip_writer *w, struct buf *out)
{
	*w = (struct zip_writer){ .out = out, .start = out->len };
	buf_init(&w->directory, DIRECTORY_MAX);
}

/* What both headers of an entry have in common.  Always the first day there is, so that the same
 * contents are the same bytes. */
static void put_common(struct buf *b, uint32_t crc, size_t len, size_t name_len)
{
	zip_put16(b, 20); /* the version needed */
	zip_put16(b, FLAG_UTF8);
	zip_put16(b, STORED);
	zip_put16(b, 0);
	zip_put16(b, 1 << 5 | 1);
	zip_put32(b, crc);
	zip_put32(b, (uint32_t)len);
	zip_put32(b, (uint32_t)len);
	zip_put16(b, (unsigned)name_len);
	zip_put16(b, 0); /* nothing extra */
}

void zip_add(struct zip_writer *w, const char *name, bool runs, const void *bytes, size_t len)
{
	uint32_t crc = (uint32_t)crc32(0, bytes, (unsigned)len);
	size_t from = w->out->len - w->start;

	zip_put32(w->out, HEAD_MARK);
	put_common(w->out, crc, len, strlen(name));
	buf_puts(w->out, name);
	buf_put(w->out, bytes, len);

	zip_put32(&w->directory, DIR_MARK);
	zip_put16(&w->directory, 3 << 8 | 20); /* made on Unix */
	put_common(&w->directory, crc, len, strlen(name));
	zip_put16(&w->directory, 0); /* no comment */
	zip_put16(&w->directory, 0);
	zip_put16(&w->directory, 0);
	zip_put32(&w->directory, (uint32_t)(MODE_FILE | (runs ? 0755 : 0644)) << 16);
	zip_put32(&w->directory, (uint32_t)from);
	buf_puts(&w->directory, name);
	w->count++;
}

void zip_end(struct zip_writer *w)
{
	size_t from = w->out->len - w->start;

	buf_put(w->out, w->directory.at, w->directory.len);
	zip_put32(w->out, END_MARK);
	zip_put16(w->out, 0);
	zip_put16(w->out, 0);
	zip_put16(w->out, (unsigned)w->count);
	zip_put16(w->out, (unsigned)w->count);
	zip_put32(w->out, (uint32_t)w->directory.len);
	zip_put32(w->out, (uint32_t)from);
	zip_put16(w->out, 0);
	w->out->overflow |= w->directory.overflow;
	buf_free(&w->directory);
}
