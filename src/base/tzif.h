/* tzif.h - a time zone file (RFC 8536, version 2 and later) and the offsets it holds.
 *
 * The file is taken as untrusted bytes: what is not sound gives no zone.
 * Where it is found, and what zones are called, is not known here. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { TZIF_FILE_MAX = 64 * 1024 }; /* bytes; the largest of the database have some 4,000 */

struct tzif;

/* NULL if the bytes are no such file. */
struct tzif *tzif_new(const uint8_t *bytes, size_t len);
void tzif_free(struct tzif *z);
/* Seconds ahead of UTC at a moment given in seconds since 1970. */
int64_t tzif_offset_s(const struct tzif *z, int64_t utc_s);
