/* readers.h - threads that read for agents at work, beside the one that writes.
 *
 * What a model is told is gathered from many rows before every call; on
 * SQLite that would hold up every write if the writer did it. */
#pragma once
#include "store/store.h"

struct readers;

enum { READERS_THREADS = 2 };

/* NULL if there are none: where the store's own threads read beside each other, or no connection can be had. */
struct readers *readers_new(struct store *store);
/* Runs what is waiting, then stops. */
void readers_free(struct readers *r);
/* As store_submit(), for work that only reads. */
int readers_submit(struct readers *r, struct work *w);
