/* encode.h - from structs to JSON through the tables.  A reply carries every field of its schema;
 * a secret one is never written. */
#pragma once
#include "base/buf.h"
#include "contract/schema.h"

void encode_object(struct buf *out, const struct schema *s, const void *object);
/* {"name":{"from":"a","to":"b"},...} for the fields that differ; long values are named by their size. */
void encode_changes(struct buf *out, const struct schema *s, const void *before, const void *after);
