/* test_zip.c - archives from strangers: what is read, and all that is refused before it is unpacked. */
#include <stdlib.h>
#include <zlib.h>

#include "base/zip.h"
#include "t.h"

static const struct zip_limits limits = {
	.entries = 8, .one = 1 << 20, .all = 3 << 19, .ratio = 200, .ratio_from = 1 << 16
};

/* An archive of our own, to be spoilt. */
struct made {
	struct arena arena;
	struct buf b;
};

static void make(struct made *m, int count, ...)
{
	struct zip_writer w;
	va_list ap;

	*m = (struct made){ 0 };
	buf_init(&m->b, 1 << 24);
	zip_begin(&w, &m->b);
	va_start(ap, count);
	for (int i = 0; i < count; i++) {
		const char *name = va_arg(ap, const char *);

		zip_add(&w, name, false, "hello", 5);
	}
	va_end(ap);
	zip_end(&w);
}

static void drop(struct made *m)
{
	buf_free(&m->b);
	arena_free(&m->arena);
}

/* The sentence, or "" if it is taken. */
static const char *verdict(struct made *m)
{
	struct zip_entries z;

	return zip_read(&m->arena, m->b.at, m->b.len, &limits, &z) ? "" : z.fault;
}

/* Where the first record of the directory begins. */
static unsigned char *directory(struct made *m)
{
	for (size_t i = 0; i + 4 <= m->b.len; i++)
		if (memcmp(m->b.at + i, "PK\1\2", 4) == 0)
			return (unsigned char *)m->b.at + i;
	return NULL;
}

#define REFUSED(m, part)                                                                 \
	do {                                                                             \
		const char *got_ = verdict(m);                                           \
		if (!strstr(got_, part))                                                 \
			test_fail(__FILE__, __LINE__, "\"%s\", not ..%s..", got_, part); \
		drop(m);                                                                 \
	} while (0)

TEST(zip_gives_back_what_was_written)
{
	struct zip_entries z;
	struct made m;

	make(&m, 3, "SKILL.md", "scripts/run.py", "assets/\xc3\xa9.txt");
	CHECK(zip_read(&m.arena, m.b.at, m.b.len, &limits, &z));
	CHECK_INT(z.count, 3);
	CHECK_STR(z.at[2].name, "assets/\xc3\xa9.txt");
	CHECK_STR(z.at[1].bytes, "hello");
	CHECK_INT(z.at[1].len, 5);
	drop(&m);
	make(&m, 0);
	CHECK_STR(verdict(&m), "");
	drop(&m);
}

TEST(zip_names_stay_inside)
{
	static const char *const bad[] = { "/etc/passwd", "../x", "a/../../x", "a/./b", "a//b",
		"..", ".", "", "a\\b", "C:x", "a\nb", "a\x7f", "\xff.txt", "a/..", "x/" };
	static const char *const good[] = { "a", "a/b/c.d", "...", "a/..b", ".hidden", "-x",
		"\xc3\xa9" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (zip_name_valid(bad[i], strlen(bad[i])))
			test_fail(__FILE__, __LINE__, "\"%s\" is taken", bad[i]);
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!zip_name_valid(good[i], strlen(good[i])))
			test_fail(__FILE__, __LINE__, "\"%s\" is refused", good[i]);
	CHECK(!zip_name_valid("a\0b", 3));
}

TEST(zip_refuses_what_is_hostile)
{
	struct made m;
	unsigned char *d;

	test_step("names");
	make(&m, 1, "../x");
	REFUSED(&m, "not a relative path");
	make(&m, 1, "/x");
	REFUSED(&m, "not a relative path");
	make(&m, 1, "a\xff");
	REFUSED(&m, "not UTF-8");
	make(&m, 2, "a", "a");
	REFUSED(&m, "is there twice");
	make(&m, 2, "a", "a/b");
	REFUSED(&m, "is there twice");

	test_step("kinds");
	make(&m, 1, "a");
	d = directory(&m);
	d[41] = 0xa1; /* S_IFLNK */
	REFUSED(&m, "is a link or a device");
	make(&m, 1, "a");
	d = directory(&m);
	d[41] = 0x21; /* S_IFCHR */
	REFUSED(&m, "is a link or a device");
	make(&m, 1, "a");
	d = directory(&m);
	d[8] |= 1;
	REFUSED(&m, "is encrypted");
	make(&m, 1, "a");
	m.b.at[6] |= 1;
	REFUSED(&m, "two headers that disagree");
	make(&m, 1, "a");
	d = directory(&m);
	d[10] = 12; /* bzip2 */
	REFUSED(&m, "packed in a way");

	test_step("stories that differ");
	make(&m, 1, "a");
	m.b.at[30] = 'b';
	REFUSED(&m, "two headers that disagree");
	make(&m, 1, "a");
	m.b.at[31] = 'H';
	REFUSED(&m, "is damaged");
	make(&m, 2, "a", "b");
	d = directory(&m);
	memcpy(d + 47 + 42, d + 42, 4); /* the second lies where the first does */
	REFUSED(&m, "two headers that disagree");
	make(&m, 1, "a");
	d = directory(&m);
	d[43] = 0xff;
	REFUSED(&m, "is not where the directory says");

	test_step("sizes");
	make(&m, 1, "a");
	d = directory(&m);
	memcpy(d + 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f", 8);
	REFUSED(&m, "is too large");
	make(&m, 9, "a", "b", "c", "d", "e", "f", "g", "h", "i");
	REFUSED(&m, "more than 8 entries");

	test_step("ends");
	make(&m, 1, "a");
	m.b.len--;
	REFUSED(&m, "not a ZIP");
	make(&m, 1, "a");
	buf_putc(&m.b, 'x');
	REFUSED(&m, "not a ZIP");
	make(&m, 1, "a");
	m.b.at[m.b.len - 18] = 1; /* a further disk */
	REFUSED(&m, "several parts");
	make(&m, 1, "a");
	m.b.at[m.b.len - 10]++; /* the directory's size */
	REFUSED(&m, "directory is broken");
}

/* One deflated entry of zeros, which the headers say is `size` bytes. */
static void make_packed(struct made *m, size_t bytes, size_t size)
{
	unsigned char *zeros = calloc(1, bytes), *d;
	uLong room = compressBound(bytes);
	unsigned char *packed = malloc(room);
	z_stream z = { 0 };
	struct zip_writer w;
	unsigned crc = (unsigned)crc32(0, zeros, (unsigned)bytes);
	unsigned char sizes[12];

	deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	z.next_in = zeros;
	z.avail_in = (unsigned)bytes;
	z.next_out = packed;
	z.avail_out = (unsigned)room;
	CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
	*m = (struct made){ 0 };
	buf_init(&m->b, 1 << 24);
	zip_begin(&w, &m->b);
	zip_add(&w, "z", false, packed, z.total_out);
	zip_end(&w);
	for (int i = 0; i < 4; i++) {
		sizes[i] = (unsigned char)(crc >> (8 * i));
		sizes[4 + i] = (unsigned char)(z.total_out >> (8 * i));
		sizes[8 + i] = (unsigned char)(size >> (8 * i));
	}
	m->b.at[8] = 8;
	memcpy(m->b.at + 14, sizes, 12);
	d = directory(m);
	d[10] = 8;
	memcpy(d + 16, sizes, 12);
	deflateEnd(&z);
	free(zeros);
	free(packed);
}

TEST(zip_unpacks_no_more_than_it_says)
{
	struct made m;

	make_packed(&m, 5000, 5000);
	CHECK_STR(verdict(&m), "");
	drop(&m);
	make_packed(&m, 5000, 4999);
	REFUSED(&m, "does not unpack to what the archive says");
	make_packed(&m, 5000, 5001);
	REFUSED(&m, "does not unpack to what the archive says");
	make_packed(&m, 1 << 20, 1 << 20);
	REFUSED(&m, "unpacks to far more than it is packed");
	make_packed(&m, 1 << 20, 10);
	REFUSED(&m, "does not unpack to what the archive says");
	make_packed(&m, 3 << 20, 3 << 20);
	REFUSED(&m, "is too large");
}

/* Bytes in the middle; the end says where the directory is now. */
static void insert(struct made *m, size_t at, const void *bytes, size_t n)
{
	char *end;

	buf_room(&m->b, n);
	memmove(m->b.at + at + n, m->b.at + at, m->b.len - at);
	memcpy(m->b.at + at, bytes, n);
	m->b.len += n;
	end = m->b.at + m->b.len - 22;
	end[16] = (char)(end[16] + (int)n);
}

enum { HEAD = 30, HELLO = HEAD + 1 + 5 }; /* an entry with a name of one letter */

static void sizes_behind(struct made *m)
{
	make(m, 1, "a");
	m->b.at[6] |= 8;
	directory(m)[8] |= 8;
}

TEST(zip_sizes_behind_the_bytes)
{
	unsigned char behind[16] = "PK\7\10";
	struct made m;

	make(&m, 1, "a");
	memcpy(behind + 4, m.b.at + 14, 12);
	drop(&m);
	for (int bare = 0; bare <= 4; bare += 4) {
		sizes_behind(&m);
		memset(m.b.at + 14, 0, 12);
		insert(&m, HELLO, behind + bare, 16 - (size_t)bare);
		CHECK_STR(verdict(&m), "");
		drop(&m);
	}
	test_step("none is there");
	sizes_behind(&m);
	memset(m.b.at + 14, 0, 12);
	REFUSED(&m, "has not behind it");
	test_step("one that says otherwise");
	sizes_behind(&m);
	behind[8]++;
	insert(&m, HELLO, behind, 16);
	REFUSED(&m, "has not behind it");
	test_step("junk in the header");
	sizes_behind(&m);
	behind[8]--;
	insert(&m, HELLO, behind, 16);
	m.b.at[18] = 77;
	REFUSED(&m, "two headers that disagree");
}

TEST(zip_bytes_that_nobody_names)
{
	struct made m, hidden;

	make(&hidden, 1, "b");
	test_step("an entry before the first");
	make(&m, 1, "a");
	insert(&m, 0, hidden.b.at, HELLO);
	directory(&m)[42] = HELLO;
	REFUSED(&m, "does not name");
	test_step("between two");
	make(&m, 2, "a", "c");
	insert(&m, HELLO, hidden.b.at, HELLO);
	directory(&m)[46 + 1 + 42] = 2 * HELLO;
	REFUSED(&m, "does not name");
	test_step("after the last");
	make(&m, 1, "a");
	insert(&m, HELLO, "xx", 2);
	REFUSED(&m, "does not name");
	drop(&hidden);
}
