/* zip.h - ZIP archives from strangers, read whole in memory, and archives of our own.
 *
 * The reader believes nothing: both headers of an entry must agree, names are
 * plain relative paths in UTF-8, and what is encrypted, a link, there twice,
 * overlapping or larger than allowed is refused before a byte is unpacked
 * that was not counted.  Only stored and deflated entries are known, and no
 * archive beyond 4 GiB.  The writer stores.  Nothing here touches a file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct zip_limits {
	size_t entries;	   /* folders count too */
	size_t one;	   /* bytes of one entry, unpacked */
	size_t all;	   /* bytes of all entries together, unpacked */
	size_t ratio;	   /* unpacked bytes for each packed one */
	size_t ratio_from; /* entries of at most so many bytes may be packed as well as they can */
	size_t path;	   /* bytes of a name; 0: ZIP_NAME_MAX */
	size_t depth;	   /* parts of a name; 0: any number */
};

struct zip_entry {
	const char *name; /* "references/a.md"; never a folder */
	const void *bytes;
	size_t len;
};

struct zip_entries {
	struct zip_entry *at;
	size_t count;
	const char *fault; /* a sentence, or NULL */
};

/* Hands over each file in the order of the directory; its bytes, with a NUL after them, last until the sink returns, its
 * name as long as the arena.  A sink that answers false ends it without a fault. */
typedef bool zip_sink(void *data, const struct zip_entry *e);
bool zip_walk(struct arena *a, const void *bytes, size_t len, const struct zip_limits *limits,
	zip_sink *sink, void *data, const char **ret_fault);
/* The same with all of them in the arena. */
bool zip_read(struct arena *a, const void *bytes, size_t len, const struct zip_limits *limits,
	struct zip_entries *ret);

/* As in base/entry_names.h, with at most ZIP_NAME_MAX bytes. */
enum { ZIP_NAME_MAX = 255 };
bool zip_name_valid(const char *name, size_t len);

/* Entries one by one, then the directory. */
struct zip_writer {
	struct buf *out;
	struct buf directory;
	size_t count, start;
};

void zip_begin(struct zip_writer *w, struct buf *out);
/* The name must be valid. */
void zip_add(struct zip_writer *w, const char *name, bool runs, const void *bytes, size_t len);
void zip_end(struct zip_writer *w);
