/* tar_fixture.c - see tar_fixture.h. */
#include "tar_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 512, NAME_LEN = 100 };

void tar_begin(struct buf *b)
{
	buf_clear(b);
}

void tar_zeros(struct buf *b, size_t count)
{
	static const char zeros[BLOCK];

	for (; count; count -= count < BLOCK ? count : BLOCK)
		buf_put(b, zeros, count < BLOCK ? count : BLOCK);
}

static void put_header(struct buf *b, const char *name, char kind, size_t len)
{
	char h[BLOCK] = { 0 };
	unsigned sum = 8 * ' ';

	memcpy(h, name, strlen(name) < NAME_LEN ? strlen(name) : NAME_LEN);
	memcpy(h + 100, "0000644", 7);
	memcpy(h + 108, "0000000", 7);
	memcpy(h + 116, "0000000", 7);
	snprintf(h + 124, 12, "%011zo", len);
	memcpy(h + 136, "00000000000", 11);
	h[156] = kind;
	if (kind == '1' || kind == '2')
		memcpy(h + 157, "target", 6);
	memcpy(h + 257, "ustar  ", 8);
	for (int i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	h[155] = ' ';
	buf_put(b, h, BLOCK);
}

static void put_padded(struct buf *b, const void *bytes, size_t len)
{
	buf_put(b, bytes, len);
	tar_zeros(b, (BLOCK - len % BLOCK) % BLOCK);
}

void tar_add(struct buf *b, const char *name, char kind, const void *bytes, size_t len)
{
	if (strlen(name) > NAME_LEN) {
		put_header(b, "././@LongLink", 'L', strlen(name) + 1);
		put_padded(b, name, strlen(name) + 1);
	}
	put_header(b, name, kind, len);
	put_padded(b, bytes, len);
}

void tar_add_pax(struct buf *b, const char *key, const char *value)
{
	/* The length counts its own digits. */
	size_t rest = strlen(key) + strlen(value) + 3, len = rest + 1;
	char *record;

	while (len != rest + (size_t)snprintf(NULL, 0, "%zu", len))
		len = rest + (size_t)snprintf(NULL, 0, "%zu", len);
	record = malloc(len + 1);
	snprintf(record, len + 1, "%zu %s=%s\n", len, key, value);
	put_header(b, "pax", 'x', len);
	put_padded(b, record, len);
	free(record);
}

void tar_pack(struct buf *b)
{
	z_stream z = { 0 };
	size_t room = b->len + b->len / 100 + 1024;
	unsigned char *out = malloc(room);

	deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (unsigned char *)b->at;
	z.avail_in = (unsigned)b->len;
	z.next_out = out;
	z.avail_out = (unsigned)room;
	deflate(&z, Z_FINISH);
	buf_clear(b);
	buf_put(b, out, z.total_out);
	deflateEnd(&z);
	free(out);
}

void tar_end(struct buf *b)
{
	tar_zeros(b, (size_t)2 * BLOCK);
	tar_pack(b);
}
