/* tar_fixture.h - tar archives as a test wants them, good and bad. */
#pragma once
#include "base/buf.h"

/* An empty buffer. */
void tar_begin(struct buf *b);
/* A header of this kind ('0' file, '5' folder, '1' '2' links, ...) and the bytes; a long name goes before it, as GNU has it. */
void tar_add(struct buf *b, const char *name, char kind, const void *bytes, size_t len);
/* What stands before the next entry in the pax format: "path=a" and the like, each with a line end after it. */
void tar_add_pax(struct buf *b, const char *key, const char *value);
void tar_zeros(struct buf *b, size_t count);
/* Two empty blocks, and all of it packed. */
void tar_end(struct buf *b);
/* Packed without them. */
void tar_pack(struct buf *b);
