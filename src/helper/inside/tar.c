/* tar.c - tar archives packed with gzip.
 *
 * The formats of tar (ustar, pax, GNU) are libarchive's to read, of which
 * nothing else is linked.  The gzip around them is taken off here, because
 * libarchive does not look at its checksum and does not read to its end: so a
 * damaged or cut archive is told, and what comes out is counted as it comes,
 * whatever headers say. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/entry_names.h"
#include "base/utf8.h"
#include "helper/inside/inside.h"

enum {
	PIECE = 64 * 1024,
	BLOCK = 512,
	END_ZEROS = 2 * BLOCK, /* an archive ends with two empty blocks */
	/* What an entry may take besides its bytes: its header, a long name, its last block. */
	AROUND = 16 * BLOCK,
};

struct untar {
	struct arena *arena;
	const struct helper_task *task;
	struct outlet *out;
	const uint8_t *packed;
	z_stream z;
	bool ended;		/* the gzip, with its checksum right */
	size_t inflated, zeros; /* bytes that came out; how many at the end are 0 */
	const char *fault;
	struct entry_name *names;
	size_t count, total;
	char *room; /* of one entry, grown as it comes */
	size_t cap;
	uint8_t piece[PIECE];
};

static void count_zeros(struct untar *u, size_t n)
{
	size_t last = n;

	while (last && !u->piece[last - 1])
		last--;
	u->zeros = last ? n - last : u->zeros + n;
}

/* Keeps the first; always false. */
static bool tar_fault(struct untar *u, const char *fault)
{
	if (!u->fault)
		u->fault = fault;
	return false;
}

/* The next piece of the tar, of *ret bytes; 0 at its end. */
static bool inflate_piece(struct untar *u, size_t *ret)
{
	const struct helper_task *t = u->task;
	int got;

	*ret = 0;
	if (u->ended)
		return true;
	u->z.next_out = u->piece;
	u->z.avail_out = PIECE;
	got = inflate(&u->z, Z_NO_FLUSH);
	if (got == Z_STREAM_END && u->z.avail_in)
		return tar_fault(u, "Something follows the end of the archive.");
	u->ended = got == Z_STREAM_END;
	if (got == Z_BUF_ERROR || (got == Z_OK && !u->z.avail_in && u->z.avail_out))
		return tar_fault(u, "The archive is cut off.");
	if (got != Z_OK && got != Z_STREAM_END)
		return tar_fault(u, "The archive is damaged.");
	*ret = PIECE - u->z.avail_out;
	u->inflated += *ret;
	count_zeros(u, *ret);
	if (u->inflated > t->all + t->entries * AROUND + PIECE)
		return tar_fault(u, "The archive unpacks to too many bytes.");
	if (u->inflated > t->ratio_from && u->inflated / t->ratio > t->len)
		return tar_fault(u, "The archive unpacks to far more than it is packed.");
	return true;
}

static la_ssize_t give_piece(struct archive *archive, void *data, const void **ret)
{
	struct untar *u = data;
	size_t n;

	*ret = u->piece;
	if (inflate_piece(u, &n))
		return (la_ssize_t)n;
	archive_set_error(archive, EINVAL, "%s", u->fault);
	return ARCHIVE_FATAL;
}

/* "is damaged." of this entry; always false. */
static bool entry_fault(struct untar *u, const char *name, const char *sentence)
{
	if (!u->fault)
		u->fault = arena_printf(u->arena, "\"%s\" %s", name, sentence);
	return false;
}

static bool grow_room(struct untar *u, size_t len)
{
	size_t cap = u->cap ? u->cap : PIECE;
	char *more;

	while (cap < len)
		cap *= 2;
	if (cap == u->cap)
		return true;
	more = realloc(u->room, cap);
	if (!more)
		return false;
	u->room = more;
	u->cap = cap;
	return true;
}

static bool take_bytes(struct untar *u, struct archive *archive, const char *name)
{
	const struct helper_task *t = u->task;
	size_t len = 0;

	for (;;) {
		la_ssize_t n;

		if (!grow_room(u, len + PIECE))
			return entry_fault(u, name, "is more than there is memory for.");
		n = archive_read_data(archive, u->room + len, PIECE);
		if (n < 0)
			return entry_fault(u, name, "is cut off or damaged.");
		if (!n)
			break;
		len += (size_t)n;
		if (len > t->one)
			return entry_fault(u, name, "is too large.");
		if (u->total + len > t->all)
			return tar_fault(u, "The archive unpacks to too many bytes.");
	}
	u->total += len;
	return outlet_file(u->out, name, u->room, len);
}

/* "a/b" of "./a/b" and "a/b/", which is what tar writes; *ret_len 0 for the top folder itself. */
static const char *plain_name(const char *name, bool folder, size_t *ret_len)
{
	size_t n;

	while (name[0] == '.' && name[1] == '/')
		name += 2;
	if (folder && strcmp(name, ".") == 0)
		name++;
	n = strlen(name);
	if (folder && n && name[n - 1] == '/')
		n--;
	*ret_len = n;
	return name;
}

static bool take_entry(struct untar *u, struct archive *archive, struct archive_entry *e)
{
	const struct helper_task *t = u->task;
	const bool folder = archive_entry_filetype(e) == AE_IFDIR;
	const char *name = archive_entry_pathname(e);
	size_t len;

	if (!name || !utf8_valid(name, strlen(name)))
		return tar_fault(u, "A name in the archive is not UTF-8.");
	name = plain_name(name, folder, &len);
	if (folder && !len)
		return true;
	if (!entry_name_valid(name, len, t->path, t->depth))
		return tar_fault(u,
			arena_printf(u->arena,
				"A name in the archive is not a relative path of plain parts, is longer than "
				"%zu bytes, or lies too deep.",
				(size_t)t->path));
	name = arena_strndup(u->arena, name, len);
	if (u->count == t->entries)
		return tar_fault(u, arena_printf(u->arena, "The archive has more than %zu entries.",
					    (size_t)t->entries));
	u->names[u->count++] = (struct entry_name){ name, len, folder };
	if (archive_entry_hardlink(e) || archive_entry_symlink(e) ||
		(!folder && archive_entry_filetype(e) != AE_IFREG))
		return entry_fault(u, name, "is a link or a device, not a file.");
	if (archive_entry_sparse_count(e))
		return entry_fault(u, name, "has holes, which are not taken.");
	return folder || take_bytes(u, archive, name);
}

/* What follows the archive's own end is padding; only after it is the checksum known to be right. */
static bool take_end(struct untar *u, struct archive *archive)
{
	size_t twice, n;

	while (!u->ended)
		if (!inflate_piece(u, &n))
			return false;
	if (u->zeros < END_ZEROS)
		return tar_fault(u, "The archive is cut off.");
	if (u->inflated - u->zeros > (size_t)archive_filter_bytes(archive, 0))
		return tar_fault(u, "Something follows the end of the archive.");
	twice = entry_names_clash(u->arena, u->names, u->count);
	return twice == u->count || entry_fault(u, u->names[twice].name, "is there twice.");
}

static bool walk_tar(struct untar *u, struct archive *archive)
{
	struct archive_entry *e;

	if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
		archive_read_open(archive, u, NULL, give_piece, NULL) != ARCHIVE_OK)
		return tar_fault(u, "This is not a tar archive.");
	for (;;) {
		int got = archive_read_next_header(archive, &e);

		if (got == ARCHIVE_EOF)
			return take_end(u, archive);
		if (got < ARCHIVE_WARN)
			return tar_fault(u, u->inflated ? "The archive is cut off or damaged."
							: "This is not a tar archive.");
		if (!take_entry(u, archive, e))
			return false;
	}
}

bool unpack_tar(struct arena *a, const struct helper_task *t, const void *bytes, struct outlet *o)
{
	struct archive *archive = archive_read_new();
	struct untar *u = arena_new(a, struct untar);
	bool ok;

	*u = (struct untar){ .arena = a, .task = t, .out = o };
	u->names = arena_array(a, struct entry_name, t->entries + 1);
	u->z = (z_stream){ .next_in = (uint8_t *)bytes, .avail_in = (unsigned)t->len };
	ok = archive && inflateInit2(&u->z, MAX_WBITS + 16) == Z_OK && walk_tar(u, archive);
	inflateEnd(&u->z);
	archive_read_free(archive);
	free(u->room);
	if (ok)
		return outlet_end(o);
	return u->fault ? outlet_fault(o, 0, "%s", u->fault) : false;
}
