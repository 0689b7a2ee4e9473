/* bucket_carry.h - what a transaction needs of the bucket and must not wait for.
 *
 * Work says, inside its transaction, which bytes it wants to have in the bucket
 * or to read from it.  What is not at hand is noted, and the work ends with
 * ERR_BRING, so that nothing of it is kept.  Whoever runs it has what was noted
 * brought on a thread for disks, and runs it again: now it is at hand.  So bytes
 * are on the disk before the row that names them, wherever deep inside that row
 * is written. */
#pragma once
#include "bucket/bucket.h"

struct bucket_carry;

enum { BUCKET_CARRY_RUNS = 64 }; /* work that wants other bytes each time is told ERR_BUSY then */

/* Belongs to one thread at a time.  What was brought and never named is removed at its end, on a thread of the pool if there
 * is one. */
struct bucket_carry *bucket_carry_new(struct bucket *b, const char *tenant_id);
void bucket_carry_free(struct bucket_carry *c, struct pool *disk);
struct bucket *bucket_carry_bucket(const struct bucket_carry *c);

/* These bytes as bytes of the bucket.  0; ERR_BRING; or why they could not be brought.  `stays`: they are where they are until
 * the carry ends, and need not be copied. */
int bucket_carry_put(struct bucket_carry *c, const void *bytes, size_t n, bool stays,
	const struct bucket_stored **ret);
/* A row names them now, if the transaction is kept. */
void bucket_carry_named(struct bucket_carry *c, const struct bucket_stored *stored);
/* The bytes of a row, as bucket_load() reads them, until the carry ends.  0; ERR_BRING; or why they cannot be had. */
int bucket_carry_get(
	struct bucket_carry *c, const struct bucket_row *row, const void **ret, size_t *ret_len);
/* Brings what was noted; it waits for the disk.  The first error of bytes that were to be put. */
int bucket_carry_run(struct bucket_carry *c, struct arena *a, struct problem *p);
/* What was noted is not brought, for this reason. */
void bucket_carry_give_up(struct bucket_carry *c, int err);
